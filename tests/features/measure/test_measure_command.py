"""`peerlab measure`, as processes."""

import json
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from command_line import peerlab_command
from left_behind import processes, wait_until

import peerlab

COMMAND = [sys.executable, "-m", "peerlab.cli", "measure"]
QUICK = ["--ranks", "2", "--sizes", "64KiB,1000", "--repetitions", "3"]


run = partial(peerlab_command, "measure")


def test_the_table_has_a_line_for_each_size_then_what_registration_costs_then_what_it_is(tmp_path):
    file = tmp_path / "mine.csv"
    status, out, problem = run(*QUICK, "--registrations", "per-transfer,lru:8", "--save", str(file))
    assert (status, problem) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "AllReduce, measured: time of staged, and how many times as fast the others are"
    assert lines[1].split() == ["ranks", "size", "staged", "tcp", "staged-shm", "direct", "A/A"]
    ratio = r"\d+\.\d\d \[\d+\.\d\d-\d+\.\d\d\][~ ]"
    for line, size in zip(lines[2:4], ["64 KiB", "1000 B"], strict=True):
        assert re.fullmatch(rf" +2 +{size} +[\d.]+ (µs|ms)( +{ratio}){{4}}", line), line
    assert lines[5] == "direct with registered memory, how many times as fast as direct without"
    assert lines[6].split() == ["ranks", "size", "per-transfer", "lru:8"]
    assert all(re.fullmatch(rf" +2 +\S+ \S+( +{ratio}){{2}}", line) for line in lines[7:9])
    assert any("mlock: an emulation" in line for line in lines)
    assert lines[-2].endswith(
        "no NIC, no PCIe, no wire; the relative cost structure is real, the absolute figures are this machine's"
    )
    assert lines[-1] == f"saved: {file}"
    saved = peerlab.load(file)
    assert len(saved) == 2 * 7 * 3 * 2  # sizes, cases, repetitions, ranks
    assert saved.manifest["a_a_ratio"].keys() == {"2 ranks, 64 KiB", "2 ranks, 1000 B"}


def test_the_baseline_comes_first_wherever_it_was_named():
    _, out, _ = run(*QUICK, "--arms", "direct,staged", "--registrations", "none")
    lines = out.splitlines()
    assert lines[0].startswith("AllReduce, measured: time of staged,")
    assert lines[1].split() == ["ranks", "size", "staged", "direct", "A/A"]


def test_json_holds_rows_manifest_and_warnings():
    status, out, _ = run(*QUICK, "--arms", "direct", "--registrations", "none", "--json")
    document = json.loads(out, parse_constant=pytest.fail)
    assert status == 0
    assert document["manifest"]["tool"] == "peerlab"
    assert {row["path"] for row in document["rows"]} == {"direct"}
    assert document["rows"][0].keys() == set(peerlab.Records.of([]).table.columns)
    assert document["warnings"] == []


def test_ctrl_c_ends_it_in_one_line_and_leaves_no_process():
    process = subprocess.Popen(
        [*COMMAND, "--sizes", "64KiB,1MiB", "--repetitions", "1000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert wait_until(lambda: len(children(process.pid)) == 1)
    (session,) = children(process.pid)
    assert wait_until(lambda: len(processes(session)) == 5)
    process.send_signal(signal.SIGINT)
    _, problem = process.communicate(timeout=60)
    assert (process.returncode, problem) == (130, "peerlab: stopped\n")
    assert wait_until(lambda: processes(session) == {})  # what was killed needs a moment to end


def children(pid):
    """Return the process ids of a process's children."""
    folders = Path("/proc").glob("[0-9]*")
    return [int(one.name) for one in folders if parent(one) == pid]


def parent(folder):
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def test_with_its_error_output_closed_it_measures_all_the_same():
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", *COMMAND, *QUICK, "--arms", "tcp"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 0
    assert "A/A" in done.stdout


def test_a_full_disk_is_one_line_after_the_table():
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full, which is a full disk")
    status, out, problem = run(*QUICK, "--arms", "tcp", "--save", "/dev/full")
    assert status == 1
    assert out.startswith("AllReduce, measured: time of tcp")
    assert problem == "peerlab: cannot write /dev/full: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--ranks", "2,x"], "--ranks: 'x' is not a whole number from 2 to 32"),
        (["--sizes", "1.5"], "--sizes: '1.5' is not a whole number of bytes"),
        (["--repetitions", "many"], "--repetitions: 'many' is not a whole number from 1 to 1000"),
        (["--arms", "dircet"], "--arms: 'dircet' is unknown; did you mean 'direct'?"),
        (["--save", "/"], "cannot write /: that is the name of a folder"),
        (["--save", "/missing/mine.csv"], "cannot write /missing/mine.csv: there is no folder /missing"),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(arguments, says):
    status, out, problem = run(*arguments)
    assert (status, out) == (1, "")
    assert problem.startswith(f"peerlab: {says}")
    assert problem.count("\n") == 1


def test_wrong_sums_fail_loudly(monkeypatch, capsys):
    """The verdict reaches the exit status; the sums are spoilt in the records, as no arm is known to spoil them."""
    from peerlab.cli import main
    from peerlab.features.measure.stream import Stream

    true = Stream._noted

    def spoilt(self, told):
        for row in told.get("rows", ()):
            row["correct"] = row["path"] != "direct"
        return true(self, told)

    monkeypatch.setattr(Stream, "_noted", spoilt)
    assert main(["measure", *QUICK, "--arms", "tcp,direct", "--registrations", "none"]) == 1
    out, problem = capsys.readouterr()
    assert re.search(r"\]!", out)
    assert problem == "peerlab: wrong sums: direct at 64 KiB, and maybe more\n"
