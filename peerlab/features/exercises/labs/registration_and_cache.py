"""Exercises of lab 03: what registering costs, what a cache saves, and what it must not remember."""

from numbers import Real
from typing import Any

from peerlab.base.units import MIB, PS_PER_US, say_count
from peerlab.features.exercises.exercise import Bound, Choice, Code, Exercise, Mistake, Number
from peerlab.features.exercises.labs.unseen import unseen_requests
from peerlab.features.exercises.labs.working_sets import ALMOST, BUSY, FRESH
from peerlab.features.exercises.labs.wrong_sums import WRONG_SUMS
from peerlab.features.exercises.lessons.scenes import DIRECT, simulated
from peerlab.model.registration import RegistrationCache

BUFFERS = DIRECT.with_(buffers=4, cache_regions=32)
"""Four buffers in turn, and a cache that holds not half of what they need."""


def smallest_cache() -> int:
    """Return the fewest regions with which the second AllReduce registers nothing."""
    # One after the other: the first that fits is the smallest, however the working set is worked out.
    return next(k for k in range(1, 200) if not simulated(DIRECT.with_(cache_regions=k)).registration.misses)


def _hit_rate() -> float:
    counters = simulated(DIRECT).registration
    return counters.hits / (counters.hits + counters.misses)


def _both_ways_us(nbytes: int = MIB) -> float:
    cost = DIRECT.registration_cost
    return (cost.register_ps(nbytes) + cost.deregister_ps(nbytes)) / PS_PER_US


def _one_way_us() -> float:
    return DIRECT.registration_cost.register_ps(MIB) / PS_PER_US


_AS_IF_UNLIMITED, _AS_COLD, _HALF, _NONE = (
    "as many as without a limit: each buffer was used before",
    "as many as the very first call found: every call is cold",
    "about half of all: half of the regions fit",
    "none at all: every request registers",
)


def _found_by_four_buffers() -> str:
    """Return what the cache finds once all four buffers have been used, in words."""
    # Nine calls: each of four buffers twice, and once more.
    limited = simulated(BUFFERS.with_(iterations=9)).iterations
    free = simulated(BUFFERS.with_(iterations=9, cache_regions=None)).iterations[-1].registration
    last, first = limited[-1].registration, limited[0].registration
    if last.hits == free.hits:
        return _AS_IF_UNLIMITED
    if not last.hits:
        return _NONE
    return _AS_COLD if last.hits == first.hits else _HALF


def _check_hits(hits: Any) -> str | None:
    """Try a learner's function on caches that fit, and on caches that do not."""
    # Caches that hold all buffers, all and more, all but one, and a single one.
    for trial in ((4, 4, 3), (8, 3, 5), (4, 5, 3), (1, 2, 6)):
        count = hits(*trial)
        if count is None:
            return "`hits` returns nothing; end with `return`."
        if not isinstance(count, Real):
            return f"`hits` should return one number, not a {type(count).__name__}."
        if count != _hits(*trial):
            return _miscounted(count, *trial)
    return None


def _miscounted(count: Real, capacity: int, buffers: int, rounds: int) -> str:
    """Return what is wrong with a count of hits."""
    true = _hits(capacity, buffers, rounds)
    text = f"`hits({capacity}, {buffers}, {rounds})`: {say_count(buffers, 'buffer')} in turn, {say_count(rounds, 'round')}, {say_count(capacity, 'region')} kept"
    # As if those that fit in stayed for ever.
    if count == min(capacity, buffers) * (rounds - 1):
        return f"{text}: you let the cache keep its favourites. It may: a region whose lease is never given back is in use, and cannot be evicted. But these are given back, and the least recently used one goes, which is the very next that is asked for."
    # As if the first round were found, too.
    if count in (true + buffers, true + min(capacity, buffers)):
        return f"{text}: in the first round nothing can be found yet."
    return f"Use a `peerlab.RegistrationCache`, and count its hits. {text}: the cache answers another number than {count}."


