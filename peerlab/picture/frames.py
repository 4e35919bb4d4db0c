"""The rows from which a page draws any moment of a run; rows that repeat are sent once.

A thousand nodes make a hundred thousand spans, nearly all of them repetitions. So rows are sent once, in segments:
rows ``first`` to ``last`` occur `times` times, each later by `period`. Times are microseconds.
"""

# Rows that repeat are sent once. The page gets a trace as rows plus segments (`picture/frames`): first row,
# last row, how often, how much later. A thousand nodes are a few kilobytes. The periods at the end of a
# block are written out too: when no further steps begin, those under way end otherwise. Adding up that does
# not repeat with the rest is on the timeline, and not in the data path. The page draws spans that are at
# least two pixels long one by one and merges the others with their neighbours. A merged mark is as high as
# its share of busy time: half the lane's height for 50 %. In a crowded lane its tracks are stacked, as high
# as the resource is busy.

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from peerlab.answer.trace import Block, Columns, Recording, Trace
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import PS_PER_US
from peerlab.model.resources import RESOURCES
from peerlab.model.stages import STAGES, StageKind
from peerlab.picture.shown_nodes import ShownNodes

PASSED = ("start", "freed", "sent", "left", "received", "landed", "turned", "through")
"""Columns of `moves`: when a slice begins with the links on the way of its stage, and is through with them.

It has its first link from ``start`` to ``freed``, the sender's NIC from ``sent`` to ``left``, the receiver's from ``received`` to ``landed``, the last
link from ``turned`` to ``through``. Where nothing is sent there is a first and a last link only.
"""


def _numbers(asked: Callable[[StageKind], bool]) -> list[int]:
    """Return the numbers of the stages for which `asked` is true."""
    return [number for number, kind in enumerate(STAGES.values()) if asked(kind)]


class PageRows(TypedDict):
    """Rows as the page gets them."""

    arrays: dict[str, bytes]
    """Columns: 32-bit floats (times, microseconds) or integers."""
    segments: list[list[float]]
    """``[first, last, times, period, period in steps]``; the period in microseconds."""
    count: int


@dataclass(frozen=True)
class Segments:
    """Rows, and which of them repeat."""

    rows: dict[str, NDArray[np.int64]]
    """Equally long columns; times in picoseconds, sorted by ``start`` within a segment."""
    segments: list[tuple[int, int, int, int, int]]
    """``(first, last, times, period_ps, period_steps)``, rows `last` excluded."""

    def page(self, columns: Sequence[str], times: Sequence[str]) -> PageRows:
        """Return what the page gets: 32-bit arrays as bytes, times in microseconds."""
        arrays: dict[str, bytes] = {}
        for name in columns:
            if name in times:
                # 24 bits tell 0.1 us in a second: enough for a screen, half of the bytes
                arrays[name] = (self.rows[name] / PS_PER_US).astype("<f4").tobytes()
            else:
                arrays[name] = self.rows[name].astype("<i4").tobytes()
        parts = [[a, b, n, period / PS_PER_US, steps] for a, b, n, period, steps in self.segments]
        return {"arrays": arrays, "segments": parts, "count": len(next(iter(self.rows.values())))}


