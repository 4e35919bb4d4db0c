"""What stands above the slides of an outline, between two lines of ``---``: title, subtitle, scenario and training, as YAML.

YAML 1.1 would read the word ``no`` as false, ``010`` as eight, ``1:30`` as ninety and ``2026-01-02`` as a date. Here a value is a whole number,
a decimal, ``true``, ``false`` or text, as on the command line, and what stands in quotes is text. Only two levels of the YAML's nodes
are read: no tag builds an object, and aliases cannot multiply.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import yaml

from peerlab.base.errors import ExportError, nearest
from peerlab.base.textfile import read_value
from peerlab.base.units import KIB, say_bytes
from peerlab.features.deck.trained_step import TRAINED_FIELDS, read_training
from peerlab.features.deck.training import Training
from peerlab.question.scenario import Scenario

_MOST_BYTES = 16 * KIB
"""The parser takes some seconds for a megabyte."""
_FIELDS = {
    "scenario": [field.name for field in fields(Scenario)],
    "training": [*(field.name for field in fields(Training)), *TRAINED_FIELDS],
}
_KEYS = ("title", "subtitle", "author", "date", "logo", "theme", "beside", "log", *_FIELDS)


def read_front_matter(text: str, name: str) -> dict[str, Any]:
    """Return title and subtitle as text, scenario as a mapping and training as a `Training` or a `TrainedStep`, as far as they are given.

    Parameters
    ----------
    text:
        The lines between the two lines of ``---``, of which the first is the file's first line.
    name:
        Name of the file, for errors.

    Raises
    ------
    ExportError
        If it is no YAML, or says what an outline does not have; it names the line.
    """
    if len(text.encode(errors="replace")) > _MOST_BYTES:
        raise ExportError(f"{name}: the front matter is larger than {say_bytes(_MOST_BYTES)}")
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
        return _held(root) if root else {}
    except yaml.MarkedYAMLError as problem:  # ours, too
        # YAML begins below the first ---, and its marks count lines from 0.
        line = 2 + problem.problem_mark.line if problem.problem_mark else 1
        raise ExportError(f"{name}, line {line}: {problem.problem}") from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as problem:
        raise ExportError(f"{name}: the front matter is no YAML: {problem}") from None


def _held(root: yaml.Node) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for key, node in _entries(root, "the front matter is lines such as title: Why Peer Direct", _KEYS):
        if key not in _FIELDS:
            held[key] = _scalar(key, node).value
            continue
        below = (
            f"{key} is a line of its own with its fields indented below it, as in {key}: and then   nodes: 8"
        )
        entries = {name: _value(name, entry) for name, entry in _entries(node, below, _FIELDS[key])}
        try:
            held[key] = read_training(entries) if key == "training" else entries
        except ExportError as problem:
            raise _wrong(str(problem), node) from None
    return held


def _entries(node: yaml.Node, else_says: str, known: Sequence[str]) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the names of a mapping with their nodes."""
    if not isinstance(node, yaml.MappingNode):
        raise _wrong(else_says, node)
    told = set()
    # Pairs, not a dictionary, in which a name that is given twice would be lost.
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if name not in known:
            raise _wrong(f"{name!r} is unknown; {nearest(name, known)}", key)
        if name in told:
            raise _wrong(f"{name} is given twice", key)
        told.add(name)
        yield name, value


def _value(name: str, node: yaml.Node) -> int | float | bool | str:
    scalar = _scalar(name, node)
    # What stands in quotes is text, whatever it looks like.
    return str(scalar.value) if scalar.style else read_value(scalar.value)


def _scalar(name: str, node: yaml.Node) -> yaml.ScalarNode:
    if not isinstance(node, yaml.ScalarNode):
        raise _wrong(f"{name} is one value, no list and no table", node)
    if not node.value and not node.style:
        raise _wrong(f"{name} has no value", node)
    return node


def _wrong(says: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=says, problem_mark=node.start_mark)
