"""How much of what a log lacks each fault would explain."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from peerlab.base.units import MIB
from peerlab.diagnosis.evidence import from_lines
from peerlab.diagnosis.knowledge import knowledge
from peerlab.diagnosis.observed import Observed
from peerlab.features.expect.expectation import ExpectedSize
from peerlab.features.expect.verdicts.faults import Fault, faults
from peerlab.features.expect.verdicts.nics_in_use import nics_in_use
from peerlab.question.scenario import Scenario

THE_CAUSE = 0.8
"""A fault that explains less of what is missing is never called the cause."""
ALIKE = 0.1
"""Faults that explain alike, within so much, are both said."""


@dataclass(frozen=True, kw_only=True)
class JudgedSize:
    """A size of a log; bus bandwidths in GB/s."""

    size: int
    measured: float
    """The better of the log's columns."""
    expected: ExpectedSize | None
    disturbed: bool
    """Whether the log itself shows that it was held up: beside its neighbours, or in one of its columns."""
    apart: float = 1.0
    """How many times as fast the better of the log's columns is, where the worse is below its floor."""

    @property
    def below(self) -> bool:
        """Whether it lies below its floor."""
        return (
            self.expected is not None
            and self.expected.floor is not None
            and self.measured < self.expected.floor
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        size = self.expected
        names = ("floor", "low", "expected", "high", "ceiling")
        entries = {name: getattr(size, name) if size else None for name in names}
        inside = size.low <= self.measured <= size.high if size else None
        return {
            "size": self.size,
            "measured": self.measured,
            **entries,
            "inside": inside,
            "below": self.below,
            "disturbed": self.disturbed,
        }


@dataclass(frozen=True, kw_only=True)
class PossibleCause:
    """A fault, and how much of what is missing it explains."""

    name: str
    means: str
    """How the fault comes about, or what it does."""
    explains: float
    """Share of the logarithm of what is missing, over the sizes that fall short; 1 is all of it."""
    leaves: float
    """What is measured over what the fault would leave, the geometric mean."""
    decides: str
    """The one command or counter that decides."""
    said: bool
    """Whether the log's own lines say so."""
    curve: tuple[tuple[int, float], ...]
    """What it would leave: size in bytes and GB/s, for each size of the log."""


def possible_causes(
    asked: Scenario, rows: Sequence[JudgedSize], short: Sequence[JudgedSize], observed: Observed
) -> tuple[tuple[PossibleCause, ...], tuple[str, ...]]:
    """Return the faults that would look like the log, the best first, and the names of those that the log rules out.

    `short`: the sizes that a fault would have to explain. What the log's lines or its clean sizes contradict is ruled out.
    """
    healthy = {row.size: asked.with_(message_bytes=row.size) for row in rows}
    # What is well must be so with the fault, too: a fault that would slow it down cannot be there.
    clean = [row for row in rows if row not in short and not row.below]
    # Weights are sums of floats: a hundredth less is still a line that says it outright.
    sure, lead_of = knowledge().strengths["strong"] * 0.99, _leads(asked, observed)
    causes, ruled_out = [], []
    for fault in faults(asked, nics_in_use(observed)):
        lead = lead_of(fault)
        # A fault of which one size cannot be simulated is left out whole: its curve would have a gap.
        with_it = {size: GBps for size, scenario in healthy.items() if (GBps := fault.GBps(scenario))}
        if len(with_it) < len(rows):  # this machine cannot have it
            continue
        cause = _cause(fault, short, with_it, log_says=lead >= sure)
        if fault.setting and cause.explains < THE_CAUSE:  # it may be set, and cost little here
            cause = replace(cause, said=False)
        # A log's own line outweighs any curve, both ways.
        if cause.said or (lead > -sure and cause.explains > ALIKE and not _contradicted(clean, with_it)):
            causes.append(cause)
        else:
            ruled_out.append(fault.name)
    return tuple(sorted(causes, key=lambda cause: (-cause.said, -cause.explains))), tuple(
        dict.fromkeys(ruled_out)
    )


@dataclass(frozen=True, kw_only=True)
class UnseenFault:
    """A fault of the machine that costs so little there that one log cannot tell it from none."""

    name: str
    decides: str
    """The one command or counter that decides."""
    GBps: float
    """What it would leave at the largest size, GB/s."""
    floor: float
    """The floor at the largest size, GB/s."""
    said: bool
    """Whether the log's own lines say so."""


def unseen_faults(asked: Scenario, row: JudgedSize, observed: Observed) -> Iterator[UnseenFault]:
    """Yield the faults of a machine with which a well run's largest size, where NICs and PCIe count most, would still lie above its floor."""
    floor = row.expected.floor if row.expected else None
    sure, lead_of = knowledge().strengths["strong"] * 0.99, _leads(asked, observed)
    for fault in faults(asked, nics_in_use(observed)):
        lead = lead_of(fault)
        if floor is None or fault.setting or lead <= -sure:
            continue
        GBps = fault.GBps(asked.with_(message_bytes=row.size))  # noqa: N806
        if GBps and GBps >= floor:
            yield UnseenFault(
                name=fault.name, decides=fault.decides, GBps=GBps, floor=floor, said=lead >= sure
            )


def _leads(scenario: Scenario, observed: Observed) -> Callable[[Fault], float]:
    """Return what says by how much the log's own lines speak for a fault; below zero they speak against it."""
    strong, in_use = knowledge().strengths["strong"], nics_in_use(observed)
    points: dict[str, float] = {}
    for evidence in from_lines(observed, knowledge()):
        for path, weight in evidence.points.items():
            points[path] = points.get(path, 0.0) + weight

    def lead(fault: Fault) -> float:
        if fault.nics and in_use:
            return strong if fault.nics == in_use else -strong
        if fault.setting:
            return (
                strong
                if any(re.fullmatch(fault.setting, line, re.IGNORECASE) for line in observed.said)
                else 0.0
            )
        return points.get(fault.path, 0.0) - points.get(str(scenario.path), 0.0) if fault.path else 0.0

    return lead


def _cause(
    fault: Fault, short: Sequence[JudgedSize], with_it: dict[int, float], *, log_says: bool
) -> PossibleCause:
    # Logarithms, as a fault is a factor: half at one size counts as half at another.
    gap = sum(math.log(row.expected.expected / row.measured) for row in short if row.expected)
    left = [math.log(with_it[row.size] / row.measured) for row in short]
    return PossibleCause(
        name=fault.name,
        means=fault.means,
        # What a fault overshoots counts against it as what it leaves: a fault that is too slow explains
        # nothing.
        explains=max(0.0, 1 - sum(map(abs, left)) / gap),
        leaves=math.exp(-sum(left) / len(left)),
        decides=fault.decides,
        said=log_says,
        curve=tuple(sorted(with_it.items())),
    )


def _contradicted(rows: Sequence[JudgedSize], with_it: dict[int, float]) -> bool:
    """Return whether clean sizes of 1 MiB and more are far faster than the fault lets them be."""
    clean = [row for row in rows if row.size >= MIB and row.expected]
    reach = [
        judged_size.expected.high / judged_size.expected.expected
        for judged_size in clean
        if judged_size.expected
    ]
    # Out of reach is what lies above the fault as far as the band above its middle, and a fifth more.
    far = sum(
        judged_size.measured > with_it[judged_size.size] * times * 1.2
        for judged_size, times in zip(clean, reach, strict=True)
    )
    # One size may be an outlier, of long logs a quarter.
    return far > max(1, len(clean) // 4)
