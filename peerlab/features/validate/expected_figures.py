"""Expected figures: what the model must agree with, read from ``data/expected/*.toml``.

A file holds one group of rows. A row names scenarios, what of them is compared, what is expected and by how much it
may differ, the source, and whether constants of the cluster were fitted on it::

    group = "logs"

    [[row]]
    name = "gaudi2-one-box"
    what = "AllReduce in one box of eight Gaudi 2"
    scenario = { cluster = "gaudi2", nodes = 1, message_bytes = "32 MiB" }
    compare = "algbw"
    unit = "GB/s"
    expected = 147.58
    tolerance = 0.05
    fitted = false
    source = "..."

`expected` is a value with a relative `tolerance`, or a range ``[low, high]``. Instead of one scenario a row may have
``points = [{ message_bytes = "1 MiB", expected = 3.4 }, ...]`` or a grid, ``each = { nodes = [2, 4] }``. Ratios divide
`scenario` by what `over` changes of it. With a ``workload`` a scenario is a step of a training, with a ``neighbour`` a question about queues, with ``jobs`` one about them, with ``seeds`` one about so many runs with noise. ``judged = "median"`` holds the median error of the points to the tolerance.
"""

# Expected figures are data. `data/expected/` holds every figure that the model must agree with, its source
# and tolerance, and says which rows constants were fitted on. Its picture (`peerlab validate --plot`) is a
# Bokeh page with everything inside: the project has Bokeh, a reader wants to point at single points, and a
# page needs no second drawing library and no network.

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from peerlab.base.errors import ExpectationError, nearest
from peerlab.base.places import folder
from peerlab.base.textfile import read_toml
from peerlab.features.validate.comparison import (
    COMPARISONS,
    UNITS,
    Compared,
    JobsQuestion,
    RunsQuestion,
    answered_jobs,
)
from peerlab.question.scenario import Scenario
from peerlab.study.port_question import port_question
from peerlab.training.training_step import Step

JUDGED = ("each", "median")
_MUST = {
    "name": str,
    "what": str,
    "scenario": dict,
    "compare": str,
    "unit": str,
    "fitted": bool,
    "source": str,
}
_MAY: dict[str, type | tuple[type, ...]] = {
    "expected": (int, float, list),
    "tolerance": (int, float),
    "over": dict,
    "points": list,
    "each": dict,
    "judged": str,
    "note": str,
    "band": bool,
}


@dataclass(frozen=True, kw_only=True)
class ExpectedPoint:
    """One scenario of a row and what is expected of it."""

    label: str
    """What is particular about it, such as ``64 KiB``; empty where the row has one point."""
    scenario: Mapping[str, Any]
    """Fields of the scenario."""
    over: Mapping[str, Any] | None
    """Fields of the scenario it is divided by, for a ratio."""
    expected: float | tuple[float, float]
    """A value, or a range from low to high, in the row's unit."""


@dataclass(frozen=True, kw_only=True)
class ExpectedRow:
    """One line of the table: some scenarios, and what the model must say about them."""

    name: str
    """Short and unique."""
    group: str
    """Heading it stands under."""
    what: str
    """One sentence."""
    compare: str
    """Key of `COMPARISONS`."""
    unit: str
    """Unit of what is compared."""
    tolerance: float
    """Largest relative error; for a range 0."""
    judged: str
    """``each``: every point must be within the tolerance; ``median``: their median error."""
    fitted: bool
    """Whether constants of the cluster were fitted on this row."""
    source: str
    """Where the expected figures come from."""
    note: str
    """What else must be said: outliers, or why a row cannot be met."""
    band: bool
    """Whether it is said, too, from where to where a ratio may lie while assumed figures go through their ranges."""
    points: tuple[ExpectedPoint, ...]
    """The scenarios."""

    @property
    def cluster(self) -> str:
        """Name of the cluster it is about."""
        return str(self.points[0].scenario["cluster"])


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """A requirement that a test checks, because it is no figure."""

    name: str
    """Short and unique."""
    what: str
    """One sentence."""
    where: str
    """The test."""


