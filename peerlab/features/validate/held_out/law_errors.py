"""Derives the errors of laws from machines that were left out, and says how many measured times lie inside the bands that follow.

See `peerlab.question.law_error` for what they are and what is assumed.
"""

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from peerlab.base.units import say_percent
from peerlab.features.validate.held_out.logged_machines import load_machines
from peerlab.features.validate.held_out.next_machine import factor
from peerlab.features.validate.held_out.unseen import SIZES, SizeError, Unseen
from peerlab.question.law_error import ANY, SHARE, LawError, keys_of

MACHINES, TIMES = 3, 20
"""An error of one algorithm needs the logs of so many machines, and so many measured times."""
NARROW = 1.15
"""Longest over shortest time of a band of figures in which a time still shows how far the law is off."""
SOURCE = "peerlab validate --law-errors: each machine of data/machines.toml left out of the fit in turn"
_HEAD = f"""\
# Errors of laws: by which factor bands reach further than their figures make them. Written by `peerlab validate --law-errors`, not by hand:
# by so much a further machine misses the band of the assumed figures, at {say_percent(SHARE)} of its sizes no more, if it resembles those that were left out.
# An empty transport is all whose accuracy is promised. Its factor is the larger of two: what the algorithms show that have at least {MACHINES} machines and
# {TIMES} measured times, and what the times show whose bands of figures are narrow ({NARROW} times from end to end at most). An algorithm with a
# smaller factor has its own. A transport has one where no accuracy is promised.
"""


@dataclass(frozen=True)
class LeftOut:
    """One measured time of a machine that was left out."""

    machine: Unseen
    point: SizeError

    @property
    def promised(self) -> bool:
        """Whether accuracy is promised for such a machine, and at this size."""
        return self.machine.promised and self.point.promised

    @property
    def proves(self) -> bool:
        """Whether it says anything of a band: a log from which a range was taken lies inside by construction."""
        return not (self.machine.own_range or self.point.held_up)

    @property
    def width(self) -> float:
        """How many times as long the longest time of its band of figures is as the shortest."""
        return self.point.ends_s[1] / self.point.ends_s[0]

    @property
    def misses(self) -> float:
        """By which factor it misses the band of the figures."""
        return self.point.misses


@dataclass(frozen=True)
class Inside:
    """How many measured times of a group lie inside their bands."""

    group: str
    times: int
    by_figures: int
    """Inside the band that assumed figures make."""
    by_law: int
    """Inside the band with the error of the law, which is that of the other machines."""
    median: float
    """Median of the errors, without sign."""
    worst: float
    """The largest error, with its sign."""


def left_out(machines: Iterable[Unseen]) -> list[LeftOut]:
    """Return every measured time of machines."""
    return [LeftOut(unseen, point) for unseen in machines for point in unseen.points]


def quantile(factors: Iterable[float], share: float = SHARE) -> float:
    """Return the factor that a share of these, and of one more of their kind, do not exceed; at least 1.

    >>> quantile([1.0, 1.1, 1.2, 1.3, 1.0, 1.0, 1.0, 1.0, 1.0])
    1.3
    """
    # One more than were seen: the next one falls into each of the gaps between them, and beyond, as likely.
    ranked = sorted(factors)
    return max(1.0, ranked[min(math.ceil(share * (len(ranked) + 1)), len(ranked)) - 1])


def law_errors_of(times: Sequence[LeftOut], share: float = SHARE) -> list[LawError]:
    """Return the errors of laws, with how many times lie inside their bands where each machine is left out."""
    # By identity: a measured time holds its machine, whose constants are a dictionary and cannot be hashed.
    inside = {id(fitted): held for fitted, held in _inside_bands(times, share)}
    law_errors = []
    for key, (times_off, group) in _factors(times, share).items():
        machines = sorted({sample.machine.cluster for sample in group})
        law_errors.append(
            LawError(
                times=round(times_off, 3), transport=key[0], algorithm=key[1], sizes=len(group),
                inside=sum(inside[id(sample)] for sample in group), machines=tuple(machines), source=SOURCE,
            )
        )  # fmt: skip
    return law_errors


_Key = tuple[str, str]
"""Transport and algorithm, as in `LawError`."""


def _factors(times: Sequence[LeftOut], share: float) -> dict[_Key, tuple[float, list[LeftOut]]]:
    """Return the factor of each transport and algorithm that has one, with the times that it is of.

    That of all transports is the largest of the algorithms that have enough times, and of the times whose bands of figures are narrow: what has a
    law and no log is no better known than those. An algorithm with a smaller one has its own, but none smaller than all times together have: where ranges of figures are wide, few
    times lie outside, and bands that are narrow elsewhere would stay so. A transport of which nothing is promised has at least the largest.
    """
    promised = [sample for sample in times if sample.promised]
    # Only where accuracy is promised: an odd transport must not widen the bands of all others.
    together = _factor(promised, share)
    groups = {(ANY, name): group for name, group in _by_algorithm(promised) if _enough(group)}
    own = {key: max(together, _factor(group, share)) for key, group in groups.items()}
    largest = max([together, *own.values(), _shown(promised, share)])
    entries = {(ANY, ""): (largest, promised)}
    # One whose narrow bands alone show more than the largest has none of its own.
    entries |= {
        key: (own[key], group)
        for key, group in groups.items()
        if max(own[key], _shown(group, share)) < largest
    }
    for transport in sorted({sample.machine.transport for sample in times}):
        mine = [sample for sample in times if sample.machine.transport == transport]
        # A transport with one promised machine goes by the row of all.
        if not any(sample.machine.promised for sample in mine):
            entries[transport, ""] = max(largest, _factor(mine, share)), mine
    return entries


