"""The host that is examined: its files, environment, limits, and the commands that may be asked."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from peerlab.machine import HABANA, Machine, read_machine
from peerlab.machine.files import text
from peerlab.machine.pci import PciDevice, read_devices
from peerlab.machine.rdma import EFA, RdmaPort, read_rdma_ports

if sys.platform != "win32":
    import resource

_PATIENCE_S = 10
"""A command that takes longer is ended and counts as unanswered."""
_ASK_LIBFABRIC = Path(__file__).parent / "ask_libfabric.py"


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return what a command prints; None if it cannot run, fails, or takes longer than 10 s."""
    try:
        done = subprocess.run(  # noqa: S603  (fixed commands, no shell)
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            # Kept away from the terminal: what a command complains of is no answer.
            capture_output=True,
            check=True,
            timeout=_PATIENCE_S,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace")


def _locked_memory_limit() -> int | None:
    if sys.platform == "win32":
        return None
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _why_not(extra: str) -> str:
    from peerlab.machine.attempts import why_not  # noqa: PLC0415  (needs Linux, which reading a report does not)

    return why_not(extra)


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host to examine; by default the one this runs on."""

    root: Path = Path("/")
    """Where its ``/sys``, ``/proc``, ``/dev`` and ``/boot`` lie."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Environment variables that a job on it would have."""
    locked_memory_bytes: int | None = field(default_factory=_locked_memory_limit)
    """Soft limit of locked memory (``ulimit -l``), bytes; None: unlimited."""
    run: Callable[[Sequence[str], Mapping[str, str]], str | None] = run_command
    """Runs a command in an environment and returns its output, or None."""
    why_not: Callable[[str], str] = _why_not
    """Tries one of :mod:`peerlab.machine.attempts`; returns why it does not work, empty if it does."""

    @cached_property
    def machine(self) -> Machine:
        """Accelerators, NUMA nodes, PCIe."""
        return read_machine(self.root)

    @cached_property
    def devices(self) -> list[PciDevice]:
        """Every PCI device."""
        return read_devices(self.root)

    @cached_property
    def ports(self) -> list[RdmaPort]:
        """Ports of RDMA devices, up or not."""
        return read_rdma_ports(self.root)

    @cached_property
    def libfabric(self) -> dict[str, Any] | None:
        """What libfabric says about itself: ``path``, ``version``, ``providers``; None if it cannot be asked.

        ``path`` is empty where no libfabric is found. It is asked without FI_PROVIDER: what it has, not what it is told.
        """
        environment = {name: value for name, value in self.environment.items() if name != "FI_PROVIDER"}
        # -I: neither the user's variables nor his folders change what this Python imports.
        sentence = self.run([sys.executable, "-I", str(_ASK_LIBFABRIC)], environment)
        try:
            answer = json.loads((sentence or "").strip().rpartition("\n")[2])  # libraries may greet before
        except ValueError:
            return None
        return answer if isinstance(answer, dict) else None

    @property
    def gaudi(self) -> bool:
        """Whether it has a Gaudi."""
        return any(device.vendor == HABANA for device in self.machine.accelerators)

    @property
    def gpu(self) -> bool:
        """Whether it has an accelerator that is no Gaudi."""
        return any(device.vendor != HABANA for device in self.machine.accelerators)

    @property
    def efa(self) -> bool:
        """Whether it has an EFA."""
        return any(port.driver == EFA for port in self.ports)

    def says(self, path: str) -> str | None:
        """Return what a small file of the host says; None if it cannot be read."""
        return text(self.root / path)

    def has_module(self, name: str) -> bool:
        """Return whether a kernel module is loaded, or built in."""
        return (self.root / "sys/module" / name).is_dir()
