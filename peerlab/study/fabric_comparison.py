"""One scenario on several transports, side by side: on one clock and one axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import pandas as pd

from peerlab.analysis.metrics import messages_per_s
from peerlab.analysis.run import Run
from peerlab.display import show_fabrics
from peerlab.engine.simulate import simulate
from peerlab.errors import ScenarioError
from peerlab.model.scenario import Scenario, checked_scenario
from peerlab.model.transport_files import load_transport
from peerlab.units import say_time

_LATENCY = "fabric.latency"
_SAME = 0.005
"""By how much a time may differ from what header bytes and latency alone make of it, to be called the same."""


@dataclass(frozen=True)
class OnTransport:
    """A scenario on one transport."""

    name: str
    """Key of the transport."""
    run: Run
    """Its run."""
    by_bytes_s: float
    """How long it takes if the transport is nothing but a slower NIC (rate times goodput) and its latency, seconds."""

    @property
    def title(self) -> str:
        """What people read, such as ``RoCE v2``."""
        return load_transport(self.name).title

    @property
    def latency_us(self) -> float:
        """Latency of a hop, microseconds."""
        return (self.run.scenario.hop_latency_ps or 0) / 1e6

    @cached_property
    def messages_per_s(self) -> float:
        """Messages that a NIC sends a second, from its first to its last."""
        return messages_per_s(self.run.trace, self.run.recording)


@dataclass(frozen=True, repr=False)
class FabricComparison:
    """What some transports make of one scenario; a notebook shows them on one axis."""

    found: tuple[OnTransport, ...]
    """One for each transport, as they were asked for."""

    @property
    def table(self) -> pd.DataFrame:
        """One row per transport: time, latency of a hop, goodput, busbw, messages a second, what limits."""
        return pd.DataFrame(
            {
                "transport": one.name, "mtu_bytes": one.run.scenario.hardware.mtu_bytes, "time_s": one.run.time_s,
                "latency_us": one.latency_us, "goodput": one.run.scenario.goodput, "busbw_GBps": one.run.busbw_GBps,
                "messages_per_s": one.messages_per_s, "bottleneck": one.run.bottleneck.label if one.run.bottleneck else "",
            }
            for one in self.found
        )  # fmt: skip

    @property
    def differ_by_bytes_alone(self) -> bool:
        """Whether header bytes and latency explain every time within half a per cent."""
        return all(abs(one.run.time_s - one.by_bytes_s) <= _SAME * one.run.time_s for one in self.found)

    @property
    def finding(self) -> str:
        """What follows, as a sentence."""
        times = [one.run.time_s for one in self.found]
        apart = max(times) / min(times)
        if self.differ_by_bytes_alone:
            why = "every port has one sender, so no queue forms, and no pause, credit or mark acts"
            return f"The slowest takes {apart:.2f} times as long as the fastest, by header bytes and latency alone: {why}."
        more = [
            one.title for one in self.found if abs(one.run.time_s - one.by_bytes_s) > _SAME * one.run.time_s
        ]
        return (
            f"The slowest takes {apart:.2f} times as long as the fastest; of {', '.join(more)} header bytes and latency do not "
            "explain it all: messages limit, or their headers weigh more because they are short."
        )

    def __repr__(self) -> str:
        said = ", ".join(f"{one.title} {say_time(one.run.time_ps)}" for one in self.found)
        return f"FabricComparison({said})"

    _repr_html_ = show_fabrics


def compare_fabrics(
    scenario: Scenario, transports: Sequence[str] | None = None, *, own_latency: bool = True
) -> FabricComparison:
    """Simulate one scenario on several transports.

    >>> ring = Scenario(cluster="ideal-100g", algorithm="ring")
    >>> compare_fabrics(ring, ["infiniband", "roce"])
    FabricComparison(InfiniBand 5.47 ms, RoCE v2 5.55 ms)

    Parameters
    ----------
    transports:
        Their names; None: all that the cluster can have and the path can use.
    own_latency:
        Whether each has the latency that follows from its own base, switches and cable, in place of the cluster's. A library's
        hop stays its total.

    Raises
    ------
    ScenarioError
        If there is no such transport, or the cluster or the path lacks it.
    """
    base = (
        checked_scenario(scenario).with_(mtu=None, transport=None) if scenario.transport is None else scenario
    )
    names = list(base.fitting_transports if transports is None else transports)
    if not names:
        raise ScenarioError("transport", "none was named; give two or more, such as infiniband and roce")
    return FabricComparison(tuple(_on(base, name, own_latency=own_latency) for name in names))


def _on(scenario: Scenario, name: str, *, own_latency: bool) -> OnTransport:
    cluster = scenario.given_cluster
    mtu = scenario.mtu if name == scenario.transport else None
    if own_latency and load_transport(name).figures and not cluster.leaves_latency:
        figures = MappingProxyType({key: one for key, one in cluster.figures.items() if key != _LATENCY})
        left = MappingProxyType({**cluster.leaves_out, _LATENCY: "the transport's own is compared"})
        open_: dict[str, Any] = {"latency_ps": None, "figures": figures, "leaves_out": left}
        cluster = replace(cluster, **open_)
    asked = scenario.with_(cluster=cluster, transport=name, mtu=mtu)
    return OnTransport(name, simulate(asked), simulate(_slower_nic(asked)).time_s)


def _slower_nic(asked: Scenario) -> Scenario:
    """Return the scenario with a NIC of its goodput and its latency, and nothing else of a transport."""
    cluster = asked.given_cluster
    own: dict[str, Any] = {"latency_ps": asked.hop_latency_ps, "nic_message_ps": None}
    machine = replace(cluster, nic_Bps=round(cluster.nic_Bps * asked.goodput), **own)
    return asked.with_(cluster=machine, transport="ideal", mtu=None, hops=None, metres=None)
