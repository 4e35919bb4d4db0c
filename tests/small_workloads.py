"""Small workloads for tests, whose every time can be worked out by hand."""

from peerlab.model.hardware import Figure
from peerlab.training.workload import TrainedLayer, Workload

THIRD = Figure(
    key="forward_share", value=1 / 3, unit="1", basis="", source="", assumption="a third", range=(0.25, 0.4)
)


def workload(*sizes, shares=None, forward_share=THIRD):
    """Return a workload with one layer, and one block, for each size (parameters, or a tuple of them); forward is a third."""
    tensors = [one if isinstance(one, tuple) else (one,) for one in sizes]
    parts = shares or [1] * len(sizes)
    return Workload(
        name="small",
        title="Small",
        sample="sample",
        gradient_dtype="fp32",
        layer_shares="even",
        forward_share=forward_share,
        layers=tuple(
            TrainedLayer(f"l{n}", n, part, one)
            for n, (one, part) in enumerate(zip(tensors, parts, strict=True))
        ),
        blocks=tuple(f"l{n}" for n in range(len(sizes))),
    )
