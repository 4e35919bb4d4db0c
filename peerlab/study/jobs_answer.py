"""Several jobs on one fabric: each alone and together, who pays most, and whose fault that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from peerlab.base.display import shown
from peerlab.base.errors import ScenarioError, nearest
from peerlab.base.units import PS_PER_S, parse_bytes
from peerlab.question.presets import load_cluster
from peerlab.study.shared_jobs import NAMED, JobsTrace, LeafFabric, Link, SharedJob, run_jobs

_MS = 1000


@dataclass(frozen=True, eq=False)
class SharedFabric:
    """What several jobs do to each other; times are seconds, as exact fractions."""

    fabric: LeafFabric
    trace: JobsTrace
    alone: tuple[Fraction, ...]
    """How long one collective of each job takes alone."""

    def slowdowns(self, job: int) -> list[Fraction]:
        """Return how many times as long as alone each collective of a job takes."""
        return [time / self.alone[job] for time in self.trace.lasts(job)]

    @cached_property
    def lost(self) -> tuple[Fraction, ...]:
        """How many times as long as alone each job's collectives take, in the mean; 1 where none has ended."""
        slowdowns = [self.slowdowns(job) for job in range(len(self.trace.jobs))]
        return tuple(sum(job, Fraction(0)) / len(job) if job else Fraction(1) for job in slowdowns)

    @property
    def unended(self) -> tuple[int, ...]:
        """The jobs of which no collective ended before the scene was cut: by how much they are slowed down isn't known."""
        return tuple(job for job in range(len(self.trace.jobs)) if not self.trace.lasts(job))

    @property
    def victim(self) -> int | None:
        """The job that is slowed down most; None where none is, all are alike, or one isn't known."""
        if self.unended:
            return None
        most = max(self.lost)
        # where all pay alike nobody is another's victim
        return self.lost.index(most) if most > 1 and min(self.lost) < most else None

    @cached_property
    def culprit(self) -> int | None:
        """The job without which the victim wins four fifths or more of what it lost; None: no single one."""
        victim = self.victim
        if victim is None:
            return None
        gains = {}
        for other in range(len(self.trace.jobs)):
            if other != victim:
                rest = [job for number, job in enumerate(self.trace.jobs) if number != other]
                # a job that is taken out before the victim moves its number by one
                mine = run_jobs(rest, self.fabric).lasts(victim - (other < victim))
                gains[other] = self.lost[victim] - sum(mine, Fraction(0)) / len(mine) / self.alone[victim]
        best = max(gains, key=lambda job: gains[job])
        return best if gains[best] >= NAMED * (self.lost[victim] - 1) else None

    @property
    def links(self) -> list[Link]:
        """The uplinks that somebody used."""
        return sorted({use.link for use in self.trace.uses})

    @property
    def finding(self) -> str:
        """Who pays, in a sentence."""
        victim = self.victim
        if self.unended:
            jobs = " and ".join(f"job {job}" for job in self.unended)
            return f"The scene was cut before a collective of {jobs} ended: who is slowed down is not known."
        if victim is None:
            times = f"{float(self.lost[0]):.3g} times"
            return (
                "Nobody is slowed down."
                if max(self.lost) == 1
                else f"All jobs are slowed down alike, {times}."
            )
        named = (
            f"without job {self.culprit} it would win four fifths of that back or more"
            if self.culprit is not None
            else "no single other job explains it"
        )
        return f"Job {victim} pays most: its collectives take {float(self.lost[victim]):.3g} times as long as alone; {named}."

    def as_dict(self) -> dict[str, object]:
        """Return the figures, seconds in their names."""
        jobs = [
            {
                "hosts": list(job.hosts),
                "alone_s": float(self.alone[number]),
                "collectives_s": list(map(float, self.trace.lasts(number))),
                "slowdown": None if number in self.unended else float(self.lost[number]),
                "periods_s": list(map(float, self.trace.periods(number))),
                "offsets_s": list(map(float, self.trace.offsets(number))),
            }
            for number, job in enumerate(self.trace.jobs)
        ]
        links = [
            {"link": f"{name} {leaf}", "shared_s": float(sum((end - start for start, end in self.trace.shared((name, leaf))), Fraction(0)))}
            for name, leaf in self.links
        ]  # fmt: skip
        return {
            "jobs": jobs,
            "links": links,
            "victim": self.victim,
            "culprit": self.culprit,
            "finding": self.finding,
        }

    _repr_html_ = shown

    def __repr__(self) -> str:
        times = ", ".join(
            "?" if job in self.unended else f"{float(lost):.3g}" for job, lost in enumerate(self.lost)
        )
        return f"SharedFabric({len(self.trace.jobs)} jobs: {times} times as long as alone)"


