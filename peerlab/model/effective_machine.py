"""The machine as one question meets it, and how each of its figures came about.

Five hands turn a cluster's file into the figures that engines use: where its NICs hang, its library, its transport, what the library does
with this message, and the fields of the scenario itself. The first three bring figures that are written in files, so a `Figure` says who
wrote it (`Figure.origin`). The others compute: each `Change` says what is done to the number, by whom, and why. Numbers change by
applying changes and in no other way, so what `EffectiveMachine.history` tells of a figure is what the engines use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from peerlab.model.hardware import FIGURE_FIELDS, Cluster, Figure, internal_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is done to one number, in peerlab's own units: picoseconds, bytes, bytes per second."""

    how: Literal["is", "plus", "times"]
    """Whether `amount` takes its place, is added to it, or multiplies it."""
    amount: float | None
    """None: there is no such limit; only *is* can say so."""
    by: str
    """Who does it, such as ``library HCL over host NICs``."""
    why: str
    figures: tuple[str, ...] = ()
    """Keys of the figures that `amount` was reckoned from."""
    basis: str = ""
    """What the number counts from then on, if that is another than before: a device's two NICs together."""

    def of(self, before: float | None) -> float | None:
        """Return the number after it; nothing is added to as to zero.

        >>> Change(how="plus", amount=500, by="transport RoCE v2", why="a switch more").of(1000)
        1500
        """
        if self.how == "is":
            return self.amount
        amount = self.amount or 0
        return (before or 0) + amount if self.how == "plus" else (before or 0) * amount


Changes = Mapping[str, Sequence[Change]]
"""What is done to fields of a `Cluster`, in this order."""


def changed(cluster: Cluster, changes: Changes) -> Cluster:
    """Return a cluster with changes applied; itself, if there are none."""
    values: dict[str, Any] = {}
    for field, field_changes in changes.items():
        value = getattr(cluster, field)
        for change in field_changes:
            # Nothing is rounded between changes: `Cluster` rounds what comes out, once.
            value = change.of(value)
        if value != getattr(cluster, field):
            values[field] = value
    return replace(cluster, **values) if values else cluster


@dataclass(frozen=True, kw_only=True)
class EffectiveMachine:
    """Every figure as one question meets it, with its history."""

    written: tuple[Cluster, ...]
    """The cluster as it was given; with its NICs where the scenario hangs them; with its library's figures; with its transport's."""
    changes: Changes
    """What is done to the last of these, by field."""
    cluster: Cluster
    """What the engines read."""

    def history(self, key: str) -> "list[Figure | Change]":
        """Return who wrote a figure, from first to last, then what was done to it; none: nobody says anything about it."""
        field = FIGURE_FIELDS[key]
        told: list[Figure | Change] = []
        for cluster in self.written:
            figure = cluster.figures.get(key)
            if figure is None:
                told.clear()  # another library, or another transport, has no such figure
            elif not told or (told[-1], getattr(told[-1], "origin", "")) != (figure, figure.origin):
                told.append(figure)
        whole = getattr(self.written[-1], field)
        if whole is not None and (not told or internal_value(self.written[-1].figures[key]) != whole):
            # as after dataclasses.replace(cluster, uplink_Bps=...), which changes the number and not what is written of it
            told.append(Change(how="is", amount=whole, by="Python", why="the Cluster was given with it"))
        return told + list(self.changes.get(field, ()))
