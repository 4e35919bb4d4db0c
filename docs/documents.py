"""Markdown for the generated documents."""

import re
from collections.abc import Iterable, Sequence


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar within a cell becomes a slash."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading.

    >>> anchor("Gaudi DL1 (`dl1`)")
    'gaudi-dl1-dl1'
    """
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


def link(heading: str) -> str:
    """Return a link to a heading of the same document."""
    return f"[{heading}](#{anchor(heading)})"


def plain(text: str) -> str:
    """Return text of which Markdown takes nothing as its own."""
    return text.replace("*", "\\*").replace("<", "\\<").replace("|", "/")
