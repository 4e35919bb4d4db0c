"""Who presents a deck, when, and under which logo."""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from peerlab.base.errors import ExportError
from peerlab.base.textfile import read_bytes
from peerlab.base.units import MIB

_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_LETTERS = 60


@dataclass(frozen=True)
class Lead:
    """What stands beside a deck's title."""

    author: str = ""
    date: str = ""
    logo: str = ""
    """A picture as a ``data:`` address."""

    def __post_init__(self) -> None:
        """Refuse names that have no room."""
        for name, text in (("author", self.author), ("date", self.date)):
            if not isinstance(text, str) or len(text) > _LETTERS or not text.isprintable():
                raise ExportError(
                    f"{name}: a deck has room for one line of {_LETTERS} letters, without tabs; not {text!r:.30}"
                )


def read_logo(path: str | Path) -> str:
    """Return a picture as a ``data:`` address, as it stands in the deck's own file.

    Raises
    ------
    ExportError
        If it cannot be read, is a pipe or a device, is larger than 1 MiB, or is no PNG, JPEG, GIF or WebP; an SVG may hold scripts
        and is refused.
    """
    try:
        held = read_bytes(path, most_bytes=MIB, too_large="that is too much for a page", error=ExportError)
    except ExportError as problem:
        raise ExportError(f"logo: {problem}") from None
    kind = next((kind for start, kind in _KINDS.items() if held.startswith(start)), "")
    # Behind RIFF stand four bytes of length: no fixed beginning names the kind.
    if held[:4] == b"RIFF" and held[8:12] == b"WEBP":
        kind = "image/webp"
    # Nothing is let in by this: it only says why.
    if not kind and b"<svg" in held[:4096].lower():
        raise ExportError(f"logo {path}: an SVG may hold scripts; save it as PNG")
    if not kind:
        raise ExportError(f"logo {path}: a logo is a PNG, JPEG, GIF or WebP")
    return f"data:{kind};base64,{b64encode(held).decode()}"
