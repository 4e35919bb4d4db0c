"""Writes docs/validation.md: what the model agrees with, and where each constant comes from.

`make docs` runs it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from coverage_picture import PICTURE, coverage_svg
from documents import table

from peerlab.answer.gain import GainBand
from peerlab.base.units import say_bytes, say_percent
from peerlab.engine.simulate import simulate
from peerlab.features.validate.expected_figures import ExpectedRow, load_expected, scenario
from peerlab.features.validate.held_out.law_errors import correlations, coverage, left_out
from peerlab.features.validate.held_out.logged_machines import load_machines
from peerlab.features.validate.held_out.unseen import DIFFERS, Unseen, unseen
from peerlab.features.validate.held_out.validate_machines import COVERAGE_HEAD, coverage_cells, machine_cells
from peerlab.features.validate.held_out.validate_machines import HEAD as MACHINE_HEAD
from peerlab.features.validate.table_cells import cells, say_error, say_expected, say_score, say_value
from peerlab.features.validate.validation import SimulatedRow, validate
from peerlab.question.law_error import SHARE, law_errors
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.training.training_step import Step

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
MACHINES = """\
## Machines with no log of their own

Each machine was left out of the fit: the constants of its library (microseconds that the transport adds to a hop, that a message costs,
that asking before a large message takes) are those that meet the other machines' logs of the same transport best. An error counts against
the better of out of place and in place. A row whose two columns differ by more than {differs} is left out of the worst.
*Topology alone* is the median error without the library. Sizes are 8 B to 4 GiB; the last
columns are median signed errors. An asterisk marks machines whose accuracy is not promised.
More than 2 nodes were checked on one machine only.
"""
COVERAGE = """\
## How often the measured time lies inside the band

Each machine is left out of the fit, as above, and of the error of its law, too: `peerlab validate --law-errors data/law_errors.toml` derives by which factor
the times measured on machines that were left out miss the band that assumed figures make, and the factor that {share} of a further machine's times should not exceed
widens every band that peerlab shows, at both ends: headline, curves, gain, step, deck and diagnosis. It is Student's t of so many machines times the root mean square
of the logarithms of misses, each machine counted once: these logarithms are taken as normal about 0, and the next machine as one more of those that were left out. The times of
one machine resemble each other, so that it is machines that count, and few of them make the factor larger. {share} is a share of all sizes: a single machine may have fewer (Azure ND A100 below).

{errors}

The factor of all transports is that of the algorithm whose law is the least sure, of those with 3 machines and 20 measured times, or of the times whose
bands of figures are narrow (1.15 times from end to end), where that is more: in a wide band a time lies inside, however far the law is off. A library of
which no public log exists (HCL over host NICs), a collective that its law does not know, and an exchange inside one node have it, too. A gain compares two paths of one machine: their errors are taken as independent. The correlations of the pairs of logs
that exist are {pairs}: two pairs are too few to take them off,
and a positive one makes the band of a gain rather too wide.

![Share of measured times inside the band over the share that it is to hold, each machine left out in turn](pictures/coverage.svg)

The picture has the same for bands that are to hold 50 to 99 % of the times. Below about 85 % they hold more: the ranges of assumed figures
alone hold as many, and no band is narrower than those.

A range of what is not solved was taken from some of these logs. They lie inside it by construction: each has a row, and counts in no group. So does
g4dn.8xlarge from 128 KiB to 1 MiB, where no accuracy is promised of staged EFA.
"""
BAND = """\
**The gain of Peer Direct on DL1**, 8 nodes, 64 MiB: reported in 2026 were 1.5 to 2 times. The model says {value:.2f} times; {low:.2f} to {high:.2f}
if the assumed figures that have a range lie at its ends. Topology alone says {alone:.2f} times, {alone_low:.2f} to {alone_high:.2f}; the rest of the band is the library's.
"""
CONSTANTS = """\
## Constants

[model.md](model.md#clusters) has every figure of every cluster with its source, or what is assumed and within which range; one that
was fitted names its row.
"""


@cache
def _foretold() -> tuple[Unseen, ...]:
    """Return the machines, each left out of the fit; text and picture are of the same."""
    return tuple(unseen(load_machines()))


def document() -> str:
    """Return the whole text."""
    expectations = load_expected()
    results, foretold = list(validate(expectations.rows)), _foretold()
    parts = [
        HEAD.format(summary=say_score(results)),
        *_machines(foretold),
        *_coverage(foretold),
        _band(),
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


def pictures() -> dict[str, str]:
    """Return the picture of the coverage, as SVG, by name."""
    return {PICTURE: coverage_svg(_foretold())}


def _machines(found: Sequence[Unseen]) -> Iterator[str]:
    yield MACHINES.format(differs=say_percent(DIFFERS))
    yield table(MACHINE_HEAD, [machine_cells(one) for one in found])
    yield "".join(f"* {one.name}: {one.note}\n" for one in found if one.note)
    left_out = ((one.name, ", ".join(say_bytes(point.size) for point in one.not_counted)) for one in found)
    yield (
        "Rows whose two columns differ too much: "
        + "; ".join(f"{name}: {sizes}" for name, sizes in left_out if sizes)
        + ".\n"
    )


def _coverage(found: Sequence[Unseen]) -> Iterator[str]:
    """Yield how many times lie inside their bands, and the errors of the laws."""
    rows = [
        (" ".join(filter(None, (one.transport or "all whose accuracy is promised", one.algorithm))), f"{one.times:g}", str(one.sizes), str(len(one.machines)), say_percent(one.share))
        for one in law_errors()
    ]  # fmt: skip
    head = ("transport", "factor", "measured times", "machines", "inside, each machine left out")
    told = (f"{value:.1f} ({', '.join(names)})" for names, value in correlations(found))
    yield COVERAGE.format(share=say_percent(SHARE), errors=table(head, rows).rstrip(), pairs=", ".join(told))
    yield table(COVERAGE_HEAD, [coverage_cells(one) for one in coverage(left_out(found))])


def _band() -> str:
    """Return the band of DL1's gain, with the library and without it."""
    whole, alone = (_gain(library) for library in (None, "none"))
    bands = {"value": whole.value, "low": whole.low, "high": whole.high}
    return BAND.format(**bands, alone=alone.value, alone_low=alone.low, alone_high=alone.high)


def _gain(library: str | None) -> GainBand:
    direct, staged = (simulate(Scenario(path=path, library=library)) for path in ("peer-direct", "host-rdma"))
    return direct.gain_band(staged)


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
    """Return the figures of the row's cluster and library that say they were fitted on it, with their values."""
    asked = scenario(row.points[0].scenario)
    asked = asked.scenario if isinstance(asked, Step) else asked
    library = asked.used_library if isinstance(asked, Scenario) else None  # queues and jobs have none
    own = [one for one in library.figures.values() if one.assumption] if library else []
    return [
        f"{figure.key} {figure}"
        for figure in (*load_cluster(row.cluster).assumptions, *own)
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
