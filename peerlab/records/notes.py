"""What readers say about a log: what was damaged, and who took part."""

from collections.abc import Sequence
from typing import Any

from peerlab.records.text import Line, quote

_NAMED = 5
"""Lines named one by one; more are counted."""


class Damage:
    """What had to be left out of a log, and failures that the log itself reports."""

    def __init__(self, unit: str = "line") -> None:
        self._unit = unit
        self._rows: list[tuple[int, str]] = []
        self._said: list[tuple[int, str]] = []

    def row(self, place: int, why: str) -> None:
        """Note a row that is cut off or damaged."""
        self._rows.append((place, why))

    def said(self, line: Line, what: str) -> None:
        """Note a failure that the log reports."""
        self._said.append((line.number, quote(what)))

    def first(self) -> str:
        """Return the first of all notes as the end of a sentence."""
        notes = sorted([*self._rows, *self._said])
        return f"; {self._unit} {notes[0][0]}: {notes[0][1]}" if notes else ""

    def sentences(self) -> list[str]:
        """Return one sentence for each note, or a count of many."""
        return [
            *self._told(self._rows, "left out"),
            *self._told(self._said, "the log reports"),
        ]

    def _told(self, notes: Sequence[tuple[int, str]], what: str) -> list[str]:
        told = [f"{self._unit} {number}: {what}: {why}" for number, why in notes[:_NAMED]]
        rest = notes[_NAMED:]
        more = f"{self._unit}s {rest[0][0]} to {rest[-1][0]}: {len(rest)} more, {what}" if rest else ""
        return [*told, more] if rest else told


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
