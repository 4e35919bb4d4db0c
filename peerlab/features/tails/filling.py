"""Many runs as they come: what is known so far, again and again, while seeds are simulated."""

import time
from collections.abc import Iterator

from peerlab.engine.arrays.many_seeds import times_of_seeds
from peerlab.engine.loop.event_loop import Progress
from peerlab.features.tails.tails import Tails, compared, usual_seeds, with_noise
from peerlab.features.tails.times import PathTimes
from peerlab.question.scenario import Scenario
from peerlab.study.many_runs import quiet_ps

_SHOW_S = 0.4
"""Runs are told about so often; as many more are made at a time as fit between."""


def filling(
    scenario: Scenario, seeds: int | None = None, progress: Progress | None = None
) -> Iterator[Tails]:
    """Yield what the first runs of both paths say, then what more of them say; the last is what `tails` returns.

    `progress` hears of each simulation, and ends it by what it raises.

    >>> [len(some.paths[0].times_ps) for some in filling(Scenario(cluster="ideal-100g", nodes=2, jitter=0.1), 6)]
    [1, 3, 6]
    """
    noisy, assumed = with_noise(scenario)
    scenarios = compared(noisy, "auto")
    most = usual_seeds(scenarios) if seeds is None else seeds
    quiet, times = [quiet_ps(path_scenario) for path_scenario in scenarios], [list[int]() for _ in scenarios]
    done, at_once = 0, 1
    while done < most:
        begun = time.monotonic()
        numbers = range(noisy.seed + done, noisy.seed + min(most, done + at_once))
        for path_scenario, path_times in zip(scenarios, times, strict=True):
            path_times.extend(times_of_seeds(path_scenario, numbers, progress, alike=most))
        done += len(numbers)
        paths = [
            PathTimes(path_scenario, tuple(path_times), q)
            for path_scenario, path_times, q in zip(scenarios, times, quiet, strict=True)
        ]
        yield Tails(tuple(paths), assumed)
        if time.monotonic() - begun < _SHOW_S / 2:
            at_once *= 2
