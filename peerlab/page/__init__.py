"""The page that hosts the figures: plain JavaScript and CSS, put together without a build step."""

from functools import cache
from pathlib import Path
from zlib import crc32

_HERE = Path(__file__).parent
_SHARED = ("rows", "figures", "scene", "density", "timeline", "curves", "headline", "player", "keys", "page")


@cache
def script() -> str:
    """Return the script of the lab's page, one ECMAScript module.

    Every widget is a module of its own, and a browser forgets no module: so only the first one of a page compiles what is in it.
    """
    code = _joined(*_SHARED, "kernel", "lab")
    name = f"peerlab {crc32(code.encode()):x}"
    return f'export default (globalThis["{name}"] ??= (() => {{\n{code}\nreturn {{ initialize, render }};\n}})());\n'


@cache
def script_alone() -> str:
    """Return the script of a page that plays without a kernel; it begins by itself."""
    return _joined(*_SHARED, "album", "choices", "frame", "alone")


@cache
def style() -> str:
    """Return the style sheet of the page."""
    return _read("page.css")


@cache
def style_alone() -> str:
    """Return what a page without a kernel has besides `style`."""
    return _read("alone.css")


def _joined(*parts: str) -> str:
    return "\n".join(_read(f"{part}.js") for part in parts)


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
