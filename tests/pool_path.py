"""A path that nobody has heard of: copies into a pool of memory that both nodes reach, and out of it; no NIC sends."""

import dataclasses

import peerlab
from peerlab.model.paths import PATHS, DataPath
from peerlab.model.resources import RESOURCES, ResourceKind
from peerlab.model.stages import STAGES, Stage, StageKind, Use
from peerlab.question.presets import load_cluster

POOL = "cxl-pool"


def _stages(_cluster, _memory):
    out = Stage(
        "to-pool", (Use("cxl_out", "source"),), flight="latency_ps", acquire="source", release="source"
    )
    return out, Stage("from-pool", (Use("cxl_in", "destination"),))


def pool_scenario(monkeypatch, into="", out_of=""):
    """Make the path known for a test; return an AllReduce over it, whose two stages are drawn on these tracks."""
    link = {"scope": "device", "rate": "device_pcie_Bps", "counts_as": "copy"}
    monkeypatch.setitem(RESOURCES, "cxl_out", ResourceKind(label="CXL link out", **link))
    monkeypatch.setitem(RESOURCES, "cxl_in", ResourceKind(label="CXL link in", **link))
    copy = {"role": "copy", "counts_as": "copy"}
    monkeypatch.setitem(STAGES, "to-pool", StageKind(says="copy to the pool (CXL)", track=into, **copy))
    monkeypatch.setitem(STAGES, "from-pool", StageKind(says="copy from the pool (CXL)", track=out_of, **copy))
    record = DataPath(
        title="CXL pool",
        summary="through a pool of memory that both nodes reach",
        way="Slices are copied from {device} memory into the pool and out of it on the other side",
        role="copy",
        stages=_stages,
        needs=("device.pcie",),
        registration=("none", "load and store"),
        cache_rests="The registration cache changes nothing here: the pool is read and written like memory.",
    )
    monkeypatch.setitem(PATHS, POOL, record)
    gaudi = load_cluster("dl1")
    machine = dataclasses.replace(gaudi, name="pooled", paths=(*gaudi.paths, POOL))
    return peerlab.Scenario(cluster=machine, nodes=4, path=POOL, message_bytes="16 MiB")
