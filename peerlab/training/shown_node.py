"""A step whose nodes differ, as it is shown: on the clock of the node that ends it last."""

from collections.abc import Sequence

from peerlab.answer.run import Run
from peerlab.training.node_lane import NodeLane
from peerlab.training.program import Program
from peerlab.training.step_trace import Apart, Computed, Placed, StepsInARow, StepTrace

Answers = tuple[tuple[int, ...], tuple[int, ...], Run]
"""Of an exchange: when each node began it, when each was done, and its run."""


def put_together(
    program: Program,
    lanes: Sequence[NodeLane],
    ready: Sequence[Sequence[int]],
    answers: Sequence[Answers],
    row: StepsInARow | None = None,
) -> StepTrace:
    """Return the step of the node that ends last, from when it began it, and of every exchange when all nodes began and were done."""
    ends = [lane.finish() for lane in lanes]
    exposed = [lane.exposed() for lane in lanes]
    # of those that end together, the one that waits least: the others wait for it
    shown = min(range(len(lanes)), key=lambda node: (-ends[node], sum(exposed[node]), node))
    since = lanes[shown].begin
    computed = tuple(
        Computed(op, begin - since, end - since)
        for op, (begin, end) in zip(program.computing, lanes[shown].computed, strict=True)
    )
    placed = []
    for number, (op, (begins, done, run)) in enumerate(zip(program.exchanging, answers, strict=True)):
        begun, over = (tuple(t - since for t in times) for times in (begins, done))
        apart = Apart(begun, over, tuple(node[number] for node in exposed), shown)
        placed.append(Placed(op, run, ready[number][shown] - since, begun[shown], apart))
    begins = tuple(lane.begin - since for lane in lanes) if row else ()
    return StepTrace(computed, tuple(placed), row, begins)
