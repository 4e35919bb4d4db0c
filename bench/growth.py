"""How time and memory grow with the nodes and with the slices of a transfer: measured, plotted, explained."""

import math
from pathlib import Path

from growth_picture import Curve, draw
from one import measure
from side_by_side import say, table

NODES = tuple(64 * 2**k for k in range(7))
SLICES = tuple(2**k for k in range(9))
SLICED_NODES = 64
IDEAL = {"cluster": "ideal-100g", "path": "wire", "message_bytes": "16 MiB"}
DL1 = {"cluster": "dl1", "message_bytes": "64 MiB"}
BY_NODES = {
    "ideal-100g, transfers whole": {**IDEAL, "slice_bytes": None},
    "dl1 host-rdma": {**DL1, "path": "host-rdma"},
    "dl1 peer-direct, cached": {**DL1, "path": "peer-direct"},
    "dl1 peer-direct, no cache": {**DL1, "path": "peer-direct", "registration": "per-transfer"},
    "dl1 host-tcp": {**DL1, "path": "host-tcp"},
}
BY_SLICES = {
    "ideal-100g": {**IDEAL, "message_bytes": "1 GiB"},
    "dl1 host-rdma": {**DL1, "message_bytes": "1 GiB", "path": "host-rdma"},
    "dl1 peer-direct, cached": {**DL1, "message_bytes": "1 GiB", "path": "peer-direct"},
    "dl1 host-tcp": {**DL1, "message_bytes": "1 GiB", "path": "host-tcp"},
}
TRANSFER = {"ideal-100g": 2**30 // SLICED_NODES, "dl1": 2**30 // SLICED_NODES // 8}
"""Bytes of one transfer of 1 GiB: per node, and per device of a node."""
PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "growth.png"


def section() -> str:
    """Measure the growth."""
    by_nodes = [
        Curve(name, [(n, measure(nodes=n, **fields)) for n in NODES]) for name, fields in BY_NODES.items()
    ]
    by_slices = [Curve(name, [(k, sliced(k, fields)) for k in SLICES]) for name, fields in BY_SLICES.items()]
    draw(PICTURE, by_nodes, by_slices, SLICED_NODES)
    return f"""## Growth

![Time and memory over nodes and over slices](pictures/{PICTURE.name})

With the nodes; a message of 16 MiB on ideal-100g, 64 MiB on DL1. *Grows* is the power of the nodes from {NODES[-3]} to {NODES[-1]}.

{grown(by_nodes, "nodes")}

With the slices of a transfer; 1 GiB, {SLICED_NODES} nodes.

{grown(by_slices, "slices")}

{EXPLANATION.strip()}
"""


def sliced(slices: int, fields: dict[str, object]) -> dict[str, float]:
    """Measure with transfers of so many slices."""
    return measure(nodes=SLICED_NODES, slice_bytes=TRANSFER[str(fields["cluster"])] // slices, **fields)


def grown(curves: list[Curve], what: str) -> str:
    ends = [curves[0].points[index][0] for index in (0, -3, -1)]
    head = (
        "",
        *(f"{end} {what if end > 1 else what[:-1]}" for end in ends),
        "grows",
        "peak memory",
        "spans simulated, of all",
    )
    return table(head, [row(curve) for curve in curves])


def row(curve: Curve) -> tuple[str, ...]:
    few, some, many = (curve.points[index] for index in (0, -3, -1))
    power = math.log(many[1]["seconds"] / some[1]["seconds"]) / math.log(many[0] / some[0])
    last = many[1]
    return (
        curve.name,
        *(say(took["seconds"]) for _, took in (few, some, many)),
        f"^{power:.1f}",
        f"{last['peak_bytes'] / 2**20:.3g} MiB",
        f"{last['spans']:,.0f} of {last['whole']:,.0f}",
    )


EXPLANATION = """
Why it grows as it does. One switch of one node is simulated, however many nodes there are, so nodes cost nothing by themselves; they
make the ring longer. A ring of N nodes has 2 (N-1) steps, and steps that repeat are left out: the bare fabric repeats at once,
and its time does not grow. What is left on DL1 and grows like N is what has an entry per step and is not left out: the exchange
inside a node, twelve spans for each of the N chunks, computed as arrays, which is nearly all of the memory and little of the
time; and, with a cache, the regions of all chunks, told apart to know what the cache holds, which is most of the time.

Where a schedule does not repeat, all of it is simulated, and time and memory grow like N from the first step on. That happens to
slices that contend for the uplink in an order that changes from step to step (64 MiB at 128 nodes, the hump).

Slices are simulated one by one, at every stage: time and spans grow like their number. They grow faster only while the schedule
settles: through the detour's 16 bounce buffers, 64 slices pass 4 steps before the state comes back for the first time, 256 slices 14.
Memory follows the spans that were simulated.
"""
