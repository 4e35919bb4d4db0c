"""Exercises of lab 04: noise, parts and counts of a measurement; where it can be, the learner's own."""

# Exercises about a measurement take the learner's. Truth and mistakes are functions of records, by default
# of those that come with peerlab. So a lab asks what *your* noise is, its solution is code that finds it on
# any machine, and tests can ask without measuring.

import math

from peerlab.base.data_frames import pd
from peerlab.base.errors import RecordsError
from peerlab.base.units import say_bytes
from peerlab.collectives.conditions import CONTROL
from peerlab.collectives.ring_moves import RingLayout
from peerlab.features.exercises.exercise import Bound, Choice, Exercise, Mistake, Number
from peerlab.features.exercises.labs.unseen import unseen_repetitions
from peerlab.features.exercises.verdict import VERDICT
from peerlab.records import Records
from peerlab.records.judge import Comparison, compare
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
    table = _records_or_measured(records).table
    plain = table[table["registration"] == "none"]
    # The most ranks of the learner's own run, then its largest size.
    plain = plain[plain["ranks"] == plain["ranks"].max()]
    comparisons = compare(Records(plain[plain["size_bytes"] == plain["size_bytes"].max()]))
    named = {comparison.variant or comparison.path: comparison for comparison in comparisons}
    # What the exercises ask about; `staged` is there as the baseline of all.
    if lacking := {"tcp", "staged-shm", "direct", CONTROL} - named.keys():
        raise RecordsError(
            f"your records lack {', '.join(sorted(lacking))} at their largest size; measure again"
        )
    return named


def _records_or_measured(records: Records | None) -> Records:
    return measured_library()[_OWN] if records is None else records


def _noise(records: Records | None = None) -> float:
    return largest(records)[CONTROL].noise or 1.0


def _ratio(arm: str, records: Records | None = None) -> float:
    return largest(records)[arm].ratio


def _both(records: Records | None = None) -> float:
    """Return the ratio that remains if each part saves the time that it saved alone."""
    # A part that makes it r times as fast saves 1 - 1/r of the time; both savings are taken off.
    return 1 / (1 / _ratio("tcp", records) + 1 / _ratio("staged-shm", records) - 1)


def _dearer_part(records: Records | None = None) -> str:
    """Return the part without which an arm is faster, if the quartiles of the two arms leave a gap between them."""
    bare, shared = (largest(records)[arm] for arm in ("tcp", "staged-shm"))
    # Overlapping quartiles: another run might turn the order round.
    if bare.low <= shared.high and shared.low <= bare.high:
        return CANNOT_TELL
    return _BOUNCE if bare.ratio > shared.ratio else _TCP


def _requests() -> int:
    """Return how often a rank of a ring asks for memory: once for each end of each of its moves."""
    # Any size will do: how often memory is asked for depends on the ranks alone.
    moves = RingLayout(RANKS, 1 << 20).moves(0)
    return sum((move.source_bytes > 0) + (move.lands_bytes > 0) for move in moves)


_TCP, _BOUNCE, CANNOT_TELL = "TCP", "the bounce buffers", "cannot tell"
_WHERE_TO_LOOK = "Look at the picture below, at the largest size: which of `tcp` and `staged-shm` lies further to the right, and what did it leave out?"
_OVERLAPPING = "If their lines overlap, another measurement may say the opposite."
_PART_SOLUTION = """\
"cannot tell" if parts.low.max() <= parts.high.min() else "TCP" if parts.ratio.idxmax() == "staged-shm" else "the bounce buffers"
"""


def _quartile(records: Records | None = None) -> float:
    """Return how far the control's quartiles reach, as a factor above 1."""
    control = largest(records)[CONTROL]
    # As far below 1 as above: a control of 0.8 differs as much as one of 1.25.
    return max(control.high, 1 / control.low)


def _copies(records: Records | None = None) -> float:
    copies = _copies_by("staged", records)
    if math.isnan(copies):
        raise RecordsError(f"your records lack staged at {RANKS} ranks; measure again")
    return copies


def _copies_by(path: str, records: Records | None = None) -> float:
    """Return the copies per byte of an arm at four ranks; NaN if it was not measured."""
    table = _records_or_measured(records).table
    rows = table[(table["path"] == path) & (table["ranks"] == RANKS)]
    # A ring sends 2(n-1)/n of the message: copies over that are copies of each byte sent.
    return float((rows["copied_bytes"] / (2 * (RANKS - 1) / RANKS * rows["size_bytes"])).iloc[:1].mean())


