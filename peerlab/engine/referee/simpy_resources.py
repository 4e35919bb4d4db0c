"""What the referee's processes wait for: a clock, resources and windows, as SimPy events."""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import simpy

from peerlab.answer.trace import Resource
from peerlab.base.units import PS_PER_S
from peerlab.engine.legs import Link, Visit
from peerlab.engine.max_min import max_min

Key = tuple[int, ...]
Action = Callable[[], None]

REGISTRATION, WINDOWS, FREED, ARRIVALS, LINKS, OVER, BEGINS = range(7)
"""Ranks of what is decided at the end of an instant; the lower rank comes first."""


def succeed(event: simpy.Event) -> None:
    """Let an event happen now."""
    event.succeed()


class Clock:
    """Time in whole picoseconds, and actions that must wait until everything of an instant is known."""

    def __init__(self) -> None:
        self.env = simpy.Environment()
        self._pending: dict[int, list[tuple[Key, Action]]] = {
            rank: [] for rank in (REGISTRATION, WINDOWS, FREED, ARRIVALS, LINKS, OVER, BEGINS)
        }

    @property
    def now(self) -> int:
        """The present instant."""
        return int(self.env.now)

    def at(self, when: int, action: Action) -> None:
        """Do `action` at a time from now on."""

        def act(_: simpy.Event) -> None:
            action()

        self.env.timeout(when - self.now).callbacks.append(act)

    def later(self, rank: int, key: Key, action: Action) -> None:
        """Do `action` when this instant comes to `rank`; within a rank the lowest key is first."""
        pending = self._pending[rank]
        if not pending:
            # SimPy orders events of one time by priority: behind all that end now, the lower rank first
            event = self.env.event()
            event.callbacks.append(lambda _: self._serve(rank))
            event._ok, event._value = True, None  # noqa: SLF001  (simpy's succeed() takes no priority)
            self.env.schedule(event, priority=simpy.events.NORMAL + 1 + rank)  # type: ignore[arg-type]
        pending.append((key, action))

    def _serve(self, rank: int) -> None:
        # what these actions cause in the same rank is the next round of it
        pending, self._pending[rank] = self._pending[rank], []
        for _, action in sorted(pending, key=lambda entry: entry[0]):
            action()


class Claim:
    """One slice's use of a resource, which has it from `begun` on until somebody releases it."""

    def __init__(self, clock: Clock, visit: Visit) -> None:
        self.visit = visit
        self.begun = clock.env.event()
        """The resource has begun with the slice."""
        self.worked = clock.env.event()
        """Its own work on the slice is done."""


@dataclass(eq=False)
class Exclusive:
    """A resource that has one slice at a time, or as many as it has servers, first come first served."""

    clock: Clock
    resource: Resource

    def __post_init__(self) -> None:
        self.idle = self.resource.servers
        self.waiting: deque[Claim] = deque()

    def ask(self, key: Key, visit: Visit) -> Claim:
        """Queue a slice that arrives now."""
        claim = Claim(self.clock, visit)

        def arrive() -> None:
            self.waiting.append(claim)
            self._begin()

        self.clock.later(ARRIVALS, key, arrive)
        return claim

    def release(self, _claim: Claim) -> None:
        """Let the next slice in."""
        self.idle += 1
        self.clock.later(FREED, (), self._begin)

    def _begin(self) -> None:
        while self.idle and self.waiting:
            claim = self.waiting.popleft()
            self.idle -= 1
            succeed(claim.begun)
            self.clock.at(claim.visit.end_ps(self.clock.now), partial(succeed, claim.worked))


@dataclass(eq=False)
class Shared:
    """A resource that has one slice per engine, and works on them in rounds of a picosecond each; a slice that comes joins after the round.

    A slice on which it has done its work takes no share any more; its engine has it until it is released.
    """

    clock: Clock
    resource: Resource

    def __post_init__(self) -> None:
        self.left: dict[int, int] = {}  # by engine, picoseconds of work left
        self.has: dict[int, Claim] = {}
        self.queues: dict[int, deque[Claim]] = {}
        self.joining: list[Claim] = []
        self.since = 0
        self.alarm = 0  # counts alarms; only the latest is valid

    def ask(self, key: Key, visit: Visit) -> Claim:
        """Queue a slice that arrives now."""
        claim = Claim(self.clock, visit)

        def arrive() -> None:
            self.queues.setdefault(visit.engine, deque()).append(claim)
            self._begin(visit.engine)

        self.clock.later(ARRIVALS, key, arrive)
        return claim

    def release(self, claim: Claim) -> None:
        """Let the engine take the next slice."""
        engine = claim.visit.engine
        del self.has[engine]
        self.clock.later(FREED, (), lambda: self._begin(engine))

    def _begin(self, engine: int) -> None:
        if engine in self.has or not self.queues[engine]:
            return
        self.has[engine] = self.queues[engine].popleft()
        self.joining.append(self.has[engine])
        if len(self.joining) == 1:
            # the round in progress ends first: those who are served keep their shares of it
            self._look_in(-(self.clock.now - self.since) % self._round_ps() if self.left else 0)

    def _round_ps(self) -> int:
        return len(self.left) * self.resource.copies

    def _look_in(self, delay: int) -> None:
        self.alarm += 1
        alarm = self.alarm
        if delay:
            self.clock.at(self.clock.now + delay, lambda: self._look(alarm))
        else:
            self._look(alarm)

    def _look(self, alarm: int) -> None:
        """End a round: slices whose work is done leave, slices that have come join, and the alarm is set to the next end."""
        if alarm != self.alarm:  # an arrival has set another alarm since
            return
        if self.left:
            rounds = (self.clock.now - self.since) // self._round_ps()
            self.left = {engine: left - rounds for engine, left in self.left.items()}
        self.since = self.clock.now
        for engine in [engine for engine, left in self.left.items() if left == 0]:
            del self.left[engine]
            succeed(self.has[engine].worked)
        for claim in self.joining:
            self.left[claim.visit.engine] = claim.visit.duration_ps
            succeed(claim.begun)
        self.joining.clear()
        if self.left:
            self._look_in(min(self.left.values()) * self._round_ps())


