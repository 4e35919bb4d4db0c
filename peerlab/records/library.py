"""Measurements of known machines that come with peerlab: tables of figures with their source."""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path

from peerlab.base.places import folder
from peerlab.records.csv_reader import manifest_of
from peerlab.records.load import load
from peerlab.records.schema import Records
from peerlab.records.text import open_log


class MeasuredLibrary(Mapping[str, Records]):
    """Tables by their names; each is read when it is asked for: who asks wants few of them, and all take a third of a second."""

    def __init__(self, top: Path) -> None:
        self._files = {
            path.relative_to(top).with_suffix("").as_posix(): path for path in sorted(top.rglob("*.csv"))
        }
        self._read: dict[str, Records] = {}

    def __getitem__(self, name: str) -> Records:
        if name not in self._read:
            self._read[name] = load(self._files[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def of_cluster(self, cluster: str) -> dict[str, Records]:
        """Return the tables of a cluster; of the others only the head is read."""
        return {name: self[name] for name in self if self._clusters.get(name) == cluster}

    @cached_property
    def _clusters(self) -> dict[str, str]:
        heads = {name: manifest_of(open_log(file)) for name, file in self._files.items()}
        return {name: manifest["cluster"] for name, manifest in heads.items() if "cluster" in manifest}


@cache
def measured_library() -> MeasuredLibrary:
    """Return every table of ``data/measured``, by its name (``"alps/nccl-2n8r-rdma"``).

    A manifest says besides the usual ``source``, ``licence`` and ``date`` as far as they are known, ``verified`` (how
    the figures were taken over), and ``cluster``: of which known cluster they are. Where buffers lay in host memory,
    ``memory`` says ``"host"``. What `peerlab measure` found on a machine of ours is of no cluster.
    """
    return MeasuredLibrary(folder("data") / "measured")


def measured_for(cluster: str) -> dict[str, Records]:
    """Return the tables that are of this cluster; none for a cluster that nobody has measured.

    >>> list(measured_for("g4dn-metal"))
    ['g4dn-metal/nccl-2n2r-efa']
    """
    return measured_library().of_cluster(cluster)
