"""Derives the factors of floors (``data/floors.toml``) from machines that were left out: how far below the band of its figures a healthy run was."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from peerlab.base.units import say_percent
from peerlab.features.validate.held_out.law_errors import LeftOut, quantile
from peerlab.question.floors import SHARE, FloorFactor

# One log alone would take its own luck for its transport's.
MACHINES = 2
"""A floor needs the logs of so many machines."""
_HEAD = f"""\
# How far below the band of assumed figures a healthy run was at most. Written by `peerlab validate --floors`, not by hand: of the times measured
# on machines that were left out of the fit in turn, {say_percent(SHARE)} missed the slow end of that band by no more. `peerlab expect` puts its floor so far below.
# Transports whose accuracy is promised share a row; each other one has its own, where {MACHINES} machines were measured. Sizes at which a log was held up (data/machines.toml) are left out.
"""


def floor_factors_of(times: Sequence[LeftOut]) -> list[FloorFactor]:
    """Return the factors of floors, by what carries the bytes: promised transports together, then each other one."""
    clean = [time for time in times if not time.point.held_up]
    # Transports that are promised are pooled: one factor of six machines is surer than two of three.
    promised = [sample for sample in clean if sample.promised]
    carriers = {sample.machine.transport for sample in promised}
    groups = [promised] + [
        [sample for sample in clean if sample.machine.transport == transport]
        for transport in sorted({sample.machine.transport for sample in clean} - carriers)
    ]
    factors = [_factor(group) for group in groups if group]
    return [factor for factor in factors if len(factor.machines) >= MACHINES]


def _factor(group: Sequence[LeftOut]) -> FloorFactor:
    # The slow end: a run that is faster than its band is no fault.
    misses = (sample.point.measured_s / sample.point.ends_s[1] for sample in group)
    return FloorFactor(
        transports=tuple(sorted({sample.machine.transport for sample in group})),
        # Rounded up to a hundredth: rounded down, a floor could lie above a healthy run.
        times=round(float(quantile(misses, SHARE)) + 0.005, 2),
        sizes=len(group),
        machines=tuple(sorted({sample.machine.cluster for sample in group})),
        promised=all(sample.machine.promised for sample in group),
    )


def written_floors(factors: Iterable[FloorFactor]) -> str:
    """Return the text of ``data/floors.toml``."""
    return _HEAD + "".join(map(_row, factors))


def _row(factor: FloorFactor) -> str:
    values = {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(factor).items()
    }
    # JSON writes such texts, numbers and lists as TOML does
    return "\n[[floor]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
