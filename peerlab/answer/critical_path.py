"""The critical path: what the end of a run waited for, back to its beginning.

A span ends because the resource's own work is done, or because the resource upstream of it is through only now: then it was held, and the
path goes on at that one's end. A span begins because the slice before it on the resource leaves, or because the resource upstream has
begun with the slice: then the path goes on at that one's beginning. Over the wire, both are a latency later.
"""

# Latency can be the bottleneck. The bottleneck is the resource with the highest busy share, unless slices
# spend more of the critical path in flight than any resource spends serving. In a pairwise exchange the
# flights of many steps overlap; there a flight costs time only while the busiest resource rests
# (`collectives/plan`: `overlaps`). At many nodes and small messages the honest answer is *latency*.

from dataclasses import dataclass
from typing import Any

from peerlab.answer.trace import REGISTRATION_KINDS, Recording, Trace
from peerlab.base.numbers import np
from peerlab.model.resources import resource_kind
from peerlab.model.stages import stage_kind

WAIT = "wait"

_FLIGHT = "flight"
_HIT = REGISTRATION_KINDS.index("hit")
_ROUND_PS = 64
"""A shared resource serves in rounds of a picosecond for each slice that it has; so much later, per copy, a slice may begin."""
_LOOK_BACK = 512
"""Spans that are looked through, at most, for the one that a wait follows."""


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
    """The unrolled spans of one recording: in the order of their ends, and as chains."""

    def __init__(self, trace: Trace, recording: Recording) -> None:
        spans = recording.unrolled
        self.resources, self.flight = trace.resources, trace.stages.index(_FLIGHT)
        self.flights = {n for n, name in enumerate(trace.stages) if stage_kind(name).counts_as == "flight"}
        """Stages that are a latency, such as the flush of received data."""
        # along a chain a slice queues, starts and ends never sooner than upstream, so their order is the chain's
        own = [spans[name] for name in ("node", "device", "step", "slice", "stage")]
        # a proxy has its message until the NIC has sent it: all of a chain may then begin and end with it
        behind = np.array([not resource_kind(resource.kind).until_sent for resource in trace.resources], bool)
        # who serves one slice at a time and has it for longer than its own work is held by another one upstream
        alone = np.array([not resource.shared for resource in trace.resources], bool)[spans["resource"]]
        is_held = alone & (spans["end"] > spans["start"] + spans["work"])
        ties = (spans["resource"], is_held, behind[spans["resource"]], spans["queued"])
        order = np.lexsort((*ties, spans["end"], spans["start"], *own[::-1]))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        self.by_end = np.lexsort((place, spans["end"]))
        self.ends = spans["end"][self.by_end]
        self.order, self.place = _one_by_one(order), _one_by_one(place)
        self.columns = {name: _one_by_one(np.ascontiguousarray(values)) for name, values in spans.items()}
        self._flights: dict[tuple[int, ...], list[int]] = {}
        for row in np.flatnonzero(spans["stage"] == self.flight).tolist():
            self._flights.setdefault(self.whose(row), []).append(row)
        self._lookups = _lookups(recording)

    def whose(self, row: int) -> tuple[int, ...]:
        """Return the slice that a row is about."""
        c = self.columns
        return c["node"][row], c["device"][row], c["step"][row], c["slice"][row]

    def times(self, row: int) -> tuple[int, int, int]:
        """Return when a row queued, started and ended."""
        c = self.columns
        return c["queued"][row], c["start"][row], c["end"][row]

    def ending(self, after: int, until: int) -> list[int]:
        """Return the rows that end later than `after` and not later than `until`, without those that take no time."""
        # Spans without length explain no time, and a walk along them would not get on.
        low, high = np.searchsorted(self.ends, (after + 1, until + 1))
        c = self.columns
        return [row for row in self.by_end[low:high].tolist() if c["start"][row] < c["end"][row]]

    def _neighbour(self, row: int, by: int) -> int:
        """Return the row so many places further along the chain of a stage, or -1."""
        at = self.place[row] + by
        if not 0 <= at < len(self.order):
            return -1
        other, stage = self.order[at], self.columns["stage"]
        return other if stage[other] == stage[row] and self.whose(other) == self.whose(row) else -1

    def upstream(self, row: int) -> tuple[int, int]:
        """Return the row of the resource upstream and that of the flight between the two; -1 where there is none."""
        c, before = self.columns, self._neighbour(row, -1)
        for flight in self._flights.get(self.whose(row), ()) if before >= 0 else ():
            # the sender's row begins no later than the flight, the receiver's no sooner than a latency after that
            left = c["start"][flight]
            here = c["start"][before] <= left <= c["end"][before]
            if here and left + c["work"][flight] <= c["start"][row]:
                return before, flight
        return before, -1

    def latency(self, flight: int) -> int:
        """Return the latency of a flight, which may be none."""
        return self.columns["work"][flight] if flight >= 0 else 0

    def looked_up(self, row: int, when: int) -> int:
        """Return when the transfer of a row began to look up its registrations, if it found them at `when`; else -1."""
        return self._lookups.get((*self.whose(row)[:3], when), -1)

    def is_held(self, row: int) -> bool:
        """Whether a row ends only because the one upstream does, its own work being done before."""
        c, (before, flight) = self.columns, self.upstream(row)
        done = c["end"][row] == c["start"][row] + c["work"][row]
        return before >= 0 and not done and c["end"][before] + self.latency(flight) == c["end"][row]

    def ahead(self, row: int) -> int:
        """Return the row that had this one's resource until it began, or -1 if it did not queue."""
        c, (queued, start, _) = self.columns, self.times(row)
        if start == queued:
            return -1
        resource = self.resources[c["resource"][row]]
        # an exclusive resource is taken at the moment at which it is left
        slack = _ROUND_PS * resource.copies if resource.shared else 0
        mine = self._together(row) if resource.shared else {c["resource"][row]}
        numbers = [
            other
            for other in self.ending(max(start - slack - 1, queued), start)
            if other != row
            and c["resource"][other] in mine
            and (not resource.shared or c["stage"][other] == c["stage"][row])
        ]
        return max(numbers, key=lambda other: self._nearness(other, row), default=-1)

    def _together(self, row: int) -> set[int]:
        """Return the resources that a slice has together: it crosses all links of a fabric at once, and queues for the first."""
        numbers, times = {self.columns["resource"][row]}, self.times(row)
        for by in (-1, 1):
            other = self._neighbour(row, by)
            while other >= 0 and self.times(other) == times:
                numbers.add(self.columns["resource"][other])
                other = self._neighbour(other, by)
        return numbers

    def _nearness(self, other: int, row: int) -> tuple[int, ...]:
        c = self.columns
        same = [int(c[name][other] == c[name][row]) for name in ("device", "node")]
        return (*same, c["end"][other], self.place[other])

    def kinship(self, cause: int, effect: int) -> int:
        """Return how directly the end of one row explains that another one's stage begins; higher is more direct."""
        c = self.columns
        same = [a == b for a, b in zip(self.whose(cause), self.whose(effect), strict=True)]
        if all(same):
            return 4  # its own stage before
        if same[0] and same[1] and same[2] and c["slice"][cause] < 0:
            return 3  # its transfer's registration
        if same[1] and same[3] and c["step"][cause] + 1 == c["step"][effect]:
            return 2  # the same slice, one step before
        return 1 if same[0] and same[1] else 0


