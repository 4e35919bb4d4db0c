"""Who began last, in words and as plain values."""

from collections.abc import Iterator, Sequence
from typing import Any

from peerlab.base.terminal_text import wrapped
from peerlab.base.units import say_count, say_time
from peerlab.features.suspects.rank_records import LastOfCommunicator

_PS = 10**12
_SHOWN = 8


def said_of_ranks(told: Sequence[LastOfCommunicator]) -> str:
    """Return who began last in each communicator, for a terminal; that with the longest wait first."""
    lines = [line for one in told[:_SHOWN] for line in _of_one(one, several=len(told) > 1)]
    rest = len(told) - _SHOWN
    return "\n".join(
        [*lines, *([f"{say_count(rest, 'further communicator')}, with less wait"] if rest > 0 else [])]
    )


def _of_one(one: LastOfCommunicator, *, several: bool) -> Iterator[str]:
    found = one.found
    if several:
        yield f"communicator {one.communicator}: {say_count(one.ranks, 'rank')}, {say_count(one.collectives, 'collective')}"
    where = f" ({one.where})" if one.where else ""
    both = f", and rank {found.alike[0]} as late" if found.alike else ""
    line = f"Rank {found.rank}{where} began last, {_time(found.lateness_s)} after the first{both}; it explains {100 * found.share:.0f} % of the wait."
    yield from wrapped(
        line if found.named else f"{line} That is too little to name it: spread, no one cause."
    )
    if found.named:
        own = say_count(one.collectives, "collective")
        yield from wrapped(
            f"It waited for nobody: its {own} took {_time(one.shortest_s)} in the mean, which is the exchange itself."
        )
    if not one.complete:
        yield from wrapped(
            f"There are records of {one.ranks} of {one.of_ranks} ranks: one that has none may be later still."
        )


def _time(seconds: float) -> str:
    return say_time(round(seconds * _PS))


def ranks_as_dict(told: Sequence[LastOfCommunicator]) -> dict[str, Any]:
    """Return the same as plain values: the communicator with the longest wait, and all of them."""
    each = [
        {
            **vars(one.found), "named": one.found.named, "where": one.where, "communicator": one.communicator, "ranks": one.ranks,
            "of_ranks": one.of_ranks, "collectives": one.collectives, "exchange_s": one.shortest_s,
        }
        for one in told
    ]  # fmt: skip
    return {**each[0], "communicators": each}
