"""Several jobs on one fabric: each alone and together, who pays most, and whose fault that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from peerlab.base.display import shown
from peerlab.base.errors import ScenarioError, nearest
from peerlab.base.units import PS_PER_S, say_share
from peerlab.question.presets import load_cluster
from peerlab.question.size_list import size_at_most
from peerlab.study.jobs_as_cells import CellRun, CellWorld
from peerlab.study.jobs_in_the_way import Held, held, held_in_ports
from peerlab.study.port_figures import port_fabrics
from peerlab.study.port_question import PortQuestion
from peerlab.study.shared_jobs import NAMED, JobsTrace, LeafFabric, Link, SharedJob, run_jobs

_MS = 1000
_ALIKE = Fraction(1, 20)
"""Share by which slow-downs may differ that are called the same, where jobs are cells: their phases are nobody's fault."""
MOST_LANES = 4


@dataclass(frozen=True, eq=False)
class SharedFabric:
    """What several jobs do to each other; times are seconds, as exact fractions."""

    fabric: LeafFabric
    times: JobsTrace
    """When collectives began and ended; `trace` has transfers and links, too."""
    alone: tuple[Fraction, ...]
    """How long one collective of each job takes alone."""
    cells: CellRun | None = None
    """Its cells; None: rates are max-min fair."""

    @cached_property
    def trace(self) -> JobsTrace:
        """All that jobs did; of cells it is made when it is asked for."""
        return self.cells.trace if self.cells else self.times

    def slowdowns(self, job: int) -> list[Fraction]:
        """Return how many times as long as alone each collective of a job takes."""
        return [time / self.alone[job] for time in self.times.lasts(job)]

    @cached_property
    def lost(self) -> tuple[Fraction, ...]:
        """How many times as long as alone each job's collectives take, in the mean; 1 where none has ended."""
        slowdowns = [self.slowdowns(job) for job in range(len(self.times.jobs))]
        return tuple(sum(job, Fraction(0)) / len(job) if job else Fraction(1) for job in slowdowns)

    @property
    def unended(self) -> tuple[int, ...]:
        """The jobs of which no collective ended before the scene was cut: by how much they are slowed down isn't known."""
        return tuple(job for job in range(len(self.times.jobs)) if not self.times.lasts(job))

    @property
    def victim(self) -> int | None:
        """The job that is slowed down most; None where none is, all are alike, or one isn't known."""
        if self.unended:
            return None
        most = max(self.lost)
        # where all pay alike nobody is another's victim
        return self.lost.index(most) if most > 1 and most - min(self.lost) > self._alike * most else None

    @property
    def _alike(self) -> Fraction:
        """The share by which slow-downs may differ that are called the same; max-min rates are exact."""
        return _ALIKE if self.cells else Fraction(0)

    @cached_property
    def culprit(self) -> int | None:
        """The job without which the victim wins four fifths or more of what it lost; None: no single one."""
        victim = self.victim
        if victim is None:
            return None
        gains = {}
        for other in range(len(self.times.jobs)):
            if other != victim:
                rest = {number: job for number, job in enumerate(self.times.jobs) if number != other}
                # a job that is taken out before the victim moves its number by one
                trace = (
                    self.cells.world.run(rest).times
                    if self.cells
                    else run_jobs(list(rest.values()), self.fabric)
                )
                mine = trace.lasts(victim - (other < victim))
                gains[other] = self.lost[victim] - sum(mine, Fraction(0)) / len(mine) / self.alone[victim]
        best = max(gains, key=lambda job: gains[job])
        return best if gains[best] >= NAMED * (self.lost[victim] - 1) else None

    @cached_property
    def in_the_way(self) -> tuple[tuple[Held, ...], ...]:
        """For each job when others stood in its way."""
        if self.cells:
            return held_in_ports(self.cells.waited(), len(self.times.jobs))
        return held(self.trace, self.fabric)

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
            return self._alike_words()
        return f"Job {victim} pays most: its collectives take {float(self.lost[victim]):.3g} times as long as alone; {self._explained}."

    @property
    def _explained(self) -> str:
        """Who else explains what the victim pays, as a sentence without its beginning and its end."""
        if self.culprit is None:
            return "no single other job explains it"
        return f"without job {self.culprit} at least four fifths of that delay would go"

    @property
    def note(self) -> str:
        """The finding beside its figure: what it says besides, of jobs that all pay alike nothing."""
        if self.victim is None:
            return "" if not self.unended and max(self.lost) - 1 > self._alike else self.finding
        return f"{self._explained[:1].upper()}{self._explained[1:]}."

    def _alike_words(self) -> str:
        """Return that nobody is another's victim, in a sentence."""
        most = float(max(self.lost))
        if most == 1:
            return "Nobody is slowed down."
        if most - 1 <= self._alike:
            return f"Nobody is slowed down by more than {say_share(most - 1)}."
        return f"All jobs are slowed down alike, {most:.3g} times."

    def as_dict(self) -> dict[str, object]:
        """Return the figures, seconds in their names."""
        jobs = [
            {
                "hosts": list(job.hosts),
                "alone_s": float(self.alone[number]),
                "collectives_s": list(map(float, self.times.lasts(number))),
                "slowdown": None if number in self.unended else float(self.lost[number]),
                "periods_s": list(map(float, self.times.periods(number))),
                "offsets_s": list(map(float, self.times.offsets(number))),
            }
            for number, job in enumerate(self.times.jobs)
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
            **({"ports": self._ports()} if self.cells else {}),
        }

    def _ports(self) -> dict[str, object]:
        """Return what the ports did; shares of neighbours mean nothing here."""
        figures = self.cells.answer.as_dict() if self.cells else {}
        return {name: figures[name] for name in ("fabric", *_OF_PORTS)}

    _repr_html_ = shown

    def __repr__(self) -> str:
        times = ", ".join(
            "?" if job in self.unended else f"{float(lost):.3g}" for job, lost in enumerate(self.lost)
        )
        return f"SharedFabric({len(self.times.jobs)} jobs: {times} times as long as alone)"


