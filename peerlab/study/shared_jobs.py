"""Several jobs on one fabric: every collective alone and together, at max-min fair rates, in exact fractions.

A job is a blocking ring on hosts of its own that computes between its collectives. Hosts hang below leaves; what leaves a leaf goes over one
pooled uplink, what enters it over another. Rates change only when a transfer begins or ends, so every moment is a fraction.
"""

# Fractions and not picoseconds: whether two jobs keep their offset for ever or slide apart is the answer, and rounding decides it
# otherwise. Shares are of flows: a job with two flows gets two shares, as a switch that is fair per flow gives them.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from peerlab.base.errors import ScenarioError

MOST_JOBS, MOST_HOSTS, MOST_TRANSFERS = 8, 64, 20_000
NAMED = Fraction(4, 5)
"""A job is named as the culprit if without it the victim wins so much of what it lost."""
Link = tuple[str, int]
"""``up`` or ``down`` of a host, ``leaf up`` or ``leaf down`` of a leaf."""


@dataclass(frozen=True, kw_only=True)
class SharedJob:
    """A collective that is repeated, on hosts of its own."""

    hosts: tuple[int, ...]
    """In the order of its ring."""
    work: Fraction
    """Time of one transfer at a host's rate."""
    offset: Fraction = Fraction(0)
    """When its first collective begins."""
    compute: Fraction = Fraction(0)
    """Between the end of one and the begin of the next."""
    repeats: int = 1
    flows: int = 1
    """Per transfer; each has a share."""
    weight: Fraction = Fraction(1)
    """Of each flow."""
    lane: int = 0
    """Its virtual lane or class, where jobs are cells in ports."""

    @property
    def steps(self) -> int:
        """Steps of its AllReduce: 2(N-1)."""
        return 2 * (len(self.hosts) - 1)


@dataclass(frozen=True)
class LeafFabric:
    """Leaves with so many hosts each, and the rate of an uplink in rates of a host."""

    leaf: int
    uplink: Fraction

    def route(self, src: int, dst: int) -> tuple[Link, ...]:
        """Return the links of a transfer."""
        near, far = src // self.leaf, dst // self.leaf
        between: tuple[Link, ...] = () if near == far else (("leaf up", near), ("leaf down", far))
        return (("up", src), *between, ("down", dst))

    def capacity(self, link: Link) -> Fraction:
        """Return the rate of a link."""
        return self.uplink if link[0].startswith("leaf") else Fraction(1)


class JobTransfer(NamedTuple):
    """One host of a job sent one chunk."""

    job: int
    repeat: int
    step: int
    place: int
    """Of the sender in its ring."""
    start: Fraction
    end: Fraction


class LinkUse(NamedTuple):
    """For a time the jobs on a link had these rates."""

    link: Link
    start: Fraction
    end: Fraction
    rates: tuple[tuple[int, Fraction], ...]
    """Job and rate."""


@dataclass(frozen=True)
class JobsTrace:
    """What several jobs did."""

    jobs: tuple[SharedJob, ...]
    transfers: tuple[JobTransfer, ...]
    uses: tuple[LinkUse, ...]
    """Of uplinks."""
    begins: tuple[tuple[Fraction, ...], ...]
    """Of every job, when its collectives began."""
    ends: tuple[tuple[Fraction, ...], ...]

    @property
    def end(self) -> Fraction:
        """The last moment that is known; one second where nothing is."""
        moments = [use.end for use in self.uses] + [transfer.end for transfer in self.transfers]
        moments += [moment for begins in self.begins for moment in begins]
        return max(moments, default=Fraction(0)) or Fraction(1)

    def lasts(self, job: int) -> list[Fraction]:
        """Return how long each collective of a job took."""
        # the last one may not have ended when the scene is cut
        return [end - begin for begin, end in zip(self.begins[job], self.ends[job], strict=False)]

    def periods(self, job: int) -> list[Fraction]:
        """Return the times from the begin of a collective to that of the next."""
        return [then - begin for begin, then in zip(self.begins[job], self.begins[job][1:], strict=False)]

    def offsets(self, job: int, other: int = 0) -> list[Fraction]:
        """Return by how much each collective of a job began after that of another."""
        return [own - first for own, first in zip(self.begins[job], self.begins[other], strict=False)]

    def shared(self, link: Link) -> list[tuple[Fraction, Fraction]]:
        """Return when more than one job used a link."""
        return [(use.start, use.end) for use in self.uses if use.link == link and len(use.rates) > 1]

    def work(self, link: Link) -> Mapping[int, Fraction]:
        """Return what each job moved over a link, in times of a host's rate."""
        total: dict[int, Fraction] = {}
        for use in self.uses:
            if use.link == link:
                for job, rate in use.rates:
                    total[job] = total.get(job, Fraction(0)) + rate * (use.end - use.start)
        return total


