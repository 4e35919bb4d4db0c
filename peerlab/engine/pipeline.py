"""From the stages of a data path to the legs of a slice: which resources each needs, and for how long."""

from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.base.units import service_ps
from peerlab.engine import jitter
from peerlab.engine.inventory import Inventory
from peerlab.engine.legs import Flight, Leg, Link, Visit
from peerlab.model.fabrics import NIC
from peerlab.model.paths import MESSAGES, PROXY, REDUCE
from peerlab.model.resources import resource_kind, service
from peerlab.model.stages import Side, Stage, Use, stage_kind, stage_number
from peerlab.model.transport_record import wire_bytes
from peerlab.question.scenario import Scenario


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

    def legs(self, nbytes: int, pieces: int, factors: Sequence[float], *, last: bool) -> tuple[Leg, ...]:
        """Return the legs of a slice; in blocking code a stage's worker takes one slice at a time, latency included.

        Parameters
        ----------
        nbytes:
            Bytes of the slice.
        pieces:
            Slices of its transfer.
        factors:
            Jitter of each stage's service times; empty: there is none.
        last:
            Whether it is its transfer's last slice, with which the transport's envelope goes.
        """
        scenario = self.scenario
        legs: list[Leg] = []
        for number, stage in enumerate(
            scenario.stages + ((REDUCE,) if self.adds and scenario.reduces else ())
        ):
            factor = factors[number] if factors else 1.0
            envelope = int(scenario.envelope_bytes) if last and stage is not REDUCE else 0
            leg = self._leg(stage, nbytes if stage is REDUCE else self._sent(nbytes), factor, envelope)
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

    def _leg(self, stage: Stage, nbytes: int, factor: float, envelope: int) -> Leg:
        through_fabric = self.scenario.fabric.contended and any(use.kind in NIC for use in stage.uses)
        sent = {use.kind for use in stage.uses if use.side == "source" and not resource_kind(use.kind).shared}
        visits: list[Visit] = []
        flies_after = 0
        for use in stage.uses:
            # over a contended fabric the NICs are links of the flow, which is one resource of the chain
            if through_fabric and use.kind in NIC:
                if use.side == "source":
                    visits.append(self._flow(nbytes + envelope, factor))
            else:
                # on every node a device sends and receives; a core that does both serves what it sends first
                behind = use.side == "destination" and use.kind in sent
                visits.append(self._visit(use, nbytes, factor, envelope, behind=behind))
            if use.side == stage.side:
                flies_after = len(visits)
        return Leg(
            stage=stage_number(stage.name),
            visits=tuple(visits),
            flight=self._flight(stage, flies_after),
            acquire=self._place(stage.acquire),
            release=self._place(stage.release),
            gated=stage is REDUCE and self.gated,
        )

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

    def _flow(self, nbytes: int, factor: float) -> Visit:
        tx, rx = (
            self.inventory.resource(kind, *self.ends[side]) for kind, side in zip(NIC, self.ends, strict=True)
        )
        route = (tx, *self.inventory.links(self.ends["source"][0], self.ends["destination"][0]), rx)
        wired = wire_bytes(self.scenario.cluster_for_message, nbytes)
        alone = [service_ps(wired, self.inventory.resources[one].capacity_Bps) for one in route]
        if factor != 1.0:
            alone = [jitter.slowed(duration, factor) for duration in alone]
        return Visit(tx, alone[0], nbytes, link=Link(route, wired * factor, tuple(alone)))

    def _visit(self, use: Use, nbytes: int, factor: float, envelope: int, *, behind: bool) -> Visit:
        node, device = self.ends[use.side]
        resource = self.inventory.resource(use.kind, node, device)
        cluster = self.scenario.cluster_for_message
        crossing = (nbytes + envelope) * use.touches
        if use.kind == PROXY.kind:
            sent = self.inventory.resources[self.inventory.resource("nic_tx", node, device)]
            held = max(
                service_ps(wire_bytes(cluster, crossing), sent.capacity_Bps), cluster.nic_message_ps or 0
            )
            times = (cluster.message_ps, held)
            posted, held = (jitter.slowed(one, factor) if factor != 1.0 else one for one in times)
            return Visit(resource, posted + held, crossing, held_ps=held)
        if use.kind == MESSAGES.kind:
            duration = cluster.nic_message_ps
        elif resource_kind(use.kind).is_core:
            # a core's work is per payload byte; what it touches in DRAM is counted there
            duration = service(cluster, use.kind, use.work)(crossing)
        else:
            wired = wire_bytes(cluster, crossing) if resource_kind(use.kind).frames else crossing
            duration = service_ps(wired, self.inventory.resources[resource].capacity_Bps)
        # rounded after the factor, in one place, so that all engines have the same picosecond
        if factor != 1.0:
            duration = jitter.slowed(duration, factor)
        return Visit(resource, duration, crossing, self.inventory.engine(resource, use, device), behind)


class UnevenLegs:
    """The legs of the slices of one transfer, each with factors of its own; they are made when they are asked for.

    A transfer of 512 MiB has a thousand slices; made at once, they would keep a simulation from saying how far it is.
    """

    def __init__(self, route: Pipeline, sizes: tuple[int, ...], factors: jitter.Factors) -> None:
        self._route, self._sizes, self._factors = route, sizes, factors
        self._made: dict[int, tuple[Leg, ...]] = {}
        self[0]  # whoever asks for these legs looks at the resources that they need

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, piece: int) -> tuple[Leg, ...]:
        made = self._made.get(piece)
        if made is None:
            factors, last = self._factors[piece].tolist(), piece == len(self) - 1
            made = self._route.legs(self._sizes[piece], len(self), factors, last=last)
            self._made[piece] = made
        return made


SliceLegs = tuple[tuple[Leg, ...], ...] | UnevenLegs
"""The legs of each slice of a transfer."""
