"""A run that lab 09 has not shown: three sizes of a machine, and whether it is well."""

import peerlab
from peerlab.base.units import say_bytes
from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.transfer import TransferTask
from peerlab.question.presets import load_cluster

_SIZES = ("256 MiB", "512 MiB", "1 GiB")
_HEALTHY, _HELD_UP, _BELOW = "healthy", "held up at some sizes", "below its floor"
_SHARES = {_HEALTHY: (1.0, 0.97, 1.02), _HELD_UP: (1.01, 0.3, 0.99), _BELOW: (0.55, 0.5, 0.48)}
"""What a run reaches of what is expected, at each size."""


def _run_task(kind: str, name: str, nodes: int) -> Choice:
    rows = peerlab.expect(name, nodes=nodes, sizes=list(_SIZES)).rows
    lines = [
        f"    {say_bytes(row.size):>8} {share * row.expected:>9.1f} {row.floor or 0:>7.1f} {row.expected:>9.1f}"
        for row, share in zip(rows, _SHARES[kind], strict=True)
    ]
    table = "\n".join(["        size  measured   floor  expected", *lines])
    return Choice(
        name="",
        question=f"A run on {nodes} nodes of {load_cluster(name).title}, busbw in GB/s:\n\n{table}\n\nHow is it?",
        options={
            _HEALTHY: "Is no row below its floor?",
            _HELD_UP: "Is the largest size above its floor, and another one not?",
            _BELOW: "Are all rows below the floor, the largest ones, too?",
        },
        truth=lambda: kind,
        hints=(
            "Compare each measured figure with the floor beside it.",
            "A fault of the machine slows the largest messages. A disturbance slows single rows.",
        ),
        why="The floor decides, row by row; the largest sizes tell a fault from a disturbance.",
        solution=f'"{kind}"',
    )


TRANSFER = TransferTask(
    lab="09",
    cases=(tuple(_SHARES), ("p4d", "azure-nd-a100-v4", "h100-ndr", "p5"), (2, 3, 4, 6, 8)),
    make=_run_task,
)