def fair_shares(routes: Sequence[tuple[Sequence[Link], Fraction]], fabric: LeafFabric) -> list[Fraction]:
    """Return the max-min fair rates of flows, each a route and a weight: all grow in proportion until a link is full.

    >>> fabric = LeafFabric(4, Fraction(1))
    >>> fair_shares([(fabric.route(0, 4), Fraction(2)), (fabric.route(1, 5), Fraction(1))], fabric)
    [Fraction(2, 3), Fraction(1, 3)]
    """
    rates = [Fraction(0)] * len(routes)
    growing = set(range(len(routes)))
    left = {link: fabric.capacity(link) for route, _ in routes for link in route}
    while growing:
        weights: dict[Link, Fraction] = {}
        for flow in growing:
            for link in routes[flow][0]:
                weights[link] = weights.get(link, Fraction(0)) + routes[flow][1]
        level = min(left[link] / weight for link, weight in weights.items())
        # exact, as these are fractions: floats would need a tolerance
        full = {link for link, weight in weights.items() if left[link] / weight == level}
        fixed = {flow for flow in growing if full.intersection(routes[flow][0])}
        for flow in fixed:
            rates[flow] = level * routes[flow][1]
            for link in routes[flow][0]:
                left[link] -= rates[flow]
        growing -= fixed
    return rates


@dataclass(eq=False)
class _Active:
    """A transfer under way."""

    job: int
    step: int
    place: int
    start: Fraction
    left: Fraction
    rate: Fraction = Fraction(0)


@dataclass(eq=False)
class _World:
    """All jobs in one time."""

    jobs: tuple[SharedJob, ...]
    fabric: LeafFabric
    now: Fraction = Fraction(0)
    active: list[_Active] = field(default_factory=list)
    transfers: list[JobTransfer] = field(default_factory=list)
    uses: list[LinkUse] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begins: list[list[Fraction]] = [[] for _ in self.jobs]
        self.ends: list[list[Fraction]] = [[] for _ in self.jobs]
        self.next_begin: list[Fraction | None] = [job.offset for job in self.jobs]
        self.sent = [[0] * len(job.hosts) for job in self.jobs]
        """By job and place: steps whose transfer has ended."""

    def run(self, until: Fraction | None) -> JobsTrace:
        """Go from change to change."""
        while self.active or any(begin is not None for begin in self.next_begin):
            due = [begin for begin in self.next_begin if begin is not None]
            # a transfer under way has a rate above 0, since every link has
            then = min([self.now + transfer.left / transfer.rate for transfer in self.active] + due)
            if until is not None and then > until:
                break
            # Ends before begins, as what begins may wait for what ends now. Rates last: both change who is there.
            self._pass(then)
            self._end()
            self._begin()
            self._share()
        return JobsTrace(
            self.jobs, tuple(sorted(self.transfers)), tuple(self.uses), tuple(map(tuple, self.begins)), tuple(map(tuple, self.ends))
        )  # fmt: skip

    def _pass(self, then: Fraction) -> None:
        """Let time pass, and note who used the uplinks."""
        # several things may happen at one moment: a use of no length is none
        if then > self.now:
            rates: dict[Link, dict[int, Fraction]] = {}
            for transfer in self.active:
                for link in self._route(transfer):
                    # a host's own link has one job alone
                    if link[0].startswith("leaf"):
                        mine = rates.setdefault(link, {})
                        mine[transfer.job] = mine.get(transfer.job, Fraction(0)) + transfer.rate
            self.uses += [
                LinkUse(link, self.now, then, tuple(sorted(jobs.items())))
                for link, jobs in sorted(rates.items())
            ]
        for transfer in self.active:
            transfer.left -= transfer.rate * (then - self.now)
        self.now = then

    def _route(self, transfer: _Active) -> tuple[Link, ...]:
        hosts = self.jobs[transfer.job].hosts
        return self.fabric.route(hosts[transfer.place], hosts[(transfer.place + 1) % len(hosts)])

    def _end(self) -> None:
        ended = [transfer for transfer in self.active if not transfer.left]
        self.active = [transfer for transfer in self.active if transfer.left]
        for transfer in ended:
            repeat = len(self.begins[transfer.job]) - 1
            self.transfers.append(
                JobTransfer(transfer.job, repeat, transfer.step, transfer.place, transfer.start, self.now)
            )
            self.sent[transfer.job][transfer.place] = transfer.step + 1
        if len(self.transfers) > MOST_TRANSFERS:
            raise ScenarioError(
                "repeats", f"more than {MOST_TRANSFERS} transfers; give fewer repeats, hosts, or a time until"
            )
        for number in {transfer.job for transfer in ended}:
            job = self.jobs[number]
            # the collective is over with its slowest host
            if min(self.sent[number]) == job.steps:
                self.ends[number].append(self.now)
                if len(self.ends[number]) < job.repeats:
                    self.next_begin[number] = self.now + job.compute

    def _begin(self) -> None:
        """Begin collectives that are due, and transfers whose step before has ended at their sender and has come to it."""
        for number, due in enumerate(self.next_begin):
            if due == self.now:
                self.next_begin[number] = None
                self.begins[number].append(self.now)
                self.sent[number] = [0] * len(self.sent[number])
        busy = {(transfer.job, transfer.place) for transfer in self.active}
        for number, job in enumerate(self.jobs):
            if len(self.begins[number]) == len(self.ends[number]):
                continue
            sent = self.sent[number]
            for place in range(len(job.hosts)):
                step = sent[place]
                # place - 1 is the left neighbour, -1 the last of the ring
                if step < job.steps and (number, place) not in busy and sent[place - 1] >= step:
                    self.active.append(_Active(number, step, place, self.now, job.work))

    def _share(self) -> None:
        routes = []
        for transfer in self.active:
            job = self.jobs[transfer.job]
            # flows of one transfer go the same way, so they are one flow of their weight together
            routes.append((self._route(transfer), job.weight * job.flows))
        for transfer, rate in zip(self.active, fair_shares(routes, self.fabric), strict=True):
            transfer.rate = rate


