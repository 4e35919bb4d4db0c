"""The critical path: what the end of a run waited for, back to its beginning."""

from dataclasses import dataclass

import numpy as np

from peerlab.trace import Recording, Trace

WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of the critical path."""

    stage: str
    """Key of `STAGES`, or ``wait`` where nothing recorded explains the time (a cache lookup, a link's latency)."""
    start_ps: int
    """From when."""
    end_ps: int
    """To when."""
    row: int
    """Row of the unrolled spans, or -1."""


class _Spans:
    """The unrolled spans of one recording, indexed by the time of their end."""

    def __init__(self, recording: Recording) -> None:
        spans = recording.unrolled
        self.order = np.argsort(spans["end"], kind="stable")
        self.ends = spans["end"][self.order]
        names = ("node", "device", "step", "slice", "resource", "queued", "start", "end", "stage")
        self.columns = {name: spans[name].tolist() for name in names}

    def ending(self, when: int) -> list[int]:
        """Return the rows that end at `when`."""
        low, high = np.searchsorted(self.ends, (when, when + 1))
        return [int(row) for row in self.order[low:high]]

    def latest(self, before: int) -> int | None:
        """Return a row that ends last of those that end before `before`."""
        at = int(np.searchsorted(self.ends, before)) - 1
        return int(self.order[at]) if at >= 0 else None

    def kinship(self, cause: int, effect: int) -> int:
        """Return how directly one row explains the beginning of another; higher is more direct."""
        c = self.columns
        if c["start"][effect] > c["queued"][effect] and c["resource"][cause] == c["resource"][effect]:
            return 5  # it queued behind that one
        same = [c[name][cause] == c[name][effect] for name in ("node", "device", "step", "slice")]
        if all(same):
            return 4  # its own stage before
        if same[0] and same[1] and same[2] and c["slice"][cause] < 0:
            return 3  # its transfer's registration
        if same[1] and same[3] and c["step"][cause] + 1 == c["step"][effect]:
            return 2  # the same slice, one step before
        return 1 if same[0] and same[1] else 0


def critical_path(trace: Trace, recording: Recording) -> list[Segment]:
    """Return the segments that led to the end of the recording, first to last, without a gap."""
    spans = _Spans(recording)
    c, path, when = spans.columns, list[Segment](), recording.end_ps
    effect: int | None = None
    while when > 0:
        causes = spans.ending(when)
        if not causes:
            last = spans.latest(when)
            begin = c["end"][last] if last is not None else 0
            path.append(Segment(WAIT, begin, when, -1))
            when = begin
            continue
        row = (
            causes[0] if effect is None else max(causes, key=lambda cause: spans.kinship(cause, effect or 0))
        )
        path.append(Segment(trace.stages[c["stage"][row]], c["start"][row], when, row))
        when, effect = c["start"][row], row
    return path[::-1]
