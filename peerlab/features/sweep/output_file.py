"""The output file of a sweep: a CSV table that grows as answers come, and from which a stopped sweep goes on."""

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from peerlab.base.errors import PeerlabError
from peerlab.base.locks import lock
from peerlab.base.outfile import written
from peerlab.base.textfile import read_bytes
from peerlab.features.sweep.csv_rows import SHARD, columns_of, header, lines, read_rows
from peerlab.features.sweep.question import Question

_MOST_BYTES = 2**30
"""More than two million rows."""
_NO_TABLES = (".html", ".htm", ".svg", ".png", ".pdf", ".json", ".toml", ".xlsx", ".parquet")
"""Endings that promise something else than rows of text."""


def held_in(path: Path) -> bytes:
    """Return what is in a file of a sweep.

    Raises
    ------
    PeerlabError
        If it cannot be read.
    """
    return read_bytes(
        path, most_bytes=_MOST_BYTES, too_large="that is no table of a sweep", error=PeerlabError
    )


class Store:
    """An output file that belongs to one question, and to one sweep at a time.

    Whole lines are appended with one write each time. What a killed sweep left behind is at worst a last line that was
    cut off: it is told, and that scenario answered again. A finished table is put in its order and replaces the file at
    once.
    """

    def __init__(self, path: str | Path, question: Question) -> None:
        self.path = Path(path)
        if self.path.suffix.lower() in _NO_TABLES:
            raise self._wrong(
                f"cannot be written: its rows are CSV, not {self.path.suffix}; give a name that ends in .csv"
            )
        self._columns = self._wanted = columns_of(question)
        self._shard = str(question.shard)
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
            self._take_over(question)
        except BaseException as problem:
            os.close(self._file)
            if isinstance(problem, OSError):
                raise self._wrong(f"cannot be continued: {problem.strerror or problem}") from None
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
        self.known |= fresh  # after writing: a row in `rows` is in the file, even if Ctrl+C comes between

    def check(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Refuse rows that differ from what the file says of the same scenarios.

        Raises
        ------
        PeerlabError
            If there are some.
        """
        if any(rows.get(key, row) != row for key, row in self.known.items()):
            raise self._wrong("has other figures for the same scenarios; give another file, or delete it")

    def finish(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Replace the file by the whole table, in its order, at once."""
        if not set(self._wanted) <= set(self._columns):  # begun before libraries
            self._columns = self._wanted
        text = header(self._columns) + self._lines(rows)
        if not self.path.exists() or text != held_in(self.path):  # deleted meanwhile, it is written again
            with written(self.path, PeerlabError) as file:
                file.write_bytes(text)

    def _wrong(self, what: str) -> PeerlabError:
        return PeerlabError(f"output: {self.path} {what}")

    def _take_over(self, question: Question) -> None:
        """Read the file's rows, and refuse a file of another question."""
        if not self.path.is_file():
            raise self._wrong("is not a file that can be continued; give the name of a .csv file")
        self._lock()
        held = held_in(self.path)
        if header(self._columns).startswith(held):  # nothing, or killed in the first line
            os.ftruncate(self._file, 0)
            self._append(header(self._columns))
            return
        names = {case.fingerprint for case in question.cases}
        rows_of_file = read_rows(held, self._columns, names, self._wrong)
        self._columns = rows_of_file.columns  # the order in which its fields were given
        self.known = self._ours(rows_of_file.rows, question)
        if rows_of_file.length < len(held):
            warnings.warn(
                f"the last line of {self.path} was cut off; it is left out, and its scenario answered again",
                stacklevel=2,
            )
            os.ftruncate(self._file, rows_of_file.length)

    def _ours(self, rows: Mapping[str, dict[str, Any]], question: Question) -> dict[str, dict[str, Any]]:
        """Return rows as they were added, or refuse those of another question."""
        shards = {row.pop(SHARD, self._shard) for row in rows.values()} - {self._shard}
        if shards:
            raise self._wrong(
                f"holds rows of shard {min(map(str, shards))}, and this is {self._shard}; give each shard a file of its own"
            )
        options = {case.fingerprint: case for case in question.cases}
        strangers = len(rows.keys() - options.keys())
        if strangers:
            raise self._wrong(
                f"holds {strangers} of {len(rows)} rows of another question (another value, cluster or version of "
                f"peerlab); give another file, or delete it"
            )
        return {key: question.whole(options[key], row) for key, row in rows.items()}  # JSON knows no tuples

    def _lock(self) -> None:
        try:
            lock(self._file)
        except BlockingIOError:
            raise self._wrong(
                "is being written by another sweep; wait for it, or give another file"
            ) from None

    def _append(self, lines: bytes) -> None:
        try:
            # A write may take only a part, as where a disk is nearly full.
            while lines:
                lines = lines[os.write(self._file, lines) :]
        except OSError as problem:
            raise self._wrong(f"cannot be written: {problem.strerror or problem}") from None

    def _lines(self, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> bytes:
        return lines(self._columns, ((key, {**row, SHARD: self._shard}) for key, row in rows))