def run_jobs(jobs: Sequence[SharedJob], fabric: LeafFabric, until: Fraction | None = None) -> JobsTrace:
    """Return what jobs on one fabric do.

    Raises
    ------
    ScenarioError
        If two jobs share a host, or there are too many jobs, hosts or transfers.
    """
    check_jobs(jobs, fabric)
    return _World(tuple(jobs), fabric).run(until)


def _check_fabric(fabric: LeafFabric) -> None:
    if not 1 <= fabric.leaf <= MOST_HOSTS:
        raise ScenarioError("leaf", f"{fabric.leaf} is out of range; a leaf has 1 to {MOST_HOSTS} hosts")
    if fabric.uplink <= 0:
        raise ScenarioError("uplink", "0 is out of range; an uplink has a rate above 0")


def check_jobs(jobs: Sequence[SharedJob], fabric: LeafFabric) -> None:
    """Refuse jobs that cannot share a fabric.

    Raises
    ------
    ScenarioError
        In one line.
    """
    if not 1 <= len(jobs) <= MOST_JOBS:
        raise ScenarioError("jobs", f"{len(jobs)} jobs; 1 to {MOST_JOBS} share a fabric here")
    _check_fabric(fabric)
    taken: dict[int, int] = {}
    for number, job in enumerate(jobs):
        if job.work <= 0:
            raise ScenarioError("message_bytes", f"job {number} sends nothing; give 1 byte or more")
        needs = {
            "at least two hosts, such as 0,1": len(job.hosts) >= 2,
            "at least one repeat": job.repeats >= 1,
            "at least one flow": job.flows >= 1,
            "a weight above 0": job.weight > 0,
        }
        if lacks := [what for what, there in needs.items() if not there]:
            raise ScenarioError("jobs", f"job {number} needs {' and '.join(lacks)}")
        if job.offset < 0 or job.compute < 0:
            raise ScenarioError("jobs", f"job {number} begins or computes for a time below 0")
        for host in job.hosts:
            if not 0 <= host < MOST_HOSTS:
                raise ScenarioError("hosts", f"host {host}; they are numbered 0 to {MOST_HOSTS - 1}")
            if host in taken:
                twice = f"job {number} has host {host} twice"
                both = f"jobs {taken[host]} and {number} both have host {host}"
                raise ScenarioError("hosts", twice if taken[host] == number else both)
            taken[host] = number
