"""What fabrics do when a queue grows: figures with their sources (``data/port_fabrics.toml``), and the fabric that they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from peerlab.base.data_file import read_facts
from peerlab.base.errors import ScenarioError, nearest
from peerlab.engine.ports.port_forms import headroom_bytes
from peerlab.engine.ports.port_scene import ONE, RECOVERIES, MarkedRates, PortFabric

FILE = "port_fabrics.toml"
_PS_PER_US = 10**6
MARKING = "kmin"
"""A fabric that has it marks."""
_UNPUBLISHED = ("srd", "efa")
"""Names of a fabric of which nobody has published what its queues and senders do."""


@dataclass(frozen=True, kw_only=True)
class PortFigure:
    """One figure of a fabric."""

    value: float
    unit: str
    source: str = ""
    assumption: str = ""
    """Why it is so, where nobody publishes it."""
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class PortFigures:
    """A fabric in figures."""

    name: str
    title: str
    does: str
    figures: Mapping[str, PortFigure]

    def values(self, changes: Mapping[str, float]) -> dict[str, float]:
        """Return every figure, those that are changed included.

        Raises
        ------
        ScenarioError
            If the fabric has no such figure, or it is below 0.
        """
        for name, value in changes.items():
            if name not in self.figures:
                raise ScenarioError("figure", f"{self.title} has no {name!r}; {nearest(name, self.figures)}")
            if not 0 <= value < 1e15:
                raise ScenarioError("figure", f"{name} = {value:g} is not possible; give 0 or more")
        return {name: figure.value for name, figure in self.figures.items()} | dict(changes)


@cache
def port_fabrics() -> Mapping[str, PortFigures]:
    """Return the fabrics whose queues are simulated, by name.

    >>> list(port_fabrics())
    ['infiniband', 'roce-pfc', 'roce-lossy', 'roce-dcqcn']
    """
    return read_facts(FILE, "file of what fabrics do when a queue grows", _read)


def _read(document: Mapping[str, Any]) -> dict[str, PortFigures]:
    return {
        name: PortFigures(name, entry["title"], entry["does"], {key: _figure(value) for key, value in entry.items() if isinstance(value, dict)})
        for name, entry in document.items()
    }  # fmt: skip


def _figure(entry: Mapping[str, Any]) -> PortFigure:
    figure = PortFigure(**{**entry, "range": tuple(entry["range"]) if "range" in entry else None})
    if not figure.source and not figure.assumption:
        # `read_facts` makes one line of it
        raise ValueError(entry)
    return figure


def check_fabric(name: str) -> None:
    """Refuse a fabric whose queues are not simulated.

    Raises
    ------
    ScenarioError
        In one line.
    """
    if name in port_fabrics():
        return
    if name in _UNPUBLISHED:
        why = "AWS has not published what SRD does when a queue grows, so no cells are simulated for it; `peerlab fabrics` has its bytes and latency, as assumptions"
        raise ScenarioError("fabric", f"{name}: {why}; known: {', '.join(port_fabrics())}")
    raise ScenarioError("fabric", f"there is no fabric {name!r:.40}; {nearest(name, port_fabrics())}")


def port_fabric(values: Mapping[str, float], name: str, rate: int, cell: int, given: Mapping[str, Any]) -> PortFabric:  # fmt: skip
    """Return a fabric of these figures.

    Parameters
    ----------
    rate:
        Of the fastest link, bytes a second; a headroom that is left open is for it.
    cell:
        Packets of a cell.
    given:
        ``vls``, ``loss`` (a share), ``loss_seed``, ``recovery`` and ``start``.
    """
    # A fabric with a bounded queue drops packets, and so does one that loses some: somebody sends them again.
    recovery = given["recovery"] or ("go-back-n" if "queue" in values or given["loss"] else "none")
    if recovery not in RECOVERIES:
        raise ScenarioError("recovery", f"{recovery!r} is unknown; {nearest(recovery, RECOVERIES)}")
    if not 0 <= given["loss"] < 1:
        raise ScenarioError("loss", f"{given['loss']:g} is no share of packets; give 0 to below 1")
    times = {name: _ps(values.get(name, 0)) for name in ("processing", "recovery", "timeout", "hop")}
    sizes: dict[str, Any] = {
        key: int(values.get(key, 0)) for key in ("credits", "xoff", "xon", "headroom", "queue")
    }
    made = PortFabric(
        name=name, mtu=int(values["mtu"]), header=int(values["header"]), processing_ps=times["processing"], vls=given["vls"],
        **sizes,
        recovery=recovery, recovery_ps=times["recovery"], timeout_ps=times["timeout"], loss_ppb=round(given["loss"] * ONE),
        loss_seed=given["loss_seed"], marking=_marking(values, given["start"]) if MARKING in values else None,
    )  # fmt: skip
    # only a fabric that pauses needs headroom, for what is on its way when it does
    return made if not made.xoff or made.headroom else _with_headroom(made, rate, cell, times["hop"])


def _with_headroom(made: PortFabric, rate: int, cell: int, hop_ps: int) -> PortFabric:
    """Return it with as much headroom as loses nothing."""
    room = headroom_bytes(rate, hop_ps / 1e12, made.processing_ps / 1e12, cell * made.packet)
    return PortFabric(**{**vars(made), "headroom": int(room) + 1})


def _marking(values: Mapping[str, float], start: str) -> MarkedRates:
    return MarkedRates(
        kmin=int(values["kmin"]), kmax=int(values["kmax"]), pmax_ppb=round(values["pmax"] * ONE), cnp_ps=_ps(values["cnp"]),
        alpha_ps=_ps(values["alpha"]), timer_ps=_ps(values["timer"]), byte_counter=int(values["byte_counter"]),
        recoveries=int(values["recoveries"]), rai_Bps=round(values["rai"] * 10**9), rhai_Bps=round(values["rhai"] * 10**9),
        gain=int(values["gain"]), start=start,
    )  # fmt: skip


def _ps(microseconds: float) -> int:
    return round(microseconds * _PS_PER_US)
