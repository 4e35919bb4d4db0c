"""Requests that lab 03 has not shown: what a cache with the rule LRU finds of them, by hand and by the cache itself."""

from collections.abc import Sequence
from functools import cache
from itertools import count
from random import Random

from peerlab.base.units import MIB
from peerlab.features.exercises.exercise import Bound, Mistake, Number
from peerlab.features.exercises.transfer import TransferTask
from peerlab.model.registration import RegistrationCache

_BUFFERS = "ABCDE"


def found_by_lru(requests: str, regions: int) -> int:
    """Return how many requests a cache of so many regions answers; it gives up what was not used for the longest time."""
    kept = RegistrationCache(max_regions=regions)
    for buffer in requests:
        kept.release(kept.acquire(_BUFFERS.index(buffer) * MIB, MIB))
    return kept.counters.hits


def _found_by_age(requests: str, regions: int) -> int:
    """Return the same for a cache that gives up what it has had for the longest time."""
    kept: list[str] = []
    hits = 0
    for buffer in requests:
        hits += buffer in kept
        if buffer not in kept:
            # The oldest goes, also where it was just used: that is what tells this rule from LRU.
            kept = [*kept[len(kept) >= regions :], buffer]
    return hits


def _found_by_favourites(requests: str, regions: int) -> int:
    """Return the same for a cache that keeps the first that it got."""
    return sum(
        buffer in requests[:at] for at, buffer in enumerate(requests) if buffer in _first(requests, regions)
    )


def _first(requests: str, regions: int) -> Sequence[str]:
    return list(dict.fromkeys(requests))[:regions]


@cache
def requests(number: int, length: int, regions: int) -> str:
    """Return requests such that the rule matters: LRU finds neither all that was there before, nor what another rule finds."""
    for attempt in count():
        drawn = Random(1000 * number + attempt)  # noqa: S311  (nothing secret)
        text = "".join(drawn.choices(_BUFFERS, k=length))
        hits = found_by_lru(text, regions)
        others = {
            _found_by_age(text, regions),
            _found_by_favourites(text, regions),
            length - len(set(text)),
            length - hits,
        }
        # Each buffer occurs, something is found, and every other rule comes to another number.
        if set(text) == set(_BUFFERS) and hits >= 2 and hits not in others:
            return text
    raise AssertionError  # never: there are such requests


def _hits_task(number: int, length: int, regions: int) -> Number:
    text = requests(number, length, regions)
    hits = found_by_lru(text, regions)
    return Number(
        name="",
        question=f"A program registers five buffers of 1 MiB, A to E, in this order: `{' '.join(text)}`. The cache keeps {regions} regions, and "
        "evicts the least recently used one. It begins empty. How many of the requests does it answer?",
        unit="requests",
        tolerance=0,
        truth=lambda: float(hits),
        mistakes=(
            Mistake(lambda: length - hits, "That is how many it does not answer: those are registered."),
            Mistake(lambda: length - len(set(text)), "That is what a cache without a limit finds."),
            Mistake(lambda: _found_by_age(text, regions), "That evicts what was registered first. A hit makes a region young again."),
            Mistake(lambda: _found_by_favourites(text, regions), "That keeps the first regions for ever. LRU keeps those that were used last."),
        ),
        bounds=(
            Bound(lambda: length - len(set(text)), "Each buffer is new once, and cannot be found then.", above=True),
        ),
        hints=(
            "Write down what the cache keeps after each request, the one that was used last on the right.",
            f"When a request misses and {regions} are kept, the one on the left goes. A hit moves its buffer to the right.",
        ),
        why="The order of use decides, and not the order of registration. The check asked `peerlab.RegistrationCache` itself.",
        solution=str(hits),
    )  # fmt: skip


TRANSFER = TransferTask(lab="03", cases=(range(40), (12, 14, 16), (3, 4)), make=_hits_task)
