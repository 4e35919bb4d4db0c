"""The engines: what the lab uses beside SimPy, in turn, on the same scenarios; and what must be fast."""

from one import measure
from side_by_side import in_turn, say, table, times

import peerlab
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
    return f"""## The engines

The default engine beside the referee, which says the same in SimPy's coroutines; every span is equal. Where SimPy cannot do
every node in reasonable time, it does one switch of one node, as the default does.

{beside}

What must be fast. Memory is the most that the simulation holds at a time, and the most that its whole process does, Python and
its libraries included; a span that repeats an earlier one is left out.

{wanted}
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
