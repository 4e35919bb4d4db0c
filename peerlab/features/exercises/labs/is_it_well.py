"""Exercises of lab 09: whether a cluster is well, and what would look like it."""

from functools import cache
from typing import Any

import peerlab
from peerlab.base.data_frames import pd
from peerlab.base.units import say_bytes
from peerlab.features.exercises.exercise import Choice, Mistake, Number
from peerlab.features.exercises.labs.unseen import unseen_run
from peerlab.features.exercises.logs import lab_log
from peerlab.records import Records
from peerlab.records.load import load

CLUSTERS = {"F": "h100-ndr", "G": "azure-nd-a100-v4", "H": "p4d", "I": "alps-gh200-tcp", "J": "gb200-nvl72"}
"""The machine of each log."""
# Where a log says its ranks and not its nodes.
NODES = {"H": 4, "J": 18}
HEALTHY, HELD_UP, BELOW = "healthy", "held up at some sizes", "below its floor"


def records_of(name: str) -> Records:
    """Return what a log of the lab says."""
    return load(lab_log(name).text, NODES.get(name, 2))


@cache
def verdict_of(name: str) -> Any:
    """Return whether a log of the lab is well, as its machine."""
    # One run for each log of this lab.
    (verdict,) = peerlab.expect(CLUSTERS[name], log=records_of(name))
    return verdict


def rows_of(name: str) -> pd.DataFrame:
    """Return the sizes of a log beside floor and band, GB/s of bus bandwidth."""
    rows = [row.as_dict() for row in verdict_of(name).rows]
    table = pd.DataFrame(rows)[["size", "measured", "floor", "low", "expected", "high", "ceiling"]]
    return table.assign(size=[say_bytes(size) for size in table["size"]]).set_index("size")


def _last(name: str) -> Any:
    return verdict_of(name).rows[-1]


def _without_a_nic() -> float:
    """Return what bus bandwidth log H would have if one of four NICs were missing, and nothing else, GB/s."""
    (fault,) = [cause for cause in verdict_of("H").causes if cause.name == "one NIC is missing"]
    return float(fault.curve[-1][1])


def _in_words(name: str) -> str:
    return {"healthy": HEALTHY, "held-up": HELD_UP}.get(verdict_of(name).verdict, BELOW)


_VERDICTS = {
    HEALTHY: "Is no row of it below the column `floor`?",
    HELD_UP: "Are only a few rows slow, with clean ones on both sides?",
    BELOW: "Do its largest sizes, all of them, lie below the floor?",
}

EXERCISES = (
    Choice(
        name="09-first",
        question="Log F is from two servers with eight H100 each. Compare its rows with floor and band. How is it?",
        options=_VERDICTS,
        truth=lambda: _in_words("F"),
        hints=(
            "The band holds nine of ten healthy runs. So a row outside the band is no fault yet.",
            "Only a row below the floor says that something is wrong. Look for one.",
        ),
        why="Every row lies above its floor, and in the band, too.",
        solution=f'"{HEALTHY}"',
    ),
    Choice(
        name="09-rows",
        question="Log I is from two servers of four GH200 each, over kernel TCP. How is it?",
        options=_VERDICTS
        | {
            HEALTHY: "No row lies below its floor. But does a message ever take less time than a smaller one?"
        },
        truth=lambda: _in_words("I"),
        hints=(
            "No row lies below its floor. The column `measured` should grow from row to row: where does it fall, or jump?",
            "A size over its bandwidth is its time. Does a row take longer than the next one?",
        ),
        why="At some sizes a message takes longer than one of twice the size. No part of a machine does that.",
        solution=f'"{HELD_UP}"',
    ),
    Number(
        name="09-missing",
        question="Log H is from four p4d, one size. Suppose one of the four NICs were missing, and nothing else wrong: which busbw would be left?",
        unit="GB/s",
        truth=_without_a_nic,
        mistakes=(
            Mistake(
                lambda: _last("H").measured,
                "That is what the log has. What would three of four NICs leave of what is expected?",
            ),
            Mistake(
                lambda: 0.75 * _last("H").expected.floor,
                "That is three quarters of the floor. The floor is the least of a healthy run, not what it should reach.",
            ),
            Mistake(lambda: _last("H").expected.expected, "That is what is expected with four NICs."),
            Mistake(
                lambda: _last("H").expected.expected - _last("H").measured,
                "That is what the log misses. What would one missing NIC leave?",
            ),
            Mistake(
                lambda: _last("H").expected.expected / 4, "That is what one NIC carries. How many are left?"
            ),
        ),
        hints=(
            "Which part of the bytes can three of four NICs carry in the same time?",
            "Take three quarters of the column `expected`.",
        ),
        why="The log has less. So something is wrong, and one missing NIC alone does not explain it.",
        solution='0.75 * rows_of("H").expected.iloc[-1]',
    ),
    Choice(
        name="09-domain",
        question=(
            "Log J is from 18 trays of 4 GB200 each, and busbw is far more than the NICs of a tray carry. What carries the bytes?"
        ),
        options={
            "NVLink of the rack": "Which link joins all trays of a rack?",
            "the NICs of the trays": "How much do all NICs of a tray carry together, and how much is busbw?",
            "nothing: busbw counts too much": "busbw counts a byte on the wire less than twice. Is that enough to explain it?",
        },
        truth=lambda: "NVLink of the rack",
        hints=(
            "Look at the line *Ceiling* of what `peerlab.expect` says for this machine.",
            "In such a rack NVLink does not end at the server.",
        ),
        why="All trays of a rack share NVLink. No NIC has work until a second rack takes part.",
        solution='"NVLink of the rack"',
        further=True,
    ),
)

TRANSFER = unseen_run.TRANSFER
