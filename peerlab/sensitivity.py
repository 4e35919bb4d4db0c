"""What an answer owes to assumptions: assumed figures moved to the ends of their ranges.

One figure at a time says which assumption matters (:func:`influences`); all at once, at their worse ends and at their
better ends, say how far the answer may be off (:func:`band`). Two data paths of one machine share its figures, so that their
ratio is surer than either of them (:func:`gain_band`). For rates, times and the packet size the better end is
known: a faster part is never slower. Of sizes and counts whose better end is not known (a slice) both ends are tried,
in every combination. Assumptions that are yes or no have no range and are not varied.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from peerlab.model.hardware import Figure
from peerlab.model.scenario import Scenario
from peerlab.model.uses import assumed, better_end

if TYPE_CHECKING:
    import pandas as pd

Busbw = Callable[[Scenario], float]
"""Answers a scenario with its bus bandwidth, GB/s."""

COLUMNS = (
    "figure",
    "unit",
    "low",
    "value",
    "high",
    "busbw_at_low_GBps",
    "busbw_at_high_GBps",
    "change_at_low_percent",
    "change_at_high_percent",
)


@dataclass(frozen=True)
class Band:
    """From where to where an answer may lie if the assumed figures lie at the ends of their ranges."""

    low_GBps: float  # noqa: N815
    """Bus bandwidth with all of them at their worse ends, GB/s."""
    value_GBps: float  # noqa: N815
    """As assumed, GB/s."""
    high_GBps: float  # noqa: N815
    """Bus bandwidth with all of them at their better ends, GB/s."""


@dataclass(frozen=True)
class GainBand:
    """From where to where the ratio of two bus bandwidths may lie if each assumed figure lies at an end of its range."""

    low: float
    """With the figures at those ends that make it smaller."""
    value: float
    """As assumed."""
    high: float
    """With the figures at those ends that make it larger."""


def influences(scenario: Scenario, busbw: Busbw, here: float) -> "pd.DataFrame":
    """Return one row per assumed figure that `scenario` meets, with the answer at both ends, the most influential first.

    `here` is the answer as assumed, GB/s. Columns: `COLUMNS`; low, value and high are in the figure's own unit.
    """
    import pandas as pd  # noqa: PLC0415  (takes longer to load than most questions to answer)

    rows = [_row(scenario, figure, busbw, here) for figure in assumed(scenario)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    changes = table[["change_at_low_percent", "change_at_high_percent"]].abs().max(axis=1)
    return table.loc[changes.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)


def _row(scenario: Scenario, figure: Figure, busbw: Busbw, here: float) -> tuple[object, ...]:
    low, high = figure.range or (figure.value, figure.value)
    ends = [busbw(changed(scenario, [(figure.key, value)])) for value in (low, high)]
    changes = [100 * (end / here - 1) if here else 0.0 for end in ends]
    return (figure.key, figure.unit, low, figure.value, high, *ends, *changes)


def band(scenario: Scenario, busbw: Busbw, here: float) -> Band:
    """Return from where to where the answer `here` (GB/s) may lie, all assumed figures at the ends of their ranges."""
    ends = [busbw(corner) for corner in corners(scenario)]
    return Band(min([here, *ends]), here, max([here, *ends]))


def gain_band(scenario: Scenario, over: Scenario, busbw: Busbw, here: float) -> GainBand:
    """Return how many times the bus bandwidth of `over` that of `scenario` may be, on one machine; `here` is it as assumed.

    A figure moves on both paths together: there is but one NIC. Each is tried alone at both ends, then all together at
    those ends that made the ratio smaller, and larger, and at their worse and better ends.
    """
    figures = list({one.key: one for one in (*assumed(scenario), *assumed(over))}.values())

    def gain(moved: list[tuple[str, float]]) -> float:
        return busbw(changed(scenario, moved)) / busbw(changed(over, moved))

    alone = [sorted((gain([(one.key, end)]), end) for end in one.range or ()) for one in figures]
    together = [
        [(one.key, ends[place][1]) for one, ends in zip(figures, alone, strict=True)] for place in (0, -1)
    ]
    known = [one for one in figures if better_end(one) is not None]
    together += [[_end(one, better_end(one), better=better) for one in known] for better in (False, True)]
    found = [here, *(ratio for ends in alone for ratio, _ in ends), *map(gain, together)]
    return GainBand(min(found), here, max(found))


LIMITING = frozenset(
    {"nic.rate", "port.rate", "protocol.ll_rate", "protocol.ll_up_to", "protocol.simple_rate"}
)
"""Figures that set what a node can send at most."""


def limit_band(scenario: Scenario, limit: Busbw) -> Band:
    """Return from where to where the wire limit of `scenario` may lie; `limit` tells that of one, GB/s, without simulating."""
    here = limit(scenario)
    ends = [limit(corner) for corner in corners(scenario, LIMITING)]
    return Band(min([here, *ends]), here, max([here, *ends]))


def corners(scenario: Scenario, only: frozenset[str] | None = None) -> list[Scenario]:
    """Return the scenarios between which the answer may lie; none, if nothing with a range is assumed.

    `only` holds the keys of the figures that may move; None: all may.
    """
    figures = [one for one in assumed(scenario) if only is None or one.key in only]
    choices = [(better_end(figure),) if better_end(figure) is not None else (0, 1) for figure in figures]
    found = []
    for ends in product(*choices) if figures else ():
        for better in (False, True):
            values = [_end(figure, end, better=better) for figure, end in zip(figures, ends, strict=True)]
            found.append(changed(scenario, values))
    return found


def _end(figure: Figure, end: int | None, *, better: bool) -> tuple[str, float]:
    low_high = figure.range or (figure.value, figure.value)
    if better_end(figure) is None:
        return figure.key, low_high[end or 0]
    return figure.key, low_high[(end or 0) if better else 1 - (end or 0)]


def changed(scenario: Scenario, values: Iterable[tuple[str, float]]) -> Scenario:
    """Return `scenario` on a cluster with other values of some figures, in the units of its file."""
    cluster = scenario.hardware
    for key, value in values:
        cluster = cluster.with_figure(key, value)
    return scenario.with_(cluster=cluster)
