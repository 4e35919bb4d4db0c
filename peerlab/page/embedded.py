"""Pages of one feature that another one embeds: a race on a slide, a training step in an export."""

from typing import Any

from peerlab.base.feature import registered

RACES = {"race": "page", "race-slide": "slide"}
"""What a race is shown as: the name of the mode, or view, to the layout of the page."""


def page_of(what: str, *subject: Any, **options: Any) -> str:
    """Return the page of a ``run``, a ``race`` or a ``step``, as the feature makes it that offers it (`Feature.offers`)."""
    html: str = registered("offers", f"page of a {what}")(*subject, **options)
    return html
