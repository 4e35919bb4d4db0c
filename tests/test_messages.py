"""Whatever a user gives, a message is one line of a bounded length that tells a terminal nothing."""

import json
import pickle
import re
import shutil
from copy import copy
from importlib import import_module
from inspect import signature
from itertools import product
from pathlib import Path

import pytest
import simpy
from command_line import peerlab_command
from hypothesis import given
from hypothesis import strategies as st
from tool_logs import NCCL

import peerlab
from peerlab.base.errors import MOST, PeerlabError, ScenarioError, message
from peerlab.base.terminal_text import fraction, number
from peerlab.cli import main
from peerlab.cli.commands import _COMMANDS, command_line
from peerlab.collectives.walk import walk
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.features.deck.reading.markdown import read_markdown
from peerlab.features.measure.schedule import Measurement
from peerlab.features.validate.expected_figures import read_expected
from peerlab.features.validate.expected_page import write_page
from peerlab.records.library import measured_library

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


@pytest.mark.parametrize("what", ASKED)
def test_what_a_user_gives_in_python_is_told_in_one_bounded_line(what, drawn, own_folder):
    told = {}
    for name, written in drawn(HOSTILE.items(), part=3):
        with pytest.raises(PeerlabError) as refused:
            ASKED[what](written)
        told[name] = str(refused.value)
    assert {
        name: line for name, line in told.items() if not (line.isprintable() and 10 < len(line) <= MOST)
    } == {}
    assert list(own_folder.iterdir()) == []


LOG = "data/measured/p5/nccl-2n16r-efa.csv"
NEEDS = {
    "export": ["--output=x.html"],
    "deck": ["--output=deck", "--cluster=none"],
    "diagnose": [LOG],
    "calibrate": [LOG, "--cluster=p5"],
    "import": [LOG],
    "simulate": ["--path=peer-direct", "--registration=cached"],
    "lab": ["--port=0"],
    "jobs": ["--job=0,1"],
    "site": ["folder", "--pyodide=missing.tgz"],
}
"""What a command must be given to look at the rest."""


def options(command):
    """Return the options of a command that take a value; the empty option is the argument itself."""
    _, parsers = command_line([command])
    actions = parsers[command]._actions
    return [(one.option_strings or [""])[0] for one in actions if one.nargs != 0 and one.dest != "title"]


def is_bounded(status, problem):
    """Return whether the last line of what a command says is in order, and what is above it: how to use the command."""
    *usage, said = problem.rstrip("\n").split("\n")
    shown = said.isprintable() and ("".join(usage).isprintable() or status == 2)
    # no field of ours: what the user typed is an option
    shown = shown and not re.match(r"peerlab: [a-z]+_[a-z_]+:", said)
    return status in (1, 2) and shown and said.startswith("peerlab") and len(said) <= MOST + 30


@pytest.mark.parametrize("command", _COMMANDS)
def test_what_a_user_gives_to_a_command_is_told_in_one_bounded_line(command, drawn, own_folder, root):
    asked = options(command)
    assert asked
    wrong = []
    for option, (name, written) in drawn(product(asked, HOSTILE.items()), part=6):
        needed = [str(root / one) if one == LOG else one for one in NEEDS.get(command, [])]
        others = [one for one in needed if not option or not one.startswith(option)]
        status, _, problem = peerlab_command(command, *others, f"{option}={written}" if option else written)
        if not is_bounded(status, problem):
            wrong.append((option, name, status, problem))
    assert wrong == []
    assert list(own_folder.iterdir()) == []


def absurd(command):
    """Yield options of a command with values that cannot be: numbers that are none, and places that lead through a file."""
    _, parsers = command_line([command])
    shared = {
        one for action in command_line(["simulate"])[1]["simulate"]._actions for one in action.option_strings
    }
    for action in parsers[command]._actions:
        option = (action.option_strings or [""])[-1]
        # fields of a scenario are those of `simulate`, as their options are
        if action.type in (int, float, number, fraction) and (command == "simulate" or option not in shared):
            yield from ((option, value) for value in ("nan", "inf", "-1"))
        named = str(action.metavar or action.dest)
        if action.nargs != 0 and re.search("file|folder|log|output", named, re.IGNORECASE):
            yield option, f"a file/x{(re.search(r'[.][a-z]+', named) or ['.html'])[0]}"


