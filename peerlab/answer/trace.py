"""The answer: every span of a simulation, in read-only columns.

A span says that a resource had a slice (or a registration) from `start` to `end`, for which it had queued since `queued`, and that its
own work on it takes `work`; the rest of the time it waits for the resource upstream, or shares its capacity. Times are integer picoseconds
from the beginning of the iteration.

A schedule that repeats is kept as it repeats: a :class:`Block` of rows that occurs so many times more, each time later
by one period. Metrics weigh rows by their block; pictures unroll what they show; :meth:`Recording.unrolled` writes
everything out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from peerlab.base.numbers import NDArray, np
from peerlab.model.registration import Counters
from peerlab.model.resources import resource_kind
from peerlab.model.stages import STAGES

if TYPE_CHECKING:
    import pandas as pd

Columns = Mapping[str, NDArray[np.int64]]

SPAN_COLUMNS = (
    "node",
    "device",
    "step",
    "slice",
    "stage",
    "resource",
    "queued",
    "start",
    "end",
    "nbytes",
    "work",
)
"""``slice`` is -1 for a registration; ``stage`` indexes `STAGES`; ``resource`` indexes `Trace.resources`; ``work`` is the picoseconds that
the resource would need alone: it has the slice from ``start`` to ``end``, and waits for others in what is left."""
REGISTRATION_COLUMNS = ("node", "nic", "device", "step", "kind", "side", "position", "nbytes", "start", "end")
"""``kind`` indexes `REGISTRATION_KINDS`; ``side`` 0 source, 1 destination; ``position`` numbers the chunk."""
REGISTRATION_KINDS = ("hit", "miss", "uncached", "evict", "deregister")

_TIMES = ("queued", "start", "end")
_FLIGHTS = [number for number, stage in enumerate(STAGES.values()) if stage.counts_as == "flight"]


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of one node."""

    kind: str
    """Key of :data:`peerlab.model.resources.RESOURCES`."""
    node: int
    """Node that has it."""
    index: int
    """Which of the node's devices, switches, NUMA domains or NICs it belongs to."""
    capacity_Bps: int  # noqa: N815
    """Bytes per second, per direction where it has two; 0 where bytes do not count (registration)."""
    shared: bool
    """Whether engines share it evenly; otherwise it serves one slice at a time."""
    servers: int = 1
    """Slices an exclusive resource serves at a time (cores)."""
    copies: int = 1
    """Identical users that every recorded user of a shared resource stands for."""

    @property
    def label(self) -> str:
        """Name in plain words."""
        return resource_kind(self.kind).label

    @property
    def in_words(self) -> str:
        """Which one it is, such as ``NIC send 0 of node 1``."""
        return f"{self.label} {self.index}" + (f" of node {self.node}" if self.node >= 0 else "")


@dataclass(frozen=True, slots=True)
class Block:
    """Rows ``first`` to ``last`` (exclusive) of a recording, which occur `repeats` times more."""

    first: int
    last: int
    repeats: int
    """Further occurrences."""
    period_ps: int
    """Each is later by this much."""
    period_steps: int
    """Each belongs to a step further on by this much."""
    after_step: int
    """Steps up to this one occur once; the rows of each later step begin within the block, or within one of its repeats."""


class Later(Mapping[str, NDArray[np.int64]]):
    """Columns that are made when somebody asks for them: a large run's spans, of which only the end was wanted."""

    def __init__(self, make: Callable[[], Columns]) -> None:
        self._make: Callable[[], Columns] | None = make
        self._one_at_a_time = Lock()

    @cached_property
    def _columns(self) -> Columns:
        with self._one_at_a_time:
            if self._make:
                self._made = self._make()
                self._make = None  # what they are made of is not kept beside them
            return self._made

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)


def freeze(columns: Mapping[str, NDArray[np.int64]]) -> Columns:
    """Return the columns read-only."""
    for values in columns.values():
        # Spans are shared by caches, pictures and iterations: whoever changed them would change all of these.
        values.flags.writeable = False
    return MappingProxyType(dict(columns))


