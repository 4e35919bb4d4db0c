"""Constants that a log may tell: physical ones, each within the range that its cluster file gives."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.base.errors import HardwareError, nearest
from peerlab.model.hardware import Cluster, Figure
from peerlab.question.scenario import Scenario
from peerlab.question.used_figures import figures_used

FITTABLE = (
    "library.hop", "library.message", "library.rendezvous", "fabric.latency", "port.latency",
    "nic.rate", "port.rate", "graph.ring_rate", "graph.tree_rate",
    "device.copy_engine", "switch.uplink", "scaleup.rate",
    "host.core_copy", "host.packet_cost", "host.pageable_copy", "host.bounce_copy",
    "registration.base", "registration.per_page",
)  # fmt: skip
"""What the library adds, latencies, rates and registration costs. Of two that only act together the first is fitted."""


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
    met = set().union(*(felt(scenario) for scenario in asked))
    if wanted is None:
        # In the order of `FITTABLE`: of two that act only together `fit` keeps the first.
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
    """Return the fittable figures that the time of a scenario depends on."""
    return set(figures_used(scenario)) & set(FITTABLE)


def log_bounds(figure: Figure) -> tuple[float, float]:
    """Return the logarithms of the ends of a figure's range; nothing as a lower end counts as a thousandth of the upper one."""
    low, high = figure.range or (figure.value, figure.value)
    return math.log(max(low, high / 1000)), math.log(high)
