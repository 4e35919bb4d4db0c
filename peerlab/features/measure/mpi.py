"""Ranks that MPI connects: the way onto a cluster. The transport is the library's choice.

The variables of libfabric and UCX decide it (FI_PROVIDER=efa, UCX_TLS=rc, ...); the manifest keeps them.
"""

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from peerlab.base.errors import MeasurementError
from peerlab.base.extras import extra_needed
from peerlab.collectives.ring_moves import RingMove
from peerlab.features.measure.ranks.arms import Arm, Bytes, HostArm

ARMS = {
    "mpi-staged": "memory -> bounce buffer -> MPI_Sendrecv -> bounce buffer -> memory, around our ring",
    "mpi-ring": "memory -> MPI_Sendrecv -> memory, around our ring",
    "mpi": "MPI_Allreduce, as the library does it",
}
"""Every arm over MPI, and where its bytes go."""

_LAUNCHERS = {"torchrun": "WORLD_SIZE", "srun": "SLURM_NTASKS"}
"""Who starts several processes, and the variable that says how many."""


class _Ring(HostArm):
    """Our ring, straight from and into memory."""

    def __init__(self, mpi: Any, device: Bytes, slice_bytes: int) -> None:
        super().__init__(device, slice_bytes)
        self._comm, self._nobody = mpi.COMM_WORLD, mpi.PROC_NULL
        self._left, self._right = (
            (self._comm.rank - 1) % self._comm.size,
            (self._comm.rank + 1) % self._comm.size,
        )

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Send and receive."""
        begin, landed = move.source_at + at, move.lands_at + at
        self.exchange(self._device[begin : begin + out], self._device[landed : landed + into])

    def exchange(self, leaving: Bytes, landing: Bytes) -> None:
        """Send to the right while receiving from the left; where there is nothing to send, nobody waits for it."""
        to = self._right if len(leaving) else self._nobody
        source = self._left if len(landing) else self._nobody
        self._comm.Sendrecv(leaving, dest=to, recvbuf=landing, source=source)


class _Staged(_Ring):
    """Our ring through bounce buffers."""

    def __init__(self, mpi: Any, device: Bytes, slice_bytes: int) -> None:
        super().__init__(mpi, device, slice_bytes)
        self._leaving, self._landing = np.zeros(slice_bytes, np.uint8), np.zeros(slice_bytes, np.uint8)

    def transfer(self, move: RingMove, at: int, out: int, into: int) -> None:
        """Copy out, send and receive, copy in."""
        begin, landed = move.source_at + at, move.lands_at + at
        self._leaving[:out] = self._device[begin : begin + out]
        self.exchange(self._leaving[:out], self._landing[:into])
        self._device[landed : landed + into] = self._landing[:into]


class _Library(_Ring):
    """The library's own AllReduce, in place."""

    def __init__(self, mpi: Any, device: Bytes, nbytes: int, slice_bytes: int) -> None:
        super().__init__(mpi, device, slice_bytes)
        # In place, as our ring works: a second buffer would add traffic that the other arms do not have.
        self._in_place, self._message = mpi.IN_PLACE, device[:nbytes].view(np.float32)

    def run(self, moves: Sequence[RingMove]) -> None:  # noqa: ARG002  (the library has its own)
        """Let it do all."""
        self._comm.Allreduce(self._in_place, self._message)


class MpiPeers:
    """The ranks of MPI's world."""

    def __init__(self) -> None:
        """Join.

        Raises
        ------
        MeasurementError
            If MPI is not there, or knows of this process alone.
        """
        self._mpi = _library()
        self._comm = self._mpi.COMM_WORLD
        self.rank, self.size = int(self._comm.rank), int(self._comm.size)
        if self.size == 1:
            raise MeasurementError(_why_alone())
        lines = self._mpi.Get_library_version().splitlines()
        # Open MPI says what it is in one line; MPICH in a dozen, of which its version and device tell the
        # transport.
        self.transport: Sequence[str] = [
            line.strip() for line in lines if "Version" in line or "Device" in line
        ] or lines[:1]

    def arm(self, name: str, device: Bytes, nbytes: int, slice_bytes: int) -> Arm:
        """Return an arm."""
        if name == "mpi":
            return _Library(self._mpi, device, nbytes, slice_bytes)
        return {"mpi-staged": _Staged, "mpi-ring": _Ring}[name](self._mpi, device, slice_bytes)

    def barrier(self) -> None:
        """Wait for all."""
        self._comm.Barrier()

    def gather(self, value: Any) -> list[Any]:
        """Return what each rank gave; nothing on others than rank 0."""
        return self._comm.gather(value) or []

    def abort(self) -> None:
        """End all ranks: the others would wait for this one for ever."""
        self._comm.Abort(1)


def _library() -> Any:
    try:
        with extra_needed("--mpi"):
            return import_module("mpi4py.MPI")
    except ImportError as problem:  # the MPI library below the module
        raise MeasurementError(f"--mpi needs MPI: pip install 'peerlab[mpi]' ({problem})") from None


def _why_alone() -> str:
    """Return why MPI knows of one process, and what to do."""
    for launcher, variable in _LAUNCHERS.items():
        if os.environ.get(variable, "1") != "1":
            more = "srun --mpi=pmi2 or --mpi=pmix" if launcher == "srun" else "mpirun or srun"
            return f"--mpi: {launcher} started several processes, but MPI knows of this one alone: start them with {more}"
    return "--mpi: MPI knows of this process alone: start several, as in 'mpirun -n 4 peerlab measure --mpi'"
