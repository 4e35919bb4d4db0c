"""Writes docs/validation.md: what the model agrees with, and where each constant comes from.

`make docs` runs it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from documents import table

from peerlab.model.presets import load_cluster
from peerlab.study.validation.expected_figures import ExpectedRow, load_expected
from peerlab.study.validation.table_cells import cells, say_error, say_expected, say_score, say_value
from peerlab.study.validation.validation import SimulatedRow, validate

FITTED_ON = re.compile(r"(?<=fitted on )[\w-]+(?: and [\w-]+)*")
"""How a figure's assumption names the rows it was fitted on."""

HEAD = """\
# What the model agrees with

Written by `make docs` from `data/expected/`, `data/hardware/` and the simulation; `peerlab validate` prints the same.
{summary}.

A row that was fitted is no prediction: constants of its cluster were chosen on it. Of the others only the published ratios and
the logs predict what somebody measured; the rest shows that the model computes what it says. Every constant is a rate, a latency or a
size of something that exists; none is a correction factor.
"""
CONSTANTS = """\
## Constants

[model.md](model.md#clusters) has every figure of every cluster with its source, or what is assumed and within which range; one that
was fitted names its row.
"""


def document() -> str:
    """Return the whole text."""
    expectations = load_expected()
    results = list(validate(expectations.rows))
    parts = [
        HEAD.format(summary=say_score(results)),
        *_tables("## Not fitted\n", [one for one in results if not one.row.fitted]),
        *_tables("## Fitted\n", [one for one in results if one.row.fitted]),
        *_missed(results),
        "## Checked by tests\n",
        *(f"* {one.what}: `{one.where}`\n" for one in expectations.elsewhere),
        "## Point by point\n",
        *(_points(one) for one in results if one.row.group == "logs" and len(one.answers) > 1),
        CONSTANTS,
    ]
    return "\n".join(parts)


def _tables(heading: str, results: Sequence[SimulatedRow]) -> Iterator[str]:
    yield heading
    for group in dict.fromkeys(result.row.group for result in results):
        mine = [result for result in results if result.row.group == group]
        rows = [_row(result) for result in mine]
        yield f"### {group.capitalize()}\n"
        yield table(
            (
                "row",
                "what",
                "expected",
                "simulated",
                "error",
                "allowed",
                "",
                "constants fitted on it",
                "source",
            ),
            rows,
        )
        notes = [f"* `{result.row.name}`: {result.row.note}\n" for result in mine if result.row.note]
        if notes:
            yield "".join(notes)


def _row(result: SimulatedRow) -> tuple[str, ...]:
    row, (name, *middle, verdict) = result.row, cells(result)
    what = f"{row.what} ({row.compare}" + (f", {len(row.points)} points)" if len(row.points) > 1 else ")")
    return (
        f"`{name}`",
        what,
        *middle,
        verdict.removesuffix(", fitted"),
        ", ".join(_fitted_on(row)),
        row.source,
    )


def _fitted_on(row: ExpectedRow) -> list[str]:
    """Return the figures of the row's cluster that say they were fitted on it, with their values."""
    return [
        f"{figure.key} {figure}"
        for figure in load_cluster(row.cluster).assumptions
        for names in FITTED_ON.findall(figure.assumption)
        if row.name in names.split(" and ")
    ]


def _missed(results: Iterable[SimulatedRow]) -> Iterator[str]:
    missed = [result for result in results if not result.passed]
    if missed:
        yield "## Not met\n"
    for result in missed:
        why = result.row.note or "; ".join(result.problems)
        yield f"* `{result.row.name}`: {why}\n"


def _points(result: SimulatedRow) -> str:
    row = result.row
    rows = [
        (
            answer.point.label,
            say_expected(answer, row.unit),
            say_value(answer.simulated, row.unit),
            say_error(answer.error),
        )
        for answer in result.answers
    ]
    return f"### `{row.name}`\n\n{table(('', 'expected', 'simulated', 'error'), rows)}"
