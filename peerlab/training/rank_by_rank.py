"""A step whose nodes differ, composed of its exchanges: each node begins the next one when it is ready and done with the one before.

That is exact as long as two exchanges have nothing to wait for in common but places that are still held, which go on from one to the next:
a node has all its resources for itself again when it is done. Only links that nodes share could serve two exchanges at once; there the whole
step is simulated in one world instead (`training/uneven_world`).
"""

# A library's tree or ring is walked in one pass (`collectives/hop_chain`): every slice goes one way round for all, and a node's own end says
# nothing of who else has to come. An AllReduce is a barrier, so such an exchange begins with the last node and ends for all together.

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from peerlab.answer.run import Run
from peerlab.answer.trace import Iteration, Ran, Recording
from peerlab.base.errors import TooManySpansError
from peerlab.base.latest import Latest
from peerlab.engine.arrays.ring_arrays import refuses
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.engine.begins import Begins, Held, meet_all
from peerlab.engine.compiled import refusals as compiled
from peerlab.engine.exchange_apart import (
    Ended,
    by_arrays,
    by_compiled,
    by_compiled_ring,
    by_loop,
    later,
    refuses_together,
)
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.opening import opening
from peerlab.engine.recording import spans_of_all
from peerlab.engine.registration_queue import Contents, RegistrationQueue
from peerlab.engine.simulate import MOST_OF_ALL, of_events, refuse_too_many, simulate, simulate_system, trace
from peerlab.engine.system import System, least
from peerlab.question.scenario import Scenario
from peerlab.training.nodes_differ import POSTED, check_differing, draws, lanes_of, opens_at
from peerlab.training.program import Exchanging, Program
from peerlab.training.shown_node import Answers, put_together
from peerlab.training.step_trace import StepTrace
from peerlab.training.steps_in_a_row import Row
from peerlab.training.training_step import Step

_MOST_KEPT = 64
_MOST_SPANS_KEPT = 1_000_000
"""Of all answers that are kept, about 88 MB; those of 64 noisy exchanges of 64 nodes would be 600."""


class LinksAreSharedError(Exception):
    """Two exchanges are under way at once on links that nodes share."""


@dataclass(frozen=True)
class AskedExchange:
    """One exchange of a step, on the clock of the first node that begins it; equal ones are simulated once."""

    scenario: Scenario
    number: int
    """Which exchange of the step, as far as its noise depends on that."""
    since_ps: int
    """When the first node begins it, within the period by which nodes stand still."""
    at: tuple[int, ...]
    opens: tuple[int, ...]
    held: Held
    contents: Contents | None
    """What the registration caches hold; None: all that is asked for."""
    buffer_set: int


@dataclass(frozen=True)
class AnsweredExchange:
    """What became of it."""

    run: Run
    done: tuple[int, ...]
    held: Held
    contents: Contents | None
    told_apart: bool = True
    """Whether it is known of each node when it was done; else that all were by then."""


def system_of(scenario: Scenario, number: int) -> System:
    """Return an exchange made ready to run, with every node."""
    system = least(scenario)
    system.number = number
    return system.of_every_node()


def together(scenario: Scenario) -> bool:
    """Return whether an exchange begins with the last node and ends for all at once: what a library's law walks in one pass."""
    return scenario.choice is not None


def number_of(scenario: Scenario, number: int) -> int:
    """Return the number of an exchange as far as its noise depends on it."""
    # Without noise in slices equal exchanges are equal, whichever they are: so they are one key of the cache.
    return number if scenario.noise.of_slices else 0


def queue_of(system: System, contents: Contents | None, buffer_set: int) -> RegistrationQueue:
    """Return the registration queue of an exchange that finds so much."""
    queue = RegistrationQueue(system, warm=contents is None)
    if contents is not None:
        queue.restore(contents)
    queue.begin(buffer_set)
    return queue


def warm(scenario: Scenario) -> bool:
    """Return whether all memory is registered before the step that is shown."""
    # Of one run the first step is shown, which finds nothing registered.
    return scenario.runs > 1 and scenario.registration == "cached"


