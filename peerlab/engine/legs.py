"""Records of what a slice goes through: legs, and the service time that each needs of the system's resources.

A leg is a chain: a resource takes a slice no sooner than the one upstream of it has begun with it, and is through with it no sooner
than that one. Until then it holds the slice.
"""

# A stage is a chain. A resource takes a slice no sooner than the one upstream has begun with it, and is
# through no sooner than upstream is through; until then it holds the slice. So no slice is on the wire
# before the NIC has begun to read it. A span says its `work`; what it lasts beyond that, the resource waits
# or shares its rate. Busy shares, the bottleneck and the critical path count work alone
# (`answer/critical_path` follows upstream from where a resource was held). In the picture a slice is at
# none of its stops before the resource there has begun with it (`picture/geometry`: `stops`, `gone`).

from dataclasses import dataclass

from peerlab.engine.noise_draws import Pauses
from peerlab.engine.standing_still import through
from peerlab.model.stages import stage_number


@dataclass(frozen=True, slots=True)
class Link:
    """What one slice sends over a contended fabric, from the sending NIC to the receiving one."""

    route: tuple[int, ...]
    """Everything whose capacity it shares, the sending and the receiving NIC included: indices in `System.resources`."""
    work: float
    """Bytes that it carries at its rate, headers included, times the jitter's factor."""
    alone_ps: tuple[int, ...]
    """For each of them, how long the bytes take there alone."""


@dataclass(frozen=True, slots=True)
class Visit:
    """The service that one slice needs of one resource, or of the links of a contended fabric."""

    resource: int
    """Index in `System.resources`. Of a fabric's links: the NIC that sends; it sends one slice at a time."""
    duration_ps: int
    """Service time, alone."""
    nbytes: int
    """Bytes that cross the resource, without the headers of a transport's packets."""
    engine: int = -1
    """For a shared resource: which of its engines; else -1."""
    behind: bool = False
    """Whether it is the receiver's resource, of a kind that the sender uses too; there, slices that a device sends go first."""
    link: Link | None = None
    """Set where it is the way over a contended fabric."""
    held_ps: int = 0
    """What of `duration_ps` is no work: a proxy has a message until the NIC has sent it."""

    pauses: Pauses | None = None
    """When its node stands still; None: never, as a shared resource, which goes on for others."""
    held_up: bool = False
    """Whether a detour of the slice holds it up."""

    @property
    def work_ps(self) -> int:
        """Its own work."""
        return self.duration_ps - self.held_ps

    def end_ps(self, start: int) -> int:
        """Return when it is done with a slice that it begins with at `start`."""
        if self.pauses is None:
            return start + self.duration_ps
        return int(through(start, self.duration_ps, *self.pauses))


@dataclass(frozen=True, slots=True)
class Flight:
    """A latency."""

    duration_ps: int
    """How long it is."""
    wire: int
    """Where a slice in flight is drawn: an index in `System.resources`."""
    after: int = 0
    """How many visits of its leg lie before it; those behind it begin, and are through, so much later."""
    stage: int = stage_number("flight")
    """Number of the stage that its span belongs to."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One stage that a slice goes through, or only a place to take from a pool or to give back."""

    stage: int
    """Number of its stage in a trace (`peerlab.model.stages.stage_number`)."""
    visits: tuple[Visit, ...] = ()
    """What it visits, in the order of its bytes."""
    flight: Flight | None = None
    """Latency between two visits, or after the last."""
    acquire: int = -1
    """Pool to take a place from before it, or -1."""
    release: int = -1
    """Pool to give the place back to after it, or -1."""
    gated: bool = False
    """Whether it needs the receiver's own contribution, added up over its node."""

    def latency_ps(self, visits: int) -> int:
        """Return the latency that lies behind so many of its visits."""
        return self.flight.duration_ps if self.flight and self.flight.after == visits else 0


@dataclass(frozen=True, slots=True)
class Lane:
    """One sender and receiver: a device of a node."""

    node: int
    """Its node."""
    device: int
    """Which of the node's devices."""
    registration_queue: int
    """Registration queue of its NIC."""
    scaleup: tuple[int, int]
    """The device's scale-up links and their reduction, or (-1, -1)."""
    wire: int
    """Where what it sends is drawn while in flight."""
