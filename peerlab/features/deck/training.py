"""What a faster exchange of gradients means for one step of a training.

Today's step is the user's: how long it takes, how much of it is exchange, and which share of the exchange is hidden behind
computing. A step is its computing plus what is seen of the exchange. How much of a faster exchange would be hidden is not
known until the step itself is simulated; so there are two readings: the same share is hidden, or the same time.
"""

# A training step has two readings. How much of a shorter exchange computing hides is not known until the
# step is simulated. So the slide shows both: the same share hidden, or the same time. 300 ms with 40 %
# exchange, 60 % of it hidden, become 1.08 or 1.19 times as fast. An exchange that is longer than the step
# would hide more than there is computing, and is refused with the figures. The gradient is simulated as one
# message.

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from peerlab.base.errors import ExportError, nearest
from peerlab.base.units import PS_PER_S, parse_bytes, parse_time, say_time, write_bytes

_NEEDED = "a step is its time, its overlap, and either its bytes of gradient or the share of it that is communication"


@dataclass(frozen=True, kw_only=True)
class Training:
    """A step of somebody's training, as it is today: with the data path through the host."""

    gradient_bytes: int | None = None
    """Bytes of gradient that every rank exchanges in a step; None where `communication_share` says how much exchange there is."""
    communication_share: float | None = None
    """Share of the step that is exchange, hidden or not, 0 to 1."""
    step_time_s: float
    """How long a step takes today, seconds."""
    overlap_share: float
    """Share of the exchange that is hidden behind computing, 0 to 1."""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Training":
        """Return a training from an outline's table or the command line's options; a share is 0.6 or ``60 %``.

        Raises
        ------
        ExportError
            If a value is missing, or is none.
        """
        names = [field.name for field in fields(cls)]
        for name in given:
            if name not in names:
                raise ExportError(f"training: {name!r} is unknown; {nearest(name, names)}")
        there = {name: value for name, value in given.items() if value is not None}
        for name in ("step_time_s", "overlap_share"):
            if name not in there:
                raise ExportError(f"training: {name} is missing; {_NEEDED}")
        if "gradient_bytes" in there and "communication_share" in there:
            raise ExportError(f"training: gradient_bytes and communication_share are both given; {_NEEDED}")
        if "gradient_bytes" not in there and "communication_share" not in there:
            raise ExportError(f"training: gradient_bytes is missing; {_NEEDED}")
        return cls(**{name: _READERS[name](name, value) for name, value in there.items()})

    def today(self, exchange_s: float, how: str = "through the host as simulated") -> "StepTime":
        """Return the step as it is, `exchange_s` of it exchange; `how` says where that is from.

        Raises
        ------
        ExportError
            If such an exchange does not fit into the step.
        """
        hidden, exposed = self.overlap_share * exchange_s, (1 - self.overlap_share) * exchange_s
        computing = self.step_time_s - exposed
        if exchange_s > self.step_time_s:  # then it hides behind more than there is, whatever the overlap
            what = (
                f"{write_bytes(self.gradient_bytes)} of gradient" if self.gradient_bytes else "the exchange"
            )
            less = f"{_say(hidden)} of it would hide behind {_say(computing)} of computing"
            none = f"{_say(exposed)} of it would be seen, which leaves no computing"
            raise ExportError(
                f"training: {what} takes {_say(exchange_s)} {how}, and a step takes"
                f" {_say(self.step_time_s)}: {less if computing > 0 else none}; check gradient, step time and overlap"
            )
        computing = max(computing, hidden)  # of a step that is all exchange, rounding may have taken some
        return StepTime(computing, exchange_s, hidden)


@dataclass(frozen=True)
class StepTime:
    """A step of a training, seconds."""

    computing_s: float
    """Computing, and all else that is no exchange."""
    exchange_s: float
    """The exchange of gradients, hidden or not."""
    hidden_s: float
    """What of it is hidden behind computing."""

    @property
    def seen_s(self) -> float:
        """What of the exchange is not hidden."""
        return self.exchange_s - self.hidden_s

    @property
    def time_s(self) -> float:
        """The whole step."""
        return self.computing_s + self.seen_s

    def same_share(self, exchange_s: float) -> "StepTime":
        """Return the step with another exchange, of which the same share is hidden."""
        share = self.hidden_s / self.exchange_s if self.exchange_s else 0.0
        # No more can be hidden than there is computing.
        return StepTime(self.computing_s, exchange_s, min(share * exchange_s, self.computing_s))

    def same_time(self, exchange_s: float) -> "StepTime":
        """Return the step with another exchange, of which the same time is hidden, or all if it is shorter."""
        return StepTime(self.computing_s, exchange_s, min(self.hidden_s, exchange_s))


def _bytes(name: str, given: Any) -> int:
    try:
        size = parse_bytes(given)
    except ValueError as problem:
        raise ExportError(f"training: {name}: {problem}") from None
    if size < 1:
        raise ExportError(f"training: {name}: {given!r} is not a size of 1 byte or more")
    return size


def _seconds(name: str, given: Any) -> float:
    value = given
    if isinstance(given, str):
        try:
            value = parse_time(given)
        except ValueError:
            value = None
    return _number(name, given, value, 1e-6, 1e6, "a time from 0.000001 to 1000000 seconds, such as 0.35")


def _share(name: str, given: Any) -> float:
    value = given
    if isinstance(given, str):
        text = given.strip()
        try:
            value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            value = None
    return _number(name, given, value, 0, 1, "a share from 0 to 1, or 0 % to 100 %")


def _number(name: str, given: Any, value: Any, low: float, high: float, allowed: str) -> float:
    # Not a number for all that is none: the one test below refuses it.
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else float("nan")
    if not isfinite(number) or not low <= number <= high:
        raise ExportError(f"training: {name}: {given!r} is not {allowed}")
    return float(number)


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "gradient_bytes": _bytes,
    "communication_share": _share,
    "step_time_s": _seconds,
    "overlap_share": _share,
}


def _say(seconds: float) -> str:
    return say_time(seconds * PS_PER_S)
