"""The ranks as processes: started, asked, and watched. Whichever ends early is named, and all end with it."""

import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from os import getpid
from typing import Any

from peerlab.base.errors import Cancelled, MeasurementError
from peerlab.features.measure.ranks.lines import Lines
from peerlab.features.measure.ranks.starting import environment, say_signal
from peerlab.features.measure.ranks.wiring import Ends, wired
from peerlab.features.measure.schedule import Measurement

_PATIENCE_S = 120
"""How long a rank may take to answer: far longer than anything that is measured."""


class RankProcesses:
    """Processes that stand for ranks."""

    def __init__(self, stop_fd: int) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        self._lines: list[Lines] = []
        self._stop_fd = stop_fd
        self._poll = select.poll()
        self._poll.register(stop_fd, select.POLLIN)

    def ask(self, orders: Sequence[Mapping[str, Any]], doing: str) -> list[Any]:
        """Give an order to each of the first ranks, and return what they answer.

        Raises
        ------
        MeasurementError
            If any rank ends, fails or falls silent; it says which, and while `doing` what.
        Cancelled
            If whoever wanted all this has gone.
        """
        # All orders before any answer: no rank of a ring gets on without the others.
        for rank, order in enumerate(orders):
            try:
                self._lines[rank].send(order)
            except OSError:
                raise self._ended(rank, doing) from None
        answers: dict[int, Any] = {}
        while len(answers) < len(orders):
            answers |= {rank: self._answer(rank, doing) for rank in self._speaking(doing)}
        return [answers[rank] for rank in range(len(orders))]

    def start(self, ends: Sequence[Ends]) -> None:
        """Start the process of the next rank, which inherits its ends."""
        near, far = socket.socketpair()
        # Our copy of the far end is closed here, so that the line ends when the rank does.
        with far:
            process = subprocess.Popen(  # noqa: S603  (our own module)
                [
                    # -P: a module in the user's folder must not stand in for one of ours.
                    sys.executable,
                    "-P",
                    "-m",
                    "peerlab.features.measure.ranks.worker",
                    str(far.fileno()),
                    str(getpid()),
                ],
                stdin=subprocess.DEVNULL,
                pass_fds=[far.fileno(), *{fd for end in ends for fd in end.descriptors}],
                env=environment(),
            )
        self._processes.append(process)
        self._lines.append(Lines(near))
        self._poll.register(near, select.POLLIN)

    def end(self) -> None:
        """End all processes and wait until they have."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def _speaking(self, doing: str) -> list[int]:
        """Wait; return the ranks that have something to say, or ended."""
        ready = {fd for fd, _ in self._poll.poll(_PATIENCE_S * 1000)}
        if self._stop_fd in ready:
            raise Cancelled("stopped")
        if not ready:
            raise MeasurementError(f"no rank has answered for {_PATIENCE_S} s while {doing}")
        return [rank for rank, line in enumerate(self._lines) if line.fileno() in ready]

    def _answer(self, rank: int, doing: str) -> Any:
        try:
            answer = self._lines[rank].receive()
        except (EOFError, OSError):
            raise self._ended(rank, doing) from None
        if answer and "problem" in answer:
            raise MeasurementError(f"rank {rank}, while {doing}: {answer['problem']}")
        return answer

    def _ended(self, rank: int, doing: str) -> MeasurementError:
        status = self._processes[rank].wait()
        if status >= 0:
            return MeasurementError(f"rank {rank} ended with status {status} while {doing}")
        return MeasurementError(f"rank {rank} was {say_signal(-status)} while {doing}")


@contextmanager
def rank_processes(plan: Measurement, stop_fd: int) -> Iterator[RankProcesses]:
    """Yield the ranks, ready to be asked; whatever happens, none of them outlives this.

    Raises
    ------
    MeasurementError
        If they cannot be started.
    """
    ranks = RankProcesses(stop_fd)
    with ExitStack() as ending:
        # Before the first is started: an error halfway ends those that were.
        ending.callback(ranks.end)
        # On leaving, our copies of all ends are closed: else a dead rank's sockets would stay open to its
        # neighbours.
        with wired(plan) as ends:
            for mine in ends:
                ranks.start(mine)
            _introduce(plan, ranks, ends)
        yield ranks


def _introduce(plan: Measurement, ranks: RankProcesses, ends: Sequence[Sequence[Ends]]) -> None:
    """Tell the ranks what to do, and each of them where its right neighbour lives."""
    doing = "getting ready"
    plain = asdict(plan)
    hello = [{"plan": plain, "ends": [asdict(end) for end in mine]} for mine in ends]
    who = ranks.ask(hello, doing)
    for count in plan.ranks:
        right = [who[(rank + 1) % count] for rank in range(count)]
        meet = [
            {
                "do": "meet",
                "ranks": count,
                "right_pid": peer["pid"],
                "right_key": peer["keys"][str(count)],
            }
            for peer in right
        ]
        ranks.ask(meet, doing)
