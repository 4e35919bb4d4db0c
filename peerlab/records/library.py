"""Measurements of known machines that come with peerlab: tables of figures with their source."""

from functools import cache

from peerlab.base.places import folder
from peerlab.records.load import load
from peerlab.records.schema import Records


@cache
def measured_library() -> dict[str, Records]:
    """Return every table of ``data/measured``, by its name (``"alps/nccl-2n8r-rdma"``).

    A manifest says besides the usual ``source``, ``licence`` and ``date`` as far as they are known, ``verified`` (how
    the figures were taken over), and ``cluster``: of which known cluster they are. Where buffers lay in host memory,
    ``memory`` says ``"host"``. What `peerlab measure` found on a machine of ours is of no cluster.
    """
    top = folder("data") / "measured"
    return {
        path.relative_to(top).with_suffix("").as_posix(): load(path) for path in sorted(top.rglob("*.csv"))
    }


def measured_for(cluster: str) -> dict[str, Records]:
    """Return the tables that are of this cluster; none for a cluster that nobody has measured.

    >>> list(measured_for("g4dn-metal"))
    ['g4dn-metal/nccl-2n2r-efa']
    """
    return {
        name: records
        for name, records in measured_library().items()
        if records.manifest.get("cluster") == cluster
    }
