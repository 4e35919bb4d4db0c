"""Results of other simulators, compared with peerlab's.

Cases: ``crossbar``; ``shared_backbone``; ``leafspine_2to1_contiguous``, ``leafspine_2to1_strided`` (ranks dealt out to
the leaves in turn) or another name, with a placement; ``straggler_nic_x0.5`` with ``slow_rank=4``; ``host_staged`` with
``P``, ``pcie_Bps``, ``pcie``, ``pcie_latency_s``, ``bounce_buffers``. ``envelope_B=16`` is added to every message.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from peerlab.base.errors import Cancelled, ExpectationError, PeerlabError, nearest
from peerlab.engine.simulate import simulate
from peerlab.features.validate.reference_file import (
    ReferenceFile,
    ReferenceRow,
    number,
    positive,
    read_row,
    whole,
)
from peerlab.model.hardware import Cluster
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario

CASES = (
    "crossbar",
    "shared_backbone",
    "leafspine_2to1_contiguous",
    "leafspine_2to1_strided",
    "straggler_nic_x0.5",
    "host_staged",
)
"""Cases known by name; other leaf-spines need a placement, other stragglers another factor."""
ALGORITHMS = {
    "ring": "ring",
    "halving_doubling": "halving-doubling",
    "recursive_doubling": "recursive-doubling",
    "binary_tree": "binary-tree",
    "pairwise": "pairwise",
    "ring_host_staged": "ring",
}
"""Algorithms: name in the file, name in peerlab."""
# Bounded, as the file may be anybody's: a number of a thousand digits would be computed with.
_LEAF_SPINE = re.compile(r"leafspine_(\d{1,4})to1_(\w+)")
_STRAGGLER = re.compile(r"straggler_nic_x(\d{1,3}(?:\.\d{1,9})?)")


@dataclass(frozen=True)
class ReferenceAnswer:
    """One line of the file, answered."""

    line: int
    """Line of the file."""
    row: ReferenceRow | None
    """The row, if it can be read."""
    simulated_s: float
    """What we say, seconds; not a number where there is no answer."""
    problem: str = ""
    """Why there is no answer."""

    @property
    def tolerance(self) -> float | None:
        """Largest relative error; None: for information only."""
        return self.row.tolerance if self.row else 0.0

    @property
    def error(self) -> float:
        """Relative error, signed; infinite where there is no answer."""
        if self.row is None or math.isnan(self.simulated_s):
            return math.inf
        return self.simulated_s / self.row.sim_time_s - 1

    @property
    def passed(self) -> bool:
        """Whether it was answered, within the tolerance if it has one; see `judged`."""
        return not self.problem and (self.tolerance is None or abs(self.error) <= self.tolerance)

    @property
    def judged(self) -> bool:
        """Whether it counts as met or not met; an answer for information does neither."""
        return self.tolerance is not None or bool(self.problem)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain values; None where there is none."""
        row = self.row
        return {
            "line": self.line,
            "simulator": row and row.simulator,
            "case": row and row.case,
            "algorithm": row and row.algorithm,
            "n": row and row.n,
            "message_bytes": row and row.nbytes,
            "reference_s": row and row.sim_time_s,
            "simulated_s": None if self.problem else self.simulated_s,
            "relative_error": None if self.problem else self.error,
            "tolerance": self.tolerance,
            "passed": self.passed if self.judged else None,
            "problem": self.problem,
        }


def run_reference(file: ReferenceFile) -> Iterator[ReferenceAnswer]:
    """Yield peerlab's answer to each line; a line that cannot be read or simulated gets the reason instead."""
    for at, line in file.lines:
        row = None
        try:
            row = read_row(file.columns, line)
            yield ReferenceAnswer(at, row, simulate(scenario_of(row)).time_s)
        # It is a `PeerlabError`, too, and must not become the reason of one row.
        except Cancelled:
            raise
        except PeerlabError as problem:
            yield ReferenceAnswer(at, row, math.nan, str(problem))


