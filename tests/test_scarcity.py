"""Little memory, folders that nobody may write, two who write the same file: whatever lacks is told in one line."""

import subprocess
import sys
import tracemalloc

import pytest
from tool_logs import NCCL

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.base.textfile import read_bytes
from peerlab.cli import main

LITTLE_MEMORY = """
import resource, sys
from peerlab.cli import main
main(["simulate", "--nodes", "2"])
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (8 << 20),) * 2)
sys.exit(main(sys.argv[1:]))
"""


def test_too_little_memory_is_told_in_one_line():
    ring = ["--library", "none", "--path", "peer-direct", "--nodes", "64", "--jitter", "0.1"]
    command = [sys.executable, "-c", LITTLE_MEMORY, "simulate", *ring]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (
        done.stderr == "peerlab: not enough memory; ask for less at once, or raise its limit ('ulimit -v')\n"
    )
    assert done.returncode == 1


def test_a_small_file_takes_no_room_for_the_largest(tmp_path):
    """Of a sweep's output a gigabyte is read at most; under 'ulimit -v' that was refused for a file of a line."""
    (tmp_path / "small").write_text("a line\n")
    tracemalloc.start()
    held = read_bytes(tmp_path / "small", most_bytes=2**30, too_large="", error=PeerlabError)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held == b"a line\n"
    assert most < 4 * 2**20


WRITES = [
    "export --output a.html",
    "export --over paths --output a.svg",
    "deck --only title --output d",
    "plan --output x",
    "plan --output .",
    "sweep --nodes 2 --output a.csv",
    "clusters new a.toml",
    "import ../a.log --save a.csv",
    "measure --ranks 2 --sizes 1KiB --repetitions 2 --save m.csv",
    "validate --only ring-closed-form --plot v.html",
    "fabrics --nodes 2 --output f.svg",
]
"""What each command that writes is asked to."""
READ_ONLY = """
import os, sys
from peerlab.cli import main
for line in sys.argv[1:]:
    print(main(line.split()), flush=True)
"""


def test_a_folder_that_cannot_be_written_is_told_in_one_line_by_every_command(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "a.log").write_text(NCCL)
    read_only = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}' && cd '{folder}'"
    if subprocess.run([*read_only, mount], capture_output=True, check=False).returncode:
        pytest.skip("no folder can be mounted here")
    command = [*read_only, f'{mount} && exec "$0" "$@"', sys.executable, "-c", READ_ONLY, *WRITES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refusals = [line for line in done.stderr.splitlines() if line.endswith("Read-only file system")]
    assert done.stderr.splitlines() == refusals
    assert [line.split(":")[0] for line in refusals] == ["peerlab"] * len(WRITES)
    statuses = [
        "2" if line.startswith("validate") else "1" for line in WRITES
    ]  # there 1 says that a row is not met
    assert [line for line in done.stdout.splitlines() if line.isdecimal()] == statuses
    assert list(folder.iterdir()) == []


TWO_WRITERS = """
import sys
from pathlib import Path
from peerlab.base.errors import PeerlabError
from peerlab.base.outfile import written
for _ in range(200):
    with written("page.html", PeerlabError) as file:
        file.write_text(sys.argv[1] * 10_000)
    assert len(set(Path("page.html").read_text())) == 1, "torn"
"""


def test_of_two_who_write_one_file_one_is_whole(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", TWO_WRITERS, letter], cwd=tmp_path, stderr=subprocess.PIPE)
        for letter in "ab"
    ]
    said = [one.communicate()[1] for one in writers]
    assert said == [b"", b""]
    assert (tmp_path / "page.html").read_text() in ("a" * 10_000, "b" * 10_000)
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_thirty_logs_are_read_together_and_calibrated_one_by_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = [f"{number}.log" for number in range(30)]
    for name in names:
        (tmp_path / name).write_text(NCCL)
    assert main(["import", *names, "--save", "all.csv"]) == 0
    assert "180 rows written to all.csv" in capsys.readouterr().out
    assert main(["calibrate", "all.csv", "--cluster", "p4d"]) == 1
    assert capsys.readouterr().err == "peerlab: these records are of 30 logs; give them one by one\n"


def test_a_transport_file_of_ones_own_that_lacks_its_name_is_refused_with_the_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("title = 'Mine'\n")
    with pytest.raises(
        PeerlabError, match=r"mine\.toml: name is missing; it is a text at the top of the file"
    ):
        peerlab.Scenario(transport=str(file))
    with pytest.raises(PeerlabError, match=r"^transport: unknown .*known: .*roce"):
        peerlab.Scenario(transport="rocket")
