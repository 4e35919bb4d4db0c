"""What is to be measured: ranks, sizes, arms and registrations, read from the user's words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peerlab.base.errors import MeasurementError, nearest
from peerlab.base.units import KIB, parse_bytes, write_bytes
from peerlab.collectives.conditions import CONTROL
from peerlab.features.measure.memories import MEMORIES, Memory

DEFAULT_RANKS = (2, 4)
DEFAULT_SIZES = ("64 KiB", "256 KiB", "1 MiB", "2 MiB", "8 MiB")
DEFAULT_REGISTRATIONS = ("none", "per-transfer", "lru", "lru:2", "null")

PINS = tuple(MEMORIES["host"].pinnings)
"""How a region of host memory is registered: mlock is an emulation (locked pages may still move), io_uring pins as a NIC's driver does."""

LRU_REGIONS = 64
"""Regions that ``lru`` keeps if no number is given."""

MOST_RANKS = 32
"""Ranks on one machine at most: a measurement is meant for machines of a few cores."""
_MOST_REPETITIONS = 1000
SLICE_BYTES = 256 * KIB
_KINDS = ("none", "per-transfer", "lru", "null")


@dataclass(frozen=True)
class Registration:
    """How the regions of a transfer get registered."""

    kind: str
    """``none``; ``per-transfer``; ``lru``, a cache; or ``null``, the same cache that pins nothing."""
    capacity: int | None = None
    """Most regions that the cache keeps."""

    @classmethod
    def read(cls, text: str) -> "Registration":
        """Return the registration that a user calls ``lru`` or ``lru:8``.

        Raises
        ------
        MeasurementError
            If there is none of that name.
        """
        kind, colon, count = str(text).strip().partition(":")
        if kind not in _KINDS or (colon and kind != "lru"):
            raise MeasurementError(f"registrations: {text!r} is unknown; {nearest(kind, (*_KINDS, 'lru:2'))}")
        # `isdigit` alone takes digits of other scripts, and some that `int` refuses.
        if colon and not (count.isascii() and count.isdigit() and 1 <= int(count) <= 10**6):
            raise MeasurementError(
                f"registrations: {text!r}: an LRU keeps 1 to 1000000 regions, as in 'lru:2'"
            )
        # A cache of 0 regions registers each time and deregisters at once, as the simulator's does.
        kept = {"lru": int(count or LRU_REGIONS), "null": LRU_REGIONS, "per-transfer": 0}
        return cls(kind, kept.get(kind))

    @property
    def pins(self) -> bool:
        """Whether memory is pinned."""
        return self.kind in ("per-transfer", "lru")

    def __str__(self) -> str:
        return f"lru:{self.capacity}" if self.kind == "lru" else self.kind


UNREGISTERED = Registration("none")