def _lookups(recording: Recording) -> dict[tuple[int, ...], int]:
    """Return the start of every lookup in a registration cache, by node, device, step and end."""
    rows = recording.unrolled_registrations
    if not len(rows.get("kind", ())):
        return {}
    hits = rows["kind"] == _HIT
    keys = zip(*(rows[name][hits].tolist() for name in ("node", "device", "step", "end")), strict=True)
    return dict(zip(keys, rows["start"][hits].tolist(), strict=True))


class _Walk:
    """Goes from the end of a recording to its beginning; `when` is how far it has come."""

    def __init__(self, trace: Trace, recording: Recording) -> None:
        self.stages, self.spans = trace.stages, _Spans(trace, recording)
        self.path: list[Segment] = []
        self.when = recording.end_ps
        self._followed: set[int] = set()

    def run(self) -> list[Segment]:
        """Return the segments, first to last."""
        row = self._cause(-1)
        while row >= 0:
            row = self._before_end(row)
        return self.path[::-1]

    def _add(self, stage: str, begin: int, row: int) -> None:
        if begin < self.when:
            self.path.append(Segment(stage, begin, self.when, row))
            self.when = begin
            # time went back: the rows that end there are others than those that were followed
            self._followed.clear()

    def _work(self, row: int, begin: int) -> None:
        self._add(self.stages[self.spans.columns["stage"][row]], begin, row)

    def _fly(self, flight: int) -> None:
        if flight >= 0:
            self._work(flight, self.when - self.spans.latency(flight))

    def _before_end(self, row: int) -> int:
        """Return the row whose end explains the end of this one, which is now; what it did itself until then is added."""
        spans = self.spans
        if spans.columns["stage"][row] in spans.flights:
            self._fly(row)
            return self._left(row)
        if spans.is_held(row):
            before, flight = spans.upstream(row)
            self._fly(flight)
            return before
        return self._before_start(row)

    def _left(self, flight: int) -> int:
        """Return the row that sent what is in flight."""
        spans, begin = self.spans, self.spans.columns["start"][flight]
        numbers = [
            row
            for row in spans.ending(self.when - 1, self.when)
            if spans.whose(row) == spans.whose(flight)
            and spans.columns["stage"][row] not in spans.flights
            and begin in (self.when, spans.columns["start"][row])
        ]
        return max(numbers, key=lambda row: spans.place[row]) if numbers else self._cause(flight)

    def _before_start(self, row: int) -> int:
        """Return the row whose end explains why this one started, itself or somebody upstream of it."""
        spans = self.spans
        while True:
            ahead = spans.ahead(row)
            # a shared resource may take it a little later than it could; that is a part of its serving
            self._work(row, spans.columns["end"][ahead] if ahead >= 0 else spans.columns["queued"][row])
            if ahead >= 0:
                return ahead
            before, flight = spans.upstream(row)
            if before < 0:
                return self._cause(row)
            self._fly(flight)
            row = before

    def _cause(self, effect: int) -> int:
        """Return the row that ends now and explains best that the stage of `effect` begins; before it, add what nothing explains."""
        number = self.spans.looked_up(effect, self.when) if effect >= 0 else -1
        if number >= 0:
            self._add(WAIT, number, -1)
        while self.when > 0:
            now = [
                row
                for row in self.spans.ending(self.when - 1, self.when)
                if row != effect and row not in self._followed
            ]
            if now:
                row = max(now, key=lambda row: self._fitness(row, effect))
                self._followed.add(row)
                return row
            self._add(WAIT, self._last_before(effect), -1)
        return -1

    def _fitness(self, row: int, effect: int) -> tuple[int, bool, int]:
        spans = self.spans
        kinship = spans.kinship(row, effect) if effect >= 0 else 0
        # of a stage the last resource: it is through last
        return kinship, spans.columns["stage"][row] not in spans.flights, spans.place[row]

    def _last_before(self, effect: int) -> int:
        """Return when the last row ended that `effect` may have waited for, else any row; 0 if there is none."""
        spans, last = self.spans, int(np.searchsorted(self.spans.ends, self.when))
        recent = spans.by_end[max(0, last - _LOOK_BACK) : last].tolist()[::-1]
        kin = (row for row in recent if effect >= 0 and spans.kinship(row, effect) > 1)
        row = next(kin, recent[0] if recent else -1)
        return spans.columns["end"][row] if row >= 0 else 0


def _one_by_one(values: Any) -> Any:
    """Return what gives Python's numbers by their place: numpy's view, as a list would take four times the memory of a million spans.

    In a browser tab an array is a list.
    """
    return values.data if hasattr(values, "data") else values.flat


def critical_path(trace: Trace, recording: Recording) -> list[Segment]:
    """Return the segments that led to the end of the recording, first to last, without a gap."""
    return _Walk(trace, recording).run()
