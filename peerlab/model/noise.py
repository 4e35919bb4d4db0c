"""Kinds of noise: what each is, which fields of a scenario ask for it, and how much of it is assumed where nobody has measured it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any

from peerlab.base.data_file import read_facts
from peerlab.base.errors import ScenarioError
from peerlab.base.units import PS_PER_S

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

FILE = "noise.toml"
_PS_PER_US = 10**6
_FEWEST_TICKS = 1e-6
"""A second: the period of rarer ones has no room in 63 bits of picoseconds."""


@dataclass(frozen=True, kw_only=True)
class NoiseKind:
    """One kind of noise. Every kind draws from streams of its own, so that one more of them moves no draw of another."""

    title: str
    """What it is called."""
    does: str
    """What the noise does, as a sentence without its end."""
    stream: int
    """Number of its streams: one for each seed and node; 0: jitter, which has one stream for a seed."""
    says: Callable[["Noise"], str]
    """How much of it there is, in words."""


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The noise of a scenario."""

    jitter: float = 0.0
    """Sigma of a lognormal factor of mean 1 on every service time."""
    spread: float = 0.0
    """Sigma of a lognormal factor of median 1, one for each node and run, on every service time at that node."""
    detours: float = 0.0
    """Probability of a detour, for each slice and stage."""
    detour_ps: int = 0
    """Shortest detour."""
    detour_tail: float = 0.0
    """Exponent of the Pareto tail of its length: the share that is longer than x is (shortest / x) to this power."""
    tick_period_ps: int = 0
    """Time from one tick of a node to its next; 0: there are none."""
    tick_ps: int = 0
    """How long a node stands still at each."""

    def __bool__(self) -> bool:
        return bool(self.jitter or self.spread or self.detours or self.tick_period_ps)

    @property
    def of_slices(self) -> bool:
        """Whether slices that are alike take different times, so that no device stands for another."""
        return bool(self.jitter or self.detours)

    @property
    def in_words(self) -> str:
        """What there is of each kind; empty where there is none.

        >>> Noise(jitter=0.05, spread=0.1).in_words
        'jitter 5 %, spread of nodes 10 %'
        """
        return ", ".join(filter(None, (noise_kind.says(self) for noise_kind in NOISE_KINDS.values())))


def _jitter(noise: Noise) -> str:
    return f"jitter {100 * noise.jitter:g} %" if noise.jitter else ""


def _spread(noise: Noise) -> str:
    return f"spread of nodes {100 * noise.spread:g} %" if noise.spread else ""


def _detours(noise: Noise) -> str:
    if not noise.detours:
        return ""
    return (
        f"rare delays of {noise.detour_ps / _PS_PER_US:g} µs or more at {_plain(noise.detours)} of the slices"
    )


def _plain(share: float) -> str:
    """Return a share without an exponent.

    >>> _plain(1e-05), _plain(0.001), _plain(1.0)
    ('0.00001', '0.001', '1')
    """
    return f"{share:.12f}".rstrip("0").rstrip(".")


def _ticks(noise: Noise) -> str:
    if not noise.tick_period_ps:
        return ""
    return f"{PS_PER_S / noise.tick_period_ps:g} ticks of {noise.tick_ps / _PS_PER_US:g} µs a second"


# A stream's number is part of its seed: another one changes every draw of the kind.
NOISE_KINDS = {
    "jitter": NoiseKind(
        title="jitter",
        does="every service time on the way between nodes has a random factor of mean 1",
        stream=0,
        says=_jitter,
    ),
    "spread": NoiseKind(
        title="spread of nodes",
        does="every node is a little faster or slower than the others, for a whole run",
        stream=1,
        says=_spread,
    ),
    "detours": NoiseKind(
        title="detours",
        does="a slice is held up at a stage, seldom and long",
        stream=2,
        says=_detours,
    ),
    "ticks": NoiseKind(
        title="ticks",
        does="every node stands still for a moment, again and again, each in a phase of its own",
        stream=3,
        says=_ticks,
    ),
}
"""Every kind, by the field of a scenario that says how much of it there is."""


