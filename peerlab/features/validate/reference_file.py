"""A file of other simulators' results, read and checked.

One row a result. Columns that must be there: simulator, algorithm, n, bytes, link_Bps, latency_s, sim_time_s, case.
Columns that may be: version, parameters (``key=value;...``) and placement (JSON: the host of each rank, in order).
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from peerlab.base.errors import ExpectationError
from peerlab.base.textfile import read_text

MUST = ("simulator", "algorithm", "n", "bytes", "link_Bps", "latency_s", "sim_time_s", "case")
"""Columns that a file must have."""
TOLERANCE = 1e-6
"""Largest relative error unless the simulator or the case has its own."""
# LogGOPSim counts a byte less in each message, in units of 10 ps; SimGrid ran the staged case at 1e-12.
_TOLERANCES = {"loggopsim": 2e-5, "host_staged": 1e-9}
_MOST_BYTES = 2**24
# No rate, latency or size is near it; beyond, a float of such a number or of its inverse would overflow.
_FAR_TOO_MUCH = 10**30


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
        # Packets queue and are lost there: its times are those of another model.
        if "packet_level" in self.parameters or "htsim" in self.simulator:
            return None
        return _TOLERANCES.get(self.case, _TOLERANCES.get(self.simulator, TOLERANCE))


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
    text = read_text(path, what="file of reference results", most_bytes=_MOST_BYTES, error=ExpectationError)
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
    # Lines count from 1, and the first is the head.
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


def read_row(columns: Sequence[str], line: str) -> ReferenceRow:
    """Return one line of the file, checked."""
    entries = _entries(line)
    if len(entries) != len(columns):
        raise ExpectationError(f"it has {len(entries)} entries; the file has {len(columns)} columns")
    options = dict(zip(columns, entries, strict=True))
    parameters = _parameters(options.get("parameters", ""))
    # Files call it `placement (JSON)` and the like.
    placed = next((options[name] for name in columns if "placement" in name.lower()), "")
    return ReferenceRow(
        simulator=options["simulator"],
        algorithm=options["algorithm"],
        case=options["case"],
        n=whole(options, "n"),
        nbytes=whole(options, "bytes"),
        link_Bps=positive(options, "link_Bps"),
        latency_s=number(options, "latency_s"),
        sim_time_s=float(positive(options, "sim_time_s")),
        parameters=parameters,
        placement=_placement(placed or parameters.get("placement", "")),
    )


def number(given: Mapping[str, str], name: str) -> Decimal:
    """Return the entry `name` as a number of 0 or more."""
    if name not in given:
        raise ExpectationError(f"{name} is missing among the parameters")
    try:
        value = Decimal(given[name])
    except InvalidOperation:
        raise ExpectationError(f"{name} = {given[name]!r} is not a number") from None
    if not value.is_finite() or not 0 <= value < _FAR_TOO_MUCH:
        raise ExpectationError(f"{name} = {given[name]} is out of range; give a number of 0 or more")
    return value


def positive(given: Mapping[str, str], name: str) -> Decimal:
    """Return the entry `name` as a number greater than 0."""
    value = number(given, name)
    if value * _FAR_TOO_MUCH < 1:
        raise ExpectationError(f"{name} = {given[name]} is out of range; give more than 0")
    return value


def whole(given: Mapping[str, str], name: str) -> int:
    """Return the entry `name` as a whole number of 0 or more."""
    value = number(given, name)
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
    # JSON that is nested without end exhausts the stack before it is found wrong.
    except (ValueError, RecursionError):
        hosts = None
    # JSON's `true` is a whole number to Python.
    if not isinstance(hosts, list) or not all(isinstance(h, int) and not isinstance(h, bool) for h in hosts):
        raise ExpectationError(f"placement = {text[:40]!r} is not a JSON list of hosts such as [0, 2, 1, 3]")
    return tuple(hosts)
