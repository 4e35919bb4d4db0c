"""Boxes, pipes, lines and words of the data path, collected as columns; colours are roles of the theme."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict

WIDTH, HEIGHT = 1060.0, 228.0
"""Size of the scene in its own units; at this width a unit is a pixel."""

_LETTER, _LARGE_LETTER = 8.2, 9.8
"""How wide a bold letter of a name is, and where words are largest, in a slide."""
SMALL = _LETTER / _LARGE_LETTER
"""The share of room that a name may take at its usual size if it is to fit where words are largest."""
_FEW = 3
"""Of so few letters, the sign that it is cut among them, nobody guesses a name."""

CELL = 9.0
"""Width of a bounce buffer among the slots; where slices stand in a device is wider."""
HOT_EDGE = 2.5
"""Width of the edge that marks a bottleneck."""
WAY_ALPHA = 0.75
"""Of the dotted ways, in the dark hue of their stages: 3 to 1 or more on all that they cross but a full link, in both themes."""

WAY_OF_OTHERS = "muted"
"""Role of the dotted way to and from nodes that are not shown."""

Point = tuple[float, float]
Columns = dict[str, list[object]]


_BOX = ("left", "top", "right", "bottom", "fill", "line", "width")


def _columns(*names: str) -> Callable[[], Columns]:
    return lambda: {name: [] for name in names}


def within(name: str, width: float, end: str = "") -> str:
    """Return a name, with what ends it, as it fits a box of this width; of a longer one its beginning, or the end alone."""
    # Names of the usual size fit as a rule; those that are cut are measured at the largest.
    if len(name + end) * _LETTER <= width:
        return name + end
    letters = int(width / _LARGE_LETTER) - len(end)
    return f"{name[: letters - 1].rstrip()}…{end}" if letters > _FEW else end.strip()


class PageDrawing(TypedDict):
    """A drawing as the page gets it: its columns."""

    panels: Columns
    pipes: Columns
    loads: Columns
    boxes: Columns
    slots: Columns
    lines: Columns
    texts: Columns


@dataclass
class Drawing:
    """The static part of the scene."""

    panels: Columns = field(default_factory=_columns(*_BOX))
    """Grounds of the nodes and of the registration table."""
    pipes: Columns = field(default_factory=_columns(*_BOX))
    """Links, as thick as their capacity."""
    loads: Columns = field(default_factory=_columns(*_BOX))
    """How full the links are."""
    boxes: Columns = field(default_factory=_columns(*_BOX))
    """Devices, NICs, host memory, CPU."""
    slots: Columns = field(default_factory=_columns(*_BOX))
    """Bounce buffers."""
    lines: Columns = field(default_factory=_columns("xs", "ys", "line", "width"))
    """The ways that slices take."""
    texts: Columns = field(
        default_factory=_columns("x", "y", "text", "size", "style", "ink", "align", "baseline")
    )
    """Words."""

    def box(  # noqa: D102
        self, kind: str, corners: tuple[float, float, float, float], fill: str, line: str, width: float = 1.0
    ) -> None:
        left, top, right, bottom = corners
        # Node 1 is a mirror image, so left and right may have changed places.
        row = (min(left, right), top, max(left, right), bottom, fill, line, width)
        for values, value in zip(getattr(self, kind).values(), row, strict=True):
            values.append(value)

    def line(self, points: list[Point], role: str, width: float = 2.0) -> None:  # noqa: D102
        row = ([x for x, _ in points], [y for _, y in points], role, width)
        for values, value in zip(self.lines.values(), row, strict=True):
            values.append(value)

    def text(  # noqa: D102
        self,
        at: Point,
        text: str,
        *,
        size: float = 12,
        bold: bool = False,
        ink: str = "ink",
        align: str = "center",
        baseline: str = "middle",
    ) -> None:
        if not text:
            return
        row = (*at, text, size, "bold" if bold else "normal", ink, align, baseline)
        for values, value in zip(self.texts.values(), row, strict=True):
            values.append(value)

    def page(self) -> PageDrawing:
        """Return what the page gets."""
        return {
            "panels": self.panels,
            "pipes": self.pipes,
            "loads": self.loads,
            "boxes": self.boxes,
            "slots": self.slots,
            "lines": self.lines,
            "texts": self.texts,
        }