@dataclass(frozen=True)
class Expectations:
    """Everything the model must agree with."""

    rows: tuple[ExpectedRow, ...]
    """What is simulated and compared."""
    elsewhere: tuple[Elsewhere, ...]
    """What tests check."""


def load_expected(place: Path | None = None) -> Expectations:
    """Return the expected figures of every file in a folder; by default those that come with peerlab.

    Raises
    ------
    ExpectationError
        One line with file, row, entry and what is allowed.
    """
    rows: list[ExpectedRow] = []
    elsewhere: list[Elsewhere] = []
    # Sorted, so that the table is the same on every file system.
    for path in sorted((place or folder("data") / "expected").glob("*.toml")):
        expectations = read_expected(path.read_text(encoding="utf-8"), path.name)
        rows += expectations.rows
        elsewhere += expectations.elsewhere
    names = [row.name for row in rows] + [requirement.name for requirement in elsewhere]
    for name in names:
        if names.count(name) > 1:
            raise ExpectationError(f"two rows are called {name!r}")
    return Expectations(tuple(rows), tuple(elsewhere))


def read_expected(text: str, where: str) -> Expectations:
    """Return the rows of one file; `where` names it in errors."""
    document = read_toml(text, f"{where} is not a TOML file", ExpectationError)
    group = document.get("group")
    if not isinstance(group, str):
        raise ExpectationError(f"{where}: group is missing; it is a text at the top of the file")
    rows = tuple(_row(entry, group, where) for entry in document.get("row", []))
    elsewhere = tuple(Elsewhere(**entry) for entry in document.get("elsewhere", []))
    return Expectations(rows, elsewhere)


def _row(entry: dict[str, Any], group: str, where: str) -> ExpectedRow:
    where = f"{where}: row {entry.get('name', '?')!r}"
    _check_entries(entry, where)
    points = tuple(_points(entry, where))
    ranged = all(isinstance(point.expected, tuple) for point in points)
    if "tolerance" not in entry and not ranged:
        raise ExpectationError(f"{where}: tolerance is missing; only a range needs none")
    return ExpectedRow(
        group=group,
        points=points,
        # A range needs no tolerance: a figure lies in it or not.
        tolerance=entry.get("tolerance", 0.0),
        judged=entry.get("judged", "each"),
        note=entry.get("note", ""),
        band=entry.get("band", False),
        **{key: entry[key] for key in ("name", "what", "compare", "unit", "fitted", "source")},
    )


def _check_entries(entry: dict[str, Any], where: str) -> None:
    # An unknown entry before a missing one: a slip in a name is both, and the first says which name was meant.
    for name, value in entry.items():
        kind = {**_MUST, **_MAY}.get(name)
        if kind is None:
            raise ExpectationError(f"{where}: unknown entry {name!r}; {nearest(name, {**_MUST, **_MAY})}")
        if not isinstance(value, kind):
            raise ExpectationError(f"{where}: {name} = {value!r} is not possible")
    for name in _MUST:
        if name not in entry:
            raise ExpectationError(f"{where}: {name} is missing")
    for name, names in (("compare", tuple(COMPARISONS)), ("judged", JUDGED)):
        if entry.get(name, names[0]) not in names:
            raise ExpectationError(f"{where}: unknown {name} {entry[name]!r}; {nearest(entry[name], names)}")
    allowed = UNITS[entry["compare"]]
    if entry["unit"] not in allowed:
        raise ExpectationError(
            f"{where}: unit {entry['unit']!r} is not possible; known: {', '.join(allowed)}"
        )
    _check_comparison(entry, where)