def shared_fabric(
    jobs: Sequence[Mapping[str, Any]],
    *,
    cluster: str = "ideal-100g",
    message_bytes: int | str = "64 MiB",
    leaf: int = 4,
    uplink: float | str = 1,
    until_ms: float | str | None = None,
    fabric: str | None = None,
    engine: str = "loop",
    **fields: Any,
) -> SharedFabric:
    """Let several jobs share leaves and uplinks; return each alone and together.

    Parameters
    ----------
    jobs:
        Of each ``hosts`` in the order of its ring, and if wanted ``offset_ms``, ``compute_ms`` (between collectives), ``repeats``,
        ``flows`` (a share for each), ``weight``, and a ``message_bytes`` of its own; on a fabric with queues its ``lane``, and no weight.
    cluster:
        Whose NIC rate a host has. Latency is left out of max-min rates.
    leaf:
        Hosts below a leaf.
    uplink:
        Rate of all uplinks of a leaf together, in rates of a host.
    until_ms:
        When it is cut; None: when all is done.
    fabric:
        ``infiniband``, ``roce-pfc``, ``roce-lossy`` or ``roce-dcqcn``: jobs are cells in ports, which join two leaves and hang more below spines (``trunks``, 1 by default). None: rates are max-min fair.
    engine:
        Of cells: ``loop``, or ``referee``, which is slower and gives the same.
    **fields:
        Of cells: fields of `PortQuestion` such as ``start="fair"``, ``loss=1e-3``, ``figures={"xon": 40000}``.

    Raises
    ------
    ScenarioError
        If jobs share hosts, or are too many; if cells of theirs are not simulated.

    >>> shared = shared_fabric([{"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}])
    >>> [str(ratio) for ratio in shared.lost], shared.victim, shared.culprit
    (['3/2', '3'], 1, 0)
    """
    rate = load_cluster(cluster).nic_Bps
    if not rate:
        raise ScenarioError("cluster", f"{cluster} has no rate of a NIC")
    leaves = LeafFabric(leaf, exact("uplink", uplink))
    if not isinstance(jobs, Sequence):
        raise ScenarioError("jobs", f"give a list of jobs, such as [{{'hosts': [0, 1]}}], not {jobs!r:.60}")
    made = [_job(job, rate, message_bytes) for job in jobs]
    until = None if until_ms is None else exact("until_ms", until_ms) / _MS
    # without offset, pauses and weight, which change nothing for a job alone
    singles = [SharedJob(hosts=job.hosts, work=job.work, flows=job.flows, lane=job.lane) for job in made]
    if fabric is None:
        _without_queues(made, engine, fields)
        alone = tuple(run_jobs([job], leaves).lasts(0)[0] for job in singles)
        return SharedFabric(leaves, run_jobs(made, leaves, until), alone)
    world = CellWorld(_question_of_cells(cluster, fabric, fields), leaves, tuple(made), engine)
    run = world.run(dict(enumerate(made)), until)
    times = list[Fraction]()
    for number, job in enumerate(singles):
        time = world.alone(number, job)
        if time is None:
            raise ScenarioError(
                "fabric",
                f"job {number} does not end alone on {fabric}: its own flows lose each other's packets",
            )
        times.append(time)
    return SharedFabric(leaves, run.times, tuple(times), run)


