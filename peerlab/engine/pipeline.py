"""From the stages of a data path to the legs of a slice: which resources each needs, and for how long."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp

from peerlab.base.units import PS_PER_S, service_ps
from peerlab.engine import jitter
from peerlab.engine.inventory import Inventory
from peerlab.engine.legs import Flight, Leg, Link, Visit
from peerlab.engine.noise_draws import USUAL_SIGMAS, Pauses, Whole, pauses_of, spreads
from peerlab.model.fabrics import NIC
from peerlab.model.paths import MESSAGES, PROXY, REDUCE
from peerlab.model.resources import resource_kind, service
from peerlab.model.slow_parts import link_share
from peerlab.model.stages import Side, Stage, Use, stage_kind, stage_number
from peerlab.model.transport_record import wire_bytes
from peerlab.question.scenario import Scenario

_Times = list[int]
"""What a service time is made of: work, and how long a proxy has a message beyond it."""


@dataclass(frozen=True)
class Pipeline:
    """The stages from one device to another, in one step of the collective."""

    scenario: Scenario
    """The question."""
    inventory: Inventory
    """Gives the resources."""
    ends: dict[str, tuple[int, int]]
    """Node and device of the ``source`` and of the ``destination``."""
    adds: bool
    """Whether slices are added up where they arrive."""
    gated: bool
    """Whether adding up waits until the node's own contribution is added up."""
    ordinary_nodes: frozenset[int] = frozenset()
    """Nodes whose own factor is at most that which one of twenty nodes exceeds."""
    even: bool = False
    """Whether factors of nodes and ticks are left out: who asks puts them in for several runs at once."""
    since_ps: int = 0
    """When the clock of its system begins on that by which nodes stand still."""
    _quiet: dict[tuple[int, int, int], tuple[Leg, list[_Times]]] = field(default_factory=dict)
    """By stage, bytes and envelope."""
    _undisturbed: dict[tuple[int, int, bool], tuple[Leg, ...]] = field(default_factory=dict)
    """The legs of slices that no noise meets, by what `legs` is asked for."""

    def legs(
        self,
        nbytes: int,
        pieces: int,
        factors: Sequence[float],
        detours: Sequence[int] = (),
        *,
        last: bool,
    ) -> tuple[Leg, ...]:
        """Return the legs of a slice; in blocking code a stage's worker takes one slice at a time, latency included.

        Parameters
        ----------
        nbytes:
            Bytes of the slice.
        pieces:
            Slices of its transfer.
        factors:
            Jitter of each stage's service times; empty: there is none.
        detours:
            How long each stage holds the slice up, picoseconds; empty: none does.
        last:
            Whether it is its transfer's last slice, with which the transport's envelope goes.
        """
        # Rare delays leave most slices alone: those of one size have the same legs.
        if factors or any(detours):
            return self._legs(nbytes, pieces, factors, detours, last=last)
        key = nbytes, pieces, last
        if key not in self._undisturbed:
            self._undisturbed[key] = self._legs(nbytes, pieces, (), (), last=last)
        return self._undisturbed[key]

    def _legs(
        self, nbytes: int, pieces: int, factors: Sequence[float], detours: Sequence[int], *, last: bool
    ) -> tuple[Leg, ...]:
        scenario = self.scenario
        legs: list[Leg] = []
        for number, stage in enumerate(
            scenario.stages + ((REDUCE,) if self.adds and scenario.reduces else ())
        ):
            factor = factors[number] if factors else 1.0
            envelope = int(scenario.envelope_bytes) if last and stage is not REDUCE else 0
            noise = (factor, detours[number] if detours else 0)
            key = number, nbytes, envelope
            if key not in self._quiet:  # with noise no two slices are alike, but for this
                self._quiet[key] = self._quiet_leg(
                    stage, nbytes if stage is REDUCE else self._sent(nbytes), envelope
                )
            leg = self._noisy(*self._quiet[key], *noise)
            if scenario.has_workers and pieces > 1 and stage is not REDUCE:
                # a pool of one place: the worker takes the next slice when the latency of this one is over
                worker = self.inventory.pool(stage.name, self.ends[stage.side], 1)
                legs += [Leg(leg.stage, acquire=worker), leg, Leg(leg.stage, release=worker)]
            else:
                legs.append(leg)
        return tuple(legs)

    def _sent(self, nbytes: int) -> int:
        """Return the bytes on the way between nodes: a library's tree or ring sends some of them more than once."""
        choice = self.scenario.choice
        return max(1, round(nbytes * choice.load)) if choice else nbytes

    def _quiet_leg(self, stage: Stage, nbytes: int, envelope: int) -> tuple[Leg, list[_Times]]:
        """Return a leg without what noise makes of the slice, and of each of its visits the times that it is made of."""
        through_fabric = self.scenario.fabric.contended and any(use.kind in NIC for use in stage.uses)
        sent = {use.kind for use in stage.uses if use.side == "source" and not resource_kind(use.kind).shared}
        visits: list[tuple[Visit, _Times]] = []
        flies_after = 0
        # a slice that is held up holds what serves one at a time; what is shared goes on for others, unless there is nothing else
        all_shared = all(resource_kind(use.kind).shared for use in stage.uses)
        for use in stage.uses:
            # over a contended fabric the NICs are links of the flow, which is one resource of the chain
            if through_fabric and use.kind in NIC:
                if use.side == "source":
                    visits.append((self._flow(nbytes + envelope), []))
            else:
                # on every node a device sends and receives; a core that does both serves what it sends first
                behind = use.side == "destination" and use.kind in sent
                held_up = all_shared or not resource_kind(use.kind).shared
                visits.append(
                    self._visit(use, (nbytes + envelope) * use.touches, behind=behind, held_up=held_up)
                )
            if use.side == stage.side:
                flies_after = len(visits)
        leg = Leg(
            stage=stage_number(stage.name),
            visits=tuple(visit for visit, _ in visits),
            flight=self._flight(stage, flies_after),
            acquire=self._place(stage.acquire),
            release=self._place(stage.release),
            gated=stage is REDUCE and self.gated,
        )
        return leg, [times for _, times in visits]

    def _noisy(self, leg: Leg, times: Sequence[_Times], factor: float, detour_ps: int) -> Leg:
        """Return a leg with the factor on its service times, and held up so long."""
        if not leg.visits or (factor == 1.0 and not detour_ps):
            return leg
        visits = (
            self._flow(visit.nbytes, factor, detour_ps)
            if visit.link
            else _noisy_visit(visit, parts, factor, detour_ps)
            for visit, parts in zip(leg.visits, times, strict=True)
        )
        return replace(leg, visits=tuple(visits))

    def _flight(self, stage: Stage, after: int) -> Flight | None:
        duration_ps: int = (
            (getattr(self.scenario.cluster_for_message, stage.flight) or 0) if stage.flight else 0
        )
        wire = self.inventory.resource("wire", *self.ends[stage.side]) if duration_ps else -1
        stage_name = stage.name if stage_kind(stage.name).counts_as == "flight" else "flight"
        return Flight(duration_ps, wire, after, stage_number(stage_name)) if duration_ps else None

    def _place(self, side: Side | None) -> int:
        """Return the pool of bounce buffers (or of slices in flight) at an end, or -1."""
        return self.inventory.pool(side, self.ends[side], self.scenario.places) if side else -1

    def _flow(self, nbytes: int, factor: float = 1.0, detour_ps: int = 0) -> Visit:
        tx, rx = (
            self.inventory.resource(kind, *self.ends[side]) for kind, side in zip(NIC, self.ends, strict=True)
        )
        route = (tx, *self.inventory.links(self.ends["source"][0], self.ends["destination"][0]), rx)
        wired = wire_bytes(self.scenario.cluster_for_message, nbytes)
        alone = [service_ps(wired, self.inventory.resources[number].capacity_Bps) for number in route]
        if factor != 1.0:
            alone = [jitter.slowed(duration, factor) for duration in alone]
        # a flow that is held up goes on as if its sender had so many more bytes
        more = detour_ps * self.inventory.resources[tx].capacity_Bps / PS_PER_S
        link = Link(route, wired * factor + more, tuple(duration + detour_ps for duration in alone))
        return Visit(tx, link.alone_ps[0], nbytes, link=link, held_up=True)

    def _visit(self, use: Use, crossing: int, *, behind: bool, held_up: bool) -> tuple[Visit, _Times]:
        """Return a visit and its times: `behind` what the node itself sends; whether a detour holds it up."""
        node, device = self.ends[use.side]
        resource = self.inventory.resource(use.kind, node, device)
        times = [self._alone_ps(use, resource, crossing)]
        if use.kind == PROXY.kind:
            times.append(self._held_ps(use, crossing))
        for factor in self._slower(use, node):
            times = _slowed(times, factor)
        visit = Visit(
            resource,
            sum(times),
            crossing,
            self.inventory.engine(resource, use, device),
            behind,
            held_ps=sum(times[1:]),
            pauses=self._pauses(use, node),
            held_up=held_up,
        )
        return visit, times

    def _held_ps(self, use: Use, crossing: int) -> int:
        """Return how long a proxy has a message, until its NIC has sent it."""
        cluster = self.scenario.cluster_for_message
        sent = self.inventory.resources[self.inventory.resource("nic_tx", *self.ends[use.side])]
        return max(service_ps(wire_bytes(cluster, crossing), sent.capacity_Bps), cluster.nic_message_ps or 0)

    def _alone_ps(self, use: Use, resource: int, crossing: int) -> int:
        """Return how long a resource works on a slice, without noise."""
        cluster = self.scenario.cluster_for_message
        if use.kind == PROXY.kind:
            return cluster.message_ps
        if use.kind == MESSAGES.kind:
            return cluster.nic_message_ps or 0
        if resource_kind(use.kind).is_core:
            # a core's work is per payload byte; what it touches in DRAM is counted there
            return service(cluster, use.kind, use.work)(crossing)
        wired = wire_bytes(cluster, crossing) if resource_kind(use.kind).frames else crossing
        return service_ps(wired, self.inventory.resources[resource].capacity_Bps)

    def _slower(self, use: Use, node: int) -> tuple[float, ...]:
        """Return the factors that last: of the link between the two nodes, and of the node."""
        s, noise = self.scenario, self.scenario.noise
        values = []
        if s.slow_links and resource_kind(use.kind).slowed_with_node:
            values.append(1 / link_share(s, self.ends["source"][0], self.ends["destination"][0]))
        if noise.spread and not self.even:
            factor = spreads(s.seed, noise.spread, s.nodes)[node]
            values.append(
                min(factor, exp(USUAL_SIGMAS * noise.spread)) if node in self.ordinary_nodes else factor
            )
        return tuple(values)

    def _pauses(self, use: Use, node: int) -> Pauses | None:
        """Return when a node stands still, unless its resource is shared."""
        noise = self.scenario.noise
        if not noise.tick_period_ps or self.even or resource_kind(use.kind).shared:
            return None
        return pauses_of(self.scenario.seed, noise, self.scenario.nodes, self.since_ps)[node]


