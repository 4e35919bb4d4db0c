"""The headline of a training step: what it takes, what is exposed, what a second data path gains, and the gain at other batches."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypedDict

from peerlab.base.errors import PeerlabError
from peerlab.base.units import PS_PER_S, TIMES_SIGN, say_gain, say_share, say_time
from peerlab.training.step_band import StepGain
from peerlab.training.step_run import StepRun

_LEAST_GAIN = 1.05
"""Less reads as once as fast, as in the explorer's headline."""
_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class StepHeadline(TypedDict):
    """The large figure: what a step takes, or what the second data path gains."""

    label: str
    value: str
    after: str
    """Words behind the figure; empty where it is a time."""
    note: str
    rests: str
    """How much of the exchanges computing hides, and what the range of the gain rests on, where it is known; empty of one path."""
    good: bool
    """Whether the second data path is the faster one."""


class GainAtBatches(TypedDict):
    """What the second data path gains at other batches."""

    unit: str
    """What is counted, such as ``images per device``."""
    points: list[list[float]]
    """``[batch, gain]``, the smallest batch first."""
    here: list[float]
    """The same of what is shown."""


def headline(runs: Sequence[StepRun], names: Sequence[str], sure: StepGain | None = None) -> StepHeadline:
    """Return the large figure of a step on one data path, or on two; `sure` is the band of the gain, where it is known."""
    last = runs[-1]
    if len(runs) == 1:
        return {
            "label": "Devices wait for the exchange",
            "value": _time(last.exposed_s),
            "after": f"of a step of {_time(last.time_s)}",
            "note": " ".join(_hidden(last, "the exchange")),
            "rests": "",
            "good": False,
        }
    gain, alone = last.gain(runs[0]), runs[0].exchange_s / last.exchange_s if last.exchange_s else 1.0
    simulated, between = f"{gain:.2f}{TIMES_SIGN}", say_gain(sure.low, sure.high) if sure else ""
    # Not once more where an end of the range reads the same.
    told = not sure or simulated in {
        f"{end}{TIMES_SIGN}" for end in between.removesuffix(TIMES_SIGN).split(" to ")
    }
    sentences = [
        *([] if told else [f"Simulated: {simulated} (†)."]),
        # Where nodes differ an exchange has waiting in it, which no data path takes away.
        *(
            []
            if any(run.trace.apart for run in runs)
            else [f"Exchange alone: {alone:.2f}{TIMES_SIGN} as fast."]
        ),
    ]
    return {
        "label": f"{names[1]} is",
        "value": between or simulated,
        "after": f"as fast as {names[0]}",
        "note": " ".join(sentences),
        "rests": " ".join([*_hidden_on_both(runs, names), *([_rests(sure)] if sure else [])]),
        "good": round(gain, 2) >= _LEAST_GAIN,
    }


def rows(runs: Sequence[StepRun]) -> list[list[str]]:
    """Return the small figures: each of the first and the second, and their ratio."""
    table = [
        _row("step", [run.time_s for run in runs], _time),
        _row("computing", [run.compute_s for run in runs], _time),
        _row("devices wait (exposed exchange)", [run.exposed_s for run in runs], _time),
        _row("all exchanges", [run.exchange_s for run in runs], _time),
        _row("samples per second", [run.samples_per_s for run in runs], "{:,.0f}".format),
    ]
    if runs[0].trace.row:
        table.append(_row(f"a step, {runs[0].step.steps} in a row", [run.steady_s for run in runs], _time))
    spent = [run.spent for run in runs]
    return table + [_row(unit, [costs[unit] for costs in spent], "{:.4g}".format) for unit in spent[0]]


def gain_at_batches(runs: Sequence[StepRun]) -> GainAtBatches | None:
    """Return what the second data path gains at other batches; None of one path, where the time of computing is given as one figure, and where nodes differ."""
    step = runs[0].step
    # Computing that is given as one figure says nothing of another batch.
    if len(runs) != 2 or step.compute_ms is not None or runs[0].answer is None or runs[0].trace.apart:
        return None
    points = list(_points(runs))
    if len(points) < 2:
        return None
    return {
        "unit": f"{step.model.sample.partition(' ')[0]}s per device",
        "points": points,
        "here": [float(step.batch or 1), runs[1].gain(runs[0])],
    }


def _points(runs: Sequence[StepRun]) -> Iterator[list[float]]:
    here = int(runs[0].step.batch or 1)
    for batch in sorted({*_BATCHES, here}):
        try:
            first, second = (run.answer(run.step.with_(batch=batch)) for run in runs if run.answer)
        except PeerlabError:
            continue  # the workload's times do not reach so far
        yield [float(batch), second.gain(first)]


def _hidden(run: StepRun, what: str) -> list[str]:
    """Return how much of the exchange lies behind computing, as a sentence; none where there is no exchange."""
    if not run.exchange_s:
        return []
    return [f"Computing hides {say_share(_share_hidden(run))} of {what}."]


def _hidden_on_both(runs: Sequence[StepRun], names: Sequence[str]) -> list[str]:
    """Return the same of two data paths, by name where their shares differ."""
    first, second = (say_share(_share_hidden(run)) for run in runs)
    if not all(run.exchange_s for run in runs) or first == second:
        return _hidden(runs[-1], "the exchange")
    return [f"Computing hides {first} of the exchange, with {names[1]} {second}."]


def _share_hidden(run: StepRun) -> float:
    return max(0.0, 1 - run.exposed_s / run.exchange_s) if run.exchange_s else 0.0


def _row(what: str, values: Sequence[float], say: Callable[[float], str]) -> list[str]:
    """Return a row of small figures; where there is one side, the others are empty."""
    if len(values) == 1:
        return [what, say(values[0]), "", ""]
    first, second = values
    return [what, say(first), say(second), f"{second / first:.3f}" if first else ""]


def _rests(sure: StepGain) -> str:
    """Return what the range rests on, as a page writes it: a factor has its sign there."""
    return f"The gain: {'; '.join([repr(sure), *sure.beside])}.".replace(" times", TIMES_SIGN)


def _time(seconds: float) -> str:
    return say_time(round(seconds * PS_PER_S))
