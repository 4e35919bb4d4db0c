"""Who began last, in words and as plain values."""

from collections.abc import Iterator, Sequence
from typing import Any

from peerlab.base.terminal_text import wrapped
from peerlab.base.units import say_count, say_percent, say_time
from peerlab.features.suspects.rank_records import LastOfCommunicator

_PS = 10**12
_SHOWN = 8


def said_of_ranks(answers: Sequence[LastOfCommunicator]) -> str:
    """Return who began last in each communicator, for a terminal; that with the longest wait first."""
    lines = [line for answer in answers[:_SHOWN] for line in _of_one(answer, several=len(answers) > 1)]
    rest = len(answers) - _SHOWN
    return "\n".join(
        [*lines, *([f"{say_count(rest, 'further communicator')}, with less wait"] if rest > 0 else [])]
    )


def _of_one(answer: LastOfCommunicator, *, several: bool) -> Iterator[str]:
    late = answer.late
    if several:
        yield f"communicator {answer.communicator}: {say_count(answer.ranks, 'rank')}, {say_count(answer.collectives, 'collective')}"
    where = f" ({answer.where})" if answer.where else ""
    both = f", and rank {late.alike[0]} as late" if late.alike else ""
    line = f"Rank {late.rank}{where} began last, {_time(late.lateness_s)} after the first{both}; it explains {say_percent(late.share)} of the wait."
    yield from wrapped(line if late.named else f"{line} That is too little to name it: spread, no one cause.")
    if late.named:
        own = say_count(answer.collectives, "collective")
        yield from wrapped(
            f"It waited for nobody: its {own} took {_time(answer.shortest_s)} in the mean, which is the exchange itself."
        )
    if not answer.complete:
        yield from wrapped(
            f"There are records of {answer.ranks} of {answer.of_ranks} ranks: one that has none may be later still."
        )


def _time(seconds: float) -> str:
    return say_time(round(seconds * _PS))


def ranks_as_dict(answers: Sequence[LastOfCommunicator]) -> dict[str, Any]:
    """Return the same as plain values: the communicator with the longest wait, and all of them."""
    each = [
        {
            **vars(answer.late), "named": answer.late.named, "where": answer.where, "communicator": answer.communicator, "ranks": answer.ranks,
            "of_ranks": answer.of_ranks, "collectives": answer.collectives, "exchange_s": answer.shortest_s,
        }
        for answer in answers
    ]  # fmt: skip
    return {**each[0], "communicators": each}
