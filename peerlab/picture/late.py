"""Lateness in the data path: a ring round its dots, each piece the darker the later its node is at that moment."""

from typing import TypedDict

from peerlab.answer.lateness import Lateness, how_it_spreads
from peerlab.answer.run import Run
from peerlab.base.units import PS_PER_US, say_time
from peerlab.picture.shown_nodes import focus, unit

DOTS = 24
"""Dots of the ring in the data path, at most: of more nodes each stands for several, and shows the latest of them."""


class Late(TypedDict):
    """How late the nodes of a run are."""

    of: str
    """The scenario as Python: to whose picture it belongs."""
    nodes: list[int]
    """The node of each dot, from the shown one on in the direction in which slices travel."""
    planned: list[list[float]]
    """For each dot: until when the last slice of each step should have arrived, microseconds."""
    arrived: list[list[float]]
    """When it did."""
    most_us: float
    """How late the latest is."""
    words: str
    """The ring in words, for readers who do not see it."""


def late(run: Run, lateness: Lateness | None) -> Late | None:
    """Return what the page needs to show how late the nodes of a run are; nothing where nobody is."""
    if lateness is None:
        return None
    nodes = dots(lateness, focus(run))
    return {
        "of": run.scenario.as_code(),
        "nodes": nodes,
        "planned": [_us(lateness.planned_ps[node]) for node in nodes],
        "arrived": [_us(lateness.arrived_ps[node]) for node in nodes],
        "most_us": lateness.most_ps / PS_PER_US,
        "words": in_words(run, lateness),
    }


def dots(lateness: Lateness, first: int) -> list[int]:
    """Return the node of each dot: every node in turn, or of each few the one that is latest in any step."""
    count, late_ps = len(lateness.arrived_ps), lateness.late_ps
    number = min(count, DOTS)
    groups = [range(dot * count // number, (dot + 1) * count // number) for dot in range(number)]
    return [
        max(((first + offset) % count for offset in group), key=lambda node: max(late_ps[node]))
        for group in groups
    ]


def legend(lateness: Lateness) -> str:
    """Return what the colour of the ring means."""
    return f"late: against the run without noise and slow parts, darkest {say_time(lateness.most_ps)}"


def in_words(run: Run, lateness: Lateness) -> str:
    """Return who is late, how late, and whether one transfer makes it."""
    node, step = lateness.latest
    latest = f"Latest is {unit(run.scenario)} {node}, {say_time(lateness.most_ps)} in step {step + 1}"
    return f"{latest}, against the run without noise and slow parts. {how_it_spreads(lateness.late_ps, run.scenario)}"


def _us(times_ps: tuple[int, ...]) -> list[float]:
    # A nanosecond is less than a screen shows of any run.
    return [round(time_ps / PS_PER_US, 3) for time_ps in times_ps]
