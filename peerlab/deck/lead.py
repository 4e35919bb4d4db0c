"""Who presents a deck, when, and under which logo."""

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from peerlab.errors import ExportError
from peerlab.textfile import in_words
from peerlab.units import MIB, say_bytes

_MOST_BYTES = MIB
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
            if len(text) > _LETTERS or not text.isprintable():
                raise ExportError(
                    f"{name}: a deck has room for {_LETTERS} letters on one line, and this is longer"
                )


def read_logo(path: str | Path) -> str:
    """Return a picture as a ``data:`` address, as it stands in the deck's own file.

    Raises
    ------
    ExportError
        If it cannot be read, is larger than 1 MiB, or is no PNG, JPEG, GIF or WebP; an SVG may hold scripts and is refused.
    """
    file = Path(path)
    with in_words(f"cannot read the logo {path}", ExportError):
        size = file.stat().st_size
        if size > _MOST_BYTES:
            raise ExportError(
                f"logo {path}: {say_bytes(size)} are too many for a page; at most {say_bytes(_MOST_BYTES)}"
            )
        with file.open("rb") as opened:
            held = opened.read(_MOST_BYTES + 1)
    if len(held) > _MOST_BYTES:
        raise ExportError(f"logo {path}: more than {say_bytes(_MOST_BYTES)}")
    kind = next((kind for start, kind in _KINDS.items() if held.startswith(start)), "")
    if held[:4] == b"RIFF" and held[8:12] == b"WEBP":
        kind = "image/webp"
    if not kind and b"<svg" in held[:4096].lower():
        raise ExportError(f"logo {path}: an SVG may hold scripts; save it as PNG")
    if not kind:
        raise ExportError(f"logo {path}: a logo is a PNG, JPEG, GIF or WebP")
    return f"data:{kind};base64,{b64encode(held).decode()}"
