"""What a calibration says: whether the fit can be used, the constants that the log tells and those that it cannot, and the fit size by size."""

from collections.abc import Iterator

from peerlab.base.document import Cell, Conclusion, Document, Item, Items, Part, Table, Text
from peerlab.base.units import PS_PER_S, say_bytes, say_percent, say_time, say_unit
from peerlab.features.calibrate.calibration import Calibration
from peerlab.features.calibrate.constants import Constant
from peerlab.model.hardware import named

_STATUSES = {"good": "pass", "doubtful": "warn", "bad": "fail"}
_OF_CONSTANTS = ("constant", "before", "fitted", "95 % interval", "remark")
_OF_SIZES = ("message", "measured", "simulated before", "simulated after", "")


def calibration_document(calibration: Calibration) -> Document:
    """Return what a calibration says."""
    title = f"{calibration.cluster.title}: constants fitted on a log"
    return Document(title, tuple(_parts(calibration)))


def _parts(calibration: Calibration) -> Iterator[Part]:
    errors = (
        f"median error of the simulated times: {say_percent(calibration.error_before, 1)} before, {say_percent(calibration.error_after, 1)} after, "
        f"{say_percent(calibration.error_left_out, 1)} at a size left out of the fit"
    )
    yield Conclusion(_STATUSES[calibration.verdict], f"{calibration.verdict.capitalize()} fit", errors)
    yield Items("", [Item(reason) for reason in calibration.why])
    whence = f"Path: {calibration.path}, {calibration.path_from}; fitted on {calibration.cluster.fitted_on}"
    yield Text(whence, quiet=True)
    constants = [_constant(constant) for constant in calibration.constants]
    # a column without a remark has no heading either
    shown = len(_OF_CONSTANTS) if any(constant.remark for constant in calibration.constants) else -1
    yield Table("The constants", _OF_CONSTANTS[:shown], [row[:shown] for row in constants], right={1, 2, 3})
    yield Table(
        "The fit, size by size", _OF_SIZES, list(_sizes(calibration)), right={0, 1, 2, 3}, folded=True
    )


def _constant(constant: Constant) -> tuple[str | Cell, ...]:
    unit = say_unit(constant.unit)
    before = f"{constant.before:.4g}{unit}"
    if not constant.identified:
        return (named(constant.key), before, "cannot tell", "-", constant.remark)
    # an end of the search says nothing of how far the log lets the constant go
    interval = "cut off" if constant.at_end else f"{constant.low:.4g} to {constant.high:.4g}{unit}"
    return (
        named(constant.key),
        before,
        Cell(f"{constant.value:.3g}{unit}", strong=True),
        interval,
        constant.remark,
    )


def _sizes(calibration: Calibration) -> Iterator[tuple[str | Cell, ...]]:
    simulated = (calibration.before_s, calibration.after_s)
    errors = [times / calibration.measured_s - 1 for times in simulated]
    worst = max((float(abs(error).max(initial=0.0)) for error in errors), default=0.0) or 1.0
    for place, (size, measured, worse) in enumerate(
        zip(calibration.sizes, calibration.measured_s, calibration.worse, strict=True)
    ):
        cells = [
            Cell(
                f"{say_time(round(times[place] * PS_PER_S))} ({say_percent(error[place], 1, sign=True)})",
                bar=abs(error[place]) / worst,
            )
            for times, error in zip(simulated, errors, strict=True)
        ]
        yield (
            say_bytes(round(size)), say_time(round(measured * PS_PER_S)), *cells, Cell("worse", strong=True) if worse else "",
        )  # fmt: skip
