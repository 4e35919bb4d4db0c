"""What copies between device and host memory cost, as `peerlab measure copies` measured it, and the file that keeps it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerlab.base.display import shown
from peerlab.base.errors import RecordsError
from peerlab.base.outfile import put_on_disk, written
from peerlab.base.textfile import printable, read_text
from peerlab.base.units import KIB, MIB, say_bytes, say_count

if TYPE_CHECKING:
    import pandas as pd

TOOL = "peerlab measure copies"
"""What such a file says of itself."""
_TOLD = re.compile(rf'"tool"\s*:\s*"{TOOL}"')
_HEAD = 200
"""Characters of a file within which it says so."""
WAYS = ("to host", "to device", "both ways")
"""Directions of copies."""
HOSTS = ("pinned", "pageable")
"""Kinds of host memory."""
_SMALL = 4 * KIB
"""Up to here a copy's time is that of starting and awaiting it: carrying takes a hundredth of it."""
_LARGE = 8 * MIB
"""From here on a rate is the link's: what starting takes is less than a tenth of the time."""
_MOST_BYTES = 4 * MIB
"""A file of copies is no larger: one of eight sizes has 17 kB."""
_MOST = 2**60
"""No number in such a file is as large."""


@dataclass(frozen=True, kw_only=True)
class CopyTime:
    """What one kind of copy took at one size: times in us, from its start until it was awaited."""

    way: str
    """``to host``, ``to device`` or ``both ways`` (one each at once, both awaited)."""
    host: str
    """``pinned`` or ``pageable`` host memory."""
    size_bytes: int
    """Bytes of each copy."""
    time_us: float
    """Median of the repetitions."""
    low_us: float
    """Their lower quartile."""
    high_us: float
    """Their upper quartile."""
    again: float
    """The same copy, timed a second time within each repetition: median of the ratios (A/A)."""
    again_low: float
    """Their lower quartile."""
    again_high: float
    """Their upper quartile."""

    @property
    def rate_GBps(self) -> float:  # noqa: N802  (the unit)
        """Bytes of one direction by time, GB/s."""
        return self.size_bytes / self.time_us / 1e3


@dataclass(frozen=True, kw_only=True)
class RegisterTime:
    """What registering a region took, and letting go of it; us."""

    what: str
    """What was registered, and how."""
    size_bytes: int
    """Bytes of the region."""
    register_us: float
    """Median."""
    low_us: float
    """Lower quartile."""
    high_us: float
    """Upper quartile."""
    deregister_us: float
    """Median."""


