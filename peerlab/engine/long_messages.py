"""How long a message takes that has too many slices to simulate each: in a steady state each further one takes as long as the one before.

Three transfers with fewer slices, of the same sizes and with the same choice of the library, say whether there is a steady state and what
a further slice takes. Where they do not, the message is simulated whole.
"""

# A law with a reason, not a fit. Slices pass queues one behind the other, so a run is steady once three things hold: equal numbers of
# further slices take equally long; no resource works longer on them than they take (it would hold up later ones); and either some
# resource never rests and no window is too small for the slices that are on their way, or as many slices as a window holds are left out at
# a time. What is left out is a multiple of the period, and the last slice, which may be smaller, stays. So what is off is rounding to whole
# picoseconds, and a thousandth at most where two parts have nearly the same work.

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from peerlab.answer.known_answers import Alike
from peerlab.answer.metrics import Bottleneck, always_busy, bottleneck, busbw_GBps
from peerlab.collectives.choose import cut, plan
from peerlab.collectives.plan import Plan, overlaps
from peerlab.engine.alike_leaves import fewer_leaves, leaves_left_out
from peerlab.engine.expected_duration import forecast_s
from peerlab.engine.simulate import simulate, simulate_system
from peerlab.engine.system import least
from peerlab.question.scenario import Scenario

_PERIOD = 16
"""Slices that are left out at a time; more of them where a run of so few is not steady."""
_LONG = 8 * _PERIOD
"""Slices of a chunk from which on a message is long."""
_SAME = 1e-6
"""Two times are the same if they differ by a smaller share: slices on shared resources are rounded."""
_NEARLY = 1e-3
"""By so small a share a resource may work longer on further slices than they take yet: on more of them it may limit, and they take so much longer at most."""
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class LongAnswer:
    """What is known of a message without its spans."""

    time_ps: int
    """How long it takes."""
    busy_ps: Mapping[str, float]
    """By kind of resource how long the busiest one works."""
    flown_ps: float
    """How long the first slice flies."""


def simulated_GBps(asked: Scenario) -> float:  # noqa: N802
    """Return the bus bandwidth of a scenario; what was simulated before is not simulated again."""
    return busbw_GBps(asked, time_ps(asked))


def time_ps(asked: Scenario) -> int:
    """Return how long a scenario takes, picoseconds.

    >>> whole = Scenario(cluster="g4dn-metal", nodes=2, path="host-rdma", message_bytes="2 GiB")
    >>> abs(time_ps(whole) / simulate(whole).time_ps - 1) < 1e-6
    True
    """
    return long_answer(asked).time_ps


def waits_for(asked: Scenario) -> Bottleneck | None:
    """Return what a scenario mostly waits for, as `Run.bottleneck` does; None where no time passes."""
    message = long_answer(asked)
    if not message.time_ps:
        return None
    shares = {kind: min(ps / message.time_ps, 1.0) for kind, ps in message.busy_ps.items()}
    overlapping = not asked.blocking and overlaps(plan(asked).schedule)
    flying, says = min(message.flown_ps / message.time_ps, 1.0), asked.hardware.says
    return bottleneck(shares, flying, overlapping=overlapping, says=says)


