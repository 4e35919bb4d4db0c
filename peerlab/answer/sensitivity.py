"""What an answer owes to assumptions: assumed figures moved to the ends of their ranges.

One figure at a time says which assumption matters (:func:`influences`); all at once, at their worse ends and at their
better ends, say how far the answer may be off (:func:`band`). For rates, times and the packet size the better end is
known: a faster part is never slower. Of sizes and counts whose better end is not known (a slice) both ends are tried,
in every combination. Beyond its figures a band reaches as far as the law itself was from machines that it had not seen
(`peerlab.question.law_error`); none is narrower. Assumptions without a range are in no band; `peerlab.question.alternatives` has what else may be true.
`peerlab.answer.gain` says the same of the ratio of two data paths.
"""

# A band has two ends, each one simulation. For a rate, a time or a packet size the better end of its range
# is known. So all figures at their worse ends together, and all at their better ends together, bound the
# answer: two simulations. Which slice size is better nobody knows, so both of its ends are tried
# (`answer/sensitivity`). This assumes that a faster part never slows the whole. Schedules break that,
# usually by fractions of a per cent, and by a few per cent in odd settings (a window of one slice); the
# answer itself always counts as part of the band. The wire limit has a band of its own, of the figures that
# set it (rates of NICs and of the library's protocols), so that no line's band reaches above it. Yes-or-no
# assumptions have no range and are listed as not varied.

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from peerlab.model.hardware import Figure
from peerlab.question.law_error import NO_FURTHER, Reach, reach
from peerlab.question.scenario import Scenario
from peerlab.question.used_figures import assumed, better_end, ends

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
    """From where to where an answer may lie: assumed figures at the ends of their ranges, and beyond them the law's own error."""

    low_GBps: float  # noqa: N815
    """Bus bandwidth with all of them at their worse ends, GB/s."""
    value_GBps: float  # noqa: N815
    """As assumed, GB/s."""
    high_GBps: float  # noqa: N815
    """Bus bandwidth with all of them at their better ends, GB/s."""
    reach: Reach = NO_FURTHER
    """How far the law's own error makes the two ends go beyond what the figures make."""


def influences(scenario: Scenario, busbw: Busbw, here: float) -> "pd.DataFrame":
    """Return one row per assumed figure that `scenario` meets, with the answer at both ends, the most influential first.

    `here` is the answer as assumed, GB/s. Columns: `COLUMNS`; low, value and high are in the figure's own unit.
    """
    import pandas as pd  # noqa: PLC0415  (takes longer to load than most questions to answer)

    rows = [_row(scenario, figure, busbw, here) for figure in assumed(scenario)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    changes = table[["change_at_low_percent", "change_at_high_percent"]].abs().max(axis=1)
    # stable: equal changes stay in the order of the cluster's file
    return table.loc[changes.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)


def _row(scenario: Scenario, figure: Figure, busbw: Busbw, here: float) -> tuple[object, ...]:
    low, high = ends(figure)
    values = [busbw(changed(scenario, [(figure.key, value)])) for value in (low, high)]
    changes = [100 * (end / here - 1) if here else 0.0 for end in values]
    return (figure.key, figure.unit, low, figure.value, high, *values, *changes)


def band(scenario: Scenario, busbw: Busbw, here: float, limit: Busbw) -> Band:
    """Return from where to where the answer `here` (GB/s) may lie: all assumed figures at the ends of their ranges, and the law's own error.

    No error of a law lets more through than the wire does: `limit` tells its limit, GB/s, without simulating.
    """
    values, far = [here, *(busbw(corner) for corner in corners(scenario))], reach(scenario)
    # The limit's own band, as its figures are assumed, too: a NIC at its better end carries more.
    wire, high = limit_band(scenario, limit).high_GBps, max(values) * far.high
    if wire < high:  # never where nothing is sent, and the limit is not a number
        high = max(*values, wire)
    return Band(min(values) * far.low, here, high, far)


LIMITING = frozenset({"nic.rate", "port.rate", "graph.ring_rate", "graph.tree_rate"})
"""Figures that set what a node can send at most."""


def limit_band(scenario: Scenario, limit: Busbw) -> Band:
    """Return from where to where the wire limit of `scenario` may lie; `limit` tells that of one, GB/s, without simulating."""
    here = limit(scenario)
    values = [limit(corner) for corner in corners(scenario, LIMITING)]
    return Band(min([here, *values]), here, max([here, *values]))


def corners(scenario: Scenario, only: frozenset[str] | None = None) -> list[Scenario]:
    """Return the scenarios between which the answer may lie; none, if nothing with a range is assumed.

    `only` holds the keys of the figures that may move; None: all may.
    """
    figures = [figure for figure in assumed(scenario) if only is None or figure.key in only]
    # each figure whose better end nobody knows, such as a slice, doubles the corners
    choices = [(better_end(figure),) if better_end(figure) is not None else (0, 1) for figure in figures]
    scenarios = []
    for chosen in product(*choices) if figures else ():
        for better in (False, True):
            values = [end_of(figure, end, better=better) for figure, end in zip(figures, chosen, strict=True)]
            scenarios.append(changed(scenario, values))
    return scenarios


def end_of(figure: Figure, end: int | None, *, better: bool) -> tuple[str, float]:
    """Return a figure's key with the value at its better or worse end, in the unit of its file.

    `end` is the better one (0 low, 1 high); where nobody knows it, None or the one that is tried as the better.
    """
    low_high = ends(figure)
    if better_end(figure) is None:
        # tried at both ends, so `better` says nothing of it
        return figure.key, low_high[end or 0]
    return figure.key, low_high[(end or 0) if better else 1 - (end or 0)]


def changed(scenario: Scenario, values: Iterable[tuple[str, float]]) -> Scenario:
    """Return `scenario` on a cluster with other values of some figures, in the units of its file."""
    return scenario.with_(cluster=scenario.hardware.with_values(values))
