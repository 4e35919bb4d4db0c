"""What a learner has done is kept, whatever happens to the file, and whoever else writes it."""

import errno
import os
import signal
import subprocess
import sys

import pytest

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.exercises import progress

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize(
    "held",
    [
        b'{"exercises": {"01-gain": 3}}',
        b'{"exercises": {"01-gain": {"tries": "x"}}}',
        b'{"exercises": {"01-gain": {"tries": null}}}',
        b"{",
        b"\xff\xfe\x00",
        b"",
        b"[" * 100_000,
        b" " * (1 << 20) + b"{}",
    ],
    ids=lambda held: ascii(held[:40].strip()) or "large",
)
def test_a_damaged_file_of_progress_is_kept_aside_and_told(tmp_path, held):
    (tmp_path / progress.FILE).write_bytes(held)
    (tmp_path / "progress.damaged-1.json").write_text("an earlier one")
    with pytest.raises(PeerlabError, match=r"your progress cannot be shown: .* is damaged"):
        peerlab.progress()
    asked = peerlab.exercise("01-gain", answer=1.78)
    assert "Right." in asked.feedback.value
    assert (
        "was damaged: it is kept as progress.damaged-2.json, and your progress starts anew"
        in asked.trouble.value
    )
    assert (tmp_path / "progress.damaged-2.json").read_bytes() == held
    assert (tmp_path / "progress.damaged-1.json").read_text() == "an earlier one"
    assert dict(peerlab.progress().loc["01-gain"]) == {"right": True, "tries": 1, "hints": 0}


def test_a_link_to_the_progress_stays_one_and_what_is_damaged_is_kept_where_it_was(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "mine.json").write_text("{")
    (tmp_path / progress.FILE).symlink_to("far/mine.json")
    said = peerlab.exercise("01-gain", answer=1.78).trouble.value
    kept = tmp_path / "far" / "progress.damaged-1.json"
    assert f"was damaged: it is kept as {kept}, and your progress starts anew" in said
    assert kept.read_text() == "{"
    assert (tmp_path / progress.FILE).is_symlink()
    assert progress.read(tmp_path / "far") == {}
    assert progress.read()["01-gain"].tries == 1


def test_a_link_that_leads_nowhere_costs_the_progress_only(tmp_path):
    (tmp_path / progress.FILE).symlink_to("nowhere/mine.json")
    asked = peerlab.exercise("01-gain", answer=1.78)
    assert "Right." in asked.feedback.value
    assert "your progress is not kept: cannot write" in asked.trouble.value
    assert f"there is no folder {tmp_path}/nowhere" in asked.trouble.value


NOTES = """
import sys
from peerlab.features.exercises import progress
print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    assert progress.note("01-gain", tries=1) == ""
    progress.note(f"{sys.argv[1]}-{number}", right=True)
"""


def started(script, *arguments):
    """Start a process beside this one; return it when it is ready."""
    command = [sys.executable, "-c", script, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_kernels_lose_nothing_of_each_others_progress(tmp_path):
    kernels = [started(NOTES, name) for name in ("a", "b")]
    for one in kernels:
        one.stdin.write("\n")
        one.stdin.flush()
    for one in kernels:
        one.communicate(timeout=60)
    assert [one.returncode for one in kernels] == [0, 0]
    done = progress.read()
    assert done["01-gain"].tries == 80
    assert {name for name, how in done.items() if how.right} == {f"{k}-{n}" for k in "ab" for n in range(40)}
    assert {one.name for one in tmp_path.iterdir()} == {progress.FILE, f".{progress.FILE}.lock"}


HOLDS = """
import sys
from pathlib import Path
from peerlab.features.exercises import progress
with progress._alone(Path.cwd() / progress.FILE):
    print("ready", flush=True)
    sys.stdin.readline()
"""


def test_a_kernel_waits_for_one_that_writes_however_long_that_takes(monkeypatch):
    holder = started(HOLDS)
    looks = []

    def let_go_at_the_tenth_look(_):
        looks.append(1)
        if len(looks) == 10:
            holder.communicate("\n")

    monkeypatch.setattr("peerlab.base.locks.time.sleep", let_go_at_the_tenth_look)
    assert peerlab.exercise("01-gain", answer=1.78).trouble.value == ""
    assert len(looks) >= 10
    assert progress.read()["01-gain"].tries == 1


def test_a_kernel_that_is_killed_blocks_nobody():
    holder = started(HOLDS)
    holder.kill()
    holder.communicate()
    assert peerlab.exercise("01-gain", answer=1.78).trouble.value == ""
    assert progress.read()["01-gain"].tries == 1


def test_what_a_suspended_kernel_keeps_from_the_file_is_written_with_the_next_answer():
    holder = started(HOLDS)
    holder.send_signal(signal.SIGSTOP)
    asked = peerlab.exercise("01-gain", answer=3)
    assert "Not yet." in asked.feedback.value
    assert "your progress is not kept: another kernel was suspended" in asked.trouble.value
    assert progress.read() == {}
    holder.send_signal(signal.SIGCONT)
    holder.communicate("\n")
    asked.answer(1.78)
    assert "Right." in asked.feedback.value
    assert asked.trouble.value == ""
    assert progress.read()["01-gain"] == progress.Done(tries=2, right=True)


def test_on_a_file_system_without_locks_progress_is_kept_all_the_same(monkeypatch):
    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", none)
    assert peerlab.exercise("01-gain", answer=1.78).trouble.value == ""
    assert progress.read()["01-gain"].tries == 1


def test_a_folder_in_its_place_or_none_at_all_costs_the_progress_only(tmp_path, monkeypatch):
    (tmp_path / progress.FILE).mkdir()
    assert "not a file; delete it" in peerlab.exercise("01-gain", answer=1.78).trouble.value
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    asked = peerlab.exercise("01-gain", answer=1.78)
    assert "Right." in asked.feedback.value
    assert "the folder of this notebook is gone" in asked.trouble.value


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_the_progress_only(tmp_path):
    tmp_path.chmod(0o500)
    asked = peerlab.exercise("01-gain", answer=1.78)
    assert "Right." in asked.feedback.value
    assert "your progress is not kept" in asked.trouble.value
