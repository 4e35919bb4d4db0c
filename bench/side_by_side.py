"""Measures beside one another, and the tables that tell of it."""

import math
import resource
import statistics
import time
from collections.abc import Callable, Sequence

Work = Callable[[], object]


def in_turn(*works: Work, times: int = 3) -> list[float]:
    """Return the median CPU seconds of each, taken in turn so that a busy machine is unkind to all."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(times):
        for work, seconds in zip(works, taken, strict=True):
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start)
    return [statistics.median(seconds) for seconds in taken]


def children_cpu_s() -> float:
    """Return the CPU seconds of all processes that this one started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of `values` do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def say(seconds: float) -> str:
    """Return a time with three digits and its unit."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def times(ratio: float) -> str:
    """Return a ratio with two digits."""
    return f"{float(f'{ratio:.2g}'):,.0f}x" if ratio >= 10 else f"{ratio:.2g}x"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
