"""Cells that show what was asked wait for an answer, and say so in one sentence."""

import json
import re

import pytest
from IPython.core.interactiveshell import InteractiveShell

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.base.places import folder
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.exercise import Number
from peerlab.features.exercises.exercise_widget import AnswerNeeded
from peerlab.features.exercises.lessons.solved import asked

pytestmark = pytest.mark.usefixtures("own_folder")


def test_a_cell_waits_for_any_answer():
    with pytest.raises(AnswerNeeded, match="answer exercise 05-silent above, rightly or not"):
        peerlab.wait_for("05-silent")
    peerlab.exercise("05-silent")
    with pytest.raises(AnswerNeeded):
        peerlab.wait_for("05-silent")
    peerlab.exercise("05-silent", answer="Peer Direct")
    peerlab.wait_for("05-silent")
    with pytest.raises(PeerlabError, match="no '05-silence'"):
        peerlab.wait_for("05-silence")


def test_a_notebook_shows_the_sentence_alone(capsys):
    InteractiveShell().run_cell('import peerlab\npeerlab.wait_for("05-wire")')
    told = capsys.readouterr().out
    assert told.startswith("The lab waits here: answer exercise 05-wire above")
    assert "Traceback" not in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("lab", ["05_read_a_log", "06_design_review"])
def test_in_labs_that_wait_every_core_exercise_is_waited_for_below_it(lab):
    stored = json.loads((folder("labs") / f"{lab}.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(one["source"]) for one in stored["cells"] if one["cell_type"] == "code"]
    names = [asked(cell) for cell in cells if asked(cell)]
    for name in names:
        waits = [at for at, cell in enumerate(cells) if cell.startswith(f'peerlab.wait_for("{name}")')]
        if find(name).further or find(name).seed is not None:
            assert not waits
        else:
            (at,) = waits
            assert at > next(number for number, cell in enumerate(cells) if asked(cell) == name)


def opened_with(cells, at):
    """Yield the prose that stands open below a question, up to the summary: what no heading folds that comes after it."""
    level = 0
    for cell in cells[at + 1 : -1]:
        heading = len(cell.source) - len(cell.source.lstrip("#")) if cell.cell_type == "markdown" else 0
        if heading and (not level or heading <= level):
            level = heading if cell.metadata.get("jp-MarkdownHeadingCollapsed") else 0
        if cell.cell_type == "markdown" and not level:
            yield cell.source


@pytest.mark.parametrize("lab", ["05_read_a_log", "06_design_review"])
def test_in_labs_that_wait_no_open_prose_says_the_figure_that_is_asked(lab):
    """A cell can wait, and prose cannot: lab 06 said 1.10 two cells below the question for it."""
    import nbformat  # takes a second, which only the process that needs it spends

    cells = nbformat.read(folder("labs") / f"{lab}.ipynb", as_version=4).cells
    for at, cell in enumerate(cells):
        name = asked(cell.source) if cell.cell_type == "code" else None
        one = find(name) if name else None
        if isinstance(one, Number) and one.seed is None:
            said = {f"{one.truth():.2f}", f"{one.truth():.3g}", f"{one.truth():.1f}"}
            numbers = set(re.findall(r"\d+(?:\.\d+)?", "\n".join(opened_with(cells, at))))
            assert not said & numbers, (name, said & numbers)