def _factor(times: Iterable[LeftOut], share: float) -> float:
    misses: dict[str, list[float]] = {}
    for sample in times:
        misses.setdefault(sample.machine.cluster, []).append(sample.misses)
    return factor(misses, share)


def _by_algorithm(times: Sequence[LeftOut]) -> list[tuple[str, list[LeftOut]]]:
    names = sorted({sample.point.algorithm for sample in times})
    return [(name, [sample for sample in times if sample.point.algorithm == name]) for name in names]


def _shown(times: Sequence[LeftOut], share: float) -> float:
    """Return the factor of those times whose band of figures is narrow: in a wide one a time lies inside, however far the law is off."""
    return _factor([sample for sample in times if sample.width <= NARROW], share)


def _enough(group: Sequence[LeftOut]) -> bool:
    return len(group) >= TIMES and len({sample.machine.cluster for sample in group}) >= MACHINES


def written(errors: Iterable[LawError]) -> str:
    """Return the text of ``data/law_errors.toml``."""
    return _HEAD + "".join(map(_row, errors))


def _row(law_error: LawError) -> str:
    values = asdict(law_error) | {"machines": list(law_error.machines)}
    # JSON writes such texts, numbers and lists as TOML does
    return "\n[[law]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


# ---- coverage ----------------------------------------------------------------------------------------------------


def coverage(times: Sequence[LeftOut], share: float = SHARE) -> Iterator[Inside]:
    """Yield how many times lie inside their bands: by machine, by size and by what runs; the machine's own times never make its band.

    A log from which a range was taken lies inside by construction: it has a row of its own, and counts in no group.
    """
    inside = {id(fitted): held for fitted, held in _inside_bands(times, share)}
    promised = [sample for sample in times if sample.promised]
    groups = {
        "all machines": [sample for sample in times if sample.proves],
        "where accuracy is promised": promised,
        **{f"promised, {name}": [sample for sample in promised if low <= sample.point.size <= high] for name, low, high in SIZES},
        **{
            f"promised, {name}": [sample for sample in promised if sample.point.algorithm == name]
            for name in sorted({sample.point.algorithm for sample in promised})
        },
        **{_row_of(sample.machine): [each for each in times if each.machine is sample.machine] for sample in times},
    }  # fmt: skip
    for name, group in groups.items():
        yield Inside(
            name,
            len(group),
            sum(sample.misses <= 1 for sample in group),
            sum(inside[id(sample)] for sample in group),
            statistics.median(abs(sample.point.error) for sample in group),
            max((sample.point.error for sample in group), key=abs),
        )


def _row_of(machine: Unseen) -> str:
    return f"{machine.name}{', range taken from this log' if machine.own_range else ''}"


def _inside_bands(times: Sequence[LeftOut], share: float) -> Iterator[tuple[LeftOut, bool]]:
    """Yield every time, and whether it lies inside a band whose error of the law comes from the other machines."""
    for cluster in {sample.machine.cluster for sample in times}:
        # All logs of the machine are left out, not the one: those over its other path know the same hardware.
        rows = _factors([sample for sample in times if sample.machine.cluster != cluster], share)
        for sample in times:
            if sample.machine.cluster == cluster:
                keys = keys_of(sample.machine.transport, sample.point.algorithm)
                yield sample, bool(sample.misses <= next(rows[key][0] for key in keys if key in rows))


def correlations(machines: Sequence[Unseen]) -> list[tuple[tuple[str, str], float]]:
    """Return the logs that are of one machine over two paths, and how far their errors go together: -1 to 1, about an error of 0."""
    entries = {
        # The logarithm of simulated over measured: twice too slow and twice too fast are equally wrong.
        unseen.name: {point.size: math.log1p(point.error) for point in unseen.points}
        for unseen in machines
    }
    rows = []
    for logged_machine in load_machines():
        if logged_machine.name in entries and logged_machine.other_path in entries:
            mine, others = entries[logged_machine.name], entries[logged_machine.other_path]
            both = sorted(set(mine) & set(others))
            rows.append(
                (
                    (logged_machine.other_path, logged_machine.name),
                    _correlation([mine[size] for size in both], [others[size] for size in both]),
                )
            )
    return rows


def _correlation(first: Sequence[float], second: Sequence[float]) -> float:
    own, others, both = (
        # Not about their means: an error that both logs share in full is what is looked for.
        math.fsum(a * b for a, b in zip(*pair, strict=True))
        for pair in ((first, first), (second, second), (first, second))
    )
    return both / math.sqrt(own * others)
