"""What is trained: layers with their parameters, and how long a device computes on them, each figure with its source.

Times are given, never predicted. Where no step of a device was measured, operations and an assumed rate stand in, marked as
assumed. At another batch than the measured ones a step takes time in proportion, which flatters small batches; so the time
has a range.
"""

# Compute times are given. Who predicts them from operations is off by a quarter to a half; so a workload
# has measured steps with their source, and at other batches time in proportion, with a range. Where nobody
# measured, operations at an assumed rate stand in and are marked.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from math import log2

from peerlab.base.errors import WorkloadError
from peerlab.base.units import PS_PER_MS, PS_PER_S
from peerlab.model.hardware import Figure

ITEM_BYTES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
"""Bytes of one gradient, by type."""
_PER_HALVING = 1.1
"""How much longer a sample takes at half the batch, at most: 1.09 times from 256 to 128 in ResNet-50 (mlcommons logs of Gaudi; an exchange between two
nodes is in the second)."""


@dataclass(frozen=True, slots=True)
class TrainedLayer:
    """One layer, in the order in which a model defines them."""

    name: str
    """Such as ``layer4.2.conv3``."""
    block: int
    """Which block it belongs to; fully sharded training gathers a block as one."""
    share: float
    """Its part of the computing, forward and backward alike; in any unit."""
    tensors: tuple[int, ...]
    """Parameters of each tensor, in the order of definition."""


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """How long one device computed on a batch."""

    device: str
    """Name of the device, as in a cluster file."""
    batch: int
    """Samples per device."""
    time: Figure
    """Forward and backward, milliseconds."""
    nodes: int = 1
    """Nodes of the run: on several of them its exchange is in the time."""
    accumulated: int = 1
    """How many parts of the batch one after the other made a step; a device computes on a part at a time."""

    @property
    def at_once(self) -> float:
        """Samples on which a device computes at a time."""
        return self.batch / self.accumulated


@dataclass(frozen=True, slots=True)
class ComputeTime:
    """How long forward and backward of one batch take together, picoseconds."""

    ps: int
    """As given."""
    low_ps: int
    """At the better end of what is assumed; `ps` where nothing is."""
    high_ps: int
    """At the worse end."""
    says: str
    """Where it is from, in words."""
    assumed: bool
    """Whether it was measured at another batch, or at none."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A model that is trained, read from a file of `data/workloads` or of your own.

    >>> from peerlab import load_workload
    >>> load_workload("bert-large").sample
    'sequence of 512 tokens'
    """

    name: str
    """Short name, as in a step."""
    title: str
    """Name for people."""
    sample: str
    """What one sample is: ``image``, ``sequence of 512 tokens``."""
    gradient_dtype: str
    """Type of a gradient, one of `ITEM_BYTES`."""
    layer_shares: str
    """What is assumed about the layers' shares of the computing."""
    forward_share: Figure
    """Forward's share of the computing."""
    layers: tuple[TrainedLayer, ...]
    """In the order of definition; backward goes the other way."""
    blocks: tuple[str, ...]
    """Names of the blocks."""
    measured: tuple[MeasuredStep, ...] = ()
    """What was measured."""
    flop_per_sample: Figure | None = None
    """Operations of forward and backward on one sample, TFLOP."""
    rates: Mapping[str, Figure] = field(default_factory=dict, hash=False)
    """By device: an assumed rate, TFLOP/s."""
    samples_per_epoch: Figure | None = None
    """Samples in the training set."""

    @cached_property
    def parameters(self) -> int:
        """Parameters of the whole model."""
        return sum(sum(layer.tensors) for layer in self.layers)

    @cached_property
    def block_parameters(self) -> tuple[int, ...]:
        """Parameters of each block."""
        numbers = [0] * len(self.blocks)
        for trained_layer in self.layers:
            numbers[trained_layer.block] += sum(trained_layer.tensors)
        return tuple(numbers)

    @property
    def devices(self) -> tuple[str, ...]:
        """Devices whose time is known, or assumed."""
        return tuple(dict.fromkeys([*(step.device for step in self.measured), *self.rates]))

    def compute_time(self, device: str, batch: int) -> ComputeTime:
        """Return how long a device computes on a batch.

        Raises
        ------
        WorkloadError
            If nothing is known of the device.
        """
        here = [step for step in self.measured if step.device == device]
        if here:
            # Nearest as a ratio: 8 is as far from 16 as 16 from 32.
            nearest = min(here, key=lambda step: abs(log2(step.at_once / batch)))
            return _in_proportion(nearest, _without_exchange(nearest, here), batch)
        if device in self.rates and self.flop_per_sample:
            return self._by_operations(self.rates[device], batch)
        raise WorkloadError(
            f"compute_ms: nobody has told how long a {device} computes on {self.title}; known: {', '.join(self.devices) or 'none'}; "
            "give the milliseconds of forward and backward"
        )

    def _by_operations(self, rate: Figure, batch: int) -> ComputeTime:
        flop = self.flop_per_sample.value * batch if self.flop_per_sample else 0.0
        low, high = rate.range or (rate.value, rate.value)
        sentence = f"{flop:.4g} TFLOP at {rate.value:g} TFLOP/s, assumed: {rate.assumption}"
        # The higher rate takes the shorter time.
        ps, low_ps, high_ps = (round(flop / speed * PS_PER_S) for speed in (rate.value, high, low))
        return ComputeTime(ps, low_ps, high_ps, sentence, assumed=True)

    def used_batch(self, device: str) -> int:
        """Return the smallest batch that was measured on a device; 1 where none was."""
        return min((step.batch for step in self.measured if step.device == device), default=1)

    def shared_out(self, total_ps: int) -> tuple[int, ...]:
        """Return how much of a time each layer has; the parts add up to it exactly."""
        # Differences of cumulated ends: what is rounded in one part goes to the next, and none is lost.
        sums = [0.0, *accumulate(layer.share for layer in self.layers)]
        ends = [int(total_ps * total / (sums[-1] or 1)) for total in sums[:-1]] + [total_ps]
        return tuple(end - begin for begin, end in pairwise(ends))


