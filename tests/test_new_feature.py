"""A feature that nobody has heard of, in a folder of its own, has its command, its public name, its report and its page."""

import importlib
import sys

import pytest
from command_line import peerlab_command

import peerlab
import peerlab.features
from peerlab.base.feature import registered
from peerlab.cli import commands
from peerlab.page.embedded import page_of

FILES = {
    "__init__.py": '''"""Relief: what a faster part of a machine would gain."""
from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which part of the machine is worth being twice as fast?",
    answers="the time of a scenario with a rate doubled",
    commands={"relief": "peerlab.features.relief.relief_command"},
    functions={"relief": "peerlab.features.relief.relieving"},
    shows={"Relief": "peerlab.features.relief.relief_document:relief_html"},
    offers={"page of a Relief": "peerlab.features.relief.relief_document:relief_page"},
)
''',
    "relieving.py": '''"""How long a scenario takes where one of its figures is twice as high."""
from dataclasses import dataclass

from peerlab.base.display import shown
from peerlab.engine.simulate import simulate


@dataclass(frozen=True)
class Relief:
    """The time of a scenario, and with a figure doubled."""

    figure: str
    time_ps: int
    relieved_ps: int

    _repr_html_ = shown


def relief(scenario, figure):
    """Return what a figure that is twice as high would gain."""
    machine = scenario.given_cluster
    faster = machine.with_figure(figure, 2 * machine.figures[figure].value)
    return Relief(figure, simulate(scenario).time_ps, simulate(scenario.with_(cluster=faster)).time_ps)
''',
    "relief_document.py": '''"""What a relief says, told once."""
from peerlab.base.document import Document, Table
from peerlab.base.units import say_time
from peerlab.page.document_html import document_html, document_page


def relief_document(relief):
    row = (relief.figure, say_time(relief.time_ps), say_time(relief.relieved_ps))
    return Document("What would a faster part gain?", (Table("", ("figure", "as it is", "doubled"), [row], right=(1, 2)),))


def relief_html(relief):
    return document_html(relief_document(relief), "relief")


def relief_page(relief):
    return document_page(relief_document(relief), "relief")
''',
    "relief_command.py": '''"""`peerlab relief`: what a faster part of a machine would gain."""
import argparse

from peerlab.base.document import document_lines
from peerlab.base.terminal_text import command
from peerlab.features.relief.relief_document import relief_document
from peerlab.features.relief.relieving import relief
from peerlab.question.fields import add_fields, fields_given
from peerlab.question.scenario import Scenario


def add(commands):
    sentence = "what a faster part of a machine would gain"
    sub = command(commands, "relief", sentence, _relief, argument_default=argparse.SUPPRESS)
    add_fields(sub.add_argument, path="the cluster's first", registration="cached")
    sub.add_argument("figure", metavar="FIGURE")


def _relief(options):
    answer = relief(Scenario(**fields_given(options)), options.figure)
    print("\\n".join(document_lines(relief_document(answer))))
    return 0
''',
}
"""All that is written; beside it stands the folder's name in `NAMES`."""


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """The feature's folder is there, and its name is in the list."""
    folder = tmp_path / "relief"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(peerlab.features, "__path__", [*peerlab.features.__path__, str(tmp_path)])
    monkeypatch.setattr(peerlab.features, "NAMES", (*peerlab.features.NAMES, "relief"))
    peerlab.features.features.cache_clear()
    importlib.reload(commands)
    yield
    monkeypatch.undo()
    peerlab.features.features.cache_clear()
    importlib.reload(commands)
    vars(peerlab).pop("relief", None)
    for name in [name for name in sys.modules if name.startswith("peerlab.features.relief")]:
        del sys.modules[name]


@pytest.mark.usefixtures("listed")
def test_a_new_feature_is_a_folder_and_a_name():
    answer = peerlab.relief(peerlab.Scenario(nodes=2), "switch.uplink")
    assert "relief" in dir(peerlab)
    assert answer.relieved_ps < answer.time_ps
    assert "<table class='pl-'>" in answer._repr_html_()
    assert page_of("Relief", answer).startswith("<!doctype html>")
    status, out, problem = peerlab_command("relief", "switch.uplink", "--nodes", "2")
    assert (status, problem) == (0, "")
    assert out.splitlines()[0].split() == ["figure", "as", "it", "is", "doubled"]
    assert "relief " in peerlab_command("--help")[1]
    with pytest.raises(LookupError):
        registered("shows", "Relieved")
