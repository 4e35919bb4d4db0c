"""A name of a record is compared with nothing outside its record: code asks the record what it is."""

import ast

import pytest

from peerlab.model.collective import MEASURED
from peerlab.model.library_record import KINDS

NAMES = {
    "collective": (set(MEASURED), {"model/collective.py", "model/algorithms.py", "model/library_record.py"}),
    "kind": (set(KINDS), {"model/library_record.py"}),
}
"""What is asked (a word of the other side of a comparison), the names that no comparison holds, and the records that may list them."""

OTHER_KINDS = {"broadcast", "reduce", "gather", "scatter"}
"""Names of collectives that stages or roles of colours have, too: they count where the other side speaks of a collective."""


def literals(node):
    """Yield the texts that a side of a comparison, or the pattern of a `match`, holds."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    yield from (one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str))


def compared(tree):
    """Yield each comparison with a text: its line, the texts, and the source of all of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            yield node.lineno, {text for side in sides for text in literals(side)}, ast.unparse(node)
        elif isinstance(node, ast.Match):
            cases = {
                text
                for case in node.cases
                for one in ast.walk(case.pattern)
                if isinstance(one, ast.MatchValue)
                for text in literals(one.value)
            }
            yield node.lineno, cases, ast.unparse(node.subject)


def listed(tree):
    """Yield each tuple, list or set of texts alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and node.elts:
            texts = list(literals(node))
            if len(texts) == len(node.elts):
                yield node.lineno, set(texts)


def found(tree, what, names):
    """Yield the lines on which a name is compared, or several are listed to be compared."""
    for line, texts, source in compared(tree):
        if any(text in names and (text not in OTHER_KINDS or what in source) for text in texts):
            yield line, source
    for line, texts in listed(tree):
        if texts <= names and not texts <= OTHER_KINDS:
            yield line, f"a list of names: {', '.join(sorted(texts))}"


@pytest.fixture(scope="module")
def trees(root):
    """The syntax tree of every module, by its path."""
    package = root / "peerlab"
    files = {file.relative_to(package).as_posix(): file for file in sorted(package.rglob("*.py"))}
    return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items()}


@pytest.mark.parametrize("what", NAMES)
def test_no_name_is_compared_outside_its_record(trees, what):
    names, records = NAMES[what]
    lines = [
        f"peerlab/{file}:{line}: {source}"
        for file, tree in trees.items()
        if file not in records
        for line, source in found(tree, what, names)
    ]
    assert not lines, "ask the record:\n" + "\n".join(lines)


def test_a_comparison_of_any_form_is_seen():
    for source in (
        'if one.collective == "allreduce": pass',
        'x = seen.collective in ("alltoall", "allgather")',
        'X = ("alltoall", "allgather")',
        'match s.collective:\n    case "allgather" | "reduce-scatter": pass',
        'y = "broadcast" != test.collective',
    ):
        assert list(found(ast.parse(source), "collective", NAMES["collective"][0])), source
    for source in ('stage.name != "reduce"', 'f(collective="allreduce")', 'COLOURS = ("gather", "reduce")'):
        assert not list(found(ast.parse(source), "collective", NAMES["collective"][0])), source
