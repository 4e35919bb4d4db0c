"""From what the ranks of one run said to rows of records, and the order of runs."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from peerlab.features.measure.schedule import MeasuredCase, Measurement


def shuffled(cases: Sequence[int], repetition: int) -> Sequence[int]:
    """Return the cases in an order of a repetition, the same on every rank, so that none always comes after the same one.

    What ran before leaves caches and clocks as it likes them; turning the order round would keep who follows whom.
    """
    return Random(repetition).sample(cases, len(cases))  # noqa: S311  (repeatable on purpose)


def rows(
    plan: Measurement, case: MeasuredCase, size: int, repetition: int, rank_rows: Sequence[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the row of each rank of a run; all have the time of the slowest."""
    # The collective is over when its last rank is, as in the simulation.
    slowest = max(row["time_s"] for row in rank_rows)
    for rank, row in enumerate(rank_rows):
        yield {
            "kind": "measured",
            "collective": "allreduce",
            "variant": case.variant,
            "size_bytes": size,
            "dtype": "float32",
            "op": "sum",
            "ranks": len(rank_rows),
            "path": case.arm,
            "registration": case.registration.kind,
            "capacity": case.registration.capacity,
            "slice_bytes": plan.slice_bytes,
            "repetition": repetition,
            "rank": rank,
            **row,
            # Behind `**row`, whose own time it replaces.
            "time_s": slowest,
        }
