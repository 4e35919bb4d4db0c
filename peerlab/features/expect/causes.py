"""How much of what a log lacks each fault would explain."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from peerlab.base.units import MIB
from peerlab.diagnosis.evidence import from_lines
from peerlab.diagnosis.knowledge import knowledge
from peerlab.diagnosis.observed import Observed
from peerlab.features.expect.expectation import ExpectedSize
from peerlab.features.expect.faults import Fault, faults
from peerlab.features.expect.nics_in_use import nics_in_use
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
        one = self.expected
        names = ("floor", "low", "expected", "high", "ceiling")
        told = {name: getattr(one, name) if one else None for name in names}
        inside = one.low <= self.measured <= one.high if one else None
        return {
            "size": self.size,
            "measured": self.measured,
            **told,
            "inside": inside,
            "below": self.below,
            "disturbed": self.disturbed,
        }


@dataclass(frozen=True, kw_only=True)
class PossibleCause:
    """A fault, and how much of what is missing it explains."""

    name: str
    explains: float
    """Share of the logarithm of what is missing, over the sizes that fall short; 1 is all of it."""
    leaves: float
    """What is measured over what the fault would leave, the geometric mean."""
    decides: str
    """The one command or counter that decides."""
    said: bool
    """Whether the log's own lines say so."""


def possible_causes(asked: Scenario, rows: Sequence[JudgedSize], seen: Observed) -> Iterator[PossibleCause]:
    """Return the faults that would look like the log, the best first; what its lines or its clean sizes contradict is left out."""
    healthy = {row.size: asked.with_(message_bytes=row.size) for row in rows}
    sure, lead_of = knowledge().strengths["strong"] * 0.99, _leads(asked, seen)
    causes = []
    for fault in faults(asked, nics_in_use(seen)):
        lead = lead_of(fault)
        with_it = {size: GBps for size, scenario in healthy.items() if (GBps := fault.GBps(scenario))}
        if lead <= -sure or len(with_it) < len(rows) or (_contradicted(rows, with_it) and lead < sure):
            continue
        cause = _cause(fault, rows, with_it, said=lead >= sure)
        if cause.said or cause.explains > ALIKE:
            causes.append(cause)
    yield from sorted(causes, key=lambda cause: (-cause.said, -cause.explains))


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
        return points.get(fault.path, 0.0) - points.get(str(scenario.path), 0.0) if fault.path else 0.0

    return lead


def _cause(
    fault: Fault, rows: Sequence[JudgedSize], with_it: dict[int, float], *, said: bool
) -> PossibleCause:
    short = [(row, row.expected) for row in rows if row.below and row.expected]
    gap = sum(math.log(should.expected / row.measured) for row, should in short)
    left = [math.log(with_it[row.size] / row.measured) for row, _ in short]
    return PossibleCause(
        name=fault.name,
        explains=max(0.0, 1 - sum(map(abs, left)) / gap),
        leaves=math.exp(-sum(left) / len(left)),
        decides=fault.decides,
        said=said,
    )


def _contradicted(rows: Sequence[JudgedSize], with_it: dict[int, float]) -> bool:
    """Return whether sizes of 1 MiB and more that are clean are far faster than the fault lets them be."""
    clean = [row for row in rows if not row.below and row.size >= MIB and row.expected]
    reach = [one.expected.high / one.expected.expected for one in clean if one.expected]
    far = sum(one.measured > with_it[one.size] * times * 1.2 for one, times in zip(clean, reach, strict=True))
    return far > max(1, len(clean) // 4)
