"""Who stood in whose way: when a job had less of a full uplink than it would have had alone, or its cells waited, and whose bytes left meanwhile."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from peerlab.study.shared_jobs import JobsTrace, JobTransfer, LeafFabric, Link


class Held(NamedTuple):
    """For a time a job had less of an uplink than alone."""

    start: Fraction
    end: Fraction
    by: tuple[int, ...]
    """The jobs that had the rest."""


def held(trace: JobsTrace, fabric: LeafFabric) -> tuple[tuple[Held, ...], ...]:
    """Return for each job when others stood in its way.

    >>> from peerlab.study.shared_jobs import SharedJob, run_jobs
    >>> fabric = LeafFabric(4, Fraction(1))
    >>> jobs = [SharedJob(hosts=hosts, work=Fraction(1)) for hosts in ((0, 1, 4, 5), (2, 3, 6, 7))]
    >>> [[(str(one.start), str(one.end), one.by) for one in mine] for mine in held(run_jobs(jobs, fabric), fabric)]
    [[('0', '12', (1,))], [('0', '12', (0,))]]
    """
    pieces: list[dict[tuple[Fraction, Fraction], set[int]]] = [{} for _ in trace.jobs]
    for link in sorted({use.link for use in trace.uses}):
        for start, end, job, others in _on(link, trace, fabric):
            pieces[job].setdefault((start, end), set()).update(others)
    return tuple(_joined(mine) for mine in pieces)


def held_in_ports(waited: Iterable[tuple[int, Fraction, Fraction, set[int]]], jobs: int) -> tuple[tuple[Held, ...], ...]:  # fmt: skip
    """Return for each job when a cell of it waited while cells of others left its port; of each wait a job, from when until when, and whose."""
    changes: list[list[tuple[Fraction, int, frozenset[int]]]] = [[] for _ in range(jobs)]
    for job, start, end, others in waited:
        changes[job] += [(start, 1, frozenset(others)), (end, -1, frozenset(others))]
    return tuple(_joined(_between(mine)) for mine in changes)


def _between(
    changes: list[tuple[Fraction, int, frozenset[int]]],
) -> dict[tuple[Fraction, Fraction], set[int]]:
    """Return the times between changes at which somebody waits, and for whom."""
    pieces: dict[tuple[Fraction, Fraction], set[int]] = {}
    waiting: Counter[int] = Counter()
    before = Fraction(0)
    for moment, change, others in sorted(changes, key=lambda entry: entry[0]):
        there = {job for job, count in waiting.items() if count > 0}
        if moment > before and there:
            pieces[before, moment] = there
        waiting.update(dict.fromkeys(others, change))
        before = moment
    return pieces


def _on(link: Link, trace: JobsTrace, fabric: LeafFabric) -> list[tuple[Fraction, Fraction, int, set[int]]]:
    """Return when which job had less of one uplink than alone, and who else had some."""
    waiting = [transfer for transfer in _by_start(trace) if link in _route(transfer, trace, fabric)]
    there: list[JobTransfer] = []
    rows = []
    # Uses of a link come in time, and begin and end with transfers: one walk through both.
    for use in (use for use in trace.uses if use.link == link):
        while waiting and waiting[-1].start <= use.start:
            there.append(waiting.pop())
        there = [transfer for transfer in there if transfer.end > use.start]
        for job, rate in use.rates if len(use.rates) > 1 else ():
            crossing = sum(transfer.job == job for transfer in there)
            # alone each of its transfers has a host's rate, as far as the uplink goes
            if rate < min(fabric.capacity(link), Fraction(crossing)):
                others = {other for other, _ in use.rates if other != job}
                rows.append((use.start, use.end, job, others))
    return rows


def _by_start(trace: JobsTrace) -> list[JobTransfer]:
    """Return all transfers, the first one last."""
    return sorted(trace.transfers, key=lambda transfer: transfer.start, reverse=True)


def _route(transfer: JobTransfer, trace: JobsTrace, fabric: LeafFabric) -> tuple[Link, ...]:
    hosts = trace.jobs[transfer.job].hosts
    return fabric.route(hosts[transfer.place], hosts[(transfer.place + 1) % len(hosts)])


def _joined(pieces: dict[tuple[Fraction, Fraction], set[int]]) -> tuple[Held, ...]:
    """Return pieces in time, those that follow each other with equal culprits as one."""
    rows: list[Held] = []
    for (start, end), others in sorted(pieces.items()):
        by = tuple(sorted(others))
        if rows and rows[-1].end == start and rows[-1].by == by:
            rows[-1] = rows[-1]._replace(end=end)
        else:
            rows.append(Held(start, end, by))
    return tuple(rows)
