"""What the documents say is so."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from command_line import peerlab_command

import peerlab
from peerlab.app.panels import own_log
from peerlab.features.doctor.report import CHECKS
from peerlab.records.benchmarks import TOOLS

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
import write
from documents import anchor


def test_the_readme_shows_what_the_command_line_prints(root):
    shown = (
        (root / "README.md").read_text().partition("$ .venv/bin/peerlab simulate\n")[2].partition("```")[0]
    )
    assert (0, shown, "") == peerlab_command("simulate")


@pytest.mark.parametrize("name", write.NAMES)
def test_a_generated_document_is_what_its_generator_gives(root, tmp_path, name):
    write.main([name, "--to", str(tmp_path)])
    written, kept = (folder / f"{name}.md" for folder in (tmp_path, root / "docs"))
    assert written.read_text() == kept.read_text(), f'run `make docs ARGS="{name}"`'
    for picture in tmp_path.glob("pictures/*"):
        kept = root / "docs" / "pictures" / picture.name
        assert picture.read_text() == kept.read_text(), f'run `make docs ARGS="{name}"`'


def test_the_generators_refuse_a_name_they_do_not_know(root, tmp_path):
    """As a process, as `make docs` runs them."""
    done = subprocess.run(
        [sys.executable, root / "docs" / "write.py", "modle", "--to", tmp_path],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "no document 'modle'; there are answers, api," in done.stderr


def test_every_check_of_the_doctor_and_every_public_name_is_in_its_document(root):
    doctor, api = ((root / "docs" / f"{name}.md").read_text() for name in ("doctor", "api"))
    assert [check.id for check in CHECKS if f"(`{check.id}`)" not in doctor] == []
    names = set(peerlab.__all__) - {"__version__"}
    assert [name for name in names if f"\n### {name}\n" not in api] == []


def test_whose_logs_are_read_is_told_alike_everywhere(root):
    told = {name: (root / name).read_text() for name in ("README.md", "docs/using.md", "docs/api.md")}
    told["peerlab.load.__doc__, in peerlab/records/load.py"] = peerlab.load.__doc__
    told["peerlab/app/panels/own_log.py"] = own_log._INVITATION
    assert [name for name, text in told.items() if TOOLS not in " ".join(text.split())] == []
    for command in ("import", "diagnose", "calibrate"):
        _, said, _ = peerlab_command(command, "--help")
        assert TOOLS in " ".join(said.split()), command
    with pytest.raises(
        peerlab.PeerlabError, match=f"not the output of {re.escape(TOOLS)}, or a table saved by peerlab"
    ):
        peerlab.load("nothing of the kind\n")


def test_the_readme_says_what_measure_touches(root):
    (line,) = (
        line
        for line in (root / "README.md").read_text().splitlines()
        if line.startswith("| `peerlab measure`")
    )
    _, text, _ = peerlab_command("measure", "--help")
    # whatever memory it can be told to use
    assert "cuda: memory of NVIDIA GPUs" in " ".join(text.split())
    assert "it uses no NIC, and an accelerator only with `--memory cuda`" in line


def anchors(text: str) -> set[str]:
    """Return the anchors of a document, as GitHub makes them: of headings alike the second gets a number."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    found = Counter()
    made = set()
    for heading in re.findall(r"^#+ (.*)$", prose, re.MULTILINE):
        name = anchor(heading)
        made.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return made


DOCUMENTS = ["README.md", "DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md"]


def test_links_and_pictures_lead_somewhere(root):
    files = [*(root / name for name in DOCUMENTS), *(root / "docs").glob("*.md")]
    links = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
    checked, broken = 0, []
    for file in files:
        for found in links.finditer(file.read_text()):
            target = found[1] or found[2]
            if re.match(r"https?:|mailto:", target):
                continue
            checked += 1
            path, _, name = target.partition("#")
            there = file.parent / path if path else file
            if not there.exists() or (name and name not in anchors(there.read_text())):
                broken.append(f"{file.name}: {target}")
    assert checked > 100
    assert broken == []


def test_the_map_of_the_folders_names_only_what_is_there(root):
    table = (root / "CONTRIBUTING.md").read_text().partition("## What is where")[2]
    named = re.findall(r"`([\w/.]+/|environment\.yml|peerlab/\w+\.py)`", table)
    assert len(named) > 10
    assert [name for name in named if not (root / name).exists()] == []


@pytest.mark.parametrize("document", ["DESIGN.md", "CONTRIBUTING.md"])
def test_what_a_newcomer_reads_names_only_files_that_are_there(root, document):
    found = re.findall(r"`([\w.-]+/[\w./-]*)`", (root / document).read_text())
    named = {name for name in found if "NAME" not in name and "NN_" not in name}
    assert len(named) > 20
    bases = (root, root / "peerlab", root / "peerlab" / "engine")
    places = {name: [base / (name + end) for base in bases for end in ("", ".py")] for name in named}
    assert [name for name in sorted(named) if not any(place.exists() for place in places[name])] == []


def test_every_make_target_that_is_promised_exists(root):
    told = [name for name in DOCUMENTS if name != "CHANGELOG.md"]  # it also tells what there was once
    files = [*(root / name for name in told), *(root / "docs").glob("*.md")]
    rules = re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE)
    promised = {name for file in files for name in re.findall(r"`make ([a-z]+)\b", file.read_text())}
    assert {"lab", "test", "docs"} <= promised
    assert promised <= set(rules)
