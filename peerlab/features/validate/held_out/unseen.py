"""Machines with no log of their own: each is left out of the fit in turn, its library's constants are those of the others' logs.

Errors count against the better of out of place and in place. A row whose two columns differ by more than 15 % is listed and does not
count for the worst: such a log differs from itself.
"""

import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from peerlab.answer.sensitivity import corners
from peerlab.base.errors import ExpectationError, RecordsError, nearest
from peerlab.base.units import GIB, MIB
from peerlab.diagnosis import taken_elsewhere
from peerlab.diagnosis.observed import observe
from peerlab.diagnosis.replay import scenario, shape
from peerlab.features.validate.held_out.constants_fit import FITTED, LoggedSize, fitted, time_s
from peerlab.features.validate.held_out.logged_machines import LoggedMachine, load_machines
from peerlab.model.hardware import Cluster
from peerlab.question.law_error import takes, unsolved
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records import Records
from peerlab.records.library import measured_library

DIFFERS = 0.15
"""Relative difference of out of place and in place from which on a row does not count for the worst."""
SMALLEST, LARGEST = 8, 4 * GIB
SIZES = (
    ("8 B to 4 KiB", 8, 4096),
    ("8 KiB to 512 KiB", 8192, 2**19),
    ("1 to 32 MiB", MIB, 32 * MIB),
    ("64 MiB to 4 GiB", 64 * MIB, LARGEST),
)
"""Groups of sizes whose signed error is said."""
_SOCKETS = re.compile(r"Using network Socket|NET/Socket\b")
_SOCKETS_PATH = "host-tcp"
"""The path that a log with such a line took."""


@dataclass(frozen=True)
class SizeError:
    """One size of a log, beside what is simulated."""

    size: int
    out_of_place_s: float
    """Not a number where the log has none."""
    in_place_s: float
    simulated_s: float
    alone_s: float
    """Simulated from topology alone, without the library."""
    says: str
    """What the library does, in words."""
    ends_s: tuple[float, float] = (math.nan, math.nan)
    """From where to where the simulated time lies by the ranges of assumed figures and by what is not solved, the error of the law aside."""
    algorithm: str = ""
    """What the library runs."""
    promised: bool = True
    """Whether the accuracy that is promised of its library is promised at this size."""
    held_up: bool = False
    """Whether the log was held up there: no healthy run is told by it, and no band checked."""

    @property
    def measured_s(self) -> float:
        """The better of the two."""
        return min(s for s in (self.out_of_place_s, self.in_place_s) if not math.isnan(s))

    @property
    def error(self) -> float:
        """Simulated over measured time, less 1."""
        return self.simulated_s / self.measured_s - 1

    @property
    def error_alone(self) -> float:
        """The same of topology alone."""
        return self.alone_s / self.measured_s - 1

    @property
    def misses(self) -> float:
        """By which factor the measured time lies outside of `ends_s`; 1 inside."""
        low, high = self.ends_s
        return max(low / self.measured_s, self.measured_s / high, 1.0)

    @property
    def counts(self) -> bool:
        """Whether its two columns agree."""
        both = (self.out_of_place_s, self.in_place_s)
        return any(map(math.isnan, both)) or max(both) / min(both) - 1 <= DIFFERS


