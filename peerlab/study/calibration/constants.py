"""Constants that a log may tell: physical ones, each within the range that its cluster file gives."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.errors import HardwareError, nearest
from peerlab.model.hardware import Cluster, Figure
from peerlab.model.scenario import Scenario
from peerlab.model.used_figures import figures_used

SWITCH = "protocol.ll_up_to"
"""The size up to which a library uses its low-latency protocol: a step, fitted apart from the others."""
FITTABLE = (
    "fabric.latency", "port.latency", "protocol.ll_latency", "protocol.simple_latency",
    "nic.rate", "port.rate", "protocol.ll_rate", "protocol.simple_rate",
    "device.copy_engine", "switch.uplink", "scaleup.rate",
    "host.core_copy", "host.packet_cost", "host.pageable_copy", "host.bounce_copy",
    "registration.base", "registration.per_page", SWITCH,
)  # fmt: skip
"""Latencies, rates, registration costs and the protocol's switch. Of two that only act together the first is fitted."""


@dataclass(frozen=True, kw_only=True)
class Constant:
    """One constant, before and after."""

    key: str
    """As in the cluster file, such as ``fabric.latency``."""
    unit: str
    """Of all values here."""
    before: float
    """As the cluster file has it."""
    value: float
    """Fitted; as before where the log cannot tell."""
    low: float
    """Lower end of the 95 % interval; of the range where the log cannot tell."""
    high: float
    """Upper end."""
    bounds: tuple[float, float]
    """The range in the cluster file, within which it was fitted."""
    identified: bool
    """Whether the log tells it."""
    remark: str = ""
    """Why it cannot be told, or what is odd about the value; empty if nothing is."""
    at_end: bool = False
    """Whether the value lies at an end of its range, which cuts its interval off: it is wider than `low` to `high`."""


def choose(cluster: Cluster, asked: Sequence[Scenario], wanted: Sequence[str] | None) -> list[Figure]:
    """Return the figures to be fitted: those `wanted`, or all assumed ones that the scenarios meet.

    Raises
    ------
    HardwareError
        If a wanted one is unknown, cannot be fitted, or has no range; or if there is nothing to fit.
    """
    met = set().union(*(felt(one) for one in asked))
    if wanted is None:
        figures = [cluster.figures[key] for key in FITTABLE if key in met and cluster.figures[key].range]
        if not figures:
            raise HardwareError(
                f"{cluster.name} assumes nothing that this log could tell: there is nothing to fit"
            )
        return figures
    for key in wanted:
        if key not in FITTABLE:
            raise HardwareError(f"{key!r} cannot be fitted; {nearest(key, FITTABLE)}")
        if key not in met:
            raise HardwareError(f"{key}: this log's path on {cluster.name} does not meet it")
        if not cluster.figures[key].range:
            raise HardwareError(f"{key} has a source on {cluster.name}, and no range to fit it within")
    return [cluster.figures[key] for key in FITTABLE if key in wanted]


def felt(scenario: Scenario) -> set[str]:
    """Return the fittable figures that the time of a scenario depends on: a protocol replaces the NIC's own rate."""
    keys = set(figures_used(scenario)) & set(FITTABLE)
    hardware = scenario.hardware
    if not scenario.has_protocol:
        return keys
    low = hardware.ll_up_to_bytes is not None and scenario.nbytes <= hardware.ll_up_to_bytes
    idle = "simple" if low else "ll"
    keys -= {f"protocol.{idle}_rate", f"protocol.{idle}_latency"}
    if low or hardware.simple_Bps:
        keys -= {"nic.rate", "fabric.latency"}
    return keys


def log_bounds(figure: Figure) -> tuple[float, float]:
    """Return the logarithms of the ends of a figure's range; nothing as a lower end counts as a thousandth."""
    low, high = figure.range or (figure.value, figure.value)
    return math.log(max(low, figure.value / 1000)), math.log(high)
