"""The verdict on a log: whether it is well, rows beside what they should be, and the faults that would look like it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from peerlab.base.display import shown
from peerlab.base.units import say_count, say_share
from peerlab.features.expect.verdicts.causes import (
    ALIKE,
    THE_CAUSE,
    JudgedSize,
    PossibleCause,
    UnseenFault,
)
from peerlab.features.expect.verdicts.verdict_rules import BELOW, COUNTERS, ENOUGH, HEALTHY, HELD_UP

IN_PYTHON = {"with --cluster": "with the argument cluster", "with --nodes": "as nodes of peerlab.load"}
"""How the command line lets a user say what a log does not, and the same in Python."""
IN_PAGE = {
    "with --cluster": "in the list Cluster above",
    "give their number with --nodes": "paste the lines before its table, too",
}
"""The same where a page has a list of clusters."""


def in_lab(runs: int) -> Mapping[str, str]:
    """Return the same for the lab, whose list stands below the sentence of one run, and above those of several."""
    return {**IN_PAGE, "with --cluster": "in the list below" if runs == 1 else "in the list above"}


def by_options(why: str, ways: Mapping[str, str]) -> str:
    """Return why a verdict is as it is, with other ways to say what a log does not than the command line's options."""
    for option, way in ways.items():
        why = why.replace(option, way)
    return why


_IF_AGAIN = {
    HEALTHY: "Should further runs be as low,",
    HELD_UP: "If a second run has it, too, it is no disturbance, and",
}
"""Before what would look like a run whose one log is no proof of a fault."""


@dataclass(frozen=True, kw_only=True, repr=False)
class LogVerdict:
    """Whether a log is well."""

    verdict: str
    """``healthy``, ``held-up``, ``below`` or ``unknown``."""
    why: str
    """One sentence."""
    rows: tuple[JudgedSize, ...]
    causes: tuple[PossibleCause, ...]
    """Faults that would look like it, the best first; empty where nothing is missing."""
    falls_short: int = 0
    """How many sizes a fault has to explain."""
    ruled_out: tuple[str, ...] = ()
    """Faults that the log's lines or sizes contradict."""
    unseen: tuple[UnseenFault, ...] = ()
    """Of a run that is well: faults that one log cannot tell from none on its machine, such as ACS redirect where a switch is wide enough."""
    log: str
    cluster: str | None
    notes: tuple[str, ...] = ()
    between_nodes: bool = False
    """Whether the run went through the network."""
    nic_GBps: float | None = None  # noqa: N815
    """What a NIC carried at the largest size by what the library runs there, GB/s; None where that is not known."""
    may_be: tuple[str, ...] | None = None
    """Known clusters that the run may be from, where only its user can tell; None where that is not the question."""

    _repr_html_ = shown

    @property
    def likely(self) -> tuple[PossibleCause, ...]:
        """The faults that explain enough to be the cause, those alike to the best; empty where none does, or sizes are too few to tell."""
        few = self.falls_short < ENOUGH
        # A line of the log needs no curve, so few sizes are no obstacle to it.
        enough = [cause for cause in self.causes if cause.said or (cause.explains >= THE_CAUSE and not few)]
        causes = [cause for cause in enough if cause.said]
        best = max((cause.explains for cause in enough), default=0.0)
        # What the log says silences all that merely looks like it.
        return tuple(causes or [cause for cause in enough if cause.explains >= best - ALIKE])

    @property
    def because(self) -> str:
        """The cause as a sentence; empty where nothing is missing."""
        if not self.causes:
            counters = COUNTERS if self.between_nodes else ""
            return {HELD_UP: counters, BELOW: "No single fault that is simulated looks like it."}.get(
                self.verdict, ""
            )
        names = [cause.name for cause in self.likely]
        if self.verdict in _IF_AGAIN:
            return f"{_IF_AGAIN[self.verdict]} this would look like it: {'; '.join(names)}."
        if any(cause.said for cause in self.likely):
            return f"The log's own lines say it: {'; '.join(names)}."
        if len(names) == 1:
            share = say_share(self.likely[0].explains)
            return f"Of the faults that are simulated one looks like it: {names[0]} ({share} of what is missing). The command below decides."
        if names:
            return f"{say_count(len(names), 'fault')} look alike, and only a command decides: {'; '.join(names)}."
        return self._no_cause

    @property
    def _no_cause(self) -> str:
        first = self.causes[0]
        if self.falls_short < ENOUGH:
            return (
                f"A fault is a curve over sizes, and {say_count(self.falls_short, 'size')} cannot tell one from another: "
                "run the test from 8 B to 8 GiB, or try the commands below."
            )
        return f"No single fault explains it: {first.name} would explain {say_share(first.explains)} of what is missing."

    def __repr__(self) -> str:
        held = f" as {self.cluster}" if self.cluster else ""
        return f"LogVerdict({self.log:.120}{held}: {self.why:.300})"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold; bus bandwidths in GB/s."""
        return {
            "verdict": self.verdict, "why": self.why, "because": self.because, "log": self.log, "cluster": self.cluster,
            "rows": [row.as_dict() for row in self.rows], "causes": [vars(cause) for cause in self.causes],
            "likely": [cause.name for cause in self.likely], "ruled_out": list(self.ruled_out), "unseen": [vars(fault) for fault in self.unseen], "notes": list(self.notes), "nic_GBps": self.nic_GBps,
        }  # fmt: skip


class LogVerdicts(tuple[LogVerdict, ...]):
    """A `LogVerdict` for each run of a log, in their order; a notebook shows them as one report."""

    __slots__ = ()
    _repr_html_ = shown

    def __repr__(self) -> str:
        several = len(self) > 1
        return "\n".join(
            f"run {place} of {len(self)}: {verdict!r}" if several else repr(verdict)
            for place, verdict in enumerate(self, start=1)
        )

    def in_python(self) -> "LogVerdicts":
        """Return the same, where it says what to name, in the words of Python."""
        return LogVerdicts(replace(verdict, why=by_options(verdict.why, IN_PYTHON)) for verdict in self)
