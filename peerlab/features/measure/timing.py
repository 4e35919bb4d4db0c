"""One run on one rank: what its clocks say."""

import resource
import time
from collections.abc import Callable, Sequence
from typing import Any

from peerlab.collectives.ring_moves import RingMove
from peerlab.features.measure.ranks.arms import Arm


def timed(arm: Arm, moves: Sequence[RingMove], barrier: Callable[[], None]) -> dict[str, Any]:
    """Run an AllReduce once all are there; return time, processor time and bytes copied, by the names of records."""
    # The clock starts behind the barrier: waiting for a late rank is no part of the AllReduce.
    barrier()
    # Reading processor time is a system call: it stands outside the wall clock, at both ends.
    used, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    arm.run(moves)
    ended, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    return {
        "time_s": ended - began,
        "user_s": after.ru_utime - used.ru_utime,
        "system_s": after.ru_stime - used.ru_stime,
        "copied_bytes": arm.copied(moves),
    }
