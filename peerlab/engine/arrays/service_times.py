"""Service times of all lanes of an array run, from those of the lanes that represent others."""

from peerlab.base.numbers import NDArray, np
from peerlab.engine.legs import Leg
from peerlab.engine.system import System
from peerlab.model.slow_parts import link_share


def kinds_of_lanes(system: System) -> list[tuple[object, ...]]:
    """Return for every lane what its service times depend on: the speeds of both ends, and of the link between them."""
    rows = list[tuple[object, ...]]()
    for lane, sender in enumerate(system.lanes):
        to = system.lanes[system.receiver(lane, 0)]
        ends = (system.speeds(sender.node, sender.device), system.speeds(to.node, to.device))
        rows.append((*ends, link_share(system.scenario, sender.node, to.node)))
    return rows


def spread(
    legs: dict[int, tuple[Leg, ...]], which: NDArray[np.int64], number: int
) -> list[NDArray[np.int64]]:
    """Return each visit's service time for every lane, from those of the lanes that represent others.

    Visits that always take the same time share one array.
    """
    entries: dict[bytes, NDArray[np.int64]] = {}
    lists = []
    for visit in range(len(legs[0][number].visits)):
        table = {lane: way[number].visits[visit].duration_ps for lane, way in legs.items()}
        values = np.array([table[lane] for lane in which.tolist()], np.int64)
        lists.append(entries.setdefault(values.tobytes(), values))
    return lists
