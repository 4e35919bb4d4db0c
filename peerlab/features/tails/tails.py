"""Many runs of a scenario with noise: how long they take, path by path, and what the paths have between them at each percentile."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.display import shown
from peerlab.base.errors import ScenarioError, SweepStopped
from peerlab.base.progress_bar import progress_bar
from peerlab.base.units import PS_PER_S, say_count, say_time
from peerlab.engine.arrays.many_seeds import side_by_side, times_of_seeds
from peerlab.engine.expected_duration import forecast_s
from peerlab.features.tails.percentiles import PER_MILLE, name_of
from peerlab.features.tails.times import PathTimes
from peerlab.model.noise import assumed_noise
from peerlab.model.paths import data_path
from peerlab.question.scenario import Scenario, checked_scenario
from peerlab.study.many_runs import quiet_ps

USUAL_SEEDS = 1000
"""Runs of each path where nobody says how many; p99 needs as many."""
_ABOUT_S = 60.0
MOST_SEEDS = 10**6
ASSUMED = ("jitter", "spread", "detours")
"""The kinds that are assumed where a scenario has none: what moves every run, what lasts, and what is rare and long."""
Told = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Tails:
    """How long many runs take on one data path or on two."""

    paths: tuple[PathTimes, ...]
    """The path that was asked about; then the one that it is compared with, if there is one."""
    assumed: tuple[str, ...]
    """Kinds of noise whose amount is assumed, since the scenario asked for none."""

    def gain(self, per_mille: int = 500) -> float | None:
        """Return how many times as fast the first path is at a percentile: the ratio of the two percentiles; None where one is not told.

        Not a mean of ratios per seed: stages of two paths differ, so the same seed is not the same noise for them.
        """
        if len(self.paths) < 2:
            return None
        place = PER_MILLE.index(per_mille)
        own, other = (path.percentiles[place] for path in self.paths)
        return None if own.missing or other.missing else other.value_ps / own.value_ps

    @property
    def quiet_gain(self) -> float | None:
        """How many times as fast the first path is without noise."""
        return self.paths[1].quiet_ps / self.paths[0].quiet_ps if len(self.paths) > 1 else None

    @property
    def runs_in_words(self) -> str:
        """How many runs of each path, and their noise."""
        first = self.paths[0]
        return f"{say_count(len(first.times_ps), 'run')} with {first.scenario.noise.in_words}"

    def as_dict(self) -> dict[str, object]:
        """Return all figures."""
        return {
            "noise": self.paths[0].scenario.noise.in_words,
            "assumed": list(self.assumed),
            "paths": [path.as_dict() for path in self.paths],
            "gain": {"quiet": self.quiet_gain, **{name_of(p): self.gain(p) for p in PER_MILLE}},
        }

    _repr_html_ = shown

    def __repr__(self) -> str:
        first = self.paths[0]
        sentence = ", ".join(
            f"{percentile.name} {say_time(percentile.value_ps)}"
            for percentile in first.percentiles
            if not percentile.missing
        )
        return f"Tails({first.scenario.path}, {self.runs_in_words}: {sentence})"


def tails(
    scenario: Scenario | None = None,
    *,
    seeds: int | None = None,
    over: str | None = "auto",
    output: str | Path | None = None,
    progress: bool | Told = True,
    workers: int | None = None,
    dask: str | None = None,
    executor: Any = None,
    cancel: Any = None,
    **fields: Any,
) -> Tails:
    """Simulate a scenario with many seeds, on one data path or on two; return percentiles with their intervals.

    Parameters
    ----------
    scenario:
        The question, with its noise; default: ``Scenario()``. Without noise that of ``data/noise.toml`` is assumed: jitter, a spread of
        nodes, and detours.
    seeds:
        How many runs; p99 needs 1,000 of them and p99.9 10,000. None: 1,000, or as many as take about a minute here.
    over:
        The path that it is compared with; ``auto``: Peer Direct's usual detour, or for a detour Peer Direct; None: none.
    workers, dask, executor, output, progress, cancel:
        As of :func:`peerlab.sweep`: runs may be shared out, go to a file as they come, and go on from it.
    **fields:
        Fields of the scenario, such as ``nodes=64, jitter=0.05``.

    Raises
    ------
    ScenarioError, HardwareError
        If the question is impossible.
    PeerlabError
        If it was cancelled, or as of a sweep.

    >>> found = tails(cluster="ideal-100g", nodes=8, dependency="step", jitter=0.2, seeds=100)
    >>> found.paths[0].percentiles[0].missing, found.paths[0].percentiles[2].missing
    (0, 900)
    """
    # The type itself is compared: `isinstance(True, int)` holds.
    if seeds is not None and (type(seeds) is not int or not 1 <= seeds <= MOST_SEEDS):
        raise ScenarioError("seeds", f"{seeds!r} is not a number of runs from 1 to {MOST_SEEDS}")
    noiseless = Scenario(**fields) if scenario is None else checked_scenario(scenario).with_(**fields)
    noisy, assumed = with_noise(noiseless)
    scenarios = compared(noisy, over)
    elsewhere = {"workers": workers, "dask": dask, "executor": executor, "output": output, "cancel": cancel}
    options = {name: value for name, value in elsewhere.items() if value is not None}
    # One seed after another from the scenario's own, so that more runs go on where fewer ended.
    numbers = range(noisy.seed, noisy.seed + (usual_seeds(scenarios) if seeds is None else seeds))
    # All in this process; files and workers are a sweep's.
    if options:
        times = _by_sweep(scenarios, numbers, progress, options)
    else:
        times = _here(scenarios, numbers, progress)
    paths = [
        PathTimes(scenario, tuple(times_ps), quiet_ps(scenario))
        for scenario, times_ps in zip(scenarios, times, strict=True)
    ]
    return Tails(tuple(paths), assumed)


def usual_seeds(scenarios: Sequence[Scenario]) -> int:
    """Return how many runs of each scenario there are where nobody says it: those of about a minute on one core, from 20 to 1,000.

    >>> usual_seeds([Scenario(cluster="ideal-100g", dependency="step", jitter=0.1)])
    1000
    """
    if all(map(side_by_side, scenarios)):
        return USUAL_SEEDS
    each_s = sum(forecast_s(scenario, alike=USUAL_SEEDS) for scenario in scenarios)
    # A scenario that takes no time can be run as often as usual.
    return max(20, min(USUAL_SEEDS, int(_ABOUT_S / each_s))) if each_s else USUAL_SEEDS


def with_noise(s: Scenario) -> tuple[Scenario, tuple[str, ...]]:
    """Return a scenario with noise, and the kinds of it whose amounts are assumed, since it had none."""
    if s.noise:
        return s, ()
    amounts = {name: assumed_noise()[name].amount for name in ASSUMED}
    return s.with_(**amounts), ASSUMED


def compared(s: Scenario, over: str | None) -> list[Scenario]:
    """Return a scenario and, if there is one, that on the path which it is compared with."""
    others = _others(s, over)
    if s.path in others:
        raise ScenarioError("over", f"{s.path} is the path itself; give another, or none")
    try:
        return [s, *(s.with_(path=other) for other in others)]
    except ScenarioError as problem:
        # the scenario itself is possible, so it is the other path that is not
        raise ScenarioError("over", problem.args[1]) from None


def _others(s: Scenario, over: str | None) -> list[str]:
    """Return the path to compare with, if there is one."""
    if over is None:
        return []
    if over != "auto":
        return [over]
    direct = data_path(str(s.path)).uses_device_memory
    others = [path for path in s.given_cluster.paths if data_path(path).uses_device_memory != direct]
    # A bare fabric has one path: nothing to compare with.
    return others[:1] if not s.data_path.is_bare else []


def _here(scenarios: Sequence[Scenario], seeds: range, progress: bool | Told) -> list[list[int]]:
    """Return the times of all seeds of each scenario, simulated in this process."""
    total, times = len(scenarios) * len(seeds), []
    with progress_bar("tails", "runs", total, shown=progress is True) as bar:
        for number, scenario in enumerate(scenarios):
            before = number * len(seeds)
            tell = progress if callable(progress) else lambda done, _: bar(done)
            times.append(times_of_seeds(scenario, seeds, lambda done, _: tell(before + done, total)))  # noqa: B023  (called at once)
    return times


def _by_sweep(
    scenarios: Sequence[Scenario], seeds: range, progress: bool | Told, options: dict[str, Any]
) -> list[list[int]]:
    """Return the times that a sweep over paths and seeds gives: elsewhere, or into a file."""
    paths = [str(scenario.path) for scenario in scenarios]
    with warnings.catch_warnings():
        # The interrupt below says it.
        warnings.simplefilter("ignore", SweepStopped)
        rows = peerlab.sweep(scenarios[0], path=paths, seed=list(seeds), progress=progress, **options)
    problems = [text for text in rows["error"].tolist() if isinstance(text, str) and text]
    missing = len(paths) * len(seeds) - len(rows)
    # Without a file and without a switch to stop it, only Ctrl+C leaves rows out.
    if missing and "cancel" not in options and "output" not in options:
        raise KeyboardInterrupt
    if problems or missing:
        raise ScenarioError(
            "seeds", problems[0] if problems else f"{missing} runs are missing; ask again to go on"
        )
    times = rows["time_s"].to_numpy()
    count = len(seeds)
    # The path varies slower than the seed: runs of a path stand together, in the order of seeds.
    return [
        [round(time * PS_PER_S) for time in times[k * count : (k + 1) * count]] for k in range(len(paths))
    ]
