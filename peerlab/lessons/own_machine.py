"""Exercises of lab 04: noise, parts and counts of a measurement; where it can be, the learner's own."""

import pandas as pd

from peerlab.collectives.conditions import CONTROL
from peerlab.errors import RecordsError
from peerlab.lessons.exercise import Choice, Code, Exercise, Mistake, Number
from peerlab.measurement.ring import Ring
from peerlab.records import Records
from peerlab.records.judge import FASTER, NOISE, SLOWER, Comparison, compare
from peerlab.records.library import measured_library

RANKS = 4
_OWN = "own/xeon-2-processors"
"""What we measured; exercises are about it where no other records are given."""


def largest(records: Records | None = None) -> dict[str, Comparison]:
    """Return the arms without registration at the most ranks and the largest size, by name; the control is ``A/A``.

    Raises
    ------
    RecordsError
        If one of them was not measured there.
    """
    table = _known(records).table
    plain = table[table["registration"] == "none"]
    plain = plain[plain["ranks"] == plain["ranks"].max()]
    found = compare(Records(plain[plain["size_bytes"] == plain["size_bytes"].max()]))
    named = {one.variant or one.path: one for one in found}
    if lacking := {"tcp", "staged-shm", "direct", CONTROL} - named.keys():
        raise RecordsError(
            f"your records lack {', '.join(sorted(lacking))} at their largest size; measure again"
        )
    return named


def _known(records: Records | None) -> Records:
    return measured_library()[_OWN] if records is None else records


def _noise(records: Records | None = None) -> float:
    return largest(records)[CONTROL].noise or 1.0


def _ratio(arm: str, records: Records | None = None) -> float:
    return largest(records)[arm].ratio


def _copies(records: Records | None = None) -> float:
    table = _known(records).table
    row = table[(table["path"] == "staged") & (table["ranks"] == RANKS)].iloc[0]
    sent = 2 * (RANKS - 1) / RANKS * row["size_bytes"]
    return float(row["copied_bytes"] / sent)


def _both(records: Records | None = None) -> float:
    """Return the ratio that remains if each part saves the time that it saved alone."""
    return 1 / (1 / _ratio("tcp", records) + 1 / _ratio("staged-shm", records) - 1)


def _faster_arm(records: Records | None = None) -> str:
    return max(("tcp", "staged-shm"), key=lambda arm: _ratio(arm, records))


def _requests() -> int:
    """Return how often a rank of a ring asks for memory: once for each end of each of its moves."""
    moves = Ring(RANKS, 1 << 20).moves(0)
    return sum((move.source_bytes > 0) + (move.lands_bytes > 0) for move in moves)


_TRIALS: tuple[tuple[list[float], float], ...] = (
    ([1.31, 1.38, 1.42, 1.47, 1.60], 1.15),  # clear
    ([0.93, 1.02, 1.27, 1.49, 1.90], 1.15),  # a median that looks like something
    ([1.04, 1.05, 1.06, 1.07, 1.08], 1.15),  # steady, and no larger than the noise
    ([0.52, 0.58, 0.61, 0.66, 0.70], 1.15),  # clear, the other way
    ([0.88, 0.90, 0.92, 0.93, 0.95], 1.15),  # the other way, within the noise
    ([0.60, 0.84, 0.85, 0.88, 0.90], 1.15),
)


def judge(ratios: "pd.Series[float]", noise: float) -> str:
    """Return the verdict on ratios of one arm, by their quartiles."""
    low, high = ratios.quantile([0.25, 0.75])
    return FASTER if low > noise else SLOWER if high * noise < 1 else NOISE


def _check_verdict(verdict: object) -> str | None:
    for ratios, noise in _TRIALS:
        series = pd.Series(ratios)
        said, true = verdict(series, noise), judge(series, noise)  # type: ignore[operator]
        tried = f"Ratios {', '.join(f'{one:.2f}' for one in ratios)}, noise {noise}: you say {said!r}."
        if said not in (FASTER, SLOWER, NOISE):
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


_WHERE_TO_LOOK = "Look at the table of the largest size, above section 2: which of the two medians lies further to the right?"

