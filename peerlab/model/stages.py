"""What happens to a slice on its way: one record for every kind of stage, and what a stage asks of resources."""

from dataclasses import dataclass
from typing import Literal

Side = Literal["source", "destination"]

Track = Literal[
    "device to host memory",
    "host memory to device",
    "through the CPU",
    "through the receiver's CPU",
    "host memory to host memory",
    "host memory to the other device",
    "device to device",
    "port to port",
    "device to shared memory",
    "shared memory to the other device",
    "inside the device",
    "",
]
"""A way through the data path's picture (`peerlab.picture.geometry`)."""


@dataclass(frozen=True, kw_only=True)
class StageKind:
    """One kind of stage that a span can belong to."""

    says: str
    """What happens, in plain words with the field's term."""
    legend: str = ""
    """The same where room is short; empty: `says`."""
    role: str
    """Role of its colour (`peerlab.picture.theme`)."""
    track: Track = ""
    """The way that slices take through the data path's picture; empty: not drawn, so the caption names it."""
    counts_as: Literal["copy", "send", "flight", "registration", "reduction", "exchange"]
    """What a slice does in it, for pictures; an *exchange* is between the devices of one node.

    Figures such as copies per byte follow from what the resources' bytes count as (`ResourceKind.counts_as`), not from this.
    """


# A new one goes to the end, so that the numbers of the others stay.
STAGES: dict[str, StageKind] = {
    "launch": StageKind(
        says="launch of the collective (library)",
        legend="launch, hops inside the node",
        role="inside",
        counts_as="flight",
    ),
    "inside": StageKind(
        says="hops inside the node (library)",
        legend="launch, hops inside the node",
        role="inside",
        counts_as="flight",
    ),
    "apart": StageKind(
        says="exchange inside the node that does not overlap (scale-up)",
        legend="scale-up links inside the node",
        role="gather",
        counts_as="exchange",
    ),
    "gather": StageKind(
        says="collect from the node's other devices (scale-up)",
        legend="scale-up links inside the node",
        role="gather",
        counts_as="exchange",
    ),
    # no track, as no exchange inside a node has one: the caption names it
    "gather-reduce": StageKind(says="add up the node's devices", role="inside", counts_as="exchange"),
    "register": StageKind(says="register memory (MR)", role="register", counts_as="registration"),
    "deregister": StageKind(says="deregister memory", role="register", counts_as="registration"),
    "d2h": StageKind(
        says="copy to host memory (D2H)",
        legend="copy to host memory or back",
        role="copy",
        track="device to host memory",
        counts_as="copy",
    ),
    "cpu-send": StageKind(
        says="CPU: kernel copy and TCP send",
        legend="CPU: kernel copies and TCP/IP",
        role="cpu",
        track="through the CPU",
        counts_as="copy",
    ),
    "network": StageKind(
        says="NIC to NIC, through host memory",
        role="network",
        track="host memory to host memory",
        counts_as="send",
    ),
    "direct": StageKind(
        says="NIC to NIC, straight from device memory",
        role="direct",
        track="device to device",
        counts_as="send",
    ),
    "half-direct": StageKind(
        says="NIC to NIC, from host memory straight into device memory",
        role="direct",
        track="host memory to the other device",
        counts_as="send",
    ),
    "wire": StageKind(says="port to port", role="network", track="port to port", counts_as="send"),
    "flight": StageKind(says="in flight (latency)", legend="in flight", role="flight", counts_as="flight"),
    "flush": StageKind(says="flush of received data", legend="in flight", role="flight", counts_as="flight"),
    "cpu-receive": StageKind(
        says="CPU: TCP receive and kernel copy",
        legend="CPU: kernel copies and TCP/IP",
        role="cpu",
        track="through the receiver's CPU",
        counts_as="copy",
    ),
    "h2d": StageKind(
        says="copy to device memory (H2D)",
        legend="copy to host memory or back",
        role="copy",
        track="host memory to device",
        counts_as="copy",
    ),
    "reduce": StageKind(
        says="add to the device's own data",
        legend="add up on the device",
        role="inside",
        track="inside the device",
        counts_as="reduction",
    ),
    "broadcast": StageKind(
        says="hand to the node's other devices (scale-up)",
        legend="scale-up links inside the node",
        role="gather",
        counts_as="exchange",
    ),
    "share": StageKind(
        says="copy to the node's other ranks (shared memory)",
        legend="copies inside the node",
        role="gather",
        counts_as="exchange",
    ),
    "switch-sum": StageKind(
        says="the node's switch adds up what all devices have (NVLink SHARP)",
        legend="sums by the node's switch (NVLink SHARP)",
        role="gather",
        counts_as="exchange",
    ),
    "switch-copy": StageKind(
        says="the node's switch copies a sum to all devices (NVLink SHARP)",
        legend="sums by the node's switch (NVLink SHARP)",
        role="gather",
        counts_as="exchange",
    ),
    "copy-start": StageKind(
        says="start of a staged copy (assumed)", legend="start of a copy", role="flight", counts_as="flight"
    ),
    "by-nic": StageKind(
        says="exchange inside the node by the devices' NICs (library)",
        legend="launch, hops inside the node",
        role="inside",
        counts_as="exchange",
    ),
}
"""Every kind of stage; a trace numbers them in this order."""


FLIGHT = "flight"
"""The stage of a slice's latency, between two visits or after the last."""


def stage_kind(name: str) -> StageKind:
    """Return a kind of stage.

    Raises
    ------
    LookupError
        If there is none of this name.
    """
    if name not in STAGES:
        raise LookupError(f"no stage is called {name!r}; known are {', '.join(STAGES)}")
    return STAGES[name]


def stage_number(name: str) -> int:
    """Return the number of a stage in a trace."""
    # by the order of the table, which is that of `Trace.stages`
    return list(STAGES).index(name)


@dataclass(frozen=True)
class Use:
    """What a stage asks of one resource."""

    kind: str
    """Key of :data:`peerlab.model.resources.RESOURCES`."""
    side: Side
    """Whether it is the sender's or the receiver's."""
    engine: str = ""
    """For a shared resource: the engine that uses it (one slice per engine at a time)."""
    touches: int = 1
    """Bytes that cross the resource per byte of the slice."""
    work: str = ""
    """For a core: the field of `Cluster` with the rate of this work, if it is not the kernel's copy and TCP."""


OVER_FABRIC = "latency_ps"
"""The flight over the network between the nodes: field of `Cluster`."""


@dataclass(frozen=True)
class Stage:
    """One stage of a slice's way, on one data path."""

    name: str
    """Key of :data:`STAGES`."""
    uses: tuple[Use, ...]
    """Resources in the order in which a byte meets them: the sender's, then the receiver's; where a CPU works, its core first.

    A resource takes a slice no sooner than the one before it in this order has begun with it, and is through no sooner than that one.
    """
    flight: str = ""
    """Field of `Cluster` with the latency behind the resources of its first side; it delays the slice and occupies nothing."""
    acquire: Side | None = None
    """Side whose window (bounce buffer, for staging) the slice must hold before the stage."""
    release: Side | None = None
    """Side whose window it gives back after the stage."""

    @property
    def crosses_fabric(self) -> bool:
        """Whether slices fly over the network between the nodes behind it."""
        return self.flight == OVER_FABRIC

    @property
    def side(self) -> Side:
        """Where it begins."""
        return "source" if any(use.side == "source" for use in self.uses) else "destination"
