"""The paths between which the host switch goes: those through the host's memory, and those past it."""

from peerlab.model.hardware import Cluster
from peerlab.model.paths import PATHS
from peerlab.question.scenario import Scenario


def through_and_past(cluster: Cluster) -> tuple[list[str], list[str]]:
    """Return the paths of a cluster through the host and past it; the switch takes the first of each unless somebody chose another.

    Their order is that of `PATHS`, so the whole way past the host stands before half of it. A bare path (a rate and a latency) goes past nothing.

    >>> through_and_past(load_cluster("p4d"))
    (['host-rdma', 'host-tcp'], ['peer-direct', 'receive-direct'])
    """
    # the order of `PATHS`, not that of the file: the switch offers the same first on every machine
    there = [name for name in PATHS if name in cluster.paths]
    return (
        [name for name in there if PATHS[name].is_staged],
        [name for name in there if not PATHS[name].is_staged and not PATHS[name].is_bare],
    )


def detour_and_direct(
    scenario: Scenario, detour: str = "", direct: str = ""
) -> tuple[Scenario, Scenario] | None:
    """Return a scenario through the host and past it; None where its cluster has but one kind of path.

    Parameters
    ----------
    scenario:
        One of the two, by its own path.
    detour, direct:
        The paths that somebody chose; by default the first of `through_and_past`.
    """
    through, past = through_and_past(scenario.hardware)
    if not through or not past or scenario.data_path.is_bare:
        return None
    # the path that the scenario has stays, so that the switch goes back to where it came from
    if scenario.staged:
        return scenario, scenario.with_(path=direct or past[0])
    return scenario.with_(path=detour or through[0]), scenario
