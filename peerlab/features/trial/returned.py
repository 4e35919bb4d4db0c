"""What came back of a trial: the gain that was measured, its noise, and the simulation beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from peerlab.base.errors import PeerlabError
from peerlab.base.textfile import in_words
from peerlab.base.units import say_bytes, say_count
from peerlab.diagnosis.observed import Observed, observe
from peerlab.features.trial.trial_folder import read_trial_file
from peerlab.records import load
from peerlab.study.planned import OFF, ON, ExpectedGain, Trial, sides_in_words

_MOST_FILES = 500
_SAME = 1.05
"""Two settings that differ by less at every size take the same."""
_CONTRADICT = 1.5
"""From this ratio on, runs of one setting contradict each other."""


@dataclass(frozen=True)
class MeasuredGain:
    """The gain at one size."""

    size_bytes: int
    off_s: float
    """Median time while the path is off, seconds."""
    on_s: float
    low: float
    """The smallest gain that a pair of runs has."""
    gain: float
    """Of the medians."""
    high: float
    noise: float
    """How far runs of one setting differ, as a factor of 1 or more."""
    expected: ExpectedGain | None


@dataclass(frozen=True)
class Returned:
    """What a folder says."""

    trial: Trial | None
    """Its plan; None where there is none."""
    gains: tuple[MeasuredGain, ...]
    runs: Mapping[str, int]
    """Logs that were read, by setting."""
    remarks: tuple[str, ...]
    """What speaks against the figures, a sentence each."""
    verdict: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold, units in the names."""
        return {
            "runs": dict(self.runs),
            "verdict": self.verdict,
            "remarks": list(self.remarks),
            "gains": [
                {
                    "message_bytes": gain.size_bytes,
                    "off_s": gain.off_s,
                    "on_s": gain.on_s,
                    "gain": gain.gain,
                    "gain_low": gain.low,
                    "gain_high": gain.high,
                    "noise_factor": gain.noise,
                    "simulated": [vars(band) for band in gain.expected.bands] if gain.expected else None,
                }
                for gain in self.gains
            ],
        }


def read_folder(where: str | Path) -> Returned:
    """Return what the logs ``off-*.log`` and ``on-*.log`` of a folder say.

    Raises
    ------
    PeerlabError
        If the folder, or one of the two settings, has no log; if a log cannot be read, or the runs are of different things.
    """
    folder = Path(where)
    with in_words(f"cannot read {where}", PeerlabError):
        if not folder.is_dir():
            raise PeerlabError(f"{where} is no folder")
    trial = read_trial_file(folder)
    entries = {setting: _runs(folder, setting) for setting in (OFF, ON)}
    absent = [setting for setting, runs in entries.items() if not runs]
    if absent:
        have = ", ".join(sorted(path.name for path in folder.iterdir())[:5]) or "nothing"
        raise PeerlabError(
            f"{where} has no log of the setting {absent[0]!r} (it has {have}); logs are called {OFF}-1.log, {ON}-1.log and so on"
        )
    # Before any gain: times of different things have no ratio.
    _check_alike(entries)
    gains = tuple(_gain(size, entries, trial) for size in _common(entries))
    if not gains:
        raise PeerlabError(f"the logs in {where} have no size in common")
    doubts = [
        # These make the verdict doubtful; what follows below is only to be known.
        *_of_another(entries, trial),
        *_unheard(entries, trial),
        *_contradictions(entries, gains),
        *_few(entries),
    ]
    alike = _alike(gains)
    runs = {setting: len(counted) for setting, counted in entries.items()}
    remarks = (*doubts, *alike, *_left_out(folder))
    return Returned(trial, gains, runs, remarks, _verdict(gains, trial, bool(doubts)))


Runs = Mapping[str, Sequence[tuple[str, Observed]]]


def _runs(folder: Path, setting: str) -> list[tuple[str, Observed]]:
    files = _files(folder, setting)
    if len(files) > _MOST_FILES:
        raise PeerlabError(f"{folder} has more than {_MOST_FILES} logs of one setting")
    return [(file.name, observe(load(file))) for file in files if file.is_file()]


def _files(folder: Path, setting: str) -> list[Path]:
    return sorted(folder.glob(f"{setting}-*"))


def _left_out(folder: Path) -> list[str]:
    """Name what is called as a log and is no file: a pipe would never end."""
    names = [
        f"{path.name} ({'a link that leads nowhere' if path.is_symlink() and not path.exists() else 'no file'})"
        for setting in (OFF, ON)
        for path in _files(folder, setting)
        if not path.is_file()
    ]
    return [f"left out: {', '.join(names)}"] if names else []


def _check_alike(seen: Runs) -> None:
    """Refuse runs that are not of one thing."""
    all_runs = [run for runs in seen.values() for run in runs]
    (name, first), *others = all_runs
    for other, observed in others:
        for what in ("tool", "collective", "ranks", "memory"):
            mine, its = getattr(first, what), getattr(observed, what)
            # What a log does not say contradicts nothing.
            if mine != its and None not in (mine, its):
                raise PeerlabError(
                    f"{name} and {other} are of different runs: {what} {mine!r} and {its!r}; a gain compares the same thing"
                )


def _common(seen: Runs) -> list[int]:
    sizes = [set(records.sizes.tolist()) for runs in seen.values() for _, records in runs]
    return sorted(set.intersection(*sizes))


