"""Several jobs on one fabric as one HTML file that plays: hosts in the colours of their jobs, and the uplinks that they share."""

from peerlab.features.neighbours.jobs_parcel import jobs_parcel
from peerlab.page.played_page import played_frame, played_page
from peerlab.study.jobs_answer import SharedFabric


def jobs_page_html(shared: SharedFabric, *, layout: str = "page", theme: str = "auto") -> str:
    """Return a page that plays several jobs, as text.

    Parameters
    ----------
    shared:
        The jobs.
    layout:
        ``page``, ``slide``, or ``frame`` in a notebook.
    theme:
        ``light``, ``dark``, or ``auto``: that of the notebook around it, else of the reader's system.
    """
    parcel = jobs_parcel(shared)
    styles = ("training", "ports")
    wanted = {"mode": layout, "theme": theme}
    root = 'class="ts-root np-root jb-root"'
    return played_page("jobs", "jb", parcel["about"], {"jobs": parcel}, styles, root, wanted)


def jobs_frame(shared: SharedFabric) -> str:
    """Return a `SharedFabric` in a frame that plays it in a notebook: its page begins with what it finds."""
    page = jobs_page_html(shared, layout="frame")
    return played_frame(page, shared.finding, "height:720px", shared.finding)