def long_answer(asked: Scenario) -> LongAnswer:
    """Return what is known of a scenario, by its steady state where it has one."""
    if fewer := fewer_leaves(asked):
        long, middle, short = map(long_answer, fewer)
        each = long.time_ps - middle.time_ps
        if abs(each - (middle.time_ps - short.time_ps)) <= _SAME * each:
            return _further(long, middle, leaves_left_out(asked))
    slices = _slices(asked)
    for period in _periods(asked, slices):
        fewest = period + slices % period
        few = [shortened(asked, slices, fewest + more * period) for more in (2, 1, 0)]
        if None in few:  # chunks so short would be cut finer
            continue
        long, middle, short = (_answer(shorter) for shorter in few if shorter)
        if _steady(asked, (long, middle, short), period):
            return _further(long, middle, slices // period - 3)
    return _answer(Alike(asked))


def _periods(asked: Scenario, slices: int) -> Iterator[int]:
    """Yield how many slices may be left out at a time, the fewest first; none where no slice is like another, or too few are left out."""
    # with noise slices differ, and fewer of them would draw anew
    if asked.noise or slices < _LONG:
        return
    windows = asked.places * -(-_PERIOD // asked.places)
    for period in sorted({_PERIOD, windows, 2 * windows, 4 * windows}):
        if 8 * period <= slices:
            yield period


def shortened(asked: Scenario, slices: int, left: int) -> Alike | None:
    """Return what is simulated in place of a scenario whose chunks have so many slices: chunks with fewer; None if there is no such plan."""
    whole = plan(asked)
    size = cut(asked, whole.schedule.chunk_bytes)[0]
    parts = asked.ranks if asked.collective_record.exchanges else whole.schedule.chunks * whole.devices
    nbytes = whole.message_bytes - (slices - left) * size * parts
    # A library that chooses would choose anew for a shorter message: its choice stays.
    base = asked if asked.choice else asked.with_(message_bytes=nbytes)
    planned = plan(asked, nbytes)
    sizes = cut(base, planned.schedule.chunk_bytes)
    return Alike(base, planned) if len(sizes) == left and sizes[0] == size else None


def is_long(asked: Scenario) -> bool:
    """Return whether a scenario has so many slices that some may be left out."""
    return not asked.noise and _slices(asked) >= _LONG


def takes_s(asked: Scenario) -> float:
    """Return about how many seconds `long_answer` takes; 0 where one node stands for all, as `forecast_s`."""
    if fewer := fewer_leaves(asked):
        return sum(map(takes_s, fewer))
    whole = forecast_s(asked)
    # three runs of at most three periods, if the first period is steady
    return whole * min(1.0, 9 * _PERIOD / _slices(asked)) if whole and is_long(asked) else whole


def _slices(scenario: Scenario) -> int:
    schedule = plan(scenario).schedule
    return len(cut(scenario, schedule.chunk_bytes)) if schedule.steps else 0


@lru_cache(maxsize=_MOST_KEPT)
def _answer(alike: Alike) -> LongAnswer:
    # `simulate` refuses what cannot be simulated in its own words.
    planned: Plan | None = alike.planned
    run = simulate_system(least(alike.scenario, planned)) if planned else simulate(alike.scenario)
    busy = {kind: share * run.time_ps for kind, share in run.busy.items()}
    return LongAnswer(run.time_ps, busy, float(run.recording.totals.flown_ps))


def _steady(asked: Scenario, few: tuple[LongAnswer, LongAnswer, LongAnswer], period: int) -> bool:
    """Return whether further slices, a period at a time, take what the last ones took."""
    long, middle, short = few
    each, before = long.time_ps - middle.time_ps, middle.time_ps - short.time_ps
    works = {kind: (ps - middle.busy_ps.get(kind, 0.0)) / each for kind, ps in long.busy_ps.items()}
    if abs(each - before) > _SAME * each or max(works.values(), default=0.0) > 1 + _NEARLY:
        return False
    # Where slices wait for places in a window they come in bursts as large as it is.
    if period % asked.places == 0:
        return True
    # What a run takes beyond its slices and the library's opening is no less than the way of one: so long a place is taken.
    way = short.time_ps - each - sum(lasts for _, lasts in asked.law.opening(asked))
    return always_busy(works) > 1 - _SAME and way * period < (asked.places - 1) * each


def _further(long: LongAnswer, middle: LongAnswer, periods: int) -> LongAnswer:
    busy = {kind: ps + periods * (ps - middle.busy_ps.get(kind, 0.0)) for kind, ps in long.busy_ps.items()}
    return LongAnswer(
        long.time_ps + periods * (long.time_ps - middle.time_ps),
        busy,
        long.flown_ps + periods * (long.flown_ps - middle.flown_ps),
    )
