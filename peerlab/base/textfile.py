"""Text files that a user hands over or asks for: whatever is wrong with one is said in one line."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import Any

from peerlab.base.errors import PeerlabError
from peerlab.base.units import say_bytes

_PIECE = 2**20
_MOST_PARTS = 32
# Possessive where parts repeat (*+, ++): no key is tried in two ways, so time grows as the text does.
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_TOML = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}+' "|" r"'''.*?'{3,5}+" "|" r"\#[^\n]*+"
    rf"|(?P<long>{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS}}})"
    rf"|{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+"
    r"|[^\w\"'\#-]++|(?P<unclosed>.)",
    re.DOTALL,
)  # fmt: skip
"""Texts of several lines, comments, keys of too many parts, shorter ones (and texts and numbers), what is between."""


def read_text(path: str | Path, *, what: str, most_bytes: int, error: type[PeerlabError]) -> str:
    r"""Return the text of a file, lines ending in ``\n``, without a byte order mark.

    Parameters
    ----------
    path:
        The file; ``~`` is the user's home.
    what:
        What it should be, such as ``"cluster file"``; said of a file that is too large for one.
    most_bytes:
        How large it may be; no more than that is read.
    error:
        What is raised.

    Raises
    ------
    PeerlabError
        As `error`: if it cannot be read, is a pipe, a device or a folder, is larger, or is not text in UTF-8.
    """
    too_large = f"that is no {what}"
    held = read_bytes(path, most_bytes=most_bytes, too_large=too_large, error=error)
    try:
        text = held.decode("utf-8-sig")
    except UnicodeDecodeError:
        # refused below like any binary file
        text = "\0"
    if "\0" in text:
        raise error(f"{path} is not a text file in UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: str | Path, *, most_bytes: int, too_large: str, error: type[PeerlabError]) -> bytes:
    """Return what a file holds, as :func:`read_text` does, but of any kind; `too_large` is said of one that is too large."""
    with in_words(f"cannot read {path}", error):
        place = Path(path).expanduser()
        if not S_ISREG(place.stat().st_mode):  # a pipe would wait for its writer, a device may never end
            raise error(f"cannot read {path}: not a file")
        with place.open("rb") as file:  # its size is not asked for: a file may grow, those of /proc have none
            held = bytearray()
            while len(held) <= most_bytes and (
                piece := file.read(_PIECE)
            ):  # else room for the most would be taken
                held += piece
    if len(held) > most_bytes:
        raise error(f"{path} is larger than {say_bytes(most_bytes)}; {too_large}")
    return bytes(held)


def printable(text: str) -> str:
    """Return a text without what cannot be printed: it stays on its line, and tells a terminal nothing.

    For what another wrote; a user's own names are shown with escapes instead (`errors.one_line`).
    """
    return "".join(c for c in text if c.isprintable())


def read_toml(text: str, what: str, error: type[PeerlabError]) -> dict[str, Any]:
    """Return what a text in TOML says.

    Raises
    ------
    PeerlabError
        As `error`, with `what` before the reason: it is not TOML, has a number of thousands of digits, a thousand brackets,
        or a key of more than 32 parts.
    """
    _refuse_long_keys(text, what, error)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise error(f"{what}: {problem}") from None


def _refuse_long_keys(text: str, what: str, error: type[PeerlabError]) -> None:
    """Refuse ``a.a.a. ...``: the parser's time grows with the square of the parts, to 20 s for 64 KiB."""
    for match in _TOML.finditer(text):
        if match["long"]:
            line = text.count("\n", 0, match.start()) + 1
            raise error(f"{what}: line {line} has a key of more than {_MOST_PARTS} parts")
        if match["unclosed"]:  # the parser refuses this quote
            return


def read_value(text: str) -> int | float | bool | str:
    """Return a number or a truth value if a text is one, else the text.

    >>> read_value("8"), read_value("0.5"), read_value("true"), read_value("8 KiB")
    (8, 0.5, True, '8 KiB')
    """
    if text in ("true", "false"):
        return text == "true"
    # int first, so that 8 stays a whole number
    for read in (int, float):
        try:
            return read(text)
        except ValueError:  # no number, or a whole one of thousands of digits
            pass
    return text


@contextmanager
def in_words(what: str, error: type[PeerlabError]) -> Iterator[None]:
    """Turn what goes wrong with a file into `error`, which says `what` (``"cannot write x.csv"``) and why."""
    try:
        yield
    # before ValueError, of which many of ours are one kind: they are in words already
    except PeerlabError:
        raise
    except (OSError, ValueError, RuntimeError) as problem:  # not there, a NUL in its name, no such home
        raise error(f"{what}: {getattr(problem, 'strerror', '') or problem}") from None
