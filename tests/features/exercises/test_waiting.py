"""Cells that show what was asked wait for an answer, and say so in one sentence."""

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.base.places import folder
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.exercise_widget import AnswerNeeded
from peerlab.features.exercises.solved import asked

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
    cells = [
        one.source
        for one in nbformat.read(folder("labs") / f"{lab}.ipynb", as_version=4).cells
        if one.cell_type == "code"
    ]
    names = [asked(cell) for cell in cells if asked(cell)]
    for name in names:
        waits = [at for at, cell in enumerate(cells) if cell.startswith(f'peerlab.wait_for("{name}")')]
        if find(name).further or find(name).seed is not None:
            assert not waits
        else:
            (at,) = waits
            assert at > next(number for number, cell in enumerate(cells) if asked(cell) == name)
