"""The output file of a sweep: a CSV table that grows as answers come, and from which a stopped sweep goes on."""

import csv
import io
import json
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from peerlab.errors import PeerlabError
from peerlab.locks import lock
from peerlab.study.question import ERROR, Question

FINGERPRINT = "fingerprint"
"""Last column of the file: what the answer in this row depends on, in short."""

_LENGTH = 16


def written(value: Any) -> str:
    """Return a cell that :func:`read` turns back into exactly this value: text as it is, anything else as JSON.

    >>> [written(v) for v in (None, "NIC send", 2.5e-05, True, [1.5], "8")]
    ['', 'NIC send', '2.5e-05', 'true', '[1.5]', '"8"']
    """
    if value is None:
        return ""
    if isinstance(value, str) and read(value) == value and value:
        return value
    return json.dumps(value)


def read(cell: str) -> Any:
    """Return the value of a cell."""
    if not cell:
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


class Store:
    """An output file that belongs to one question, and to one sweep at a time.

    Whole lines are appended with one write each time. What a killed sweep left behind is at worst a last line that was
    cut off: it is told, and that scenario answered again. A finished table is put in its order and replaces the file at
    once.
    """

    def __init__(self, path: str | Path, question: Question) -> None:
        self.path = Path(path)
        self._columns = [*question.columns, FINGERPRINT]
        self.known: dict[str, dict[str, Any]] = {}
        """Fingerprint to row, as read from the file and added since."""
        try:
            self.path = self.path.expanduser().resolve()
            self._file = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666
            )
        except (OSError, ValueError, RuntimeError) as problem:
            raise self._wrong(f"cannot be written: {getattr(problem, 'strerror', '') or problem}") from None
        try:
            self._take_over({case.fingerprint: case.shown for case in question.cases})
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def add(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Append rows, by fingerprint, unless they are there."""
        fresh = {key: dict(row) for key, row in rows.items() if key not in self.known}
        self._append(self._lines(fresh.items()))
        self.known |= fresh  # after it: what is said to be in the file is there, even if Ctrl+C comes between

    def finish(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Replace the file by the whole table, in its order, at once."""
        text = self._header() + self._lines(rows)
        new = self.path.with_name(self.path.name + ".new")
        try:
            if self.path.read_bytes() == text:
                return
            with new.open("wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            new.chmod(self.path.stat().st_mode & 0o777)
            new.replace(self.path)
        except OSError as problem:
            with suppress(OSError):
                new.unlink()
            raise self._wrong(f"cannot be written: {problem.strerror or problem}") from None

    def _wrong(self, what: str) -> PeerlabError:
        return PeerlabError(f"output: {self.path} {what}")

    def _take_over(self, asked: Mapping[str, Mapping[str, Any]]) -> None:
        """Read what is there, and refuse what is not ours; what was asked is by fingerprint."""
        if not self.path.is_file():
            raise self._wrong("is not a file that can be continued; give the name of a .csv file")
        self._lock()
        try:
            text = self.path.read_bytes().decode()
        except UnicodeDecodeError:
            raise self._wrong("is not a table of a sweep; give another file") from None
        header = self._header().decode()
        if header.startswith(text):  # nothing, or killed in the first line
            os.ftruncate(self._file, 0)
            self._append(self._header())
            return
        self._read(text, asked)

    def _lock(self) -> None:
        try:
            lock(self._file)
        except BlockingIOError:
            raise self._wrong(
                "is being written by another sweep; wait for it, or give another file"
            ) from None

    def _read(self, text: str, asked: Mapping[str, Mapping[str, Any]]) -> None:
        whole = text[: text.rfind("\n") + 1]
        try:
            found, *records = list(csv.reader(io.StringIO(whole, newline=""))) or [[]]
        except csv.Error as problem:
            raise self._wrong(f"is damaged ({problem}); give another file, or delete it") from None
        if found[-1:] != [FINGERPRINT]:
            raise self._wrong("is not a table of a sweep; give another file, or delete it")
        if sorted(found) != sorted(self._columns):
            raise self._wrong(f"holds a sweep of other fields or columns: {_without(found, self._columns)}")
        self._columns = found  # the order in which its fields were given
        for number, record in enumerate(records, 1):
            if len(record) != len(found) or len(record[-1]) != _LENGTH:
                raise self._wrong(f"is damaged in row {number}; delete that row, or give another file")
            row = {name: read(cell) for name, cell in zip(found[:-1], record, strict=False)}
            if not _sound(row):
                raise self._wrong(
                    f"is damaged in row {number}: no figures; delete that row, or give another file"
                )
            self.known[record[-1]] = {**row, **asked.get(record[-1], {})}  # JSON knows no tuples
        strangers = len(self.known.keys() - asked.keys())
        if strangers:
            raise self._wrong(
                f"holds {strangers} of {len(self.known)} rows of another question (another value, cluster or version of "
                f"peerlab); give another file, or delete it"
            )
        if whole != text:
            warnings.warn(
                f"the last line of {self.path} was cut off; it is left out, and its scenario answered again",
                stacklevel=2,
            )
            os.ftruncate(self._file, len(whole.encode()))

    def _append(self, lines: bytes) -> None:
        try:
            while lines:
                lines = lines[os.write(self._file, lines) :]
        except OSError as problem:
            raise self._wrong(f"cannot be written: {problem.strerror or problem}") from None

    def _header(self) -> bytes:
        return _csv([self._columns])

    def _lines(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> bytes:
        names = self._columns[:-1]
        return _csv([*(written(row[name]) for name in names), key] for key, row in rows)


def _sound(row: Mapping[str, Any]) -> bool:
    """Return whether a row has the figures of a run, or a reason why there are none."""
    if row[ERROR] is not None:
        return isinstance(row[ERROR], str)
    numbers = [row[name] for name in ("time_s", "busbw_GBps", "wire_busy_share")]
    return all(isinstance(n, (int, float)) and not isinstance(n, bool) and 0 <= n < math.inf for n in numbers)


def _csv(records: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(records)
    return text.getvalue().encode()


def _without(found: Sequence[str], ours: Sequence[str]) -> str:
    more = [name for name in found if name not in ours]
    fewer = [name for name in ours if name not in found]
    said = [f"it has {', '.join(more)}"] * bool(more) + [f"it lacks {', '.join(fewer)}"] * bool(fewer)
    return "; ".join(said) + "; give another file, or delete it"