def shared_fabric(
    jobs: Sequence[Mapping[str, Any]],
    *,
    cluster: str = "ideal-100g",
    message_bytes: int | str = "64 MiB",
    leaf: int = 4,
    uplink: float | str = 1,
    until_ms: float | str | None = None,
) -> SharedFabric:
    """Let several jobs share leaves and uplinks; return each alone and together.

    Parameters
    ----------
    jobs:
        Of each ``hosts`` in the order of its ring, and if wanted ``offset_ms``, ``compute_ms`` (between collectives), ``repeats``,
        ``flows`` (a share for each), ``weight``, and a ``message_bytes`` of its own.
    cluster:
        Whose NIC rate a host has. Latency is left out.
    leaf:
        Hosts below a leaf.
    uplink:
        Rate of all uplinks of a leaf together, in rates of a host.
    until_ms:
        When it is cut; None: when all is done.

    Raises
    ------
    ScenarioError
        If jobs share hosts, or are too many.

    >>> shared = shared_fabric([{"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}])
    >>> [str(ratio) for ratio in shared.lost], shared.victim, shared.culprit
    (['3/2', '3'], 1, 0)
    """
    rate = load_cluster(cluster).nic_Bps
    if not rate:
        raise ScenarioError("cluster", f"{cluster} has no rate of a NIC")
    fabric = LeafFabric(leaf, exact("uplink", uplink))
    made = [_job(job, rate, message_bytes) for job in jobs]
    until = None if until_ms is None else exact("until_ms", until_ms) / _MS
    trace = run_jobs(made, fabric, until)
    alone = tuple(
        # without offset, pauses and weight, which change nothing for a job alone
        run_jobs([SharedJob(hosts=job.hosts, work=job.work, flows=job.flows)], fabric).lasts(0)[0]
        for job in made
    )
    return SharedFabric(fabric, trace, alone)


_FIELDS = ("hosts", "offset_ms", "compute_ms", "repeats", "flows", "weight", "message_bytes")


def _job(given: Mapping[str, Any], rate: int, nbytes: int | str) -> SharedJob:
    for name in given:
        if name not in _FIELDS:
            raise ScenarioError("jobs", f"a job has no {name!r}; {nearest(name, _FIELDS)}")
    hosts = tuple(given.get("hosts", ()))
    if not all(type(host) is int for host in hosts):
        raise ScenarioError("hosts", f"{hosts!r} are not numbers of hosts")
    try:
        size = parse_bytes(given.get("message_bytes", nbytes))
    except ValueError as problem:
        raise ScenarioError("message_bytes", str(problem)) from None
    counts = {name: given.get(name, 1) for name in ("repeats", "flows")}
    for name, count in counts.items():
        if type(count) is not int or not 1 <= count <= 1000:
            raise ScenarioError(name, f"{count!r} is not a number from 1 to 1000")
    return SharedJob(
        # a ring sends an N-th of its bytes at a time; a job without hosts is refused later, in words
        hosts=hosts, work=Fraction(size, max(1, len(hosts)) * rate), weight=exact("weight", given.get("weight", 1)),
        offset=exact("offset_ms", given.get("offset_ms", 0)) / _MS, compute=exact("compute_ms", given.get("compute_ms", 0)) / _MS, **counts,
    )  # fmt: skip


def exact(name: str, value: float | str | Fraction) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth.

    Raises
    ------
    ScenarioError
        If it is none, or out of range.
    """
    try:
        # as text: the float 0.1 is a little more than a tenth, and two jobs would slide apart by it
        number = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise ScenarioError(name, f"{value!r} is not a number") from None
    if not 0 <= number <= 10**9 or number.denominator > PS_PER_S:
        raise ScenarioError(name, f"{value!r} is out of range; give 0 to 10^9, to 12 digits")
    return number
