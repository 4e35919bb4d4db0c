"""A cluster as it would be if its NICs hung elsewhere, with what its file does not say of the way over the CPU."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.model.collective import AUTO
from peerlab.model.distances import SocketLink, distances
from peerlab.model.hardware import FIGURE_FIELDS, Cluster, Figure, internal_value
from peerlab.model.nic_wiring import ON, PLACES, SOCKET_SWITCH, SWITCH, Place, Wiring

_GB = 10**9
_UPLINK = "switch.uplink"
_PEER = ("host.peer_read", "host.peer_write")
_SOCKET_LINK = "host.socket_link"
_ORIGIN = "where the NICs hang"
_READING = "; no figure of reading alone was found, and it is slower on many machines"


def as_asked(cluster: Cluster, nic: str, acs_redirect: str) -> Cluster:
    """Return a cluster wired as a scenario asks: a place of its NICs and whether ACS redirect is on, each perhaps ``auto``: as it is.

    Raises
    ------
    ScenarioError
        If nothing is known of the cluster's PCIe.
    """
    if nic == acs_redirect == AUTO:
        return cluster
    redirect = None if acs_redirect == AUTO else acs_redirect == ON
    try:
        return rewired(cluster, None if nic == AUTO else nic, redirect)
    except HardwareError as problem:
        raise ScenarioError("wiring", f"{problem}; leave it at 'auto'") from None


def rewired(cluster: Cluster, nic: str | None = None, acs_redirect: bool | None = None) -> Cluster:
    """Return a cluster whose NICs hang at `nic` (key of `PLACES`); None: as they are. Likewise ACS redirect.

    Raises
    ------
    HardwareError
        If the cluster's file says nothing of the PCIe between NICs and accelerators.
    """
    # two clusters that say the same are equal, whatever their files are called; each keeps its own
    origin = next((figure.origin for figure in cluster.figures.values()), "")
    return _rewired(cluster, nic, acs_redirect, origin)


@lru_cache(maxsize=256)
def _rewired(cluster: Cluster, nic: str | None, acs_redirect: bool | None, _origin: str) -> Cluster:
    old = cluster.wiring
    place = old.nic if nic is None else nic
    redirect = old.acs_redirect if acs_redirect is None else acs_redirect
    if (place, redirect) == (old.nic, old.acs_redirect):
        return cluster
    if _UPLINK not in cluster.figures:
        raise HardwareError(
            f"{cluster.name} has no figure of a PCIe uplink, so its NICs cannot hang elsewhere"
        )
    # a source, not an assumption: in a what-if nothing else is possible
    wiring = Wiring(nic=place, acs_redirect=redirect, source="a what-if wiring", check=old.check)
    machine = _joined(cluster) if place == SOCKET_SWITCH and old.nic == SWITCH else cluster
    return with_forwarding(replace(machine, wiring=wiring))


def with_forwarding(cluster: Cluster) -> Cluster:
    """Return a cluster with what its CPUs forward between ports, and carry between sockets, where its wiring needs it.

    What its file says stays; the rest is assumed from what is known of the distance (`peerlab.model.distances`).
    """
    wiring = cluster.wiring
    if not (wiring.place.over_cpu or wiring.redirected) or _UPLINK not in cluster.figures:
        return cluster
    # ACS redirect alone turns around at the CPU's port, which is the distance of a root port
    place = wiring.place if wiring.place.over_cpu else PLACES["root-port"]
    missing = {
        figure.key: figure for figure in _forwarding(cluster, place) if figure.key not in cluster.figures
    }
    values: dict[str, Any] = {FIGURE_FIELDS[key]: internal_value(figure) for key, figure in missing.items()}
    return replace(cluster, figures=MappingProxyType({**cluster.figures, **missing}), **values)


def _joined(cluster: Cluster) -> Cluster:
    """Return a cluster one PCIe switch of which joins all that a socket has: its accelerators, its NICs, one uplink."""
    switches = cluster.switches_per_numa
    changes = {"node.switches_per_numa": 1.0}
    for key in ("node.devices_per_switch", "node.nics_per_switch"):
        changes[key] = switches * cluster.figures[key].value
    for key, value in changes.items():
        cluster = cluster.with_figure(key, value)
        # `with_figure` signs as Python, which is not who asks here
        figures = {**cluster.figures, key: replace(cluster.figures[key], origin=_ORIGIN)}
        cluster = replace(cluster, figures=MappingProxyType(figures))
    return cluster


def _forwarding(cluster: Cluster, place: Place) -> Iterator[Figure]:
    known, uplink = distances(), cluster.uplink_Bps / _GB
    from_host = min(cluster.nic_Bps / _GB, uplink)
    low, high = known.shares(place.distance)
    sources = "; ".join(
        measured_distance.source
        for measured_distance in known.measured
        if measured_distance.distance == place.distance
    )
    measured = f"{sources}: {low:.2f} to {high:.2f} of what the same device reaches in host memory"
    if place.over_sockets:
        value, ends = from_host * (low + high) / 2, (from_host * low, from_host * high)
        why = f"the middle of what was measured across sockets ({measured})"
        yield _socket_link(cluster)
    else:
        packets = 1.0 if cluster.cpu == "AMD" else known.tlp
        # the least of a range may not lie above its value, as that of a slow uplink would
        value, ends = uplink / packets, (min(from_host * low, uplink / packets), uplink)
        why = (
            f"as fast as a port ({known.tlp_source})" if packets > 1 else "as fast as a port, on AMD"
        ) + f"; at the least as measured ({measured})"
    for key in _PEER:
        reading = _READING if key == "host.peer_read" else ""
        yield _rate(key, value, ends, "per NIC", f"{why}{reading}")


def _socket_link(cluster: Cluster) -> Figure:
    links = [
        socket_link for socket_link in distances().socket_links if socket_link.cpu == (cluster.cpu or "Intel")
    ]
    rates = sorted(link.rate_Bps / _GB for link in links)
    # of Intel's the second, Skylake; of AMD's there is one
    usual: SocketLink = links[min(1, len(links) - 1)]
    why = f"as NCCL plans with {usual.generation} ({usual.source}); which processor it is, the file does not say"
    return _rate(_SOCKET_LINK, usual.rate_Bps / _GB, (rates[0], rates[-1]), "per socket, per direction", why)


def _rate(key: str, value: float, ends: tuple[float, float], basis: str, why: str) -> Figure:
    rounded = (round(ends[0], 2), round(ends[1], 2))
    return Figure(
        key=key, value=round(value, 2), unit="GB/s", basis=basis, source="", assumption=why, range=rounded,
        origin=_ORIGIN,
    )  # fmt: skip
