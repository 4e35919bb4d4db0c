"""Derives the errors of laws from machines that were left out, and says how many measured times lie inside the bands that follow.

See `peerlab.question.law_error` for what they are and what is assumed.
"""

import json
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from peerlab.features.validate.held_out.logged_machines import load_machines
from peerlab.features.validate.held_out.unseen import SIZES, SizeError, Unseen
from peerlab.question.law_error import ANY, SHARE, LawError

MACHINES, TIMES = 3, 20
"""An error of one transport or algorithm needs the logs of so many machines, and so many measured times; else it is that of all transports."""
SOURCE = "peerlab validate --law-errors: each machine of data/machines.toml left out of the fit in turn"
_HEAD = f"""\
# Errors of laws: by which factor bands reach further than their figures make them. Written by `peerlab validate --law-errors`, not by hand:
# of the factors by which times measured on machines that were left out miss the band of the assumed figures, {SHARE:.0%} are no larger.
# An empty transport is all whose accuracy is promised; a transport or an algorithm has a row of its own where at least {MACHINES} machines
# and {TIMES} measured times show a larger one, or where no accuracy is promised.
"""


@dataclass(frozen=True)
class LeftOut:
    """One measured time of a machine that was left out."""

    machine: Unseen
    point: SizeError

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
    return [LeftOut(one, point) for one in machines for point in one.points]


def quantile(found: Iterable[float], share: float = SHARE) -> float:
    """Return the factor that a share of these, and of one more of their kind, do not exceed; at least 1.

    >>> quantile([1.0, 1.1, 1.2, 1.3, 1.0, 1.0, 1.0, 1.0, 1.0])
    1.3
    """
    ranked = sorted(found)
    return max(1.0, ranked[min(math.ceil(share * (len(ranked) + 1)), len(ranked)) - 1])


def law_errors_of(times: Sequence[LeftOut], share: float = SHARE) -> list[LawError]:
    """Return the errors of laws: of all promised transports, and of those transports and algorithms whose logs carry a larger one.

    A smaller one is not taken: where ranges of figures are wide, few times lie outside, and bands that are narrow elsewhere would stay so.
    """
    promised = [one for one in times if one.machine.promised]
    found = [_error(promised, ANY, "", share)]
    for transport in sorted({one.machine.transport for one in times}):
        mine = [one for one in promised if one.machine.transport == transport]
        if not mine:
            mine = [one for one in times if one.machine.transport == transport]
            error = _error(mine, transport, "", share)
            # what is not solved may have widened its bands so far that nothing lies outside: it is no surer than the others for that
            found.append(replace(error, times=max(error.times, found[0].times)))
            continue
        algorithms = sorted({one.point.algorithm for one in mine})
        groups = [("", mine)] + [
            (name, [one for one in mine if one.point.algorithm == name]) for name in algorithms
        ]
        for name, group in groups:
            error = _error(group, transport, name, share)
            if len(error.machines) >= MACHINES and error.sizes >= TIMES and error.times > found[0].times:
                found.append(error)
    return found


def _error(group: Sequence[LeftOut], transport: str, algorithm: str, share: float) -> LawError:
    clusters = sorted({one.machine.cluster for one in group})
    inside = 0
    for cluster in clusters:
        others = [one.misses for one in group if one.machine.cluster != cluster]
        times = quantile(others, share) if others else 1.0
        inside += sum(bool(one.misses <= times) for one in group if one.machine.cluster == cluster)
    return LawError(
        times=round(float(quantile((one.misses for one in group), share)), 3),
        transport=transport,
        algorithm=algorithm,
        sizes=len(group),
        inside=inside,
        machines=tuple(clusters),
        source=SOURCE,
    )


def written(errors: Iterable[LawError]) -> str:
    """Return the text of ``data/law_errors.toml``."""
    return _HEAD + "".join(map(_row, errors))


def _row(one: LawError) -> str:
    values = asdict(one) | {"machines": list(one.machines)}
    # JSON writes such texts, numbers and lists as TOML does
    return "\n[[law]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


# ---- coverage ----------------------------------------------------------------------------------------------------


def coverage(times: Sequence[LeftOut], share: float = SHARE) -> Iterator[Inside]:
    """Yield how many times lie inside their bands: by machine, by size and by what runs; the machine's own times never make its band."""
    inside = {id(one): held for one, held in _held(times, share)}
    promised = [one for one in times if one.machine.promised]
    groups = {
        "all machines": list(times),
        "where accuracy is promised": promised,
        **{f"promised, {name}": [one for one in promised if low <= one.point.size <= high] for name, low, high in SIZES},
        **{
            f"promised, {name}": [one for one in promised if one.point.algorithm == name]
            for name in sorted({one.point.algorithm for one in promised})
        },
        **{name: [one for one in times if one.machine.name == name] for name in dict.fromkeys(one.machine.name for one in times)},
    }  # fmt: skip
    for name, group in groups.items():
        yield Inside(
            name,
            len(group),
            sum(one.misses <= 1 for one in group),
            sum(inside[id(one)] for one in group),
            statistics.median(abs(one.point.error) for one in group),
            max((one.point.error for one in group), key=abs),
        )


def _held(times: Sequence[LeftOut], share: float) -> Iterator[tuple[LeftOut, bool]]:
    """Yield every time, and whether it lies inside a band whose error of the law comes from the other machines."""
    for cluster in {one.machine.cluster for one in times}:
        rest = law_errors_of([one for one in times if one.machine.cluster != cluster], share)
        rows = {(one.transport, one.algorithm): one.times for one in rest}
        for one in times:
            if one.machine.cluster == cluster:
                keys = ((one.machine.transport, one.point.algorithm), (one.machine.transport, ""), (ANY, ""))
                yield one, one.misses <= next(rows[key] for key in keys if key in rows)


def correlations(machines: Sequence[Unseen]) -> list[tuple[tuple[str, str], float]]:
    """Return the logs that are of one machine over two paths, and how far their errors go together: -1 to 1, about an error of 0."""
    known = {one.name: {point.size: math.log1p(point.error) for point in one.points} for one in machines}
    found = []
    for one in load_machines():
        if one.name in known and one.other_path in known:
            mine, others = known[one.name], known[one.other_path]
            both = sorted(set(mine) & set(others))
            found.append(
                (
                    (one.other_path, one.name),
                    _correlation([mine[size] for size in both], [others[size] for size in both]),
                )
            )
    return found


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    own, others, both = (
        math.fsum(a * b for a, b in zip(*pair, strict=True))
        for pair in ((one, one), (other, other), (one, other))
    )
    return both / math.sqrt(own * others)
