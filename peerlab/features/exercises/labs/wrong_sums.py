"""Exercises of lab 03 on a cache that remembers memory that was freed."""

from collections.abc import Callable
from typing import Any

from peerlab.base.units import say_bytes
from peerlab.features.exercises.exercise import Choice, Code, Exercise
from peerlab.features.exercises.labs.freed_memory import PAGE, NicError, ProcessMemory, TranslatingNic
from peerlab.features.exercises.labs.stale import ByPointer, ByRange, TrainingSums, train

_LARGER, _SAME = "when the new buffer is larger", "when it has the same size"
_BOTH, _NEITHER = "in both cases", "in neither case"


def _refused() -> str:
    """Return in which of two cases a NIC refuses a stale key."""
    larger, same = train(ByPointer, ("16 KiB", "64 KiB")), train(ByPointer, ("64 KiB", "64 KiB"))
    refused = _is_refused(larger), _is_refused(same)
    # Both cases are tried: whether a NIC refuses is the simulation's to say.
    return {(True, False): _LARGER, (False, True): _SAME, (True, True): _BOTH}.get(refused, _NEITHER)


def _is_refused(training: TrainingSums) -> bool:
    return any(step.refusal for step in training.steps)


def _check_freed(freed: Any) -> str | None:
    class Yours(ByRange):
        def freed(self, address: int, nbytes: int) -> None:
            freed(self, address, nbytes)

    try:
        # Buffers of one size first; then sizes that shrink and grow, so that ranges overlap in part.
        for sizes, chunks in ((("64 KiB",) * 3, 2), (("64 KiB", "16 KiB", "128 KiB"), 4)):
            if complaint := _complaint(train(Yours, sizes, chunks=chunks)):
                return complaint
    except NicError as problem:
        return f"In a later step {problem}: what is deregistered must not be found any more."
    return _spares_others(freed)


def _complaint(training: TrainingSums) -> str | None:
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
    host = ProcessMemory()
    yours = ByRange(TranslatingNic(host))
    buffer, other = host.allocate(8 * PAGE), host.allocate(8 * PAGE)
    for address in (buffer, other):
        yours.register(address, 8 * PAGE)
    freed(yours, buffer, 8 * PAGE)
    yours.register(other, 8 * PAGE)
    # Two buffers were registered; a third registration is of one that was thrown out for nothing.
    if yours.nic.registrations > 2:
        return "The sums are right, but a buffer that nobody freed has lost its registration, too."
    return None


WRONG_SUMS: tuple[Exercise, ...] = (
    Choice(
        name="03-silent",
        question="A buffer is freed, and the next one gets its address. `ByPointer` hands out the old key. When does the NIC refuse it?",
        options={
            _LARGER: "Then the key covers less than is asked for.",
            _SAME: "Then the key covers exactly what is asked for. What could the NIC object to?",
            _BOTH: "With the same size nothing tells the NIC that the buffer is another one: its range is registered.",
            _NEITHER: 'Try it: `stale.train(stale.ByPointer, ("16 KiB", "64 KiB"))`.',
        },
        called={
            _LARGER: ("larger", "if it is larger", "bigger"),
            _SAME: ("same size", "equal size"),
            _BOTH: ("both", "always"),
            _NEITHER: ("neither", "never"),
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
        further=True,
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
