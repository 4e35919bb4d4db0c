"""Simulates one scenario in a process of its own and prints, as JSON, what that took.

A process of its own because the peak memory of a process never goes down again.
"""

import json
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

RUNS, ENOUGH_S = 9, 1
"""So many runs, unless they take longer than this together."""


def measure(**fields: Any) -> dict[str, float]:
    """Return the CPU seconds of the quickest run, its peak memory, and how many spans were simulated of how many there are."""
    done = subprocess.run(
        [sys.executable, __file__, json.dumps(fields)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main(fields: dict[str, Any]) -> None:
    import peerlab  # noqa: PLC0415  (only the process that simulates needs it)

    scenario = peerlab.Scenario(**fields)
    peerlab.simulate(scenario.with_(nodes=4, slice_bytes=None))  # loads what is loaded once
    taken: list[float] = []
    while len(taken) < RUNS and sum(taken) < ENOUGH_S:
        begin = time.process_time()
        run = peerlab.simulate(scenario)
        taken.append(time.process_time() - begin)
    process = process_bytes()
    spans, blocks = len(run.recording.spans["start"]), run.recording.blocks
    whole = spans + sum(block.repeats * (block.last - block.first) for block in blocks)
    del run
    tracemalloc.start()  # it slows what it watches, so that is a run of its own
    peerlab.simulate(scenario)
    peak = tracemalloc.get_traced_memory()[1]
    found = {
        "seconds": min(taken),
        "peak_bytes": peak,
        "process_bytes": process,
        "spans": spans,
        "whole": whole,
    }
    print(json.dumps(found))


def process_bytes() -> int:
    """Return the most memory that this process has held: Python, its libraries and the runs.

    Not `ru_maxrss`: a process inherits that from the one that started it.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
