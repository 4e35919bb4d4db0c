"""One rank: a process of its own that does what its coordinator says, line by line, and ends with it."""

import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from peerlab.base.errors import PeerlabError
from peerlab.collectives.ring_moves import Numbers, RingLayout
from peerlab.features.measure.ranks.arms import Arm, Neighbours
from peerlab.features.measure.ranks.lines import Lines
from peerlab.features.measure.ranks.memory.host_memory import HostMemory, mapped
from peerlab.features.measure.ranks.memory.rank_memory import RankMemory
from peerlab.features.measure.ranks.pins import Registrar
from peerlab.features.measure.ranks.wiring import Ends
from peerlab.features.measure.schedule import Measurement
from peerlab.features.measure.timing import timed
from peerlab.machine import linux


@dataclass(frozen=True, eq=False)
class _Lane:
    """A case made ready for one size."""

    arm: Arm
    registrar: Registrar | None


class _Rank:
    """A rank in one ring."""

    def __init__(self, ends: Ends, plan: Measurement, numbers: Numbers) -> None:
        self.ends, self._plan, self._numbers = ends, plan, numbers
        self.memory = _memory(ends, plan)
        self._lines = [socket.socket(fileno=fd) for fd in (ends.send, ends.receive)]
        for line in self._lines:
            line.setblocking(False)
        self._lanes: dict[int, _Lane] = {}

    def meet(self, right_pid: int, right_key: int | str) -> None:
        """Learn where the right neighbour lives."""
        ends = self.ends
        self._beside = Neighbours(
            send=self._lines[0],
            receive=self._lines[1],
            bounce=mapped(ends.bounce),
            right_bounce=mapped(ends.right_bounce),
            right_device=mapped(ends.right_device),
            arrived=ends.arrived,
            arrived_right=ends.arrived_right,
            free=ends.free,
            free_right=ends.free_right,
            right_pid=right_pid,
            right_address=self.memory.reach(right_key),
        )

    def prepare(self, nbytes: int, cases: list[int]) -> None:
        """Make cases ready for a size."""
        ring = RingLayout(self.ends.ranks, nbytes)
        self._moves = ring.moves(self.ends.rank)
        self.memory.prepare(ring)
        self._lanes = {case: _Lane(*self.memory.lane(self._plan.cases[case], self._beside)) for case in cases}

    def finish(self) -> None:
        """Deregister what they hold."""
        for lane in self._lanes.values():
            if lane.registrar:
                lane.registrar.close()
        self._lanes = {}

    def run(self, case: int, run: int) -> dict[str, Any]:
        """Do one AllReduce; return what it took and whether the sums are right."""
        lane = self._lanes[case]
        self.memory.fill(self._numbers, self.ends.rank, run)
        # The counters run on through all runs: this one's are the difference.
        before = _counted(lane.registrar)
        took = timed(lane.arm, self._moves, self._meet_at_the_gate)
        spent = {name: value - before[name] for name, value in _counted(lane.registrar).items()}
        return took | spent | {"correct": self.memory.is_sum(self._numbers, self.ends.ranks, run)}

    # Each tells all others and waits for as many: nobody begins before the last is there, and nobody spins.
    def _meet_at_the_gate(self) -> None:
        for gate in self.ends.gates:
            os.eventfd_write(gate, 1)
        for _ in self.ends.gates:
            os.eventfd_read(self.ends.gate)


def _counted(registrar: Registrar | None) -> dict[str, Any]:
    if registrar is None:
        return {}
    counters = registrar.counters
    return {
        "registration_s": registrar.seconds,
        "hits": counters.hits,
        "misses": counters.misses,
        "evictions": counters.evictions,
    }


def _memory(ends: Ends, plan: Measurement) -> RankMemory:
    if not plan.kind.accelerator:
        return HostMemory(ends.device, plan)
    # Only here: who has no accelerator has no binding to its driver.
    from peerlab.features.measure.cuda.cuda_memory import CudaMemory  # noqa: PLC0415

    return CudaMemory(ends.rank, plan)


def _serve(line: Lines) -> None:
    order = line.receive()
    plan = Measurement.from_plain(order["plan"])
    numbers = Numbers(max(plan.sizes))
    ranks = {ends["ranks"]: _Rank(Ends(**ends), plan, numbers) for ends in order["ends"]}
    # Before the neighbours learn the address: from then on they may write (`cma`).
    linux.let_others_write()
    line.send({"pid": os.getpid(), "keys": {str(count): rank.memory.key for count, rank in ranks.items()}})
    while True:
        order = line.receive()
        rank = ranks[order.pop("ranks")]
        line.send(_DOES[order.pop("do")](rank, **order))


_DOES: dict[str, Callable[..., dict[str, Any] | None]] = {
    "meet": _Rank.meet,
    "prepare": _Rank.prepare,
    "run": _Rank.run,
    "finish": _Rank.finish,
}


def main(descriptor: int, parent: int) -> int:
    """Serve the coordinator at the other end of a socket until it ends; return the exit status."""
    linux.die_with_parent()
    line = Lines(socket.socket(fileno=descriptor))
    try:
        if os.getppid() == parent:  # else it ended before it could be watched
            _serve(line)
    except (ConnectionError, ProcessLookupError):
        # A neighbour died. The coordinator sees who, and ends this process, too.
        line.wait_for_end()
    except EOFError:
        pass
    except (PeerlabError, OSError, MemoryError) as problem:
        line.send({"problem": str(problem) or "no memory"})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
