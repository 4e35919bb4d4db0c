"""The map of choices: sizes across, nodes up, what the library takes in each cell, and what would be faster."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from peerlab.base.display import shown
from peerlab.base.units import say_bytes, say_count, say_range
from peerlab.model.hardware import Cluster
from peerlab.question.scenario import Scenario

WORTH = 1.05
"""A choice that is faster by less is no news."""


@dataclass(frozen=True, kw_only=True)
class MapCell:
    """One size on so many nodes."""

    nodes: int
    size: int
    """Bytes of the message."""
    algorithm: str
    """What the library takes, such as ``tree``."""
    protocol: str
    time_s: float
    """Simulated, seconds."""
    faster: tuple[str, str] | None
    """Algorithm and protocol that would be faster by `WORTH` or more; None: none would."""
    gain: float
    """How many times as fast it would be; 1 where none would."""
    least: float
    """The same where both laws are off by their errors, at the worse end."""

    @property
    def beyond_error(self) -> bool:
        """Whether it would be faster even so."""
        return self.least > 1

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**vars(self), "beyond_error": self.beyond_error}


@dataclass(frozen=True, kw_only=True, repr=False)
class ChoiceMap:
    """What a library takes on one cluster, by nodes and size."""

    cluster: Cluster
    library: str
    """Name, version and transport."""
    path: str
    cells: tuple[MapCell, ...]
    """By nodes, then by size, both ascending."""

    _repr_html_ = shown

    @property
    def nodes(self) -> list[int]:
        """The rows, ascending."""
        return sorted({cell.nodes for cell in self.cells})

    @property
    def sizes(self) -> list[int]:
        """The columns, ascending."""
        return sorted({cell.size for cell in self.cells})

    @property
    def faster(self) -> list[MapCell]:
        """Cells in which another choice would be faster by more than the errors of the laws."""
        return [cell for cell in self.cells if cell.beyond_error]

    @property
    def headline(self) -> str:
        """What is most to be gained, as a sentence without its end."""
        cells = self.faster
        if not cells:
            return f"{self.cluster.title}: no other choice is faster by more than the model's error"
        counts: dict[tuple[str, str], list[MapCell]] = {}
        for cell in cells:
            if cell.faster:
                counts.setdefault((cell.algorithm, cell.faster[0]), []).append(cell)
        # The change that most cells want: one line cannot tell of all.
        (taken, other), most = max(counts.items(), key=lambda entry: len(entry[1]))
        sizes, gains = [cell.size for cell in most], [cell.gain for cell in most]
        ends = dict.fromkeys(map(say_bytes, (min(sizes), max(sizes))))
        where = f"from {' to '.join(ends)}" if len(ends) > 1 else f"at {''.join(ends)}"
        rows = sorted({cell.nodes for cell in most})
        on = " to ".join(map(str, dict.fromkeys((rows[0], rows[-1]))))
        return f"{self.cluster.title}: {taken} is taken on {on} nodes {where} where {other} would be {say_range(min(gains), max(gains))} times as fast"

    @property
    def notes(self) -> Iterator[str]:
        """What the map is, and what to beware of, as sentences."""
        within = sum(cell.faster is not None and not cell.beyond_error for cell in self.cells)
        yield f"AllReduce, {self.library}, {self.path}: simulated, each choice that its law may make the fastest."
        yield (
            f"Of {say_count(len(self.cells), 'cell')} another choice would be faster in {len(self.faster)} by more than the model's error, "
            f"in {within} by less than that."
        )
        yield "These are predictions: try one with `peerlab plan` before a tuner file is used."
        # What is not solved may depend on the nodes: each row is asked.
        asked = (Scenario(cluster=self.cluster, nodes=nodes, path=self.path) for nodes in self.nodes)
        yield from dict.fromkeys(gap for scenario in asked for gap in scenario.library_unsolved)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold; times in seconds."""
        return {
            "cluster": self.cluster.name,
            "library": self.library,
            "path": self.path,
            "headline": self.headline,
            "cells": [cell.as_dict() for cell in self.cells],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"ChoiceMap({self.headline})"
