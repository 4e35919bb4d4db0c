"""Training over a cache of registrations that is more or less right: whether the sums are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from peerlab.base.display import shown
from peerlab.base.units import parse_bytes, say_count
from peerlab.features.exercises.labs.freed_memory import PAGE, Key, NicError, ProcessMemory, TranslatingNic


class Cache(Protocol):
    """What finds a registration again; made anew for every process, of its NIC."""

    def register(self, address: int, nbytes: int) -> Key:
        """Return a key for a range, found or new."""

    def freed(self, address: int, nbytes: int) -> None:
        """Hear that a buffer is about to be freed."""


class ByPointer:
    """Finds a registration by its first byte alone."""

    def __init__(self, nic: TranslatingNic) -> None:
        self.nic = nic
        self.found: dict[Any, Key] = {}

    def register(self, address: int, nbytes: int) -> Key:
        """Return a key for a range."""
        if address not in self.found:
            self.found[address] = self.nic.register(address, nbytes)
        return self.found[address]

    def freed(self, address: int, nbytes: int) -> None:
        """Hear nothing."""


class ByRange(ByPointer):
    """Finds a registration that covers the whole range."""

    def register(self, address: int, nbytes: int) -> Key:
        """Return a key for a range."""
        for (start, length), key in self.found.items():
            if start <= address and address + nbytes <= start + length:
                return key
        key = self.found[address, nbytes] = self.nic.register(address, nbytes)
        return key


class Watched(ByRange):
    """Finds by range, and forgets what is freed."""

    def freed(self, address: int, nbytes: int) -> None:
        """Deregister what overlaps the buffer."""
        for (start, length), key in list(self.found.items()):
            # What overlaps in part is stale, too: the NIC would read freed pages at one end.
            if start < address + nbytes and address < start + length:
                self.nic.deregister(key)
                # From both: what is only forgotten stays pinned, and what is only deregistered is found and
                # refused.
                del self.found[start, length]


class ByAllocation(ByPointer):
    """Finds by range and by the number of the allocation, which is never given twice; hears of no freeing."""

    def register(self, address: int, nbytes: int) -> Key:
        """Return a key for a range."""
        name = (self.nic.host.allocation(address), address, nbytes)
        if name not in self.found:
            self.found[name] = self.nic.register(address, nbytes)
        return self.found[name]


@dataclass(frozen=True)
class StepSum:
    """One training step: every rank allocates gradients, the NICs read and add them up, the buffers are freed."""

    address: int
    """Where rank 0 got its buffer."""
    nbytes: int
    """Its size."""
    registered: int
    """Registrations that rank 0's NIC made for it."""
    should_be: float
    """The sum of what the ranks wrote."""
    was: float | None
    """The sum of what their NICs read (the first number that is wrong, if one is); None: a NIC refused."""
    refusal: str = ""
    """Why."""

    @property
    def right(self) -> bool:
        """Whether the sum is right everywhere."""
        return self.was == self.should_be


@dataclass(frozen=True)
class TrainingSums:
    """What became of the sums; a notebook shows a table."""

    cache: str
    """Name of the cache's class."""
    steps: tuple[StepSum, ...]
    """Step by step."""
    dead_bytes: int
    """Bytes that are freed and still pinned at the end, on rank 0."""

    @property
    def right(self) -> bool:
        """Whether every sum was right."""
        return all(step.right for step in self.steps)

    _repr_html_ = shown

    def __repr__(self) -> str:
        return f"TrainingSums({self.cache}, {say_count(len(self.steps), 'step')}: {self.says})"

    @property
    def says(self) -> str:
        """How many sums are wrong, in words."""
        refused = sum(bool(step.refusal) for step in self.steps)
        wrong = sum(not step.right for step in self.steps) - refused
        if not wrong and not refused:
            return "every sum is right"
        sentences = [f"{say_count(wrong, 'sum')} wrong, and nobody is told"] * bool(wrong)
        return "; ".join([*sentences, *[f"{say_count(refused, 'step')} refused by the NIC"] * bool(refused)])


def train(
    make_cache: Callable[[TranslatingNic], Cache],
    sizes: Sequence[int | str] = ("64 KiB",) * 4,
    *,
    ranks: int = 2,
    chunks: int = 2,
) -> TrainingSums:
    """Train for as many steps as there are sizes: rank r writes (r + 1) times the number of the step into its buffer.

    Every buffer is registered in chunks, as a ring does. What the NICs read is added up and compared with what was written.

    Parameters
    ----------
    make_cache:
        Makes the cache of one NIC: ``ByPointer`` and its kin, or a class of your own.
    sizes:
        Of the gradient buffer, step by step.
    ranks, chunks:
        Processes, and parts that a buffer is sent in.
    """
    hosts = [ProcessMemory() for _ in range(ranks)]
    nics = [TranslatingNic(host) for host in hosts]
    caches = [make_cache(nic) for nic in nics]
    steps = []
    for number, size in enumerate(map(parse_bytes, sizes), 1):
        # Whole pages in each chunk, so that every chunk can be registered by itself.
        nbytes = -(-size // (PAGE * chunks)) * PAGE * chunks
        before = nics[0].registrations
        addresses = [host.allocate(nbytes) for host in hosts]
        for rank, (host, address) in enumerate(zip(hosts, addresses, strict=True), 1):
            # A rank writes another number in every step: what a stale key reads is never right by chance.
            host.fill(address, nbytes, rank * number)
        should_be, was, refusal = float(number * ranks * (ranks + 1) // 2), None, ""
        try:
            was = _sum(list(zip(nics, caches, addresses, strict=True)), nbytes, chunks, should_be)
        except NicError as problem:
            refusal = str(problem)
        made = nics[0].registrations - before
        steps.append(StepSum(addresses[0], nbytes, made, should_be, was, refusal))
        # The cache hears of it first: afterwards the address is somebody else's.
        for host, cache, address in zip(hosts, caches, addresses, strict=True):
            cache.freed(address, nbytes)
            host.free(address, nbytes)
    name = getattr(make_cache, "__name__", "your cache")
    return TrainingSums(name, tuple(steps), nics[0].dead_bytes)


def _sum(
    ends: Sequence[tuple[TranslatingNic, Cache, int]], nbytes: int, chunks: int, should_be: float
) -> float:
    """Return what adding up gives: one number, as every buffer holds one; the first wrong one if any is."""
    each = nbytes // chunks
    for at in range(0, nbytes, each):
        read = [
            nic.read(cache.register(address + at, each), address + at, each) for nic, cache, address in ends
        ]
        total = sum(read[1:], start=read[0])
        # The first wrong number says what was read instead, which is of an earlier step.
        if wrong := [number for number in total if number != should_be]:
            return float(wrong[0])
    return should_be