def _check_comparison(entry: dict[str, Any], where: str) -> None:
    """Refuse a row whose scenarios are not of the kind that is compared."""
    if ("workload" in entry["scenario"]) != COMPARISONS[entry["compare"]].of_steps:
        raise ExpectationError(f"{where}: a workload belongs to figures of a training step, and only to them")
    if ("neighbour" in entry["scenario"]) != COMPARISONS[entry["compare"]].of_ports:
        raise ExpectationError(f"{where}: a neighbour belongs to figures of queues, and only to them")
    # Which jobs there are may differ from point to point; workload and neighbour are those of the whole row.
    jobs = all("jobs" in {**entry["scenario"], **point} for point in entry.get("points", [{}]))
    if jobs != COMPARISONS[entry["compare"]].of_jobs:
        raise ExpectationError(f"{where}: jobs belong to figures of several jobs, and only to them")
    if ("seeds" in entry["scenario"]) != COMPARISONS[entry["compare"]].of_runs:
        raise ExpectationError(f"{where}: seeds belong to figures of many runs, and only to them")
    # The type itself is compared: `isinstance(True, int)` holds.
    if type(seeds := entry["scenario"].get("seeds", 1)) is not int or seeds < 1:
        raise ExpectationError(f"{where}: seeds = {seeds!r} is no number of runs")
    if ("over" in entry) != COMPARISONS[entry["compare"]].of_two:
        raise ExpectationError(f"{where}: 'over' belongs to ratios, and only to them")
    if entry.get("band") and entry["compare"] != "time ratio":
        raise ExpectationError(f"{where}: only a 'time ratio' has a band")


def _points(entry: dict[str, Any], where: str) -> list[ExpectedPoint]:
    changes: list[dict[str, Any]] = entry.get("points") or [
        # Without `each` the product of nothing is one point: the scenario as it stands.
        dict(zip(entry.get("each", {}), values, strict=True))
        for values in product(*entry.get("each", {}).values())
    ]
    return [_point(entry, dict(change), where) for change in changes]


def _point(entry: dict[str, Any], change: dict[str, Any], where: str) -> ExpectedPoint:
    expected = change.pop("expected", entry.get("expected"))
    if expected is None:
        raise ExpectationError(f"{where}: expected is missing for {change}")
    if isinstance(expected, list):
        if len(expected) != 2 or not expected[0] <= expected[1]:
            raise ExpectationError(f"{where}: expected = {expected!r} is not [low, high]")
        expected = (float(expected[0]), float(expected[1]))
    fields = {**entry["scenario"], **change}
    if "cluster" not in fields:
        raise ExpectationError(f"{where}: scenario has no cluster")
    # `over` changes the point's own fields, so that both sides of a ratio have its size.
    over = {**fields, **entry["over"]} if "over" in entry else None
    return ExpectedPoint(label=_label(change), scenario=fields, over=over, expected=expected)


def _label(change: Mapping[str, Any]) -> str:
    words = {"message_bytes": "{}", "nodes": "{} nodes", "path": "{}", "algorithm": "{}"}
    return ", ".join(
        words.get(name, name.replace("_", " ") + " {}").format(_say(value)) for name, value in change.items()
    )


def _say(value: Any) -> str:
    """Return a value of a point; of several figures each with its name."""
    if isinstance(value, Mapping):
        return " ".join(f"{name.replace('_', ' ')} {_say(part)}" for name, part in value.items())
    if isinstance(value, list):
        return (" / " if any(isinstance(part, Mapping) for part in value) else "-").join(map(_say, value))
    return str(value)


def scenario(fields: Mapping[str, Any]) -> Compared:
    """Return the scenario with these fields, as TOML can write them: ``"none"`` for None, text for numbers as keys; with a workload the step, with a neighbour, with jobs or with seeds the question about those."""
    options = dict(fields)
    seeds = options.pop("seeds", None)
    if "jobs" in options:
        job, repeat = options.pop("job", 0), options.pop("repeat", 0)
        return JobsQuestion(answered_jobs(options), job, repeat)
    if "neighbour" in options:
        return port_question(**options)
    if options.get("slice_bytes") == "none":
        options["slice_bytes"] = None
    if "placement" in options:
        options["placement"] = tuple(options["placement"])
    for name in {"slow_nodes", "slow_compute"} & options.keys():
        options[name] = {int(node): factor for node, factor in options[name].items()}
    if "workload" in options:
        return Step.of(**options)
    return Scenario(**options) if seeds is None else RunsQuestion(Scenario(**options), seeds)
