"""Exercises of lab 03: what registering costs, what a cache saves, and what it must not remember."""

from collections.abc import Callable
from numbers import Real
from typing import Any

from peerlab.lessons.exercise import Choice, Code, Exercise, Mistake, Number
from peerlab.lessons.freed_memory import PAGE, Host, Nic, NicError
from peerlab.lessons.scenes import DIRECT, simulated
from peerlab.lessons.stale import ByPointer, ByRange, Training, train
from peerlab.model.registration import RegistrationCache
from peerlab.units import MIB, PS_PER_US, say_bytes, say_count

BUFFERS = DIRECT.with_(buffers=4, cache_regions=32)
"""Four buffers in turn, and a cache that holds not half of what they need."""


def smallest_cache() -> int:
    """Return the fewest regions with which the second AllReduce registers nothing."""
    return next(k for k in range(1, 200) if not simulated(DIRECT.with_(cache_regions=k)).registration.misses)


def _both_ways_us() -> float:
    cost = DIRECT.registration_cost
    return (cost.register_ps(MIB) + cost.deregister_ps(MIB)) / PS_PER_US


def _one_way_us() -> float:
    return DIRECT.registration_cost.register_ps(MIB) / PS_PER_US


_AS_IF_UNLIMITED, _AS_COLD, _HALF = (
    "as many as without a limit: each buffer was used before",
    "as many as the very first call found: every call is cold",
    "about half of all: half of the regions fit",
)


def _found_by_four_buffers() -> str:
    """Return what the cache finds once all four buffers have been used, in words."""
    limited = simulated(BUFFERS.with_(iterations=9)).iterations
    free = simulated(BUFFERS.with_(iterations=9, cache_regions=None)).iterations[-1].registration
    last, first = limited[-1].registration, limited[0].registration
    if last.hits == free.hits:
        return _AS_IF_UNLIMITED
    return _AS_COLD if last.hits == first.hits else _HALF


_LARGER, _SAME, _NEITHER = "when the new buffer is larger", "when it has the same size", "in neither case"


def _refused() -> str:
    """Return in which of two cases a NIC refuses a stale key."""
    larger, same = train(ByPointer, ("16 KiB", "64 KiB")), train(ByPointer, ("64 KiB", "64 KiB"))
    told = {_LARGER: _is_refused(larger), _SAME: _is_refused(same)}
    return next((case for case, refused in told.items() if refused), _NEITHER)


def _is_refused(training: Training) -> bool:
    return any(step.refusal for step in training.steps)


def _check_hits(hits: Any) -> str | None:
    """Try a learner's function on caches that fit, and on caches that do not."""
    for trial in ((4, 4, 3), (8, 3, 5), (4, 5, 3), (1, 2, 6)):
        said = hits(*trial)
        if said is None:
            return "`hits` returns nothing; end with `return`."
        if not isinstance(said, Real):
            return f"`hits` should return one number, not a {type(said).__name__}."
        if said != _hits(*trial):
            return _miscounted(said, *trial)
    return None


def _miscounted(said: Real, capacity: int, buffers: int, rounds: int) -> str:
    """Return what is wrong with a count of hits."""
    true = _hits(capacity, buffers, rounds)
    asked = f"`hits({capacity}, {buffers}, {rounds})`: {say_count(buffers, 'buffer')} in turn, {say_count(rounds, 'round')}, {say_count(capacity, 'region')} kept"
    if said == min(capacity, buffers) * (rounds - 1):
        return f"{asked}: you let the cache keep its favourites. It may: a region whose lease is never given back is in use, and cannot be evicted. But these are given back, and the least recently used one goes, which is the very next that is asked for."
    if said in (true + buffers, true + min(capacity, buffers)):
        return f"{asked}: in the first round nothing can be found yet."
    return f"{asked}: the cache answers another number than {said}."


def _hits(capacity: int, buffers: int, rounds: int) -> int:
    kept = RegistrationCache(max_regions=capacity)
    for turn in range(rounds * buffers):
        kept.release(kept.acquire(turn % buffers * MIB, MIB))
    return kept.counters.hits


def _check_freed(freed: Any) -> str | None:
    class Yours(ByRange):
        def freed(self, address: int, nbytes: int) -> None:
            freed(self, address, nbytes)

    try:
        for sizes, chunks in ((("64 KiB",) * 3, 2), (("64 KiB", "16 KiB", "128 KiB"), 4)):
            if complaint := _complaint(train(Yours, sizes, chunks=chunks)):
                return complaint
    except NicError as problem:
        return f"In a later step {problem}: what is deregistered must not be found any more."
    return _spares_others(freed)


def _complaint(training: Training) -> str | None:
    for number, step in enumerate(training.steps, 1):
        if step.refusal:
            return f"In step {number} {step.refusal}: what is deregistered must not be found any more."
        if not step.right:
            return (
                f"In step {number} the sum is {step.was:g} and not {step.should_be:g}. A buffer is registered in "
                "chunks: was every one of them forgotten?"
            )
    if training.dead_bytes:
        return f"The sums are right, but {say_bytes(training.dead_bytes)} stay pinned for ever. What is forgotten must be deregistered as well."
    return None


