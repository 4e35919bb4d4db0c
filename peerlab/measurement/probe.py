"""What this machine allows beyond the usual: tried, never assumed."""

import errno
import mmap
import os
from collections.abc import Callable, Mapping

from peerlab.errors import MeasurementError
from peerlab.measurement import linux
from peerlab.measurement.plan import Measurement
from peerlab.measurement.ring import PAGE


def _write_across() -> None:
    with mmap.mmap(-1, PAGE) as ground:
        start = linux.address_of(ground)
        linux.write_into(os.getpid(), start, start, PAGE)


def _pin() -> None:
    table = linux.PinTable(1)
    with mmap.mmap(-1, PAGE) as ground:
        try:
            table.put(0, linux.address_of(ground), PAGE)
        finally:
            table.close()


_TRIALS: Mapping[str, Callable[[], None]] = {"cma": _write_across, "io_uring": _pin}


def why_not(extra: str) -> str:
    """Return why ``cma`` or ``io_uring`` does not work here, in the kernel's words; empty if it does."""
    try:
        _TRIALS[extra]()
    except OSError as problem:
        return f"{errno.errorcode.get(problem.errno or 0, '?')} ({problem.strerror})"
    return ""


def check(plan: Measurement) -> None:
    """Refuse an extra that does not work here.

    Raises
    ------
    MeasurementError
        If one is asked for, with the kernel's reason.
    """
    asked = [("arms", one) for one in plan.arms] + [("pins", plan.pins)]
    for field, extra in asked:
        reason = why_not(extra) if extra in _TRIALS else ""
        if reason:
            raise MeasurementError(f"{field}: {extra!r} does not work here: {reason}")


def extras() -> dict[str, str]:
    """Return each extra with ``works``, or why it does not."""
    return {extra: why_not(extra) or "works" for extra in _TRIALS}
