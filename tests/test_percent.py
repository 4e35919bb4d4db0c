"""A percent sign stands apart from its number, as units do: 69 %."""

import re

FORMATTED = re.compile(r":[+.\d]*%\}")
"""A share that Python would write with its sign beside it."""
BESIDE = re.compile(r"\d%(?![\w;)'])")
OPTION = re.compile(r"--(communication|overlap) \S+|or \d+%")
"""What a user may type: a shell takes it for one word."""
LENGTH = re.compile(r"style|const part = \(value\) =>")
"""A line of a script that writes a length for CSS, which wants the sign beside its number."""


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
        for line in script.read_text().splitlines():
            assert "}%" not in line or LENGTH.search(line), f"{script.name}: {line.strip()}"


def test_documents_write_it_apart(root):
    for file in (root / "README.md", root / "CHANGELOG.md", *(root / "docs").glob("*.md")):
        assert not BESIDE.findall(OPTION.sub("", file.read_text())), file.name