def _spares_others(freed: Callable[[Any, int, int], object]) -> str | None:
    """Return what is wrong if a buffer beside the freed one loses its registration."""
    host = Host()
    yours = ByRange(Nic(host))
    one, other = host.allocate(8 * PAGE), host.allocate(8 * PAGE)
    for address in (one, other):
        yours.register(address, 8 * PAGE)
    freed(yours, one, 8 * PAGE)
    yours.register(other, 8 * PAGE)
    if yours.nic.registrations > 2:
        return "The sums are right, but a buffer that nobody freed has lost its registration, too."
    return None


EXERCISES: tuple[Exercise, ...] = (
    Number(
        name="03-cost",
        question="A transfer of 1 MiB is registered before and deregistered after. How long do both take together for the memory at one of its ends, with DL1's figures?",
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
            Mistake(lambda: 2 * _both_ways_us(), "That is for both ends of the transfer."),
        ),
        hints=(
            "`cost.register_ps(nbytes)` is the time to register so many bytes, in picoseconds; `cost.deregister_ps` is its counterpart.",
            "1 MiB is `2**20` bytes, a microsecond `1e6` picoseconds. Add the two.",
        ),
        why="Compare it with the column beside: the NIC sends the same 1 MiB in less time than that. Without a cache, the preparations take longer than the transfer.",
        solution="(cost.register_ps(2**20) + cost.deregister_ps(2**20)) / 1e6",
    ),
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
        ),
        hints=(
            "Look at the table: between which two sizes do the evictions end?",
            "Try the sizes between with `peerlab.simulate(direct.with_(cache_regions=17)).registration.misses`.",
            "`next(k for k in range(1, 100) if ...)` finds the first one.",
        ),
        why="Two Gaudi share the NIC. Each receives into eight chunks, and sends a ninth from the buffer that its gradients are in: that is the working set.",
        solution="next(k for k in range(1, 100) if not peerlab.simulate(direct.with_(cache_regions=k)).registration.misses)",
    ),
    Choice(
        name="03-thrash",
        question="A training step uses four such buffers in turn (`buffers=4`), each with a working set of its own, and the cache keeps 32 regions. Once all four have been used: how many requests does it answer in a call?",
        options={
            _AS_IF_UNLIMITED: "It was used before, but how many regions were used since, and how many are kept?",
            _AS_COLD: "Compare the hits of the first and of the ninth call.",
            _HALF: "Half would fit if the cache kept the same half. It keeps what was used last.",
        },
        truth=_found_by_four_buffers,
        hints=(
            "`peerlab.simulate(direct.with_(buffers=4, cache_regions=32, iterations=9)).iterations` has the counters of nine calls.",
            "Compare `.registration.hits` of the first and of the last, and of the last without `cache_regions`.",
        ),
        why="LRU has no half measures for a cycle: when a buffer's turn comes again, all its regions have just been evicted. What hits remain are chunks that come twice within one call.",
        solution='"' + _AS_COLD + '"',
    ),
    Choice(
        name="03-silent",
        question="A buffer is freed, and the next one gets its address. `ByPointer` hands out the old key. When does the NIC refuse it?",
        options={
            _LARGER: "Then the key covers less than is asked for.",
            _SAME: "Then the key covers exactly what is asked for. What could the NIC object to?",
            _NEITHER: 'Try it: `stale.train(stale.ByPointer, ("16 KiB", "64 KiB"))`.',
        },
        truth=_refused,
        hints=(
            "A NIC knows the range of a registration, and nothing of malloc and free.",
            "`stale.train(stale.ByPointer, (first, second))` trains with buffers of two sizes.",
        ),
        why="A range too long is an error that stops the program. A range of the right length is a wrong number that nobody sees: the dangerous one.",
        solution='"' + _LARGER + '"',
    ),
    Code(
        name="03-freed",
        question="Mend `ByRange`: `freed` is called before a buffer is freed. `cache.found` leads from (address, length) to keys, `cache.nic.deregister(key)` gives a key back. Buffers are registered in chunks.",
        check=_check_freed,
        function="freed",
        attempts={
            "cache.found.pop((address, nbytes), None)": "in chunks",
            "cache.found.clear()": "stay pinned",
            "for key in list(cache.found.values()):\n    cache.nic.deregister(key)\ncache.found.clear()": "a buffer that nobody freed",
            "for (start, length), key in cache.found.items():\n    if address <= start < address + nbytes:\n        cache.nic.deregister(key)": "must not be found any more",
        },
        hints=(
            "Which entries of `cache.found` overlap the range from `address` to `address + nbytes`?",
            "For each of them two things are to be done: `cache.nic.deregister(key)`, and out of `cache.found` with it.",
            "Loop over `list(cache.found.items())`: a dict must not change while it is looped over.",
        ),
        why="That is what a memory monitor does: it hears of every freed range, and forgets what overlaps it.",
        solution="for (start, length), key in list(cache.found.items()):\n    if start < address + nbytes and address < start + length:\n        cache.nic.deregister(key)\n        del cache.found[start, length]",
    ),
)
