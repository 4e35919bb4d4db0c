"""The exercise of lab 04 on verdicts: a learner's rule beside ours, on ratios that differ."""

import pandas as pd

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
)


_VERDICTS = {FASTER: (), SLOWER: (), NOISE: ("noise", "within noise", "in the noise")}


def judge(ratios: "pd.Series[float]", noise: float) -> str:
    """Return the verdict on ratios of one arm, by their quartiles."""
    low, high = ratios.quantile([0.25, 0.75])
    return FASTER if low > noise else SLOWER if high * noise < 1 else NOISE


def _check_verdict(verdict: object) -> str | None:
    for ratios, noise in _TRIALS:
        series = pd.Series(ratios)
        answer, true = verdict(series, noise), judge(series, noise)  # type: ignore[operator]
        tried = f"Ratios {', '.join(f'{one:.2f}' for one in ratios)}, noise {noise}: you say {answer!r}."
        said = meant(answer, _VERDICTS)
        if said is None:
            return f"{tried} Return one of {FASTER!r}, {SLOWER!r}, {NOISE!r}."
        if said == true:
            continue
        if true == SLOWER:
            return f"{tried} Every one of them is slower by more than the noise; what is `noise` on that side of 1?"
        if said == FASTER and ratios[0] > 1:
            return f"{tried} That is steady, but equal things differ as much as that here."
        if said == FASTER:
            return (
                f"{tried} A quarter of the repetitions found no gain at all: the median alone is not enough."
            )
        return f"{tried} The quartile nearer to 1 has to leave 1/noise behind, too."
    return None


VERDICT = Code(
    name="04-verdict",
    question="Write `verdict`: return 'faster', 'slower' or 'within the noise' for the ratios of some repetitions. The quartile that is nearer to 1 must leave the noise behind.",
    check=_check_verdict,
    function="verdict",
    attempts={
        'return "faster" if ratios.median() > 1 else "slower"': "the median alone is not enough",
        'return "faster" if ratios.median() > noise else "within the noise"': "the median alone is not enough",
        'return "faster" if ratios.min() > 1 else "within the noise"': "equal things differ",
        'return "faster" if ratios.quantile(0.25) > noise else "within the noise"': "that side of 1",
        'low, high = ratios.quantile([0.25, 0.75])\nif low > noise:\n    return "faster"\nreturn "slower" if high < 1 else "within the noise"': "1/noise",
    },
    hints=(
        "`low, high = ratios.quantile([0.25, 0.75])` are the quartiles.",
        "A factor of 1.15 is 1.15 on one side of 1, and 1/1.15 on the other.",
        "Faster if `low` is above `noise`; slower if `high` is below `1 / noise`.",
    ),
    why="This is the rule by which the verdicts above are given, and refused.",
    solution='low, high = ratios.quantile([0.25, 0.75])\nif low > noise:\n    return "faster"\nreturn "slower" if high < 1 / noise else "within the noise"',
)
