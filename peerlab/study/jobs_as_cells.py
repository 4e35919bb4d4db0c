"""Several jobs as cells in ports: the scene that they are, and what of it is said of jobs at max-min rates, too.

Every job is a blocking ring, or one for each of its flows, as channels of a library are: each moves its part of the bytes, and all wait for each
other at the end of a collective. Of two leaves the trunk is what leaves one and enters the other; more than two hang below spines.
"""

# The result is the same `JobsTrace` as of max-min rates, so that table, picture, page and video have one source. Rates of jobs on a
# trunk are means of windows there: at one moment a port sends one cell, of one job.

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from peerlab.base.errors import ScenarioError
from peerlab.base.units import PS_PER_S
from peerlab.engine.ports.port_scene import PortFlow, PortScene
from peerlab.engine.ports.port_trace import CellSpan, PortTrace
from peerlab.engine.ports.simulate_ports import simulate_ports
from peerlab.study.port_answer import PortAnswer
from peerlab.study.port_question import LONGEST_MS, PATIENCE, PortQuestion
from peerlab.study.shared_jobs import (
    JobsTrace,
    JobTransfer,
    LeafFabric,
    Link,
    LinkUse,
    SharedJob,
    check_jobs,
)

_WINDOWS, _CELLS = 400, 8
"""Rates on a trunk are means of a 400th of the scene, or of as long as eight cells last."""


