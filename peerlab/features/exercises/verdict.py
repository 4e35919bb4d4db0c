"""The exercise of lab 04 on verdicts: a learner's rule beside ours, on ratios that differ."""

from peerlab.base.data_frames import pd
from peerlab.features.exercises.exercise import Code
from peerlab.features.exercises.wording import meant
from peerlab.records.judge import FASTER, NOISE, SLOWER

_TRIALS: tuple[tuple[list[float], float], ...] = (
    ([1.31, 1.38, 1.42, 1.47, 1.60], 1.15),  # clear
    ([0.93, 1.02, 1.27, 1.49, 1.90], 1.15),  # a median that looks like something
    ([1.04, 1.05, 1.06, 1.07, 1.08], 1.15),  # steady, and no larger than the noise
    ([0.52, 0.58, 0.61, 0.66, 0.70], 1.15),  # clear, the other way
    ([0.88, 0.90, 0.92, 0.93, 0.95], 1.15),  # the other way, within the noise
    ([0.60, 0.84, 0.85, 0.88, 0.90], 1.15),
    (
        [0.62, 0.64, 0.66, 0.68, 0.70],
        1.40,
    ),  # clear where noise is high: below 1/1.4 = 0.71, and above 2 - 1.4 = 0.6
    ([0.70, 0.72, 0.73, 0.74, 0.76], 1.40),  # the other way, within a noise that is high
)
_ODD: tuple[tuple[list[float], float], ...] = (
    ([1.47, 0.98, 1.60, 1.38, 1.42], 1.15),  # clear but for one repetition, in the order of measuring
    ([0.61, 0.52, 1.04, 0.58, 0.66], 1.15),  # the other way
    ([1.02, 1.05, 1.31, 1.33, 1.35, 1.38, 1.44, 1.52, 1.58], 1.15),  # of nine the quartile is the third
    ([1.02, 1.18, 1.10, 1.45, 1.47, 1.50, 1.52, 1.55, 1.58], 1.30),
)
"""Ratios whose quartiles are not what the lowest, the highest, or one in a fixed place says."""
_QUARTILE = "A quartile leaves out what is off: it is neither the lowest nor the highest ratio, and it has no fixed place."


_VISIBLE = 0.05
_VERDICTS = {FASTER: (), SLOWER: (), NOISE: ("noise", "within noise", "in the noise", "no verdict")}


def judge(ratios: "pd.Series[float]", noise: float) -> str:
    """Return the verdict on ratios of one arm, by their quartiles."""
    low, high = ratios.quantile([0.25, 0.75])
    # Multiplied: 1/noise, rounded, could lie on the other side.
    return FASTER if low > noise else SLOWER if high * noise < 1 else NOISE


def high_noise(noise: float) -> bool:
    """Tell whether a noise is so high that ``2 - noise`` is visibly another figure than ``1 / noise``."""
    return 1 / noise - (2 - noise) > _VISIBLE


def _check_verdict(verdict: object) -> str | None:
    for ratios, noise in (*_TRIALS, *_ODD):
        series = pd.Series(ratios)
        answer, true = verdict(series, noise), judge(series, noise)  # type: ignore[operator]
        tried = f"Ratios {', '.join(f'{ratio:.2f}' for ratio in ratios)}, noise {noise}: you say {answer!r}."
        sentence = meant(answer, _VERDICTS)
        if sentence is None:
            return f"{tried} Return one of {FASTER!r}, {SLOWER!r}, {NOISE!r}."
        if sentence == true:
            continue
        overlooked = _QUARTILE if (ratios, noise) in _ODD else _overlooked(sentence, true, min(ratios), noise)
        return f"{tried} {overlooked}"
    return None


def _overlooked(verdict: str, true: str, first: float, noise: float) -> str:
    """Return what a verdict overlooks; `first` is the lowest ratio."""
    # First of all, as it looks most alike: 1/1.4 is 0.71, and 2 - 1.4 is 0.6.
    if true == SLOWER and high_noise(noise):
        return f"What is a factor of {noise} on the other side of 1? It is {1 / noise:.2f}, and not {2 - noise:.2f}."
    if true == SLOWER:
        return "Every one of them is slower by more than the noise; what is `noise` on that side of 1?"
    if verdict == FASTER and first > 1:
        return "That is steady, but equal things differ as much as that here."
    if verdict == FASTER:
        return "A quarter of the repetitions found no gain at all: the median alone is not enough."
    return "The quartile nearer to 1 has to leave 1/noise behind, too."


VERDICT = Code(
    name="04-verdict",
    question="Write `verdict`: return 'faster', 'slower' or 'within the noise' for the ratios of some repetitions. Of the two quartiles take the one that is nearer to 1: 'faster' if it is above the noise, 'slower' if it is slower by more than the noise.",
    check=_check_verdict,
    function="verdict",
    attempts={
        'return "faster" if ratios.median() > 1 else "slower"': "the median alone is not enough",
        'return "faster" if ratios.median() > noise else "within the noise"': "the median alone is not enough",
        'return "faster" if ratios.min() > 1 else "within the noise"': "equal things differ",
        'return "faster" if ratios.quantile(0.25) > noise else "within the noise"': "that side of 1",
        'low, high = ratios.quantile([0.25, 0.75])\nif low > noise:\n    return "faster"\nreturn "slower" if high < 1 else "within the noise"': "1/noise",
        'low, high = ratios.quantile([0.25, 0.75])\nif low > noise:\n    return "faster"\nreturn "slower" if high < 2 - noise else "within the noise"': "and not 0.60",
        'if ratios.min() > noise:\n    return "faster"\nreturn "slower" if ratios.max() < 1 / noise else "within the noise"': "A quartile leaves out what is off",
    },
    hints=(
        "`low, high = ratios.quantile([0.25, 0.75])` are the quartiles.",
        "A factor of 1.15 is 1.15 on one side of 1, and 1/1.15 on the other.",
        "Faster if `low` is above `noise`; slower if `high` is below `1 / noise`.",
    ),
    why="This is the rule by which the verdicts above are given, and refused.",
    solution='low, high = ratios.quantile([0.25, 0.75])\nif low > noise:\n    return "faster"\nreturn "slower" if high < 1 / noise else "within the noise"',
)