def _slowed(times: _Times, factor: float) -> _Times:
    # rounded after each factor, in one place, so that all engines have the same picosecond
    return times if factor == 1.0 else [jitter.slowed(time, factor) for time in times]


def _noisy_visit(visit: Visit, times: _Times, factor: float, detour_ps: int) -> Visit:
    """Return a visit of a slice with noise; it is made for each slice, so no `replace`."""
    times = _slowed(times, factor)
    duration_ps = sum(times) + (detour_ps if visit.held_up else 0)
    how = visit.nbytes, visit.engine, visit.behind, None, sum(times[1:]), visit.pauses, visit.held_up
    return Visit(visit.resource, duration_ps, *how)


class UnevenLegs:
    """The legs of the slices of one transfer, each with factors of its own; they are made when they are asked for.

    A transfer of 512 MiB has a thousand slices; made at once, they would keep a simulation from saying how far it is.
    """

    def __init__(
        self, route: Pipeline, sizes: tuple[int, ...], factors: jitter.Factors | None, detours: Whole | None
    ) -> None:
        """`factors` and `detours`, shape ``(slices, stages)``; None: there are none."""
        self._route, self._sizes, self._factors, self._detours = route, sizes, factors, detours
        self._made: dict[int, tuple[Leg, ...]] = {}
        self[0]  # whoever asks for these legs looks at the resources that they need

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, piece: int) -> tuple[Leg, ...]:
        made = self._made.get(piece)
        if made is None:
            factors = () if self._factors is None else self._factors[piece].tolist()
            detours = () if self._detours is None else self._detours[piece].tolist()
            last = piece == len(self) - 1
            made = self._route.legs(self._sizes[piece], len(self), factors, detours, last=last)
            self._made[piece] = made
        return made

    def forget(self, piece: int) -> None:
        """Keep the legs of a slice that has arrived no longer: those of 30,000 slices are 140 MB."""
        if piece:  # the first tells what all have in common
            self._made.pop(piece, None)


SliceLegs = tuple[tuple[Leg, ...], ...] | UnevenLegs
"""The legs of each slice of a transfer."""
