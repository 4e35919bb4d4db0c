"""What is missing, wrong, assumed or implausible in a cluster file: all at once."""

from dataclasses import dataclass
from pathlib import Path

from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.model.cluster_reading import Missing, examine
from peerlab.model.hardware import Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.model.transport_files import check_own_figures
from peerlab.question.plausible import implausible
from peerlab.question.presets import cluster_file, read_cluster_text


@dataclass(frozen=True, kw_only=True)
class Completeness:
    """What a cluster file says and lacks."""

    file: Path
    """The file."""
    missing: tuple[Missing, ...]
    """What is not there and should be."""
    wrong: tuple[str, ...]
    """What is there and not understood."""
    implausible: tuple[str, ...]
    """What is possible but hardly meant."""
    sourced: tuple[Figure, ...]
    """Figures that a source states."""
    assumed: tuple[Figure, ...]
    """Figures that rest on an assumption."""
    wiring: Wiring
    """Where the NICs hang."""
    paths: tuple[str, ...]
    """Data paths that the machine has."""

    @property
    def assumptions(self) -> int:
        """How much is assumed: figures, and where the NICs hang if no figure says that already."""
        counted = any(figure.assumption == self.wiring.assumption for figure in self.assumed)
        return len(self.assumed) + bool(self.wiring.assumption and not counted)

    @property
    def figures(self) -> int:
        """How many figures there are, counted as `Cluster.counted` does: those with a source, and what is assumed."""
        return len(self.sourced) + self.assumptions

    @property
    def complete(self) -> bool:
        """Whether peerlab can simulate it."""
        return not self.missing and not self.wrong


def check(name: str | Path) -> Completeness:
    """Return what a cluster file says and lacks; a known name works too.

    Raises
    ------
    HardwareError
        If there is no such file, or it is no small text.
    """
    file = cluster_file(name)
    reading = examine(read_cluster_text(file))
    # Loading would raise this too; here it stands with all else that is wrong.
    with reading.noting():
        try:
            check_own_figures(reading.texts.get("transport", ""), reading.figures)
        except ScenarioError as problem:
            raise HardwareError(str(problem)) from None
    figures = reading.figures.values()
    return Completeness(
        file=file,
        missing=tuple(reading.missing),
        wrong=tuple(reading.wrong),
        implausible=tuple(implausible(reading.figures)),
        sourced=tuple(figure for figure in figures if not figure.assumption),
        assumed=tuple(figure for figure in figures if figure.assumption),
        wiring=reading.wiring,
        paths=reading.paths,
    )
