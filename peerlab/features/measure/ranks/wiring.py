"""What connects the ranks: shared memory, TCP over loopback, eventfds. None of it has a name that could be left behind."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from peerlab.base.errors import MeasurementError
from peerlab.base.free_port import LOOPBACK
from peerlab.base.units import say_bytes
from peerlab.collectives.ring_moves import PAGE, RingLayout
from peerlab.features.measure.schedule import Measurement


@dataclass(frozen=True, kw_only=True)
class Ends:
    """File descriptors of one rank in one ring."""

    ranks: int
    """Ranks in the ring."""
    rank: int
    """This one."""
    device: int
    """memfd: its device memory."""
    bounce: int
    """memfd: the bounce buffer in which it receives."""
    right_device: int
    """memfd: its right neighbour's."""
    right_bounce: int
    """memfd: its right neighbour's."""
    send: int
    """TCP to the right."""
    receive: int
    """TCP from the left."""
    arrived: int
    """eventfd: slices that the left one put here."""
    arrived_right: int
    """eventfd: the right one's."""
    free: int
    """eventfd: whether the bounce buffer may be overwritten."""
    free_right: int
    """eventfd: the right one's."""
    gate: int
    """eventfd: how many of the others are ready to begin."""
    gates: tuple[int, ...]
    """eventfds: those of the others."""

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All of them."""
        values = {name: value for name, value in vars(self).items() if name not in ("ranks", "rank", "gates")}
        return (*values.values(), *self.gates)


@contextmanager
def wired(plan: Measurement) -> Iterator[tuple[tuple[Ends, ...], ...]]:
    """Yield, for every rank, its ends in each ring it is in; what its process has not inherited by then is closed.

    Raises
    ------
    MeasurementError
        If there is no memory, or no loopback, for it.
    """
    with ExitStack() as held:
        most = max(plan.ranks)
        footprint = max(RingLayout(ranks, size).footprint for ranks, size in plan.blocks)
        # An accelerator's memory is taken by the ranks themselves.
        need = PAGE if plan.kind.accelerator else footprint
        # Rings of several sizes share a rank's memory: they are measured one after another.
        devices = [_segment(f"peerlab-device-{rank}", need, held) for rank in range(most)]
        bounces = [_segment(f"peerlab-bounce-{rank}", plan.slice_bytes, held) for rank in range(most)]
        rings = [_ring(ranks, devices, bounces, held) for ranks in plan.ranks]
        yield tuple(tuple(ring[rank] for ring in rings if rank < len(ring)) for rank in range(most))


def _ring(ranks: int, devices: list[int], bounces: list[int], held: ExitStack) -> list[Ends]:
    lines = [_connection(held) for _ in range(ranks)]  # line i leads from rank i to its right
    arrived = [_counter(0, held) for _ in range(ranks)]
    # Every bounce buffer is free at the beginning.
    free = [_counter(1, held) for _ in range(ranks)]
    gates = [_counter(0, held) for _ in range(ranks)]
    ends = []
    for rank in range(ranks):
        right = (rank + 1) % ranks
        ends.append(
            Ends(
                ranks=ranks,
                rank=rank,
                device=devices[rank],
                bounce=bounces[rank],
                right_device=devices[right],
                right_bounce=bounces[right],
                send=lines[rank][0],
                receive=lines[rank - 1][1],
                arrived=arrived[rank],
                arrived_right=arrived[right],
                free=free[rank],
                free_right=free[right],
                gate=gates[rank],
                gates=tuple(gates[:rank] + gates[rank + 1 :]),
            )
        )
    return ends


def _segment(name: str, nbytes: int, held: ExitStack) -> int:
    """Return memory that several processes can map, with all of its pages there: none can be missing later."""
    try:
        fd = os.memfd_create(name)
        held.callback(os.close, fd)
        os.posix_fallocate(fd, 0, nbytes)
    except OSError as problem:
        raise MeasurementError(
            f"sizes: no {say_bytes(nbytes)} of shared memory for a rank: {problem.strerror}; "
            "choose smaller sizes or fewer ranks"
        ) from problem
    return fd


def _counter(begin: int, held: ExitStack) -> int:
    # As a semaphore a read takes one away: two slices that have arrived are waited for one by one.
    fd = os.eventfd(begin, os.EFD_CLOEXEC | os.EFD_SEMAPHORE)
    held.callback(os.close, fd)
    return fd


def _connection(held: ExitStack) -> tuple[int, int]:
    """Return both ends of a TCP connection over loopback."""
    try:
        with socket.create_server((LOOPBACK, 0)) as server:
            near = held.enter_context(socket.create_connection(server.getsockname()))
            while True:
                far, caller = server.accept()
                held.enter_context(far)
                if caller == near.getsockname():  # not a stranger who found the port
                    break
    except OSError as problem:
        raise MeasurementError(f"no TCP over loopback ({LOOPBACK}): {problem.strerror}") from problem
    for end in (near, far):
        # Else the kernel would keep the last small segment of a slice until the one before is acknowledged
        # (Nagle).
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end.setblocking(False)
    return near.fileno(), far.fileno()
