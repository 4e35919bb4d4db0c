"""A calibration in a notebook: the constants that a log tells, those that it cannot, and the fit size by size."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from peerlab.base.units import PS_PER_S, say_bytes, say_time, say_unit
from peerlab.features.calibrate.calibration import Calibration
from peerlab.page.frame import framed, table

Told = Mapping[str, Any]

_WIDEST_PX = 80
_SIGNS = {"good": ("pass", "✓"), "doubtful": ("warn", "▲"), "bad": ("fail", "✕")}


def calibration_html(told: Told) -> str:
    """Return a calibration as HTML that brings its own style; `told` is what its `as_dict` returns."""
    return framed("calibration", f"{told['cluster']}: constants fitted on a log", "".join(_parts(told)))


def _parts(told: Told) -> Iterable[str]:
    before, after, left_out = (told[f"median_error_{name}"] for name in ("before", "after", "left_out"))
    status, sign = _SIGNS[told["verdict"]]
    why = "".join(f"<li>{escape(one[:1].upper() + one[1:])}.</li>" for one in told["why"])
    yield (
        f"<p class='pl-verdict pl-{status}'><span class='pl-sign' aria-hidden='true'>{sign}</span> "
        f"<b>{escape(told['verdict'].capitalize())} fit</b>: median error of the simulated times {before:.1%} before, "
        f"<b>{after:.1%} after</b>, {left_out:.1%} at sizes left out of the fit</p>"
    )
    yield f"<ul>{why}</ul>" if why else ""
    yield f"<p class='pl-quiet'>path: {escape(told['path'])}, {escape(told['path_from'])}</p>"
    head = ("constant", "before", "fitted", "95 % interval", "remark")
    yield table("The constants", head, [_constant(one) for one in told["constants"]])
    yield table("The fit", ("message", "measured", "simulated before", "simulated after"), _sizes(told))


def _constant(one: Told) -> tuple[str, ...]:
    unit, key = say_unit(one["unit"]), f"<code>{escape(one['key'])}</code>"
    if not one["identified"]:
        return (key, f"{one['before']:.4g}{unit}", "cannot tell", "", escape(one["remark"]))
    interval = "cut off" if one["at_end"] else f"{one['low']:.4g} to {one['high']:.4g}{unit}"
    return (
        key,
        f"{one['before']:.4g}{unit}",
        f"<b>{one['value']:.4g}{unit}</b>",
        interval,
        escape(one["remark"]),
    )


def _sizes(told: Told) -> Iterable[tuple[str, ...]]:
    columns = ("message_bytes", "measured_s", "simulated_before_s", "simulated_after_s", "worse")
    rows = list(zip(*(told[name] for name in columns), strict=True))
    worst = max((abs(value / row[1] - 1) for row in rows for value in row[2:4]), default=0.0)
    for size, measured, *simulated, lost in rows:
        before, after = (_against(value, measured, worst) for value in simulated)
        told_worse = " <b>worse</b>" if lost else ""
        yield (say_bytes(round(size)), say_time(round(measured * PS_PER_S)), before, after + told_worse)


def _against(simulated: float, measured: float, worst: float) -> str:
    """Return a simulated time with its error, also as a bar beside those of the others."""
    error = simulated / measured - 1
    width = round(_WIDEST_PX * abs(error) / worst) if worst else 0
    bar = f"<span class='pl-bar' style='width:{width}px;background:var(--pl-hot)'></span>"
    return f"{say_time(round(simulated * PS_PER_S))} {bar} {error:+.1%}"


def fit_html(calibration: Calibration) -> str:
    """Return a calibration: its constants, and the fit size by size."""
    return calibration_html(calibration.as_dict())
