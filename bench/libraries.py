"""What simulating a communication library costs: the same scenarios with it and from topology alone, in turn."""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from ahead import SWITCHES, pages, press
from lab import spread
from side_by_side import in_turn, say, table, times

import peerlab
from peerlab.base.units import MIB

NODES = (8, 1024)
PRESSES = 12
SEATS = 3
ASKED = (
    ("dl1", "host-rdma", "allreduce"),
    ("dl1", "peer-direct", "allreduce"),
    ("dl1", "peer-direct", "alltoall"),
    ("p4d", "peer-direct", "allreduce"),
    ("p5", "peer-direct", "allreduce"),
    ("azure-nd-a100-v4", "peer-direct", "allreduce"),
)
SEAT = """
import peerlab, re
for path in ("host-rdma", "peer-direct"):
    for size in ("64 KiB", "1 MiB", "64 MiB", "1 GiB"):
        run = peerlab.simulate(peerlab.Scenario(path=path, message_bytes=size{more}))
        run._repr_html_()
print(re.search(r"Pss: +(\\d+)", open("/proc/self/smaps_rollup").read()).group(1))
"""
"""A learner's kernel: both paths at four sizes, with their pictures; prints its memory in KiB."""
Row = tuple[str, ...]


def section() -> str:
    """Measure simulation, memory and switches."""
    load = os.getloadavg()[0]
    simulated = table(
        ("64 MiB", "nodes", "with its library", "topology alone", "times as long"), list(simulations())
    )
    pressed = [row for nodes in NODES for row in switches(nodes)]
    with_library, alone = seats()
    return f"""## What the library costs

On {os.cpu_count()} cores with a load of {load:.1f} before it began. A simulation with all its figures, in turn; median of five:

{simulated}

Two labs in one Chromium, one of `Scenario()` and one with `library="none"`, each switch pressed in turn {PRESSES} times:

{table(("to repaint", "with its library: median", "p95", "topology alone: median", "p95"), pressed)}

A kernel that has simulated both paths at four sizes, with their pictures, holds {with_library:.0f} MiB with the library and {alone:.0f} MiB without
(PSS, median of {SEATS} in turn).
"""


def simulations() -> Iterator[Row]:
    """Yield a row for each scenario."""
    for cluster, path, collective in ASKED:
        for nodes in NODES:
            own = peerlab.Scenario(cluster=cluster, path=path, collective=collective, nodes=nodes)
            both = [partial(answer, one) for one in (own, own.with_(library="none"))]
            for one in both:
                one()  # loads what is loaded once
            took, alone = in_turn(*both, times=5)
            yield f"`{cluster}`, {path}, {collective}", str(nodes), say(took), say(alone), times(took / alone)


def answer(scenario: peerlab.Scenario) -> object:
    """Simulate with every figure."""
    return peerlab.simulate(scenario).as_dict()


def switches(nodes: int) -> Iterator[Row]:
    """Yield a row for each switch, pressed in both labs in turn."""
    codes = {
        name: f"import peerlab\npeerlab.explore(nodes={nodes}{more})"
        for name, more in (("library", ""), ("alone", ", library='none'"))
    }
    with pages(codes) as both:
        for name, selector in SWITCHES.items():
            taken: list[list[float]] = [[], []]
            for one in both:
                one.page.bring_to_front()
                if "cache" in name:
                    one.change(partial(one.switch, "host"))
            for number in range(PRESSES):
                for which in (0, 1) if number % 2 else (1, 0):
                    both[which].page.bring_to_front()
                    taken[which].append(press(both[which], selector))
            yield f"switch *{name}*, {nodes} nodes", *spread(taken[0]), *spread(taken[1])


def seats() -> tuple[float, float]:
    """Return the memory of a kernel with the library and without, MiB."""
    held: list[list[float]] = [[], []]
    for _ in range(SEATS):
        for kind, more in enumerate(("", ", library='none'")):
            done = subprocess.run(
                [sys.executable, "-c", SEAT.replace("{more}", more)],
                capture_output=True,
                text=True,
                check=True,
            )
            held[kind].append(int(done.stdout.split()[-1]) * 1024 / MIB)
    return statistics.median(held[0]), statistics.median(held[1])
