"""A name of a record is compared with nothing outside its record: code asks the record what it is."""

import ast
import re

import pytest

from peerlab.library.library_laws import KINDS
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.collective import AUTO, MEASURED
from peerlab.model.paths import PATHS
from peerlab.model.resources import RESOURCES
from peerlab.model.stages import STAGES
from peerlab.question.scenario_fields import FIELDS

NAMES = {
    # an algorithm and a law list the collectives that they do
    "collective": (
        set(MEASURED),
        {"model/collective.py", "model/algorithms.py", "library/library_laws.py", "library/node_law.py"},
    ),
    "kind": (set(KINDS), {"library/library_laws.py"}),
    "path": (set(PATHS), {"model/paths.py"}),
    "stage": (set(STAGES), {"model/stages.py"}),
    "resource": (set(RESOURCES), {"model/resources.py"}),
    "field": (
        set(FIELDS),
        {
            "question/scenario_fields.py",
            "question/disturbance_fields.py",
            "model/noise.py",
            "features/export/choices.py",  # what a page's controls offer where their author names no values is not in the records
            "records/columns.py",  # columns of measurements, which are called as fields are
            "features/validate/reference_file.py",  # the same of a file of other simulators
        },
    ),
    # a law of NCCL is a formula for each of NCCL's own algorithms
    "algorithm": (
        set(ALGORITHMS) - {AUTO},
        {"model/algorithms.py", "library/nccl_law.py", "library/library_choice.py"},
    ),
}
"""What is asked (a word of the other side of a comparison), the names that no comparison holds, and the records that may list them."""

LISTED_TO_BE_COMPARED = ("collective", "kind")
"""Of these a list of some names says what they have in common, which is the record's to say; of others it may be what a table shows."""

OTHER_KINDS = {"broadcast", "reduce", "gather", "scatter"} | {
    name for names in (PATHS, STAGES, RESOURCES, ALGORITHMS, FIELDS) for name in names if "-" not in name
}
"""Names that stand for other things, too, such as roles of colours: they count where the other side speaks of what is meant."""

SPEAKS = {
    "resource": r"^(?!.*\.drawn).*kind",
    "stage": r"^(?!.*\.counts_as).*stage",
    "field": r"\b(field|axis|name)\b",
}
"""How the other side of a comparison speaks of what is meant, where it is another word."""


def literals(node):
    """Yield the texts that a side of a comparison, or the pattern of a `match`, holds."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    yield from (one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str))


def compared(tree):
    """Yield each comparison with a text: its line, the texts, and the source of all of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = {text for side in sides for text in literals(side)}
            if texts:
                yield node.lineno, texts, ast.unparse(node)
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


def walked(source):
    """Return the comparisons with texts and the lists of texts in a source."""
    tree = ast.parse(source)
    return list(compared(tree)), list(listed(tree))


def found(comparisons, lists, what, names):
    """Yield the lines on which a name is compared, or several are listed to be compared."""
    for line, texts, source in comparisons:
        if any(
            text in names and (text not in OTHER_KINDS or re.search(SPEAKS.get(what, what), source))
            for text in texts
        ):
            yield line, source
    for line, texts in lists:
        if what in LISTED_TO_BE_COMPARED and texts <= names and not texts <= OTHER_KINDS:
            yield line, f"a list of names: {', '.join(sorted(texts))}"


@pytest.fixture(scope="module")
def modules(root):
    """What every module compares and lists, by its path."""
    package = root / "peerlab"
    files = {file.relative_to(package).as_posix(): file for file in sorted(package.rglob("*.py"))}
    return {name: walked(file.read_text(encoding="utf-8")) for name, file in files.items()}


@pytest.mark.parametrize("what", NAMES)
def test_no_name_is_compared_outside_its_record(modules, what):
    names, records = NAMES[what]
    lines = [
        f"peerlab/{file}:{line}: {source}"
        for file, (comparisons, lists) in modules.items()
        if file not in records
        for line, source in found(comparisons, lists, what, names)
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
        assert list(found(*walked(source), "collective", NAMES["collective"][0])), source
    for what, source in (
        ("resource", 'resource.kind != "wire"'),
        ("stage", 'stage.name == "reduce"'),
        ("path", 's.path in ("peer-direct", "wire")'),
        ("algorithm", 'scenario.algorithm == "ring"'),
        ("field", 'if one.field in ("nodes", "message_bytes"): pass'),
        ("field", 'x = name == "placement" and isinstance(given, tuple)'),
        ("resource", 'match use.kind:\n    case "core": pass'),
    ):
        assert list(found(*walked(source), what, NAMES[what][0])), source
    for what, source in (
        ("stage", 'stage_kind(name).counts_as == "flight"'),
        ("resource", 'part == "wire"'),
        ("algorithm", 'role == "direct"'),
    ):
        assert not list(found(*walked(source), what, NAMES[what][0])), source
    for source in ('stage.name != "reduce"', 'f(collective="allreduce")', 'COLOURS = ("gather", "reduce")'):
        assert not list(found(*walked(source), "collective", NAMES["collective"][0])), source
