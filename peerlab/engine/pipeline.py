"""From the stages of a data path to the legs of a slice: which resources each needs, and for how long."""

from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.engine import jitter
from peerlab.engine.inventory import Inventory
from peerlab.engine.legs import Flight, Leg, Link, Visit
from peerlab.model.fabrics import NIC
from peerlab.model.paths import REDUCE
from peerlab.model.resources import resource_kind, service
from peerlab.model.scenario import Scenario
from peerlab.model.stages import Side, Stage, Use, stage_number
from peerlab.units import service_ps


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
            leg = self._leg(stage, nbytes, factor, envelope)
            if scenario.blocking and pieces > 1 and stage is not REDUCE:
                # a pool of one place: the worker takes the next slice when the latency of this one is over
                worker = self.inventory.pool(stage.name, self.ends[stage.side], 1)
                legs += [Leg(leg.stage, acquire=worker), leg, Leg(leg.stage, release=worker)]
            else:
                legs.append(leg)
        return tuple(legs)

    def _leg(self, stage: Stage, nbytes: int, factor: float, envelope: int) -> Leg:
        through_fabric = self.scenario.fabric.contended and any(use.kind in NIC for use in stage.uses)
        # over a contended fabric the NICs are links of the flow, not resources that serve by themselves
        uses = [use for use in stage.uses if not (through_fabric and use.kind in NIC)]
        visits = [self._visit(use, nbytes, factor, envelope) for use in uses]
        sent = {use.kind for use in uses if use.side == "source" and not resource_kind(use.kind).shared}
        # on every node a device sends and receives; a core that does both serves what it sends first
        after = [use for use in uses if use.side == "destination" and use.kind in sent]
        alone = [(v, use) for v, use in zip(visits, uses, strict=True) if v.engine < 0]
        return Leg(
            stage=stage_number(stage.name),
            exclusive=tuple(v for v, use in alone if use not in after),
            after=tuple(v for v, use in alone if use in after),
            shared=tuple(v for v in visits if v.engine >= 0),
            link=self._link(nbytes + envelope, factor) if through_fabric else None,
            flight=self._flight(stage),
            acquire=self._place(stage.acquire),
            release=self._place(stage.release),
            gated=stage is REDUCE and self.gated,
        )

    def _flight(self, stage: Stage) -> Flight | None:
        duration_ps: int = (
            (getattr(self.scenario.cluster_for_message, stage.flight) or 0) if stage.flight else 0
        )
        wire = self.inventory.resource("wire", *self.ends[stage.side]) if duration_ps else -1
        return Flight(duration_ps, wire) if duration_ps else None

    def _place(self, side: Side | None) -> int:
        """Return the pool of bounce buffers (or of slices in flight) at an end, or -1."""
        return self.inventory.pool(side, self.ends[side], self.scenario.window_slices) if side else -1

    def _link(self, nbytes: int, factor: float) -> Link:
        tx, rx = (
            self.inventory.resource(kind, *self.ends[side]) for kind, side in zip(NIC, self.ends, strict=True)
        )
        between = self.inventory.links(self.ends["source"][0], self.ends["destination"][0])
        return Link(tx, (tx, *between, rx), nbytes, nbytes * factor)

    def _visit(self, use: Use, nbytes: int, factor: float, envelope: int) -> Visit:
        node, device = self.ends[use.side]
        resource = self.inventory.resource(use.kind, node, device)
        crossing = (nbytes + envelope) * use.touches
        # a core's work is per payload byte; what it touches in DRAM is counted there
        if use.kind == "core":
            duration = service(self.scenario.cluster_for_message, use.kind, use.work)(crossing)
        else:
            duration = service_ps(crossing, self.inventory.resources[resource].capacity_Bps)
        # rounded after the factor, in one place, so that all engines have the same picosecond
        if factor != 1.0:
            duration = jitter.slowed(duration, factor)
        return Visit(resource, duration, crossing, self.inventory.engine(resource, use, device))