@dataclass(frozen=True)
class Unseen:
    """How well a machine is foretold from others' logs."""

    name: str
    library: str
    constants: Mapping[str, float]
    """Its library's constants, fitted elsewhere, in the units of its file."""
    fitted_on: tuple[str, ...]
    """Machines they were fitted on; empty: as the library's file has them."""
    points: tuple[SizeError, ...]
    path: str = ""
    """The data path of its log."""
    cluster: str = ""
    """The machine, by its cluster file; two logs may be of one."""
    transport: str = ""
    """Transport of the library, such as ``efa``."""
    promised: bool = True
    own_range: bool = False
    """Whether a range in its bands was taken from its own log."""
    note: str = ""

    @cached_property
    def median(self) -> float:
        """Median of the relative errors."""
        return statistics.median(abs(point.error) for point in self.points)

    @property
    def worst(self) -> SizeError:
        """The largest of those that count."""
        # Where no row counts the worst of all is told: a log that differs from itself everywhere has one,
        # too.
        counted = [point for point in self.points if point.counts] or list(self.points)
        return max(counted, key=lambda point: abs(point.error))

    @property
    def median_alone(self) -> float:
        """Median error of topology alone."""
        return statistics.median(abs(point.error_alone) for point in self.points)

    @property
    def not_counted(self) -> tuple[SizeError, ...]:
        """Rows whose two columns differ too much."""
        return tuple(point for point in self.points if not point.counts)

    def by_size(self) -> tuple[float, ...]:
        """Return the median signed error of each of `SIZES`; not a number where the log has none."""
        errors = [(point.size, point.error) for point in self.points]
        groups = [[error for size, error in errors if low <= size <= high] for _, low, high in SIZES]
        return tuple(statistics.median(group) if group else math.nan for group in groups)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "machine": self.name,
            "library": self.library,
            "path": self.path,
            "constants": dict(self.constants),
            "fitted_on": list(self.fitted_on),
            "median_error": self.median,
            "worst_error": self.worst.error,
            "worst_bytes": self.worst.size,
            "median_error_topology_alone": self.median_alone,
            "promised": self.promised,
            "note": self.note,
            "points": [
                {
                    "message_bytes": point.size,
                    "measured_s": point.measured_s,
                    "simulated_s": point.simulated_s,
                    "topology_alone_s": point.alone_s,
                    "error": point.error,
                    "counts_for_the_worst": point.counts,
                    "library_does": point.says,
                }
                for point in self.points
            ],
        }


def unseen(machines: Sequence[LoggedMachine]) -> Iterator[Unseen]:
    """Yield each machine with its library's constants fitted on the logs of the others, as soon as it is simulated."""
    # All logs, even where one machine alone is asked for: the others are what its constants are fitted on.
    logged = {machine: _asked_of(machine) for machine in load_machines()} if machines else {}
    for machine in machines:
        yield _unseen(machine, logged)


def _unseen(machine: LoggedMachine, logged: Mapping[LoggedMachine, Sequence[LoggedSize]]) -> Unseen:
    others = {
        other: rows
        for other, rows in logged.items()
        if other.fits
        # Two logs may be of one machine over two paths: neither may fit constants for the other.
        and other.cluster != machine.cluster
        and _transport(rows[0]) == _transport(logged[machine][0])
    }
    constants = fitted(list(others.values())) if others else {}
    return _compared(machine.name, logged[machine], constants, tuple(other.name for other in others), machine)


def against(
    records: Records,
    cluster: str | Cluster,
    library: str | None = None,
    version: str | None = None,
    path: str | None = None,
) -> Unseen:
    """Return how well a log is foretold on a cluster with its library's constants as they are.

    `path` is the data path of the log; else the one that the log names, TCP if it says that NCCL used sockets, or the cluster's first.

    Raises
    ------
    RecordsError, ScenarioError, HardwareError
        If the log is none of a simulated collective between nodes, or does not suit the cluster.
    """
    base = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    if why := taken_elsewhere(records, base):
        raise RecordsError(f"the log is of another machine: {why}; name its own with --cluster")
    rows = _scenario_of_log(records, base, version, library, path or _over_sockets(records, base))
    # As they are, for the reader: nothing was fitted here.
    met = rows[0].scenario.hardware.figures
    return _compared(
        observe(records).source or base.title,
        rows,
        {key: met[key].value for key in FITTED if key in met},
        (),
    )


def _transport(row: LoggedSize) -> str:
    return row.scenario.used_library.transport if row.scenario.used_library else ""


def _records(name: str) -> Records:
    entries = measured_library()
    if name not in entries:
        raise ExpectationError(f"no table {name!r} in data/measured; {nearest(name, entries)}")
    return entries[name]


