"""Two thousand scenarios: one after the other, as a batch, over a pool of processes, over Dask; 2,000 with jitter; and cold runs left out."""

import importlib
import itertools
import math
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType
from typing import Any

from side_by_side import say, table, times

import peerlab
from peerlab.base.errors import PeerlabError

AXES: dict[str, list[Any]] = {
    "nodes": [2, 4, 8, 16, 24, 32, 48, 64, 96, 128],
    "message_bytes": [round(2**20 * 1.15**k) for k in range(50)],
    "path": ["host-rdma", "peer-direct"],
    "window": [8, 16],
}
"""Ten by fifty by two by two; sizes that are no powers of two, as a user's are not."""
JITTERED = 2000
JITTER = {
    "cluster": "ideal-100g",
    "path": "wire",
    "algorithm": "ring",
    "nodes": 64,
    "message_bytes": "16 MiB",
    "jitter": 0.1,
}
SERIAL_OF_THEM = 20
CACHED: dict[str, list[Any]] = {
    "nodes": [4, 8, 16, 32],
    "message_bytes": [round(2**20 * 1.3**k) for k in range(10)],
}
TURNS = 7
Row = tuple[str, str, str, str]


def section() -> str:
    """Measure the sweeps."""
    return f"""## Two thousand scenarios

DL1 over 10 node counts, 50 sizes, 2 paths and 2 windows, on {os.cpu_count()} cores; {JITTERED:,} seeds of a jittered ring of 64 nodes; and Peer Direct with a
registration cache over {len(CACHED["nodes"]) * len(CACHED["message_bytes"])} scenarios, in turns with and without the cold runs' times.

{table(("what", "took", "against one after the other", "wanted"), [*sweep_rows(), *jitter_rows(), *cold_rows()])}
"""


def sweep_rows() -> list[Row]:
    base = peerlab.Scenario()
    points = [dict(zip(AXES, values, strict=True)) for values in itertools.product(*AXES.values())]
    serial = seconds(lambda: [peerlab.simulate(base.with_(**point)) for point in points])
    rows: list[Row] = [(f"{len(points):,} calls of `simulate`, one after the other", say(serial), "1x", "")]
    sweep = getattr(peerlab, "sweep", None)
    if sweep is None or isinstance(sweep, ModuleType):
        return [*rows, left_out("`peerlab.sweep`")]
    took = seconds(lambda: sweep(base, **AXES))
    rows.append(("`peerlab.sweep`, in this process", say(took), times(serial / took), ""))
    with ProcessPoolExecutor() as pool:
        took = seconds(lambda: sweep(base, executor=pool, **AXES))
    rows.append(("`peerlab.sweep`, a pool of processes", say(took), times(serial / took), ""))
    return [*rows, dask_row(sweep, base, serial)]


def dask_row(sweep: Callable[..., object], base: peerlab.Scenario, serial: float) -> Row:
    try:
        distributed = importlib.import_module("distributed")
    except ModuleNotFoundError:
        return left_out("`peerlab.sweep` over Dask")
    with distributed.Client(processes=True, threads_per_worker=1, dashboard_address=None) as client:
        took = seconds(lambda: sweep(base, executor=client.get_executor(), **AXES))
    return "`peerlab.sweep`, Dask on this machine", say(took), times(serial / took), ""


def jitter_rows() -> list[Row]:
    what = f"{JITTERED:,} seeds of a ring of 64 nodes, jittered"
    try:
        batch = importlib.import_module("peerlab.engine.arrays.side_by_side")
        scenarios = [peerlab.Scenario(**JITTER, seed=seed) for seed in range(JITTERED)]
    except (ModuleNotFoundError, PeerlabError):
        return [left_out(f"{what}: `peerlab.engine.arrays.side_by_side`")]
    some = scenarios[:SERIAL_OF_THEM]
    serial = seconds(lambda: [peerlab.simulate(one) for one in some]) * JITTERED / SERIAL_OF_THEM
    took = seconds(lambda: batch.times(scenarios))
    return [
        (f"{what}, one after the other", f"{say(serial)}, from {SERIAL_OF_THEM} of them", "1x", ""),
        (f"{what}, as a batch", say(took), times(serial / took), "under 1 s"),
        seeds_row(what, serial),
    ]


def seeds_row(what: str, serial: float) -> Row:
    took = seconds(lambda: peerlab.sweep(**JITTER, seed=range(JITTERED), progress=False))
    return f"{what}, `peerlab.sweep`", say(took), times(serial / took), ""


def cold_rows() -> list[Row]:
    """Measure both kinds of rows in turns, so that a busy machine slows both alike."""
    base, count = peerlab.Scenario(path="peer-direct"), math.prod(map(len, CACHED.values()))
    what = f"{count} rows of Peer Direct with a cache"

    def rows(*, asked: bool) -> float:
        return seconds(lambda: peerlab.sweep(base, iteration_times=asked, progress=False, **CACHED))

    try:
        rows(asked=True)
    except PeerlabError:  # an older peerlab, where nobody can ask
        return [left_out(what)]
    pairs = [(rows(asked=True), rows(asked=False)) for _ in range(TURNS)]
    slow, fast = (statistics.median(took) for took in zip(*pairs, strict=True))
    return [
        (f"{what}, with the times of cold runs", f"{say(slow)}, {count / slow:.0f} rows/s", "1x", ""),
        (f"{what}, without them", f"{say(fast)}, {count / fast:.0f} rows/s", times(slow / fast), ""),
    ]


def left_out(what: str) -> Row:
    return f"{what}: not measured here", "", "", ""


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
