"""Whatever a user gives, a message is one line of a bounded length that tells a terminal nothing."""

import json
import pickle
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_logs import NCCL

import peerlab
from peerlab.cli import main
from peerlab.cli.commands import command_line
from peerlab.collectives.walk import walk
from peerlab.deck.markdown import read_markdown
from peerlab.errors import MOST, PeerlabError, ScenarioError, message
from peerlab.measurement.schedule import Measurement
from peerlab.records.library import measured_library
from peerlab.reports.expected_page import write_page
from peerlab.study.validation.expected_figures import read_expected

HOSTILE = {
    "a word": "x" * 10_000,
    "words": "word " * 2_000,
    "a path": "/" + "folder/" * 1_400 + "file.toml",
    "escapes": "\x1b]0;mine\x07\x1b[2J\r\u202e" * 1_000,
    "lines": "line\n" * 2_000,
    "digits": "9" * 10_000,
}
hostile = pytest.mark.parametrize("given", HOSTILE.values(), ids=HOSTILE)


@given(st.text(max_size=20_000) | st.text(alphabet="x \n\x1b", min_size=5_000, max_size=20_000))
def test_a_message_is_one_bounded_line_and_stays_as_it_is_when_it_is_told_again(text):
    told = str(PeerlabError(text))
    assert told.isprintable()
    assert len(told) <= MOST
    assert message(told) == told
    assert str(ScenarioError("nodes", text)) == message(f"nodes: {text}")


def test_what_is_allowed_stands_behind_a_long_name():
    told = str(PeerlabError(f"unknown cluster {'x' * 10_000!r}; known: dl1, gaudi3"))
    assert re.fullmatch(r"unknown cluster 'x+\.\.\.x+'; known: dl1, gaudi3", told)
    told = str(PeerlabError(f"unknown cluster {'x ' * 10_000!r}; known: dl1, gaudi3"))
    assert re.fullmatch(r"unknown cluster '[x ]+ \[\.\.\.\] [x ]+'; known: dl1, gaudi3", told)


DL1 = peerlab.Scenario()
RECORDS = measured_library()["p5/nccl-2n16r-efa"]
ASKED = {
    "a cluster": lambda given: peerlab.Scenario(cluster=given),
    "a field": lambda given: peerlab.Scenario(**{given: 1}),
    "a value": lambda given: DL1.with_(nodes=given),
    "a size": lambda given: DL1.with_(message_bytes=given),
    "a word of a field": lambda given: DL1.with_(registration=given),
    "a path of data": lambda given: DL1.with_(path=given),
    "a slow node": lambda given: DL1.with_(slow_nodes={given: 0.5}),
    "an engine": lambda given: peerlab.simulate(DL1, engine=given),
    "a file of a cluster": peerlab.load_cluster,
    "a figure's key": lambda given: peerlab.load_cluster("dl1").with_figure(given, 1),
    "a figure's value": lambda given: peerlab.load_cluster("dl1").with_figure("nic.rate", given),
    "a field of a sweep": lambda given: peerlab.sweep(nodes=[2], **{given: [1]}),
    "a value of a sweep": lambda given: peerlab.sweep(nodes=[given]),
    "a file of a sweep": lambda given: peerlab.sweep(nodes=[2], output=given),
    "workers of a sweep": lambda given: peerlab.sweep(nodes=[2], workers=given),
    "a log": peerlab.load,
    "columns of records": lambda given: peerlab.Records.of([{given: 1}], {}),
    "a word in records": lambda given: peerlab.Records.of([{"kind": given}], {}),
    "a figure in records": lambda given: peerlab.Records.of([ROW | {"time_s": given}], {}),
    "an exercise": peerlab.exercise,
    "a check": lambda given: peerlab.doctor(only=given),
    "an algorithm to walk": peerlab.steps,
    "ranks to walk": lambda given: walk("ring", given),
    "a limit": peerlab.show_limit,
    "a way to pin": lambda given: peerlab.pin_cost(pins=[given]),
    "an arm": lambda given: peerlab.measure(arms=given),
    "sizes to measure": lambda given: Measurement.of(sizes=given),
    "registrations": lambda given: Measurement.of(registrations=given),
    "against": lambda given: peerlab.ratios(RECORDS, against=given),
    "only": lambda given: peerlab.ratios(RECORDS, only=given),
    "a cluster of a log": lambda given: peerlab.diagnose(RECORDS, cluster=given),
    "a constant": lambda given: peerlab.calibrate(RECORDS, "p5", constants=[given]),
    "a page": lambda given: peerlab.export_html(DL1, given),
    "a mode": lambda given: peerlab.export_html(DL1, "x.html", mode=given),
    "controls": lambda given: peerlab.export_html(DL1, "x.html", controls=given),
    "a control's values": lambda given: peerlab.export_html(DL1, "x.html", controls={"nodes": [given]}),
    "a start": lambda given: peerlab.export_html(DL1, "x.html", controls={"nodes": [2]}, start={given: 1}),
    "a still": lambda given: peerlab.export_still(DL1, given),
    "a video": lambda given: peerlab.export_video(DL1, given),
    "an outline": lambda given: peerlab.write_deck(given, "deck"),
    "a folder of a deck": lambda given: peerlab.write_deck("missing.md", given),
    "a key of an outline": lambda given: read_markdown(f"---\nscenario:\n  {given}: 1\n---\n", "deck.md", {}),
    "a slide of an outline": lambda given: read_markdown(f"## One two\n\n##{given}\n", "deck.md", {}),
    "expected figures": lambda given: read_expected("row = []", given),
    "a picture of them": lambda given: write_page([DOT], Path(given)),
}
ROW = {"kind": "measured", "collective": "allreduce"}
DOT = {
    "group": "g", "name": "n", "expected": 1, "simulated": 1, "unit": "s", "says": "", "error": 0, "note": "",
}  # fmt: skip


