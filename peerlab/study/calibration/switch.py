"""The size at which a library changes its protocol: a step, so that every size in its range is tried."""

from dataclasses import dataclass

import numpy as np

from peerlab.study.calibration.constants import SWITCH
from peerlab.study.calibration.fit import Fitted, cost, fit
from peerlab.study.calibration.model import Model
from peerlab.study.observed import Floats

_ROUNDS = 3
_LIKELY = 3.84
"""Chi-squared with one degree of freedom: 95 % of all draws lie below."""


@dataclass(frozen=True)
class ProtocolSwitch:
    """Where the protocol changes, in the unit of the cluster's file."""

    value: float
    low: float
    """The smallest size that meets the log nearly as well."""
    high: float
    """The next size after the largest that does: between two sizes of a log nobody can tell."""
    untold: str
    """Why the log cannot tell; empty if it can."""


def fit_switch(model: Model, fitted: Fitted, measured_s: Floats, seed: int) -> tuple[Fitted, ProtocolSwitch]:
    """Return the fit with the best switch, and the switch."""
    cluster = model.asked[0].hardware
    figure = cluster.figures[SWITCH]
    scale = cluster.ll_up_to_bytes / figure.value
    low, high = (int(end * scale) for end in figure.range or (figure.value, figure.value))
    sizes = np.array([one.nbytes for one in model.asked])
    tried = sorted({int(size) for size in sizes if low <= size <= high})
    if len(tried) < 2:
        return fitted, ProtocolSwitch(
            figure.value, low / scale, high / scale, "fewer than two sizes of this log lie in its range"
        )
    best, costs = cluster.ll_up_to_bytes, np.array([0.0])
    for _ in range(_ROUNDS):
        costs = np.array([_cost(fitted, up_to, measured_s) for up_to in tried])
        found = tried[int(costs.argmin())]
        if found == best:
            break
        best = found
        fitted = fit(model.switched(best), measured_s, seed, near=fitted)
    spare = max(len(sizes) - len(fitted.values) - 1, 1)
    near = [
        up_to for up_to, one in zip(tried, costs, strict=True) if one <= costs.min() * (1 + _LIKELY / spare)
    ]
    after = min([high, *(int(size) for size in sizes if size > near[-1])])
    if len(near) == len(tried) or (near[0] == tried[0] and after == high):
        untold = "the sizes in its range meet the log nearly equally well"
        return fitted, ProtocolSwitch(figure.value, low / scale, high / scale, untold)
    return fitted, ProtocolSwitch(best / scale, near[0] / scale, max(after, best) / scale, "")


def _cost(fitted: Fitted, up_to_bytes: int, measured_s: Floats) -> float:
    return cost(fitted.model.switched(up_to_bytes).times_s(fitted.values), measured_s)
