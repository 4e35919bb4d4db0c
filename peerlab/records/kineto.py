"""PyTorch's profiler trace (Kineto's JSON, gzip too): when a device computed in each step, and what it exchanged.

A trace may be gigabytes. It is read event by event and never held: of each kernel its times stay, of each collective the fields that Kineto
writes (libkineto/src/output_json.cpp), nothing else. Hosts, users, paths, stacks and the names of kernels are not kept.
"""

import gzip
import io
import re
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import ijson  # type: ignore[import-untyped]

from peerlab.base.errors import RecordsError
from peerlab.base.progress_bar import progress_bar
from peerlab.base.units import MIB
from peerlab.model.collective import MEASURED
from peerlab.records.text import clean
from peerlab.records.trace_file import BYTE_ORDER_MARK, LOOK, TOOL, WatchedTrace
from peerlab.records.trace_shapes import around, collective_said, kernel_does, shaped_collective

MOST_EVENTS = 2_000_000
"""Events that are read at most; a step of a large model has 10,000 to 100,000. They take 200 MB at most while they are read."""
MOST_COLLECTIVES = 100_000
"""Collectives that are read at most, on the host and on the device each; a step of a large model has up to 10,000."""
# One more than `_KIND` takes: a longer name stays too long when it is cut.
_LONGEST_NAME = 41
_MOST_NAMED = 8
_UNNAMED = "of no known name"
_DTYPES = {
    "float": 4, "float32": 4, "half": 2, "float16": 2, "bfloat16": 2, "double": 8, "float64": 8, "long": 8, "int64": 8,
    "int": 4, "int32": 4, "byte": 1, "uint8": 1, "char": 1, "int8": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip
"""Bytes of an element, by PyTorch's names of types in small letters."""
_COMMUNICATES = re.compile(r"nccl|rccl|hccl", re.IGNORECASE)
_STEP = re.compile(r"ProfilerStep#(\d{1,12})")
_LAUNCHES = ("cuda_runtime", "cuda_driver")
# A number has to fit into 64 bits; a time is microseconds, since 1970 at most.
_MOST_ID, _MOST_TIME = 2**62, 10**18
_ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
_KIND = re.compile(r"[a-z_][a-z0-9_]{0,39}")
"""What a name of a kind or a type looks like; other text may name hosts and users."""


@dataclass(frozen=True, slots=True)
class TracedKernel:
    """A collective's kernel, microseconds as the trace counts them."""

    collective: str
    """``allreduce``, ``broadcast`` ...; empty where the trace does not say it."""
    elements: int
    """Elements that go in; 0 where the trace does not say it."""
    dtype: str
    """Their type, as PyTorch calls it in small letters."""
    ranks: int
    """Size of the group; 0 where the trace does not say it."""
    stream: int
    """Its stream on the device."""
    asked: float
    """When the host asked for it."""
    begin: float
    """When the device began."""
    end: float
    """When the device was through: what it waited for others is inside."""

    @property
    def nbytes(self) -> int:
        """Size of what goes in; 0 where it is unknown."""
        return self.elements * _DTYPES.get(self.dtype, 0)


@dataclass
class TraceEvents:
    """What is kept of a trace's events, in columns; microseconds as the trace counts them."""

    name: str
    """Of the file, without its folder."""
    steps: list[tuple[int, float, float]] = field(default_factory=list)
    """Number, begin and end of each step, as the host marked it."""
    launch_at: "array[float]" = field(default_factory=lambda: array("d"))
    """When the host launched something, by place."""
    launch_of: "array[int]" = field(default_factory=lambda: array("q"))
    """Its correlation."""
    begins: "array[float]" = field(default_factory=lambda: array("d"))
    """When the device began with a kernel, copy or fill that is no collective."""
    ends: "array[float]" = field(default_factory=lambda: array("d"))
    """When it was through."""
    correlations: "array[int]" = field(default_factory=lambda: array("q"))
    """Which launch it came from; -1 where the trace does not say it."""
    computes: "array[int]" = field(default_factory=lambda: array("b"))
    """1 for a kernel, 0 for a copy or a fill."""
    backward: "array[float]" = field(default_factory=lambda: array("d"))
    """When the host ran something of backward."""
    asked: dict[int, dict[str, Any]] = field(default_factory=dict)
    """What the host asked to communicate, by its external id."""
    shaped: list[tuple[float, float, dict[str, Any]]] = field(default_factory=list)
    """From when to when the host was asking for a collective, and what its shapes say of it."""
    kernels: list[dict[str, Any]] = field(default_factory=list)
    """Collectives on the device, their fields as written."""
    warnings: Counter[str] = field(default_factory=Counter)
    """What was left out, and how often."""
    count: int = 0
    """Events read."""


def looks_like_trace(path: Path) -> bool:
    """Say whether a file is a trace, or something else in its format."""
    if path.exists() and not path.is_file():  # opening a pipe would wait for its writer
        return False
    try:
        with path.open("rb") as raw:
            head = raw.read(2)
            raw.seek(0)
            begin = (gzip.GzipFile(fileobj=raw) if head == b"\x1f\x8b" else raw).read(LOOK)
    except (OSError, EOFError, zlib.error):
        # It cannot be unpacked: by its name it is a trace, and who reads it says what is wrong.
        return bool(re.search(r"\.json(\.gz)?$", path.name))
    return looks_like_json_trace(begin)


def looks_like_json_trace(begin: bytes) -> bool:
    """Say whether a text that begins so is a trace in Chrome's format."""
    return begin.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[") and any(
        mark in begin for mark in (b'"traceEvents"', b'"schemaVersion"', b'"ph":', b'"ph" :')
    )


def read_events(source: Path | bytes, name: str) -> TraceEvents:
    """Return what is kept of a trace, read event by event.

    Raises
    ------
    RecordsError
        If it cannot be read, is cut off, is no trace, or has more events than :data:`MOST_EVENTS`.
    """
    events = TraceEvents(clean(name))
    try:
        with source.expanduser().open("rb") if isinstance(source, Path) else io.BytesIO(source) as raw:
            size = raw.seek(0, io.SEEK_END)
            raw.seek(0)
            with progress_bar("trace", "MiB", size // MIB, shown=isinstance(source, Path)) as bar:
                watched = WatchedTrace(raw, events.name, lambda: bar(raw.tell() // MIB))
                _read_all(events, watched)
    except gzip.BadGzipFile:
        raise RecordsError(
            f"{events.name}: the compressed file is damaged, or something else stands behind its end"
        ) from None
    except OSError as problem:
        raise RecordsError(f"{events.name}: cannot read it: {problem.strerror or problem}") from None
    except (EOFError, zlib.error):
        raise RecordsError(
            f"{events.name}: the compressed file is cut off or damaged, after {events.count:,} events"
        ) from None
    if watched.no_numbers:
        events.warnings["values that are NaN or infinite were read as missing"] = watched.no_numbers
    return events


def _read_all(trace_events: TraceEvents, watched: WatchedTrace) -> None:
    """Take every event; a trace is an object with ``traceEvents``, or an array of events."""
    try:
        for event in _events(watched):
            # An event has come: from here on the next one is waited for.
            watched.since_event = 0
            trace_events.count += 1
            if trace_events.count > MOST_EVENTS:
                raise RecordsError(
                    f"{trace_events.name}: more than {MOST_EVENTS:,} events; record fewer steps (schedule(active=3)) or without stacks"
                )
            if isinstance(event, dict):
                _take(trace_events, event)
    except ijson.IncompleteJSONError as problem:
        why = str(problem).lower()
        whole = "is cut off" if "premature" in why else "is not in UTF-8" if "utf8" in why else "is no JSON"
        raise RecordsError(f"{trace_events.name}: {whole} after {trace_events.count:,} events") from None
    except UnicodeDecodeError:
        raise RecordsError(
            f"{trace_events.name}: is not in UTF-8 after {trace_events.count:,} events"
        ) from None
    except (ijson.JSONError, InvalidOperation):
        raise RecordsError(f"{trace_events.name}: is no JSON after {trace_events.count:,} events") from None
    if not trace_events.count:
        raise RecordsError(f"{trace_events.name}: no traceEvents; that is no trace of {TOOL}")


def _events(watched: WatchedTrace) -> Iterator[Any]:
    yield from ijson.items(watched, "item" if watched.begin()[:1] == b"[" else "traceEvents.item")


def _take(trace_events: TraceEvents, event: dict[str, Any]) -> None:
    """Keep what is needed of one event."""
    category, name = event.get("cat"), event.get("name")
    given = event.get("args")
    args = given if isinstance(given, dict) else {}
    begin, lasts = _time(event.get("ts")), _time(event.get("dur", 0))
    # The end of an arrow from forward to backward lies where the host runs backward.
    if event.get("ph") == "f" and category == "fwdbwd" and begin is not None:
        trace_events.backward.append(begin)
    if event.get("ph") != "X" or not isinstance(name, str):
        return
    annotates = category == "user_annotation"
    step = _STEP.fullmatch(name) if annotates else None
    shaped = shaped_collective(name, args) if annotates and not step else {}
    if not step and not shaped and category not in (*_ON_DEVICE, "cpu_op", *_LAUNCHES):
        return
    if begin is None or lasts is None or lasts < 0:
        trace_events.warnings["events without a time were left out"] += 1
    elif step:
        trace_events.steps.append((int(step[1]), begin, begin + lasts))
    elif shaped:
        trace_events.shaped.append((begin, begin + lasts, _kept(shaped)))
        _check_collectives(trace_events)
    # Of a kernel's name nothing is kept but which collective it begins with.
    elif category in _ON_DEVICE and not _COMMUNICATES.search(name):
        _take_kernel(trace_events, category, args, (begin, begin + lasts))
    elif category in _ON_DEVICE:
        trace_events.kernels.append(
            _kept(args) | {"does": kernel_does(name), "begin": begin, "end": begin + lasts}
        )
        _check_collectives(trace_events)
    else:
        _take_host(trace_events, name, args, begin)


def _take_host(trace_events: TraceEvents, name: str, args: dict[str, Any], begin: float) -> None:
    """Keep a launch, or what the host asks to communicate."""
    if name == "record_param_comms" and isinstance(args.get("External id"), int):
        trace_events.asked[args["External id"]] = _kept(args) | {"ts": begin}
        _check_collectives(trace_events)
    elif isinstance(args.get("correlation"), int) and abs(args["correlation"]) < _MOST_ID:
        trace_events.launch_of.append(args["correlation"])
        trace_events.launch_at.append(begin)


def _check_collectives(trace_events: TraceEvents) -> None:
    if max(map(len, (trace_events.kernels, trace_events.asked, trace_events.shaped))) > MOST_COLLECTIVES:
        raise RecordsError(
            f"{trace_events.name}: more than {MOST_COLLECTIVES:,} collectives; record fewer steps (schedule(active=3))"
        )


def _take_kernel(
    trace_events: TraceEvents, category: Any, args: dict[str, Any], times: tuple[float, float]
) -> None:
    correlation = args.get("correlation")
    known = isinstance(correlation, int) and abs(correlation) < _MOST_ID
    trace_events.begins.append(times[0])
    trace_events.ends.append(times[1])
    trace_events.correlations.append(correlation if known and isinstance(correlation, int) else -1)
    trace_events.computes.append(category == "kernel")


def _time(value: Any) -> float | None:
    # ijson reads a number with a fraction as a Decimal.
    known = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return float(value) if known and abs(value) < _MOST_TIME else None


def _kept(args: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a collective that are kept: sizes, types and numbers, no text but names of kinds and types."""
    numbers = ("External id", "correlation", "In msg nelems", "Out msg nelems", "Group size", "stream")
    kept: dict[str, Any] = {
        name: args[name] for name in numbers if isinstance(args.get(name), int) and 0 <= args[name] < 2**48
    }
    for name in ("Collective name", "dtype"):
        if isinstance(args.get(name), str):
            text = args[name][:_LONGEST_NAME].lower()
            kept[name] = text if _KIND.fullmatch(text) else _UNNAMED
    return kept


def _unknown(trace_events: TraceEvents, dtype: str) -> str:
    """Return the warning of an unknown type; after some types they share one."""
    sentence = f"collectives of unknown type {dtype!r} have no size"
    return (
        sentence
        if len(trace_events.warnings) < _MOST_NAMED or sentence in trace_events.warnings
        else "collectives of other unknown types have no size"
    )


def kernels(events: TraceEvents) -> list[TracedKernel]:
    """Return the collectives on the device in order; what one does not say is taken from what the host asked for."""
    every = []
    # A trace has many more launches than those of its collectives.
    wanted = {kernel["correlation"] for kernel in events.kernels if "correlation" in kernel}
    places = zip(events.launch_of, events.launch_at, strict=True)
    launched = {key: at for key, at in places if key in wanted}
    events.shaped.sort(key=lambda span: span[:2])
    for kernel in events.kernels:
        options = events.asked.get(kernel.get("External id", -1), {})
        # What a kernel says itself counts before what was asked for, and that before the shapes around its launch.
        entries = {**around(events.shaped, launched.get(kernel.get("correlation", -1))), **options, **kernel}
        dtype, kind = entries.get("dtype", ""), entries.get("Collective name", "")
        if dtype and dtype not in _DTYPES:
            events.warnings[_unknown(events, dtype)] += 1
        collective = collective_said(kind) or kernel["does"]
        # An AllGather counts what every rank has in the end, as nccl-tests do.
        larger = max(entries.get("In msg nelems", 0), entries.get("Out msg nelems", 0))
        every.append(
            TracedKernel(
                collective=collective,
                elements=larger
                if collective in MEASURED and MEASURED[collective].gathers
                else entries.get("In msg nelems", 0),
                dtype=dtype,
                ranks=entries.get("Group size", 0),
                stream=entries.get("stream", 0),
                asked=options.get("ts", launched.get(kernel.get("correlation", -1), kernel["begin"])),
                begin=kernel["begin"],
                end=kernel["end"],
            )
        )
    return sorted(every, key=lambda traced: (traced.begin, traced.end))