EXERCISES: tuple[Exercise, ...] = (
    Number(
        name="04-noise",
        question="Above which factor does a ratio mean something, at your largest size?",
        measured=True,
        tolerance=0.01,
        truth=_noise,
        mistakes=(
            Mistake(
                lambda records=None: largest(records)[CONTROL].ratio,
                "Neither the median of the control nor the floor alone is the noise. It is how far the quartiles of the control reach, and 1.15 at least.",
            ),
            Mistake(
                _quartile,
                "The control's quartiles reach that far. But the noise never counts as less than the floor that the text above names.",
            ),
            Mistake(
                lambda *_: 1.0,
                "The ratio of a thing to itself is 1 only on average: single runs differ by chance. How far from 1 do they get here?",
            ),
            Mistake(
                lambda records=None: _ratio("direct", records),
                "That is what is to be judged. Noise is found by comparing a thing with itself.",
            ),
        ),
        hints=(
            "How far does the grey band reach at your largest size? Its right end is the factor.",
            "The noise is in the table of what is drawn: `peerlab.ratios(mine).table`, a pandas table with the largest size last.",
            "Its column is `noise`; `.iloc[-1]` is the last entry of a column.",
        ),
        why="Two equal things differ by as much as this, here and now. Measure again while something else runs, and it grows.",
        solution='peerlab.ratios(mine).table["noise"].iloc[-1]',
    ),
    VERDICT,
    Choice(
        name="04-part",
        question="Which part of the detour costs more on your machine, at the largest size? Expect something first; then the picture below decides, unless two lines overlap.",
        measured=True,
        options={
            _TCP: f"{_WHERE_TO_LOOK} {_OVERLAPPING}",
            _BOUNCE: f"{_WHERE_TO_LOOK} {_OVERLAPPING}",
            CANNOT_TELL: "The two lines do not overlap, so one of the parts costs more here.",
        },
        called={
            _TCP: ("kernel TCP", "staged-shm"),
            _BOUNCE: ("bounce", "bounce buffer", "bounce buffers"),
            CANNOT_TELL: ("their lines overlap", "neither", "noise"),
        },
        truth=_dearer_part,
        hints=(
            "`tcp` is without bounce buffers, `staged-shm` without TCP: who leaves out the dearer part is faster.",
            "In `peerlab.ratios(mine).table` the columns `low` and `high` are the ends of the two lines. Do they overlap?",
        ),
        why="A part that costs more is one whose absence gains more, and by more than repetitions differ.",
        solution=_PART_SOLUTION,
    ),
    Number(
        name="04-copies",
        further=True,
        question="How many copies by a processor bring a byte from one rank's device memory into its neighbour's, on `staged`?",
        unit="copies",
        measured=True,
        tolerance=0,
        truth=_copies,
        mistakes=(
            Mistake(
                lambda records=None: _copies_by("tcp", records),
                "That is one side only, or what TCP copies without bounce buffers. Bytes go out through a buffer, and come in through one.",
            ),
            Mistake(
                lambda records=None: _copies_by("staged-shm", records),
                "One is missing: TCP copies from the sender into the kernel, and from the kernel to the receiver.",
            ),
            Mistake(
                lambda records=None: _copies_by("direct", records),
                "That is `direct`, where the sender writes into the neighbour's memory. Count the stops of `staged`.",
            ),
            Mistake(
                lambda records=None: _copies(records) + 1,
                "That counts the places that hold the byte, one after the other. Between two places there is one copy.",
            ),
        ),
        hints=(
            "Go from place to place: device memory to bounce buffer, bounce buffer to kernel, ...",
            "The kernel's TCP has buffers of its own: one copy in, one copy out.",
        ),
        why="Two on each side. `tcp` has one on each side, `staged-shm` three in all (one between the bounce buffers in place of two through the kernel), `direct` a single one.",
        solution="4",
    ),
    Number(
        name="04-both",
        further=True,
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
            Mistake(
                lambda records=None: max(_ratio("tcp", records), _ratio("staged-shm", records)),
                "That is the better of the two arms. Without the other part as well, more time is saved.",
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
        further=True,
        question="How often does one of four ranks ask its registration cache for memory, in one AllReduce over such a ring?",
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
            Mistake(
                lambda: _requests() / 4,
                "That is the number of steps in one half of a ring of four. There are two halves, and each step has two ends.",
            ),
            Mistake(
                lambda: RANKS,
                "That is the number of chunks in a buffer. A ring comes back to them, and asks each time.",
            ),
        ),
        bounds=(
            Bound(
                lambda: _requests() / 2,
                "There is at least one request in each of the 2(n-1) steps. Count the steps first.",
            ),
        ),
        hints=(
            "A ring of n ranks takes n - 1 steps to add up, and as many to pass the sums round.",
            "In each step there is memory that is read, and memory that is written.",
        ),
        why="In the table below, hits and misses together come to this in every row.",
        solution="2 * 2 * (4 - 1)",
    ),
)
TRANSFER = unseen_repetitions.TRANSFER


def on_a_gpu(name: str) -> pd.DataFrame:
    """Return how many times as fast as ``staged`` paths between a GPU's memories are, by size, at the most ranks; and the noise.

    >>> on_a_gpu("own/h200-mps").loc["64 MiB", "direct"] > 5
    True
    """
    comparisons = compare(measured_library()[name])
    ranks = max(comparison.ranks for comparison in comparisons)
    rows: dict[str, dict[str, float]] = {}
    for comparison in comparisons:
        column = _GPU_COLUMNS.get((comparison.path, comparison.registration, comparison.capacity or 0))
        if comparison.ranks == ranks and column and not comparison.variant:
            row = rows.setdefault(say_bytes(comparison.size_bytes), {"noise": comparison.noise or 1.0})
            row[column] = comparison.ratio
    return pd.DataFrame.from_dict(rows, orient="index")[["noise", *_GPU_COLUMNS.values()]].round(2)


_GPU_COLUMNS = {
    ("staged-pageable", "none", 0): "staged, pageable",
    ("direct", "none", 0): "direct",
    ("direct", "per-transfer", 0): "direct, registered each time",
    ("direct", "lru", 64): "direct, cache",
}
"""What is shown, by arm, registration and the regions that a cache keeps."""
