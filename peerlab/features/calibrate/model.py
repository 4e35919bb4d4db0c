"""The model as a function of its constants: simulated times at the sizes of a log."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from peerlab.answer.sensitivity import changed
from peerlab.diagnosis.observed import Floats
from peerlab.engine.simulate import simulate
from peerlab.features.calibrate.constants import felt, log_bounds
from peerlab.model.hardware import Figure
from peerlab.question.scenario import Scenario

_STEP = 0.01
"""Relative change of a constant for a derivative: far above the rounding to picoseconds, far below what matters."""


@dataclass(frozen=True, eq=False)
class Model:
    """Times of some scenarios, one per size, for any values of some constants."""

    asked: Sequence[Scenario]
    """On the cluster as its file describes it."""
    messages: int
    """Messages in a row in each scenario; times are of one."""
    figures: Sequence[Figure]
    """The constants."""
    progress: Callable[[], object]
    """Called after each simulation."""
    _known: dict[tuple[int, tuple[float, ...]], float] = field(default_factory=dict, repr=False)

    @property
    def start(self) -> Floats:
        """Logarithms of the constants as the file has them."""
        ends = np.array([log_bounds(figure) for figure in self.figures]).reshape(-1, 2)
        with np.errstate(divide="ignore"):  # a constant of 0 begins at the lower end
            here = np.log([figure.value for figure in self.figures])
        return np.clip(here, ends[:, 0], ends[:, 1])

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Logarithms of the ends of their ranges."""
        ends = np.array([log_bounds(figure) for figure in self.figures]).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]

    def without(self, keys: Mapping[str, object]) -> "Model":
        """Return the model with some constants left as the file has them."""
        if not keys:
            return self
        # What is known belongs to the constants that were there.
        return replace(self, figures=[figure for figure in self.figures if figure.key not in keys], _known={})

    def time_s(self, place: int, values: Floats) -> float:
        """Return the time at one size, for logarithms of the constants; constants it does not feel change nothing."""
        # Only what a size feels is part of its key: others may move without simulating it again.
        keys = felt(self.asked[place])
        pairs = [
            (figure.key, float(np.exp(v)))
            for figure, v in zip(self.figures, values, strict=True)
            if figure.key in keys
        ]
        known = (place, tuple(value for _, value in pairs))
        if known not in self._known:
            self._known[known] = simulate(changed(self.asked[place], pairs)).time_s / self.messages
            self.progress()
        return self._known[known]

    def times_s(self, values: Floats) -> Floats:
        """Return the times at all sizes, seconds."""
        return np.array([self.time_s(place, values) for place in range(len(self.asked))])

    def slopes(self, values: Floats) -> Floats:
        """Return how the logarithms of the times follow those of the constants: one row per size."""
        here, (_, high) = np.log(self.times_s(values)), self.bounds
        columns = []
        for place, value in enumerate(values):
            # Inside the range: beyond its end the simulation may be refused.
            step = _STEP if value + _STEP <= high[place] else -_STEP
            there = values.copy()
            there[place] += step
            columns.append((np.log(self.times_s(there)) - here) / step)
        return np.array(columns).reshape(len(values), len(here)).T