@dataclass(frozen=True)
class MeasuredCase:
    """One of the things that are measured in turn."""

    arm: str
    """One of the memory's arms."""
    registration: Registration = UNREGISTERED
    """How its regions get registered."""
    variant: str = ""
    """:data:`CONTROL` for the baseline's second time."""

    def __str__(self) -> str:
        extra = self.variant or ("" if self.registration == UNREGISTERED else str(self.registration))
        return f"{self.arm} ({extra})" if extra else self.arm


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A sweep of AllReduces on this machine; made by :meth:`of`, from what a user says."""

    ranks: tuple[int, ...]
    """Numbers of processes."""
    sizes: tuple[int, ...]
    """Message sizes, bytes; multiples of 4, as the numbers are float32."""
    arms: tuple[str, ...]
    """Data paths, of the memory's."""
    registrations: tuple[str, ...]
    """What the arm that registers is measured with, as :meth:`Registration.read` takes it."""
    insist: bool
    """Whether memory is registered even where the locked-memory limit forbids, so that the kernel says no."""
    repetitions: int
    """Of each case, after one that does not count."""
    slice_bytes: int
    """Most bytes copied or sent at once."""
    pins: str
    """How regions are registered, one of the memory's ``pinnings``."""
    memory: str = "host"
    """One of :data:`~peerlab.features.measure.memories.MEMORIES`."""

    @classmethod
    def of(
        cls,
        *,
        ranks: int | Iterable[int] = DEFAULT_RANKS,
        sizes: int | str | Iterable[int | str] = DEFAULT_SIZES,
        arms: str | Iterable[str] | None = None,
        registrations: str | Iterable[str] | None = None,
        repetitions: int = 7,
        slice_bytes: int | str = SLICE_BYTES,
        pins: str | None = None,
        memory: str = "host",
        most_ranks: int = MOST_RANKS,
        known: Mapping[str, str] | None = None,
    ) -> "Measurement":
        """Return what a user asks for; None is the memory's own choice, ``registrations=None`` one that fits the locked-memory limit.

        Who launches the ranks otherwise says how many there may be, and which arms are known.

        Raises
        ------
        MeasurementError
            If a value is impossible.
        """
        kind = MEMORIES[_name("memory", memory, MEMORIES)]
        chosen_arms = kind.usual if arms is None else several("arms", arms)
        known_arms = tuple(_name("arms", arm, known or kind.arms) for arm in chosen_arms)
        pinned = _name("pins", next(iter(kind.pinnings)) if pins is None else pins, kind.pinnings)
        registers = kind.pinnings[pinned].arm
        asked = DEFAULT_REGISTRATIONS if registrations is None else several("registrations", registrations)
        read = tuple(str(Registration.read(registration)) for registration in asked)
        if registrations is not None and registers not in known_arms and set(read) - {"none"}:
            raise MeasurementError(
                f"registrations: only the arm {registers!r} registers memory; add it to arms"
            )
        return cls(
            ranks=tuple(whole_number("ranks", n, 2, most_ranks) for n in several("ranks", ranks)),
            sizes=tuple(_size("sizes", size) for size in several("sizes", sizes)),
            arms=known_arms,
            registrations=read,
            insist=registrations is not None,
            repetitions=whole_number("repetitions", repetitions, 1, _MOST_REPETITIONS),
            slice_bytes=_size("slice_bytes", slice_bytes),
            pins=pinned,
            memory=memory,
        )

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> "Measurement":
        # JSON makes lists of tuples; a frozen plan wants them back.
        """Return the measurement that `dataclasses.asdict` and JSON made `values` of."""
        lists: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
        return cls(**lists)

    @property
    def kind(self) -> Memory:
        """The record of the memory."""
        return MEMORIES[self.memory]

    @property
    def registers(self) -> str:
        """The arm whose regions are registered."""
        return self.kind.pinnings[self.pins].arm

    @property
    def blocks(self) -> tuple[tuple[int, int], ...]:
        """Ranks and size in bytes of what is measured together, in order."""
        return tuple((ranks, size) for ranks in self.ranks for size in self.sizes)

    @property
    def cases(self) -> tuple[MeasuredCase, ...]:
        """What is measured in turn in each block, the control last."""
        plain = [MeasuredCase(arm) for arm in self.arms]
        chosen = (
            [Registration.read(registration) for registration in self.registrations]
            if self.registers in self.arms
            else []
        )
        registered = [
            MeasuredCase(self.registers, registration)
            for registration in chosen
            if registration != UNREGISTERED
        ]
        return (*plain, *registered, MeasuredCase(self.baseline, variant=CONTROL))

    @property
    def baseline(self) -> str:
        """The arm that the others are compared with, and that is measured twice: `staged`, or the first."""
        return "staged" if "staged" in self.arms else self.arms[0]


def several(field: str, given: Any) -> Sequence[Any]:
    """Return one value or several as a sequence, each once.

    Raises
    ------
    MeasurementError
        If there is none.
    """
    alone = isinstance(given, str) or not isinstance(given, Iterable)
    values = [given] if alone else list(given)
    if not values:
        raise MeasurementError(f"{field}: give at least one")
    return [value for place, value in enumerate(values) if value not in values[:place]]


def _name(field: str, value: Any, known: Iterable[str]) -> str:
    if value not in tuple(known):
        raise MeasurementError(f"{field}: {value!r} is unknown; {nearest(str(value), known)}")
    return str(value)


def whole_number(field: str, value: Any, least: int, most: int) -> int:
    """Return a whole number of a range, whichever type it has.

    Raises
    ------
    MeasurementError
        If it is none.
    """
    # Python counts True as 1; numpy's whole numbers have `__index__` and are no `int`.
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value.__index__() <= most:
        raise MeasurementError(f"{field}: {value!r} is not a whole number from {least} to {most}")
    return int(value.__index__())


def _size(field: str, value: int | str) -> int:
    try:
        nbytes = parse_bytes(value)
    except ValueError as problem:
        raise MeasurementError(f"{field}: {problem}") from None
    if nbytes <= 0 or nbytes % 4:
        raise MeasurementError(f"{field}: {value!r}: the numbers are float32, so a multiple of 4 B above 0")
    return nbytes


def say_command(plan: Measurement) -> str:
    """Return the command that measures the same."""
    lists = {
        "ranks": map(str, plan.ranks),
        "sizes": (write_bytes(size).replace(" ", "") for size in plan.sizes),
        "arms": plan.arms,
        "registrations": plan.registrations if plan.insist else (),
    }
    rows = [(name, ",".join(values)) for name, values in lists.items()]
    rows += [
        ("repetitions", str(plan.repetitions)),
        ("slice", write_bytes(plan.slice_bytes).replace(" ", "")),
    ]
    rows += [("pins", plan.pins)]
    # The usual memory goes without saying: files that were written before there was another say the same.
    rows += [("memory", plan.memory)] * plan.kind.accelerator
    return " ".join(["peerlab measure", *(f"--{name} {value}" for name, value in rows if value)])