def given_time(ps: int, says: str) -> ComputeTime:
    """Return a time that somebody measured, or gave."""
    return ComputeTime(ps, ps, ps, says, assumed=False)


def _without_exchange(nearest: MeasuredStep, here: Sequence[MeasuredStep]) -> ComputeTime:
    """Return how long a device computed in a measured step.

    A run on several nodes has an exchange in it, which would be counted twice. On one node the same device says how long its batch takes at the least,
    in proportion, and at the most, a smaller batch taking longer a sample; what a run on several nodes took beyond that is its exchange.
    """
    whole, source = nearest.time.value * PS_PER_MS, nearest.time.source
    alone = [step for step in here if step.nodes == 1]
    if nearest.nodes == 1 or not alone:
        return given_time(round(whole), source)
    step = min(alone, key=lambda each: abs(log2(each.at_once / nearest.at_once)))
    least = step.time.value * PS_PER_MS * nearest.batch / step.batch
    # No less than in proportion, and no more than all that was measured.
    ps = min(whole, max(least, least * _PER_HALVING ** log2(step.at_once / nearest.at_once)))
    sentence = f"{source}; less its exchange"
    return ComputeTime(round(ps), round(min(least, ps)), round(whole), sentence, assumed=True)


def _in_proportion(nearest: MeasuredStep, computed: ComputeTime, batch: int) -> ComputeTime:
    if nearest.batch == batch:
        return computed
    times = batch / nearest.batch
    ps, smaller = round(computed.ps * times), _PER_HALVING ** log2(nearest.at_once / batch)
    # The factor is above 1 at a smaller batch and below it at a larger one, so any of these may be an end.
    ends = (
        computed.low_ps * times,
        computed.low_ps * times * smaller,
        computed.ps * times,
        computed.ps * times * smaller,
    )
    sentence = f"in proportion to a batch of {nearest.batch}, assumed; {computed.says}"
    return ComputeTime(ps, round(min(ends)), round(max(ends)), sentence, assumed=True)
