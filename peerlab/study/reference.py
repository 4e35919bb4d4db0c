"""Other simulators' results, from a file with the columns of a spreadsheet, held against ours.

One row a result. Columns that must be there: simulator, algorithm, n, bytes, link_Bps, latency_s, sim_time_s, case.
Columns that may be: version, parameters (``key=value;...``) and placement (JSON: the host of each rank, in order).

Cases: ``crossbar``; ``shared_backbone``; ``leafspine_2to1_contiguous``, ``leafspine_2to1_strided`` (ranks dealt out to
the leaves in turn) or another name, with a placement; ``straggler_nic_x0.5`` with ``slow_rank=4``; ``host_staged`` with
``P``, ``pcie_Bps``, ``pcie``, ``pcie_latency_s``, ``bounce_buffers``. ``envelope_B=16`` is added to every message.
"""

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from peerlab.engine.run import simulate
from peerlab.errors import Cancelled, ExpectationError, PeerlabError, nearest
from peerlab.model.hardware import Cluster
from peerlab.model.presets import load_cluster
from peerlab.model.scenario import Scenario

MUST = ("simulator", "algorithm", "n", "bytes", "link_Bps", "latency_s", "sim_time_s", "case")
"""Columns that a file must have."""
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
"""Algorithms as files call them, and as we do."""
TOLERANCE = 1e-6
"""Largest relative error unless the simulator or the case has its own."""
_TOLERANCES = {"loggopsim": 2e-5, "host_staged": 1e-9}
_MOST_BYTES = 2**24
_LEAF_SPINE = re.compile(r"leafspine_(\d+)to1_(\w+)")
_STRAGGLER = re.compile(r"straggler_nic_x([0-9.]+)")


@dataclass(frozen=True, kw_only=True)
class ReferenceRow:
    """One result of another simulator."""

    simulator: str
    """Its name."""
    algorithm: str
    """As the file calls it."""
    case: str
    """What it ran on."""
    n: int
    """Ranks, one per host."""
    nbytes: int
    """Bytes of the whole buffer."""
    link_Bps: Decimal  # noqa: N815
    """Rate of a host's link, bytes per second and direction."""
    latency_s: Decimal
    """Latency of a message, seconds."""
    sim_time_s: float
    """What the simulator says, seconds."""
    parameters: Mapping[str, str]
    """Whatever else the case needs."""
    placement: tuple[int, ...] | None
    """Host of each rank, where the file says so."""

    @property
    def tolerance(self) -> float | None:
        """Largest relative error; None for a packet-level simulator, whose rows are for information."""
        if "packet_level" in self.parameters or "htsim" in self.simulator:
            return None
        return _TOLERANCES.get(self.case, _TOLERANCES.get(self.simulator, TOLERANCE))


@dataclass(frozen=True)
class ReferenceAnswer:
    """One line of the file, answered."""

    line: int
    """Line of the file."""
    row: ReferenceRow | None
    """What it says, if it can be read."""
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
        """Whether it was answered, within the tolerance if it has one."""
        return not self.problem and (self.tolerance is None or abs(self.error) <= self.tolerance)

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
            "passed": self.passed,
            "problem": self.problem,
        }


@dataclass(frozen=True)
class ReferenceFile:
    """A file of reference results, read but for its rows."""

    columns: tuple[str, ...]
    """Its first line."""
    lines: tuple[tuple[int, str], ...]
    """Number and text of the others, without empty ones."""


def read_reference(path: Path) -> ReferenceFile:
    """Return the columns and lines of a file of reference results.

    Raises
    ------
    ExpectationError
        If the file cannot be read, is not a table, or lacks a column.
    """
    try:
        if path.is_file() and path.stat().st_size > _MOST_BYTES:
            raise ExpectationError(
                f"{path} is larger than {_MOST_BYTES} bytes; that is no file of reference results"
            )
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ExpectationError(f"{path} is not a text file in UTF-8") from None
    except (OSError, ValueError) as problem:
        raise (
            problem
            if isinstance(problem, ExpectationError)
            else ExpectationError(f"cannot read {path}: {getattr(problem, 'strerror', '') or problem}")
        ) from None
    first, *rest = text.splitlines() or [""]
    try:
        columns = tuple(_entries(first))
    except ExpectationError:
        columns = ()
    if not set(columns) & set(MUST):
        raise ExpectationError(
            f"{path} is not a CSV file of reference results; it begins with: {', '.join(MUST)}"
        )
    missing = [name for name in MUST if name not in columns]
    if missing:
        raise ExpectationError(f"{path}: column {', '.join(missing)} is missing; it needs {', '.join(MUST)}")
    lines = tuple((number, line) for number, line in enumerate(rest, start=2) if line.strip())
    if not lines:
        raise ExpectationError(f"{path} has no rows")
    return ReferenceFile(columns, lines)


def _entries(line: str) -> list[str]:
    """Return the entries of one line; each line stands for itself, so that an open quote spoils no other."""
    try:
        return [entry.strip() for entry in next(csv.reader([line], strict=True))] if line.strip() else []
    except csv.Error as problem:
        raise ExpectationError(f"not a line of a CSV file: {problem}") from None


def run_reference(file: ReferenceFile) -> Iterator[ReferenceAnswer]:
    """Yield our answer to each line; what cannot be read or run says why, and the others are answered."""
    for number, line in file.lines:
        row = None
        try:
            row = read_row(file.columns, line)
            yield ReferenceAnswer(number, row, simulate(scenario_of(row)).time_s)
        except Cancelled:
            raise
        except PeerlabError as problem:
            yield ReferenceAnswer(number, row, math.nan, str(problem))


