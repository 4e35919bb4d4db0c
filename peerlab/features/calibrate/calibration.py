"""Fits a cluster's constants on a log, and makes a cluster with the fitted ones, each with its source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from peerlab.base.display import shown
from peerlab.base.errors import PeerlabError, RecordsError, ScenarioError
from peerlab.base.units import KIB, MIB, parse_bytes, say_bytes, say_count, say_percent
from peerlab.diagnosis import diagnose, explanations
from peerlab.diagnosis.observed import Floats, Observed, fullest, observe
from peerlab.diagnosis.replay import IN_FLIGHT, scenario, shape
from peerlab.features.calibrate.constants import Constant, choose
from peerlab.features.calibrate.fit import fit
from peerlab.features.calibrate.fitness import median_error, verdict, worse
from peerlab.features.calibrate.model import Model
from peerlab.features.calibrate.outcome import constant, described
from peerlab.library.library_files import serving, with_library
from peerlab.model.hardware import Cluster
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.question.write_cluster import cluster_text, write_new
from peerlab.records import Records, checked_records

# A latency and a rate meet any two sizes: only a third one shows an error.
_FEWEST = 3
_MOST = 16
"""Sizes that are fitted, at most, evenly chosen: each is simulated some hundred times."""
_LARGEST = 64 * MIB
"""Larger messages are left out where enough smaller ones are there: rates hardly change, and simulating takes long."""
_SMALLEST_IN_FLIGHT = 64 * KIB
"""Below this, many messages in flight tell how often a processor can post one, which the model does not have."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """A cluster's constants, fitted on a log."""

    cluster: Cluster
    """The cluster with the fitted constants, their intervals as ranges and what they were fitted on."""
    path: str
    """The data path that the log took."""
    path_from: str
    """Who says so."""
    constants: tuple[Constant, ...]
    """All that were tried, in the order of `FITTABLE`."""
    sizes: Floats
    """Message sizes that were fitted, bytes, ascending."""
    measured_s: Floats
    """Times of the log, seconds."""
    before_s: Floats
    """Simulated with the constants as they were, seconds."""
    after_s: Floats
    """Simulated with the fitted ones, seconds."""
    left_out: Floats
    """Simulated over measured time, less 1, when each size itself is left out of the fit (the model taken as straight)."""
    seen: Observed
    """The curve of the log, with the lines and settings around it."""

    @property
    def error_before(self) -> float:
        """Median relative error of the simulated times with the constants as they were."""
        return median_error(self.before_s, self.measured_s)

    @property
    def error_after(self) -> float:
        """The same with the fitted ones."""
        return median_error(self.after_s, self.measured_s)

    @property
    def error_left_out(self) -> float:
        """The same at sizes that were left out of the fit: what to expect of a prediction."""
        return float(np.median(np.abs(self.left_out)))

    @property
    def worse(self) -> list[bool]:
        """For each size, whether the fit is farther from it than the file was, and too far."""
        return worse(self.before_s, self.after_s, self.measured_s)

    @property
    def verdict(self) -> str:
        """``good``, ``doubtful`` or ``bad``: whether these constants can be used."""
        return self._verdict[0]

    @property
    def why(self) -> tuple[str, ...]:
        """What speaks against the fit: sentences; a good one may lose single sizes."""
        return self._verdict[1]

    @property
    def _verdict(self) -> tuple[str, tuple[str, ...]]:
        return verdict(
            self.constants, self.sizes, self.before_s, self.after_s, self.measured_s, self.left_out
        )

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the cluster to a file of its own, named after it.

        Raises
        ------
        HardwareError
            If there is such a file already (unless `force`), or it cannot be written.
        """
        file = Path(path)
        remark = f"Written by peerlab calibrate: {self.cluster.name} with constants fitted on {self.cluster.fitted_on}."
        write_new(file, cluster_text(replace(self.cluster, name=file.stem), remark), force=force)

    _repr_html_ = shown

    def __repr__(self) -> str:
        errors = f"{say_percent(self.error_before, 1)} before, {say_percent(self.error_after, 1)} after"
        return f"Calibration({self.cluster.name}, {self.path}, {self.verdict}: median error of the simulated times {errors})"

    def as_dict(self) -> dict[str, Any]:
        """Return the calibration as plain values that JSON can hold, units in the names."""
        return {
            "cluster": self.cluster.name,
            "path": self.path,
            "path_from": self.path_from,
            "verdict": self.verdict,
            "why": list(self.why),
            "constants": [vars(outcome) for outcome in self.constants],
            "message_bytes": self.sizes.tolist(),
            "measured_s": self.measured_s.tolist(),
            "simulated_before_s": self.before_s.tolist(),
            "simulated_after_s": self.after_s.tolist(),
            "worse": self.worse,
            "median_error_before": self.error_before,
            "median_error_after": self.error_after,
            "median_error_left_out": self.error_left_out,
        }


def calibrate(
    records: Records,
    cluster: str | Path | Cluster,
    *,
    path: str | None = None,
    constants: str | Sequence[str] | None = None,
    smallest_bytes: int | str | None = None,
    seed: int = 0,
    today: date | None = None,
    progress: Callable[[], object] = lambda: None,
) -> Calibration:
    """Return a cluster's constants fitted on some records.

    Parameters
    ----------
    cluster:
        A known name, a cluster file, or a `Cluster`; its assumed figures are fitted, within their ranges.
    path:
        The data path that the log took; None: as the records say, or as `diagnose` finds.
    constants:
        Keys of the figures to be fitted, or one; None: all of `FITTABLE` that are assumed and met.
    smallest_bytes:
        Smaller messages are left out.
    seed:
        Of the bootstrap.
    today:
        Written beside each fitted figure.
    progress:
        Called after each simulation; may raise `peerlab.base.errors.Cancelled`.

    Raises
    ------
    RecordsError
        If there are too few sizes, or nobody knows the path.
    HardwareError, ScenarioError
        If the cluster has no such path or constant, or the simulation cannot answer the log.
    """
    if not isinstance(seed, int) or seed < 0:
        raise ScenarioError("seed", f"{seed!r} is no whole number of 0 or more")
    base = cluster if isinstance(cluster, Cluster) else load_cluster(cluster)
    # Of a log with several runs the one of most nodes is fitted (`peerlab calibrate` says so).
    records = fullest(checked_records(records).runs)
    observed = observe(records)
    path, path_from = _path(records, observed, base, path)
    base = with_library(base, serving(base.library, path))  # what is fitted may be the library's
    rows = _rows(observed, smallest_bytes)
    scenarios = _scenarios_of(observed, base, path, observed.sizes[rows])
    wanted = [constants] if isinstance(constants, str) else constants
    # On the effective machine: with a library some of its figures are the library's.
    figures = choose(scenarios[0].hardware, scenarios, wanted)
    messages = IN_FLIGHT if observed.variant == "bandwidth" else 1
    model, measured = Model(scenarios, messages, figures, progress), observed.times_s[rows]
    before = model.times_s(model.start)
    fitted = fit(model, measured, seed)
    outcomes = tuple(constant(figure, fitted) for figure in figures)
    return Calibration(
        cluster=described(base, outcomes, observed, observed.sizes[rows], today or date.today()),  # noqa: DTZ011  (the user's day)
        path=path,
        path_from=path_from,
        constants=outcomes,
        sizes=observed.sizes[rows].astype(float),
        measured_s=measured,
        before_s=before,
        after_s=fitted.model.times_s(fitted.values),
        left_out=fitted.errors,
        seen=observed,
    )


def _path(records: Records, observed: Observed, base: Cluster, path: str | None) -> tuple[str, str]:
    """Return the path, and who says so."""
    if observed.path and path is None and observed.path not in explanations():
        raise RecordsError(
            f"{observed.path!r} is no data path of a cluster: these records are of one machine, nothing is to be fitted"
        )
    if path or observed.path:
        return path or observed.path, "as given" if path else "as the records say"
    diagnosis = diagnose(records, base)
    if diagnosis.path is None:
        raise RecordsError(f"{diagnosis.why}: say which path it took")
    return diagnosis.path, f"as diagnosed ({diagnosis.verdict})"


def _rows(observed: Observed, smallest_bytes: int | str | None) -> NDArray[np.int64]:
    """Return the places of the sizes to be fitted."""
    try:
        least = parse_bytes(smallest_bytes) if smallest_bytes is not None else 1
    except ValueError as problem:
        raise RecordsError(f"smallest message: {problem}") from None
    if least < 1:
        raise RecordsError(f"smallest message: {smallest_bytes} is out of range; give 1 or more")
    if smallest_bytes is None and observed.variant == "bandwidth":
        least = _SMALLEST_IN_FLIGHT
    enough = observed.sizes >= least
    # Large messages are dropped only where enough others are left.
    moderate = enough & (observed.sizes <= _LARGEST)
    rows: NDArray[np.int64] = np.flatnonzero(moderate if moderate.sum() >= _FEWEST else enough)
    if len(rows) < _FEWEST:
        raise RecordsError(
            f"{say_count(len(rows), 'size')} of {say_bytes(least)} or more: too few to fit; give {_FEWEST} or more"
        )
    evenly: NDArray[np.int64] = rows[np.unique(np.linspace(0, len(rows) - 1, _MOST).round().astype(int))]
    return evenly


def _scenarios_of(observed: Observed, base: Cluster, path: str, sizes: NDArray[np.int64]) -> list[Scenario]:
    shaped = shape(base, observed)
    if shaped is None:
        raise ScenarioError(
            "cluster",
            f"{observed.ranks} ranks on {observed.nodes} nodes do not fit {base.name}'s {base.devices} devices a node",
        )
    asked = [scenario(observed, shaped, path, int(size)) for size in sizes]
    scenarios = [case for case in asked if case is not None]
    if not scenarios:
        raise PeerlabError(
            "two ranks in one node use one link: its rate is the log's plateau, there is nothing to fit"
        )
    return scenarios