@dataclass(frozen=True, eq=False)
class CellWorld:
    """Where jobs are simulated cell by cell: the fabric and its figures, and an engine."""

    question: PortQuestion
    """Its hosts and neighbours are not asked: the jobs say them."""
    fabric: LeafFabric
    jobs: tuple[SharedJob, ...]
    """All of them. A job that is simulated without others has the leaves, spines and draws that it has beside them."""
    engine: str = "loop"

    def run(self, some: Mapping[int, SharedJob], until: Fraction | None = None) -> "CellRun":
        """Simulate some of the jobs together, by their numbers; each may be another that has the same hosts and flows.

        Raises
        ------
        PeerlabError
            If they cannot be simulated.
        """
        question, scene = self._scene(some, until)
        return CellRun(
            self, tuple(some.values()), PortAnswer(question, simulate_ports(scene, self.engine), 0)
        )

    def alone(self, number: int, job: SharedJob) -> Fraction | None:
        """Return how long the first collective of a job takes that begins at once and has nobody beside it; None if it does not end.

        Raises
        ------
        PeerlabError
            If it cannot be simulated.
        """
        until = Fraction(self._until_ms((job,), None)) / 1000
        # what comes after the first collective does not change it, and is not simulated
        _, scene = self._scene({number: replace(job, repeats=1)}, until)
        end_ps = _alone_ps(scene, self.engine)
        return None if end_ps is None else _moment(end_ps)

    def _scene(self, some: Mapping[int, SharedJob], until: Fraction | None) -> tuple[PortQuestion, PortScene]:
        """Return what is asked of the ports, and the scene that it is."""
        jobs = tuple(some.values())
        check_jobs(jobs, self.fabric)
        for number, job in some.items():
            if job.weight != 1:
                raise ScenarioError(
                    "weight", f"job {number} has a weight; ports know none: leave it out, or the fabric"
                )
        # a host that no job has may lie between two, but not after the last one
        leaves = tuple(
            host // self.fabric.leaf
            for host in range(1 + max(host for job in self.jobs for host in job.hosts))
        )
        question = replace(
            self.question, vls=1 + max(job.lane for job in jobs), until_ms=self._until_ms(jobs, until)
        )
        question.check()
        flows: list[PortFlow] = []
        for place, (number, job) in enumerate(some.items()):
            flows += self._flows(place, job, len(flows), self._draws(number))
        return question, question.scene_of(leaves, tuple(flows), question.trunks, float(self.fabric.uplink))

    def _draws(self, number: int) -> int:
        """Return the number of a job's first flow where all jobs are simulated together."""
        return sum(len(job.hosts) * job.flows for job in self.jobs[:number])

    def _flows(self, number: int, job: SharedJob, first: int, draws: int) -> Iterator[PortFlow]:
        """Yield the flows of a job; its first one is `first` in the scene, and drawn by `draws`."""
        rate, _ = self.question.line()
        nodes, nbytes = len(job.hosts), -(-job.work * rate // job.flows)
        for flow in range(job.flows):
            for place, host in enumerate(job.hosts):
                yield PortFlow(
                    src=host, dst=job.hosts[(place + 1) % nodes], nbytes=int(nbytes), messages=job.steps * job.repeats, vl=job.lane,
                    start_ps=round(job.offset * PS_PER_S), after=first + flow * nodes + (place - 1) % nodes, job=str(number),
                    collective=job.steps, compute_ps=_compute_ps(job), drawn_by=draws + flow * nodes + place,
                )  # fmt: skip

    def _until_ms(self, jobs: Sequence[SharedJob], until: Fraction | None) -> float:
        """Return when the scene is cut: what takes far longer than all jobs one after the other is not waited for."""
        if until is None:
            latency = Fraction(self.question.line()[1], PS_PER_S)
            until = max(job.offset for job in jobs)
            for job in jobs:
                slowest = job.work * max(Fraction(1), len(job.hosts) / self.fabric.uplink)
                until += PATIENCE * job.repeats * (job.steps * (slowest + latency) + job.compute)
            # what takes longer is refused for its number of events, not for a time that nobody gave
            until = min(until, Fraction(LONGEST_MS, 1000))
        return float(until * 1000)


@dataclass(frozen=True, eq=False)
class CellRun:
    """Jobs that were simulated as cells."""

    world: CellWorld
    jobs: tuple[SharedJob, ...]
    answer: PortAnswer
    """What the ports did."""

    @property
    def ports(self) -> PortTrace:
        """All cells."""
        return self.answer.trace

    @cached_property
    def times(self) -> JobsTrace:
        """When collectives began and ended, without transfers and links."""
        ends = tuple(self._ends(number) for number in range(len(self.jobs)))
        begins = tuple(self._begins(job, ends[number]) for number, job in enumerate(self.jobs))
        return JobsTrace(self.jobs, (), (), begins, ends)

    @cached_property
    def trace(self) -> JobsTrace:
        """What is said of jobs at max-min rates, too."""
        return replace(self.times, transfers=tuple(sorted(self._transfers())), uses=tuple(self._uses()))

    def _ends(self, number: int) -> tuple[Fraction, ...]:
        """Return when collectives of a job ended: with the last of their flows."""
        job, flows = self.jobs[number], self.ports.scene.flows
        last: dict[int, list[int]] = {}
        for end in self.ports.messages:
            if flows[end.flow].job == str(number) and (end.message + 1) % job.steps == 0:
                last.setdefault(end.message // job.steps, []).append(end.at_ps)
        whole = [max(last[k]) for k in range(len(last)) if len(last[k]) == len(job.hosts) * job.flows]
        return tuple(_moment(at) for at in whole)

    def _begins(self, job: SharedJob, ends: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        computed = _moment(_compute_ps(job))
        begins = [_moment(round(job.offset * PS_PER_S)), *(end + computed for end in ends[: job.repeats - 1])]
        return tuple(begin for begin in begins if begin < _moment(self.ports.time_ps))

    def _transfers(self) -> Iterator[JobTransfer]:
        scene = self.ports.scene
        starts: dict[tuple[int, int], int] = {}
        for cell in self.ports.cells:
            # links up from hosts come first, in a cell's time its message's first one
            if cell.link < scene.hosts:
                message = cell.first // -(-scene.flows[cell.flow].nbytes // scene.fabric.mtu)
                starts[cell.flow, message] = min(
                    cell.start_ps, starts.get((cell.flow, message), cell.start_ps)
                )
        for end in self.ports.messages:
            flow = scene.flows[end.flow]
            job = self.jobs[int(flow.job)]
            repeat, step = divmod(end.message, job.steps)
            start = _moment(starts[end.flow, end.message])
            yield JobTransfer(
                int(flow.job), repeat, step, job.hosts.index(flow.src), start, _moment(end.at_ps)
            )

    def _uses(self) -> Iterator[LinkUse]:
        """Yield the rates of jobs on the trunks, in the mean of each window."""
        scene = self.ports.scene
        sent: dict[Link, list[CellSpan]] = {}
        for cell in self.ports.cells:
            if cell.link >= 2 * scene.hosts:
                below, leaf = divmod((cell.link - 2 * scene.hosts) // scene.trunks, scene.leaf_count)
                sent.setdefault(("leaf down" if below else "leaf up", leaf), []).append(cell)
                if not scene.has_spines:
                    # what leaves one leaf enters the other
                    sent.setdefault(("leaf down", 1 - leaf), []).append(cell)
        for link, cells in sorted(sent.items()):
            yield from (LinkUse(link, start, end, jobs) for start, end, jobs in self._rates(cells))

    def _rates(
        self, cells: Sequence[CellSpan]
    ) -> Iterator[tuple[Fraction, Fraction, tuple[tuple[int, Fraction], ...]]]:
        scene = self.ports.scene
        cell_ps = -(-scene.cell_packets * scene.fabric.packet * PS_PER_S // scene.host_Bps)
        window = max(self.ports.time_ps // _WINDOWS, _CELLS * cell_ps)
        moved: dict[int, Counter[int]] = {}
        for cell in cells:
            # what leaves when the scene ends is cut with it
            last = min(cell.end_ps, self.ports.time_ps)
            for place in range(cell.start_ps // window, -(-last // window)):
                within = min(last, (place + 1) * window) - max(cell.start_ps, place * window)
                moved.setdefault(place, Counter())[int(scene.flows[cell.flow].job)] += within
        for place, jobs in sorted(moved.items()):
            start, end = place * window, min((place + 1) * window, self.ports.time_ps)
            # each trunk link has the same rate, and sends one cell at a time
            rate = Fraction(scene.trunk_Bps, scene.host_Bps * (end - start))
            yield (
                _moment(start),
                _moment(end),
                tuple((job, sent * rate) for job, sent in sorted(jobs.items()) if sent),
            )

    def waited(self) -> Iterator[tuple[int, Fraction, Fraction, set[int]]]:
        """Yield when a cell of a job stood at the trunk while cells of other jobs left it, and whose."""
        scene = self.ports.scene
        for number in range(2 * scene.hosts, len(scene.links)):
            cells = list(self.ports.on(number))
            ends = [cell.end_ps for cell in cells]
            for place, cell in enumerate(cells):
                before = cells[bisect_right(ends, cell.queued_ps) : place]
                job = int(scene.flows[cell.flow].job)
                others = {int(scene.flows[other_cell.flow].job) for other_cell in before} - {job}
                if others:
                    yield job, _moment(cell.queued_ps), _moment(cell.start_ps), others


@lru_cache(maxsize=64)
def _alone_ps(scene: PortScene, engine: str) -> int | None:
    """Return when the first collective of a scene's only job ends; one job is alone in many questions, and is simulated once."""
    flows = scene.flows
    ends = [
        end.at_ps
        for end in simulate_ports(scene, engine).messages
        if end.message + 1 == flows[end.flow].collective
    ]
    return max(ends) if len(ends) == len(flows) else None


def _compute_ps(job: SharedJob) -> int:
    """Return how long a job computes between two collectives: a picosecond or more, as ports want it."""
    return max(1, round(job.compute * PS_PER_S))


def _moment(ps: int) -> Fraction:
    return Fraction(ps, PS_PER_S)
