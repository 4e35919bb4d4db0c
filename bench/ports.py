"""Scenes of cells in ports: CPU time beside the referee's, and memory."""

import tracemalloc
from typing import Any

from side_by_side import in_turn, say, table, times

from peerlab.base.errors import ScenarioError
from peerlab.engine.ports.port_scene import PortScene
from peerlab.engine.ports.simulate_ports import simulate_ports
from peerlab.study.jobs_answer import shared_fabric
from peerlab.study.port_question import port_question

RING: dict[str, Any] = {"neighbour": "quiet", "message_bytes": "64 MiB", "cell": "64 KiB"}
SCENES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("ring alone, 8 nodes, 64 MiB, 64 KiB cells, credits", {"fabric": "infiniband", **RING}, "under 300 ms"),
    ("the same, pauses", {"fabric": "roce-pfc", **RING}, "under 300 ms"),
    ("the same, losses", {"fabric": "roce-lossy", **RING}, "under 300 ms"),
    ("the same, marks", {"fabric": "roce-dcqcn", **RING}, "under 300 ms"),
    ("ring alone, 64 nodes, pauses", {"fabric": "roce-pfc", "nodes": 64, **RING}, "under 3 s"),
    ("ring alone, 64 nodes, marks", {"fabric": "roce-dcqcn", "nodes": 64, **RING}, "under 3 s"),
    ("ring of 8 beside 4 senders, 16 MiB, 8 KiB cells, credits", {"fabric": "infiniband", "neighbour": "neighbour(4)"}, ""),
    ("the same, pauses", {"fabric": "roce-pfc", "neighbour": "neighbour(4)"}, ""),
)  # fmt: skip
_EIGHT = tuple({"hosts": [job + 8 * leaf for leaf in range(8)]} for job in range(8))
_SLOW = 200_000
"""Cells from which the referee is not waited for."""


def section() -> str:
    """Measure scenes of ports."""
    rows = [scene_row(what, port_question(**fields).scene(), wanted) for what, fields, wanted in SCENES]
    jobs = shared_fabric(_EIGHT, leaf=8, uplink=8, fabric="roce-pfc", message_bytes="16 MiB", cell="64 KiB")
    assert jobs.cells is not None  # noqa: S101  (it was asked for)
    rows.append(scene_row("8 jobs of 8 hosts below 8 leaves and a spine, 16 MiB, 64 KiB cells, pauses", jobs.cells.ports.scene, "under 3 s"))  # fmt: skip
    head = (
        "scene",
        "peerlab's loop",
        "the referee, in SimPy",
        "faster by",
        "cells at ports",
        "memory",
        "wanted",
    )
    return f"""## Cells in ports

CPU seconds: of peerlab's loop the median of three runs, of the referee one run; memory is the most that a simulation
holds at a time. Both engines give the same spans. A scene of more than some {10**7:,} events is refused, with the size that fits: `{refused()}`

{table(head, rows)}
"""


def scene_row(what: str, scene: PortScene, wanted: str) -> tuple[str, ...]:
    """Return what a scene takes."""
    tracemalloc.start()
    cells = len(simulate_ports(scene).cells)
    memory = f"{tracemalloc.get_traced_memory()[1] / 2**20:.3g} MiB"
    tracemalloc.stop()
    if cells > _SLOW:
        (ours,) = in_turn(lambda: simulate_ports(scene))
        return what, say(ours), "", "", f"{cells:,}", memory, wanted
    (ours,), (referee,) = in_turn(lambda: simulate_ports(scene)), in_turn(lambda: simulate_ports(scene, "referee"), times=1)  # fmt: skip
    return what, say(ours), say(referee), times(referee / ours), f"{cells:,}", memory, wanted


def refused() -> str:
    """Return the words for a scene that is too large."""
    try:
        port_question(**RING | {"message_bytes": "64 GiB", "cell": "4 KiB"}).scene()
    except ScenarioError as problem:
        return str(problem)
    raise AssertionError