def _hits(capacity: int, buffers: int, rounds: int) -> int:
    kept = RegistrationCache(max_regions=capacity)
    for turn in range(rounds * buffers):
        # Given back at once, so that nothing is in use when room is needed.
        kept.release(kept.acquire(turn % buffers * MIB, MIB))
    return kept.counters.hits


EXERCISES: tuple[Exercise, ...] = (
    Number(
        name="03-cost",
        further=True,
        question="The sender of 1 MiB registers its memory before, and deregisters it after. How long do both take together, by the figures above?",
        unit="µs",
        truth=_both_ways_us,
        mistakes=(
            Mistake(
                _one_way_us, "That is registering alone; memory that is not kept has to be let go of, too."
            ),
            Mistake(
                lambda: DIRECT.registration_cost.register_ps(DIRECT.registration_cost.page_bytes) / PS_PER_US,
                "That is the fixed part and hardly more: a single page. How many pages of 4 KiB are in 1 MiB?",
            ),
            Mistake(
                lambda: _both_ways_us() - _one_way_us(),
                "That is letting go alone; before, it has to be registered.",
            ),
            Mistake(
                lambda: 1e6 * MIB / DIRECT.hardware.nic_Bps,
                "That is how long the NIC takes to send it. What comes before and after?",
            ),
            Mistake(
                lambda: 2 * _both_ways_us(), "That is for the sender and the receiver. Asked is the sender."
            ),
            Mistake(
                lambda: _both_ways_us() - DIRECT.registration_cost.base_ps / PS_PER_US,
                "That leaves out the fixed part of registering, which comes once for a region of any size.",
            ),
            Mistake(
                lambda: _both_ways_us(10**6),
                "That is for a million bytes. 1 MiB is 2**20 bytes, or 256 pages of 4 KiB.",
            ),
        ),
        bounds=(
            Bound(
                _one_way_us,
                "That is less than registering alone takes. `cost.register_ps(2**20)` says how long, in picoseconds.",
            ),
        ),
        hints=(
            "Count the pages first: 1 MiB is `2**20` bytes, and a page has 4,096 of them.",
            "A fixed part once, and for each page what registering and deregistering take.",
        ),
        why="The NIC sends the same 1 MiB in less time than that, as the table below says. Without a cache, the preparations take longer than the transfer.",
        solution="(cost.register_ps(2**20) + cost.deregister_ps(2**20)) / 1e6",
    ),
    BUSY,
    Code(
        name="03-hits",
        question="Write `hits`: a program uses `buffers` buffers of 1 MiB in turn, for `rounds` rounds, over a `peerlab.RegistrationCache` that keeps `capacity` regions. How many requests are answered by the cache?",
        check=_check_hits,
        function="hits",
        attempts={
            "return min(capacity, buffers) * (rounds - 1)": "keep its favourites",
            "cache = peerlab.RegistrationCache(max_regions=capacity)\nfor turn in range(rounds * buffers):\n    cache.acquire(turn % buffers * 2**20, 2**20)\nreturn cache.counters.hits": "never given back",
            "return buffers * rounds if buffers <= capacity else 0": "in the first round nothing",
        },
        hints=(
            "`cache.acquire(address, 2**20)` returns a lease, `cache.release(lease)` gives it back, `cache.counters.hits` counts.",
            "Buffer number i can live at address `i * 2**20`.",
            "Two loops: one over the rounds, one over the buffers within.",
        ),
        why="If they fit, all but the first round is found. One buffer more than fits, and nothing is: what is evicted is always what comes next.",
        solution="cache = peerlab.RegistrationCache(max_regions=capacity)\nfor turn in range(rounds * buffers):\n    cache.release(cache.acquire(turn % buffers * 2**20, 2**20))\nreturn cache.counters.hits",
    ),
    Number(
        name="03-fits",
        question="With how few regions per NIC does the second of our AllReduces register nothing any more?",
        unit="regions",
        tolerance=0,
        truth=smallest_cache,
        mistakes=(
            Mistake(
                lambda: simulated(DIRECT).registration.hits,
                "That is how often the cache is asked. Most requests are for a region that was asked for before.",
            ),
            Mistake(
                lambda: DIRECT.nodes * DIRECT.hardware.devices_per_switch,
                "Nearly: a chunk for each node and Gaudi. Each Gaudi also sends the first chunk from another buffer than it receives into.",
            ),
            Mistake(lambda: DIRECT.nodes, "Those are the chunks of one Gaudi; how many share a NIC?"),
            Mistake(
                lambda: smallest_cache() // 2,
                "Those are the regions of one Gaudi. Whose memory does this NIC reach?",
            ),
            Mistake(
                lambda: smallest_cache() + 2,
                "In the table below that is the first size without an eviction. Sizes between were not tried; do fewer regions do?",
            ),
            Mistake(
                lambda: smallest_cache() - 1,
                "Nearly: with one region too few, some of them are still evicted before they come round again.",
            ),
            Mistake(
                lambda: simulated(DIRECT).registration.hits / 2,
                "That is how often one Gaudi asks. It comes back to the same chunks, and a region counts once.",
            ),
            Mistake(
                lambda: DIRECT.hardware.devices_per_switch,
                "That would be one region for each Gaudi, its whole buffer. Here each chunk is registered for itself.",
            ),
            Mistake(
                _hit_rate,
                "That is the share of requests that are found. Asked is how many regions the cache must keep for it.",
            ),
            Mistake(
                lambda: DIRECT.nbytes / MIB,
                "That is the message in MiB, or its slices. What is registered is a chunk: an eighth of what one Gaudi sends.",
            ),
        ),
        hints=(
            "Look at the table below: which is the last size with evictions, and which the first without?",
            "Try the sizes between them with `peerlab.simulate(direct.with_(cache_regions=17)).registration.misses`.",
            "`next(k for k in range(1, 100) if ...)` finds the first one.",
        ),
        why="Two Gaudi share the NIC. Each receives into eight chunks, and sends a ninth from the buffer that its gradients are in: that is the working set.",
        solution="next(k for k in range(1, 100) if not peerlab.simulate(direct.with_(cache_regions=k)).registration.misses)",
    ),
    Choice(
        name="03-thrash",
        further=True,
        question="A training step uses four buffers in turn (`buffers=4`), each with a working set of 18 regions. The cache keeps 32. Once all four have been used: how many requests does it answer in a call?",
        options={
            _AS_IF_UNLIMITED: "It was used before, but how many regions were used since, and how many are kept?",
            _AS_COLD: "Compare the hits of the first and of the ninth call.",
            _HALF: "Half would fit if the cache kept the same half. It keeps what was used last.",
            _NONE: "That would be so if each region came once in a call. A ring comes to a chunk twice: to add up, and to pass on the sum.",
        },
        called={
            _AS_IF_UNLIMITED: ("all", "without a limit", "unlimited"),
            _AS_COLD: ("cold", "every call is cold", "as the first call", "like the first call"),
            _HALF: ("half", "half of all"),
            _NONE: ("none", "nothing", "no hits"),
        },
        truth=_found_by_four_buffers,
        hints=(
            "`peerlab.simulate(direct.with_(buffers=4, cache_regions=32, iterations=9)).iterations` has the counters of nine calls.",
            "Compare `.registration.hits` of the first and of the last, and of the last without `cache_regions`.",
        ),
        why="LRU has no half measures for a cycle: when a buffer's turn comes again, all its regions have just been evicted. What hits remain are chunks that come twice within one call.",
        solution='"' + _AS_COLD + '"',
    ),
    ALMOST,
    FRESH,
    *WRONG_SUMS,
)
TRANSFER = unseen_requests.TRANSFER
