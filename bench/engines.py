"""The engines: what the lab uses beside SimPy, in turn, on the same scenarios; and what must be fast."""

import os
import subprocess
import sys
import tempfile

from one import measure
from side_by_side import children_cpu_s, in_turn, say, table, times

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.engine.simulate import simulate

AGAINST_THE_REFEREE = (
    (8, "host-rdma", True),
    (8, "peer-direct", True),
    (64, "host-rdma", False),
    (64, "peer-direct", False),
    (1024, "host-rdma", False),
)
"""Nodes, path, and whether the referee simulates every node, or one switch of one node."""

RING = {"cluster": "ideal-100g", "path": "wire", "message_bytes": "16 MiB"}
WANTED = (
    ("ring, 1024 nodes, transfers whole", {"nodes": 1024, "slice_bytes": None}, "under 10 ms"),
    ("ring, 1024 nodes, 16 slices a transfer", {"nodes": 1024, "slice_bytes": 1024}, "under 100 ms"),
    ("ring, 4096 nodes, transfers whole", {"nodes": 4096, "slice_bytes": None}, "it works"),
    ("ring, 4096 nodes, 16 slices a transfer", {"nodes": 4096, "slice_bytes": 256}, "it works"),
)

SLOW = {"cluster": "dl1", "path": "peer-direct", "slow_nodes": {1: 0.5}}
LEAVES = {"cluster": "ideal-100g-leafspine-2to1", "path": "wire", "dependency": "slice"}
DIFFERENT = (
    ("dl1 peer-direct, 8 nodes, one of them slow", {**SLOW, "nodes": 8}, ""),
    ("dl1 peer-direct, 64 nodes, one of them slow", {**SLOW, "nodes": 64}, "0.5 s"),
    ("dl1 peer-direct, 256 nodes, one of them slow", {**SLOW, "nodes": 256}, "5 s"),
    ("dl1 host-rdma, 64 nodes, jitter of 0.1", {"cluster": "dl1", "nodes": 64, "jitter": 0.1}, "3 s"),
    ("leaf and spine switches, 256 nodes", {**LEAVES, "nodes": 256}, ""),
)
"""Scenarios of 64 MiB in which nodes differ, and what is wanted."""
FIRST = (
    "import peerlab; peerlab.simulate(peerlab.Scenario(nodes=2, jitter=0.1, message_bytes=1), engine={!r})"
)
"""What a process runs that does nothing else."""


def section() -> str:
    """Measure the engines."""
    beside = table(
        ("Gaudi DL1, 64 MiB", "peerlab's default", "SimPy", "faster by"),
        [beside_the_referee(*which) for which in AGAINST_THE_REFEREE],
    )
    wanted = table(
        (
            "16 MiB on ideal-100g",
            "quickest run",
            "memory",
            "of the process",
            "simulated of all spans",
            "wanted",
        ),
        [ring(*which) for which in WANTED],
    )
    different = table(
        ("64 MiB", "engine", "peerlab's default", "the loop in Python", "faster by", "wanted"),
        [where_nodes_differ(*which) for which in DIFFERENT],
    )
    alone, compiling, loading = first_runs()
    return f"""## The engines

The default engine beside the referee, which says the same in SimPy's coroutines; every span is equal. Where SimPy cannot do
every node in reasonable time, it does one switch of one node, as the default does.

{beside}

What must be fast. Memory is the most that the simulation holds at a time, and the most that its whole process does, Python and
its libraries included; a span that repeats an earlier one is left out.

{wanted}

Where nodes differ, each is simulated. The default is the compiled loop where numba is installed and slices queue for what several senders
or stages share. The rows were measured once. *Too many spans* is what the loop refuses; the compiled loop keeps those of the slow node
(else node 0) and its neighbours.

{different}

The compiled loop costs {say(compiling - alone)} the first time on a machine, for compiling, and {say(loading - alone)} the first time in a
process, for loading: the CPU time of a process that simulates two nodes with it, less that of one that does so in Python.
"""


def beside_the_referee(nodes: int, path: str, every_node: bool) -> tuple[str, ...]:
    scenario = peerlab.Scenario(nodes=nodes, path=path)
    referee, ours = in_turn(
        lambda: simulate(scenario, engine="referee", every_node=every_node), lambda: simulate(scenario)
    )
    who = "every node" if every_node else "one switch of one node"
    return f"{path}, {nodes} nodes", say(ours), f"{say(referee)}, {who}", times(referee / ours)


def ring(what: str, fields: dict[str, object], wanted: str) -> tuple[str, ...]:
    took = measure(**RING, **fields)
    share = f"{took['spans']:,} of {took['whole']:,}"
    memory = [f"{took[name] / 2**20:.3g} MiB" for name in ("peak_bytes", "process_bytes")]
    return what, say(took["seconds"]), *memory, share, wanted


def where_nodes_differ(what: str, fields: dict[str, object], wanted: str) -> tuple[str, ...]:
    scenario = peerlab.Scenario(**fields)
    engine = simulate(scenario).engine  # loads what is loaded once
    if engine == "loop":
        return what, engine, "", say(*in_turn(lambda: simulate(scenario), times=1)), "", wanted
    (ours,) = in_turn(lambda: simulate(scenario))
    try:
        loop, ours = in_turn(lambda: simulate(scenario, engine="loop"), lambda: simulate(scenario), times=1)
    except ScenarioError:
        return what, engine, say(ours), "too many spans", "", wanted
    return what, engine, say(ours), say(loop), times(loop / ours), wanted


def first_runs() -> tuple[float, float, float]:
    """Return the CPU seconds of three processes: one in Python, one that compiles, one that finds the machine code on disk."""
    taken = []
    with tempfile.TemporaryDirectory() as empty:
        for engine in ("loop", "compiled", "compiled"):
            before = children_cpu_s()
            command = [sys.executable, "-c", FIRST.format(engine)]
            subprocess.run(command, env={**os.environ, "NUMBA_CACHE_DIR": empty}, check=True)
            taken.append(children_cpu_s() - before)
    alone, compiling, loading = taken
    return alone, compiling, loading
