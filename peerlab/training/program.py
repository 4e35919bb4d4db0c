"""Who waits for whom in a step: operations of one compute lane and of one communication stream, in whole picoseconds.

Every device does the same, so one lane stands for all. A lane does its operations in order, and so does the stream, as NCCL's kernels of
one communicator do. Beyond that an operation waits for those that it names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.training.training_step import Step

FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"
PHASES = (FORWARD, BACKWARD, OPTIMIZER)


@dataclass(frozen=True, slots=True)
class Computing:
    """Something that the compute lane does."""

    phase: str
    """One of `PHASES`."""
    name: str
    """The layer, or ``pass 3`` where a whole pass is one operation."""
    duration_ps: int
    """How long it takes alone."""
    after: tuple[int, ...] = ()
    """Exchanges that must be over."""


@dataclass(frozen=True, slots=True)
class Exchanging:
    """A collective on the stream."""

    collective: str
    """``allreduce``, ``reduce-scatter`` or ``allgather``."""
    name: str
    """The bucket or block, such as ``bucket 3``."""
    nbytes: int
    """Its buffer, as a scenario counts it."""
    after: tuple[int, ...]
    """Operations of the compute lane that must be over."""
    buffer_set: int
    """Which memory it reads and writes; the same in every step, and of no other."""


@dataclass(frozen=True, slots=True)
class Program:
    """A step as two sequences."""

    computing: tuple[Computing, ...]
    """What the compute lane does, in order."""
    exchanging: tuple[Exchanging, ...]
    """What the stream does, in order."""


class _Draft:
    """A program that is being written."""

    def __init__(self) -> None:
        self.computing: list[Computing] = []
        self.exchanging: list[Exchanging] = []

    def compute(self, phase: str, name: str, duration_ps: int, after: Sequence[int] = ()) -> int:
        self.computing.append(Computing(phase, name, duration_ps, tuple(after)))
        return len(self.computing) - 1

    def exchange(self, collective: str, name: str, nbytes: int, after: Sequence[int], buffer_set: int) -> int:
        self.exchanging.append(Exchanging(collective, name, nbytes, tuple(after), buffer_set))
        return len(self.exchanging) - 1


def program(step: Step) -> Program:
    """Return the operations of a step."""
    draft = _Draft()
    if step.shard == "fsdp":
        _write_sharded(step, draft)
    else:
        _write_replicated(step, draft)
    return Program(tuple(draft.computing), tuple(draft.exchanging))


def halves(step: Step) -> tuple[int, int]:
    """Return how long forward and backward of one pass take, picoseconds."""
    whole = step.compute.ps
    forward = round(whole * step.model.forward_share.value)
    # The rest, so that both add up to the whole exactly.
    return forward, whole - forward


def _write_replicated(step: Step, draft: _Draft) -> None:
    """Write a step with the whole model on each device; only the last pass exchanges."""
    forward, backward = halves(step)
    # Gradients are added up where they lie: nothing is exchanged, so layers need not be told apart.
    for turn in range(step.accumulate - 1):
        draft.compute(FORWARD, f"pass {turn + 1}", forward)
        draft.compute(BACKWARD, f"pass {turn + 1}", backward)
    layers = step.model.layers
    for layer, ps in zip(layers, step.model.shared_out(forward), strict=True):
        draft.compute(FORWARD, layer.name, ps)
    done: list[int] = []  # of each tensor, in the order of arrival
    for layer, ps in zip(reversed(layers), reversed(step.model.shared_out(backward)), strict=True):
        # All gradients of a layer arrive when all of it is computed.
        done += [draft.compute(BACKWARD, layer.name, ps)] * len(layer.tensors)
    kind = "allreduce" if step.shard == "ddp" else "reduce-scatter"
    numbers = []
    for number, bucket in enumerate(step.buckets):
        # Tensors are in the order of arrival, so a bucket waits for its last alone.
        after = done[bucket.tensors[-1]] if step.overlap else done[-1]
        numbers.append(draft.exchange(kind, f"bucket {number + 1}", bucket.nbytes, [after], number))
    last = draft.compute(OPTIMIZER, "optimizer", step.optimizer_ps, numbers)
    if step.shard == "zero1":
        for number, bucket in enumerate(step.buckets):
            # Parameters are other memory than gradients: they have sets of their own.
            where = len(step.buckets) + number
            draft.exchange("allgather", f"parameters {number + 1}", bucket.nbytes, [last], where)


def _write_sharded(step: Step, draft: _Draft) -> None:
    """Write a step of fully sharded training: every pass gathers each block twice, and scatters its gradients once.

    With prefetch the next block is gathered from when one begins to compute, in front of what that one will scatter.
    """
    blocks = list(range(len(step.model.blocks)))
    scattered: list[int] = []
    for _ in range(step.accumulate):
        for phase, times in zip((FORWARD, BACKWARD), halves(step), strict=True):
            order = blocks if phase == FORWARD else blocks[::-1]
            scattered = _pass_over(step, draft, phase, order, _by_block(step, times))
    # The stream is in order: where the last scatter is over, all are.
    draft.compute(OPTIMIZER, "optimizer", step.optimizer_ps, scattered[-1:])


def _pass_over(step: Step, draft: _Draft, phase: str, order: list[int], times: list[int]) -> list[int]:
    """Write forward or backward over all blocks; return what it scatters."""
    model, first = step.model, len(draft.computing)
    ahead = step.prefetch and step.overlap
    gathered: list[int] = []
    scattered: list[int] = []

    def gather(place: int, behind: int) -> None:
        block = order[place]
        # Below zero: nothing has been computed, and the first block can be gathered at once.
        after = [behind] if behind >= 0 else []
        size = model.block_parameters[block] * step.item_bytes
        # Forward and backward gather into the same memory, so the second finds it registered.
        gathered.append(draft.exchange("allgather", model.blocks[block], size, after, block))

    for place, block in enumerate(order):
        # Without prefetch a block is gathered when the one before it has been computed.
        if not place or not ahead:
            gather(place, first + place - 1)
        # Written ahead of this block's scatter: the stream is in order, so the gather goes first.
        if ahead and place + 1 < len(order):
            gather(place + 1, first + place - 1)
        done = draft.compute(phase, model.blocks[block], times[block], [gathered[place]])
        if phase == BACKWARD:
            size = model.block_parameters[block] * step.item_bytes
            where = len(model.blocks) + block
            scattered.append(draft.exchange("reduce-scatter", model.blocks[block], size, [done], where))
    return scattered


def _by_block(step: Step, total_ps: int) -> list[int]:
    """Return how long each block takes."""
    numbers = [0] * len(step.model.blocks)
    for layer, ps in zip(step.model.layers, step.model.shared_out(total_ps), strict=True):
        numbers[layer.block] += ps
    return numbers
