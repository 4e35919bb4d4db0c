"""What the referee's processes wait for: a clock, resources and windows, as SimPy events."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import simpy

from peerlab.engine.max_min import max_min
from peerlab.trace import Resource
from peerlab.units import PS_PER_S

Key = tuple[int, ...]
Action = Callable[[], None]
Log = Callable[[int, int, int], None]
"""Told when a use queued, started and ended."""

REGISTRATION, WINDOWS, RESOURCES, LINKS = range(4)
"""Ranks of what is decided at the end of an instant; the lower rank comes first."""


def succeed(event: simpy.Event) -> None:
    """Let an event happen now."""
    event.succeed()


class Clock:
    """Time in whole picoseconds, and actions that must wait until everything of an instant is known."""

    def __init__(self) -> None:
        self.env = simpy.Environment()
        self._pending: dict[int, list[tuple[Key, Action]]] = {
            REGISTRATION: [],
            WINDOWS: [],
            RESOURCES: [],
            LINKS: [],
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
        pending, self._pending[rank] = self._pending[rank], []
        for _, action in sorted(pending, key=lambda entry: entry[0]):
            action()


@dataclass(eq=False)
class Exclusive:
    """A resource that serves one slice at a time, or as many as it has servers, first come first served."""

    clock: Clock
    resource: Resource

    def __post_init__(self) -> None:
        self.free = [0] * self.resource.servers  # when each server (the cores of a device) is through

    def serve(self, key: Key, _engine: int, duration: int, log: Log) -> simpy.Event:
        """Queue one use now; return the event of its end."""
        done, queued = self.clock.env.event(), self.clock.now

        def take() -> None:
            start, end = self.take(duration)
            log(queued, start, end)
            self.clock.at(end, lambda: succeed(done))

        self.clock.later(RESOURCES, key, take)
        return done

    def take(self, duration: int) -> tuple[int, int]:
        """Occupy the first free server; return from when to when."""
        first = self.free.index(min(self.free))
        start = max(self.clock.now, self.free[first])
        self.free[first] = start + duration
        return start, start + duration


@dataclass(eq=False)
class Shared:
    """A resource that serves one slice per engine, in rounds of a picosecond each; a slice that comes joins after the round."""

    clock: Clock
    resource: Resource

    def __post_init__(self) -> None:
        self.left: dict[int, int] = {}  # by engine, picoseconds of work left
        self.queues: dict[int, deque[tuple[int, int, Log, simpy.Event]]] = {}
        self.starts: dict[int, int] = {}
        self.joining: list[int] = []
        self.since = 0
        self.alarm = 0  # counts alarms; only the latest is valid

    def serve(self, key: Key, engine: int, duration: int, log: Log) -> simpy.Event:
        """Queue one use now; return the event of its end."""
        done, queued = self.clock.env.event(), self.clock.now

        def take() -> None:
            queue = self.queues.setdefault(engine, deque())
            # an engine serves one slice at a time; the others wait behind it without a share
            queue.append((duration, queued, log, done))
            if len(queue) == 1:
                self.joining.append(engine)
                if len(self.joining) == 1:
                    # the round in progress ends first: those who are served keep their shares of it
                    self._look_in(-(self.clock.now - self.since) % self._round_ps() if self.left else 0)

        self.clock.later(RESOURCES, key, take)
        return done

    def _round_ps(self) -> int:
        return len(self.left) * self.resource.copies

    def _look_in(self, delay: int) -> None:
        self.alarm += 1
        this = self.alarm
        if delay:
            self.clock.at(self.clock.now + delay, lambda: self._look(this))
        else:
            self._look(this)

    def _look(self, this: int) -> None:
        """End a round: engines that are done leave, engines that have come join, and the alarm is set to the next end."""
        if this != self.alarm:  # an arrival has set another alarm since
            return
        if self.left:
            rounds = (self.clock.now - self.since) // self._round_ps()
            self.left = {engine: left - rounds for engine, left in self.left.items()}
        self.since = self.clock.now
        for engine in [engine for engine, left in self.left.items() if left == 0]:
            del self.left[engine]
            _, queued, log, done = self.queues[engine].popleft()
            log(queued, self.starts[engine], self.clock.now)
            succeed(done)
            if self.queues[engine]:
                self.joining.append(engine)
        for engine in self.joining:
            self.left[engine] = self.queues[engine][0][0]
            self.starts[engine] = self.clock.now
        self.joining.clear()
        if self.left:
            self._look_in(min(self.left.values()) * self._round_ps())


@dataclass(eq=False)
class Sending:
    """A slice that goes over the fabric."""

    route: dict[int, Resource]
    """Links it takes."""
    left: float
    """Bytes that have not been sent, at `since`."""
    queued: int
    """When it arrived."""
    logs: list[Log]
    """Of everything on its route."""
    done: simpy.Event
    """Happens at its end."""
    start: int = 0
    """When its sender began with it."""
    since: int = 0
    """When its rate last changed."""
    rate: float = 0.0
    """Bytes per picosecond."""
    end: int = 0
    """When it will end at this rate."""


@dataclass(eq=False)
class Links:
    """A contended fabric: each sender sends one slice at a time, at its max-min fair rate."""

    clock: Clock
    sending: dict[int, Sending] = field(default_factory=dict)
    waiting: dict[int, deque[Sending]] = field(default_factory=dict)
    rates: dict[tuple[tuple[int, ...], ...], list[float]] = field(default_factory=dict)
    alarm: int = 0
    sharing: bool = False

    def send(
        self, key: Key, sender: int, route: dict[int, Resource], work: float, logs: list[Log]
    ) -> simpy.Event:
        """Queue one slice now; return the event of its end."""
        one = Sending(route, work, self.clock.now, logs, self.clock.env.event())

        def take() -> None:
            if sender in self.sending:
                self.waiting.setdefault(sender, deque()).append(one)
            else:
                self._begin(sender, one)

        self.clock.later(RESOURCES, key, take)
        return one.done

    def _begin(self, sender: int, one: Sending) -> None:
        one.start = one.since = self.clock.now
        self.sending[sender] = one
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
        this, now = self.alarm, self.clock.now
        order = sorted(
            self.sending
        )  # as in the loop, so that both give `max_min` the same, and floats round alike
        links = {link: one for sending in self.sending.values() for link, one in sending.route.items()}
        routes = tuple(tuple(self.sending[sender].route) for sender in order)
        if routes not in self.rates:
            capacities = {link: one.capacity_Bps / PS_PER_S for link, one in links.items()}
            self.rates[routes] = max_min(
                routes, capacities, {link: one.copies for link, one in links.items()}
            )
        rates = self.rates[routes]
        for sender, rate in zip(order, rates, strict=True):
            one = self.sending[sender]
            if rate != one.rate:
                one.left -= one.rate * (now - one.since)
                one.rate, one.since = rate, now
                # only a changed rate moves an end, so that rounding does not add up (as in `max_min.Flows`)
                one.end = now + max(1, math.ceil(one.left / rate))
        self.clock.at(min(one.end for one in self.sending.values()), lambda: self._look(this))

    def _look(self, this: int) -> None:
        """End the flows that are done, and begin those that waited for their senders."""
        if this != self.alarm:
            return
        now = self.clock.now
        for sender in [sender for sender, one in self.sending.items() if one.end == now]:
            one = self.sending.pop(sender)
            for log in one.logs:
                log(one.queued, one.start, now)
            succeed(one.done)
            if self.waiting.get(sender):
                self._begin(sender, self.waiting[sender].popleft())
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
        while self.places and self.waiting:
            self.places -= 1
            self.waiting.pop(0)[2].succeed()
