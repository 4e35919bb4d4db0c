"""Sends a list of cases to an executor, in batches that are large enough to be worth sending."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

from peerlab.base.errors import PeerlabError, WorkersLost
from peerlab.features.sweep.batch_worker import BatchAnswer, Stopped, SweepBatch
from peerlab.features.sweep.question import SweepCase

Keep = Callable[[Sequence[SweepCase], BatchAnswer], None]
"""Called with answers; may get the same answer twice."""

_LONG_ENOUGH_S, _AIM_S = 0.05, 0.2
_LOOK_UP_S = 0.1
"""How long a stop may go unnoticed."""


class Pace:
    """How many scenarios make a task: one at first, then, as measured, so many that it lasts `_AIM_S`.

    Near the end tasks get shorter, so that all workers end together, but not below `_LONG_ENOUGH_S`.
    """

    def __init__(self) -> None:
        self._each_s: float | None = None
        self._most = 1

    def learn(self, count: int, seconds: float) -> None:
        """Take the measured time of a task."""
        # A clock may say that no time went by.
        each = max(seconds / count, 1e-6)
        # The last tasks weigh most: scenarios get larger along a sweep.
        self._each_s = each if self._each_s is None else (self._each_s + each) / 2
        self._most = 4 * count  # the next scenarios may be larger than those that were measured

    def size(self, left: int, workers: int) -> int:
        """Return the number of scenarios of the next task."""
        if self._each_s is None:
            return 1
        even = ceil(left / max(workers, 1))
        size = min(ceil(_AIM_S / self._each_s), max(even, ceil(_LONG_ENOUGH_S / self._each_s)))
        return max(min(size, self._most, left), 1)


@dataclass(frozen=True)
class SweepWorkers:
    """An executor, the function that its workers call, and how to stop them."""

    executor: Executor
    """Where tasks go."""
    count: Callable[[], int]
    """How many tasks run at once, now."""
    task: Callable[[SweepBatch], BatchAnswer]
    """What they do."""
    ahead: int = 2
    """Tasks sent per worker, so that none waits for its next."""
    stop: Callable[[], None] = lambda: None
    """Tells running tasks to end."""
    patience_s: float = 0.0
    """How long to wait for them after that."""


def work_off(
    workers: SweepWorkers,
    cases: Iterable[SweepCase],
    batch: Callable[[Sequence[SweepCase]], SweepBatch],
    keep: Keep,
    stopped: Stopped,
    pace: Pace | None = None,
) -> None:
    """Answer all cases, in any order, unless stopped; what was answered is kept, whatever ends the work."""
    todo, pace = deque(cases), pace or Pace()
    pending: dict[Future[BatchAnswer], list[SweepCase]] = {}
    try:
        while (todo or pending) and not stopped():
            now = workers.count()
            while todo and len(pending) < max(workers.ahead * now, 1):
                mine = [todo.popleft() for _ in range(pace.size(len(todo), now))]
                pending[workers.executor.submit(workers.task, batch(mine))] = mine
            for future in wait(pending, _LOOK_UP_S, FIRST_COMPLETED).done:
                answer = future.result()
                keep(pending[future], answer)
                # Fewer figures than cases: the worker was told to stop, and so is this.
                if len(answer.figures) < len(pending.pop(future)):
                    return
                pace.learn(len(answer.figures), answer.seconds)
    finally:
        _wind_up(workers, pending, keep)


def _wind_up(workers: SweepWorkers, pending: dict[Future[BatchAnswer], list[SweepCase]], keep: Keep) -> None:
    """Cancel the tasks that have not begun, and keep the answers of those that have ended."""
    if not pending:
        return
    workers.stop()
    # What is running cannot be cancelled: it is waited for, as its answer may be whole.
    running = [future for future in pending if not future.cancel()]
    for future in wait(running, workers.patience_s).done:
        if not future.cancelled() and future.exception() is None:
            keep(pending[future], future.result())


@contextmanager
def explained(who: str, *lost: type[Exception]) -> Iterator[None]:
    """Say in one line that a worker's process ended, or has no peerlab."""
    kinds: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, *lost)
    try:
        yield
    except kinds as problem:
        hint = "; in a script, sweep below `if __name__ == '__main__':`" if who.startswith("the pool") else ""
        raise WorkersLost(f"{who} went away before all was answered{hint}") from problem
    except ModuleNotFoundError as problem:
        raise PeerlabError(f"{who} lacks {problem.name}: install peerlab on its workers") from problem
