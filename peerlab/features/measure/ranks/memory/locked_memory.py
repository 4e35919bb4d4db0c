"""The locked-memory limit: how much may be registered, what the kernel says beyond it, and what helps."""

import errno
import json
import mmap
import resource
import sys
from dataclasses import dataclass

from peerlab.base.display import shown
from peerlab.base.errors import MeasurementError
from peerlab.base.units import KIB, MIB, parse_bytes, say_bytes
from peerlab.features.measure.ranks.starting import apart
from peerlab.machine import linux

_HELP = "raise it with 'ulimit -l', LimitMEMLOCK= of a service or --ulimit memlock= of a container"
_MOST_BYTES = 256 * MIB
"""What the demonstration registers at most, whatever it was asked for."""


def limit_bytes() -> int | None:
    """Return RLIMIT_MEMLOCK of this process; None: unlimited."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else soft


def say_limit() -> str:
    """Return the limit in words."""
    limit = limit_bytes()
    return "unlimited" if limit is None else say_bytes(limit)


def say_refusal(problem: OSError, asked: int, registered: int) -> MeasurementError:
    """Return what the kernel's refusal to register means; `registered` counts what was asked for, too."""
    name = errno.errorcode.get(problem.errno or 0, "?")
    words = f"registering {say_bytes(asked)} failed: {name} ({problem.strerror})"
    # With a limit of 0 the kernel says EPERM in place of ENOMEM: no such call is allowed at all (mlock(2)).
    if problem.errno not in (errno.ENOMEM, errno.EAGAIN) and limit_bytes() != 0:
        return MeasurementError(words)
    held = say_bytes(registered - asked)
    return MeasurementError(
        f"{words}; {held} are registered already, the locked-memory limit (RLIMIT_MEMLOCK) is {say_limit()}; {_HELP}"
    )


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What happened when a process registered regions until the kernel said no."""

    limit_bytes: int
    """The locked-memory limit it had."""
    region_bytes: int
    """What it registered each time."""
    regions: int
    """How often that worked."""
    error: str
    """The kernel's name for the reason, such as ``ENOMEM``; empty if it never said no."""
    explanation: str
    """The same in words, with what helps."""

    _repr_html_ = shown


def show_limit(limit: int | str = "1 MiB", region: int | str = "64 KiB") -> Refusal:
    """Register region after region in a process with a lowered locked-memory limit, until the kernel refuses.

    Nothing of that stays: it is a process of its own, without privileges.

    Raises
    ------
    MeasurementError
        If a size is impossible, or larger than what this process may hand on.
    """
    limit_of, each = _size("limit", limit), _size("region", region)
    hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    if hard != resource.RLIM_INFINITY and limit_of > hard:
        raise MeasurementError(
            f"limit: {limit!r} is more than this process may set; at most {say_bytes(hard)}"
        )
    refusal = apart(__name__, "the demonstration", str(limit_of), str(each))
    return Refusal(limit_bytes=limit_of, region_bytes=each, **refusal)


def _size(field: str, value: int | str) -> int:
    try:
        nbytes = parse_bytes(value)
    except ValueError as problem:
        raise MeasurementError(f"{field}: {problem}") from None
    if not 4 * KIB <= nbytes <= _MOST_BYTES:
        raise MeasurementError(f"{field}: {value!r} is not from 4 KiB to {say_bytes(_MOST_BYTES)}")
    return nbytes


def _register_until_refused(limit: int, region: int) -> dict[str, str | int]:
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
    linux.drop_capabilities()  # root is above the limit
    ground = mmap.mmap(-1, _MOST_BYTES + region)  # pages that nobody touches cost nothing
    for count in range(_MOST_BYTES // region + 1):
        try:
            linux.lock(linux.address_of(ground) + count * region, region)
        except OSError as problem:
            return {
                "regions": count,
                "error": errno.errorcode.get(problem.errno or 0, "?"),
                "explanation": str(say_refusal(problem, region, (count + 1) * region)),
            }
    return {"regions": _MOST_BYTES // region, "error": "", "explanation": "the kernel refused nothing"}


if __name__ == "__main__":
    json.dump(_register_until_refused(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
