"""When each node begins an exchange of a step, and what those before it have left: nodes that are late make others wait, not all alike.

A node begins when it is ready and done with the exchange before. It is *done* when the last slice that it receives is through its last
stage and the last that it sends has left its own resources: that slice may still be on its way, and then holds its place until it arrives.
In blocking code, and where memory is given back after a transfer, what it sends has to have arrived as well.
"""

# The rule says that a node is done when its last sent slice "has given back its place at the source". The numbers of the example by hand
# in the specification (N = 3, d = 2, L = 1: e = (25, 24, 25)) come out if that is when the NIC has sent its bytes: rank 1 sends its last
# from 22 to 24, and is done at 24. In this model the place itself is given back when the slice has arrived, at 25. So the two are kept
# apart: the node goes on at 24, and the place is one that "goes on into k + 1".

from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.base.numbers import NDArray, np
from peerlab.engine.system import System
from peerlab.model.resources import resource_kind

Pool = tuple[str, int, int]
"""What it is a place of, node and device."""
Held = tuple[tuple[Pool, tuple[int, ...]], ...]
"""By pool: when each place that is held is given back, picoseconds."""
Whole = NDArray[np.int64]
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Begins:
    """When nodes begin; all times on the clock of the exchange, whose opening is left out."""

    at: tuple[int, ...]
    """When each node begins, picoseconds."""
    opens: tuple[int, ...]
    """From when on each takes slices of others: its begin, or where its places are posted ahead, when it was done before."""
    held: Held = ()
    """Places that slices of exchanges before still hold."""

    @property
    def posted(self) -> bool:
        """Whether a node takes slices before it begins; what it does with them waits until then."""
        return self.at != self.opens

    def gate(self, system: System, lane: int, step: int) -> int:
        """Return when a slice may go at the soonest: its sender has begun, and its receiver has a place for it."""
        source, to = system.lanes[lane].node, system.lanes[system.receiver(lane, step)].node
        return max(self.at[source], self.at[to] if system.scenario.blocking else self.opens[to])


def gives_back(system: System) -> bool:
    """Return whether memory is given back when a transfer is over, which keeps its sender busy until then."""
    return system.scenario.registers and system.scenario.registration != "cached"


def waits_for_arrival(system: System) -> bool:
    """Return whether a sender is done only when what it sent has arrived."""
    return system.scenario.blocking or gives_back(system)


def owners_of(system: System) -> Whole:
    """Return the node that has each resource; -1: what flies, and links that nodes share, are nobody's."""
    numbers = [
        _NOWHERE if resource_kind(resource.kind).in_flight else resource.node for resource in system.resources
    ]
    return np.array(numbers, np.int64)


def done_of(system: System, spans: Whole, begins: Sequence[int]) -> Whole:
    """Return when each node is done with what goes between nodes; `spans` as a table of the columns of a trace."""
    done = np.array(begins, np.int64)
    if not len(spans):
        return done
    node, _, step, piece, _, resource, *_ = spans.T[:7]
    end = spans[:, 8]
    _latest(done, owners_of(system)[resource], end)
    sent = piece >= 0
    _latest(done, _receivers(system, node[sent], step[sent]), end[sent])
    if waits_for_arrival(system):
        _latest(done, node[sent], end[sent])
    return done


def held_of(system: System, spans: Whole, done: Whole) -> Held:
    """Return the places that are held when their nodes are `done`, of an exchange in which at most one leg has a latency (`spans` as for `done_of`)."""
    names = {index: pool for pool, index in system.pools.items()}
    node, device, step, _, stage, resource, *_ = spans.T[:7]
    end, entries = spans[:, 8], dict[Pool, list[int]]()
    kinds = np.array([server.kind for server in system.resources])
    for leg in system.legs(0, 0, plain=True)[0]:
        if leg.release < 0:
            continue
        # the last that a slice does before it gives its place back: it flies, or leaves the last resource
        flies = leg.flight is not None and leg.flight.after == len(leg.visits)
        last = leg.flight.stage if leg.flight and flies else leg.stage
        where = leg.flight.wire if leg.flight and flies else leg.visits[-1].resource
        kind, at, _ = names[leg.release]
        over = (stage == last) & (kinds[resource] == kinds[where])
        sender, to = node[over], _receivers(system, node[over], step[over])
        own = sender if at == system.lanes[0].node else to
        late = end[over] > done[own]
        for place, of, t in zip(
            own[late].tolist(), device[over][late].tolist(), end[over][late].tolist(), strict=True
        ):
            entries.setdefault((kind, place, of), []).append(t)
    return tuple(sorted((pool, tuple(sorted(until))) for pool, until in entries.items()))


def _latest(done: Whole, node: Whole, end: Whole) -> None:
    some = node >= 0
    np.maximum.at(done, node[some], end[some])


def _receivers(system: System, node: Whole, step: Whole) -> Whole:
    schedule = system.plan.schedule
    if schedule.is_ring:
        return (node + 1) % schedule.ranks
    pairs, which = np.unique(node + step * schedule.ranks, return_inverse=True)
    to = [schedule.to(pair % schedule.ranks, pair // schedule.ranks) for pair in pairs.tolist()]
    values: Whole = np.array(to, np.int64)[which.reshape(-1)]
    return values


def meet_all(system: System) -> None:
    """Make what every transfer needs, in the order of steps and lanes: a fabric's flows are shared out in the order of their senders."""
    if system.scenario.fabric.contended:
        for step in range(system.plan.schedule.steps):
            for lane in range(len(system.lanes)):
                if system.receiver(lane, step) >= 0:
                    system.legs(lane, step, plain=True)
