"""`peerlab site`: what is wrong with Pyodide's package is said in a line, and nothing is written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from peerlab.base import places
from peerlab.cli import main
from peerlab.features.site import pyodide_package, site_folder
from peerlab.question.scenario import Scenario


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    return tmp_path


def told(capsys):
    return capsys.readouterr().err.splitlines()[-1]


def test_without_npm_it_says_what_to_download(nothing, capsys):
    assert main(["site", "lab"]) == 1
    assert told(capsys).endswith(
        f"no npm client is here to get pyodide@{pyodide_package.VERSION}; download its package elsewhere and name it with --pyodide FILE"
    )
    assert list(nothing.iterdir()) == []


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda _: None, "cannot read other.tgz: No such file or directory"),
        (lambda file: file.mkdir(), "cannot read other.tgz: Is a directory"),
        (os.mkfifo, "other.tgz: this is no file"),
        (lambda file: file.write_bytes(b"no package"), "its hash is another one"),
    ],
)
def test_another_file_is_no_package(nothing, capsys, make, says):
    make(nothing / "other.tgz")
    assert main(["site", "lab", "--pyodide", "other.tgz"]) == 1
    assert says in told(capsys)
    assert not (nothing / "lab").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lab.html", "--serve"], "one file opens by itself"),
        (["lab", "--port", "9000"], "--port: give --serve, too"),
        (["lab", "--serve", "--port", "0"], "port: 0 is not a whole number from 1 to 65535"),
        (["theirs"], "cannot write theirs: its index.html is not peerlab's; give another folder"),
    ],
)
def test_what_is_not_served_and_where_it_is_not_written_is_said(nothing, capsys, words, says):
    (nothing / "theirs").mkdir()
    (nothing / "theirs" / "index.html").write_text("<title>somebody else's</title>")
    assert main(["site", *words]) == 1
    assert says in told(capsys)
    assert not (nothing / "lab").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["lab", "--slow-nic", "1.0:0.5"],
            "--slow-nic: the live page has no control for it; it has cluster, path,",
        ),
        (["lab.html", "--slow-node", "1:0.5"], "--slow-node: the live page has no control for it"),
        (["lab", "--cluster", "mine.toml"], "cluster: mine.toml is a file; the live page has the clusters"),
        (["npm"], "cannot write npm: it is a file; give a folder"),
        (["nowhere/lab.html"], "cannot write nowhere/lab.html: there is no folder nowhere"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_loaded(nothing, capsys, monkeypatch, words, says):
    (nothing / "mine.toml").write_text((places.folder("data") / "hardware" / "dl1.toml").read_text())
    (nothing / "npm").write_text("#!/bin/sh\ntouch asked\n")
    (nothing / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{nothing}:/bin:/usr/bin")
    assert main(["site", *words]) == 1
    assert says in told(capsys)
    assert sorted(file.name for file in nothing.iterdir()) == ["mine.toml", "npm"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--live", "--output", "live.html"], "no npm client is here to get pyodide@"),
        (["--live", "--output", "nowhere/live.html"], "cannot write nowhere/live.html"),
        (
            ["--live", "--slow-nic", "1.0:0.5", "--output", "live.html"],
            "--slow-nic: the live page has no control for it",
        ),
        (["--live", "--beside", "path=peer-direct", "--output", "live.html"], "--beside: not of a live page"),
        (["--pyodide", "p.tgz", "--output", "page.html"], "--pyodide: of --live alone"),
    ],
)
@pytest.mark.usefixtures("nothing")
def test_an_export_may_be_live(capsys, words, says):
    assert main(["export", *words]) == 1
    assert says in told(capsys)


def test_export_and_site_write_the_same_live_page(nothing, capsys, monkeypatch):
    files = dict.fromkeys(("pyodide.mjs", "pyodide.asm.mjs"), b"") | {"pyodide-lock.json": b'{"info": {}}'}
    monkeypatch.setattr(site_folder, "pyodide_files", lambda _: files)
    monkeypatch.setattr(site_folder, "python_archives", lambda _: {"app.zip": b"", "labs.zip": b""})
    # the other path is impossible over kernel TCP: the page has one side
    assert main(["site", "tcp.html", "--nodes", "2", "--path", "host-tcp", "--transport", "tcp"]) == 0
    alone = Scenario(nodes=2, path="host-tcp", transport="tcp")
    assert "<figcaption>" not in site_folder._landing(site_folder._on_the_usual_path(alone), [], [])
    assert main(["site", "one.html", "--nodes", "2"]) == 0
    assert main(["export", "--live", "--nodes", "2", "--output", "two.html"]) == 0
    assert "two.html: " in capsys.readouterr().out
    assert (nothing / "one.html").read_bytes() == (nothing / "two.html").read_bytes()


def test_an_npm_that_gets_nothing_is_told(nothing, capsys, monkeypatch):
    npm = nothing / "npm"
    npm.write_text("#!/bin/sh\necho 'no such registry' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{nothing}:/bin:/usr/bin")
    assert main(["site", "lab"]) == 1
    assert "(no such registry); name a downloaded package with --pyodide FILE" in told(capsys)
    assert not (nothing / "lab").exists()


def test_ctrl_c_while_npm_loads_ends_it_in_one_line(nothing):
    npm = nothing / "npm"
    npm.write_text("#!/bin/sh\nexec sleep 600\n")
    npm.chmod(0o755)
    environment = {**os.environ, "PATH": f"{nothing}:/bin:/usr/bin"}
    with subprocess.Popen(
        [sys.executable, "-m", "peerlab", "site", "lab"],
        cwd=nothing, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr.readline().startswith("peerlab: Pyodide")
        wait_for_child(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        out, problem = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert problem.strip().startswith("peerlab: stopped")
    assert not (nothing / "lab").exists()


def wait_for_child(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")
    while not children.read_text().strip():
        time.sleep(0.01)
