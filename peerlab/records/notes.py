"""What readers say about a log: what was damaged, and who took part."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from peerlab.base.errors import RecordsError
from peerlab.records.text import KEEP, Line, Log, quote

MOST_ROWS = 20_000
"""A log with more is refused: a table has some dozens, and of more nobody would know what they are."""
_NAMED = 5
"""Lines named one by one; more are counted."""
Note = tuple[int, str]
T = TypeVar("T")


class Damage:
    """What had to be left out of a log, what in it contradicts itself, and failures that the log itself reports."""

    def __init__(self, log: Log, unit: str = "line") -> None:
        self._log = log
        self._unit = unit
        self._tried = 0
        self._rows: list[Note] = []
        self._doubts: list[Note] = []
        self._failures: list[Note] = []

    def take(self, place: int, read: Callable[[], T]) -> T | None:
        """Return what `read` makes of a row; one that is damaged is noted, and left out.

        Raises
        ------
        RecordsError
            If the log has more rows than any table.
        """
        self._tried += 1
        if self._tried > MOST_ROWS:
            raise self._log.fail(f"more than {MOST_ROWS} rows; {KEEP}")
        try:
            return read()
        except RecordsError as problem:
            self.row(place, str(problem))
            return None

    def row(self, place: int, why: str) -> None:
        """Note a row that is left out: it is cut off or damaged."""
        self._rows.append((place, why))

    def doubt(self, place: int, why: str) -> None:
        """Note a row that is kept, and why it should not be trusted; nothing where there is no reason."""
        if why:
            self._doubts.append((place, why))

    def said(self, line: Line, what: str) -> None:
        """Note a failure that the log reports."""
        self._failures.append((line.number, quote(what)))

    def first(self) -> str:
        """Return the first of all notes as the end of a sentence."""
        notes = sorted([*self._rows, *self._failures])
        return f"; {self._unit} {notes[0][0]}: {notes[0][1]}" if notes else ""

    def sentences(self) -> list[str]:
        """Return one sentence for each note, or a count of many."""
        return [
            *self._lines_of(sorted(self._rows), "left out"),
            *self._lines_of(sorted(self._doubts), "doubtful"),
            *self._lines_of(self._failures, "the log reports"),
        ]

    def _lines_of(self, notes: Sequence[Note], what: str) -> list[str]:
        named = (
            len(notes) if len(notes) <= _NAMED + 1 else _NAMED
        )  # of a single one more, its line says as much
        lines = [f"{self._unit} {number}: {what}: {why}" for number, why in notes[:named]]
        rest = [number for number, _ in notes[named:]]
        more = f"{self._unit}s {min(rest)} to {max(rest)}: {len(rest)} more, {what}" if rest else ""
        return [*lines, more] if rest else lines


def describe_ranks(ranks: int | None, hosts: Sequence[str], nodes: int | None) -> dict[str, Any]:
    """Return what a manifest says about who took part; `hosts` may name a host once for each of its ranks."""
    distinct = list(dict.fromkeys(hosts))
    nodes = len(distinct) or nodes
    even = ranks and nodes and ranks % nodes == 0
    return {
        "hosts": distinct,
        "ranks": ranks,
        "nodes": nodes,
        "ranks_per_node": ranks // nodes if ranks and nodes and even else None,
    }
