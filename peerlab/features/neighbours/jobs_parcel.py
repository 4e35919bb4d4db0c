"""What the page of several jobs gets: who sends what when, what each has of every uplink, and who stood in whose way."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest
from operator import attrgetter
from typing import TypedDict

from peerlab.base.units import say_time
from peerlab.features.neighbours.jobs_report import ROLES, jobs_title, link_title, played_table, uplinks
from peerlab.study.jobs_answer import SharedFabric
from peerlab.study.shared_jobs import Link

_US = 10**6
_RATES = "Simulated by peerlab: max-min fair rates, without latency and queues."
_CELLS = (
    "Simulated by peerlab, cell by cell; thresholds are examples or assumptions (docs/model.md). Who slows a job down: whose cells left an uplink while "
    "its own waited."
)


class JobParcel(TypedDict):
    """One job."""

    title: str
    role: str
    """Its colour's name in the palette."""
    hosts: list[int]
    """In the order of its ring."""
    slower: float
    """How many times as long as alone its collectives take; 0: none ended."""
    alone: str
    figures: list[str]
    """In the order of the parcel's columns."""
    exchanges: list[list[float]]
    """``[from, until]`` of each collective, microseconds."""
    transfers: list[list[float]]
    """``[sender, receiver, from, until]``, by when they begin."""
    held: list[list[float]]
    """``[from, until, job, ...]``: it had less of an uplink than alone, as these had the rest."""


class JobsParcelLink(TypedDict):
    """An uplink, and what each job had of it."""

    name: str
    leaf: int
    out: bool
    """Whether it leads out of its leaf."""
    uses: list[list[float]]
    """``[from, until, share of job 0, ...]``, shares of the uplink's rate."""


class JobsParcel(TypedDict):
    """What the page gets."""

    about: str
    source: str
    finding: str
    note: str
    """What the finding says besides how many times as long it takes."""
    words: str
    """What the picture shows, for a reader who does not see it."""
    columns: list[str]
    leaf: int
    """Hosts of a leaf."""
    end_us: float
    victim: int
    """The job that pays most; -1: none, or all alike."""
    jobs: list[JobParcel]
    links: list[JobsParcelLink]


def jobs_parcel(shared: SharedFabric) -> JobsParcel:
    """Return what the page needs of several jobs on one fabric."""
    columns, figures = played_table(shared)
    return {
        "about": jobs_title(shared),
        "source": _CELLS if shared.cells else _RATES,
        "finding": shared.finding,
        "note": shared.note,
        "words": f"{jobs_title(shared)}. {shared.finding}",
        "columns": list(columns),
        "leaf": shared.fabric.leaf,
        "end_us": _us(shared.trace.end),
        "victim": -1 if shared.victim is None else shared.victim,
        "jobs": [_job(shared, number, row) for number, row in enumerate(figures)],
        "links": [_link(shared, link) for link in shared.links],
    }


def _job(shared: SharedFabric, number: int, figures: Sequence[str]) -> JobParcel:
    trace = shared.trace
    job = trace.jobs[number]
    mine = sorted(
        (transfer for transfer in trace.transfers if transfer.job == number), key=attrgetter("start")
    )
    return {
        "title": f"job {number}",
        "role": ROLES[number],
        "hosts": list(job.hosts),
        "slower": 0 if number in shared.unended else float(shared.lost[number]),
        "alone": say_time(float(shared.alone[number] * _US * _US)),
        "figures": list(figures),
        # the last one may not have ended when the scene is cut
        "exchanges": [[_us(begin), _us(end)] for begin, end in zip_longest(trace.begins[number], trace.ends[number], fillvalue=trace.end)],
        "transfers": [
            [job.hosts[transfer.place], job.hosts[(transfer.place + 1) % len(job.hosts)], _us(transfer.start), _us(transfer.end)]
            for transfer in mine
        ],
        "held": [[_us(piece.start), _us(piece.end), *piece.by] for piece in shared.in_the_way[number]],
    }  # fmt: skip


def _link(shared: SharedFabric, link: Link) -> JobsParcelLink:
    name, leaf = link
    uses = []
    for use in uplinks(shared, link):
        rates = dict(use.rates)
        shares = [float(rates.get(job, 0) / shared.fabric.uplink) for job in range(len(shared.trace.jobs))]
        uses.append([_us(use.start), _us(use.end), *shares])
    return {"name": link_title(link), "leaf": leaf, "out": name == "leaf up", "uses": uses}


def _us(seconds: Fraction) -> float:
    return float(seconds * _US)