def _without_queues(jobs: Sequence[SharedJob], engine: str, fields: Mapping[str, Any]) -> None:
    """Refuse what only fabrics with queues have."""
    unused = [
        *fields,
        *(["engine"] if engine != "loop" else []),
        *(["lane"] if any(job.lane for job in jobs) else []),
    ]
    if unused:
        raise ScenarioError(
            unused[0], f"max-min rates know no {unused[0]}; give a fabric: {', '.join(port_fabrics())}"
        )


def _question_of_cells(cluster: str, fabric: str, fields: Mapping[str, Any]) -> PortQuestion:
    for name in fields:
        if name not in _OF_CELLS:
            raise ScenarioError(name, f"jobs as cells have no such field; {nearest(name, _OF_CELLS)}")
    return PortQuestion(cluster=cluster, fabric=fabric, **fields)


_OF_CELLS = ("figures", "trunks", "spread", "loss", "loss_seed", "recovery", "start", "cell", "seed")
_OF_PORTS = ("sent_twice_bytes", "paused_s", "waits_for_credits_s", "packets", "cells")
_FIELDS = ("hosts", "offset_ms", "compute_ms", "repeats", "flows", "weight", "message_bytes", "lane")


def _job(given: Mapping[str, Any], rate: int, nbytes: int | str) -> SharedJob:
    if not isinstance(given, Mapping):
        raise ScenarioError("jobs", f"a job is its fields, such as {{'hosts': [0, 1]}}, not {given!r:.60}")
    for name in given:
        if name not in _FIELDS:
            raise ScenarioError("jobs", f"a job has no {name!r}; {nearest(name, _FIELDS)}")
    hosts = tuple(given.get("hosts", ()))
    if not all(type(host) is int for host in hosts):
        raise ScenarioError("hosts", f"{hosts!r} are not numbers of hosts")
    size = size_at_most("message_bytes", given.get("message_bytes", nbytes))
    counts = {name: given.get(name, 1) for name in ("repeats", "flows")}
    for name, count in counts.items():
        if type(count) is not int or not 1 <= count <= 1000:
            raise ScenarioError(name, f"{count!r} is not a number from 1 to 1000")
    lane = given.get("lane", 0)
    if type(lane) is not int or not 0 <= lane < MOST_LANES:
        raise ScenarioError("lane", f"{lane!r} is not a number from 0 to {MOST_LANES - 1}")
    return SharedJob(
        # a ring sends an N-th of its bytes at a time; a job without hosts is refused later, in words
        hosts=hosts, work=Fraction(size, max(1, len(hosts)) * rate), weight=exact("weight", given.get("weight", 1)),
        offset=exact("offset_ms", given.get("offset_ms", 0)) / _MS, compute=exact("compute_ms", given.get("compute_ms", 0)) / _MS, lane=lane, **counts,
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