def _over_sockets(records: Records, cluster: Cluster) -> str | None:
    """Return the path through TCP, if the log says that NCCL used sockets.

    Raises
    ------
    RecordsError
        If the cluster has no such path.
    """
    sentence = " ".join(map(str, records.manifest.get("transport") or ()))
    # All that the log says of its transport at once: the line stands wherever the tool put it.
    if not _SOCKETS.search(sentence):
        return None
    if _SOCKETS_PATH not in cluster.paths:
        raise RecordsError(
            f"the log says that NCCL used sockets, and {cluster.name} has no path through TCP; name another with --cluster"
        )
    return _SOCKETS_PATH


def _asked_of(machine: LoggedMachine) -> list[LoggedSize]:
    cluster = load_cluster(machine.cluster)
    return _scenario_of_log(_records(machine.records), cluster, machine.version, machine.library)


def _scenario_of_log(
    records: Records,
    cluster: Cluster,
    version: str | None,
    library: str | None = None,
    path: str | None = None,
) -> list[LoggedSize]:
    observed = observe(records)
    shaped = shape(cluster, observed)
    if shaped is None:
        raise RecordsError(
            f"{observed.ranks} ranks on {observed.nodes} nodes do not fit {cluster.name}'s {cluster.devices} devices a node"
        )
    table = records.medians()
    table = table[table["collective"] == observed.collective]
    times = {
        variant: dict(zip(rows["size_bytes"], rows["time_s"], strict=True))
        for variant, rows in table.groupby("variant")
    }
    logged_sizes = []
    for size in observed.sizes.tolist():
        if not SMALLEST <= size <= LARGEST:
            continue
        asked = scenario(observed, shaped, path or observed.path or cluster.paths[0], size)
        if asked is not None:
            asked = asked.with_(library_version=version, library=library)
            # Python's own numbers: JSON holds no bool that two of pandas' make.
            both = tuple(
                float(times.get(kind, {}).get(size, math.nan)) for kind in ("out-of-place", "in-place")
            )
            # Tools other than nccl-tests have one time for a size, and call it neither.
            if all(map(math.isnan, both)):
                both = (_time(observed, size), math.nan)
            logged_sizes.append(LoggedSize(asked, *both))
    if not logged_sizes:
        raise RecordsError("no size of 8 B to 4 GiB between nodes: nothing can be compared")
    return logged_sizes


def _time(observed: Any, size: int) -> float:
    return float(observed.times_s[list(observed.sizes).index(size)])


def _compared(
    name: str,
    rows: Sequence[LoggedSize],
    constants: Mapping[str, float],
    on: tuple[str, ...],
    machine: LoggedMachine | None = None,
) -> Unseen:
    points = []
    for row in rows:
        cluster = row.scenario.hardware
        for key, value in constants.items():
            cluster = _with_constant(cluster, key, value)
        asked = row.scenario.with_(cluster=cluster)
        alone = row.scenario.with_(library="none", library_version=None)
        both = time_s(asked), time_s(alone)
        points.append(
            SizeError(
                asked.nbytes, row.out_of_place_s, row.in_place_s, *both, asked.library_says, _ends_s(asked, both[0]),
                asked.choice.course.algorithm if asked.choice else "", all(gap.promised for gap in unsolved(asked)), bool(machine and machine.was_held_up(asked.nbytes)),
            )
        )  # fmt: skip
    library = rows[0].scenario.used_library
    more = (machine.promised, machine.own_range, machine.note) if machine else ()
    return Unseen(
        name,
        library.title if library else "none",
        constants,
        on,
        tuple(points),
        str(rows[0].scenario.path),
        rows[0].scenario.given_cluster.name,
        library.transport if library else "",
        *more,
    )


def _with_constant(cluster: Cluster, key: str, value: float) -> Cluster:
    """Return a cluster with a constant that logs of others fitted; its range is that of the library's file."""
    if key not in cluster.figures:
        return cluster
    figure = cluster.figures[key]
    return cluster.with_figure(
        key, value, source=figure.source, assumption=figure.assumption, range=figure.range
    )


def _ends_s(asked: Scenario, here_s: float) -> tuple[float, float]:
    values = [here_s, *map(time_s, corners(asked))]
    # What is not solved is a factor on top: no figure's range covers it.
    shortest, longest = takes(unsolved(asked))
    return min(values) * shortest, max(values) * longest