@dataclass(frozen=True, kw_only=True)
class AssumedNoise:
    """How much of a kind is assumed."""

    amount: float
    unit: str
    range: tuple[float, float]
    """From where to where it may lie."""
    assumption: str
    reads: str
    """What stands behind it."""
    length_us: float = 0.0
    """Of a detour the least length, of a tick the length, in microseconds."""
    tail: float = 0.0
    """Exponent of the tail of a detour's length."""


def _read(document: dict[str, Any]) -> dict[str, AssumedNoise]:
    return {
        name: AssumedNoise(**{**document[name], "range": tuple(document[name]["range"])})
        for name in NOISE_KINDS
    }


@cache
def assumed_noise() -> dict[str, AssumedNoise]:
    """Return what is assumed of every kind (``data/noise.toml``), the same for every cluster: nobody has published a fit for one.

    >>> assumed_noise()["jitter"].amount
    0.05
    """
    return read_facts(FILE, "file of assumed noise", _read)


def noise_of(s: "Scenario") -> Noise:
    """Return the noise of a scenario; what it leaves open of detours and ticks is assumed."""
    assumed = assumed_noise() if s.detours or s.ticks else {}
    # Jitter and spread are a sigma and nothing else; a detour or a tick also has a length.
    entries: dict[str, Any] = {"jitter": s.jitter, "spread": s.spread}
    if s.detours:
        kind = assumed["detours"]
        shortest = kind.length_us if s.detour_us is None else s.detour_us
        tail = kind.tail if s.detour_tail is None else s.detour_tail
        entries |= {"detours": s.detours, "detour_ps": round(shortest * _PS_PER_US), "detour_tail": tail}
    if s.ticks:
        if s.ticks < _FEWEST_TICKS:
            raise ScenarioError(
                "ticks",
                f"{s.ticks:g} a second is less than the simulation can count; give 0, or {_FEWEST_TICKS:g} or more",
            )
        lasts = round((assumed["ticks"].length_us if s.tick_us is None else s.tick_us) * _PS_PER_US)
        # a rate when it is asked for, a period in whole picoseconds inside
        period = round(PS_PER_S / s.ticks)
        if lasts >= period:
            raise ScenarioError(
                "tick_us", f"{lasts / _PS_PER_US:g} µs, {s.ticks:g} times a second, leaves no time to work"
            )
        entries |= {"tick_period_ps": period, "tick_ps": lasts}
    return Noise(**entries)


def checked_amount(name: str, value: Any, low: float, high: float, what: str) -> float:
    """Return a number from `low` to `high`.

    Raises
    ------
    ScenarioError
        If it is none; `what` says what the field is.
    """
    # what is not a number compares false with both bounds, and is refused with the rest
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
        raise ScenarioError(name, f"{value!r} is not {what} from {low:g} to {high:g}")
    return float(value)


def checked_noise(s: "Scenario") -> dict[str, float | None]:
    """Return the fields of a scenario's noise as it keeps them, by name; jitter is checked elsewhere.

    Raises
    ------
    ScenarioError
        If one is impossible.
    """
    entries: dict[str, float | None] = {
        name: checked_amount(name, getattr(s, name), low, high, what)
        for name, (low, high, what) in _AMOUNTS.items()
    }
    for name, (low, high, what) in _LENGTHS.items():
        value = getattr(s, name)
        # None stays: `noise_of` puts what is assumed in its place
        entries[name] = None if value is None else checked_amount(name, value, low, high, what)
    return entries


# By field from where to where it may lie, and what it is: words that stand before "from 0 to 2".
_AMOUNTS = {
    "spread": (0.0, 2.0, "a sigma, such as 0.1,"),
    "detours": (0.0, 1.0, "a probability, such as 1e-5,"),
    "ticks": (0.0, 1e6, "a number of ticks a second, such as 1000,"),
}
_LENGTHS = {
    "detour_us": (1e-6, 1e9, "a time in microseconds"),
    "detour_tail": (0.1, 100.0, "an exponent, such as 1.5,"),
    "tick_us": (1e-6, 1e9, "a time in microseconds"),
}
