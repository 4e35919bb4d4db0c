"""Whether a fit can be used, and what speaks against it."""

# A calibration judges its own fit. It returns numbers whatever the log; so it says *bad* where the median
# error stays above what peerlab's own clusters are held to, or where the file was no worse before. It marks
# the sizes that it does not fit, and shows no interval for a constant at the end of its range: cut off
# there, the interval would be narrow where least is known.

from collections.abc import Iterator, Sequence

import numpy as np

from peerlab.base.units import say_bytes, say_count, say_percent
from peerlab.diagnosis.knowledge import knowledge
from peerlab.diagnosis.observed import Floats
from peerlab.features.calibrate.constants import Constant

GOOD, DOUBTFUL, BAD = "good", "doubtful", "bad"
_FEW = 0.25
"""Share of the sizes at which a fit may be worse than the file, a judgement: libraries choose badly at single sizes."""


def median_error(simulated_s: Floats, measured_s: Floats) -> float:
    """Return the median relative error of simulated times."""
    return float(np.median(np.abs(simulated_s / measured_s - 1)))


def worse(before_s: Floats, after_s: Floats, measured_s: Floats) -> list[bool]:
    """Return for each size whether the fit is farther from it than the file was, and too far."""
    before, after = (np.abs(times_s / measured_s - 1) for times_s in (before_s, after_s))
    return [bool(is_worse) for is_worse in (after > before) & (after > allowed())]


def allowed() -> float:
    """Return the median relative error up to which a fit can be used."""
    return knowledge().ranges["fitted"].high


def verdict(
    constants: Sequence[Constant],
    sizes: Floats,
    before_s: Floats,
    after_s: Floats,
    measured_s: Floats,
    left_out: Floats,
) -> tuple[str, tuple[str, ...]]:
    """Return ``good``, ``doubtful`` or ``bad``, and what speaks against the fit: sentences."""
    before, after = median_error(before_s, measured_s), median_error(after_s, measured_s)
    lost = [
        size for size, is_worse in zip(sizes, worse(before_s, after_s, measured_s), strict=True) if is_worse
    ]
    bad = list(_against(before, after))
    doubts = list(_doubts(constants, after, float(np.median(np.abs(left_out)))))
    judged = BAD if bad else DOUBTFUL if doubts or len(lost) > _FEW * len(sizes) else GOOD
    if lost:
        what = ", ".join(say_bytes(round(size)) for size in lost[:4]) + (", ..." if len(lost) > 4 else "")
        doubts.append(f"{len(lost)} of {say_count(len(sizes), 'size')} came out worse than before ({what})")
    return judged, (*bad, *doubts)


def _against(before: float, after: float) -> Iterator[str]:
    if after > allowed():
        yield (
            f"a fit that can be used has a median error of {say_percent(allowed())} at most: leave out the sizes "
            "that the path does not explain, or try another path"
        )
    if after > before:
        yield "it is no better than the file was"


def _doubts(constants: Sequence[Constant], after: float, left_out: float) -> Iterator[str]:
    if left_out > allowed() >= after:
        yield f"a size that was left out of the fit is met with {say_percent(left_out, 1)} error: the fit follows single sizes"
    if not any(constant.identified for constant in constants):
        yield "this log tells none of the constants"
    if ends := [constant.key for constant in constants if constant.at_end]:
        which = "its interval is" if len(ends) == 1 else "their intervals are"
        yield f"at the end of the range: {', '.join(ends)}; {which} cut off there and would say too little"
