"""Many parcels of the page in little space: equal parts are kept once, times are rounded, all is compressed.

`pack` returns text; the page undoes it (``page/album.js``). Compressed is a document in JSON, behind its length, and
then the columns of all rows. In the document ``{"$": n}`` stands for part n of ``pool``, and ``{"#": n}`` for column n of
``columns``: ``[place, count, bytes per value, unit, from]``. A column holds differences from row to row, or, where `from` is not
-1, from that column; negative ones are folded in (0, -1, 1, -2, ...). Times count in units of `rounding_ns`.
"""

# States are packed, not sampled. Equal parts of parcels are kept once, rows as differences in one, two or
# four bytes, times to a millionth of the run, and all is deflated (every browser inflates it). 480 states
# are 3 MB, of which BokehJS is 1.3 MB. The page's policy names its scripts by their hashes; nothing else
# runs, nothing is fetched.

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

PARTS = 2e5
"""Times are rounded to the next of 1, 2, 5, 10, ... ns that is no shorter than the run over this."""
_SMALLEST = 40
"""Characters of JSON below which a part is written where it is used."""
_TIMES = {
    "enter": "",
    "start": "enter",
    "queued": "start",
    "freed": "start",
    "sent": "start",
    "left": "sent",
    "received": "sent",
    "landed": "received",
    "turned": "received",
    "through": "turned",
    "done": "start",
    "end": "through done start",
    "until": "through",
}
"""Columns that hold times: of the columns named, a row's value is kept as its difference from the first that rows have."""


def rounding_ns(length_us: float) -> float:
    """Return what the times of a run of this length are rounded to, nanoseconds; a time is at most twice as far off."""
    # In steps of 1, 2, 5: from a 2 it is two and a half times to the next.
    finest, step = length_us * 1e3 / PARTS, 1.0
    while step < finest:
        step *= 2.5 if f"{step:.0f}"[0] == "2" else 2
    return step


class Packing:
    """Collects parcels; `text` is what the page gets."""

    def __init__(self) -> None:
        self._pool: list[Any] = []
        self._known: dict[str, int] = {}
        self._columns: list[list[float]] = []
        self._known_columns: dict[tuple[bytes, int, float, int], int] = {}
        self._bytes = bytearray()

    def add(self, parcel: Mapping[str, Any], length_us: float) -> Any:
        """Return what stands for a parcel of a run of this length (microseconds) in the document."""
        # Times are packed in microseconds.
        return self._fold(parcel, rounding_ns(length_us) / 1e3)

    def text(self, document: Mapping[str, Any]) -> str:
        """Return the document, with all that was added, compressed (raw deflate), in base64."""
        whole = {**document, "pool": self._pool, "columns": self._columns}
        head = json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()
        head += b" " * (-len(head) % 4)
        # -15: raw, without zlib's head and checksum, as a browser's `deflate-raw` takes it.
        squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = squeeze.compress(len(head).to_bytes(4, "little") + head + bytes(self._bytes))
        return b64encode(packed + squeeze.flush()).decode()

    def _fold(self, value: Any, unit_us: float) -> Any:
        if isinstance(value, Mapping):
            if "arrays" in value:
                value = {**value, "arrays": self._rows(value["arrays"], unit_us)}
            return self._once({str(key): self._fold(part, unit_us) for key, part in value.items()})
        if isinstance(value, list | tuple):
            return self._once([self._fold(part, unit_us) for part in value])
        return _number(value) if isinstance(value, float) else value

    def _once(self, value: Any) -> Any:
        """Return the value, or what stands for it in the pool."""
        # Equal parts have equal text: dictionaries keep their order, and come in the same one.
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        if len(text) < _SMALLEST:
            return value
        if text not in self._known:
            self._known[text] = len(self._pool)
            self._pool.append(value)
        return {"$": self._known[text]}

    def _rows(self, arrays: Mapping[str, bytes], unit_us: float) -> dict[str, dict[str, int]]:
        times = {
            name: np.frombuffer(arrays[name], "<f4").astype(np.float64) for name in _TIMES if name in arrays
        }
        first = next(iter(times.values()))
        # all are rounded from a row's first time on: what lasts equally long is equally many units then
        units = {name: np.rint((values - first) / unit_us) for name, values in times.items()}
        folded: dict[str, dict[str, int]] = {}
        for name, values in units.items():
            base = next((column for column in _TIMES[name].split() if column in times), "")
            since = folded[base]["#"] if base else -1
            kept = values - units[base] if base else np.diff(np.rint(first / unit_us), prepend=0)
            folded[name] = {"#": self._column(kept, unit_us, since)}
        for name, raw in arrays.items():
            if name not in times:
                whole = np.frombuffer(raw, "<i4").astype(np.float64)
                folded[name] = {"#": self._column(np.diff(whole, prepend=0), 0, -1)}
        return folded

    def _column(self, differences: NDArray[np.float64], unit_us: float, since: int) -> int:
        whole = differences.astype(np.int64)
        # The page undoes it: even numbers are 0 and more, odd ones below 0 (`page/album.js`).
        folded = np.where(whole < 0, -2 * whole - 1, 2 * whole)
        width = next(w for w in (1, 2, 3, 4) if folded.max(initial=0) < 256**w)
        # the lowest bytes of all counts first, then the next: bytes that are alike compress better side by side
        raw = folded.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width].T.tobytes()
        key = (raw, width, unit_us, since)
        if key not in self._known_columns:
            self._known_columns[key] = len(self._columns)
            self._columns.append([len(self._bytes), len(folded), width, unit_us, since])
            self._bytes += raw
        return self._known_columns[key]


def _number(value: float) -> float | None:
    """Return a number with as many digits as anything here means; nothing for what is none."""
    return float(f"{value:.12g}") if isfinite(value) else None
