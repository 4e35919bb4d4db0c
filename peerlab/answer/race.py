"""Two runs on one clock: how many bytes each has delivered at a moment, and by how much one leads."""

# A race counts what arrives. `answer/race` adds up the bytes whose last stage between the nodes is over;
# the page, its stills and its videos count these and nothing else. The path is drawn unrolled
# (`picture/road`): host memory is a hill, so a detour is seen to climb. A slice is a train that is on the
# wire from the sender's first byte to the receiver's last; a stretch without latency is crossed at once. A
# slice that is sent at half of the rate has half as many carriages. Played in ten seconds, single slices
# are too quick to see and would flicker; then carriages stand for what was served in the last 0.15 s: 56 %
# busy is a road with 44 % of gaps. The page is SVG without BokehJS (140 KB), in a frame of its own in a
# notebook.

from dataclasses import dataclass
from functools import cached_property

from peerlab.answer.run import Run
from peerlab.answer.trace import Columns
from peerlab.base.display import shown
from peerlab.base.errors import PeerlabError
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import say_time
from peerlab.model.paths import REDUCE
from peerlab.question.naming import told_apart


@dataclass(frozen=True)
class Delivery:
    """What a run has delivered to a node at any moment; where nodes differ, to one of them on average."""

    times_ps: NDArray[np.int64]
    """Moments at which slices arrive, picoseconds from the start, in order, each once."""
    nbytes: NDArray[np.float64]
    """Bytes that have arrived at each of them, all together; it never falls."""

    @property
    def total(self) -> float:
        """Bytes that have arrived in the end."""
        return float(self.nbytes[-1]) if len(self.nbytes) else 0.0

    def at(self, moment_ps: float) -> float:
        """Return the bytes that have arrived at a moment, picoseconds from the start."""
        index = int(np.searchsorted(self.times_ps, moment_ps, side="right"))
        return float(self.nbytes[index - 1]) if index else 0.0


def delivery(run: Run) -> Delivery:
    """Return what a run delivers: a slice counts when its last byte is through the last stage between the nodes.

    For the detour that is the copy into device memory. What the devices of one node exchange does not count.
    """
    spans, trace = run.recording.unrolled, run.trace
    slices = arrivals(run, spans)
    nodes, switches = (
        len(np.unique(spans["node"][slices.rows])),
        trace.switches if trace.folded or trace.one_switch else 1,
    )
    moments, where = np.unique(slices.end, return_inverse=True)
    each = np.bincount(where, slices.nbytes, len(moments)) * switches / max(nodes, 1)
    return Delivery(moments, np.cumsum(each))


@dataclass(frozen=True)
class Slices:
    """The slices between nodes in some rows of a trace."""

    rows: NDArray[np.int64]
    """The rows that tell of them: spans of the stages between nodes, and flights; those of a slice stand side by side."""
    first: NDArray[np.int64]
    """Of each slice, the place of its first one in `rows`."""
    end: NDArray[np.int64]
    """When each has arrived, picoseconds."""
    nbytes: NDArray[np.int64]
    """Its bytes."""


def arrivals(run: Run, columns: Columns) -> Slices:
    """Find the slices between nodes in columns of a trace (`SPAN_COLUMNS`)."""
    numbers = [
        run.trace.stages.index(stage.name) for stage in run.scenario.stages if stage.name != REDUCE.name
    ]
    flight = run.trace.stages.index("flight")
    between = np.isin(columns["stage"], [*numbers, flight]) & (columns["slice"] >= 0)
    rows = np.flatnonzero(between)
    names = ("node", "device", "step", "slice")
    order = np.lexsort([columns[name][rows] for name in reversed(names)])
    rows = rows[order]
    keys = np.stack([columns[name][rows] for name in names])
    new = np.ones(len(rows), bool)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    first = np.flatnonzero(new)
    # host memory counts a slice as often as it is touched, a flight not at all: its own bytes are the fewest there are
    own = np.where(columns["nbytes"][rows] > 0, columns["nbytes"][rows], np.iinfo(np.int64).max)
    if not len(first):
        return Slices(rows, first, rows, rows)
    return Slices(
        rows, first, np.maximum.reduceat(columns["end"][rows], first), np.minimum.reduceat(own, first)
    )


@dataclass(frozen=True, repr=False)
class Race:
    """Two runs that begin at the same moment; a notebook plays them.

    Raises
    ------
    PeerlabError
        If one of them sends nothing from node to node, or both are the same scenario.
    """

    runs: tuple[Run, Run]
    """The runs, in the order in which they are shown."""

    def __post_init__(self) -> None:
        """Refuse what has no way to the finish, and one scenario against itself."""
        if self.runs[0].scenario == self.runs[1].scenario:
            raise PeerlabError("race: both sides are the same scenario; change something on one of them")
        for run in self.runs:
            if not run.time_ps or not delivery(run).total:
                machine = run.scenario.hardware
                counted = machine.counted_as
                raise PeerlabError(
                    f"race: {run.scenario.domains} {counted} of {machine.name} sends nothing to another; a race needs 2 {counted}s or more"
                )

    @cached_property
    def deliveries(self) -> tuple[Delivery, Delivery]:
        """What each has delivered at any moment."""
        first, second = map(delivery, self.runs)
        return first, second

    @property
    def end_ps(self) -> int:
        """When both are through, picoseconds."""
        return max(run.time_ps for run in self.runs)

    @property
    def winner(self) -> int | None:
        """Which of them is through first, 0 or 1; None if both are at once."""
        first, second = (run.time_ps for run in self.runs)
        return None if first == second else int(second < first)

    @property
    def times_as_fast(self) -> float:
        """How many times as fast the winner is: the longer time over the shorter."""
        return self.end_ps / min(run.time_ps for run in self.runs)

    @property
    def same_way(self) -> bool:
        """Whether both have as many bytes to deliver, so that a lead can be told in bytes."""
        first, second = (curve.total for curve in self.deliveries)
        # Bytes are added up as floats, where nodes differ as a mean.
        return abs(first - second) <= 1e-9 * max(first, second)

    def lead_bytes(self, moment_ps: float) -> float:
        """Return how many bytes the second is ahead of the first at a moment; below 0: behind."""
        first, second = (curve.at(moment_ps) for curve in self.deliveries)
        return second - first

    def lead_share(self, moment_ps: float) -> float:
        """Return by how much of its way the second is ahead of the first at a moment, -1 to 1."""
        first, second = (curve.at(moment_ps) / curve.total for curve in self.deliveries)
        return second - first

    def __repr__(self) -> str:
        names = told_apart([run.scenario for run in self.runs])
        sentence = ", ".join(
            f"{name} {say_time(run.time_ps)}" for name, run in zip(names, self.runs, strict=True)
        )
        end = (
            "both at once"
            if self.winner is None
            else f"{names[self.winner]} {self.times_as_fast:.2f} times as fast"
        )
        return f"Race({sentence}: {end})"

    _repr_html_ = shown
