"""What a measurement was made on and with."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from peerlab.base.version import __version__
from peerlab.features.measure.ranks import probe
from peerlab.features.measure.ranks.memory.locked_memory import say_limit
from peerlab.features.measure.ranks.room import free_bytes
from peerlab.features.measure.schedule import Measurement
from peerlab.machine import read_machine
from peerlab.machine.files import number, text

TELLING = ("FI_", "UCX_", "MPICH_", "MPIR_CVAR_", "OMPI_MCA_", "OMP_NUM_THREADS")
"""Beginnings of variables that change what is measured; no others are kept, as an environment holds secrets."""

_MOST_LETTERS = 200


def describe(plan: Measurement, root: Path = Path("/")) -> dict[str, Any]:
    """Return the manifest of a measurement on this machine, as it is before it begins."""
    return {
        **describe_machine(root),
        "ranks": max(plan.ranks),
        "nodes": 1,
        "ranks_per_node": max(plan.ranks),
        "transport": [f"{arm}: {plan.kind.arms[arm]}" for arm in plan.arms],
        "pins": plan.pins,
        "extras": probe.extras(),
        "what_it_is": plan.kind.what_it_is,
    }


def describe_machine(root: Path = Path("/")) -> dict[str, Any]:
    """Return what of the manifest is true of anything that runs here."""
    machine = read_machine(root)
    return {
        "tool": "peerlab",
        "version": __version__,
        "test": "ring AllReduce",
        "validation": "the sums of every repetition compared with the true ones, exactly",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "hosts": [platform.node()],
        "devices": [machine.processor or platform.machine()],
        "kernel": f"{platform.system()} {platform.release()}",
        # Those that this process may use, not those of the machine.
        "processors": len(os.sched_getaffinity(0)),
        "processor_quota": _quota(root / "sys/fs/cgroup"),
        "free_memory_bytes": free_bytes(root),
        "locked_memory_limit": say_limit(),
        "huge_pages": number(root / "proc/sys/vm/nr_hugepages"),
        "nics": [f"{nic.name}: {_rate(nic.rate_bps)}" for nic in machine.nics],
        "environment": _environment(),
        "load_before": load(),
    }


def source(described: Mapping[str, Any]) -> str:
    """Return the source of rows that were measured here."""
    return f"peerlab: {', '.join(described['devices'])}"


def load() -> float:
    """Return how many processes wanted to run in the last minute, on average."""
    return round(os.getloadavg()[0], 2)


def _environment() -> dict[str, str]:
    return {
        name: value[:_MOST_LETTERS] for name, value in sorted(os.environ.items()) if name.startswith(TELLING)
    }


def _rate(rate_bps: int | None) -> str:
    return "rate not said" if rate_bps is None else f"{rate_bps / 1e9:g} Gbit/s"


def _quota(group: Path) -> float | None:
    """Return how many processors' time may be used; None: no quota."""
    parts = (text(group / "cpu.max") or "").split()
    # Version 2 of control groups writes `max` where there is no quota, version 1 writes -1.
    if len(parts) == 2 and parts[0].isdigit():
        return int(parts[0]) / int(parts[1])
    quota, period = number(group / "cpu/cpu.cfs_quota_us"), number(group / "cpu/cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None