@dataclass(frozen=True, kw_only=True)
class MeasuredFigure:
    """A figure that copies tell."""

    key: str
    """As in a cluster file, such as ``device.copy_start``."""
    value: float
    """In `unit`."""
    low: float
    """Lower end of what was measured."""
    high: float
    """Upper end."""
    unit: str
    """``us`` or ``GB/s``."""
    how: str
    """What was measured for it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CopyCost:
    """What copies and registrations cost on a machine; a notebook shows it as tables."""

    copies: Sequence[CopyTime]
    """In the order of ways, host memories and sizes."""
    registrations: Sequence[RegisterTime]
    """In the order of kinds and sizes."""
    idle_us: float
    """What awaiting nothing takes, us: the measuring program's own share of each time."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Machine, driver, date."""
    notes: Sequence[str] = ()
    """Sentences of what could not be tried, and why."""

    @property
    def table(self) -> "pd.DataFrame":
        """One row for each way, host memory and size: the fields of `CopyTime`, and ``rate_GBps``."""
        import pandas as pd  # noqa: PLC0415  (a rank's process needs no tables)

        return pd.DataFrame([vars(time) | {"rate_GBps": time.rate_GBps} for time in self.copies])

    @property
    def figures(self) -> tuple[MeasuredFigure, ...]:
        """What these copies tell of a cluster's figures; of both directions, the slower one counts for a rate.

        A figure is left out that nothing was measured for: what starting takes needs pinned copies of at most 4 KiB, a rate
        copies of 8 MiB or more.
        """
        pinned, pageable = self._one_way("pinned"), self._one_way("pageable")
        figures = (
            self._start([time for time in pinned if time.size_bytes <= _SMALL]),
            _rate("device.copy_engine", "pinned", pinned),
            _rate("host.pageable_copy", "pageable", pageable),
        )
        return tuple(figure for figure in figures if figure is not None)

    def _start(self, small: Sequence[CopyTime]) -> MeasuredFigure | None:
        if not small:
            return None
        size = min(time.size_bytes for time in small)
        smallest = [time for time in small if time.size_bytes == size]
        return MeasuredFigure(
            key="device.copy_start",
            value=sum(time.time_us for time in smallest) / len(smallest),
            # A program in C awaits a copy without what this one needs for it.
            low=max(min(time.low_us for time in smallest) - self.idle_us, 0.0),
            high=max(time.high_us for time in smallest),
            unit="us",
            how=f"a pinned copy of {say_bytes(size)}, started and awaited; awaiting nothing takes {self.idle_us:.1f} us",
        )

    def save(self, path: str | Path) -> None:
        """Write a file of JSON that :meth:`read` reads.

        Raises
        ------
        RecordsError
            If it cannot be written.
        """
        with written(path, RecordsError) as file:
            put_on_disk(file, json.dumps(self.as_dict(), indent=1) + "\n")

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values that JSON can hold, units in the names."""
        return {
            "tool": TOOL,
            "manifest": dict(self.manifest),
            "idle_us": self.idle_us,
            "copies": [vars(time) for time in self.copies],
            "registrations": [vars(time) for time in self.registrations],
            "notes": list(self.notes),
        }

    @classmethod
    def read(cls, path: str | Path) -> "CopyCost":
        """Return what a file holds.

        Raises
        ------
        RecordsError
            If it cannot be read, or is no such file: it says which value is impossible.
        """
        text = read_text(path, what=f"file of {TOOL}", most_bytes=_MOST_BYTES, error=RecordsError)
        try:
            return _cost(json.loads(text))
        except KeyError as problem:
            reason: object = f"it lacks {problem}"
        except (ValueError, TypeError, AttributeError) as problem:
            reason = problem
        except RecursionError:
            reason = "its brackets are too deep"
        raise RecordsError(f"{path}: no file of {TOOL} --save ({reason})")

    _repr_html_ = shown

    def __repr__(self) -> str:
        return f"CopyCost({', '.join(self.manifest.get('devices', []))}: {say_count(len(self.copies), 'time')} of copies)"

    def _one_way(self, host: str) -> list[CopyTime]:
        return [time for time in self.copies if time.host == host and time.way != "both ways"]


def _rate(key: str, host: str, times: Sequence[CopyTime]) -> MeasuredFigure | None:
    large = [time for time in times if time.size_bytes >= _LARGE]
    if not large:
        return None
    rates = [time.rate_GBps for time in large]
    largest = [time.rate_GBps for time in large if time.size_bytes == max(copy.size_bytes for copy in large)]
    return MeasuredFigure(
        key=key,
        value=min(largest),
        low=min(rates),
        high=max(rates),
        unit="GB/s",
        how=f"{host} copies of {say_bytes(_LARGE)} and more, the slower direction",
    )


def _cost(plain: Any) -> CopyCost:
    """Return what the JSON of a file says; a file may come from anybody, and its texts reach a terminal."""
    return CopyCost(
        copies=[CopyTime(**_checked(CopyTime, entry)) for entry in plain["copies"]],
        registrations=[RegisterTime(**_checked(RegisterTime, entry)) for entry in plain["registrations"]],
        idle_us=_number("idle_us", plain["idle_us"]),
        manifest=_manifest(plain["manifest"]),
        notes=_texts("notes", plain["notes"]),
    )


def _checked(kind: type[CopyTime | RegisterTime], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry: numbers above 0, quartiles around their median, ways and memories that there are."""
    values: dict[str, Any] = {}
    for column in fields(kind):
        read = _text if column.type is str else _number
        values[column.name] = read(column.name, entry[column.name])
    for name, names in (("way", WAYS), ("host", HOSTS)):
        if values.get(name, names[0]) not in names:
            raise ValueError(f"{name}: {values[name]!r} is none of {', '.join(names)}")
    if not isinstance(values["size_bytes"], int):
        raise ValueError(f"size_bytes: {values['size_bytes']} is no whole number")  # noqa: TRY004  (as of any wrong value)
    middle = values["time_us" if kind is CopyTime else "register_us"]
    if not values["low_us"] <= middle <= values["high_us"]:
        raise ValueError(f"{middle} us is not from low_us to high_us")
    return values


def _number(name: str, value: Any) -> float:
    # Python counts True as 1.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _MOST:
        raise ValueError(f"{name}: {value!r} is not a number above 0")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is no text")  # noqa: TRY004  (as of any wrong value)
    return printable(value)


def _texts(name: str, values: Any) -> list[str]:
    if not isinstance(values, list):
        raise ValueError(f"{name}: {values!r} is no list of texts")  # noqa: TRY004  (as of any wrong value)
    return [_text(name, value) for value in values]


def _manifest(plain: Any) -> dict[str, Any]:
    """Return a manifest; what is shown of it is text."""
    if not isinstance(plain, dict):
        raise ValueError(f"manifest: {plain!r} is no table")  # noqa: TRY004  (as of any wrong value)
    shown_as = {"devices": _texts, "accelerators": _texts, "processor": _text, "date": _text}
    return {name: shown_as[name](name, value) if name in shown_as else value for name, value in plain.items()}


def holds_copies(text: str) -> bool:
    """Return whether a file that begins so says that it holds what copies cost."""
    return _TOLD.search(text[:_HEAD]) is not None


def is_copies(path: str | Path) -> bool:
    """Return whether a file says that it holds what copies cost."""
    try:
        file = Path(path).expanduser()
        if not file.is_file():  # opening a pipe would wait for its writer
            return False
        with file.open(encoding="utf-8", errors="replace") as text:
            return holds_copies(text.read(_HEAD))
    except (OSError, ValueError, RuntimeError):  # whoever reads it says why it cannot be read
        return False
