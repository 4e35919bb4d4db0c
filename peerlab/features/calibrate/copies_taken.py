"""A cluster with what copies on one of its machines took, each figure with its source."""

from dataclasses import dataclass, replace
from pathlib import Path

from peerlab.base.document import Cell, Document, Table, Text
from peerlab.base.errors import RecordsError
from peerlab.base.units import say_unit
from peerlab.model.hardware import ADDABLE, Cluster, Figure, named
from peerlab.question.presets import load_cluster
from peerlab.question.write_cluster import cluster_text, write_new
from peerlab.records.copy_times import CopyCost, MeasuredFigure


@dataclass(frozen=True, eq=False)
class CopiesTaken:
    """A cluster's figures before and after."""

    before: Cluster
    """The cluster as its file has it."""
    cluster: Cluster
    """The cluster with the measured figures."""
    taken: tuple[MeasuredFigure, ...]
    """Measured figures that the cluster has a place for."""
    left: tuple[MeasuredFigure, ...]
    """Measured figures that it has no place for: none of its paths stages in such memory."""
    measured_on: str
    """Machine and date."""

    def save(self, path: Path, *, force: bool = False) -> None:
        """Write the cluster to a file of its own, named after it.

        Raises
        ------
        HardwareError
            If there is such a file already (unless `force`), or it cannot be written.
        """
        remark = (
            f"Written by peerlab calibrate: {self.before.name} with copies measured on {self.measured_on}."
        )
        write_new(path, cluster_text(replace(self.cluster, name=path.stem), remark), force=force)


def with_copies(cost: CopyCost, cluster: str | Path | Cluster) -> CopiesTaken:
    """Return a cluster whose figures of copies are those that were measured.

    Raises
    ------
    RecordsError
        If the copies give none of the cluster's figures.
    HardwareError
        If the cluster is unknown, or its file cannot be read.
    """
    before = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    places = {*before.figures, *ADDABLE}
    taken = tuple(figure for figure in cost.figures if figure.key in places)
    if not taken:
        raise RecordsError(
            f"these copies give no figure that {before.name} has a place for: measure pinned copies of at most 4 KiB, and of 8 MiB or more"
        )
    measured_on = (
        f"{', '.join(cost.manifest.get('accelerators', ['a GPU']))}, {cost.manifest.get('date', 'undated')}"
    )
    after = before
    for figure in taken:
        after = after.with_figure(
            figure.key,
            float(f"{figure.value:.5g}"),
            source=f"peerlab measure copies on {measured_on}: {figure.how}",
            assumption="this machine's copies are those of each node",
            range=_around(figure),
        )
    left = tuple(figure for figure in cost.figures if figure.key not in places)
    named_after = replace(after, name=f"{before.name}-copies", title=f"{before.title}, copies measured")
    return CopiesTaken(before, named_after, taken, left, measured_on)


def copies_taken_document(result: CopiesTaken) -> Document:
    """Return what changed."""
    rows = [_row(result.before.figures.get(figure.key), figure) for figure in result.taken]
    left = [
        Text(f"{named(figure.key)}: {result.before.name} has no path that needs it.", quiet=True)
        for figure in result.left
    ]
    return Document(
        f"{result.before.title}: figures of copies, measured on {result.measured_on}",
        (Table("", ("figure", "before", "measured", "range", "how"), rows, right={1, 2, 3}), *left),
    )


def _row(before: Figure | None, figure: MeasuredFigure) -> tuple[str | Cell, ...]:
    unit = say_unit(figure.unit)
    low, high = _around(figure)
    return (
        named(figure.key),
        "not in the file" if before is None else f"{before.value:.4g}{unit}",
        Cell(f"{figure.value:.4g}{unit}", strong=True),
        f"{low:.4g} to {high:.4g}{unit}",
        figure.how,
    )


def _around(figure: MeasuredFigure) -> tuple[float, float]:
    """Return the range, rounded outwards enough to hold the rounded value."""
    value, low, high = (float(f"{end:.5g}") for end in (figure.value, figure.low, figure.high))
    return min(low, value), max(high, value)