@pytest.mark.parametrize("command", [name for name in _COMMANDS if any(absurd(name))])
def test_what_cannot_be_is_refused_before_any_work(command, drawn, own_folder, root):
    (own_folder / "a file").touch()
    wrong = []
    for option, value in drawn(list(absurd(command)), part=3):
        needed = [str(root / one) if one == LOG else one for one in NEEDS.get(command, [])]
        others = [
            one for one in needed if not (one.startswith(option) if option else not one.startswith("-"))
        ]
        status, out, problem = peerlab_command(command, *others, f"{option}={value}" if option else value)
        if out or not is_bounded(status, problem):
            wrong.append((option, value, status, problem))
    assert wrong == []
    assert [one.name for one in own_folder.iterdir()] == ["a file"]


@pytest.mark.parametrize("command", _COMMANDS)
def test_no_option_takes_an_empty_value(command, own_folder):
    """As of a shell's variable that is not set: some passed for a value that was not given."""
    _, parsers = command_line([command])
    taken = []
    for action in parsers[command]._actions:
        option = (action.option_strings or [""])[-1]
        for empty in ("", " ", "--") if action.nargs != 0 else ():
            if not option and empty == "--":
                continue  # there it is where options end
            status, out, problem = peerlab_command(command, f"{option}={empty}" if option else empty)
            if (status, out) != (2, "") or not re.search(r": (is empty; give|'--' is no value)", problem):
                taken.append((option, empty, status, problem))
    assert taken == []
    assert list(own_folder.iterdir()) == []


@hostile
def test_what_a_cluster_file_says_is_told_in_bounded_lines(given, tmp_path, capsys):
    file = tmp_path / "mine.toml"
    key = json.dumps(given)  # a text in JSON is one in TOML
    for more in (f"[nic.{key}]\nvalue = 1", f"[leaves_out]\n{key} = {key}", f"[paths]\nhas = [{key}]"):
        file.write_text(f"name = {key}\ntitle = {key}\n{more}\n")
        assert main(["clusters", "check", str(file)]) == 1
        lines = "".join(capsys.readouterr()).splitlines()
        assert [line for line in lines if not line.isprintable() or len(line) > MOST] == []


def errors_below(kind):
    """Return every error class of the package below one of Python's."""
    for one in kind.__subclasses__():
        if one.__module__.startswith("peerlab."):
            yield one
        yield from errors_below(one)


def test_every_error_survives_being_made_anew_and_sent_to_another_process(root):
    """SimPy and pools of processes do that, and would else raise a TypeError in its place."""
    for file in sorted((root / "peerlab").rglob("*.py")):
        if re.search(r"^class \w+\(.*(Error|Exception|Cancelled)", file.read_text(), re.MULTILINE):
            import_module(".".join(file.relative_to(root).with_suffix("").parts))
    kinds = {*errors_below(Exception)}
    assert {PeerlabError, ScenarioError, OrderUnknownError} <= kinds
    for kind in kinds:
        names = {"number": 3, "field": "nodes"}
        _, *parameters = signature(kind.__init__).parameters.values()  # Python's own takes *args
        given = [
            names.get(one.name, "must be 1 or more") for one in parameters if one.kind is not one.VAR_KEYWORD
        ]
        told = kind(*given)
        for again in (type(told)(*told.args), pickle.loads(pickle.dumps(told)), copy(told)):  # noqa: S301  (our own)
            assert type(again) is kind
            assert (str(again), vars(again)) == (str(told), vars(told))
    told = str(ScenarioError("nodes", "x" * 10_000))
    assert str(ScenarioError(*ScenarioError("nodes", "x" * 10_000).args)) == told


def test_the_referee_passes_a_refusal_on():
    """A process of SimPy that ends with an error has it made anew."""

    def refuses():
        yield env.timeout(1)
        raise ScenarioError("nodes", "must be 1 or more")

    env = simpy.Environment()
    process = env.process(refuses())
    with pytest.raises(ScenarioError, match=r"^nodes: must be 1 or more$"):
        env.run(until=process)


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


def test_a_notebook_shows_where_it_was_asked_and_the_message_and_no_lines_of_ours():
    def asks():
        return peerlab.Scenario(cluster="dl2")

    with pytest.raises(PeerlabError) as caught:
        asks()
    asking, said = caught.value._render_traceback_()
    assert asking.startswith("line ")
    assert asking.endswith(': return peerlab.Scenario(cluster="dl2")')
    assert said == f"HardwareError: {caught.value}"