def read_row(columns: Sequence[str], line: str) -> ReferenceRow:
    """Return one line of the file, checked."""
    entries = _entries(line)
    if len(entries) != len(columns):
        raise ExpectationError(f"it has {len(entries)} entries; the file has {len(columns)} columns")
    given = dict(zip(columns, entries, strict=True))
    return ReferenceRow(
        simulator=given["simulator"],
        algorithm=given["algorithm"],
        case=given["case"],
        n=_whole(given, "n"),
        nbytes=_whole(given, "bytes"),
        link_Bps=_positive(given, "link_Bps"),
        latency_s=_number(given, "latency_s"),
        sim_time_s=float(_positive(given, "sim_time_s")),
        parameters=_parameters(given.get("parameters", "")),
        placement=_placement(given.get("placement", "")),
    )


def _number(given: Mapping[str, str], name: str) -> Decimal:
    if name not in given:
        raise ExpectationError(f"{name} is missing among the parameters")
    try:
        value = Decimal(given[name])
    except InvalidOperation:
        raise ExpectationError(f"{name} = {given[name]!r} is not a number") from None
    if not value.is_finite() or value < 0:
        raise ExpectationError(f"{name} = {given[name]} is out of range; give a number of 0 or more")
    return value


def _positive(given: Mapping[str, str], name: str) -> Decimal:
    value = _number(given, name)
    if value == 0:
        raise ExpectationError(f"{name} = {given[name]} is out of range; give more than 0")
    return value


def _whole(given: Mapping[str, str], name: str) -> int:
    value = _number(given, name)
    if value != value.to_integral_value() or value > 2**50:
        raise ExpectationError(f"{name} = {given[name]} is not a whole number that can be simulated")
    return int(value)


def _parameters(text: str) -> dict[str, str]:
    """Return ``key=value;...``; what has no ``=`` is a remark."""
    parts = [part.partition("=") for part in text.split(";")]
    return {key.strip(): value.strip() for key, equals, value in parts if equals}


def _placement(text: str) -> tuple[int, ...] | None:
    if not text:
        return None
    try:
        hosts = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        hosts = None
    if not isinstance(hosts, list) or not all(isinstance(h, int) and not isinstance(h, bool) for h in hosts):
        raise ExpectationError(f"placement = {text[:40]!r} is not a JSON list of hosts such as [0, 2, 1, 3]")
    return tuple(hosts)


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
        "slice_bytes": None,
        "dependency": "step",
    }
    envelope = _whole({"envelope_B": "0", **row.parameters}, "envelope_B")
    if envelope:
        fields["envelope_bytes"] = envelope
    if row.placement is not None:
        fields["placement"] = row.placement
    leaf_spine, straggler = _LEAF_SPINE.fullmatch(row.case), _STRAGGLER.fullmatch(row.case)
    if row.case == "crossbar":
        fields |= {"cluster": _on(row, "ideal-100g")}
    elif row.case == "shared_backbone":
        rate = _gigabytes(row.link_Bps)
        fields |= {"cluster": _on(row, "ideal-100g-backbone").with_figure("fabric.backbone", rate)}
    elif leaf_spine:
        fields |= _leaf_spine(row, int(leaf_spine[1]), leaf_spine[2])
    elif straggler:
        slow = _whole(row.parameters, "slow_rank")
        fields |= {"cluster": _on(row, "ideal-100g"), "slow_nodes": {slow: float(straggler[1])}}
    elif row.case == "host_staged":
        fields |= _staged(row)
    else:
        raise ExpectationError(f"unknown case {row.case!r}; {nearest(row.case, CASES)}")
    return Scenario(**fields)


def _gigabytes(rate: Decimal) -> float:
    return float(rate / 10**9)


def _on(row: ReferenceRow, name: str) -> Cluster:
    """Return a reference cluster with the row's rate and latency."""
    cluster = load_cluster(name).with_figure("nic.rate", _gigabytes(row.link_Bps))
    return cluster.with_figure("fabric.latency", float(row.latency_s * 10**6))


def _leaf_spine(row: ReferenceRow, oversubscription: int, order: str) -> dict[str, Any]:
    hosts = _whole({"hosts_per_leaf": "8", **row.parameters}, "hosts_per_leaf")
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
    return {**fields, "placement": strided(row.n, hosts)}


def strided(n: int, hosts_per_leaf: int) -> Sequence[int]:
    """Return the hosts of ranks that are dealt out to the leaves in turn.

    >>> strided(6, 3)
    (0, 3, 1, 4, 2, 5)
    """
    leaves = n // hosts_per_leaf
    return tuple(rank % leaves * hosts_per_leaf + rank // leaves for rank in range(n))


def _staged(row: ReferenceRow) -> dict[str, Any]:
    given = row.parameters
    rate, kind = _positive(given, "pcie_Bps"), given.get("pcie")
    if kind not in ("duplex", "shared"):
        raise ExpectationError(f"pcie = {kind!r} is unknown; known: duplex, shared")
    parts, buffers = _whole(given, "P"), _whole(given, "bounce_buffers")
    if not parts:
        raise ExpectationError("P = 0 is out of range; give 1 or more")
    cluster = _on(row, "ideal-100g-staged" + ("-shared" if kind == "shared" else ""))
    cluster = cluster.with_figure("device.copy_engine", _gigabytes(rate))
    cluster = cluster.with_figure("device.copy_latency", float(_number(given, "pcie_latency_s") * 10**6))
    if kind == "shared":
        cluster = cluster.with_figure("device.pcie_both_ways", _gigabytes(rate))
    chunk = -(-row.nbytes // max(row.n, 1))
    return {
        "cluster": cluster,
        "path": "host-rdma",
        "slice_bytes": None if parts == 1 else -(-chunk // parts),
        "window": buffers,
    }
