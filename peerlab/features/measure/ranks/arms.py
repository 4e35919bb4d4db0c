"""The data paths: how a slice gets from this rank's device memory into its right neighbour's.

All wait blocked in the kernel, never spinning: ranks may outnumber cores.
"""

import os
import select
import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from peerlab.base.errors import MeasurementError
from peerlab.collectives.ring_moves import RingMove
from peerlab.features.measure.ranks.pins import Registrar
from peerlab.machine import linux
from peerlab.model.registration import Lease

Bytes = NDArray[np.uint8]

SILENCE_S = 120.0
"""How long a neighbour may say nothing: far longer than anything that is measured."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """What a rank shares with its left and its right neighbour in a ring."""

    send: socket.socket
    """Non-blocking TCP to the right."""
    receive: socket.socket
    """Non-blocking TCP from the left."""
    bounce: Bytes
    """The buffer in which the left one puts what is staged in shared memory."""
    right_bounce: Bytes
    """The right one's."""
    right_device: Bytes
    """The right one's device memory."""
    arrived: int
    """eventfd: how many slices the left one has put here."""
    arrived_right: int
    """eventfd: the same at the right."""
    free: int
    """eventfd: whether the own bounce buffer may be overwritten."""
    free_right: int
    """eventfd: the same at the right."""
    right_pid: int
    """Process id of the right one."""
    right_address: int
    """Where its device memory begins in its own address space."""


