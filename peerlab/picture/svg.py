"""A drawing as SVG text: no library, no script, no style sheet; all text is escaped."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from peerlab.picture.drawing import CELL, WAY_ALPHA, WIDTH, Drawing, Point
from peerlab.picture.theme import FONT

_RADIUS = {"panels": 10, "pipes": 4, "loads": 2, "boxes": 7, "slots": 2}
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


class Paper:
    """Shapes in the colours of one theme, collected as SVG.

    Heights are `stretch` times as large as given, so that larger words have room; no word is smaller than `smallest`.
    """

    def __init__(self, palette: Mapping[str, str], *, stretch: float = 1.0, smallest: float = 0.0) -> None:
        self.palette = palette
        self.stretch = stretch
        self.smallest = smallest
        self.shapes: list[str] = []

    def colour(self, role: str) -> str:
        """Return the attributes' value of a role; what is only washed over is its colour, thin."""
        # A theme may lack a wash: then it is its colour, thin.
        return self.palette.get(role) or self.palette.get(role.removesuffix("-wash"), role)

    def box(
        self,
        corners: Sequence[float],
        fill: str,
        line: str = "none",
        width: float = 1.0,
        radius: float = 0.0,
    ) -> None:
        """Add a box: left, top, right, bottom."""
        left, top, right, bottom = corners
        top, bottom = top * self.stretch, bottom * self.stretch
        thin = " fill-opacity='0.35'" if fill.endswith("-wash") and fill not in self.palette else ""
        self.shapes.append(
            f"<rect x='{left:.5g}' y='{top:.5g}' width='{right - left:.5g}' height='{bottom - top:.5g}' rx='{radius:g}'"
            f" fill='{self.colour(fill)}'{thin} stroke='{self.colour(line)}' stroke-width='{width:g}'/>"
        )

    def square(
        self, at: Point, half: float, fill: str, line: str = "none", width: float = 1.0, radius: float = 0.0
    ) -> None:
        """Add a square around a point; it stays one however heights are stretched."""
        # Heights are stretched where it is drawn, so it is made lower here.
        (x, y), high = at, half / self.stretch
        self.box((x - half, y - high, x + half, y + high), fill, line, width, radius)

    def line(
        self,
        points: Sequence[Point],
        role: str,
        width: float = 2.0,
        dash: str = "",
        alpha: float = 1.0,
        *,
        rounded: bool = False,
    ) -> None:
        """Add a broken line, with `rounded` ends and corners or with square ones."""
        way = " ".join(f"{x:.5g},{y * self.stretch:.5g}" for x, y in points)
        dashed = f" stroke-dasharray='{dash}'" if dash else ""
        dashed += f" stroke-opacity='{alpha:g}'" if alpha < 1 else ""
        dashed += " stroke-linecap='round' stroke-linejoin='round'" if rounded else ""
        self.shapes.append(
            f"<polyline points='{way}' fill='none' stroke='{self.colour(role)}' stroke-width='{width:g}'{dashed}/>"
        )

    def area(self, points: Sequence[Point], role: str) -> None:
        """Add a surface washed over with a colour."""
        way = " ".join(f"{x:.5g},{y * self.stretch:.5g}" for x, y in points)
        self.shapes.append(f"<polygon points='{way}' fill='{self.colour(role)}' fill-opacity='0.2'/>")

    def text(
        self,
        at: Point,
        text: str,
        *,
        size: float = 12,
        bold: bool = False,
        ink: str = "ink",
        align: str = "center",
    ) -> None:
        """Add words, their middle line at the given height."""
        (x, y), size = at, max(size, self.smallest)
        weight = " font-weight='650'" if bold else ""
        self.shapes.append(
            # The middle of small letters lies about a third of their size above the line that they stand on.
            f"<text x='{x:.5g}' y='{y * self.stretch + size * 0.36:.5g}' font-size='{size:g}'{weight}"
            f" fill='{self.colour(ink)}' text-anchor='{_ANCHORS[align]}'>{_xml_text(text)}</text>"
        )

    def drawing(self, drawing: Drawing, *, right: float = WIDTH) -> None:
        """Add the static scene, from the background up, without the words whose place is beyond a picture that ends at `right`; bounce buffers in a row are one shelf."""
        for kind, radius in _RADIUS.items():
            if kind == "boxes":  # ways run below boxes
                for xs, ys, role, width in _rows(drawing, "lines"):
                    self.line(list(zip(xs, ys, strict=True)), role, width, dash="2 5", alpha=WAY_ALPHA)
            rows = _rows(drawing, kind)
            for *corners, fill, line, width in _shelves(rows) if kind == "slots" else rows:
                self.box(corners, fill, line, width, radius)
        for x, y, text, size, style, ink, align, _ in _rows(drawing, "texts"):
            if x <= right:
                self.text((x, y), text, size=size, bold=style == "bold", ink=ink, align=align)

    def svg(self, width: float, height: float, alt: str) -> str:
        """Return the picture; `alt` says in words what is to be seen."""
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{width:g}' height='{height:g}'"
            f" font-family='{FONT}' role='img' aria-label='{_xml_text(alt)}'><title>{_xml_text(alt)}</title>"
            f"<rect width='100%' height='100%' fill='{self.colour('paper')}'/>{''.join(self.shapes)}</svg>"
        )


def _xml_text(text: str) -> str:
    """Return text as XML holds it: escaped, without the characters that it may not have at all."""
    return escape(_NOT_IN_XML.sub("", text), quote=True)


def _rows(drawing: Drawing, kind: str) -> Iterable[Any]:
    return zip(*getattr(drawing, kind).values(), strict=True)


_AROUND = 2.0
"""Between the ends of a shelf and the slices on it."""


def _shelves(cells: Iterable[Any]) -> Iterable[Any]:
    """Return places for slices, those of one row in one half of the picture as one, as in the lab."""
    shelves: dict[Any, Any] = {}
    for left, top, right, *rest in cells:
        wide = right - left > CELL + 1
        row, around = ((left, top), 0.0) if wide else ((left > WIDTH / 2, top, None), _AROUND)
        ends = left - around, right + around
        first, _, last, *_ = shelves.get(row, (ends[0], top, ends[1]))
        shelves[row] = (min(first, ends[0]), top, max(last, ends[1]), *rest)
    return shelves.values()


def key_spans(entries: Sequence[tuple[str, str, str]]) -> str:
    """Return the spans of a key in one text, so that all gaps are alike in whatever font a page has.

    Each entry is how its sign is painted (attributes of SVG), the sign, and its words.
    """
    return "".join(
        f"<tspan dx='{1.6 * bool(place):g}em' {paint}>{sign}</tspan><tspan dx='0.5em'>{escape(words)}</tspan>"
        for place, (paint, sign, words) in enumerate(entries)
    )
