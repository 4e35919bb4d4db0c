"""The style of predictions and exercises; each brings it, as there need be no explorer above."""

from functools import cache
from pathlib import Path

from peerlab.view.theme import properties

_STYLE = Path(__file__).parent / "page" / "lesson.css"


@cache
def style() -> str:
    """Return a ``<style>`` element for what has the class ``pl-lesson``, light and dark."""
    return f"<style>{properties('.pl-lesson')}{_STYLE.read_text(encoding='utf-8')}</style>"
