"""Fits a communication library's assumed constants on the logs of several machines, in the law's closed form."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from peerlab.answer.known_answers import answer
from peerlab.base.errors import PeerlabError
from peerlab.base.units import MIB, PS_PER_US, seconds
from peerlab.diagnosis.observed import Floats
from peerlab.engine.long_messages import is_long, time_ps
from peerlab.engine.simulate import simulate
from peerlab.library.library_choice import costs, sight
from peerlab.library.library_laws import law_of
from peerlab.library.nccl_law import chosen, courses
from peerlab.model.hardware import Figure, internal_value
from peerlab.question.scenario import Scenario

_COSTS = {"library.hop": "hop", "library.message": "message", "library.rendezvous": "rendezvous"}
"""The field of `Costs` that each figure sets."""
FITTED = tuple(_COSTS)
"""Figures of a library that logs fit."""
_TRIED = 7
# A relative error counts no further: a size at which a log was held up must not decide a constant.
_ENOUGH = 0.5
# Large enough that latencies no longer count, and only rates do.
_PLATEAU = 256 * MIB


@dataclass(frozen=True)
class LoggedSize:
    """One size of a log: what it asks to simulate, and both of its columns."""

    scenario: Scenario
    # nccl-tests time each size out of place and in place, beside each other.
    out_of_place_s: float
    """Not a number where the log has none."""
    in_place_s: float

    @property
    def best_s(self) -> float:
        """The better of the two."""
        return min(s for s in (self.out_of_place_s, self.in_place_s) if not math.isnan(s))


def fitted(logs: Sequence[Sequence[LoggedSize]]) -> dict[str, float]:
    """Return the library's assumed constants that meet some logs best in the law's closed form, within their ranges.

    Of each log the mean relative error counts, a row by no more than a half: single runs have pathologies.
    """
    figures = {
        key: figure
        for key, figure in logs[0][0].scenario.hardware.figures.items()
        if key in FITTED and figure.range
    }
    tried = list(product(*map(_values, figures.values())))
    constants = {
        key: np.array([_in_us(figure, values[at]) for values in tried])
        for at, (key, figure) in enumerate(figures.items())
    }
    errors = [_mean_errors(rows, constants, len(tried)) for rows in logs]
    # Of equal sums the smaller constants win, as tuples are compared to their ends.
    best = min((sum(each), values) for *each, values in zip(*errors, tried, strict=True))[1]
    return dict(zip(figures, best, strict=True))


def _values(figure: Figure) -> list[float]:
    low, high = figure.range or (figure.value, figure.value)
    # Two digits, as a library's file would have them.
    return [round(low + (high - low) * step / (_TRIED - 1), 2) for step in range(_TRIED)]


def _in_us(figure: Figure, value: float) -> float:
    """Return the microseconds that a simulation makes of a value in the unit of the figure's file."""
    return internal_value(replace(figure, value=value)) / PS_PER_US


def _mean_errors(rows: Sequence[LoggedSize], constants: Mapping[str, Floats], tries: int) -> list[float]:
    """Return the mean relative error of a log with each of the values that are tried."""
    # Whichever row: the bound is asked at one size of its own.
    bound = _bound(rows[-1].scenario)
    errors = [
        np.minimum(abs(_law_s(row.scenario, constants, bound) / row.best_s - 1), _ENOUGH) for row in rows
    ]
    columns = [np.broadcast_to(error, tries).tolist() for error in errors]
    return [statistics.fmean(column) for column in zip(*columns, strict=True)]


def time_s(scenario: Scenario) -> float:
    """Return how long a scenario takes, seconds; fits, errors and bands ask it of the same ones."""
    # A gibibyte over one device is thousands of slices: three shorter ones tell as much, to a millionth.
    return seconds(time_ps(scenario) if is_long(scenario) else answer(scenario, simulate).time_ps)


def _bound(scenario: Scenario) -> float:
    """Return the rate that topology alone bounds, GB/s, which the law takes from a simulation."""
    alone = scenario.with_(library="none", library_version=None, message_bytes=_PLATEAU)
    return _PLATEAU / time_s(alone) / 1e9


def _law_s(scenario: Scenario, constants: Mapping[str, Floats], bound: float) -> Floats:
    """Return the closed form's time of a scenario, seconds, with each of the values that are tried."""
    library, cluster = scenario.used_library, scenario.hardware
    if library is None or not law_of(library).chooses:
        raise PeerlabError(f"{cluster.name} has no NCCL: nothing can be fitted")
    seen = replace(
        sight(library, cluster, scenario.domains, str(scenario.path), scenario.library_number), bound=bound
    )
    # the law adds and multiplies its costs, and asks nothing about them: an array of tries goes through it as a number does
    tried: dict[str, Any] = {
        _COSTS[key]: values for key, values in constants.items() if key in cluster.figures
    }
    cost = replace(costs(library, cluster, seen), **tried)
    entries = courses(seen, scenario.nbytes, library.law, cost)
    if cost.steering is None:  # it runs the fastest, which may be another one for each try
        # The law counts microseconds.
        return np.asarray(np.minimum.reduce([law_course.time for law_course in entries.values()]) / 1e6)
    return np.asarray(chosen(seen, scenario.nbytes, library.law, cost, entries).time / 1e6)
