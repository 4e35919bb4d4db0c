"""Without its extras peerlab does what it can, and says of the rest in one line what to install."""

import json
import re
import subprocess
import sys
import tomllib

import pytest

from peerlab.base.extras import EXTRAS
from peerlab.cli.commands import _COMMANDS

WORK = """
simulate --nodes 2
why
expect --cluster ideal-100g
tails --cluster ideal-100g --nodes 2 --seeds 20
suspects log
choices --cluster p5 --nodes 2 --sizes 8MiB
fabrics --nodes 2
neighbours --nodes 2 --message 64KiB --fabric infiniband
jobs --job 0,4,1,5 --job 2,3,6,7
step
sweep --nodes 2 --output a.csv
clusters
validate --only ring-closed-form
measure --ranks 2 --sizes 8KiB --repetitions 2
import log
diagnose log
calibrate log --cluster dl1
plan
doctor
"""
"""A run of each command that works without any extra; of diagnose and calibrate what they say of a file that is no log."""
NEED = {
    "export --output a.html": ("export", "lab"),
    "export --help": ("export", "lab"),
    "deck --output a": ("deck", "lab"),
    "deck --help": ("deck", "lab"),
    "lab": ("lab", "lab"),
    "site a": ("site", "lab"),
    "site --help": ("site", "lab"),
    "validate --plot a.html": ("--plot", "lab"),
    "measure --mpi": ("--mpi", "mpi"),
    "sweep --nodes 2 --dask tcp://127.0.0.1:1": ("Dask", "dask"),
}
"""What needs one, who says so, and which."""
WITHOUT = """
import contextlib, io, json, sys
from peerlab.cli import main
missing, lines = json.loads(sys.argv[1])

class Without:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *where):
        return None if name.partition(".")[0] in missing else self.finder.find_spec(name, *where)

sys.meta_path[:] = map(Without, sys.meta_path)
for line in lines:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(line.split())
        except SystemExit as end:
            status = end.code
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""


def answers(folder, missing, lines):
    """Return (exit status, output, complaints) of each command line, where modules are missing."""
    command = [sys.executable, "-c", WITHOUT, json.dumps([sorted(missing), lines])]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """What the commands say where no extra is installed."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "log").write_text("no log")
    lines = [*WORK.strip().splitlines(), *NEED, "--help", *(f"{name} --help" for name in _COMMANDS)]
    missing = {module for modules in EXTRAS.values() for module in modules}
    return dict(zip(lines, answers(folder, missing, lines), strict=True))


def test_help_lists_every_command_where_no_extra_is_installed(bare):
    status, out, problem = bare["--help"]
    assert (status, problem) == (0, "")
    assert re.findall(r"^    (\w+)\b", out, re.MULTILINE) == list(_COMMANDS)
    assert "peerlab deck needs" in out


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help_without_extras_or_says_which_it_needs(bare, name):
    status, out, problem = bare[f"{name} --help"]
    if status:
        assert f"{name} --help" in NEED
    else:
        assert out.startswith(f"usage: peerlab {name}")
        assert problem == ""


def test_every_command_is_tried():
    assert {line.split()[0] for line in (*WORK.strip().splitlines(), *NEED)} == set(_COMMANDS)


@pytest.mark.parametrize("line", WORK.strip().splitlines())
def test_what_can_works_without_extras(bare, line):
    status, out, problem = bare[line]
    assert "pip install" not in problem
    if line.split()[1:2] == ["log"]:
        assert (status, problem.count("\n")) == (1, 1)
    else:
        assert out
        assert status == 0 or line == "doctor"


@pytest.mark.parametrize("line", NEED)
def test_what_cannot_names_its_extra_in_one_line(bare, line):
    who, extra = NEED[line]
    status, out, problem = bare[line]
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"peerlab: .*{who} needs \w+: pip install 'peerlab\[{extra}\]'\n", problem)


def test_a_video_names_its_extra(monkeypatch):
    from peerlab.base.errors import MissingPackage
    from peerlab.features.export.video import find_ffmpeg

    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingPackage, match=r"pip install 'peerlab\[video\]'"):
        find_ffmpeg()


def test_every_package_of_an_extra_is_known(root):
    """The package's name in pyproject.toml and its module's differ by dashes, or as here."""
    other = {"cuda_bindings": "cuda.bindings", "markdown_it_py": "markdown_it", "pyyaml": "yaml"}
    unused = {"mpich"}  # brings the library below mpi4py
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, modules in EXTRAS.items():
        names = {re.match(r"[\w-]+", one)[0].replace("-", "_") for one in extras[extra]} - unused
        assert {other.get(name, name) for name in names} <= set(modules)
    assert extras.keys() - EXTRAS.keys() == {"test"}