def spread(columns: Columns, blocks: Sequence[Block]) -> list[int]:
    """Return for each block over how many of its periods the rows of one step are spread, as steps overlap."""
    # rows lie in the order of time, so those of one step may begin in one period and end in a later one
    least = [int(columns["step"][block.first : block.last].min(initial=block.after_step)) for block in blocks]
    return [
        min((block.after_step - low) // block.period_steps + 2, block.repeats)
        for block, low in zip(blocks, least, strict=True)
    ]


def thin(columns: Columns, blocks: Sequence[Block]) -> dict[str, NDArray[np.int64]]:
    """Return the columns with the first and the last repetitions of every block written out, the others left out.

    So many are written out that each step which begins in the block's first occurrence is complete, and each that ends after its last.
    """
    if not blocks:
        return dict(columns)
    pieces, shifts, steps, cursor = [], [], [], 0
    for block, wide in zip(blocks, spread(columns, blocks), strict=True):
        pieces.append(np.arange(cursor, block.last))
        shifts.append(np.zeros(block.last - cursor, np.int64))
        steps.append(np.zeros(block.last - cursor, np.int64))
        size, last = block.last - block.first, block.repeats
        # The first periods have the steps that begin in the block, the last those that end behind it.
        for again in sorted({*range(1, min(wide + 1, last) + 1), *range(max(last - wide, 1), last + 1)}):
            pieces.append(np.arange(block.first, block.last))
            shifts.append(np.full(size, again * block.period_ps, np.int64))
            steps.append(np.full(size, again * block.period_steps, np.int64))
        cursor = block.last
    tail = len(columns["start"]) - cursor
    index = np.concatenate([*pieces, np.arange(cursor, cursor + tail)])
    shift = np.concatenate([*shifts, np.zeros(tail, np.int64)])
    out = {name: values[index] for name, values in columns.items()}
    for name in ("queued", "start", "end"):
        if name in out:
            out[name] = out[name] + shift
    out["step"] = out["step"] + np.concatenate([*steps, np.zeros(tail, np.int64)])
    return out


def repeating(recording: Recording) -> dict[str, NDArray[np.int64]]:
    """Return the thinned spans without those that do not repeat with the others, where any repeat."""
    if (
        not recording.whole
    ):  # a copy of a million spans of nodes that differ would take as much memory as they do
        return thin(recording.spans, recording.blocks)
    stays = ~np.isin(recording.spans["stage"], recording.whole)
    return thin({name: values[stays] for name, values in recording.spans.items()}, recording.blocks)


def segment(
    rows: dict[str, NDArray[np.int64]],
    blocks: Sequence[Block],
    by: str = "start",
    *,
    wide: Sequence[int],
    whole: Sequence[int] = (),
) -> Segments:
    """Sort thinned rows into segments by their step; rows of the exchange inside a node, and of the stages `whole`, never repeat.

    Steps up to `after_step` occur once, and so do those of the last periods, over which the rows of a step are spread (`wide`, see `spread`):
    they end when no further steps begin, and need not be like the others. One period in between occurs often.
    """
    step = rows["step"]
    inside = (
        np.isin(rows["stage"], [*_numbers(lambda kind: kind.counts_as == "exchange"), *whole])
        if "stage" in rows
        else np.zeros(len(step), bool)
    )
    chosen = [(np.flatnonzero(inside), 1, 0, 0)]
    low = -1  # the last step that is in a segment already
    for block, periods in zip(blocks, wide, strict=True):
        first, period, times = block.after_step, block.period_steps, block.repeats - periods
        if times < 1:
            continue
        chosen.append((np.flatnonzero(~inside & (step > low) & (step <= first)), 1, 0, 0))
        again = np.flatnonzero(~inside & (step > first) & (step <= first + period))
        chosen.append((again, times, block.period_ps, period))
        low = first + times * period
    chosen.append((np.flatnonzero(~inside & (step > low)), 1, 0, 0))
    order, segments, count = [], [], 0
    for index, times, period_ps, period_steps in chosen:
        if len(index):
            # sorted, because the page finds the rows of a moment by bisection
            order.append(index[np.argsort(rows[by][index], kind="stable")])
            segments.append((count, count + len(index), times, period_ps, period_steps))
            count += len(index)
    every = np.concatenate(order) if order else np.zeros(0, np.int64)
    return Segments({name: values[every] for name, values in rows.items()}, segments)


_LINKS = frozenset(
    name for name, kind in RESOURCES.items() if kind.drawn in ("device link", "uplink", "NIC", "wire")
)
"""Kinds of resources that the picture draws as something to pass, and not as a place."""


def moves(trace: Trace, seen: ShownNodes | None = None) -> Segments:
    """Return one row for every stage of every shown slice: with them the page knows where a slice is at any time.

    A stage is entered at ``enter``; the slice waits until ``start``, when the resource that serves it last begins, and
    leaves at ``end``, latency included. Adding up that does not repeat with the other stages (of a pairwise exchange of many nodes) is
    left out: it takes nanoseconds, and as much room as all else together. Columns: device, step, slice, whose (`ShownNodes.whose`), stage, resource, enter,
    start, end, until (when its next stage is entered, or it is done), nbytes. Only one PCIe switch is shown, and devices are numbered there.
    """
    recording, seen = trace.last, seen or ShownNodes(whole=True)
    columns = repeating(recording)
    shown = [*_numbers(lambda kind: bool(kind.track)), trace.stages.index("flight")]
    keep = (columns["slice"] >= 0) & np.isin(columns["stage"], shown)
    device = columns["device"] - seen.switch * trace.devices_per_switch
    columns = {**columns, "device": device}
    keep &= (device >= 0) & (device < trace.devices_per_switch)
    whose = seen.whose(columns["node"], columns["step"])
    keep &= whose > 0
    columns = {name: values[keep] for name, values in {**columns, "whose": whose}.items()}
    flight = columns["stage"] == trace.stages.index("flight")
    flights = {name: values[flight] for name, values in columns.items()}
    served = {name: values[~flight] for name, values in columns.items()}
    link = np.array([resource.kind in _LINKS for resource in trace.resources])[served["resource"]]
    rows, row_of = _stages(served, link)
    _add_flights(rows, flights)
    _add_arrivals(rows, served, row_of, link)
    _add_until(rows)
    return segment(rows, recording.blocks, by="enter", wide=spread(recording.spans, recording.blocks))


def _slice_key(rows: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return one number for each slice of a device; sorting by it puts the rows of a slice side by side."""
    # 18, 20 and 10 bits for step, slice and device make 52; a stage adds six, and 63 are there.
    return ((rows["whose"] * 2**18 + rows["step"]) * 2**20 + rows["slice"]) * 2**10 + rows["device"]


def _stages(
    columns: dict[str, NDArray[np.int64]], link: NDArray[np.bool_]
) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.int64]]:
    """Join the spans of one slice in one stage: return the rows, and for each span its row.

    What counts are its links (`link` says which spans are of one); of a stage without any, all of its resources.
    """
    key = _slice_key(columns) * 64 + columns["stage"]
    _, first, row_of = np.unique(key, return_index=True, return_inverse=True)
    rows = {name: columns[name][first] for name in ("device", "step", "slice", "whose", "stage", "nbytes")}
    order = np.argsort(row_of, kind="stable")
    begins = np.searchsorted(row_of[order], np.arange(len(first)))
    some = np.zeros(len(first), bool)
    some[row_of[link]] = True
    counts = link | ~some[row_of]
    # no resource begins, or is through, sooner than the one upstream of it
    for name, column, of, every in (
        ("enter", "queued", np.minimum, True),
        ("start", "start", np.minimum, False),
        ("freed", "end", np.minimum, False),
        ("turned", "start", np.maximum, False),
        ("through", "end", np.maximum, False),
        ("end", "end", np.maximum, True),
    ):
        # It never wins, so a span that does not count is not there.
        none = np.iinfo(np.int64).max if of is np.minimum else -1
        values = columns[column] if every else np.where(counts, columns[column], none)
        rows[name] = of.reduceat(values[order], begins) if len(begins) else columns[column]
    return rows, row_of


def _add_flights(rows: dict[str, NDArray[np.int64]], flights: dict[str, NDArray[np.int64]]) -> None:
    """Add when a slice begins to leave its sender and to arrive; a stage that a latency follows ends when that is over."""
    if not len(rows["end"]):  # the path has no way in the picture
        flights = {name: values[:0] for name, values in flights.items()}
    row = _stage_of(rows, flights)
    left, latency, end = flights["start"], flights["work"], rows["end"][row]
    # A flight within the stage leaves before it ends; one behind it begins when it ends, and makes it longer.
    inside = (row >= 0) & (left < end)
    behind = (row >= 0) & (left == end) & (flights["end"] == left + latency)
    rows["sent"], rows["received"] = rows["start"].copy(), rows["start"].copy()
    rows["left"], rows["landed"] = rows["through"].copy(), rows["through"].copy()
    rows["sent"][row[inside]] = left[inside]
    rows["received"][row[inside]] = (left + latency)[inside]
    rows["end"][row[behind]] = flights["end"][behind]


def _stage_of(rows: dict[str, NDArray[np.int64]], flights: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return for each flight the row of its slice that began last before it, or -1."""
    key = np.concatenate([_slice_key(rows), _slice_key(flights)])
    count = len(rows["start"])
    # By slice, then time; of one instant a row comes before the flight that follows from it.
    order = np.lexsort((np.arange(len(key)) >= count, np.concatenate([rows["start"], flights["start"]]), key))
    before = np.maximum.accumulate(np.where(order < count, np.arange(len(order)), -1))
    row = np.where(before >= 0, order[before], -1)
    values = np.full(len(key), -1, np.int64)
    values[order] = np.where((row >= 0) & (key[row] == key[order]), row, -1)
    return values[count:]


def _add_arrivals(
    rows: dict[str, NDArray[np.int64]],
    columns: dict[str, NDArray[np.int64]],
    row_of: NDArray[np.int64],
    link: NDArray[np.bool_],
) -> None:
    """Let a slice arrive when the receiver's first link begins with it, which may have to queue; say when both sides are through."""
    start, end, there = columns["start"], columns["end"], rows["received"][row_of]
    sent = link & (there > rows["start"][row_of])
    late, none = sent & (start >= there), np.iinfo(np.int64).max
    for name, values in (("received", start), ("landed", end)):
        first = np.full(len(rows["start"]), none)
        np.minimum.at(first, row_of[late], values[late])
        rows[name] = np.where(first < none, first, rows[name])
    last = np.full(len(rows["start"]), -1)
    np.maximum.at(last, row_of[sent & ~late], end[sent & ~late])
    rows["left"] = np.where(last >= 0, last, rows["left"])


def _add_until(rows: dict[str, NDArray[np.int64]]) -> None:
    """Add the column ``until``: when a slice that has left a stage enters the next; until then it rests where the stage ends."""
    key = _slice_key(rows)
    order = np.lexsort((rows["enter"], key))
    until = rows["end"].copy()
    if len(order) > 1:
        here, then = order[:-1], order[1:]
        goes_on = key[here] == key[then]
        # The next stage may have queued before this one let go.
        until[here[goes_on]] = np.maximum(rows["enter"][then[goes_on]], rows["end"][here[goes_on]])
    rows["until"] = until


def lane_spans(trace: Trace, lane_of: dict[int, int]) -> Segments:
    """Return the spans of the resources in `lane_of` (resource index to lane), for the timeline.

    Column ``done`` says when the resource's own work would be over, were it alone; until ``end`` it then waits for the
    resource upstream, or shares its rate. A slice in flight does not: it is under way for all that time.
    """
    recording = trace.last
    columns = thin(recording.spans, recording.blocks)
    lanes = np.array([lane_of.get(index, -1) for index in range(len(trace.resources))], np.int64)
    flies = np.isin(columns["stage"], _numbers(lambda kind: kind.counts_as == "flight"))
    done = np.where(flies, columns["end"], columns["start"] + columns["work"])
    rows = {**columns, "lane": lanes[columns["resource"]], "done": np.minimum(done, columns["end"])}
    keep = rows["lane"] >= 0
    wide = spread(recording.spans, recording.blocks)
    kept = {name: values[keep] for name, values in rows.items()}
    return segment(kept, recording.blocks, wide=wide, whole=recording.whole)


def registrations(trace: Trace, node: int = 0, switch: int = 0) -> Segments:
    """Return what the registration cache of the first NIC at a switch of a node did, sorted by time."""
    recording = trace.last
    rows = thin(recording.registrations, recording.registration_blocks)
    if recording.registration_blocks:
        rows["position"] = np.where(rows["position"] < 0, -1, _positions(rows, recording.chunks))
    here = (rows["node"] == node) & (rows["device"] // trace.devices_per_switch == switch)
    rows = {name: values[here] for name, values in rows.items()}
    nic = min((int(n) for n in rows["nic"]), default=-1)
    rows = {name: values[rows["nic"] == nic] for name, values in rows.items()}
    wide = spread(recording.registrations, recording.registration_blocks)
    return segment(rows, recording.registration_blocks, wide=wide)


def _positions(rows: dict[str, NDArray[np.int64]], chunks: int) -> NDArray[np.int64]:
    """Return the chunk that a transfer of each row's step reads (source) or writes (destination)."""
    return (rows["step"] + rows["side"]) % chunks
