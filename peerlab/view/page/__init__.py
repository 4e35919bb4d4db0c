"""The page that hosts the figures: plain JavaScript and CSS, put together without a build step."""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_PARTS = ("rows", "figures", "scene", "timeline", "curves", "headline", "player", "main")


@cache
def script() -> str:
    """Return the page's script, one ECMAScript module."""
    return "\n".join((_HERE / f"{part}.js").read_text(encoding="utf-8") for part in _PARTS)


@cache
def style() -> str:
    """Return the page's style sheet."""
    return (_HERE / "page.css").read_text(encoding="utf-8")