def _times(runs: Sequence[tuple[str, Observed]], size: int) -> list[float]:
    return [float(records.times_s[records.sizes == size][0]) for _, records in runs]


def _gain(size: int, runs: Runs, trial: Trial | None) -> MeasuredGain:
    off, on = (_times(runs[setting], size) for setting in (OFF, ON))
    expected = next((gain for gain in trial.expected if gain.size_bytes == size), None) if trial else None
    return MeasuredGain(
        size_bytes=size,
        off_s=float(np.median(off)),
        on_s=float(np.median(on)),
        # The worst pair of runs: the fastest without over the slowest with.
        low=min(off) / max(on),
        gain=float(np.median(off) / np.median(on)),
        high=max(off) / min(on),
        noise=max(max(times) / min(times) for times in (off, on)),
        expected=expected,
    )


def _unheard(runs: Runs, trial: Trial | None) -> list[str]:
    """Name the logs that say that the switch did nothing."""
    if not trial or not trial.needs:
        return []
    sentences = []
    for name, observed in runs[ON]:
        lines = [line for line in observed.said if "via NET" in line]
        # A log without such lines says nothing; only channels without the mark say that the switch did
        # nothing.
        if lines and not any(trial.needs in line for line in lines):
            sentences.append(
                f"{name} says that its channels go without {trial.needs}: the switch did nothing"
            )
    for name, observed in runs[OFF]:
        if any(trial.needs in line for line in observed.said if "via NET" in line):
            sentences.append(f"{name} says {trial.needs} though it was to be off: the switch did nothing")
    return sentences


def _of_another(seen: Runs, trial: Trial | None) -> list[str]:
    """Say where the runs are larger or smaller than the plan's."""
    ranks = {records.ranks for runs in seen.values() for _, records in runs if records.ranks}
    if not trial or ranks <= {trial.ranks}:
        return []
    there = " and ".join(map(str, sorted(ranks)))
    return [
        f"the runs are of {there} ranks, the plan is for {trial.ranks}: its gains are not those of these runs"
    ]


def _contradictions(runs: Runs, gains: Sequence[MeasuredGain]) -> list[str]:
    """Name runs of one setting that contradict each other at the size where they differ most."""
    worst = max(gains, key=lambda gain: gain.noise)
    if worst.noise < _CONTRADICT:
        return []
    for setting in (OFF, ON):
        times = _times(runs[setting], worst.size_bytes)
        # The noise was computed from these very times, so it is found again exactly.
        if max(times) / min(times) == worst.noise:
            names = [name for name, _ in runs[setting]]
            slow, fast = names[int(np.argmax(times))], names[int(np.argmin(times))]
            sentence = f"{slow} takes {worst.noise:.2f} times as long as {fast} at {say_bytes(worst.size_bytes)}, with the same setting"
            return [
                f"{sentence}: the runs contradict each other; something else was using the nodes or the network"
            ]
    return []


def _alike(gains: Sequence[MeasuredGain]) -> list[str]:
    """Say that both settings take the same, where they do at every size."""
    ratios = [gain.gain for gain in gains]
    if max(ratios) >= _SAME or min(ratios) <= 1 / _SAME:
        return []
    spread = f"{min(ratios):.2f} to {max(ratios):.2f} times"
    return [
        f"both settings take the same at every size ({spread}): the switch did nothing, or the bytes do not go where it switches"
    ]


def _few(seen: Runs) -> list[str]:
    single = [setting for setting, runs in seen.items() if len(runs) < 2]
    return (
        [f"one run alone of {' and '.join(map(repr, single))}: there is no noise to hold the gain against"]
        if single
        else []
    )


def _verdict(gains: Sequence[MeasuredGain], trial: Trial | None, doubtful: bool) -> str:
    wanted = trial.size_bytes if trial else None
    # The plan's size, else the largest.
    measured = next((gain for gain in gains if gain.size_bytes == wanted), gains[-1])
    spread = f"{measured.low:.2f} to {measured.high:.2f} over all pairs"
    sentence = f"at {say_bytes(measured.size_bytes)} {measured.gain:.2f} times as fast ({spread})"
    if doubtful:
        return f"Not clear: {sentence}, but see the remarks"
    # Every pair of runs must be further from 1 than runs of one setting are from each other.
    clear = measured.low > measured.noise or measured.high < 1 / measured.noise
    if not clear:
        return f"Not clear: {sentence}; runs of one setting differ by {measured.noise:.2f} times, as much as that"
    faster = "Clearly faster" if measured.gain > 1 else "Clearly slower"
    if not trial or not measured.expected or len(measured.expected.bands) < 2:
        return f"{faster}: {sentence}"
    # The threshold parts two wirings: among the runs it parts nothing.
    if measured.low <= trial.threshold <= measured.high:
        return f"{faster}: {sentence}; which wiring holds stays open, because the threshold of {trial.threshold:.2f} lies among the runs"
    over, under = sides_in_words(measured.expected)
    beside, holds = ("above", over) if measured.gain > trial.threshold else ("below", under)
    return f"{faster}: {sentence}, {beside} the threshold of {trial.threshold:.2f}: {holds}"


def say_runs(runs: Mapping[str, int]) -> str:
    """Return how many logs there are of each setting."""
    return ", ".join(f"{say_count(count, 'run')} {setting}" for setting, count in runs.items())