class AnsweredExchanges:
    """Answers of exchanges; the latest are kept, as many as their spans allow."""

    def __init__(self) -> None:
        # beside each answer its spans
        self.kept: Latest[AskedExchange, tuple[AnsweredExchange, int]] = Latest(
            _MOST_KEPT, _MOST_SPANS_KEPT, itemgetter(1)
        )
        self.misses = 0

    def __call__(self, exchange: AskedExchange) -> AnsweredExchange:
        """Return the answer of an exchange, which is simulated once while it is kept."""

        def simulated() -> tuple[AnsweredExchange, int]:
            self.misses += 1
            # where one node stands for all it is less
            return _answer(exchange), spans_of_all(least(exchange.scenario).of_every_node())

        return self.kept.get(exchange, simulated)[0]


_answered = AnsweredExchanges()


def _answer(asked: AskedExchange) -> AnsweredExchange:
    alone = least(asked.scenario)
    alone.number = asked.number
    # Its own clock leaves out what opens it.
    alone.since_ps = asked.since_ps + sum(lasts for *_, lasts in opening(alone))
    begins = Begins(asked.at, asked.opens, asked.held)
    # All begin at once on an idle machine: then one node may stand for all, and costs least.
    even = not any(asked.at) and max(asked.opens) <= 0 and not asked.held
    warm_caches = asked.contents is None or not asked.scenario.registers
    if even and warm_caches and (alone.folded or together(asked.scenario)):
        return _even(asked, alone)
    system = alone.of_every_node()
    if warm_caches and not refuses(system):
        try:
            ended = by_arrays(system, queue_of(system, None, asked.buffer_set), begins)
        except OrderUnknownError:  # known only when it has run
            pass
        else:
            return AnsweredExchange(
                run_of(system, ended.recording, "arrays"), ended.done, ended.held, asked.contents
            )
    if warm_caches and (compiled_end := _by_compiled(asked, system, begins, even=even)):
        return AnsweredExchange(
            run_of(system, compiled_end.recording, "compiled"),
            compiled_end.done,
            compiled_end.held,
            asked.contents,
        )
    if even and warm_caches and spans_of_all(system) > MOST_OF_ALL:
        # what keeps a few nodes says when all are done; that is enough where nobody goes on before
        return replace(_even(asked, alone), told_apart=False)
    refuse_too_many(system, in_a_step=True)
    queue = queue_of(system, asked.contents, asked.buffer_set)
    # Flows are shared out in the order of their senders, whoever comes first.
    meet_all(system)
    ended = by_loop(system, queue, begins)
    after = None if asked.contents is None else queue.contents()
    return AnsweredExchange(run_of(system, ended.recording, "loop"), ended.done, ended.held, after)


def _by_compiled(asked: AskedExchange, system: System, begins: Begins, *, even: bool) -> Ended | None:
    """Return an exchange as the compiled loop has it: a ring whoever begins when, a pairwise one that all begin together; None where that does not pay."""
    if of_events(system) != "compiled":
        return None
    queue = queue_of(system, None, asked.buffer_set)
    try:
        if compiled.keeps_few(system):
            return by_compiled_ring(system, queue, begins)
        return by_compiled(system, queue) if even and not refuses_together(system) else None
    except compiled.TimesMayNotFitError:  # known only when its tables are made
        return None


def _even(asked: AskedExchange, system: System) -> AnsweredExchange:
    """Return an exchange that all nodes begin and end together: one of them may stand for all."""
    run = simulate_system(system)
    return AnsweredExchange(run, (run.time_ps,) * len(asked.at), (), asked.contents)


def run_of(system: System, recording: Recording, engine: str) -> Run:
    """Return the run of an exchange."""
    ran = Ran((Iteration(0, recording),))
    return Run(system.scenario, trace(system, recording, ran), engine, simulate)


