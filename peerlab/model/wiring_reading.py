"""The section ``[wiring]`` of a cluster file: where the NICs hang, on what evidence, and what else may be true.

As in::

    [wiring]
    nic = "switch"                 # switch, root-port, socket-switch or other-socket
    acs_redirect = false
    assumption = "each NIC hangs below the switch of a pair"
    evidence = "an lspci shows p4d's numbering"
    suggests = "p4d's bus numbering"
    check = "`peerlab doctor` on one node tells"

    [[wiring.other]]
    nic = "root-port"
    possible = true
    because = "the provider's sentence can be read that way"
"""

from collections.abc import Mapping
from typing import Any

from peerlab.base.errors import HardwareError, nearest
from peerlab.model.hardware import Figure
from peerlab.model.nic_wiring import ASK, PLACES, ROOT_PORT, SOCKET_SWITCH, SWITCH, OtherWiring, Wiring

_TOPOLOGY = ("node.nics_per_switch", "node.numa_domains", "node.switches_per_numa", "node.devices_per_switch")
"""Figures that say together how a node is wired: one assumption, whichever of them is marked; the first that is counts."""
_TEXTS = ("source", "assumption", "evidence", "suggests", "check")
_ENTRIES = ("nic", "acs_redirect", *_TEXTS, "other")
_OTHER = ("nic", "acs_redirect", "possible", "because")
_MOST_OTHERS = 16


def read_wiring(section: Any) -> Wiring:
    """Return what the section says.

    Raises
    ------
    HardwareError
        One line with the first thing that is wrong.
    """
    _check_entries(section, "wiring", _ENTRIES)
    texts = {name: _text(section, "wiring", name) for name in _TEXTS}
    if not texts["source"] and not texts["assumption"]:
        raise HardwareError('wiring has no source; give source = "..." or say assumption = "..."')
    others = section.get("other", [])
    if not isinstance(others, list) or len(others) > _MOST_OTHERS:
        raise HardwareError(
            f"wiring.other must be a list of tables, [[wiring.other]], at most {_MOST_OTHERS}"
        )
    return Wiring(
        nic=_place(section, "wiring"),
        acs_redirect=_switch(section, "wiring", "acs_redirect", default=False),
        others=tuple(map(_other, others)),
        **{**texts, "check": texts["check"] or ASK},
    )


def wiring_by_rule(figures: Mapping[str, Figure]) -> Wiring:
    """Return the wiring of a file without the section: NICs below the switch, assumed if a count of the topology is.

    What else may be true is then both that the NIC has a root port of its own and that one switch joins a socket.
    """
    assumed = [figures[key] for key in _TOPOLOGY if key in figures and figures[key].assumption]
    # A count with a range goes through it in the band; one without can only stand for another wiring.
    marked = next((figure for figure in assumed if not figure.range), None)
    if marked is None:
        # no count is assumed, or each that is has a range
        return Wiring()
    others = [OtherWiring(nic=ROOT_PORT)]
    switches = figures.get("node.switches_per_numa")
    if switches and switches.value > 1:
        others.append(OtherWiring(nic=SOCKET_SWITCH))
    described = "switch.uplink" in figures
    # without the uplink's rate no other wiring could be simulated (`model/rewiring`)
    return Wiring(assumption=marked.assumption, others=tuple(others) if described else ())


def _other(entry: Any) -> OtherWiring:
    _check_entries(entry, "wiring.other", _OTHER)
    return OtherWiring(
        nic=_place(entry, "wiring.other"),
        acs_redirect=_switch(entry, "wiring.other", "acs_redirect", default=False),
        possible=_switch(entry, "wiring.other", "possible", default=True),
        because=_text(entry, "wiring.other", "because"),
    )


def _check_entries(section: Any, where: str, known: tuple[str, ...]) -> None:
    if not isinstance(section, dict):
        raise HardwareError(f"[{where}] must be a table with nic = {SWITCH!r} or another place")
    for name in section:
        if name not in known:
            raise HardwareError(f"[{where}] has an unknown entry {name!r}; {nearest(name, known)}")


def _place(section: dict[str, Any], where: str) -> str:
    given = section.get("nic", SWITCH)
    if not isinstance(given, str) or given not in PLACES:
        raise HardwareError(f"{where}.nic = {given!r} is no place; {nearest(str(given), PLACES)}")
    return given


def _switch(section: dict[str, Any], where: str, name: str, *, default: bool) -> bool:
    given = section.get(name, default)
    # a text such as "off" would count as true
    if not isinstance(given, bool):
        raise HardwareError(f"{where}.{name} must be true or false, not {given!r}")
    return given


def _text(section: dict[str, Any], where: str, name: str) -> str:
    given = section.get(name, "")
    if not isinstance(given, str) or not (given.isprintable() or not given):
        raise HardwareError(f"{where}.{name} must be one line of letters that can be printed, not {given!r}")
    return given.strip()
