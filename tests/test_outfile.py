"""A file is there whole, or what was there before is: whatever a user asks to be written."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tool_logs import NCCL

from peerlab.base.errors import ExportError, PeerlabError
from peerlab.base.outfile import check_place, written
from peerlab.page.target import place_of

ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def write(path, text="new"):
    with written(path, PeerlabError) as file:
        file.write_text(text)


def test_what_was_there_stays_until_the_new_file_is_whole(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("old")
    with pytest.raises(ExportError, match=r"^cannot write .*page\.html: full$"), written(file, ExportError):
        raise OSError("full")
    with pytest.raises(KeyboardInterrupt), written(file, ExportError):
        raise KeyboardInterrupt
    check_place(file, ExportError)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
    write(file)
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_process_that_is_killed_while_it_writes_leaves_what_was_there(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("old")
    script = """
import os, signal, sys
from peerlab.base.errors import PeerlabError
from peerlab.base.outfile import written
with written(sys.argv[1], PeerlabError) as file:
    file.write_text("half of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script, file], check=False)
    assert done.returncode == -signal.SIGKILL
    assert file.read_text() == "old"
    (left,) = tmp_path.glob(".peerlab-*")
    (tmp_path / ".peerlab-notes").mkdir()  # somebody's own
    with written(tmp_path / "other.csv", PeerlabError) as living:
        assert not left.exists()
        write(tmp_path / "third.csv")
        assert living.exists()  # who writes it lives
        living.write_text("whole")
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        ".peerlab-notes",
        "mine.csv",
        "other.csv",
        "third.csv",
    ]


def test_only_what_goes_wrong_with_the_file_is_called_so(tmp_path):
    """A mistake in what is to be written keeps its own words."""
    with pytest.raises(ValueError, match=r"^of the drawing$"), written(tmp_path / "page.html", ExportError):
        raise ValueError("of the drawing")
    assert list(tmp_path.iterdir()) == []


def test_others_may_read_it_as_far_as_the_user_lets_them(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a.png")
        (tmp_path / "a.png").chmod(0o604)
        write(tmp_path / "b.png")
        write(tmp_path / "a.png")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a.png", "b.png")] == [0o604, 0o640]


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near.html").symlink_to("far/page.html")
    for text in ("new", "newer"):
        write(tmp_path / "near.html", text)
        assert (tmp_path / "near.html").is_symlink()
        assert (tmp_path / "far" / "page.html").read_text() == text


def test_a_link_into_a_folder_that_is_not_there_is_told_that_folder(tmp_path):
    (tmp_path / "mine.csv").symlink_to("nowhere/mine.csv")
    with pytest.raises(PeerlabError, match=r"there is no folder .*/nowhere$"):
        write(tmp_path / "mine.csv")


def test_what_is_no_place_for_a_file_is_refused_before_anything_is_made(tmp_path):
    (tmp_path / "loop.html").symlink_to("loop.html")
    for path, why in (
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "a.html", "there is no folder"),
        (tmp_path / "loop.html", "[Ss]ymlink loop|symbolic links"),
        (tmp_path / f"{300 * 'x'}.html", "File name too long"),
        ("a\0b.html", "null byte"),
        ("~nobody-of-this-name/a.html", "home directory"),
    ):
        with pytest.raises(ExportError, match=f"^cannot write .*(?:{why})"), written(path, ExportError):
            pytest.fail("it began")
        with pytest.raises(ExportError, match=f"^cannot write .*(?:{why})"):
            check_place(path, ExportError)
    assert [one.name for one in tmp_path.iterdir()] == ["loop.html"]


def test_a_file_that_must_not_be_written_is_not_replaced_either(tmp_path):
    program = tmp_path / "program"  # a program that runs, as not even root may write that
    shutil.copy(shutil.which("sleep"), program)
    with subprocess.Popen([program, "60"]) as running:
        with pytest.raises(PeerlabError, match=r"^cannot write .*program: Text file busy$"):
            write(program)
        running.kill()
    assert list(tmp_path.iterdir()) == [program]


def test_an_export_is_a_file_and_no_device(tmp_path):
    (tmp_path / "device.html").symlink_to("/dev/null")
    with pytest.raises(ExportError, match="it is a device or a pipe"):
        place_of(tmp_path / "device.html")
    assert Path("/dev/null").is_char_device()


