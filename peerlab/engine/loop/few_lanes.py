"""Of a long run the spans of some lanes, and the sums over those of all: its figures are the same, and its trace is small."""

from collections.abc import Sequence
from typing import Any

from peerlab.answer.trace import SPAN_COLUMNS, Totals, sums
from peerlab.base.numbers import NDArray, np
from peerlab.engine.span_rows import Whole
from peerlab.engine.system import System


class FewLanes:
    """Takes the spans of a run table by table, and gives back those of a few lanes."""

    def __init__(self, system: System, lanes: Sequence[int]) -> None:
        nodes = {system.lanes[lane].node for lane in lanes}
        self._kept = np.array([node in nodes for node in range(system.plan.nodes)])
        self._served: NDArray[Any] = np.zeros(0)
        self._nbytes: NDArray[Any] = np.zeros(0, np.int64)
        self._flown_ps = 0

    def take(self, rows: Whole) -> Whole:
        """Return the rows of a table of `SPAN_COLUMNS` that are kept."""
        more = sums(dict(zip(SPAN_COLUMNS, rows.T, strict=True)))
        # the last resource of a table is not that of all
        self._served = _added(self._served, more.served_ps)
        self._nbytes = _added(self._nbytes, more.nbytes)
        self._flown_ps += more.flown_ps
        few: Whole = rows[self._kept[rows[:, 0]]]
        return few

    def totals(self) -> Totals:
        """Return the sums over all rows that were taken."""
        return Totals(self._served, self._nbytes, self._flown_ps)


def _added(array: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    longer, shorter = (array, other) if len(array) > len(other) else (other, array)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total
