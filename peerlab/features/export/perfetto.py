"""A run as a Chrome trace, to be opened in ui.perfetto.dev or chrome://tracing.

Trace Event Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Each node is a process, each
lane of the timeline a thread; where spans of a resource overlap, further threads of the same name follow. Times are
microseconds. ``work_us`` is the resource's own work on a slice; for ``held_us`` it has the slice and waits for the resource before it.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from peerlab.answer.lanes import in_order, lane_name, tracks
from peerlab.answer.run import Run
from peerlab.answer.trace import Iteration, Ran, Trace
from peerlab.base.errors import PeerlabError
from peerlab.base.outfile import written
from peerlab.base.units import PS_PER_US
from peerlab.model.stages import FLIGHT
from peerlab.training.step_picture import lanes_of
from peerlab.training.step_run import StepRun

_MOST_TRACKS = 1000
_STEP = -2
"""Process of a step's own lanes; nodes are 0 and more, the fabric is -1."""


def write_run(run: Run, path: str | Path) -> None:
    """Write every span of a run to `path`.

    Raises
    ------
    PeerlabError
        If the file cannot be written.
    """
    write_perfetto(run.trace, path, repr(run))


def write_perfetto(trace: Trace, path: str | Path, title: str) -> None:
    """Write every span of every iteration to `path`.

    Raises
    ------
    PeerlabError
        If the file cannot be written.
    """
    _write(events(trace), path, title)


def write_step(run: StepRun, path: str | Path) -> None:
    """Write a training step to `path`: its lanes, and every span of its exchanges.

    Raises
    ------
    PeerlabError
        If the file cannot be written.
    """
    _write(step_events(run), path, repr(run))


def _write(entries: Iterable[dict[str, Any]], path: str | Path, title: str) -> None:
    head = f'{{"displayTimeUnit": "ns", "otherData": {json.dumps({"title": title})},\n"traceEvents": [\n'
    with written(path, PeerlabError) as new, new.open("w", encoding="utf-8") as file:
        file.write(head)
        # Event by event: a run of millions of spans is never a list.
        for number, event in enumerate(entries):
            file.write((",\n" if number else "") + json.dumps(event))
        file.write("\n]}\n")


def step_events(run: StepRun) -> Iterator[dict[str, Any]]:
    """Return the lanes of a step as a process of their own, then the spans of every exchange at the time at which it took place."""
    lanes, trace = lanes_of(run), run.trace
    waits = [(begin, end, "waits for an exchange") for begin, end in lanes.exposed]
    several = {
        "computing": [(box.begin_ps, box.end_ps, box.says) for _, box in lanes.computing],
        "filling": [(box.begin_ps, box.end_ps, box.says) for box in lanes.filling],
        "ready, waits": [(box.begin_ps, box.end_ps, box.says) for box in lanes.waiting],
        "in flight": [(box.begin_ps, box.end_ps, box.says) for box in lanes.in_flight],
        "exposed": waits,
    }
    yield {"ph": "M", "pid": _STEP, "name": "process_name", "args": {"name": "training step"}}
    for thread, (name, boxes) in enumerate(several.items()):
        yield from _names(_STEP, thread, name)
        for begin, end, sentence in boxes:
            times = {"ts": begin / PS_PER_US, "dur": (end - begin) / PS_PER_US}
            yield {"ph": "X", "name": sentence, "cat": name, "pid": _STEP, "tid": thread, **times}
    named: set[str] = set()
    for placed_span in trace.placed:
        # An exchange counts from 0; in the trace it begins where it took place in the step.
        alone = replace(
            placed_span.run.trace,
            all_iterations=Ran((Iteration(placed_span.first_ps, placed_span.run.recording),)),
        )
        for event in events(alone):
            # Every exchange names the same nodes and lanes: once is enough.
            key = json.dumps(event) if event["ph"] == "M" else ""
            if key not in named:
                yield event
            named.update([key] if key else [])


def events(trace: Trace) -> Iterator[dict[str, Any]]:
    """Return the names of processes and threads, then every span as a complete event."""
    threads = _threads(trace)
    for node in sorted({lane.node for lane in trace.resources}):
        name = f"node {node}{_stands_for(trace)}" if node >= 0 else "fabric"
        yield {"ph": "M", "pid": node, "name": "process_name", "args": {"name": name}}
    seen: set[tuple[int, int]] = set()
    for iteration in trace.iterations:
        spans = iteration.recording.unrolled
        # The last key counts first: by start, then by end.
        order = np.lexsort((spans["end"], spans["start"]))
        for resource in range(len(trace.resources)):
            mine = order[spans["resource"][order] == resource]
            node, base, name = threads[resource]
            track = tracks(spans["start"][mine], spans["end"][mine])
            for offset, row in zip(track.tolist(), mine.tolist(), strict=True):
                thread = base + offset
                if (node, thread) not in seen:
                    seen.add((node, thread))
                    yield from _names(node, thread, name)
                yield _event(trace, spans, row, iteration.begin_ps, node, thread)


def _stands_for(trace: Trace) -> str:
    if trace.folded:
        return f" (one PCIe switch; stands for all {trace.nodes} nodes)"
    if trace.one_switch and trace.switches > 1:
        return f" (one PCIe switch; stands for the node's {trace.switches})"
    return ""


def _threads(trace: Trace) -> list[tuple[int, int, str]]:
    """Return node, first thread number and name of every resource, lanes in the timeline's order."""
    kinds = in_order(list(dict.fromkeys(resource.kind for resource in trace.resources)))
    many = {
        kind: max(resource.index for resource in trace.resources if resource.kind == kind) > 0
        for kind in kinds
    }
    rows = []
    for lane in trace.resources:
        name = lane_name(lane.kind) + (f" {lane.index}" if many[lane.kind] else "")
        # Viewers sort threads by number: each resource has room for its overlapping spans behind it.
        rows.append((lane.node, (kinds.index(lane.kind) * 1000 + lane.index) * _MOST_TRACKS, name))
    return rows


def _names(node: int, thread: int, name: str) -> Iterator[dict[str, Any]]:
    common = {"ph": "M", "pid": node, "tid": thread}
    yield {**common, "name": "thread_name", "args": {"name": name}}
    yield {**common, "name": "thread_sort_index", "args": {"sort_index": thread}}


def _event(trace: Trace, spans: Any, row: int, begin_ps: int, node: int, thread: int) -> dict[str, Any]:
    start, end, work = (int(spans[name][row]) for name in ("start", "end", "work"))
    stage = trace.stages[int(spans["stage"][row])]
    return {
        "ph": "X",
        "name": stage,
        "cat": stage,
        "pid": node,
        "tid": thread,
        "ts": (begin_ps + start) / PS_PER_US,
        "dur": (end - start) / PS_PER_US,
        "args": {
            "device": int(spans["device"][row]),
            "step": int(spans["step"][row]) + 1,
            "slice": int(spans["slice"][row]),
            "bytes": int(spans["nbytes"][row]),
            "waited_us": (start - int(spans["queued"][row])) / PS_PER_US,
            "work_us": work / PS_PER_US,
            _rest(trace, spans, row): (end - start - work) / PS_PER_US,
        },
    }


def _rest(trace: Trace, spans: Any, row: int) -> str:
    """Return what the time of a span beside its work is called: a shared resource divides its rate, others wait for the one before."""
    if trace.stages[int(spans["stage"][row])] == FLIGHT:
        return "sending_us"  # the latency is its work; its bytes take the rest to leave
    shared = trace.resources[int(spans["resource"][row])].shared
    return "held_or_shared_us" if shared else "held_us"
