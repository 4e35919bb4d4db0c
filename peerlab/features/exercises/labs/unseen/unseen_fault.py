"""Counters that lab 10 has not shown: whose fault a slow AllReduce is, and what frees it."""

from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.labs.port_counters import CAUSES, counters, of_cause, said_cause
from peerlab.features.exercises.transfer import TransferTask

_MESSAGES = {2: "512 KiB", 3: "640 KiB", 4: "768 KiB", 6: "1 MiB"}
"""Size of the AllReduce, by how many others there are: no two tasks are alike."""
_WIDTH = 24


def _fault_task(cause: str, nodes: int, others: int) -> Choice:
    message = _MESSAGES[others]
    answer = of_cause(cause, nodes, others, message)
    counts = counters(answer)
    slower = 1 / answer.share
    took = (
        f"takes {slower:.1f} times as long as alone"
        if answer.ends
        else f"has not ended after {slower:.0f} times as long as alone"
    )
    lines = "\n".join(f"    {name:<{_WIDTH}}{value:>7}" for name, value in counts.items())
    return Choice(
        name="",
        question=f"An AllReduce of {message} on {nodes} hosts {took}. On its hosts and on the switches counters went up by:\n\n{lines}\n\nWhy is it slow?",
        options={name: record.asks for name, record in CAUSES.items()},
        truth=lambda: said_cause(counts),
        hints=(
            "Was anything lost? Then ask who lost it: a switch port with a full queue, or a link.",
            "Nothing was lost: who waited, and for what? Look at pauses, at waiting, and at how full the trunks are.",
        ),
        why=f"The scene was simulated with that cause. What frees it: {CAUSES[cause].frees}.",
        solution=f'"{cause}"',
    )  # fmt: skip


TRANSFER = TransferTask(lab="10", cases=(tuple(CAUSES), (4, 6, 8), tuple(_MESSAGES)), make=_fault_task)
