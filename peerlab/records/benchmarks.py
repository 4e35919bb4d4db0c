"""Every tool whose output is read: its readers, and what else peerlab has to know of it. The one place that knows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from peerlab.records import (
    csv_reader,
    hccl,
    inspector,
    nccl,
    nccl_collectives,
    nccl_json,
    nccl_results,
    nccom,
    osu,
    perftest,
)
from peerlab.records.schema import Records
from peerlab.records.text import Log

Reader = tuple[Callable[[Log], bool], Callable[[Log], Records]]
"""Whether a log is of the tool, and what reads it."""


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """A tool."""

    name: str
    """As manifests have it."""
    says: str = ""
    """What messages and pages call it; empty: they do not, as of peerlab itself."""
    readers: tuple[Reader, ...]
    buffers: Literal["device", "host", ""] = ""
    """Where its buffers are: always in device memory, in host memory unless it is told otherwise, or not known."""
    nccl: bool = False
    """Whether it runs NCCL, whose latencies and lines are known."""
    gaudi: bool | None = None
    """Whether it is made for Gaudi alone; False: for all but that; None: for any."""


_ALL = (
    Benchmark(name="peerlab", readers=((csv_reader.looks_like, csv_reader.read),)),
    Benchmark(
        name=nccl_results.TOOL,
        says="nccl-tests",
        readers=((nccl_json.looks_like, nccl_json.read), (nccl.looks_like, nccl.read)),
        buffers="device",
        nccl=True,
        gaudi=False,
    ),
    Benchmark(
        name=osu.TOOL, says="the OSU micro-benchmarks", readers=((osu.looks_like, osu.read),), buffers="host"
    ),
    Benchmark(
        name=hccl.TOOL, says="hccl_demo", readers=((hccl.looks_like, hccl.read),), buffers="device", gaudi=True
    ),
    Benchmark(
        name=nccom.TOOL, says="nccom-test", readers=((nccom.looks_like, nccom.read),), buffers="device", gaudi=False
    ),
    Benchmark(
        name=perftest.TOOL, says="perftest (ib_write_bw and its like)", readers=((perftest.looks_like, perftest.read),), buffers="host"
    ),
    Benchmark(
        name=inspector.TOOL,
        says="NCCL Inspector",
        readers=((inspector.looks_like, inspector.read),),
        buffers="device",
        gaudi=False,
    ),
    Benchmark(
        name=nccl_collectives.TOOL,
        says="NCCL_DEBUG=INFO",
        readers=((nccl_collectives.looks_like, nccl_collectives.read),),
        buffers="device",
        gaudi=False,
    ),
)  # fmt: skip
BENCHMARKS = {tool.name: tool for tool in _ALL}
"""By the name that manifests have."""
_NAMES = [tool.says for tool in _ALL if tool.says]
TOOLS = f"{', '.join(_NAMES[:-1])} or {_NAMES[-1]}"
"""Whose output is read, in words: every page and message that tells it says it so."""
UNKNOWN = Benchmark(name="", readers=())


def benchmark(name: str) -> Benchmark:
    """Return what is known of a tool; of one that is not known, nothing."""
    return BENCHMARKS.get(name, UNKNOWN)