def scenario_of(row: ReferenceRow) -> Scenario:
    """Return the scenario that answers a row.

    Raises
    ------
    PeerlabError
        If the case or the algorithm is unknown, or the scenario impossible.
    """
    if row.algorithm not in ALGORITHMS:
        raise ExpectationError(f"unknown algorithm {row.algorithm!r}; {nearest(row.algorithm, ALGORITHMS)}")
    fields: dict[str, Any] = {
        "nodes": row.n,
        "message_bytes": row.nbytes,
        "algorithm": ALGORITHMS[row.algorithm],
        # The other simulators send whole chunks in blocking steps: like is compared with like.
        "slice_bytes": None,
        "dependency": "step",
        "envelope_bytes": whole({"envelope_B": "0", **row.parameters}, "envelope_B"),
        "placement": row.placement,
    }
    return Scenario(**fields | _case(row))


def _case(row: ReferenceRow) -> dict[str, Any]:
    """Return the fields that a row's case decides."""
    if row.case == "crossbar":
        return {"cluster": _on(row, "ideal-100g")}
    if row.case == "shared_backbone":
        rate = _gigabytes(row.link_Bps)
        return {"cluster": _on(row, "ideal-100g-backbone").with_figure("fabric.backbone", rate)}
    if row.case == "host_staged":
        return _staged(row)
    if match := _LEAF_SPINE.fullmatch(row.case):
        return _leaf_spine(row, int(match[1]), match[2])
    if match := _STRAGGLER.fullmatch(row.case):
        slow = whole(row.parameters, "slow_rank")
        return {"cluster": _on(row, "ideal-100g"), "slow_nodes": {slow: float(match[1])}}
    raise ExpectationError(f"unknown case {row.case!r}; {nearest(row.case, CASES)}")


# Divided as decimals: a rate that went through a float first would be off by a picosecond here and there.
def _gigabytes(rate: Decimal) -> float:
    return float(rate / 10**9)


def _on(row: ReferenceRow, name: str) -> Cluster:
    """Return a reference cluster with the row's rate and latency."""
    cluster = load_cluster(name).with_figure("nic.rate", _gigabytes(row.link_Bps))
    # The unit of this figure is the microsecond.
    return cluster.with_figure("fabric.latency", float(row.latency_s * 10**6))


def _leaf_spine(row: ReferenceRow, oversubscription: int, order: str) -> dict[str, Any]:
    hosts = whole({"hosts_per_leaf": "8", **row.parameters}, "hosts_per_leaf")
    cluster = _on(row, "ideal-100g-leafspine-2to1").with_figure("fabric.hosts_per_leaf", hosts)
    fields: dict[str, Any] = {"cluster": cluster.with_figure("fabric.oversubscription", oversubscription)}
    if row.placement is not None or order == "contiguous":
        return fields
    if order != "strided":
        raise ExpectationError(
            f"case {row.case!r} needs the JSON column 'placement'; without: contiguous, strided"
        )
    if row.n % hosts:
        raise ExpectationError(
            f"n = {row.n} does not fill leaves of {hosts} hosts; give the JSON column 'placement'"
        )
    return {**fields, "placement": "strided"}


def _staged(row: ReferenceRow) -> dict[str, Any]:
    options = row.parameters
    rate, kind = positive(options, "pcie_Bps"), options.get("pcie")
    if kind not in ("duplex", "shared"):
        raise ExpectationError(f"pcie = {kind!r} is unknown; known: duplex, shared")
    parts, buffers = whole(options, "P"), whole(options, "bounce_buffers")
    if not parts:
        # Whole chunks are P = 1; 0 would divide by nothing.
        raise ExpectationError("P = 0 is out of range; give 1 or more")
    cluster = _on(row, "ideal-100g-staged" + ("-shared" if kind == "shared" else ""))
    cluster = cluster.with_figure("device.copy_engine", _gigabytes(rate))
    cluster = cluster.with_figure("device.copy_latency", float(number(options, "pcie_latency_s") * 10**6))
    # One PCIe link carries both ways, at the rate of one.
    if kind == "shared":
        cluster = cluster.with_figure("device.pcie_both_ways", _gigabytes(rate))
    # Chunks are padded, as in a plan: both divisions round up.
    chunk = -(-row.nbytes // max(row.n, 1))
    return {
        "cluster": cluster,
        "path": "host-rdma",
        "slice_bytes": None if parts == 1 else -(-chunk // parts),
        "window": buffers,
    }
