"""What the documents say is so."""

import re
import subprocess
import sys

import pytest


def test_the_readme_shows_what_the_command_line_prints(root):
    shown = (
        (root / "README.md").read_text().partition("$ .venv/bin/peerlab simulate\n")[2].partition("```")[0]
    )
    done = subprocess.run(
        [sys.executable, "-m", "peerlab.cli", "simulate"], capture_output=True, text=True, check=True
    )
    assert shown == done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "DESIGN.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/pictures.md",
        "docs/bench.md",
        "docs/doctor.md",
    ],
)
def test_links_and_pictures_lead_somewhere(root, name):
    text = (root / name).read_text()
    targets = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert [target for target in targets if not ((root / name).parent / target).exists()] == []


def test_the_map_of_the_folders_names_only_what_is_there(root):
    table = (root / "README.md").read_text().partition("## What is where")[2]
    named = re.findall(r"`([\w/.]+/|environment\.yml|peerlab/\w+\.py)`", table)
    assert len(named) > 10
    assert [name for name in named if not (root / name).exists()] == []


def test_every_make_target_that_is_promised_exists(root):
    text = "".join((root / name).read_text() for name in ("README.md", "CONTRIBUTING.md", "DESIGN.md"))
    rules = re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"make ([a-z]+)\b(?!,)", text)) & {
        "lab",
        "test",
        "soak",
        "bench",
        "shots",
        "lock",
    } <= set(rules)