def peerlab(*arguments, cwd, **options):
    return subprocess.run(
        [sys.executable, "-m", "peerlab.cli", *arguments],
        cwd=cwd,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


SAVING = {
    "import": ("import", "ring.log", "--save", "kept.csv"),
    "new": ("clusters", "new", "kept.toml", "--force"),
    "trace": ("simulate", "--nodes", "2", "--path", "host-rdma", "--trace", "kept.json"),
    "plot": ("validate", "--only", "gaudi2-one-box", "--plot", "kept.html"),
    "calibrate": (
        *(
            "calibrate",
            "ring.log",
            "--cluster",
            "p4d",
            "--path",
            "peer-direct",
            "--constant",
            "library.hop",
        ),
        *("--save", "kept.toml", "--force"),
    ),
    "measure": (
        *("measure", "--ranks", "2", "--sizes", "100", "--repetitions", "1000", "--arms", "tcp"),
        *("--registrations", "none", "--save", "kept.csv"),
    ),
}


def full(limit):
    """Return what makes every file of a process end at so many bytes, as a full disk would."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


@pytest.mark.sample(2)
@pytest.mark.parametrize("command", SAVING)
def test_a_full_disk_leaves_what_was_there(tmp_path, command):
    *_, name = (word for word in SAVING[command] if word.startswith("kept."))
    limit = 2**18 if command == "measure" else 1024  # its ranks exchange by files in memory
    (tmp_path / "ring.log").write_text(NCCL)
    (tmp_path / name).write_text("what took me a day\n")
    done = peerlab(*SAVING[command], cwd=tmp_path, stdout=subprocess.PIPE, preexec_fn=full(limit))
    status = 2 if command == "plot" else 1  # of validate 1 says that a row is not met
    assert (done.returncode, done.stderr) == (status, f"peerlab: cannot write {name}: File too large\n")
    assert (tmp_path / name).read_text() == "what took me a day\n"
    assert {one.name for one in tmp_path.iterdir()} == {"ring.log", name}
    done = peerlab(*SAVING[command], cwd=tmp_path, stdout=subprocess.PIPE)
    assert done.returncode == 0
    assert len((tmp_path / name).read_text()) > limit


TOLD_TO_END = """
import os, signal, sys
from peerlab.cli import main
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGTERM)  # all is written, and not yet in its place
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("command", ["import", "new", "trace", "calibrate"])
def test_a_command_that_is_told_to_end_leaves_what_was_there_and_nothing_beside_it(tmp_path, command):
    *_, name = (word for word in SAVING[command] if word.startswith("kept."))
    (tmp_path / "ring.log").write_text(NCCL)
    (tmp_path / name).write_text("what took me a day\n")
    done = subprocess.run(
        [sys.executable, "-c", TOLD_TO_END, *SAVING[command]],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "peerlab: stopped\n")
    assert (tmp_path / name).read_text() == "what took me a day\n"
    assert {one.name for one in tmp_path.iterdir()} == {"ring.log", name}


TRACE = ("simulate", "--nodes", "2", "--path", "host-rdma", "--trace")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What is written to a file, and what is said beside it."""
    folder = tmp_path_factory.mktemp("alone")
    said = peerlab(*TRACE, "trace.json", cwd=folder, stdout=subprocess.PIPE).stdout
    return (folder / "trace.json").read_text(), said


@pytest.mark.sample(3)
@pytest.mark.parametrize("mode", ["a", "r+"])
@pytest.mark.parametrize(
    "name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "out"]
)
def test_what_a_shell_redirects_to_is_written_to_where_it_is(tmp_path, alone, name, mode):
    (tmp_path / "out").symlink_to("/dev/stdout")
    file = tmp_path / "both.txt"
    file.write_text("before\n")
    with file.open(mode) as shell:
        shell.seek(0, os.SEEK_END)
        done = peerlab(*TRACE, name, cwd=tmp_path, stdout=shell)
        os.write(shell.fileno(), b"after\n")
    assert (done.returncode, done.stderr) == (0, "")
    text, (trace, said) = file.read_text(), alone
    assert text.startswith("before\n")
    assert trace in text
    assert "".join(text.split(trace)) == f"before\n{said}after\n"
    assert (tmp_path / "out").is_symlink()


def test_pipes_are_written_to(tmp_path):
    done = peerlab(*TRACE, "/dev/stderr", cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert json.loads(done.stderr)["traceEvents"]
    os.mkfifo(tmp_path / "pipe")
    # into a file: a pipe to us would be full before the writer is done
    with (tmp_path / "read").open("w") as read:
        reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=read)
        done = peerlab(*TRACE, "pipe", cwd=tmp_path, stdout=subprocess.DEVNULL)
        assert (done.returncode, done.stderr) == (0, "")
        assert reader.wait(timeout=60) == 0
    assert json.loads((tmp_path / "read").read_text())["traceEvents"]
    assert (tmp_path / "pipe").is_fifo()
