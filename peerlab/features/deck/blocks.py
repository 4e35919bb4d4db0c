"""What slides are set from: cards on a grid of twelve columns, as HTML in which all words are escaped."""

# A slide has one message, its title; one picture; and at most a line on what it shows. Slides are set from cards
# on a grid of twelve columns (`features/deck/blocks`), 1280 by 720, words 18 px and more, the foot 14. What a slide says follows from the cluster, so its words are now more, now fewer: where they have
# no room, the page sets that slide closer, once, and a test opens the decks of all clusters. Words and
# pictures are escaped where they become HTML, in `blocks` alone. A logo is PNG, JPEG, GIF or WebP, because
# an SVG may hold scripts.

import math
from collections.abc import Container, Sequence
from html import escape

from peerlab.base.units import TIMES_SIGN, say_gain
from peerlab.picture.gain_ticks import gain_bar, gain_ticks
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette


def words(text: str) -> str:
    """Return words as HTML."""
    # Backquotes mark a command where text is read in a terminal; slides have no use for them.
    return escape(text.replace("`", ""), quote=True)


def paragraphs(*texts: str) -> str:
    """Return each text as a paragraph; empty ones are left out."""
    return "".join(f"<p>{words(text)}</p>" for text in texts if text)


def grid(*cards: str) -> str:
    """Return cards on a grid that fills the slide."""
    return f"<div class='grid'>{''.join(cards)}</div>"


def card(body: str, columns: int, *, title: str = "", tone: str = "", high: str = "") -> str:
    """Return a card of so many columns; `tone` is the role of its mark, `high` the class of how it is set."""
    head = f"<h3>{words(title)}</h3>" if title else ""
    mark = f" style='--tone:var(--pl-{tone});--tone-ink:var(--pl-{tone}-ink)'" if tone else ""
    kinds = " ".join(("card", f"c{columns}", *(["toned"] if tone else []), *([high] if high else [])))
    return f"<div class='{kinds}'{mark}>{head}{body}</div>"


def side(name: str, value: str, picture: str, rows: str, *, tone: str = "", gain: str = "") -> str:
    """Return one of two cards whose parts begin at the same heights: a name with a value, a picture, facts.

    `gain`: the value is how many times as fast, a ``gain``, a ``loss`` or ``open``; it is set larger.
    """
    noun = "<small>as fast</small>" if gain else ""
    head = f"<div class='head{' big' * bool(gain)} {gain}'><h3>{words(name)}</h3><b>{words(value)}{noun}</b></div>"
    return card(f"{head}{picture}<div>{rows}</div>", 6, tone=tone, high="aligned")


def key(*entries: tuple[str, str]) -> str:
    """Return what colours mean: roles, each with its words."""
    spans = "".join(
        f"<span style='--tone:var(--pl-{role})'>{words(meaning)}</span>" for role, meaning in entries
    )
    return f"<div class='key'>{spans}</div>" if entries else ""


def facts(*rows: tuple[str, str]) -> str:
    """Return names with their values, a line each."""
    return "".join(
        f"<div class='facts'><span>{words(what)}</span><b>{words(value)}</b></div>" for what, value in rows
    )


def change(label: str, before: str, after: str) -> str:
    """Return a tile: what a figure was, and what it becomes."""
    return card(
        f"<p class='label'>{words(label)}</p><p class='change'><b>{words(before)}</b>"
        f"<span class='arrow'>→</span><b>{words(after)}</b></p>",
        4,
        high="tile",
    )


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    fill_in: bool = False,
    marked: Container[tuple[int, int]] = (),
    tells: str = "",
    foot: Sequence[Sequence[str]] = (),
) -> str:
    """Return a table; with `fill_in` each row ends with a line to write on; the cells `marked`, row and column behind the first, are seen first; what each `tells`, a ``gain`` or a ``loss``, its colour does.

    Rows of the `foot` sum up those above a rule: their names take the columns for which they have no cell.
    """
    heads = "".join(f"<th scope='col'>{words(cell)}</th>" for cell in head)
    body, first = "", f" class='first {tells}'" if tells else " class=first"
    for number, (name, *cells) in enumerate(rows):
        written = "".join(
            f"<td{first * ((number, column) in marked)}>{words(cell)}</td>"
            for column, cell in enumerate(cells)
        )
        label = words(f"{head[-1]}: {name}")
        box = f"<td class='fill'><span contenteditable='plaintext-only' role='textbox' aria-label='{label}'></span></td>"
        body += f"<tr><th scope='row'>{words(name)}</th>{written}{box if fill_in else ''}</tr>"
    feet = "".join(
        f"<tr><th scope='row' colspan='{len(head) - len(cells)}'>{words(name)}</th>{''.join(f'<td>{words(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in foot
    )
    below = f"<tfoot>{feet}</tfoot>" if feet else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody>{below}</table>"


def span(low: float, high: float, digits: int = 2) -> str:
    """Return from where to where a gain lies, such as ``1.32 to 1.86`` and the sign of times."""
    return say_gain(low, high, digits)


_ROOM = 0.7


def without_ground(picture: str) -> str:
    """Return a picture that stands on a card, without the ground of its own."""
    return picture.replace(f"<rect width='100%' height='100%' fill='{palette(PAGE)['paper']}'/>", "", 1)


def paper_without_ground(paper: Paper, width: float, height: float, alt: str) -> str:
    """Return a drawing that stands on a card."""
    return without_ground(paper.svg(width, height, alt))


class GainAxis:
    """An axis of gains, logarithmic, on which 1 is marked; its unit is a pixel of the slide."""

    def __init__(self, values: Sequence[float], left: float, right: float) -> None:
        self.left, self.right = left, right
        # A gain of 1 is on every axis, and the outermost marks keep clear of its ends.
        self.low, self.high = min(0.95, *values) / 1.04, max(1.25, *values) * 1.06
        self.paper = Paper(palette(PAGE))

    def at(self, gain: float) -> float:
        """Return the place of a gain."""
        share = math.log(gain / self.low) / math.log(self.high / self.low)
        return self.left + (self.right - self.left) * share

    def draw(self, top: float, bottom: float) -> None:
        """Draw the lines of the axis, and their gains below them."""
        # Its words are larger than those of a page, so that ticks need more room.
        for tick in gain_ticks(self.low, self.high, lambda gain: self.at(gain) * _ROOM):
            at, unity = self.at(tick), tick == 1
            self.paper.line([(at, top), (at, bottom)], "edge" if unity else "faint", 2 if unity else 1)
            self.paper.text(
                (at, bottom + 20),
                f"{tick:g}{TIMES_SIGN}",
                size=18,
                bold=unity,
                ink="ink" if unity else "muted",
            )

    def bar(self, y: float, low: float, value: float, high: float) -> None:
        """Draw from where to where a gain lies, and where it is as assumed."""
        gain_bar(self.paper, self.at, y, (low, high), "direct", half=12)
        # Thin and higher than the bar: where it stands at an end, that end is seen beside it.
        self.paper.line([(self.at(value), y - 17), (self.at(value), y + 17)], "ink", 4)

    def mark(self, y: float, value: float, role: str) -> None:
        """Draw a measured gain: a diamond."""
        x, colour = self.at(value), self.paper.colour
        self.paper.shapes.append(
            f"<path d='M{x:.5g} {y - 10:.5g}l10 10l-10 10l-10 -10z' fill='{colour('box')}' stroke='{colour(role)}' stroke-width='3'/>"
        )
