"""How long a table of an expectation takes to simulate, and what would take less."""

from collections.abc import Sequence

from peerlab.answer.sensitivity import corners
from peerlab.base.errors import ScenarioError
from peerlab.base.progress_bar import say_seconds
from peerlab.base.units import say_count
from peerlab.engine.long_messages import takes_s
from peerlab.question.scenario import Scenario

_MOST_S = 120
"""Seconds that a table may take, as far as they are forecast, unless its user insists: it is a question between two others."""


def expectation_takes_s(each: Sequence[Scenario]) -> float:
    """Return about how many seconds a table takes with a row for each scenario; 0 where one node stands for all."""
    return sum(once * (1 + len(corners(scenario))) for scenario in each if (once := takes_s(scenario)))


def refuse_long(each: Sequence[Scenario], forecast_s: float) -> None:
    """Refuse a table that takes longer than somebody waits for it, and say what would take less.

    Raises
    ------
    ScenarioError
        If it is forecast to take more than two minutes.
    """
    if forecast_s <= _MOST_S:
        return
    last = each[-1]
    fits = [*_full_leaves(each), *_fewer_sizes(each), *_fewer_nodes(each)]
    raise ScenarioError(
        "nodes",
        f"here none of {last.nodes} nodes stands for the others, so that {say_count(len(each), 'size')} would take about "
        f"{say_seconds(forecast_s)} to simulate; {' or '.join(fits)}{'; ' if fits else ''}--anyway (`anyway=True`) begins it all the same",
    )


def _full_leaves(each: Sequence[Scenario]) -> list[str]:
    """Return how many nodes fill their leaf switches, below which a ring need not be simulated whole (`peerlab.engine.alike_leaves`)."""
    last = each[-1]
    full = last.nodes // last.fabric.hosts_per_leaf * last.fabric.hosts_per_leaf
    lasts_s = _takes_s(each, full) if 1 < full < last.nodes else None
    if lasts_s is None or lasts_s > _MOST_S:
        return []
    return [f"give {full} nodes, which fill their leaf switches (about {say_seconds(lasts_s)})"]


def _takes_s(each: Sequence[Scenario], nodes: int) -> float | None:
    """Return about how many seconds a table takes on so many nodes; None if a slow node, a placement or the algorithm needs those that there are."""
    try:
        return expectation_takes_s([scenario.with_(nodes=nodes) for scenario in each])
    except ScenarioError:
        return None


def _fewer_sizes(each: Sequence[Scenario]) -> list[str]:
    # the largest takes longest
    sizes, longest_s = 0, expectation_takes_s(each[-1:])
    if longest_s:
        sizes = min(int(_MOST_S / longest_s), len(each) - 1)
    return [f"give {say_count(sizes, 'size')} (about {say_seconds(sizes * longest_s)})"] if sizes else []


def _fewer_nodes(each: Sequence[Scenario]) -> list[str]:
    nodes = each[-1].nodes
    while nodes > 3:
        nodes //= 2
        lasts_s = _takes_s(each, nodes)
        if lasts_s is None:
            return []
        if lasts_s <= _MOST_S:
            return [f"give {nodes} nodes (about {say_seconds(lasts_s)})"]
    return []
