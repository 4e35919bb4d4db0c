"""Writes docs/answers.md: for trainers, every exercise with its answer, typical wrong turns and hints."""

import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from documents import link, plain

import peerlab
from peerlab.features.exercises.catalogue import exercises, names
from peerlab.features.exercises.exercise import Choice, Code, Exercise, Number, fill_in
from peerlab.features.exercises.lessons.solved import asked
from peerlab.records import Records
from peerlab.records.library import measured_library

LABS = Path(__file__).parent.parent / "labs"
HEAD = """\
# Answers and wrong turns

Written by `make docs` from the exercises of the labs: for trainers, and for whoever is done. Figures are computed now, as they are when
an answer is checked; those that rest on the learner's own measurement differ from machine to machine and are left out. Each wrong
turn is one that the checker knows, with what it says. Everywhere it also knows a right figure in another unit (Gbit/s, MB, ms), a ratio
upside down, as a percentage, as what exceeds 1 or as the time that is saved. Any other figure is told the first hint. The labs with all
answers filled in are in `labs/solutions/`.

{contents}
"""


def document() -> str:
    """Return the whole text."""
    labs = {file: title(file) for file in sorted(LABS.glob("*.ipynb")) if names(file.stem[:2])}
    contents = "\n".join(f"* {link(name)}" for name in labs.values())
    parts = [HEAD.format(contents=contents)]
    for file, name in labs.items():
        parts.append(f"## {name}\n\n[{file.name}](../labs/{file.name})\n")
        cells = _cells(file)
        for one in exercises(file.stem[:2]):
            with TemporaryDirectory() as empty, chdir(empty):  # where no file of a learner lies
                parts += _exercise(one, cells)
    return "\n".join(parts)


def title(file: Path) -> str:
    """Return the title of a lab: the first heading in it."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    return "".join(notebook["cells"][0]["source"]).partition("\n")[0].lstrip("# ").strip()


def _cells(file: Path) -> list[str]:
    """Return the cells of code."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _exercise(one: Exercise, cells: list[str]) -> Iterator[str]:
    yield f"### {one.name}\n\n{one.question}\n"
    yield f"```python\n{one.solution.strip()}\n```\n"
    yield f"{_right(one)}{one.why}\n"
    turns = list(_turns(one, cells))
    if turns:
        yield "*Wrong turns*\n\n" + "".join(f"* {turn}\n" for turn in turns)
    yield "*Hints*\n\n" + "".join(f"1. {hint}\n" for hint in one.hints)


def _right(one: Exercise) -> str:
    if getattr(one, "measured", False):
        return "What is right follows from the learner's own measurement. "
    if isinstance(one, Number):
        return f"**{_figure(one.truth(), one.unit)}.** "
    return f"**{plain(one.truth())}.** " if isinstance(one, Choice) else ""


def _turns(one: Exercise, cells: list[str]) -> Iterator[str]:
    """Yield what a typical mistake answers, and what it is told."""
    measured = getattr(one, "measured", False)
    if measured and isinstance(one, Number):
        yield from (mistake.says for mistake in one.mistakes)
    elif measured and isinstance(one, Choice):  # which of them is wrong is the learner's to find
        yield from (f"*{plain(option)}*: {says}" for option, says in one.options.items())
    elif isinstance(one, Code):
        yield from (_attempt(code, _told(one, code, cells)) for code, _ in one.wrong())
    else:
        yield from (f"{_said(one, answer)}: {says}" for answer, says in one.wrong())
        for bound in getattr(one, "bounds", ()):
            side = "above" if bound.above else "below"
            yield f"other figures {side} **{_figure(bound.figure(), one.unit)}**: {bound.says}"


def _attempt(code: str, told: str) -> str:
    """Return some code with what it is told; lines are fenced, and belong to the entry of the list."""
    lines = code.strip().splitlines()
    if len(lines) == 1:
        return f"`{lines[0]}`: {told}"
    fenced = "".join(f"  {line}\n" for line in ("```python", *lines, "```"))
    return f"{told}\n\n{fenced}"


def _told(one: Exercise, attempt: str, cells: list[str]) -> str:
    """Return what an attempt at some code is told: in a folder of its own the lab's first cell is run, then the exercise's."""
    given: list[Any] = []
    world: dict[str, Any] = {}
    known = {name: getattr(peerlab, name) for name in peerlab.__all__}
    asking = SimpleNamespace(**{**known, "exercise": lambda _name, answer=...: given.append(answer)})
    with TemporaryDirectory() as folder, chdir(folder), patch("peerlab.measure", _measured, create=True):
        exec(cells[0], world)  # noqa: S102  (our own lab)
        world["peerlab"] = asking
        exec(fill_in(next(cell for cell in cells if asked(cell) == one.name), attempt), world)  # noqa: S102
        return one.judge(given[-1]).says


def _measured(**_asked: Any) -> Records:
    """Return what we measured ourselves, which stands in for a measurement."""
    return measured_library()["own/xeon-2-processors"]


def _said(one: Exercise, answer: Any) -> str:
    if isinstance(one, Number):
        return f"**{_figure(answer, one.unit)}**"
    return f"*{plain(str(answer)).rstrip('.')}*"


def _figure(value: float, unit: str) -> str:
    return f"{value:.4g}{' ' if unit else ''}{unit}"