@hostile
@pytest.mark.parametrize("what", ASKED)
def test_what_a_user_gives_in_python_is_told_in_one_bounded_line(what, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PeerlabError) as told:
        ASKED[what](given)
    assert str(told.value).isprintable()
    assert 10 < len(str(told.value)) <= MOST
    assert list(tmp_path.iterdir()) == []


LOG = "data/measured/p5/nccl-2n16r-efa.csv"
NEEDS = {
    "export": ["--output=x.html"],
    "deck": ["--output=deck", "--cluster=none"],
    "diagnose": [LOG],
    "calibrate": [LOG, "--cluster=p5"],
    "import": [LOG],
    "simulate": ["--path=peer-direct", "--registration=cached"],
    "lab": ["--port=0"],
}
"""What a command must be given to look at the rest."""


def options():
    """Return command and option, of every option that takes a value; the empty option is the argument itself."""
    _, parsers = command_line()
    for command, parser in parsers.items():
        for action in parser._actions:
            if action.nargs != 0 and action.dest != "title":
                yield command, (action.option_strings or [""])[0]


@hostile
@pytest.mark.parametrize(("command", "option"), [*options()])
def test_what_a_user_gives_to_a_command_is_told_in_one_bounded_line(
    command, option, given, tmp_path, monkeypatch, capsys, root
):
    monkeypatch.chdir(tmp_path)
    needed = [str(root / one) if one == LOG else one for one in NEEDS.get(command, [])]
    others = [one for one in needed if not option or not one.startswith(option)]
    try:
        status = main([command, *others, f"{option}={given}" if option else given])
    except SystemExit as ended:
        status = ended.code
    *usage, said = capsys.readouterr().err.rstrip("\n").split("\n")
    assert status in (1, 2)
    assert said.startswith("peerlab")
    assert "".join(usage).isprintable() or status == 2
    assert said.isprintable()
    assert len(said) <= MOST + 30
    assert list(tmp_path.iterdir()) == []


@hostile
def test_what_a_cluster_file_says_is_told_in_bounded_lines(given, tmp_path, capsys):
    file = tmp_path / "mine.toml"
    key = json.dumps(given)  # a text in JSON is one in TOML
    for more in (f"[nic.{key}]\nvalue = 1", f"[leaves_out]\n{key} = {key}", f"[paths]\nhas = [{key}]"):
        file.write_text(f"name = {key}\ntitle = {key}\n{more}\n")
        assert main(["clusters", "check", str(file)]) == 1
        lines = "".join(capsys.readouterr()).splitlines()
        assert [line for line in lines if not line.isprintable() or len(line) > MOST] == []


def test_an_error_reaches_another_process_as_it_is():
    told = pickle.loads(pickle.dumps(ScenarioError("nodes", "must be 1 or more")))  # noqa: S301  (our own)
    assert (str(told), told.field) == ("nodes: must be 1 or more", "nodes")


RING = ["calibrate", "ring.log", "--cluster=p4d", "--path=peer-direct", "--constant=library.hop"]
WRITTEN = {
    "import": ["import", "ring.log", "--save=mine\x1b[31m\n.csv"],
    "new": ["clusters", "new", "mine\x1b[31m\n.toml"],
    "check": ["clusters", "check", "known\x1b[31m\n.toml"],
    "calibrate": [*RING, "--save=mine\x1b[31m\n.toml"],
    "plot": ["validate", "--only=gaudi2-one-box", "--plot=mine\x1b[31m\n.html"],
}


@pytest.mark.parametrize("command", WRITTEN)
def test_the_name_of_a_written_file_tells_a_terminal_nothing(command, tmp_path, monkeypatch, capsys, root):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ring.log").write_text(NCCL)
    shutil.copy(root / "data" / "hardware" / "dl1.toml", "known\x1b[31m\n.toml")
    assert main(WRITTEN[command]) == 0
    out, problem = capsys.readouterr()
    lines = out.splitlines() + problem.splitlines()
    assert [line for line in lines if not line.isprintable()] == []
    assert any(r"\x1b[31m\n." in line for line in lines)
