"""What `make` says while it works, with a Python that only pretends to install."""

import os
import subprocess

import pytest

_PYTHON = """#!/bin/sh
case "$*" in
    -c*) exit 0 ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && printf '#!/bin/sh\\necho "the lab is open"\\n' > "$3/bin/peerlab" && chmod +x "$3/bin/peerlab" ;;
    *pip*--editable*) ;;
    *pip*) echo "WARNING: Location 'wheels' is ignored" >&2 ;;
esac
"""


@pytest.fixture
def make(root, tmp_path):
    python = tmp_path / "python"
    python.write_text(_PYTHON)
    python.chmod(0o755)

    def run(*goals):
        done = subprocess.run(
            ["make", "--no-print-directory", *goals, f"PYTHON={python}", f"VENV={tmp_path / 'venv'}"],
            cwd=root, env={**os.environ, "MAKEFLAGS": ""}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=True,
        )  # fmt: skip
        return done.stdout.replace(str(tmp_path), "").splitlines()

    return run


def packages(root, name):
    # A line with "==" is a package; a marker behind it may hold another one.
    return sum("==" in line for line in (root / "requirements" / name).read_text().splitlines())


def test_make_lab_says_each_part_before_it_begins_and_leaves_warnings_in_sight(make, root, tmp_path):
    """It was silent for as long as pip worked: 38 seconds on an idle machine, 166 on a busy one."""
    many = packages(root, "lab.txt")
    assert make("lab") == [
        "peerlab: creating the environment in /venv ...",
        f"peerlab: installing {many} packages (about a minute) ...",
        "WARNING: Location 'wheels' is ignored",
        "peerlab: installing peerlab itself ...",
        "peerlab: opening the lab ...",
        "the lab is open",
    ]
    assert make("lab") == ["peerlab: opening the lab ...", "the lab is open"]
    more = packages(root, "test.txt")
    assert make(str(tmp_path / "venv" / "test.stamp")) == [
        f"peerlab: installing the {more} packages of the tests (about a minute) ...",
        "WARNING: Location 'wheels' is ignored",
    ]
