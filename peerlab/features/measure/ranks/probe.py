"""What a measurement may use beyond the usual, as this machine allows it."""

from peerlab.base.errors import MeasurementError
from peerlab.features.measure.schedule import Measurement
from peerlab.machine.attempts import why_not

_EXTRAS = ("cma", "io_uring")  # what mlock allows is a matter of the limit, and said when it refuses


def check(plan: Measurement) -> None:
    """Refuse what does not work here, and was asked for by name.

    Raises
    ------
    MeasurementError
        With the kernel's reason.
    """
    # Named registrations are insisted on, so they need pinning; those by default may be left out.
    pinning = any(case.registration.pins for case in plan.cases) and plan.insist
    rows = [("arms", arm) for arm in plan.arms] + [("pins", plan.pins)] * pinning
    for field, extra in rows:
        reason = why_not(extra) if extra in _EXTRAS else ""
        if reason:
            raise MeasurementError(f"{field}: {extra!r} does not work here: {reason}")


def extras() -> dict[str, str]:
    """Return each extra with ``works``, or why it does not."""
    return {extra: why_not(extra) or "works" for extra in (*_EXTRAS, "mlock")}
