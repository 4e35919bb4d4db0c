"""Makes a map of choices: every cell is simulated as the library takes it, and as others that its law may make the fastest."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.base.units import KIB, seconds
from peerlab.engine.long_messages import time_ps
from peerlab.features.choices.choice_map import WORTH, ChoiceMap, MapCell
from peerlab.library.library_choice import LibraryChoice
from peerlab.library.nccl_law import ALGORITHMS, PROTOCOLS
from peerlab.model.hardware import Cluster
from peerlab.model.paths import PEER_DIRECT
from peerlab.question.law_error import reach_of_ratio
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.question.size_list import parse_sizes

NODES = (2, 3, 4, 6, 8, 16, 32, 64, 128)
_NEAR = 1.25
"""A choice that takes so many times as long by the law alone is not simulated: the topology does not turn that round."""
_MOST_NODES = 24


def choices(
    cluster: str | Path | Cluster,
    *,
    nodes: str | Sequence[int] | None = None,
    sizes: str | Sequence[int | str] | None = None,
    path: str | None = None,
    library_version: str | None = None,
) -> ChoiceMap:
    """Return which algorithm and protocol a library takes for an AllReduce, by size and nodes, and where another would be faster.

    Parameters
    ----------
    cluster:
        A known name, a cluster file, or a `Cluster`, whose library chooses as NCCL does.
    nodes:
        Rows of the map, such as ``[2, 4, 8]`` or ``"2,4,8"``; None: 2 to 128.
    sizes:
        Columns, such as ``"1MiB:1GiB"``; None: 1 KiB to 16 GiB, each twice the one before.
    path:
        The data path; None: Peer Direct where the cluster has it.
    library_version:
        The library's, such as ``2.19``; None: the cluster's.

    Raises
    ------
    HardwareError
        If there is no such cluster, or its library makes no choice.
    ScenarioError
        If such a run is impossible.

    >>> found = choices("p5", nodes=[2], sizes=["1 KiB", "16 GiB"])
    >>> [(cell.algorithm, cell.protocol) for cell in found.cells]
    [('tree', 'LL'), ('NVLSTree', 'Simple')]
    """
    machine = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    way = path or (PEER_DIRECT if PEER_DIRECT in machine.paths else machine.paths[0])
    rows, columns = parse_nodes(nodes), parse_sizes(sizes, KIB)
    scenario = Scenario(
        cluster=machine, nodes=rows[0], path=way, library_version=library_version, registration="pool"
    )
    # Refused before the first cell: a cluster without such a library has no map.
    first = _choice(scenario)
    cells = tuple(
        _cell(scenario.with_(nodes=count, message_bytes=size)) for count in rows for size in columns
    )
    return ChoiceMap(cluster=machine, library=first.library, path=str(scenario.path), cells=cells)


def parse_nodes(nodes: str | Sequence[int] | None) -> list[int]:
    """Return counts of nodes, ascending, each once.

    Raises
    ------
    ScenarioError
        If one is no count of 2 or more, or there are too many.

    >>> parse_nodes("8, 2,4")
    [2, 4, 8]
    """
    if nodes is None:
        return list(NODES)
    words = nodes.split(",") if isinstance(nodes, str) else nodes
    try:
        counts = sorted({int(word) for word in words})
    except (TypeError, ValueError):
        raise ScenarioError("nodes", f"{nodes!r:.60} are no counts; give them as in 2,4,8") from None
    if not counts or counts[0] < 2 or len(counts) > _MOST_NODES:
        raise ScenarioError(
            "nodes", f"{nodes!r:.60}: give 1 to {_MOST_NODES} counts of 2 or more, as in 2,4,8"
        )
    return counts


def _choice(scenario: Scenario) -> LibraryChoice:
    if scenario.choice is None:
        raise HardwareError(
            f"{scenario.hardware.name} over {scenario.path} has no library that chooses an algorithm: a map needs NCCL's law"
        )
    return scenario.choice


def _cell(scenario: Scenario) -> MapCell:
    taken = _choice(scenario)
    # As the library takes it: simulated, like all others, not by the law alone.
    own = time_ps(scenario)
    others = [(time_ps(other), other) for other in _others(scenario, taken)]
    # Where there is no other choice, its own is the best: a gain of 1.
    time, best = min(others, key=lambda entry: entry[0], default=(own, scenario))
    gain = own / time
    if gain < WORTH:
        return _as_cell(scenario, taken, own, None, 1.0, 1.0)
    # Both laws may be off, each its own way: what is left at the worse end of their ratio.
    return _as_cell(scenario, taken, own, _choice(best).does, gain, gain * reach_of_ratio(best, scenario).low)


def _as_cell(
    scenario: Scenario,
    taken: LibraryChoice,
    own: int,
    faster: tuple[str, str] | None,
    gain: float,
    least: float,
) -> MapCell:
    algorithm, protocol = taken.does
    return MapCell(
        nodes=scenario.nodes,
        size=scenario.nbytes,
        algorithm=algorithm,
        protocol=protocol,
        time_s=seconds(own),
        faster=faster,
        gain=gain,
        least=least,
    )


def _others(scenario: Scenario, taken: LibraryChoice) -> Iterator[Scenario]:
    """Yield the scenario with each other algorithm and protocol that the library has here, and whose law does not rule out that it is faster."""
    for algorithm in ALGORITHMS:
        for protocol in PROTOCOLS:
            # What the library does not have here is refused by the scenario: it is no choice.
            with suppress(ScenarioError):
                other = scenario.with_(algorithm=algorithm, protocol=protocol)
                choice = other.choice
                # A choice that is forced may be the one that is taken anyway.
                if choice and choice.does != taken.does and choice.course.time < _NEAR * taken.course.time:
                    yield other
