"""The rows from which a page draws any moment of a run; rows that repeat are sent once.

A thousand nodes make a hundred thousand spans, nearly all of them repetitions. So rows are sent once, in segments:
rows ``first`` to ``last`` occur `times` times, each later by `period`. Times are microseconds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from peerlab.model.stages import STAGES, StageKind
from peerlab.trace import Block, Columns, Trace
from peerlab.units import PS_PER_US
from peerlab.view.shown_nodes import ShownNodes


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


def thin(columns: Columns, blocks: Sequence[Block]) -> dict[str, NDArray[np.int64]]:
    """Return the columns with the first repetitions and the last of every block written out, the others left out.

    The rows of a step are spread over as many periods as steps overlap; so many are written out that each step which
    begins in the block's first occurrence is complete.
    """
    if not blocks:
        return dict(columns)
    pieces, shifts, steps, cursor = [], [], [], 0
    for block in blocks:
        pieces.append(np.arange(cursor, block.last))
        shifts.append(np.zeros(block.last - cursor, np.int64))
        steps.append(np.zeros(block.last - cursor, np.int64))
        # rows lie in the order of time, so those of one step may begin in one period and end in a later one
        size = block.last - block.first
        overlap = block.after_step - int(
            columns["step"][block.first : block.last].min(initial=block.after_step)
        )
        needed = min(overlap // block.period_steps + 3, block.repeats)
        # the last repetition too: it holds the first rows of the steps that end after the block
        for again in sorted({*range(1, needed + 1), block.repeats}):
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


def segment(rows: dict[str, NDArray[np.int64]], blocks: Sequence[Block], by: str = "start") -> Segments:
    """Sort thinned rows into segments by their step; rows of the exchange inside a node never repeat.

    Steps up to `after_step` and those past the last repetition occur once; one period in between occurs often.
    """
    step = rows["step"]
    inside = (
        np.isin(rows["stage"], _numbers(lambda kind: kind.counts_as == "exchange"))
        if "stage" in rows
        else np.zeros(len(step), bool)
    )
    chosen = [(np.flatnonzero(inside), 1, 0, 0)]
    low = -1  # the last step that is in a segment already
    for block in blocks:
        first, period = block.after_step, block.period_steps
        chosen.append((np.flatnonzero(~inside & (step > low) & (step <= first)), 1, 0, 0))
        again = np.flatnonzero(~inside & (step > first) & (step <= first + period))
        chosen.append((again, block.repeats, block.period_ps, period))
        low = first + block.repeats * period
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


def moves(trace: Trace, seen: ShownNodes | None = None) -> Segments:
    """Return one row for every stage of every shown slice: with them the page knows where a slice is at any time.

    A stage is entered at ``enter``; the slice waits until ``start``, when the resource that serves it last begins, and
    leaves at ``end``, latency included. Columns: device, step, slice, whose (`ShownNodes.whose`), stage, resource, enter,
    start, end, until (when its next stage is entered, or it is done), nbytes. Only the first PCIe switch is shown.
    """
    recording, seen = trace.last, seen or ShownNodes(whole=True)
    columns = thin(recording.spans, recording.blocks)
    columns["whose"] = seen.whose(columns["node"], columns["step"])
    shown = _numbers(lambda kind: bool(kind.track) or kind.counts_as == "flight")
    keep = (columns["slice"] >= 0) & np.isin(columns["stage"], shown) & (columns["whose"] > 0)
    keep &= columns["device"] < trace.devices_per_switch
    columns = {name: values[keep] for name, values in columns.items()}
    flight = columns["stage"] == trace.stages.index("flight")
    flights = {name: values[flight] for name, values in columns.items()}
    rows = _stages({name: values[~flight] for name, values in columns.items()})
    _add_flights(rows, flights)
    _add_until(rows)
    return segment(rows, recording.blocks, by="enter")


def _slice_key(rows: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return one number for each slice of a device; sorting by it puts the rows of a slice side by side."""
    return ((rows["whose"] * 2**15 + rows["step"]) * 2**20 + rows["slice"]) * 2**10 + rows["device"]


def _stages(columns: dict[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """Join the spans of one slice in one stage: the resource that ends last tells when it moves."""
    key = _slice_key(columns) * 64 + columns["stage"]
    # by key, then by end: the last row of each group is the resource that ends last
    order = np.lexsort((columns["start"], columns["end"], key))
    last = np.append(np.diff(key[order]) != 0, True) if len(key) else np.zeros(0, bool)
    first = np.append(True, last[:-1]) if len(key) else last
    chosen = order[last]
    rows = {
        name: columns[name][chosen]
        for name in ("device", "step", "slice", "whose", "stage", "resource", "start", "end")
    }
    starts = np.flatnonzero(first)
    rows["enter"] = np.minimum.reduceat(columns["queued"][order], starts) if len(starts) else rows["start"]
    rows["nbytes"] = columns["nbytes"][chosen]
    return rows


def _add_flights(rows: dict[str, NDArray[np.int64]], flights: dict[str, NDArray[np.int64]]) -> None:
    """Let a stage that is followed by a latency end when that is over: at the slice's arrival."""
    # a latency begins at the picosecond at which its stage ends, so that key and time tell whose it is
    ends = {
        (int(k), int(s)): int(e)
        for k, s, e in zip(_slice_key(flights), flights["start"], flights["end"], strict=True)
    }
    keys = zip(_slice_key(rows).tolist(), rows["end"].tolist(), strict=True)
    rows["end"] = np.array([ends.get(key, key[1]) for key in keys], np.int64)


def _add_until(rows: dict[str, NDArray[np.int64]]) -> None:
    """Add the column ``until``: when a slice that has left a stage enters the next; until then it rests where the stage ends."""
    key = _slice_key(rows)
    order = np.lexsort((rows["enter"], key))
    until = rows["end"].copy()
    if len(order) > 1:
        here, then = order[:-1], order[1:]
        goes_on = key[here] == key[then]
        until[here[goes_on]] = np.maximum(rows["enter"][then[goes_on]], rows["end"][here[goes_on]])
    rows["until"] = until


def lane_spans(trace: Trace, lane_of: dict[int, int]) -> Segments:
    """Return the spans of the resources in `lane_of` (resource index to lane), for the timeline."""
    recording = trace.last
    columns = thin(recording.spans, recording.blocks)
    lanes = np.array([lane_of.get(index, -1) for index in range(len(trace.resources))], np.int64)
    rows = {**columns, "lane": lanes[columns["resource"]]}
    keep = rows["lane"] >= 0
    return segment({name: values[keep] for name, values in rows.items()}, recording.blocks)


def registrations(trace: Trace, node: int = 0) -> Segments:
    """Return what the registration cache of the first NIC of a node did, sorted by time."""
    recording = trace.last
    rows = thin(recording.registrations, recording.registration_blocks)
    if recording.registration_blocks:
        rows["position"] = np.where(rows["position"] < 0, -1, _positions(rows, recording.chunks))
    rows = {name: values[rows["node"] == node] for name, values in rows.items()}
    nic = min((int(n) for n in rows["nic"]), default=-1)
    rows = {name: values[rows["nic"] == nic] for name, values in rows.items()}
    return segment(rows, recording.registration_blocks)


def _positions(rows: dict[str, NDArray[np.int64]], chunks: int) -> NDArray[np.int64]:
    """Return the chunk that a transfer of each row's step reads (source) or writes (destination)."""
    return (rows["step"] + rows["side"]) % chunks
