"""A profiler's trace as it lies on a disk: bounded while it is read, unpacked if need be, and without its NaNs, which are no JSON."""

import gzip
import re
from collections.abc import Callable
from typing import BinaryIO, Protocol

from peerlab.base.errors import RecordsError
from peerlab.base.units import MIB, say_bytes

TOOL = "PyTorch's profiler"
LOOK = 2**16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Of UTF-8, with which some editors begin a file."""
_LONGEST_EVENT = 32 * MIB
_LONGEST_TEXT = MIB
MOST_UNPACKED = 4 * 2**30
"""Bytes of a compressed trace; a larger one is given as it is, or with fewer steps."""
_NO_NUMBER = re.compile(rb"(?:^|(?<=[:,\[\s]))-?(?:NaN|Infinity)(?=[,\]}\s])")
_BEFORE_VALUE = re.compile(rb".*[:,\[\s]", re.DOTALL)
_LONGEST_VALUE = 16
"""Bytes of ``-Infinity`` with what stands around it, and some more."""
_LONGEST_NUMBER = 4000
_LONG = re.compile(rb"[0-9]{%d}" % _LONGEST_NUMBER)
"""A number that Python's int refuses, which ends the process inside ijson (its limit is 4300 digits)."""
_DEEP = re.compile(rb"""(?:[\[{]\s*(?:"[^"]{0,99}"\s*:\s*)?){100}""")
"""Deeper than any event is nested; reading on would take minutes."""


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class WatchedTrace:
    """A file whose NaNs become nulls, and which gives up when an event, a text or all of it is longer than any is.

    It calls `tell` after every piece that it reads.
    """

    def __init__(self, raw: BinaryIO, name: str, tell: Callable[[], None] = lambda: None) -> None:
        zipped = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        self.file: _Readable = gzip.GzipFile(fileobj=raw) if zipped else raw
        self._tell = tell
        # A plain file is as long as it is; a zipped one may become anything.
        self.name, self._most_bytes = name, MOST_UNPACKED if zipped else None
        self.since_event = 0
        self.no_numbers = 0
        self._since_text, self._read = 0, 0
        self._held, self._passed = b"", b""

    def begin(self) -> bytes:
        """Return what the file begins with, which is read again; spaces and a byte order mark are left out."""
        self._held = self.file.read(LOOK).removeprefix(BYTE_ORDER_MARK)
        return self._held.lstrip()

    def read(self, size: int = -1) -> bytes:
        """Return about so many bytes; none at the end."""
        while size:
            chunk = self.file.read(size)
            self._tell()
            self._bound(chunk)
            text = self._held + chunk
            # Digits and brackets may go on from one piece to the next.
            seen = self._passed + text
            if _DEEP.search(seen):
                raise RecordsError(f"{self.name}: nested more than 100 deep; that is no trace of {TOOL}")
            if _LONG.search(seen):
                raise RecordsError(
                    f"{self.name}: a number of thousands of digits; that is no trace of {TOOL}"
                )
            cut = _whole_values(text) if chunk else len(text)
            self._held, self._passed = text[cut:], (self._passed + text[:cut])[-_LONGEST_NUMBER:]
            out, number = _NO_NUMBER.subn(b"null", text[:cut])
            self.no_numbers += number
            # Nothing means the end to ijson, so an empty piece is not given on.
            if out or not chunk:
                return out
        return b""

    def _bound(self, chunk: bytes) -> None:
        """Give up where more comes than any trace has."""
        self.since_event += len(chunk)
        if self.since_event > _LONGEST_EVENT:
            raise RecordsError(
                f"{self.name}: {say_bytes(_LONGEST_EVENT)} without an event; that is no trace of {TOOL}"
            )
        self._read += len(chunk)
        if self._most_bytes and self._read > self._most_bytes:
            raise RecordsError(
                f"{self.name}: more than {say_bytes(self._most_bytes)} when it is unpacked; record fewer steps (schedule(active=3))"
            )
        # A quotation mark behind a backslash ends no text.
        ends = chunk.replace(b'\\"', b"")
        quote = ends.rfind(b'"')
        self._since_text = len(ends) - quote if quote >= 0 else self._since_text + len(ends)
        if self._since_text > _LONGEST_TEXT:
            raise RecordsError(
                f"{self.name}: a text of more than {say_bytes(_LONGEST_TEXT)}; that is no trace of {TOOL}"
            )


def _whole_values(text: bytes) -> int:
    """Return up to where no NaN is cut in two: to the last place where one can begin, or all if that is too far away."""
    before = _BEFORE_VALUE.match(text, max(len(text) - _LONGEST_VALUE, 0))
    return before.end() if before else len(text)
