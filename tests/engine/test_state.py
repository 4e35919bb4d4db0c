"""What decides about the future is in `state()`: every field is compared when the loop looks for a repeat, or says why it need not be.

Whoever adds a field to one of these classes adds it to its `state()` and to `CHANGES`, or to `NOT_COMPARED` with its reason.
"""

import dataclasses
import inspect
from importlib import import_module
from pkgutil import walk_packages
from types import SimpleNamespace

import pytest
from story import DRAM, NIC, STAGE, Story, flies, served_by, use

import peerlab.engine
from peerlab.answer.trace import Resource
from peerlab.engine.legs import Leg
from peerlab.engine.loop.blocking_steps import BlockingSteps
from peerlab.engine.loop.event_loop import Loop
from peerlab.engine.loop.loop_resources import READY, Chain, Serving
from peerlab.engine.loop.transfers import Course, Transfer, Transfers
from peerlab.engine.loop.windows import Windows
from peerlab.engine.max_min import Flow, Flows
from peerlab.engine.processor_sharing import FairShare, Job
from peerlab.engine.registration_queue import RegistrationQueue

CONSTANT = "is given at the beginning and stays"
WRITTEN = "is only written: what happened, not what will"
SETTLED = "is empty when an instant is over, and states are compared then"
FOLLOWS = "follows from the slice and its leg, which the loop's state has"
ALARM = "tells an outdated alarm; when the next one rings follows from what is served"


class Stopped(Exception):  # noqa: N818  (nothing has gone wrong)
    """The loop is where a test wants it."""


def stopped_loop():
    """Return a loop of a blocking ring in its second step, three slices a transfer, with the moment and the step."""

    def way(node):
        return [[served_by(use(node, 10), acquire=0), Leg(STAGE, flight=flies(50).flight, release=0)]] * 3

    story = Story(way, [NIC] * 3, [9], nodes=3, collective="allgather", algorithm="ring", dependency="step")
    loop, found = Loop(story, RegistrationQueue(story), None, None), []

    def stop(_, now, step):
        found.append((now, step))
        if step == 1:
            raise Stopped

    with pytest.raises(Stopped):
        loop.run(stop)
    loop.registration_queue = SimpleNamespace(phase=lambda step: step % 16)  # as where pages straddle chunks
    return loop, *found[-1]


def a_loop():
    loop, now, step = stopped_loop()
    return loop, lambda: loop.state(now, step)


def a_course():
    loop, now, step = stopped_loop()
    return loop.course, lambda: loop.state(now, step)


def transfers():
    loop, _, step = stopped_loop()
    held = loop.transfers
    return held, lambda: held.state(step * loop.lanes, step * loop.lanes * loop.pieces)


def a_transfer():
    held, state = transfers()
    return next(iter(held.under_way.values())), state


def steps():
    loop, _, step = stopped_loop()
    return loop.blocking_steps, lambda: loop.blocking_steps.state(step)


def serving():
    cores = Resource("core", 0, 0, 10**12, shared=False, servers=2)
    held = Serving(1, [], [])
    held.meet([NIC, cores, DRAM, NIC])
    # slice 2 holds the last resource, slice 3 waits for it
    ways = ((use(0, 30),), (use(1, 20), use(2, 9, 0)), (use(2, 9, 1), use(3, 1)), (use(3, 1),))
    for slice_id, visits in enumerate(ways):
        held.enter(slice_id, served_by(*visits))
        held.take(0)
    return held, lambda: held.state(5, 0)


def a_chain():
    held, state = serving()
    return held.chains[2], state


def windows():
    held = Windows()
    held.meet([1])
    for slice_id in (3, 4):
        held.ask(2, 0, slice_id)
    held.grant()
    return held, lambda: held.state(5, 3)


def a_job(slice_id):
    return Job(slice_id, 0, 10)


def fair_share():
    held = FairShare(copies=1)
    for slice_id, engine in ((0, 0), (1, 1), (2, 0)):
        held.arrive(0, engine, a_job(slice_id))
    return held, lambda: held.state(5, 0)


def a_waiting_job():
    held, state = fair_share()
    return held._queues[0], state


def flows():
    held = Flows({0: 1.0}, {0: 1})
    for key in (0, 1):
        held.arrive(0, 7, Flow(key, 0, (0,), 30.0))
    held.settle(0)
    return held, lambda: held.state(5, 0)


