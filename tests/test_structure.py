"""The package's shape: each name says one thing, and what is long says why."""

import ast
from collections import Counter

import pytest

SAME_FILE_NAMES = {
    "__init__.py": "Python's own",
    "__main__.py": "Python's own",
    "simulate.py": "a module of `cli` is called as its command",
}


@pytest.fixture(scope="module")
def modules(root):
    """The text of each module below `peerlab/`, by its path."""
    return {
        file.relative_to(root / "peerlab"): file.read_text(encoding="utf-8")
        for file in sorted((root / "peerlab").rglob("*.py"))
    }


def twice(names):
    return {name for name, count in Counter(names).items() if count > 1}


def test_no_class_name_stands_for_two_things(modules):
    trees = map(ast.parse, modules.values())
    assert (
        twice(one.name for tree in trees for one in ast.walk(tree) if isinstance(one, ast.ClassDef)) == set()
    )


def test_no_file_name_stands_for_two_things(modules):
    assert twice(path.name for path in modules) == set(SAME_FILE_NAMES)