@dataclass(eq=False)
class Sending:
    """A slice that goes over the fabric."""

    claim: Claim
    """Happens as it goes."""
    link: Link
    """Links it takes, and its work."""
    left: float
    """Bytes that have not been sent, at `since`."""
    since: int
    """When its rate last changed."""
    rate: float = 0.0
    """Bytes per picosecond."""
    end: int = 0
    """When it will end at this rate."""


@dataclass(eq=False)
class Links:
    """A contended fabric: each sender has one slice at a time, which goes at its max-min fair rate."""

    clock: Clock
    resources: Sequence[Resource]
    """Those of the system, the links among them."""
    sending: dict[int, Sending] = field(default_factory=dict)
    """By sender, what is not through with its bytes."""
    has: set[int] = field(default_factory=set)
    """Senders that have a slice."""
    waiting: dict[int, deque[Claim]] = field(default_factory=dict)
    rates: dict[tuple[tuple[int, ...], ...], list[float]] = field(default_factory=dict)
    alarm: int = 0
    sharing: bool = False

    def ask(self, key: Key, visit: Visit) -> Claim:
        """Queue a slice that arrives now."""
        claim = Claim(self.clock, visit)

        def arrive() -> None:
            self.waiting.setdefault(visit.resource, deque()).append(claim)
            self._begin(visit.resource)

        self.clock.later(ARRIVALS, key, arrive)
        return claim

    def release(self, claim: Claim) -> None:
        """Let the sender take the next slice."""
        sender = claim.visit.resource
        self.has.remove(sender)
        self.clock.later(FREED, (), lambda: self._begin(sender))

    def _begin(self, sender: int) -> None:
        if sender in self.has or not self.waiting[sender]:
            return
        claim = self.waiting[sender].popleft()
        link = claim.visit.link
        assert link is not None  # noqa: S101  (only ways over the fabric ask here)
        self.has.add(sender)
        self.sending[sender] = Sending(claim, link, link.work, self.clock.now)
        succeed(claim.begun)
        self._share_later()

    def _share_later(self) -> None:
        if not self.sharing:
            self.sharing = True
            self.clock.later(LINKS, (), self._share)

    def _share(self) -> None:
        """Share the links out anew, once everything of this instant is known."""
        self.sharing = False
        self.alarm += 1
        if not self.sending:
            return
        alarm, now = self.alarm, self.clock.now
        # in the order of senders as in the loop, so that both give `max_min` the same, and floats round alike
        order = sorted(self.sending)
        routes = tuple(self.sending[sender].link.route for sender in order)
        if routes not in self.rates:
            links = {link: self.resources[link] for route in routes for link in route}
            capacities = {link: link_record.capacity_Bps / PS_PER_S for link, link_record in links.items()}
            copies = {link: link_record.copies for link, link_record in links.items()}
            self.rates[routes] = max_min(routes, capacities, copies)
        for sender, rate in zip(order, self.rates[routes], strict=True):
            sending = self.sending[sender]
            if rate != sending.rate:
                sending.left -= sending.rate * (now - sending.since)
                sending.rate, sending.since = rate, now
                # only a changed rate moves an end, so that rounding does not add up (as in `max_min.Flows`)
                sending.end = now + max(1, math.ceil(sending.left / rate))
        self.clock.at(min(sending.end for sending in self.sending.values()), lambda: self._look(alarm))

    def _look(self, alarm: int) -> None:
        """End the flows that are done."""
        if alarm != self.alarm:
            return
        for sender in [sender for sender, transfer in self.sending.items() if transfer.end == self.clock.now]:
            succeed(self.sending.pop(sender).claim.worked)
        self._share_later()


@dataclass(eq=False)
class Window:
    """A pool of places for slices, such as bounce buffers; first come, first served."""

    clock: Clock
    places: int
    waiting: list[tuple[int, Key, simpy.Event]] = field(default_factory=list)

    def take(self, key: Key) -> simpy.Event:
        """Return the event of having a place."""
        got = self.clock.env.event()
        self.waiting.append((self.clock.now, key, got))
        self.clock.later(WINDOWS, key, self._grant)
        return got

    def give(self) -> None:
        """Return a place."""
        self.places += 1
        self.clock.later(WINDOWS, (), self._grant)

    def _grant(self) -> None:
        # those that came earlier first, and of one instant the lowest key
        self.waiting.sort(key=lambda entry: entry[:2])
        while self.places > 0 and self.waiting:
            self.places -= 1
            self.waiting.pop(0)[2].succeed()
