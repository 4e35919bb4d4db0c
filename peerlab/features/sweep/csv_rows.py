"""Rows of a sweep as lines of a CSV file, and back, exactly."""

import csv
import io
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from peerlab.answer.run import ITERATION_TIMES
from peerlab.base.errors import PeerlabError
from peerlab.features.sweep.question import ERROR, Question
from peerlab.features.sweep.shards import Shard
from peerlab.library.library_words import LIBRARY_FIGURES

FINGERPRINT = "fingerprint"
"""Last column of the file: what the answer in this row depends on, in short."""
SHARD = "shard"
"""Column before it in the file of a shard: which of how many it is."""

_LENGTH = 16


def columns_of(question: Question) -> list[str]:
    """Return the columns of a question's file."""
    return [*question.columns, *[SHARD] * (question.shard is not None), FINGERPRINT]


@dataclass(frozen=True)
class RowsOfFile:
    """What stands in a file."""

    columns: list[str]
    """Names of its columns, in their order."""
    rows: dict[str, dict[str, Any]]
    """Fingerprint to row."""
    length: int
    """Bytes of its whole lines; what follows was cut off."""


def read_rows(
    held: bytes, columns: Sequence[str], asked: Collection[str], wrong: Callable[[str], PeerlabError]
) -> RowsOfFile:
    """Return the rows of a file that should have these columns, in whatever order; `Question.whole` adds what an old one lacks.

    Parameters
    ----------
    asked:
        The fingerprints of the question; without its columns a file that has one of them is told from a stranger's.

    Raises
    ------
    PeerlabError
        As `wrong` makes it of what is wrong: it is no table of a sweep, has other columns, or is damaged.
    """
    # What follows the last line's end was cut off when a sweep was killed.
    whole = held[: held.rfind(b"\n") + 1]
    try:
        head, *records = list(csv.reader(io.StringIO(whole.decode("utf-8-sig"), newline=""))) or [[]]
    except UnicodeDecodeError:
        raise wrong("is not a table of a sweep; give another file") from None
    except csv.Error as problem:
        raise wrong(f"is damaged ({problem}); give another file, or delete it") from None
    if head[-1:] != [FINGERPRINT]:
        raise wrong("is not a table of a sweep; give another file, or delete it")
    columns = _there(columns, head)
    if sorted(head) != sorted(columns):
        ours = any(record and record[-1] in asked for record in records)
        raise wrong(_other_columns(head, columns, ours=ours))
    rows: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(records, 1):
        if len(record) != len(head) or len(record[-1]) != _LENGTH:
            raise wrong(f"is damaged in row {number}; delete that row, or give another file")
        row = {name: read(text) for name, text in zip(head[:-1], record, strict=False)}
        if not _sound(row):
            raise wrong(f"is damaged in row {number}: no figures; delete that row, or give another file")
        if SHARD in row and not _is_shard(row[SHARD]):
            raise wrong(f"is damaged in row {number}: no shard; delete that row, or give another file")
        if rows.setdefault(record[-1], row) != row:
            raise wrong(
                f"has other figures in row {number} than before for the same scenario; delete the wrong row, or give another file"
            )
    return RowsOfFile(head, rows, len(whole))


def _there(columns: Sequence[str], head: Sequence[str]) -> list[str]:
    """Return the columns that a file should have; one of before libraries lacks those that say what they did."""
    return [name for name in columns if name in head or name not in LIBRARY_FIGURES]


def header(columns: Sequence[str]) -> bytes:
    """Return the first line of a file."""
    return _csv([columns])


def lines(columns: Sequence[str], rows: Iterable[tuple[str, Mapping[str, Any]]]) -> bytes:
    """Return rows, each after its fingerprint, as lines."""
    return _csv([*(cell(row[name]) for name in columns[:-1]), key] for key, row in rows)


def cell(value: Any) -> str:
    """Return a cell that :func:`read` turns back into exactly this value: text as it is, anything else as JSON.

    >>> [cell(v) for v in (None, "NIC send", 2.5e-05, True, [1.5], "8")]
    ['', 'NIC send', '2.5e-05', 'true', '[1.5]', '"8"']
    """
    if value is None:
        return ""
    # Text that would read back as a number or the like is written as JSON, in quotes.
    if isinstance(value, str) and read(value) == value and value:
        return value
    return json.dumps(value)


def read(text: str) -> Any:
    """Return the value of a cell."""
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _sound(row: Mapping[str, Any]) -> bool:
    """Return whether a row has the figures of a run, or a reason why there are none."""
    if row[ERROR] is not None:
        return isinstance(row[ERROR], str)
    numbers = [row[name] for name in ("time_s", "busbw_GBps", "wire_busy_share")]
    return all(isinstance(n, (int, float)) and not isinstance(n, bool) and 0 <= n < math.inf for n in numbers)


def _is_shard(value: Any) -> bool:
    """Return whether a cell says a shard as a sweep wrote it, which is text."""
    try:
        return isinstance(value, str) and bool(Shard.read(value))
    except PeerlabError:
        return False


def _csv(records: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(records)
    return text.getvalue().encode()


def _other_columns(head: Sequence[str], wanted: Sequence[str], *, ours: bool) -> str:
    """Say how columns differ; `ours` is whether the file has rows of the question."""
    if (SHARD in head) != (SHARD in wanted):
        held, text = ("a shard of a sweep" if SHARD in names else "a whole sweep" for names in (head, wanted))
        return f"holds {held}, not {text}; give another file"
    if sorted(head) == sorted([*wanted, ITERATION_TIMES]):
        if ours:
            return (
                f"has the column {ITERATION_TIMES}; ask for it too (iteration_times=True, or --iteration-times with --json "
                "or --output), or give another file"
            )
        # every file of 0.1.0 has the column, and figures of another model
        return "was written by another version of peerlab, such as 0.1.0, or by another sweep; give another file, or delete it"
    more = [name for name in head if name not in wanted]
    fewer = [name for name in wanted if name not in head]
    sentences = [f"it has {', '.join(more)}"] * bool(more) + [f"it lacks {', '.join(fewer)}"] * bool(fewer)
    return (
        f"holds a sweep of other fields or columns: {'; '.join(sentences)}; give another file, or delete it"
    )
