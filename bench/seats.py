"""Forty seats on one machine: kernels that each run a lab in a folder of their own and stay, as learners' notebooks do."""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from side_by_side import quantile, table

from peerlab.base.units import MIB

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "browser"))
from server import laboratory

LABS = Path(__file__).parent.parent / "labs"
SEATS = 40
AT_ONCE = 4


@dataclass
class Seat:
    """One learner: a kernel that has run a lab, and still lives."""

    lab: Path
    kernel: AsyncKernelManager
    seconds: float = 0.0
    problem: str = ""
    """What the lab raised, if it failed."""
    rss: int = 0
    """Bytes of the kernel at the end of its lab; what it shares with other kernels is counted in full."""

    @property
    def process(self) -> int:
        """The kernel's process id."""
        return self.kernel.provisioner.process.pid


@dataclass
class Room:
    """All seats, their kernels alive."""

    seats: list[Seat] = field(default_factory=list)
    pss: list[int] = field(default_factory=list)
    """Bytes of each kernel when all were done; what is shared is divided among those who share it."""
    load: float = 0.0
    """Of the machine, before it began."""


def labs() -> list[Path]:
    """Return every lab, with the answers filled in where it asks for some."""
    return [
        solved if (solved := LABS / "solutions" / lab.name).exists() else lab
        for lab in sorted(LABS.glob("*.ipynb"))
    ]


def run(seats: int, at_once: int, chosen: Sequence[Path]) -> Room:
    """Let seats run the labs in turn, so many at once; return how it went."""
    with tempfile.TemporaryDirectory() as private:
        for n in range(seats):
            (Path(private) / str(n)).mkdir()
        return asyncio.run(_run(seats, at_once, chosen, Path(private)))


async def _run(seats: int, at_once: int, chosen: Sequence[Path], private: Path) -> Room:
    room, gate = Room(load=os.getloadavg()[0]), asyncio.Semaphore(at_once)
    room.seats = [Seat(chosen[n % len(chosen)], AsyncKernelManager()) for n in range(seats)]
    try:
        await asyncio.gather(*(_sit(seat, private / str(n), gate) for n, seat in enumerate(room.seats)))
        room.pss = [memory(seat.process)["Pss"] for seat in room.seats if await seat.kernel.is_alive()]
    finally:
        await asyncio.gather(
            *(seat.kernel.shutdown_kernel(now=True) for seat in room.seats if seat.kernel.has_kernel)
        )
    return room


async def _sit(seat: Seat, folder: Path, gate: asyncio.Semaphore) -> None:
    async with gate:
        begun = time.monotonic()
        client = NotebookClient(
            nbformat.read(seat.lab, as_version=4),
            km=seat.kernel,
            timeout=600,
            resources={"metadata": {"path": str(folder)}},
        )
        try:
            await client.async_execute()
        except CellExecutionError as problem:
            seat.problem = f"{problem.ename}: {problem.evalue}"
        except DeadKernelError:
            seat.problem = f"the kernel ended with {await seat.kernel.provisioner.poll()}"
        seat.seconds = time.monotonic() - begun
        seat.rss = memory(seat.process)["Rss"] if await seat.kernel.is_alive() else 0


def memory(process: int) -> dict[str, int]:
    """Return the bytes of a process as Linux counts them: ``Rss``, ``Pss`` and others."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(size.split()[0]) * 1024 for name, size in (line.split(":") for line in lines)}


def section() -> str:
    """Measure the seats."""
    with laboratory() as lab:
        server = memory(lab.process.pid)["Rss"]
    room = run(SEATS, AT_ONCE, labs())
    failed = [seat for seat in room.seats if seat.problem]
    return f"""## Seats on one machine

{SEATS} kernels, each in a folder of its own, run a lab from top to bottom with its solutions filled in, {AT_ONCE} at once, on {os.cpu_count()} cores
with a load of {room.load:.1f} before it began. All kernels stay until the last is done. {len(failed) or "None"} failed.

{table(("lab", "seats", "time, median", "time, slowest", "kernel, median", "kernel, largest"), list(_rows(room.seats)))}

All kernels together take {sum(room.pss) / 2**30:.1f} GiB ({statistics.mean(room.pss) / MIB:.0f} MiB a seat) where they share the machine's
memory (PSS), and {sum(seat.rss for seat in room.seats) / 2**30:.1f} GiB if each has a container of its own (RSS). A JupyterLab server takes {server / MIB:.0f} MiB
before anybody has opened a notebook: one for everybody, or one a seat where each learner has a server, as with JupyterHub and Binder.
"""


def _rows(seats: Sequence[Seat]) -> Iterator[tuple[str, ...]]:
    for lab in sorted({seat.lab.stem for seat in seats}):
        here = [seat for seat in seats if seat.lab.stem == lab]
        seconds, rss = [seat.seconds for seat in here], [seat.rss / MIB for seat in here]
        yield (
            f"`{lab}`",
            str(len(here)),
            f"{statistics.median(seconds):.0f} s",
            f"{max(seconds):.0f} s",
            f"{statistics.median(rss):.0f} MiB",
            f"{quantile(rss, 1):.0f} MiB",
        )