def _summed(where: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of the values at each place, exactly: `numpy.bincount` would add up floats."""
    numbers = np.zeros(int(where.max(initial=-1)) + 1, np.int64)
    np.add.at(numbers, where, values)
    return numbers


def unroll(columns: Columns, blocks: Sequence[Block], modulo: int = 0) -> dict[str, NDArray[np.int64]]:
    """Return the columns with every block written out as often as it occurs; `modulo` wraps a ``position`` column."""
    if not blocks:
        return dict(columns)
    count = len(next(iter(columns.values())))
    rows, shifts, steps, cursor = [], [], [], 0
    for block in blocks:
        rows.append(np.arange(cursor, block.last))
        shifts.append(np.zeros(block.last - cursor, np.int64))
        steps.append(np.zeros(block.last - cursor, np.int64))
        # Rows up to the block's end, then its repeats: where they would stand had nothing been left out.
        size = block.last - block.first
        again = np.repeat(np.arange(1, block.repeats + 1, dtype=np.int64), size)
        rows.append(np.tile(np.arange(block.first, block.last), block.repeats))
        shifts.append(again * block.period_ps)
        steps.append(again * block.period_steps)
        cursor = block.last
    rows.append(np.arange(cursor, count))
    tail = count - cursor
    index = np.concatenate(rows)
    shift = np.concatenate([*shifts, np.zeros(tail, np.int64)])
    step = np.concatenate([*steps, np.zeros(tail, np.int64)])
    out = {name: values[index] for name, values in columns.items()}
    for name in _TIMES:
        if name in out:
            out[name] = out[name] + shift
    out["step"] = out["step"] + step
    if modulo and "position" in out:
        # -1 is no chunk of the buffer, and stays so
        out["position"] = np.where(out["position"] >= 0, (out["position"] + step) % modulo, -1)
    return out


@dataclass(frozen=True)
class Totals:
    """Sums over the spans of one iteration: all that bandwidths, busy shares and copies need of them.

    Arrays have one entry per resource, in the order of `Trace.resources`; resources after the last entry did nothing.
    """

    served_ps: NDArray[np.float64]
    """Picoseconds of work that a resource did, alone: time in which it has a slice and waits for others is left out."""
    nbytes: NDArray[np.int64]
    """Bytes that crossed it."""
    flown_ps: int
    """Picoseconds that the first slice of node 0's first device, passed on from step to step, spent in flight."""


def sums(spans: Columns, weights: NDArray[np.int64] | int = 1) -> Totals:
    """Return the sums over spans that occur so often."""
    lasted = spans["work"] * weights
    first = (
        np.isin(spans["stage"], _FLIGHTS)
        & (spans["slice"] == 0)
        & (spans["device"] == 0)
        & (spans["node"] == 0)
    )
    return Totals(
        np.bincount(spans["resource"], lasted).astype(np.float64),
        _summed(spans["resource"], spans["nbytes"] * weights),
        int(lasted[first].sum()),
    )


@dataclass(frozen=True)
class Recording:
    """What happened in one iteration of the collective."""

    spans: Columns
    """`SPAN_COLUMNS`; rows of a block once."""
    blocks: tuple[Block, ...]
    """Which rows occur again."""
    registrations: Columns
    """`REGISTRATION_COLUMNS`; rows of a block once."""
    registration_blocks: tuple[Block, ...]
    """Which of those occur again."""
    end_ps: int
    """When the last slice had arrived and the last region was given back."""
    counters: Counters
    """What the registration caches of one PCIe switch's NICs did: the first switch of the slowest node, else of node 0."""
    chunks: int = 1
    """Chunks per device and buffer; positions of registered memory count modulo this."""
    summed: Totals | None = None
    """The totals, where an engine knows them without its spans."""
    whole: tuple[int, ...] = ()
    """Stages whose rows are all there, behind the blocks, because they do not repeat with the others."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle takes: read-only mappings cannot be pickled."""
        state = {record_field.name: getattr(self, record_field.name) for record_field in fields(self)}
        return {**state, "spans": dict(self.spans), "registrations": dict(self.registrations)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back, read-only again."""
        frozen = {name: freeze(state[name]) for name in ("spans", "registrations")}
        self.__dict__.update(state, **frozen)

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How often each row of `spans` occurs."""
        weights = np.ones(len(self.spans["start"]), np.int64)
        for block in self.blocks:
            weights[block.first : block.last] += block.repeats
        return weights

    @cached_property
    def totals(self) -> Totals:
        """Sums over all spans."""
        return self.summed or sums(self.spans, self.weights)

    @cached_property
    def unrolled(self) -> Columns:
        """`spans` with every block written out."""
        return freeze(unroll(self.spans, self.blocks))

    @cached_property
    def unrolled_registrations(self) -> Columns:
        """`registrations` with every block written out."""
        return freeze(unroll(self.registrations, self.registration_blocks, self.chunks))


@dataclass(frozen=True)
class Iteration:
    """One run of the collective; identical ones share their recording."""

    begin_ps: int
    """When it began."""
    recording: Recording
    """What happened, from its beginning on."""

    @property
    def time_ps(self) -> int:
        """How long it took."""
        return self.recording.end_ps


@dataclass(frozen=True)
class Ran:
    """Iterations that were simulated."""

    iterations: tuple[Iteration, ...]
    """First to last."""

    def __call__(self) -> tuple[Iteration, ...]:
        """Return them."""
        return self.iterations


@dataclass(frozen=True)
class Trace:
    """Every span of a run.

    A folded trace holds one PCIe switch of node 0; every other switch and node does the same at the same time. With
    `one_switch` alone it holds one switch of every node, which stands for the node's others.
    """

    resources: tuple[Resource, ...]
    """What served the spans."""
    last: Recording
    """The last iteration: what a benchmark reports after its warm-up."""
    all_iterations: Callable[[], tuple[Iteration, ...]]
    """Gives the runs of the collective, one after the other; those before the last may first have to be simulated."""
    folded: bool
    """Whether one switch of one node stands for all."""
    one_switch: bool
    """Whether one switch of each recorded node stands for its others."""
    nodes: int
    """Nodes that take part."""
    switches: int
    """PCIe switches per node."""
    devices_per_switch: int
    """Accelerators per switch."""
    stages: tuple[str, ...] = field(default_factory=lambda: tuple(STAGES))
    """Names that the column ``stage`` indexes."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle takes: every iteration, simulated."""
        state = {trace_field.name: getattr(self, trace_field.name) for trace_field in fields(self)}
        return {**state, "all_iterations": Ran(self.iterations)}

    @cached_property
    def iterations(self) -> tuple[Iteration, ...]:
        """The runs of the collective, one after the other."""
        return self.all_iterations()

    def frame(self, iteration: int = -1) -> "pd.DataFrame":
        """Return the spans of one iteration for people: names instead of indices, sorted by start.

        ``work_ps`` is what the resource needs for the slice alone, in flight the latency; for ``held_ps`` more it has the slice and
        waits for the resource upstream, or shares its rate with others.
        """
        import pandas as pd  # noqa: PLC0415  (takes longer to load than most questions to answer)

        columns = self.iterations[iteration].recording.unrolled
        frame = pd.DataFrame({name: columns[name] for name in SPAN_COLUMNS})
        frame["stage"] = [self.stages[i] for i in columns["stage"]]
        frame["resource"] = [self.resources[i].label for i in columns["resource"]]
        frame["held"] = frame["end"] - frame["start"] - frame["work"]
        names = {name: f"{name}_ps" for name in ("queued", "start", "end", "work", "held")}
        return frame.rename(columns=names).sort_values(["start_ps", "end_ps", "device"], ignore_index=True)
