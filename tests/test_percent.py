"""A percent sign stands apart from its number, as units do: 69 %."""

import re

FORMATTED = re.compile(r":[+.\d]*%\}")
"""A share that Python would write with its sign beside it."""
BESIDE = re.compile(r"\d%(?![\w;)'])")
OPTION = re.compile(r"--(communication|overlap) \S+|or \d+%")
"""What a user may type: a shell takes it for one word."""


def test_no_share_is_formatted_with_its_sign_beside_it(root):
    found = {
        file.relative_to(root).as_posix()
        for folder in ("peerlab", "docs", "bench")
        for file in (root / folder).rglob("*.py")
        if FORMATTED.search(file.read_text())
    }
    # a column of an exercise's own table, which its solution names
    assert found == {"peerlab/features/exercises/labs/quoted_tables.py"}


def test_no_page_writes_a_share_with_its_sign_beside_it(root):
    for script in (root / "peerlab" / "page").glob("*.js"):
        assert not re.search(r"\}% of|[sS]hare\([^)]*\)\)\}%", script.read_text()), script.name


def test_documents_write_it_apart(root):
    for file in (root / "README.md", root / "CHANGELOG.md", *(root / "docs").glob("*.md")):
        assert not BESIDE.findall(OPTION.sub("", file.read_text())), file.name
