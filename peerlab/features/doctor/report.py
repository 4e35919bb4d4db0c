"""All checks on one host, and what follows from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import groupby
from typing import Any

from peerlab.base.display import shown
from peerlab.base.errors import DoctorError, nearest
from peerlab.base.units import say_count
from peerlab.features.doctor.check import FAIL, UNKNOWN, WARN, Check, Finding
from peerlab.features.doctor.checks import (
    devices,
    environment,
    libraries,
    measuring_conditions,
    memory,
    network,
    pcie,
)
from peerlab.features.doctor.host import Host

# Checks of one group stand side by side: the text and the page group neighbours.
CHECKS: tuple[Check, ...] = (
    *devices.CHECKS,
    *memory.CHECKS,
    *pcie.CHECKS,
    *network.CHECKS,
    *libraries.CHECKS,
    *environment.CHECKS,
    *measuring_conditions.CHECKS,
)
"""Every check, in the order in which they are made."""

YES, NO, CANNOT_TELL = "yes", "no", "cannot tell"


@dataclass(frozen=True)
class Report:
    """What the checks found, and whether this host can do peer direct."""

    findings: tuple[Finding, ...]
    """One per check that was made."""
    left_out: tuple[str, ...] = ()
    """Ids of the checks that could decide the question and were not made."""

    @property
    def failed(self) -> tuple[Finding, ...]:
        """Findings that block peer direct."""
        return tuple(finding for finding in self.findings if finding.status == FAIL)

    @property
    def verdict(self) -> str:
        """``no`` if a check fails; ``cannot tell`` if one that could fail is unknown or was left out; else ``yes``."""
        if self.failed:
            return NO
        # An unknown weighs less than a fail, and more than any number of passes.
        return CANNOT_TELL if self._open or self.left_out else YES

    @property
    def because(self) -> tuple[str, ...]:
        """The reasons, as the checks read them; for ``yes`` what still makes it slower."""
        return (*(finding.found for finding in self._deciding), *self._not_made)

    @property
    def says(self) -> str:
        """The verdict in a sentence."""
        reasons = "; ".join((*(finding.cause for finding in self._deciding), *self._not_made))
        if self.verdict == YES:
            slower = f", but look at this: {reasons}" if reasons else ""
            return f"Yes: nothing that was read stands against it{slower}."
        return f"{self.verdict.capitalize()}: {reasons}."

    @property
    def _open(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.status == UNKNOWN and finding.blocks)

    @property
    def _deciding(self) -> tuple[Finding, ...]:
        if self.verdict == NO:
            return self.failed
        if self.verdict == CANNOT_TELL:
            return self._open
        return tuple(
            finding
            for finding in self.findings
            # What can be measured here says nothing of peer direct, so it makes no answer weaker.
            if finding.status == WARN and finding.check.group != measuring_conditions.GROUP
        )

    @property
    def _not_made(self) -> tuple[str, ...]:
        open_ = self.verdict == CANNOT_TELL and self.left_out
        return (f"{say_count(len(self.left_out), 'check')} left out",) if open_ else ()

    @property
    def groups(self) -> tuple[tuple[str, tuple[Finding, ...]], ...]:
        """What was found by what it is about; within that, what weighs most on the answer first."""
        parts = groupby(self.findings, key=lambda finding: finding.check.group)
        return tuple((group, tuple(sorted(findings, key=_rank))) for group, findings in parts)

    _repr_html_ = shown

    def __repr__(self) -> str:
        return f"Report({self.says})"

    def as_dict(self) -> dict[str, Any]:
        """Return everything that it says, as JSON values."""
        return {
            "peer_direct": self.verdict,
            "because": list(self.because),
            "checks": [finding.as_dict() for finding in self.findings],
            "left_out": list(self.left_out),
        }


def _rank(finding: Finding) -> int:
    """Return the place of a finding among those of its group: what blocks, what may, what slows, the rest."""
    weighed = (
        finding.status == FAIL,
        finding.status == UNKNOWN and finding.blocks,
        finding.status == WARN,
        finding.status == UNKNOWN,
    )
    return next((place for place, holds in enumerate(weighed) if holds), len(weighed))


def examine(host: Host | None = None, only: str | Sequence[str] = ()) -> Report:
    """Examine a host, by default the one this runs on; change nothing.

    Parameters
    ----------
    host:
        The host; files, environment, limits and commands can be another's.
    only:
        Ids of checks, parts of them or patterns with ``*`` and ``?``; all checks if it is empty.

    Raises
    ------
    DoctorError
        If no check matches one of `only`.
    """
    if not isinstance(host, Host | None):
        raise DoctorError(f"host: give a Host, or nothing for this one, not {host!r:.60}")
    host = host or Host()
    if not isinstance(only, Iterable):
        raise DoctorError(f"only: give a part of a check's name, or a list of them, not {only!r:.60}")
    chosen = _chosen([only] if isinstance(only, str) else only)
    # Only those that could have failed: a warning that is left out leaves no doubt.
    left_out = tuple(check.id for check in CHECKS if check.blocks and check not in chosen)
    return Report(tuple(check.examine(host) for check in chosen), left_out)


def _chosen(patterns: Iterable[str]) -> Sequence[Check]:
    wanted: set[str] = set()
    for pattern in patterns:
        ids = {check.id for check in CHECKS if pattern in check.id or fnmatch(check.id, pattern)}
        if not ids:
            raise DoctorError(
                f"only: no check matches {pattern!r}; {nearest(pattern, [check.id for check in CHECKS])}"
            )
        wanted |= ids
    return [check for check in CHECKS if check.id in wanted] if wanted else CHECKS
