"""Transports: one file each, read and checked.

A transport file is TOML in ``data/transports``. It says whether NICs do RDMA over it (``rdma``), which packet sizes it allows (``mtus``, a
list, or ``mtu_range``, the smallest and the largest), whose NICs alone speak it (``nic_maker``), which transport serves a data path in its place (``[instead]``), and gives
figures as a cluster file does, under ``[transport]`` and ``[nic]``.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from peerlab.base.errors import HardwareError, ScenarioError, nearest
from peerlab.base.places import folder
from peerlab.base.textfile import read_text, read_toml
from peerlab.model.cluster_reading import read_figure
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS, Cluster, Figure, internal_value
from peerlab.model.transport_record import NIC_MAKERS, TransportRecord

_MOST_BYTES = 2**18
_SECTION = "transport."
_RATE = "nic.per_message"
# Any machine may be asked for it: it is there to see what headers cost.
_ADDS_NOTHING = "ideal"
_PACKETS = ("transport.mtu", "transport.header")
"""Figures that a transport has both, or neither."""


@cache
def known_transports() -> tuple[str, ...]:
    """Return the names of the transports that come with peerlab."""
    return tuple(sorted(path.stem for path in (folder("data") / "transports").glob("*.toml")))


def possible_transports(cluster: Cluster) -> tuple[str, ...]:
    """Return the transports that a cluster may be asked for: those that its file lists, else all; the ideal one, which adds nothing, always."""
    if not cluster.transports:
        return known_transports()
    return tuple(name for name in known_transports() if name in (*cluster.transports, _ADDS_NOTHING))


def load_transport(name: str) -> TransportRecord:
    """Return a transport by name, or from a TOML file of your own, such as one with the header of a VLAN.

    Raises
    ------
    ScenarioError
        If there is none of this name.
    HardwareError
        If its file is damaged.
    """
    if not is_own_file(name):
        return _shipped(name)
    # The name decides whether a cluster's own figures are this transport's (`with_transport`).
    own = _of_file(Path(name))  # it may have changed
    if own.name in known_transports():
        raise HardwareError(
            f"{name}: name = {own.name!r} is a transport that comes with peerlab; give yours a name of its own"
        )
    return own


def is_own_file(name: object) -> bool:
    """Return whether a transport is named by the path of its file."""
    return str(name).endswith(".toml")


@cache
def _shipped(name: str) -> TransportRecord:
    if name not in known_transports():
        offer = nearest(str(name), known_transports())
        raise ScenarioError(
            "transport", f"unknown {name!r:.60}; {offer}; or the path of a .toml file of your own"
        )
    return _of_file(folder("data") / "transports" / f"{name}.toml")


def _of_file(path: Path) -> TransportRecord:
    return read_transport(
        read_text(path, what="transport file", most_bytes=_MOST_BYTES, error=HardwareError), str(path)
    )


def read_transport(text: str, where: str) -> TransportRecord:
    """Return the transport that a TOML text describes; `where` names it in errors.

    Raises
    ------
    HardwareError
        One line with the first thing that is wrong.
    """
    try:
        return _transport(read_toml(text, "this is not a TOML file", HardwareError))
    except HardwareError as problem:
        raise HardwareError(f"{where}: {problem}") from None


def _transport(document: dict[str, Any]) -> TransportRecord:
    known = (
        "name",
        "title",
        "summary",
        "rdma",
        "mtus",
        "mtu_range",
        "instead",
        "nic_maker",
        "transport",
        "nic",
    )
    for entry in document:
        if entry not in known:
            raise HardwareError(f"unknown entry {entry!r}; {nearest(entry, known)}")
    for entry in ("name", "title", "summary"):
        if not isinstance(document.get(entry), str) or not document[entry].isprintable():
            raise HardwareError(f"{entry} is missing; it is a text at the top of the file")
    if not isinstance(document.get("rdma"), bool):
        raise HardwareError("rdma must be true or false")
    between = _mtu_range(document)
    figures = {**_figures(document, "transport"), **_figures(document, "nic")}
    lacking = [key for key in _PACKETS if key not in figures]
    # without both there are no packets, and bytes on the wire are the message's own
    if len(lacking) == 1:
        raise HardwareError(f"{lacking[0]} is missing; MTU and header belong together")
    transport_record = TransportRecord(
        name=document["name"],
        title=document["title"],
        summary=document["summary"],
        rdma=document["rdma"],
        mtus=_sizes(document, "mtus"),
        mtu_range=(between[0], between[1]) if between else None,
        instead=dict(document.get("instead", {})),
        figures=figures,
        nic_maker=_nic_maker(document),
    )
    if not lacking:
        _check_own(transport_record)
    return transport_record


def _mtu_range(document: dict[str, Any]) -> tuple[int, ...]:
    between = _sizes(document, "mtu_range")
    if len(between) not in (0, 2) or list(between) != sorted(between):
        raise HardwareError("mtu_range must be the smallest and the largest packet, such as [576, 9216]")
    return between


def _nic_maker(document: dict[str, Any]) -> str:
    maker = document.get("nic_maker", "")
    if maker and maker not in NIC_MAKERS:
        raise HardwareError(f"nic_maker = {maker!r:.60} is unknown; {nearest(str(maker), NIC_MAKERS)}")
    return str(maker)


def _check_own(transport: TransportRecord) -> None:
    """Refuse a packet that the transport itself forbids, and one without room for payload."""
    mtu, inside = (
        int(internal_value(transport.figures[key])) if key in transport.figures else 0
        for key in ("transport.mtu", "transport.inside")
    )
    try:
        transport.check_mtu(mtu)
    except ScenarioError as problem:
        raise HardwareError(f"transport.{problem}") from None
    # `wire_bytes` divides by what the headers inside leave of a packet
    if min((*transport.mtus, *(transport.mtu_range or ()))) <= inside:
        raise HardwareError("transport.inside leaves no room for payload in the smallest packet")


def check_own_figures(name: str, figures: Mapping[str, Figure]) -> None:
    """Refuse figures of a cluster's own transport that make no transport: packets that it forbids, or figures of none.

    Raises
    ------
    HardwareError
        With the first figure that is wrong.
    """
    own = {key: figure for key, figure in figures.items() if key.startswith(_SECTION)}
    if not own:
        return
    first = next(iter(own))
    if not name:
        raise HardwareError(
            f"{first} stands without transport.name, so it would not count; name the transport"
        )
    transport_record = load_transport(name)
    if not transport_record.figures:
        raise HardwareError(f"{first} is no figure of transport {name!r}, which adds nothing; leave it out")
    _check_own(replace(transport_record, figures={**transport_record.figures, **own}))


def _sizes(document: dict[str, Any], entry: str) -> tuple[int, ...]:
    given = document.get(entry, [])
    if not isinstance(given, list) or not all(
        isinstance(element, int) and 0 < element < 2**20 for element in given
    ):
        raise HardwareError(f"{entry} = {given!r} must be a list of packet sizes in bytes")
    return tuple(given)


def _figures(document: dict[str, Any], section: str) -> dict[str, Figure]:
    entries = document.get(section, {})
    keys = [key for key in FIGURE_KINDS if key.startswith(_SECTION) or key == _RATE]
    known = [key.partition(".")[2] for key in keys if key.startswith(f"{section}.")]
    if not isinstance(entries, dict):
        raise HardwareError(f"[{section}] must be a table of figures")
    for name in entries:
        if name not in known:
            raise HardwareError(f"unknown figure {section}.{name}; {nearest(name, known)}")
    origin = f"transport file {document['name']}.toml"
    return {
        f"{section}.{name}": replace(read_figure(f"{section}.{name}", entry), origin=origin)
        for name, entry in entries.items()
    }


# ---- a machine on a transport -----------------------------------------------------------------------------------


def nic_maker(cluster: Cluster) -> str:
    """Return who makes the NICs of a cluster, by the transports that its file lists; empty where none of them tells it.

    >>> from peerlab.question.presets import load_cluster
    >>> nic_maker(load_cluster("p4d"))
    'Amazon'
    """
    return next((maker for name in cluster.transports if (maker := load_transport(name).nic_maker)), "")


def with_transport(cluster: Cluster, transport: TransportRecord, mtu: int | None) -> Cluster:
    """Return a cluster with a transport's figures; those of its own file stay if it names this transport, and so does its NIC's message rate."""
    wanted = dict(transport.figures)
    named = cluster.transport == transport.name
    wanted |= {
        key: figure
        for key, figure in cluster.figures.items()
        # a message rate is the NIC's, whatever it speaks
        if key == _RATE or (named and key.startswith(_SECTION))
    }
    if mtu is not None:
        wanted["transport.mtu"] = replace(
            wanted["transport.mtu"], value=mtu, unit="B", source="given", assumption="", range=None,
            origin="the scenario",
        )  # fmt: skip
    keys = [key for key in FIGURE_KINDS if key.startswith(_SECTION) or key == _RATE]
    figures = {key: figure for key, figure in cluster.figures.items() if key not in keys} | wanted
    values: dict[str, Any] = {
        FIGURE_FIELDS[key]: internal_value(wanted[key]) if key in wanted else None for key in keys
    }
    return replace(cluster, figures=MappingProxyType(figures), transport=transport.name, **values)
