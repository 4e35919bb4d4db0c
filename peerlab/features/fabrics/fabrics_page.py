"""Transports side by side as one HTML file that plays: a bar for each on one axis, and where the slices of some of them are."""

from peerlab.features.fabrics.fabrics_parcel import fabrics_parcel
from peerlab.page.played_page import played_frame, played_page
from peerlab.study.fabric_comparison import FabricComparison


def fabrics_page_html(comparison: FabricComparison, *, layout: str = "page", theme: str = "auto") -> str:
    """Return a page that plays one question on several transports, as text.

    Parameters
    ----------
    comparison:
        What `peerlab.study.fabric_comparison.compare_fabrics` returns.
    layout:
        ``page``, ``slide``, or ``frame`` in a notebook.
    theme:
        ``light``, ``dark``, or ``auto``: that of the notebook around it, else of the reader's system.
    """
    parcel = fabrics_parcel(comparison)
    styles = ("training", "ports", "fabrics")
    wanted = {"mode": layout, "theme": theme}
    root = 'class="ts-root np-root fb-root"'
    return played_page("fabrics", "fb", parcel["about"], {"fabrics": parcel}, styles, root, wanted)


def fabrics_frame(comparison: FabricComparison) -> str:
    """Return a `FabricComparison` in a frame that plays it in a notebook: its page begins with what it finds."""
    page = fabrics_page_html(comparison, layout="frame")
    return played_frame(page, fabrics_parcel(comparison)["about"], "height:780px", comparison.finding)
