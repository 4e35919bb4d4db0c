"""Markdown for the generated documents."""

# A document is generated from its subject. The model's page works its formulas out and simulates them, and
# cannot be written where the two differ; the API's reads docstrings and options; the trainer's answers ask
# the checkers. Markdown, so that it reads anywhere; a test compares each with what its generator gives. The
# handout is a PDF whose title carries a mark of its page, because the bytes of a PDF differ from print to
# print.

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
