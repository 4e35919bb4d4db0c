"""Ranks that find one another by TCP, where a launcher says who they are but brings no MPI, as torchrun does."""

import os
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from peerlab.errors import MeasurementError
from peerlab.measurement.arms import SILENCE_S, Arm, Bytes, Staged, Tcp
from peerlab.measurement.lines import Lines
from peerlab.measurement.plan import ARMS as SHARED_ARMS

ARMS = {name: SHARED_ARMS[name] for name in ("staged", "tcp")}
"""Every arm over sockets, and where its bytes go: those that need no memory in common."""

_SAID_BY = {
    "rank": ("RANK", "SLURM_PROCID"),
    "size": ("WORLD_SIZE", "SLURM_NTASKS"),
    "host": ("MASTER_ADDR",),
    "port": ("MASTER_PORT",),
}
"""Variables by which launchers say who a process is; the first that is set counts."""

_MEETING_S = 60.0
"""How long ranks wait for one another at the start."""
_GREETING_S = 5.0
"""How long whoever connects may take to say who it is; the next one waits meanwhile."""
_GREETING_BYTES = 200
"""Most that is read of that."""
_MOST_PORT = 65535
_MOST_DIGITS = 10
_LOOPBACK = ("127.", "localhost", "::1")
"""Beginnings of a host that is this machine, and can be reached from nowhere else."""


class SocketPeers:
    """Ranks that meet at rank 0, at the port after MASTER_PORT, which the launcher uses itself."""

    option: str = "sockets"
    arms: Mapping[str, str] = ARMS
    transport: Sequence[str] = ("TCP sockets of the kernel",)

    def __init__(self) -> None:
        """Meet the others.

        Raises
        ------
        MeasurementError
            If the launcher does not say who this is, or the others do not come.
        """
        self.rank, self.size = _whole("rank"), _whole("size")
        if not 0 <= self.rank < self.size or self.size < 2:
            raise MeasurementError(f"--sockets: rank {self.rank} of {self.size} cannot be; start 2 or more")
        try:
            self._meet(_said("host"), _meeting_port())
        except (OSError, EOFError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem) or "somebody left"
            raise MeasurementError(f"--sockets: rank {self.rank} cannot meet the others: {reason}") from None

    def arm(self, name: str, device: Bytes, nbytes: int, slice_bytes: int) -> Arm:  # noqa: ARG002  (any size)
        """Return an arm."""
        return {"staged": Staged, "tcp": Tcp}[name](device, slice_bytes, self._right, self._left)

    def barrier(self) -> None:
        """Wait for all."""
        self.gather(None)
        for line in self._lines:
            if self.rank:
                line.receive()
            else:
                line.send(None)

    def gather(self, value: Any) -> list[Any]:
        """Return what each rank gave; nothing on others than rank 0."""
        if self.rank == 0:
            return [value, *(line.receive() for line in self._lines)]
        self._lines[0].send(value)
        return []

    def abort(self) -> None:
        """Do nothing: the others notice that this one's connections close."""

    def _meet(self, host: str, port: int) -> None:
        """Connect with rank 0, and with the neighbours, whose places rank 0 tells."""
        end = _patiently(host, port) if self.rank else None
        with _listening(end.getsockname()[0] if end else host, 0) as door:
            mine = door.getsockname()[1]
            table, token = self._join(end, mine) if end else self._host(host, port, mine)
            self._right = socket.create_connection(table[(self.rank + 1) % self.size], _MEETING_S)
            self._right.sendall(token.encode())
            self._left = _expected(door, token.encode())
        for end in (self._right, self._left):
            _at_once(end).setblocking(False)

    def _host(self, host: str, port: int, mine: int) -> tuple[list[tuple[str, int]], str]:
        """Wait for all others, and tell them who is where; return the same."""
        token, come = secrets.token_hex(16), dict[int, tuple[Lines, tuple[str, int]]]()
        with _listening(host, port) as server:
            while missing := set(range(1, self.size)) - come.keys():
                end, (address, *_) = _accepted(server, f"no rank {min(missing)} for {_MEETING_S:g} s")
                rank, line, theirs = _greeted(end)
                if rank in missing and theirs in range(1, _MOST_PORT + 1):
                    come[rank] = line, (address, theirs)
        others = [come[rank] for rank in range(1, self.size)]
        self._lines = [line for line, _ in others]
        table = [(host, mine), *(place for _, place in others)]
        for line in self._lines:
            line.send({"table": table, "token": token})
        return table, token

    def _join(self, end: socket.socket, mine: int) -> tuple[list[tuple[str, int]], str]:
        self._lines = [_line(end)]
        self._lines[0].send({"rank": self.rank, "port": mine})
        told = self._lines[0].receive()
        return [(host, port) for host, port in told["table"]], told["token"]


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens where the others look for this rank.

    On loopback, that is there and nowhere else. Otherwise everywhere: the address that others know may be a translated one, and the
    name of a machine often leads to loopback on this machine alone.
    """
    family, *_, address = min(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))  # IPv4 if there is any
    place = str(address[0]) if host.startswith(_LOOPBACK) else ""
    return socket.create_server((place, port), family=family)


def _accepted(door: socket.socket, else_says: str) -> tuple[socket.socket, Any]:
    """Return the next connection and its address."""
    door.settimeout(_MEETING_S)
    try:
        return door.accept()
    except TimeoutError:
        raise TimeoutError(else_says) from None


def _greeted(end: socket.socket) -> tuple[Any, Lines, Any]:
    """Return the rank that whoever connected says to be, its line, and where it listens; nothing but the line of a stranger."""
    line = _line(end)
    end.settimeout(_GREETING_S)
    with suppress(OSError, EOFError, ValueError, KeyError, TypeError, RecursionError):
        hello = line.receive(_GREETING_BYTES)
        end.settimeout(SILENCE_S)
        return hello["rank"], line, hello["port"]
    return None, line, None


def _line(end: socket.socket) -> Lines:
    end.settimeout(SILENCE_S)
    return Lines(_at_once(end))


def _at_once(end: socket.socket) -> socket.socket:
    """Have small messages sent without waiting for more."""
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end


def _patiently(host: str, port: int) -> socket.socket:
    """Connect with rank 0, which may not listen yet."""
    until = time.monotonic() + _MEETING_S
    while True:
        try:
            return socket.create_connection((host, port), _MEETING_S)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _expected(door: socket.socket, token: bytes) -> socket.socket:
    """Return the connection of the left neighbour, who knows the token."""
    while True:
        end, _ = _accepted(door, f"the left neighbour did not connect for {_MEETING_S:g} s")
        end.settimeout(_GREETING_S)
        with suppress(OSError):
            if end.recv(len(token), socket.MSG_WAITALL) == token:
                return end
        end.close()


def _said(what: str) -> str:
    names = _SAID_BY[what]
    for name in names:
        if os.environ.get(name):
            return os.environ[name]
    raise MeasurementError(
        f"--sockets: {' or '.join(names)} is not set: start it as in "
        "'torchrun --nproc-per-node 4 --no-python peerlab measure --sockets'"
    )


def _meeting_port() -> int:
    port = _whole("port") + 1
    if port > _MOST_PORT:
        raise MeasurementError(
            f"--sockets: MASTER_PORT is '{port - 1}'; ranks meet at the next one, at most {_MOST_PORT}"
        )
    return port


def _whole(what: str) -> int:
    said = _said(what)
    if not (said.isascii() and said.isdigit() and len(said) < _MOST_DIGITS):
        raise MeasurementError(f"--sockets: {_SAID_BY[what][0]} is {said[:40]!r}, not a whole number")
    return int(said)
