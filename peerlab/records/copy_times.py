"""What copies between device and host memory cost, as `peerlab measure copies` measured it, and the file that keeps it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerlab.base.display import shown
from peerlab.base.errors import RecordsError
from peerlab.base.outfile import put_on_disk, written
from peerlab.base.units import MIB, say_bytes, say_count

if TYPE_CHECKING:
    import pandas as pd

TOOL = "peerlab measure copies"
"""What such a file says of itself."""
_LARGE = 8 * MIB
"""From here on a rate is the link's: what starting takes is less than a twentieth of the time."""


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
    """What could not be tried, and why."""

    @property
    def table(self) -> "pd.DataFrame":
        """One row for each way, host memory and size: the fields of `CopyTime`, and ``rate_GBps``."""
        import pandas as pd  # noqa: PLC0415  (a rank's process needs no tables)

        return pd.DataFrame([vars(time) | {"rate_GBps": time.rate_GBps} for time in self.copies])

    @property
    def figures(self) -> tuple[MeasuredFigure, ...]:
        """Return what these copies tell of a cluster's figures; of both directions, the slower one counts for a rate."""
        pinned, pageable = self._one_way("pinned"), self._one_way("pageable")
        smallest = [time for time in pinned if time.size_bytes == min(one.size_bytes for one in pinned)]
        starts = [time.time_us for time in smallest]
        start = MeasuredFigure(
            key="device.copy_start",
            value=sum(starts) / len(starts),
            # A program in C awaits a copy without what this one needs for it.
            low=min(time.low_us for time in smallest) - self.idle_us,
            high=max(time.high_us for time in smallest),
            unit="us",
            how=f"a pinned copy of {say_bytes(smallest[0].size_bytes)}, started and awaited; awaiting nothing takes {self.idle_us:.1f} us",
        )
        rates = [
            _rate("device.copy_engine", "pinned", pinned),
            _rate("host.pageable_copy", "pageable", pageable),
        ]
        return (start, *(rate for rate in rates if rate is not None))

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
            If it cannot be read, or is no such file.
        """
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(
                copies=[CopyTime(**one) for one in plain["copies"]],
                registrations=[RegisterTime(**one) for one in plain["registrations"]],
                idle_us=float(plain["idle_us"]),
                manifest=plain["manifest"],
                notes=plain["notes"],
            )
        except OSError as problem:
            raise RecordsError(f"{path}: {problem.strerror}") from None
        except (ValueError, KeyError, TypeError) as problem:
            raise RecordsError(f"{path}: no file of {TOOL} --save ({problem})") from None

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
    largest = [time.rate_GBps for time in large if time.size_bytes == max(one.size_bytes for one in large)]
    return MeasuredFigure(
        key=key,
        value=min(largest),
        low=min(rates),
        high=max(rates),
        unit="GB/s",
        how=f"{host} copies of {say_bytes(_LARGE)} and more, the slower direction",
    )


def is_copies(path: str | Path) -> bool:
    """Return whether a file says that it holds what copies cost."""
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return f'"tool": "{TOOL}"' in file.read(200)
    except OSError:
        return False