class Arm(ABC):
    """One data path."""

    COPIES: ClassVar[tuple[int, int] | None] = None
    """How often a byte sent, and a byte received, is copied by this rank or by the kernel for it; None: not known."""

    def __init__(self, address: int, slice_bytes: int, registrar: Registrar | None = None) -> None:
        self._address = address
        self._slice_bytes = slice_bytes
        self._registrar = registrar

    @abstractmethod
    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Send `out` bytes of a move's slice at `at`, and have `into` bytes of the left one's landed."""

    def run(self, moves: Sequence[RingMove]) -> None:
        """Do all moves of an AllReduce."""
        for move in moves:
            # Once for the whole move, not for each slice: the model registers transfers, too.
            leases = self._registered(move)
            for at, out, into in move.slices(self._slice_bytes):
                self.transfer(move, at, out, into)
                if move.adds_to is not None:
                    self._add(move.adds_to + at, move.lands_at + at, into)
            for registrar, lease in leases:
                registrar.release(lease)

    def copied(self, moves: Sequence[RingMove]) -> int | None:
        """Return the bytes that all moves copy."""
        if self.COPIES is None:
            return None
        sent, received = self.COPIES
        return sum(sent * move.source_bytes + received * move.lands_bytes for move in moves)

    def _registered(self, move: RingMove) -> list[tuple[Registrar, Lease]]:
        """Have both ends of a move registered."""
        registrar = self._registrar
        if registrar is None:
            return []
        ends = ((move.source_at, move.source_bytes), (move.lands_at, move.lands_bytes))
        return [(registrar, registrar.acquire(self._place(at), nbytes)) for at, nbytes in ends if nbytes]

    def _place(self, at: int) -> int:
        """Return the address of what is registered for the bytes at an offset in device memory."""
        return self._address + at

    @abstractmethod
    def _add(self, to: int, landed: int, nbytes: int) -> None:
        """Add what landed to a chunk, float32."""


class HostArm(Arm):
    """One whose device memory is the processor's own."""

    def __init__(self, device: Bytes, slice_bytes: int, registrar: Registrar | None = None) -> None:
        super().__init__(device.ctypes.data, slice_bytes, registrar)
        self._device = device
        # A view of float32 wants a multiple of 4 bytes; chunks end at whole numbers, so nothing of them is
        # cut.
        self._numbers = device[: len(device) // 4 * 4].view(np.float32)

    def _add(self, to: int, landed: int, nbytes: int) -> None:
        total = self._numbers[to // 4 : (to + nbytes) // 4]
        np.add(total, self._numbers[landed // 4 : (landed + nbytes) // 4], out=total)


class Tcp(HostArm):
    """TCP straight from and into device memory: no bounce buffers."""

    # The kernel copies into the sender's socket, and out of the receiver's.
    COPIES = (1, 1)

    def __init__(self, device: Bytes, slice_bytes: int, send: socket.socket, receive: socket.socket) -> None:
        super().__init__(device, slice_bytes)
        self._send, self._receive = send, receive

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Exchange."""
        begin, landed = move.source_at + at, move.lands_at + at
        leaving, landing = self._device[begin : begin + out], self._device[landed : landed + into]
        exchange(self._send, self._receive, leaving, landing)


class Staged(Tcp):
    """Through bounce buffers and TCP: the detour of a NIC that cannot reach device memory."""

    # Beside TCP's copies one between device memory and a bounce buffer, at either end.
    COPIES = (2, 2)

    def __init__(self, device: Bytes, slice_bytes: int, send: socket.socket, receive: socket.socket) -> None:
        super().__init__(device, slice_bytes, send, receive)
        self._leaving, self._landing = np.zeros(slice_bytes, np.uint8), np.zeros(slice_bytes, np.uint8)

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Copy out, exchange, copy in."""
        begin, landed = move.source_at + at, move.lands_at + at
        self._leaving[:out] = self._device[begin : begin + out]
        exchange(self._send, self._receive, self._leaving[:out], self._landing[:into])
        self._device[landed : landed + into] = self._landing[:into]


class _Shared(HostArm):
    """An arm among processes of this machine that share memory."""

    def __init__(
        self, device: Bytes, slice_bytes: int, beside: Neighbours, registrar: Registrar | None = None
    ) -> None:
        super().__init__(device, slice_bytes, registrar)
        self._beside = beside


class StagedShm(_Shared):
    """Through bounce buffers without TCP: what the copies alone cost."""

    # Out to the own bounce buffer and on into the neighbour's; the receiver copies in.
    COPIES = (2, 1)

    def __init__(self, device: Bytes, slice_bytes: int, beside: Neighbours) -> None:
        super().__init__(device, slice_bytes, beside)
        self._leaving = np.zeros(slice_bytes, np.uint8)

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Copy out, on into the neighbour's bounce buffer once it is free, and copy in."""
        beside, begin, landed = self._beside, move.source_at + at, move.lands_at + at
        if out:
            self._leaving[:out] = self._device[begin : begin + out]
            # Before the store: the neighbour may still copy the last slice out of its buffer.
            os.eventfd_read(beside.free_right)
            beside.right_bounce[:out] = self._leaving[:out]
            os.eventfd_write(beside.arrived_right, 1)
        if into:
            os.eventfd_read(beside.arrived)
            self._device[landed : landed + into] = beside.bounce[:into]
            os.eventfd_write(beside.free, 1)


class Direct(_Shared):
    """One-sided: this rank stores into its neighbour's device memory and says so."""

    # The sender stores; the receiver does nothing but wait.
    COPIES = (1, 0)

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Put, tell, and wait for what the left one puts."""
        if out:
            self.put(move.source_at + at, move.there_at + at, out)
            # After the store: what wakes the neighbour promises that the slice is there.
            os.eventfd_write(self._beside.arrived_right, 1)
        if into:
            # No wait for room: each step lands in a place of its own (`RingLayout`), so a neighbour may run
            # ahead.
            os.eventfd_read(self._beside.arrived)

    def put(self, here: int, there: int, nbytes: int) -> None:
        """Store."""
        self._beside.right_device[there : there + nbytes] = self._device[here : here + nbytes]


class Cma(Direct):
    """One-sided through the kernel (cross-memory attach), which pins the neighbour's pages for each write."""

    def put(self, here: int, there: int, nbytes: int) -> None:
        """Have the kernel write into the neighbour."""
        beside = self._beside
        done = linux.write_into(beside.right_pid, beside.right_address + there, self._address + here, nbytes)
        if done != nbytes:
            raise MeasurementError(f"process_vm_writev wrote {done} of {nbytes} B")


def arm(
    name: str, device: Bytes, slice_bytes: int, beside: Neighbours, registrar: Registrar | None = None
) -> Arm:
    """Return the arm of a name, between host memories; one-sided arms register what they touch, if there is a registrar."""
    if name in ("staged", "tcp"):
        return (Staged if name == "staged" else Tcp)(device, slice_bytes, beside.send, beside.receive)
    if name == "staged-shm":
        return StagedShm(device, slice_bytes, beside)
    return (Cma if name == "cma" else Direct)(device, slice_bytes, beside, registrar)


def exchange(send: socket.socket, receive: socket.socket, out: Bytes, into: Bytes) -> None:
    """Send all of `out` while receiving all of `into`, on non-blocking sockets.

    Raises
    ------
    OSError
        If a neighbour has gone, or is silent for `SILENCE_S`, as one is whose machine lost its power.
    """
    to_send, to_fill = out.data, into.data
    # Both ways at once: ranks of a ring that all sent first would fill their sockets and wait for ever.
    while to_send or to_fill:
        sent = _send(send, to_send) if to_send else 0
        got = _receive(receive, to_fill) if to_fill else 0
        to_send, to_fill = to_send[sent:], to_fill[got:]
        if not sent and not got:
            _wait(send if to_send else None, receive if to_fill else None)


def _send(to: socket.socket, what: memoryview) -> int:
    try:
        return to.send(what)
    except BlockingIOError:
        return 0


def _receive(source: socket.socket, into: memoryview) -> int:
    try:
        got = source.recv_into(into)
    except BlockingIOError:
        return 0
    if not got:
        raise ConnectionResetError("the left neighbour closed its connection")
    return got


def _wait(writable: socket.socket | None, readable: socket.socket | None) -> None:
    poll = select.poll()
    if writable:
        poll.register(writable, select.POLLOUT)
    if readable:
        poll.register(readable, select.POLLIN)
    if not poll.poll(SILENCE_S * 1000):
        raise TimeoutError(f"nothing came for {SILENCE_S:g} s")
