"""A lab says where it is, and nothing else; what is in its way, it says in words."""

import os
import re
import urllib.error
import urllib.request

import pytest
from running import PATIENCE_S, wait_until

from peerlab.base.places import folder
from peerlab.cli import main


def test_a_lab_prints_its_address_and_nothing_else(start):
    lab = start()
    with urllib.request.urlopen(lab.address, timeout=PATIENCE_S) as page:  # noqa: S310
        assert page.status == 200
    # opened as the page opens it: *not trusted* stood in the terminal, and in the page's status
    tour = lab.ask("contents/00_tour.ipynb")["content"]
    assert all(cell["metadata"]["trusted"] for cell in tour["cells"] if cell["cell_type"] == "code")
    assert re.fullmatch(
        r"peerlab: your labs are in \S+/peerlab-labs\n"
        r"peerlab: open http://127\.0\.0\.1:\d+/lab/workspaces/peerlab/tree/00_tour\.ipynb\?token=[0-9a-f]{48}\n\n",
        "".join(lab.said),
    )
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(  # noqa: S310
            f"{lab.address.partition('/lab/')[0]}/api/kernels?token=other", timeout=PATIENCE_S
        )
    command = lab.look()
    assert lab.address.partition("=")[2] not in "".join(command.values())


@pytest.mark.long("processes")
def test_labs_that_are_started_at_once_each_have_a_port_and_a_token(start, tmp_path):
    first, *others = (tmp_path / name for name in "abc")
    for folder_ in (first, *others):
        folder_.mkdir()
    labs = [start(folder=first)]
    labs += [start(folder=other, port=labs[0].port) for other in others]
    assert len({one.address.partition("/lab/")[0] for one in labs}) == 3
    assert [one.ask("kernels") for one in labs] == [[], [], []]


def test_where_home_cannot_be_written_the_lab_works_and_says_what_to_set(start):
    lab = start(HOME=os.devnull)
    assert lab.ask("kernels", "POST")["execution_state"] == "starting"
    lines = "".join(lab.said).splitlines()
    assert len(lines) < 6
    assert lines[1].startswith("peerlab: JupyterLab cannot write to /dev/null/.jupyter, ")
    assert "set HOME, or JUPYTER_CONFIG_DIR, JUPYTER_DATA_DIR, JUPYTER_RUNTIME_DIR, IPYTHONDIR" in lines[1]


def test_a_home_of_jupyters_own_is_all_that_is_needed(start, tmp_path):
    own = {
        name: str(tmp_path / "own" / name)
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    lab = start(HOME=os.devnull, **own)
    assert lab.ask("kernels") == []
    assert not any("cannot write" in line for line in lab.said)


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """Start a lab that cannot start, and return what it says."""
    monkeypatch.chdir(tmp_path)

    def begin(*options):
        assert main(["lab", "--no-browser", *options]) == 1
        said = capsys.readouterr()
        assert said.err.count("\n") == 1
        return said.err

    return begin


@pytest.mark.parametrize("port", ["0", "99999", "-1", "abc", "8888.5", "9" * 5000])
def test_a_port_that_is_none_is_told(told, port):
    assert "from 1 to 65535" in told(f"--port={port}")


def test_a_parent_that_is_none_is_told(told):
    assert (
        told("--parent", "1x") == "peerlab: --parent: process '1x' has not started this one, or has ended\n"
    )


def test_a_user_without_a_home_is_told(told, monkeypatch):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda _: {}["nobody"])
    assert told() == "peerlab: no home is known; set HOME: Could not determine home directory.\n"


def test_a_temporary_folder_that_is_none_is_told(told, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert "set TMPDIR" in told()


def test_a_folder_of_labs_that_is_none_is_told(told, tmp_path):
    place = tmp_path / "peerlab-labs"
    place.write_text("mine")
    assert told() == f"peerlab: cannot write the labs to {place}: it is not a folder; move it away\n"
    assert place.read_text() == "mine"
    place.unlink()
    place.symlink_to(tmp_path / "nowhere")
    assert "it is not a folder; move it away" in told()
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_is_gone_is_told(told, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert "this folder is gone" in told()


SECOND = sorted(folder("labs").glob("*.ipynb"))[1].name


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda lab: lab.symlink_to("/dev/zero"), "not a file"),
        (os.mkfifo, "not a file"),
        (lambda lab: lab.mkdir(), "not a file"),
        (lambda lab: lab.symlink_to("nowhere/else"), "No such file or directory"),
        (lambda lab: lab.symlink_to(lab.name), "symbolic links"),
        (lambda lab: lab.touch() or os.truncate(lab, 20 << 30), "larger than 64 MiB"),
    ],
    ids=["a device", "a pipe", "a folder", "a link to nowhere", "a link to itself", "20 GB"],
)
def test_what_is_no_lab_is_named_before_anything_starts(told, tmp_path, spoil, says):
    (tmp_path / "peerlab-labs").mkdir()
    place = tmp_path / "peerlab-labs" / SECOND
    spoil(place)
    said = told()
    assert str(place) in said
    assert says in said
    assert said.endswith("; move it away, and you get the lab that comes with peerlab\n")
    assert not (tmp_path / "peerlab-labs" / "nowhere").exists()


def test_a_lab_is_written_whole_or_not_at_all(told, tmp_path, monkeypatch):
    def full(self, _):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    assert re.search(r"cannot write \S+/peerlab-labs/00_tour\.ipynb: No space left on device", told())
    assert list((tmp_path / "peerlab-labs").iterdir()) == []


def test_a_lab_that_was_changed_stays_and_is_told(start):
    lab = start()
    assert lab.address
    mine = lab.home.parent / "work" / "peerlab-labs" / SECOND
    mine.write_text('{"cells": []}')
    lab.process.terminate()
    assert wait_until(lambda: not lab.left())
    again = start()
    assert again.address
    assert (
        f"peerlab: {mine} is not the one that comes with peerlab; delete it to get that one\n" in again.said
    )
    assert mine.read_text() == '{"cells": []}'
