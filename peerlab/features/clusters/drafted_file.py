"""The file of a cluster that was drafted from a topology."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from peerlab.base.errors import HardwareError
from peerlab.base.textfile import printable
from peerlab.features.clusters.from_topology import Drafted, from_topology
from peerlab.machine import read_machine
from peerlab.question.presets import read_cluster_text
from peerlab.question.write_cluster import cluster_text, write_new
from peerlab.topology import Topology
from peerlab.topology.of_machine import of_machine


@dataclass(frozen=True)
class DraftedFile:
    """A draft, and the text of its file."""

    path: Path
    drafted: Drafted
    text: str


def draft_for(path: Path, topology: Topology, where: str, source: str) -> DraftedFile:
    """Return the draft for a file, which is not written yet.

    `where` says what it is drafted from (``this machine``), `source` where its figures were read (``/sys``).

    Raises
    ------
    HardwareError
        If the machine is larger than a cluster may be.
    """
    today = datetime.now(UTC).astimezone().date()
    draft = from_topology(topology, path.stem, source, today)
    head = [
        f"Drafted from {where}. What it does not say is taken over from {draft.like} and marked as assumed.",
        *draft.remarks,
    ]
    lines = "".join(f"# {printable(line)}\n" for line in head)
    return DraftedFile(path, draft, lines + cluster_text(draft.cluster, "Check it: peerlab clusters check"))


def write_beside(name: str, topology: Topology, where: str, source: str) -> DraftedFile:
    """Write a draft to ``NAME.toml`` in the working folder, or to ``NAME-2.toml`` and so on: no file that is there is overwritten.

    A file that holds this very draft already is taken as it is.

    Raises
    ------
    HardwareError
        If the machine is larger than a cluster may be, or the file cannot be written.
    """
    drafts = (draft_for(path, topology, where, source) for path in _names(name))
    # Lazily: the second name is drafted only where the first is taken by something else.
    drafted_file = next(draft for draft in drafts if not _taken(draft.path) or _holds(draft))
    if not _taken(drafted_file.path):
        write_new(drafted_file.path, drafted_file.text)
    return drafted_file


def _names(name: str) -> Iterator[Path]:
    yield Path(f"{name}.toml")
    yield from (Path(f"{name}-{number}.toml") for number in count(2))


def _taken(path: Path) -> bool:
    return path.exists() or path.is_symlink()  # of a link to nothing the first is not true


def _holds(drafted_file: DraftedFile) -> bool:
    try:
        return read_cluster_text(drafted_file.path) == drafted_file.text
    except HardwareError:  # a folder, a pipe, no text: not ours
        return False


def this_machine() -> Topology:
    """Return the topology of the machine that this runs on.

    Raises
    ------
    HardwareError
        If it has no accelerator.
    """
    topology = of_machine(read_machine())
    if not topology.accelerators:
        raise HardwareError("no accelerator was found here")
    return topology