def a_flow():
    held, state = flows()
    return held.active[7], state


def plus(name, by=1):
    """Return what makes a number larger."""
    return lambda one: setattr(one, name, getattr(one, name) + by)


def replaced(**changes):
    """Return what puts a job with other values into the place of the first of a queue."""

    def change(queue):
        queue[0] = queue[0]._replace(**changes)

    return change


MAKE = {
    Loop: a_loop, Course: a_course, Transfers: transfers, Transfer: a_transfer, BlockingSteps: steps, Serving: serving,
    Windows: windows, Chain: a_chain, FairShare: fair_share, Job: a_waiting_job, Flows: flows, Flow: a_flow,
}  # fmt: skip
"""For each class what returns one of its objects under way, and what returns the state that it is part of."""

CHANGES = {
    Loop: {
        "heap": lambda loop: loop.heap.append((10**6, READY, 0, 0)),
        "leg": lambda loop: loop.leg.update({next(iter(loop.leg)): 7}),
        "serving": lambda loop: loop.serving.free.__setitem__(0, 10**6),
        "windows": lambda loop: loop.windows.give_back(0),
        "transfers": lambda loop: loop.transfers.under_way.clear(),
        "blocking_steps": lambda loop: loop.blocking_steps._left.__setitem__(0, 7),
        "registration_queue": lambda loop: setattr(
            loop, "registration_queue", SimpleNamespace(phase=lambda _: 17)
        ),
        "course": lambda loop: plus("skipped")(loop.course),
    },
    Course: {"skipped": plus("skipped")},
    Transfers: {"under_way": lambda held: held.under_way.clear()},
    Transfer: {
        "left": plus("left"),
        "unregistered": plus("unregistered"),
        "waiting": lambda one: one.waiting.append(3),
    },
    BlockingSteps: {
        "_at": lambda held: held._at.__setitem__(0, 7),
        "_left": lambda held: held._left.__setitem__(0, 7),
    },
    Serving: {
        "free": lambda held: held.free.__setitem__(0, 99),
        "_held": lambda held: held._held.clear(),
        "_idle": lambda held: held._idle.clear(),
        "_waiting": lambda held: held._waiting[3].clear(),
        "chains": lambda held: held.chains.pop(2),
        "_fair": lambda held: held._fair[2].arrive(5, 7, a_job(2)),
        "_flows": lambda held: held._flows.arrive(5, 0, Flow(0, 0, (0,), 30.0)),
    },
    Chain: {
        "slice_id": plus("slice_id"),
        "ready": plus("ready", by=99),
        "through": plus("through"),
        "worked": plus("worked"),
        "queued": lambda one: one.queued.__setitem__(1, 4),
        "starts": lambda one: one.starts.__setitem__(1, 4),
    },
    Windows: {
        "_places": lambda held: held._places.__setitem__(0, 1),
        "_queues": lambda held: held._queues[0].clear(),
    },
    FairShare: {
        "_active": lambda held: held._active.pop(1),
        "_queues": lambda held: held._queues.clear(),
        "_has": lambda held: held._has.add(9),
        "_round": plus("_round"),
        "_since": plus("_since", by=7),
    },
    Job: {"slice_id": replaced(slice_id=9)},
    Flows: {
        "active": lambda held: held.active.clear(),
        "_has": lambda held: held._has.add(9),
        "_queues": lambda held: held._queues.clear(),
    },
    Flow: {name: plus(name) for name in ("key", "left", "since", "rate", "end")},
}
"""By class and field: a change of the field, after which the state is another one."""

