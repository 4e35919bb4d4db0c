"""A run that is held up at some sizes: figures of such a run tell nothing of the path."""

from peerlab.base.numbers import np
from peerlab.base.units import PS_PER_S, say_bytes, say_time
from peerlab.diagnosis.evidence import Evidence
from peerlab.diagnosis.knowledge import Knowledge
from peerlab.diagnosis.observed import Observed

TRUSTED = ("line", "set-up")
"""Kinds of evidence that are no figures of the run."""


def pathology(seen: Observed, know: Knowledge) -> str:
    """Return in words where neighbouring sizes differ by more than sizes can explain; empty where they do not.

    A larger message takes an order of magnitude longer per byte than its neighbour, or an order of magnitude less time than it.
    """
    most = know.ranges["pathology"].high
    sizes, times = seen.sizes.astype(float), seen.times_s
    if len(times) < 2:
        return ""
    # Per byte, as a larger message may take longer; it may never take much less than a smaller one.
    slower = times[1:] / times[:-1] / (sizes[1:] / sizes[:-1])
    quicker = times[:-1] / times[1:]
    worst = np.maximum(slower, quicker)
    at = int(worst.argmax())
    if worst[at] < most:
        return ""
    each = (
        f"{say_bytes(int(sizes[place]))} takes {say_time(times[place] * PS_PER_S)}" for place in (at, at + 1)
    )
    return f"{' and '.join(each)}: something holds this run up at some sizes"


def trusted(piece: Evidence) -> bool:
    """Return whether a piece of evidence counts in a run that is held up: words do, and how prompt its smallest messages are."""
    return piece.kind in TRUSTED or piece.of_smallest
