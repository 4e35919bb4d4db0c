"""The package's shape: each name says one thing, and what is long says why."""

import ast
import io
import re
import tokenize
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from peerlab.model.paths import PATHS

SAME_FILE_NAMES = {
    "__init__.py": "Python's own",
    "__main__.py": "Python's own",
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


LONG_FUNCTIONS = {
    "engine/compiled/flatten.py:flatten": "a table: one array of the state after another",
    "features/step/step_command.py:_add_step_fields": "a table: one option of a step after another",
    "engine/arrays/ring_arrays.py:_serve": "the chain of a stage, one resource after another: its parts share most of what it knows",
}
_TABLE = "a table: an entry for each thing there is, and nobody reads it from top to bottom"
LONG_MODULES = {
    "engine/referee/processes.py": "the semantics, to be read from top to bottom",
    "model/guide.py": _TABLE,
    "model/hardware.py": "a field for each kind of figure",
    "model/paths.py": _TABLE,
    "model/resources.py": _TABLE,
    "model/stages.py": _TABLE,
}
MOST_OF_FUNCTION, MOST_OF_MODULE = 40, 250


def docstring_lines(tree):
    """Return the lines of all docstrings below a node."""
    for one in ast.walk(tree):
        if isinstance(one, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for stands in one.body:  # those of fields stand behind their fields
                if isinstance(stands, ast.Expr) and isinstance(stands.value, ast.Constant):
                    yield from range(stands.lineno, stands.end_lineno + 1)


def code_lines(text, first=1, last=None):
    """Return how many lines hold code: neither empty, nor a comment, nor of a docstring."""
    said = set(docstring_lines(ast.parse(text)))
    lines = enumerate(text.splitlines()[first - 1 : last], first)
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and at not in said for at, line in lines
    )


def functions(text):
    return [
        one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_a_line_of_code_is_neither_empty_nor_comment_nor_docstring():
    text = '"""A module."""\n\n# why\nX = 1\n"""A field."""\ndef two():\n    """Two\n    lines."""\n    return 2\n'
    assert code_lines(text) == 3
    assert code_lines(text, 6, 9) == 2


def test_a_long_function_says_why(modules):
    long = {
        f"{path}:{one.name}"
        for path, text in modules.items()
        for one in functions(text)
        if one.end_lineno - one.lineno >= MOST_OF_FUNCTION
        and code_lines(text, one.lineno, one.end_lineno) > MOST_OF_FUNCTION
    }
    assert long - set(LONG_FUNCTIONS) == set()


def test_a_long_module_says_why(modules):
    long = {str(path) for path, text in modules.items() if code_lines(text) > MOST_OF_MODULE}
    assert long - set(LONG_MODULES) == set()


FOR_A_TOOL = re.compile(r"#\s*(noqa|fmt:|type:|pragma:)")
LEAST_REASONS = 0.05
"""Comments per line of code: reasons and invariants stand beside the line that they explain."""


def reasons(text):
    """Return how many lines hold a comment for a reader: what a tool is told is none."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(one.type == tokenize.COMMENT and not FOR_A_TOOL.match(one.string) for one in tokens)


def test_a_comment_for_a_tool_is_no_reason():
    assert reasons("# why\nX = 1  # noqa: E501  (why)\nY = '# no'  # since X\n") == 2


def test_reasons_stand_beside_the_code(modules):
    texts = modules.values()
    assert sum(map(reasons, texts)) >= LEAST_REASONS * sum(map(code_lines, texts))


PRONOUNS = {"one", "found", "said", "told", "seen", "known", "asked", "given", "says", "tells"}
MOST_PRONOUNS = 0.04
"""Of all names that are bound: a name says what it holds, in the field's noun."""


def bound(tree):
    """Yield every name that a module binds: variables, attributes, parameters, functions, classes."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
            ):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name


def test_a_name_is_a_noun(modules):
    names = [name.strip("_") for text in modules.values() for name in bound(ast.parse(text))]
    assert sum(name in PRONOUNS for name in names) <= MOST_PRONOUNS * len(names)


_KEYWORD = "a public parameter, which callers may name"
_FIELD = "a public field, which readers of the object name"
KEPT_PRONOUNS = {
    "app/chips.py:mark:one": _KEYWORD,
    "app/field_controls.py:show:one": _KEYWORD,
    "engine/recording.py:array_rows:found": _KEYWORD,
    "engine/span_rows.py:hits_of:found": _KEYWORD,
    "features/deck/kinds/late_field.py:late_field:found": _KEYWORD,
    "features/deck/kinds/step_slide.py:simulated_step:found": _KEYWORD,
    "features/expect/expect_report.py:expectation_html:found": _KEYWORD,
    "features/expect/thresholds.py:write_thresholds:found": _KEYWORD,
    "library/nccl_law.py:chosen:found": _KEYWORD,
    "model/guide.py:where_to_find:one": _KEYWORD,
    "page/widgets.py:offer:one": _KEYWORD,
    "page/widgets.py:say_states:one": _KEYWORD,
    "question/law_error.py:reach_of_ratio:one": _KEYWORD,
    "study/planned.py:sides_in_words:one": _KEYWORD,
    "study/racing.py:race:one": _KEYWORD,
    "topology/topology.py:Topology:distance:one": _KEYWORD,
    "topology/topology.py:apart:one": _KEYWORD,
    "training/own_step.py:on_each_path:found": _KEYWORD,
    "training/step_composition.py:scenario_of:one": _KEYWORD,
    "diagnosis/observed.py:Observed:said": _FIELD,
    "features/doctor/check.py:Finding:found": _FIELD,
    "features/doctor/check.py:Seen:found": _FIELD,
    "features/expect/verdicts/causes.py:PossibleCause:said": _FIELD,
    "features/expect/verdicts/causes.py:UnseenFault:said": _FIELD,
    "features/measure/reports/ratios.py:Ratios:found": _FIELD,
    "engine/ports/sender_events.py:SenderEvents:handle:one": "a number: the first of an event's two values",
}


def pronouns_bound(node, scope):
    """Yield where a variable or parameter is called `one`, `found` or `said`: its scope, then its name."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.MatchAs(name=str(name)):
                if name in {"one", "found", "said"}:
                    yield f"{scope}:{name}"
        named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from pronouns_bound(child, f"{scope}:{child.name}" if named else scope)


def test_a_variable_is_called_by_its_noun(modules):
    names = {name for path, text in modules.items() for name in pronouns_bound(ast.parse(text), path)}
    assert names == set(KEPT_PRONOUNS)


def imported(text, names):
    """Yield the modules that a text imports, inside functions too; what only types need is nothing that runs."""
    tree = ast.parse(text)
    typed = [
        one for one in ast.walk(tree) if isinstance(one, ast.If) and "TYPE_CHECKING" in ast.dump(one.test)
    ]
    unseen = {id(node) for one in typed for node in ast.walk(one)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in unseen:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in names else node.module
        elif isinstance(node, ast.Import) and id(node) not in unseen:
            yield from (alias.name for alias in node.names)


def test_no_two_modules_import_each_other(modules):
    """The largest circle is one file, late imports included."""
    names = {
        ".".join(("peerlab", *path.with_suffix("").parts)).removesuffix(".__init__"): text
        for path, text in modules.items()
    }
    graph = {name: names.keys() & set(imported(text, names)) for name, text in names.items()}
    TopologicalSorter(graph).prepare()  # raises what it finds


def test_evidence_asks_what_a_data_path_is_and_not_what_it_is_called(modules):
    tree = ast.parse(modules[Path("diagnosis/evidence.py")])
    assert {one.value for one in ast.walk(tree) if isinstance(one, ast.Constant)} & set(PATHS) == set()