class RankByRank:
    """A step that is being composed."""

    def __init__(
        self, step: Step, program: Program, scenarios: Sequence[Scenario], progress: Progress | None
    ) -> None:
        self._step, self._program, self._scenarios, self._progress = step, program, scenarios, progress
        for scenario in set(scenarios):
            check_differing(scenario)
        self._draws = draws(step)
        self._posted = opens_at(step) == POSTED
        self._begins = self._done = (0,) * step.scenario.domains
        self._lanes = lanes_of(step, program, 0, self._begins)
        self._told_apart = True
        self._held: Held = ()
        self._contents: Contents | None = None if warm(step.scenario) else ()
        self._answers: list[Answers] = []

    def run(self) -> StepTrace:
        """Return the step; of a row the last.

        Raises
        ------
        LinksAreSharedError
            If two exchanges would be under way at once on links that nodes share.
        """
        count = self._step.steps
        row = Row(count, self._state())
        while True:
            ready = self._compose(row.turn)
            self._begins = tuple(lane.finish() for lane in self._lanes)
            # Each node begins the next step when its own is over.
            self._check_told_apart(goes_on=count > 1)
            row.add(self._begins, self._state())
            if not row.goes_on:
                return put_together(
                    self._program, self._lanes, ready, self._answers, row.whole() if count > 1 else None
                )

    def _compose(self, turn: int) -> list[list[int]]:
        """Compose a step; return when every node was ready for each exchange."""
        ready: list[list[int]] = []
        self._lanes = lanes_of(self._step, self._program, turn, self._begins)
        self._answers = []
        count = len(self._program.exchanging)
        for number, (op, scenario) in enumerate(zip(self._program.exchanging, self._scenarios, strict=True)):
            ready.append([lane.ready(op) for lane in self._lanes])
            # Somebody goes on before all are done: then it matters when each of them was.
            self._check_told_apart(goes_on=min(ready[-1]) < max(self._done))
            self._exchange(turn * count + number, op, scenario, tuple(map(max, ready[-1], self._done)))
            if self._progress:
                self._progress(turn * count + number + 1, self._step.steps * count)
        return ready

    def _within_period(self, t: int) -> int:
        """Return a moment as far as anything depends on it but how much later others are: by when nodes stand still."""
        period = self._step.scenario.noise.tick_period_ps
        return t % period if period else 0

    def _state(self) -> Hashable:
        """Return what the next step depends on, on the clock of the first node that begins it; None if it draws noise of its own."""
        if self._draws:
            return None
        first = min(self._begins)
        held = tuple(
            (pool, tuple(t - first for t in until if t > self._begins[pool[1]])) for pool, until in self._held
        )
        opens = tuple(t - first for t in self._done) if self._posted else ()
        begins = tuple(t - first for t in self._begins)
        return self._within_period(first), begins, opens, _still(held), self._contents

    def _exchange(self, number: int, op: Exchanging, scenario: Scenario, at: tuple[int, ...]) -> None:
        # Two exchanges would be on the shared links at once, each simulated without the other.
        if scenario.fabric.contended and number and min(at) < max(self._done):
            raise LinksAreSharedError
        # On the clock of the first node: so exchanges with equal delays are one key of the cache.
        first = max(at) if together(scenario) else min(at)
        opens = self._done if self._posted else at
        # Where all begin together, whoever comes early waits for the last.
        begins = tuple(max(t, first) - first for t in at)
        exchange = AskedExchange(
            scenario,
            number_of(scenario, number),
            self._within_period(first),
            begins,
            # Nothing moves before the first begins: what was earlier is as if it were then, so that equal exchanges are one.
            tuple(max(t - first, 0) for t in opens) if self._posted and not together(scenario) else begins,
            _still(later(self._held, -first)),
            self._contents,
            # Which memory it is matters only where some of it may not be registered.
            op.buffer_set if scenario.registers and self._contents is not None else 0,
        )
        answer = _answered(exchange)
        self._told_apart = answer.told_apart or together(scenario)
        self._check_told_apart(goes_on=False)
        done = tuple(t + first for t in answer.done)
        self._done = (max(done),) * len(done) if together(scenario) else done
        self._held, self._contents = later(answer.held, first), answer.contents
        for lane, b, e in zip(self._lanes, at, self._done, strict=True):
            lane.placed.append((b, e))
        self._answers.append((at, self._done, answer.run))

    def _check_told_apart(self, *, goes_on: bool) -> None:
        """Refuse what depends on when each node was done, where only the last is known."""
        # With a slow-down a node's computing depends, too, on when its own exchange ends.
        if not self._told_apart and (goes_on or self._step.slowdown_per_mille):
            raise TooManySpansError(
                "nodes",
                f"{self._step.scenario.nodes} nodes that differ make more than {MOST_OF_ALL // 10**6} million spans, and each goes on when it is "
                "done; give fewer nodes, larger slices, or a ring",
            )


def _still(held: Held) -> Held:
    """Return the places that are held after 0."""
    rows = [(pool, tuple(t for t in until if t > 0)) for pool, until in held]
    return tuple((pool, until) for pool, until in rows if until)
