"""How `peerlab simulate --sensitivity` says what an answer owes to assumptions."""

from collections.abc import Sequence
from typing import Any

from peerlab.cli.words import table
from peerlab.model.uses import assumed, figures_used
from peerlab.run import Run
from peerlab.sensitivity import Band
from peerlab.units import say_unit

_HEAD = ("assumed figure", "value", "from", "to", "busbw from", "busbw to", "change")


def sensitivity_document(run: Run) -> dict[str, Any]:
    """Return the sensitivity of a run as plain values, units in the names."""
    band = run.sensitivity_band()
    return {
        "band_GBps": [band.low_GBps, band.high_GBps],
        "figures": run.sensitivity().to_dict("records"),
        "not_varied": dict(_not_varied(run)),
    }


def print_sensitivity(runs: Sequence[tuple[str, Run]]) -> None:
    """Print, for each named run, what its bus bandwidth owes to each assumed figure."""
    for name, run in runs:
        print(f"\n{name}: {_say_band(run.sensitivity_band())}")
        rows = [_row(one) for one in run.sensitivity().to_dict("records")]
        if rows:
            print(table(_HEAD, rows, right=range(1, len(_HEAD) - 1)))
        for figure, what in _not_varied(run):
            print(f"  {figure} is not varied: {what}")


def _say_band(band: Band) -> str:
    ends = f"{band.low_GBps:.3g} to {band.high_GBps:.3g} GB/s"
    if band.low_GBps == band.high_GBps:
        return f"{band.value_GBps:.3g} GB/s; no assumed figure with a range matters"
    return f"{band.value_GBps:.3g} GB/s; {ends} if all assumed figures lie at the ends of their ranges"


def _row(one: dict[Any, Any]) -> tuple[str, ...]:
    changes = [one["change_at_low_percent"], one["change_at_high_percent"]]
    return (
        one["figure"],
        f"{one['value']:g}{say_unit(one['unit'])}",
        f"{one['low']:g}",
        f"{one['high']:g}",
        f"{one['busbw_at_low_GBps']:.3g}",
        f"{one['busbw_at_high_GBps']:.3g} GB/s",
        " / ".join(_say_change(change) for change in changes),
    )


def _say_change(percent: float) -> str:
    return f"{percent:+.1f} %" if abs(percent) >= 0.05 else "0 %"


def _not_varied(run: Run) -> list[tuple[str, str]]:
    """Return the assumptions that are yes or no: key and what is assumed."""
    used, varied = figures_used(run.scenario), {figure.key for figure in assumed(run.scenario)}
    found = run.scenario.hardware.assumptions
    return [(one.key, one.assumption) for one in found if one.key in used and one.key not in varied]