EXERCISES: tuple[Exercise, ...] = (
    Number(
        name="04-noise",
        question="What factor must a ratio leave behind, at your largest size, before it means anything?",
        measured=True,
        tolerance=0.01,
        truth=_noise,
        mistakes=(
            Mistake(
                lambda records=None: largest(records)[CONTROL].ratio,
                "That is the median of the control; noise is how far its quartiles reach, and 1.15 at least.",
            ),
            Mistake(
                lambda records=None: _noise(records) - 1,
                "Nearly: as a factor, not as a share beyond 1.",
            ),
            Mistake(
                lambda records=None: _ratio("direct", records),
                "That is what is to be judged. Noise is found by comparing a thing with itself.",
            ),
        ),
        hints=(
            "`peerlab.ratios(mine).table` is what is drawn, as a pandas table, the largest size last.",
            "It has a column `noise`; `.iloc[-1]` is the last entry of a column.",
        ),
        why="Two equal things differ by as much as this, here and now. Measure again while something else runs, and it grows.",
        solution='peerlab.ratios(mine).table["noise"].iloc[-1]',
    ),
    Code(
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
    ),
    Number(
        name="04-copies",
        question="How many copies by a processor bring a byte from one rank's device memory into its neighbour's, on `staged`?",
        unit="copies",
        measured=True,
        tolerance=0,
        truth=_copies,
        mistakes=(
            Mistake(
                lambda records=None: _copies(records) / 2,
                "That is one side only. Bytes that leave have to arrive.",
            ),
            Mistake(
                lambda records=None: _copies(records) - 1,
                "One is missing: TCP copies from the sender into the kernel, and from the kernel to the receiver.",
            ),
        ),
        hints=(
            "Go from place to place: device memory to bounce buffer, bounce buffer to kernel, ...",
            "The kernel's TCP has buffers of its own: one copy in, one copy out.",
        ),
        why="Two on each side. `tcp` has one on each side, `staged-shm` three in all (one between the bounce buffers in place of two through the kernel), `direct` a single one.",
        solution="4",
    ),
    Choice(
        name="04-part",
        question="Which of the two arms that leave out one part has the higher ratio on your machine at the largest size, be it noise or not?",
        measured=True,
        options={
            "tcp": _WHERE_TO_LOOK,
            "staged-shm": _WHERE_TO_LOOK,
        },
        truth=_faster_arm,
        hints=(
            "`tcp` is without bounce buffers, `staged-shm` without TCP.",
            "In `peerlab.ratios(mine).table`, compare the column `ratio` of the two in the rows of the largest size.",
        ),
        why="That arm left out the dearer part, if the two differ at all: where their quartiles overlap, another measurement may say the opposite.",
        solution='peerlab.ratios(mine).table.query("registration == \'none\'").groupby("path")["ratio"].last()[["tcp", "staged-shm"]].idxmax()',
    ),
    Number(
        name="04-both",
        question="If each part saved as much time together as it did alone: how many times as fast as `staged` would an arm without both be, at your largest size?",
        measured=True,
        tolerance=0.02,
        truth=_both,
        mistakes=(
            Mistake(
                lambda records=None: _ratio("tcp", records) * _ratio("staged-shm", records),
                "That multiplies the ratios: it lets the second part save time that the first has already taken away.",
            ),
            Mistake(
                lambda records=None: _ratio("tcp", records) + _ratio("staged-shm", records),
                "Ratios do not add up; times do.",
            ),
            Mistake(
                lambda records=None: _ratio("tcp", records) + _ratio("staged-shm", records) - 1,
                "Gains do not add up; the times that are saved do.",
            ),
            Mistake(
                lambda records=None: _ratio("direct", records),
                "That is what was measured without both. What would follow from the two parts?",
            ),
        ),
        hints=(
            "Let `staged` take 1. An arm that is r times as fast takes 1/r, and saves 1 - 1/r.",
            "Subtract both savings from 1, and turn the result round.",
            "With a and b for the two ratios: `1 / (1/a + 1/b - 1)`.",
        ),
        why="Compare it with what `direct` really reached. What is left over belongs to neither part alone.",
        solution='1 / ((1 / peerlab.ratios(mine).table.query("registration == \'none\'").groupby("path")["ratio"].last()[["tcp", "staged-shm"]]).sum() - 1)',
    ),
    Number(
        name="04-requests",
        question="How often does one of four ranks ask its registration cache for memory, in one AllReduce over a ring?",
        unit="requests",
        tolerance=0,
        truth=_requests,
        mistakes=(
            Mistake(
                lambda: _requests() / 2,
                "In each step a rank sends from one place and receives into another; both have to be registered.",
            ),
            Mistake(
                lambda: _requests() * RANKS / (RANKS - 1),
                "A ring of n ranks needs n - 1 steps for each half, not n.",
            ),
            Mistake(lambda: _requests() * RANKS, "That is what all four ask together."),
        ),
        hints=(
            "A ring of n ranks takes n - 1 steps to add up, and as many to pass the sums round.",
            "In each step there is memory that is read, and memory that is written.",
        ),
        why="In the table below, hits and misses together come to this in every row.",
        solution="2 * 2 * (4 - 1)",
    ),
)
