"""Records of what a slice goes through: legs, and the service time that each needs of the system's resources."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Visit:
    """The service that one slice needs of one resource."""

    resource: int
    """Index in `System.resources`."""
    duration_ps: int
    """Service time, alone."""
    nbytes: int
    """Bytes that cross the resource."""
    engine: int
    """For a shared resource: which of its engines; else -1."""


@dataclass(frozen=True, slots=True)
class Link:
    """What one slice sends over a contended fabric."""

    sender: int
    """The NIC that sends: an index in `System.resources`. It sends one slice at a time."""
    route: tuple[int, ...]
    """Everything whose capacity it shares, the sending and the receiving NIC included."""
    nbytes: int
    """Bytes it carries."""
    work: float
    """The same bytes times the jitter's factor: what the flow has to carry at its rate."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A latency."""

    duration_ps: int
    """How long it is."""
    wire: int
    """Where a slice in flight is drawn: an index in `System.resources`."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One stage that a slice goes through, or only a place to take from a pool or to give back."""

    stage: int
    """Number of its stage in a trace (`peerlab.model.stages.stage_number`)."""
    exclusive: tuple[Visit, ...] = ()
    """Exclusive resources it visits."""
    after: tuple[Visit, ...] = ()
    """Exclusive resources of the receiver, of kinds that it visits at the sender too; there, slices that a device sends go first."""
    shared: tuple[Visit, ...] = ()
    """Shared resources it visits."""
    link: Link | None = None
    """What it sends over a contended fabric."""
    flight: Flight | None = None
    """Latency after it."""
    acquire: int = -1
    """Pool to take a place from before it, or -1."""
    release: int = -1
    """Pool to give the place back to after it, or -1."""
    gated: bool = False
    """Whether it needs the receiver's own contribution, added up over its node."""


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
