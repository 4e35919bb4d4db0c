"""Repetitions that lab 04 has not shown: a verdict by quartiles and the noise of their own control."""

from random import Random

from peerlab.base.data_frames import pd
from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.transfer import TransferTask
from peerlab.features.exercises.verdict import judge
from peerlab.records.judge import FASTER, LEAST_NOISE, NOISE, SLOWER

_KINDS = ("clear", "one quarter short", "steady", "slower", "slower by less")
_QUIET, _LOUD = 0.07, 0.35
"""How far a control's ratios reach from 1 on a quiet machine and on a busy one."""


def noise_of(control: list[float]) -> float:
    """Return the noise that five ratios of a control say: how far their quartiles reach, and the floor at least."""
    low, high = pd.Series(control).quantile([0.25, 0.75])
    return float(max(high, 1 / low, LEAST_NOISE))


def _ratios(kind: str, noise: float, drawn: Random) -> list[float]:
    """Return five ratios, lowest first, whose verdict needs the quartile and both sides of the noise."""
    beyond, within = noise * drawn.uniform(1.1, 1.4), 1 + (noise - 1) * drawn.uniform(0.3, 0.7)
    lowest = 1 / noise
    between = (lowest + 2 - noise) / 2
    # A ratio that only `2 - noise` takes for noise: it finds who mirrors a factor wrongly.
    """Of a noise of 1.4: 0.66, which is below 1/1.4 and above 2 - 1.4."""
    five = {
        "clear": [within, beyond, beyond * 1.08, beyond * 1.15, beyond * 1.3],
        "one quarter short": [0.9, within, beyond, beyond * 1.1, beyond * 1.2],
        "steady": [within, within + 0.01, within + 0.02, within + 0.02, within + 0.03],
        "slower": [between * 0.9, between * 0.96, between, between, 1 / within],
        "slower by less": [
            lowest * drawn.uniform(0.6, 0.75),
            lowest * 0.8,
            lowest * drawn.uniform(0.85, 0.95),
            1 / within,
            1 / within,
        ],
    }[kind]
    return sorted(round(ratio, 2) for ratio in five)


def _verdict_task(kind: str, busy: bool, number: int) -> Choice:
    # The values of a task draw its figures: a seed shows the same ones everywhere.
    drawn = Random(f"{kind} {busy} {number}")  # noqa: S311  (nothing secret)
    far = (_LOUD if busy else _QUIET) * drawn.uniform(0.6, 1.4)
    control = sorted(
        round(ratio, 2)
        for ratio in (
            1 - far,
            1 - far * drawn.uniform(0.4, 0.8),
            1.0,
            1 + far,
            1 + far * drawn.uniform(1.1, 1.5),
        )
    )
    noise = noise_of(control)
    ratios = _ratios(kind, noise, drawn)
    entries = {
        arm: ", ".join(f"{value:.2f}" for value in five)
        for arm, five in (("arm", ratios), ("control", control))
    }
    low, high = pd.Series(ratios).quantile([0.25, 0.75])
    return Choice(
        name="",
        question=f"Somebody measured an arm against `staged` five times; its ratios are {entries['arm']}. The ratios of `staged` to itself "
        f"are {entries['control']}. The noise is at least a factor of {LEAST_NOISE}. What is the verdict?",
        options={
            FASTER: "The first quartile is the second of five. Does it leave the noise behind?",
            SLOWER: "The third quartile is the fourth of five. Is it below 1/noise?",
            NOISE: "Quartiles of five are the second and the fourth. Compare them with the noise on either side of 1.",
        },
        truth=lambda: judge(pd.Series(ratios), noise),
        called={NOISE: ("noise", "within noise", "in the noise", "no verdict")},
        hints=(
            "First the noise: how far do the quartiles of the control reach, as a factor?",
            "Quartiles of five sorted figures are the second and the fourth. Faster: the second is above the noise.",
            "Slower: the fourth is below 1/noise.",
        ),
        why=f"The control's quartiles make the noise a factor of {noise:.2f}, on the other side of 1 that is {1 / noise:.2f}. The arm's are "
        f"{low:.2f} and {high:.2f}.",
        solution=f'"{judge(pd.Series(ratios), noise)}"',
    )  # fmt: skip


TRANSFER = TransferTask(lab="04", cases=(_KINDS, (False, True), range(8)), make=_verdict_task)
