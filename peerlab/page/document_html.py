"""A document as HTML in the frame of reports."""

import re
from dataclasses import replace
from html import escape

from peerlab.base.document import (
    Cell,
    Conclusion,
    Document,
    Fold,
    Graphic,
    Heading,
    Item,
    Items,
    Part,
    Table,
    Text,
)
from peerlab.base.words_html import words_html
from peerlab.page.frame import alone, framed, table

_SIGNS = {"pass": "✓", "warn": "▲", "fail": "✕", "unknown": "?"}
_WIDEST_PX = 80
_BRACKETS = re.compile(r"\[[^\]]{1,24}\]")
_FLAGS = re.compile(r" (?=--?[A-Za-z])")


def document_html(document: Document, kind: str) -> str:
    """Return a document as a section that brings its own style; all text is escaped, commands in it are code, drawings are ours."""
    return framed(kind, document.title, "".join(map(part_html, document.parts)))


def document_page(document: Document, kind: str, title: str = "") -> str:
    """Return a document as a page for a file, under its own title unless another is given; it runs no script and fetches nothing."""
    return alone(title or document.title, document_html(document, kind))


def conclusion_html(conclusion: Conclusion) -> str:
    """Return what a result comes to as the paragraph that a page begins with: a sign, a colour, words."""
    why = f"<br>{words_html(conclusion.why)}" if conclusion.why else ""
    judged = f"{sign(conclusion.status)} " if conclusion.status in _SIGNS else ""
    return f"<p class='pl-verdict pl-{conclusion.status}'>{judged}<b>{escape(conclusion.name)}</b>{why}</p>"


def sign(status: str) -> str:
    """Return the sign of a status, which is read out by its words alone."""
    return f"<span class='pl-sign' aria-hidden='true'>{_SIGNS[status]}</span>"


def part_html(part: Part) -> str:
    """Return one part of a document as HTML; all text is escaped."""
    if isinstance(part, Fold):
        return _fold(part)
    return _graphic(part) if isinstance(part, Graphic) else _told(part)


def _fold(fold: Fold) -> str:
    """Return parts below the line that opens them; what has no caption but that line says it once."""
    parts = (
        replace(part, caption="") if isinstance(part, Items | Table) and part.caption == fold.name else part
        for part in fold.parts
    )
    within = "".join(map(part_html, parts))
    return f"<details><summary>{escape(fold.name)}</summary>{within}</details>" if within else ""


def _told(part: Conclusion | Text | Heading | Table | Items) -> str:
    match part:
        case Conclusion():
            return conclusion_html(part)
        case Text():
            quiet = " class='pl-answer'" if part.large else " class='pl-quiet'" if part.quiet else ""
            lead = f"<b>{escape(part.lead)}</b> " if part.lead else ""
            return f"<p{quiet}>{lead}{words_html(part.text)}</p>"
        case Heading():
            return f"<h4>{escape(part.text)}</h4>"
        case Table():
            return _table(part)
        case Items():
            checks = any(item.command for item in part.items)
            items = "".join(map(_check if checks else _item, part.items))
            caption = f"<h4>{escape(part.caption)}</h4>" if part.caption else ""
            kind = " class='pl-checks'" if checks else ""
            return f"{caption}<ul{kind}>{items}</ul>" if items else ""


def _graphic(part: Graphic) -> str:
    caption = f"<p class='pl-quiet'>{escape(part.caption)}</p>" if part.caption else ""
    # A drawing whose words would be too small is moved over, by keys, too.
    return f"{caption}<div class='pl-graphic' tabindex='0' role='group' aria-label='Picture'>{part.svg}</div>"


def _table(part: Table) -> str:
    rows = [tuple(map(_cell, row)) for row in part.rows]
    # The first column keeps the page's left edge, and so do bars.
    barred = {
        place
        for row in part.rows
        for place, cell in enumerate(row)
        if isinstance(cell, Cell) and cell.bar is not None
    }
    right = set(part.right) - barred - {0}
    if not part.folded:
        return table(part.caption, part.head, rows, part.kind, right)
    listed = table("", part.head, rows, part.kind, right)
    return f"<details><summary>{escape(part.caption)}</summary>{listed}</details>"


def _cell(cell: str | Cell) -> str:
    if isinstance(cell, str):  # a spread in brackets is one word
        return _BRACKETS.sub(lambda match: f"<span class='pl-spread'>{match[0]}</span>", escape(cell))
    text = f"<b>{escape(cell.text)}</b>" if cell.strong else escape(cell.text)
    if cell.bar is None:
        return text
    long = max(1, round(_WIDEST_PX * cell.bar))  # a share of next to nothing is still seen
    return f"<span class='pl-bar' style='width:{long}px;background:var(--pl-{cell.role})'></span> {text}"


def _item(item: Item) -> str:
    further = f"<br>{escape(item.further)}" if item.further else ""
    source = f"<details><summary>source</summary>{escape(item.source)}</details>" if item.source else ""
    return f"<li>{escape(item.text)}{further}{source}</li>"


def _check(item: Item) -> str:
    """Return something to check as a row: its name, and beside it the command and what that tells."""
    command = _command(item.command) if item.command else ""
    tells = f"<span>{words_html(item.further)}</span>" if item.further else ""
    return f"<li><b>{escape(item.text[:1].upper() + item.text[1:])}</b><div>{command}{tells}</div></li>"


def _command(command: str) -> str:
    """Return a command as a box of its own, which breaks before a flag alone where a line holds what is between two of them."""
    parts = _FLAGS.split(command)
    return f"<code class='pl-command'>{' '.join(f'<span>{escape(part)}</span>' for part in parts)}</code>"
