"""How long a lab takes: its core, and all of it with what is folded."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peerlab.features.exercises.lessons.solved import asked

WORDS_A_MINUTE = 250
MINUTES_A_CELL = 1.0
MINUTES_AN_EXERCISE = 2.5
_ROUNDED_TO = 5
_FOLDED = "jp-MarkdownHeadingCollapsed"
"""What JupyterLab keeps of a heading whose section is folded."""
_WAITS = "peerlab.wait_for("
_FURTHER = "Further"
"""How the heading of a folded section begins that is not core; other folded ones hold an answer."""


@dataclass(frozen=True)
class LabCell:
    """A cell of a lab."""

    kind: str
    """``"markdown"`` or ``"code"``."""
    source: str
    """Its text."""
    further: bool
    """Whether it stands in a folded section."""

    @property
    def minutes(self) -> float:
        """How long a learner takes: by its words, else for running it, else for the exercise that it asks."""
        if self.kind == "markdown":
            return len(self.source.split()) / WORDS_A_MINUTE
        if self.source.startswith(_WAITS) and "\n" not in self.source:
            return 0.0  # it shows nothing
        return MINUTES_AN_EXERCISE if asked(self.source) else MINUTES_A_CELL


def lab_cells(lab: Path) -> list[LabCell]:
    """Return the cells of a lab's notebook; a folded section ends with the next heading that is as high as its own."""
    return list(_cells(json.loads(lab.read_text(encoding="utf-8"))["cells"]))


def _cells(cells: Sequence[Any]) -> Iterator[LabCell]:
    level = 0
    for cell in cells:
        source = "".join(cell["source"])
        heading = len(source) - len(source.lstrip("#")) if cell["cell_type"] == "markdown" else 0
        # Only a heading as high ends a folded section, or begins one outside of any.
        if heading and (not level or heading <= level):
            further = cell["metadata"].get(_FOLDED) and source.lstrip("# ").startswith(_FURTHER)
            level = heading if further else 0
        yield LabCell(cell["cell_type"], source, further=bool(level))


def minutes(cells: Sequence[LabCell]) -> int:
    """Return how many minutes some cells take, rounded to five."""
    return _ROUNDED_TO * round(sum(cell.minutes for cell in cells) / _ROUNDED_TO)


def core_and_all(lab: Path) -> tuple[int, int]:
    """Return the minutes of a lab's core, and of all of it."""
    cells = lab_cells(lab)
    return minutes([cell for cell in cells if not cell.further]), minutes(cells)
