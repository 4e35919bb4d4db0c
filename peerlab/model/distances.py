"""What is known of the distance between a NIC and an accelerator: ``data/wiring.toml``, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from peerlab.base.data_file import read_facts
from peerlab.base.units import parse_rate


@dataclass(frozen=True)
class MeasuredDistance:
    """What somebody measured over one distance, straight to device memory and to host memory."""

    distance: str
    what: str
    direct: float
    """Straight to device memory, in `unit`."""
    host: float
    """To host memory, in `unit`."""
    unit: str
    source: str

    @property
    def share(self) -> float:
        """What of the rate to host memory is left straight to device memory, 0 to 1."""
        # of the same card on the same machine, so that cards of different rates compare
        return self.direct / self.host


@dataclass(frozen=True)
class SocketLink:
    """What NCCL plans with for a link between two sockets."""

    cpu: str
    """The processor's maker."""
    generation: str
    value: float
    unit: str
    basis: str
    source: str

    @property
    def rate_Bps(self) -> int:  # noqa: N802
        """Bytes per second and direction."""
        return parse_rate(self.value, self.unit)


@dataclass(frozen=True)
class Distances:
    """Everything that is known of distances."""

    titles: Mapping[str, str]
    """By nvidia-smi's word, nearest first: what it means."""
    direct_up_to: str
    """The farthest distance over which NCCL does GPUDirect RDMA by itself."""
    direct_source: str
    read_source: str
    """Where it is read that device memory is read by NICs with NVLink only."""
    measured: tuple[MeasuredDistance, ...]
    socket_links: tuple[SocketLink, ...]
    tlp: float
    """Bytes on the link per byte of peer traffic that an Intel CPU forwards."""
    tlp_source: str

    def shares(self, distance: str) -> tuple[float, float]:
        """Return the smallest and the largest share of the rate to host memory that was measured over a distance."""
        values = [
            measured_distance.share
            for measured_distance in self.measured
            if measured_distance.distance == distance
        ]
        return min(values), max(values)


@cache
def distances() -> Distances:
    """Return what ``data/wiring.toml`` says.

    Raises
    ------
    HardwareError
        If the file is damaged.
    """
    return read_facts("wiring.toml", "file of distances", _read)


def _read(document: dict[str, Any]) -> Distances:
    direct, tlp = document["direct"], document["tlp"]
    return Distances(
        # read-only, as everybody gets the one that was read
        titles=MappingProxyType({entry["name"]: entry["title"] for entry in document["distance"]}),
        direct_up_to=direct["up_to"],
        direct_source=direct["source"],
        read_source=direct["read_source"],
        measured=tuple(MeasuredDistance(**entry) for entry in document["measured"]),
        socket_links=tuple(SocketLink(**entry) for entry in document["socket_link"]),
        tlp=float(tlp["value"]),
        tlp_source=tlp["source"],
    )
