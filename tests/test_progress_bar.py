"""Long work is never silent, and Ctrl+C ends it in one line."""

import io
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from tool_logs import ALPS

from peerlab.base import progress_bar as module
from peerlab.base.progress_bar import progress_bar, with_progress
from peerlab.cli.commands import _COMMANDS

LONG = {
    "simulate": "simulate --nodes 256 --slow-node 4:0.8 --path host-rdma",
    "step": "step --workload resnet50 --bucket 1KiB --path host-rdma",
    "sweep": "sweep --nodes 8,9,10,11,12,13,14,15,16 --window 1,2,3,4,5,6,7,8 --jitter 0.1",
    "fabrics": "fabrics --cluster ideal-100g --nodes 100 --jitter 0.1",
    "neighbours": "neighbours --message 64MiB",
    "plan": "plan --nodes 64",
    "tails": "tails --nodes 8 --seeds 400",
    "choices": "choices --cluster p5",
    "export": "export --output slide.html",
    "deck": "deck --only title --output deck",
    "validate": "validate",
    "expect": "expect --cluster ideal-100g-leafspine-2to1 --nodes 800 --sizes 1GiB",
    "measure": "measure --ranks 2 --sizes 64KiB --repetitions 1000",
    "diagnose": "diagnose alps.log --cluster alps-gh200",
    "calibrate": "calibrate alps.log --cluster alps-gh200 --path host-rdma",
}
"""Commands that may take long, each with a question that does."""
SHORT = {"clusters", "jobs", "import", "doctor", "suspects", "why"}
OF_THEIR_OWN = {
    "lab": "tests/features/lab/test_ending.py",
    "site": "tests/features/site/test_site_command.py",
}


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "alps.log").write_text(ALPS)
    script = Path(__file__).with_name("in_terminal.py")
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True
    ) as process:

        def ask(command):
            process.stdin.write(json.dumps(command.split()) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


@pytest.mark.parametrize("command", LONG)
def test_a_long_command_shows_a_bar_and_ctrl_c_ends_it_in_one_line(terminal, command):
    found = terminal(LONG[command])
    assert re.search(r"\[\d\d:\d\d", found["before"]), found
    assert found["status"] == 130, found
    # what a bar leaves is overwritten: a line shows what stands after its last return to the margin
    lines = [line.rsplit("\r", 1)[-1] for line in found["after"].replace("\r\n", "\n").split("\n")]
    left = [line.replace("^C", "") for line in lines if line.replace("^C", "").strip()]
    assert len(left) == 1, found
    assert left[0].startswith("peerlab: stopped"), found


def test_every_command_is_known_to_be_long_or_short():
    assert {*LONG, *SHORT, *OF_THEIR_OWN} == set(_COMMANDS)


def test_a_pipe_gets_one_line_for_long_work_and_nothing_for_short(capsys):
    for forecast_s in (None, 0.4, 9):
        with progress_bar("ring", "steps", 2, forecast_s=forecast_s) as bar:
            bar(1, 2)
    assert capsys.readouterr().err == ""
    with progress_bar("ring", "steps", forecast_s=540):
        pass
    assert capsys.readouterr().err == "peerlab: ring, about 9 min\n"


@pytest.mark.parametrize(
    ("spent_s", "total", "says"),
    [
        (3, 100, "peerlab: rows, about 28 s more\n"),
        (1, 1000, "peerlab: rows, about 3 min more\n"),
        (0.5, 1000, ""),
        (3, 20, ""),
        (3, None, ""),
    ],
)
def test_a_pipe_hears_once_what_is_left_at_the_pace_since_the_first_piece(
    monkeypatch, capsys, spent_s, total, says
):
    """Of work that nobody can forecast before it begins, such as a sweep; the first state of a page takes longer than all others."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    with progress_bar("rows", "rows", total, done=5) as bar:
        bar(5)  # told within the first piece
        now[0] += 60
        bar(6)
        for done in (15, 16):
            now[0] += spent_s
            bar(done)
    assert capsys.readouterr().err == says


class Terminal(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("forecast_s", "says"), [(None, ""), (0.4, ""), (200, "ring, about 3 min")])
def test_a_terminal_hears_at_once_what_long_work_will_take_and_nothing_of_short_work(
    monkeypatch, forecast_s, says
):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert list(with_progress("ab", "ring", "steps", 2)) == ["a", "b"]
    with progress_bar("ring", "steps", forecast_s=forecast_s) as bar:
        bar(1, 2)
    assert (says in terminal.getvalue()) if says else terminal.getvalue() == ""


def test_a_bar_moves_while_one_piece_of_the_work_takes_long(monkeypatch):
    monkeypatch.setattr(module, "_AFTER_S", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress_bar("ring", "steps", 2):
        first = terminal.getvalue()
        while terminal.getvalue() == first:  # nothing is reported meanwhile
            time.sleep(0.01)
    assert terminal.getvalue().endswith("\r")


def test_where_there_are_no_threads_the_bar_draws_when_it_hears(monkeypatch):
    monkeypatch.setattr(module, "_AFTER_S", 0.0)
    monkeypatch.setattr(module, "_REDRAW_S", 0.0)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    with progress_bar("ring", "steps", 2) as bar:
        bar.advance()
    assert "1/2" in terminal.getvalue()
