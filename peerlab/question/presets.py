"""Cluster files: one machine each, read and checked.

A cluster file is TOML. It names the machine, lists the data paths it has (and why it lacks the others), and
gives every figure as a table::

    [switch]
    uplink = { value = 14.1, unit = "GB/s", basis = "per switch, per direction", source = "..." }

A figure without a source must say what it assumes (``assumption = "..."``) and, unless it is a count, from where to
where it may lie (``range = [12, 16]``); the lab shows both. A resource that never limits may be left out, with a reason::

    [leaves_out]
    "host.dram" = "ten times faster than the NIC"

Where the NICs hang stands under ``[wiring]`` (`peerlab.model.wiring_reading`). Where figures were fitted on a benchmark, ``fitted_on = "..."`` at the top says on what: elsewhere they extrapolate.
"""

# One file per library where libraries differ. On Alps, Open MPI stages with the core that sends and NCCL
# with a DMA engine, and NCCL's four GPUs share one stream's worth of TCP. `alps-gh200` is the node with
# RDMA (and Open MPI), `alps-gh200-tcp` the node as NCCL meets it without.

from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from peerlab.base.errors import HardwareError, ScenarioError, nearest, one_line, shell_word
from peerlab.base.places import folder
from peerlab.base.textfile import read_text
from peerlab.library.library_files import load_library
from peerlab.library.library_record import NONE
from peerlab.model.cluster_reading import examine
from peerlab.model.hardware import FIGURE_FIELDS, Cluster, internal_value
from peerlab.model.rewiring import with_forwarding
from peerlab.model.transport_files import check_own_figures, load_transport

_MOST_BYTES = 2**20
"""A cluster file is small; whatever is larger is something else."""


@lru_cache(maxsize=64)  # a lab asks for the same cluster with every curve it draws
def read_cluster(text: str, where: str) -> Cluster:
    """Return the cluster described by the TOML `text`; `where` names the file in errors.

    Raises
    ------
    HardwareError
        One line that names the first wrong or missing entry, and how many more there are.
    """
    reading = examine(text)
    # what is wrong first: it may be why something is missing
    problems = [*reading.wrong, *map(str, reading.missing)]
    if problems:
        more = (
            f" ({len(problems) - 1} more: peerlab clusters check {shell_word(where)})"
            if len(problems) > 1
            else ""
        )
        raise HardwareError(f"{where}: {problems[0]}{more}")
    values: dict[str, Any] = dict(reading.texts)
    values |= {FIGURE_FIELDS[key]: internal_value(figure) for key, figure in reading.figures.items()}
    try:
        # loaded only to see that they are there: a cluster that can be read can be simulated
        load_library(values.get("library", NONE))
        for name in {*reading.transports, values.get("transport", "")} - {""}:
            load_transport(name)
        check_own_figures(values.get("transport", ""), reading.figures)
    except (ScenarioError, HardwareError) as problem:
        raise HardwareError(f"{where}: {problem}") from None
    figures = {
        # the name alone, no folder: it is shown on pages that somebody hands on
        key: replace(figure, origin=f"cluster file {one_line(Path(where).name)}")
        for key, figure in reading.figures.items()
    }
    cluster = Cluster(
        wiring=reading.wiring,
        transports=reading.transports,
        paths=reading.paths,
        lacks=MappingProxyType(reading.lacks),
        leaves_out=MappingProxyType(reading.leaves_out),
        figures=MappingProxyType(figures),
        **values,
    )
    return with_forwarding(cluster)


@cache
def known_clusters() -> tuple[str, ...]:
    """Return the names of the clusters that come with peerlab."""
    return tuple(sorted(path.stem for path in (folder("data") / "hardware").glob("*.toml")))


def cluster_file(name: str | Path) -> Path:
    """Return the file of a cluster, given by a known name or as the path of a TOML file of your own.

    Raises
    ------
    HardwareError
        If `name` is neither.
    """
    if name in known_clusters():
        return folder("data") / "hardware" / f"{name}.toml"
    if str(name).endswith(".toml"):
        return Path(name)
    offer = nearest(str(name), known_clusters())
    raise HardwareError(
        f"unknown cluster {str(name)!r}; {offer}; or the path of a .toml file of your own (peerlab clusters new begins it)"
    )


def read_cluster_text(path: Path) -> str:
    """Return the text of a cluster file.

    Raises
    ------
    HardwareError
        If it cannot be read, or is no small text file.
    """
    return read_text(path, what="cluster file", most_bytes=_MOST_BYTES, error=HardwareError)


def load_cluster(name: str | Path) -> Cluster:
    """Return a cluster by name, or from the path of a TOML file of your own.

    Raises
    ------
    HardwareError
        If there is no such cluster or file, or the file is wrong.

    >>> load_cluster("dl1").title
    'Gaudi DL1'
    """
    return _known_cluster(name) if name in known_clusters() else _from_file(name)


@cache
def _known_cluster(name: str | Path) -> Cluster:
    """Return a cluster that comes with peerlab: read once, as a file of one's own may change and these do not.

    A lab makes a dozen scenarios to answer a click, and each read lets a computation in the background have the interpreter.
    """
    return _from_file(name)


def _from_file(name: str | Path) -> Cluster:
    path = cluster_file(name)
    return read_cluster(read_cluster_text(path), str(path))