NOT_COMPARED = {
    Loop: {
        **dict.fromkeys(("system", "progress", "lanes", "pieces"), CONSTANT),
        **dict.fromkeys(("rows", "tables", "end"), WRITTEN),
        "marker": SETTLED,
        "readiness": "keeps nothing in a chain (see the last test), and in a line nothing that later slices wait for",
        "line": "holds no more than the first of each line, which waits for its place or is due",
        "adding": "is behind the loop: nothing in it waits for that",
        "apart": "is there only where nodes begin apart; there no repetition is looked for",
        **dict.fromkeys(("gate_waits", "at_gate"), "is compared by `Repeats` itself"),
        "_under_way": "is that of `transfers`",
        "_routes": "is that of `transfers`",
    },
    Course: dict.fromkeys(("steps", "reducing"), "limits how many periods `Repeats` leaves out"),
    Transfers: {
        **dict.fromkeys(
            ("_system", "_registration_queue", "_course", "_serving", "_windows", "_heap", "_rows"),
            "is another part of the loop",
        ),
        **dict.fromkeys(("_lanes", "_pieces", "registers", "prefetches"), CONSTANT),
        **dict.fromkeys(("events", "end"), WRITTEN),
        "requests": SETTLED,
        **dict.fromkeys(("routes", "receivers"), "follows from the transfer's step and lane"),
        **dict.fromkeys(("opened", "_fetched"), "what was opened is under way, or over"),
    },
    Transfer: {
        "leases": "is what the transfer's step asks for; where in its pages that lies is compared by the phase"
    },
    BlockingSteps: {"_system": CONSTANT},
    Serving: {
        "_lanes": CONSTANT,
        "_heap": "is the loop's, which compares it",
        "_rows": WRITTEN,
        "_in_order": CONSTANT,
        **dict.fromkeys(("arriving", "freed", "changed"), SETTLED),
    },
    Windows: {"touched": SETTLED},
    FairShare: {"_copies": CONSTANT, "generation": ALARM},
    Chain: dict.fromkeys(("place", "leg"), FOLLOWS),
    Job: dict.fromkeys(("number", "duration_ps"), FOLLOWS),
    Flows: {
        **dict.fromkeys(("capacities", "copies"), CONSTANT),
        "generation": ALARM,
        "_known": "is what was computed before, remembered",
    },
    Flow: dict.fromkeys(("number", "route"), FOLLOWS),
}
"""By class and field: why it is not part of the state."""


def fields(kind):
    """Return the names of all that an object of a class keeps."""
    if dataclasses.is_dataclass(kind):
        return {one.name for one in dataclasses.fields(kind)}
    if issubclass(kind, tuple):
        return set(kind._fields)
    return set(getattr(kind, "__slots__", ())) or set(vars(MAKE[kind]()[0]))


@pytest.mark.parametrize("kind", MAKE, ids=lambda kind: kind.__name__)
def test_each_field_is_compared_or_says_why_not(kind):
    assert not CHANGES[kind].keys() & NOT_COMPARED[kind].keys()
    assert fields(kind) == CHANGES[kind].keys() | NOT_COMPARED[kind].keys()


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, changes in CHANGES.items() for name in changes],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
def test_the_state_changes_with_each_field_that_is_compared(kind, name):
    held, state = MAKE[kind]()
    before = state()
    assert before == state()
    CHANGES[kind][name](held)
    assert state() != before


def test_every_class_with_a_state_is_held_to_it():
    found = {
        one
        for module in walk_packages(peerlab.engine.__path__, "peerlab.engine.")
        for _, one in inspect.getmembers(import_module(module.name), inspect.isclass)
        if "state" in vars(one) and one.__module__ == module.name
    }
    assert found
    assert found <= MAKE.keys()


def served_later(now, base):
    """Return the state of resources, a window and a fabric 5 ps after they got a slice each at `now`."""
    serving, fair, flows, windows = Serving(1, [], []), FairShare(1), Flows({0: 1.0}, {0: 1}), Windows()
    serving.meet([NIC])
    serving.enter(base, served_by(use(0, 30)))
    serving.take(now)
    fair.arrive(now, 0, a_job(base))
    flows.arrive(now, 7, Flow(base, 0, (0,), 30.0))
    flows.settle(now)
    windows.meet([1])
    windows.ask(now, 0, base)
    return [one.state(now + 5, base) for one in (serving, fair, flows, windows)]


def test_the_same_some_time_and_some_slices_later_is_the_same_state():
    assert served_later(0, 0) == served_later(1000, 60)


def test_in_a_chain_the_readiness_of_data_keeps_nothing():
    story = Story([[served_by(use(0, 10))]] * 2, [NIC], nodes=4, collective="allgather", algorithm="ring")
    loop, kept = Loop(story, RegistrationQueue(story), None, None), []
    loop.run(lambda loop, *_: kept.append({**loop.readiness._missing, **loop.readiness._own_of_step}))
    assert loop.readiness.chain
    assert len(kept) == 3  # of every step one
    assert not any(kept)
