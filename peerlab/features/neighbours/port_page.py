"""A network with neighbours as one HTML file that plays: every port as a glass, pauses and credits, and the fabrics side by side."""

from collections.abc import Sequence

from peerlab.base.errors import ExportError
from peerlab.features.neighbours.neighbours_report import heading
from peerlab.features.neighbours.port_comparison import PortComparison
from peerlab.features.neighbours.port_parcel import port_parcel
from peerlab.page.played_page import below_frame, played_frame, played_page
from peerlab.study.port_answer import PortAnswer

MOST_FABRICS = 4


def port_page_html(answers: Sequence[PortAnswer], *, layout: str = "page", theme: str = "auto") -> str:
    """Return a page that plays one question on several fabrics, as text.

    Parameters
    ----------
    answers:
        One to four, of questions that differ in their fabric.
    layout:
        ``page``, ``slide``, or ``frame`` in a notebook.
    theme:
        ``light``, ``dark``, or ``auto``: that of the notebook around it, else of the reader's system.

    Raises
    ------
    ExportError
        If there are more fabrics, or other scenes.
    """
    if not 1 <= len(answers) <= MOST_FABRICS:
        raise ExportError(f"a page shows one to {MOST_FABRICS} fabrics, not {len(answers)}")
    # Hosts and flows are drawn once for all fabrics.
    if len({(answer.trace.scene.leaves, answer.trace.scene.flows) for answer in answers}) > 1:
        raise ExportError("a page shows one question on several fabrics; these differ in hosts or senders")
    parcel = port_parcel(answers)
    styles = ("training", "ports")
    wanted = {"mode": layout, "theme": theme}
    return played_page(
        "ports", "np", parcel["about"], {"ports": parcel}, styles, 'class="ts-root np-root"', wanted
    )


def comparison_html(comparison: PortComparison, *, layout: str = "page", theme: str = "auto") -> str:
    """Return a page that plays a comparison, as text: its first fabrics, as many as a page shows."""
    return port_page_html(comparison.answers[:MOST_FABRICS], layout=layout, theme=theme)


def neighbours_frame(comparison: PortComparison) -> str:
    """Return a `PortComparison` in a frame that plays it in a notebook, and below it what it finds."""
    page = comparison_html(comparison, layout="frame")
    frame = played_frame(page, heading(comparison.answers[0]), "height:840px")
    return f"{frame}{below_frame(comparison.finding)}"
