"""What `make lint` checks holds: style, types, import layers. As tests, so that another process runs others meanwhile."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = ["ruff check .", "ruff format --check .", "mypy", "lint-imports"]


@pytest.mark.parametrize("command", COMMANDS)
def test_lint_has_nothing_to_say(root, command):
    name, *words = command.split()
    done = subprocess.run(
        [Path(sys.executable).parent / name, *words], check=False, capture_output=True, text=True, cwd=root
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_lint_runs_the_same(root):
    _, _, rule = (root / "Makefile").read_text().partition("\nlint:")
    ran = [line.removeprefix("\t$(BIN)/") for line in rule.splitlines()[1:5]]
    assert ran == COMMANDS
