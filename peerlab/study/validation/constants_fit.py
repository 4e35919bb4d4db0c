"""Fits a communication library's assumed constants on the logs of several machines, in the law's closed form."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from peerlab.engine.simulate import simulate
from peerlab.errors import PeerlabError
from peerlab.model.hardware import Figure
from peerlab.model.library_choice import costs, sight
from peerlab.model.nccl_law import chosen, courses
from peerlab.model.scenario import Scenario
from peerlab.units import MIB

FITTED = ("library.hop", "library.message", "library.rendezvous")
"""Figures of a library that logs fit."""
_TRIED = 7
_ENOUGH = 0.5
_PLATEAU = 256 * MIB


@dataclass(frozen=True)
class LoggedSize:
    """One size of a log: what it asks to simulate, and both of its columns."""

    scenario: Scenario
    out_of_place_s: float
    """Not a number where the log has none."""
    in_place_s: float

    @property
    def best_s(self) -> float:
        """The better of the two."""
        return min(one for one in (self.out_of_place_s, self.in_place_s) if not math.isnan(one))


def fitted(logs: Sequence[Sequence[LoggedSize]]) -> dict[str, float]:
    """Return the library's assumed constants that meet some logs best in the law's closed form, within their ranges.

    Of each log the mean relative error counts, a row by no more than a half: single runs have pathologies.
    """
    figures = [
        one for key, one in logs[0][0].scenario.hardware.figures.items() if key in FITTED and one.range
    ]
    bounds = [_bound(rows[-1].scenario) for rows in logs]
    tried: list[tuple[float, ...]] = list(product(*map(_values, figures)))

    def cost(values: tuple[float, ...]) -> float:
        given = dict(zip((one.key for one in figures), values, strict=True))
        return sum(_mean_error(rows, given, bound) for rows, bound in zip(logs, bounds, strict=True))

    best = min((cost(values), values) for values in tried)[1]
    return dict(zip((one.key for one in figures), best, strict=True))


def _values(figure: Figure) -> list[float]:
    low, high = figure.range or (figure.value, figure.value)
    return [round(low + (high - low) * step / (_TRIED - 1), 2) for step in range(_TRIED)]


def _bound(asked: Scenario) -> float:
    """Return the rate that topology alone bounds, GB/s, which the law takes from a simulation."""
    run = simulate(asked.with_(library="none", library_version=None, message_bytes=_PLATEAU))
    return _PLATEAU / run.time_s / 1e9


def _mean_error(rows: Sequence[LoggedSize], constants: Mapping[str, float], bound: float) -> float:
    return statistics.fmean(
        min(abs(_law_s(row.scenario, constants, bound) / row.best_s - 1), _ENOUGH) for row in rows
    )


def _law_s(asked: Scenario, constants: Mapping[str, float], bound: float) -> float:
    """Return the closed form's time of a scenario, seconds."""
    library, cluster = asked.used_library, asked.hardware
    if library is None or not library.kind_record.chooses:
        raise PeerlabError(f"{cluster.name} has no NCCL: nothing can be fitted")
    for key, value in constants.items():
        cluster = cluster.with_figure(key, value) if key in cluster.figures else cluster
    seen = replace(sight(library, cluster, asked.nodes, str(asked.path), asked.library_number), bound=bound)
    cost = costs(library, cluster, seen)
    found = courses(seen, asked.nbytes, library.law, cost)
    return chosen(seen, asked.nbytes, library.law, cost, found).time / 1e6
