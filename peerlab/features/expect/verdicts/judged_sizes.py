"""The sizes of a log: its columns, and which of them were held up."""

from peerlab.base.units import KIB
from peerlab.diagnosis.observed import Observed
from peerlab.features.expect.expectation import Expectation
from peerlab.features.expect.verdicts.causes import JudgedSize
from peerlab.features.expect.verdicts.verdict_rules import DISTURBED
from peerlab.records import Records
from peerlab.records.conditions_measured import condition_rows

_COLD = 4 * KIB


def columns_of_log(records: Records, observed: Observed) -> dict[int, list[float]]:
    """Return the bus bandwidths of each size, a column of the log each."""
    # A log that hides its ranks is taken as of two, the fewest.
    factor = observed.collective_record.bus_factor(observed.ranks or 2)
    entries: dict[int, list[float]] = {}
    for row in condition_rows(records.rows):
        if row["size_bytes"] and row["time_s"]:
            entries.setdefault(row["size_bytes"], []).append(row["size_bytes"] / row["time_s"] / 1e9 * factor)
    usual = zip(observed.sizes, observed.algbw_GBps, strict=True)
    return {int(size): entries.get(int(size)) or [float(algbw * factor)] for size, algbw in usual}


def judged_sizes(columns: dict[int, list[float]], should: Expectation) -> tuple[JudgedSize, ...]:
    """Return each size of a log beside what it should reach, and whether the log itself shows that it was held up."""
    best = {size: max(both) for size, both in columns.items()}
    sizes = sorted(best)
    rows = []
    for place, expected in enumerate(should.rows):
        times = [size / best[size] for size in sizes[place : place + 2]]
        # A message of twice the size can take no less time: something else held up the smaller one.
        late = len(times) == 2 and times[0] > DISTURBED * times[1]
        worst = min(columns[expected.size])
        # The first size of a run takes what a first launch costs, too, which shows where a message takes no longer.
        cold = place == 0 and expected.size <= _COLD
        # Only a column below the floor is held against the other: both may differ where both are well.
        apart = best[expected.size] / worst if expected.floor is not None and worst < expected.floor else 1.0
        disturbed = not cold and (late or apart > DISTURBED)
        rows.append(
            JudgedSize(
                size=expected.size,
                measured=best[expected.size],
                expected=expected,
                disturbed=disturbed,
                apart=apart,
            )
        )
    return tuple(rows)
