"""A profiler's trace as steps of a training: what was computed stays as recorded, exchanges are simulated on the cluster of your choice.

What a step is made of: the device computes; each exchange of gradients begins when what the host had launched before it is computed, and
the exchange before it is through; the rest (the optimizer) begins when the last one is. The same path first: played so with the exchanges as they
were recorded, a step must take what it took. If it does not, the trace is of something else, and the verdict says *bad*.
"""

# A trace keeps its computing. Of a profiler's trace the device's times stay, gaps included. An exchange is
# ready when all that the host had launched before it was computed: with that, each of a real trace begins
# within 0.1 ms of when it could. The verdict compares the recorded step with the rule, path unchanged.
# ijson reads event by event (it has the only well-kept streaming parser of JSON in C for Python); 2 million
# events take 110 MB.

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from peerlab.base.display import shown
from peerlab.base.errors import RecordsError
from peerlab.base.units import say_bytes
from peerlab.model.collective import MEASURED
from peerlab.model.hardware import Figure
from peerlab.question.scenario import Scenario
from peerlab.records.kineto import TracedKernel, TraceEvents, kernels
from peerlab.training.profiled_step import ADDS, DeviceEvents, ProfiledStep
from peerlab.training.training_step import Step
from peerlab.training.workload import TrainedLayer, Workload

if TYPE_CHECKING:
    import pandas as pd

_MOST_KINDS = 12
_BESIDE = 0.01
"""Which share of a step the next one may begin early."""


@dataclass(frozen=True, repr=False)
class ProfiledTraining:
    """The steps of a profiler's trace."""

    name: str
    """Of the file, without its folder."""
    steps: tuple[ProfiledStep, ...]
    """In order."""
    ranks: int
    """Ranks that exchange gradients; 0 where the trace does not say it."""
    others: tuple[str, ...]
    """Other collectives; they stay in the computing, as recorded."""
    warnings: tuple[str, ...]
    """What was left out, and why."""
    _repr_html_ = shown

    @property
    def usual(self) -> ProfiledStep:
        """The step with the median time."""
        # Of two in the middle the faster: a step that was recorded, no mean of two.
        return sorted(self.steps, key=lambda step: step.time_ms)[(len(self.steps) - 1) // 2]

    @property
    def verdict(self) -> str:
        """``good`` if the rule explains more than half of the steps, else ``bad``."""
        good = sum(step.verdict == "good" for step in self.steps)
        return "good" if 2 * good > len(self.steps) else "bad"

    def of(self, number: int | None = None) -> ProfiledStep:
        """Return a step by its number; by default the usual one.

        Raises
        ------
        RecordsError
            If there is none of that number.
        """
        profiled_step = (
            self.usual
            if number is None
            else next((step for step in self.steps if step.number == number), None)
        )
        if profiled_step is None:
            there = ", ".join(str(step.number) for step in self.steps)
            raise RecordsError(f"{self.name}: no step {number}; it has {there}")
        return profiled_step

    def table(self) -> "pd.DataFrame":
        """Return one row for each step: recorded and replayed time, exposed time, and by how much an exchange began late, ms."""
        import pandas as pd  # noqa: PLC0415  (takes longer to load than most questions to answer)

        return pd.DataFrame(
            {
                "step": step.number,
                "time_ms": step.time_ms,
                "replayed_ms": step.replayed_ms,
                "exposed_ms": step.exposed_ms,
                "replayed_exposed_ms": step.replayed_exposed_ms,
                "late_ms": step.late_ms,
                "verdict": step.verdict,
            }
            for step in self.steps
        )

    def exchanges(self) -> "pd.DataFrame":
        """Return one row for each exchange of each step: ``bytes``, when it was ready, began and ended, ms from the step's beginning.

        ``time_ms`` contains what it waited for other ranks: ``least_ms``, the least of all steps, is nearer to what the network takes.
        """
        import pandas as pd  # noqa: PLC0415  (takes longer to load than most questions to answer)

        rows = [
            {
                "step": step.number,
                "exchange": place + 1,
                "collective": exchange.kernel.collective,
                "bytes": exchange.kernel.nbytes,
                "ready_ms": exchange.ready_ms,
                "begin_ms": exchange.begin_ms,
                "end_ms": exchange.end_ms,
                "time_ms": exchange.end_ms - exchange.begin_ms,
            }
            for step in self.steps
            for place, exchange in enumerate(step.exchanges)
        ]
        table = pd.DataFrame(rows)
        table["least_ms"] = table.groupby(["exchange", "bytes"])["time_ms"].transform("min")
        return table

    def workload(self, number: int | None = None) -> Workload:
        """Return a step's computing as a workload: one layer for each exchange, backward as recorded between them.

        Raises
        ------
        RecordsError
            If there is no such step, an exchange has no size, or the computing waits for an all-to-all.
        """
        step = self.of(number)
        if between := [
            MEASURED[name].title for name in self.others if name in MEASURED and MEASURED[name].exchanges
        ]:
            raise RecordsError(
                f"{self.name}: its steps have an {between[0]} as well, for which the computing waits; no step that is simulated has one"
            )
        sizes = [exchange.kernel.nbytes for exchange in step.exchanges]
        if 0 in sizes:
            raise RecordsError(
                f"{self.name}: {sizes.count(0)} of {len(sizes)} exchanges of step {step.number} have no size, so they cannot be simulated; "
                "record with record_shapes=True, or with PyTorch 2.2 or later, without CUDA graphs"
            )
        # All exchanges are taken to have the type of the first.
        item = sizes[0] // step.exchanges[0].kernel.elements
        ready = [
            min(max(exchange.ready_ms, step.backward_ms), step.computed_ms) for exchange in step.exchanges
        ]
        # No part is negative: an exchange that was ready early counts where the one before it did.
        ends = list(accumulate([*ready, step.computed_ms], max))
        parts = [end - begin for begin, end in zip([step.backward_ms, *ends], ends, strict=False)]
        # Only proportions of shares count, so milliseconds do. Elements are rounded up, to no fewer.
        layers = [
            TrainedLayer(f"bucket {n + 1}", 0, part, (-(-size // item),))
            for n, (part, size) in enumerate(zip(parts, sizes, strict=False))
        ]
        # What backward computes when the last bucket is ready: nothing is exchanged for it.
        layers.append(TrainedLayer("the first layers", 0, parts[-1], ()))
        if not step.computed_ms:
            raise RecordsError(
                f"{self.name}: nothing was computed in step {step.number} before its last exchange ended, so it cannot be simulated; "
                "record with ProfilerActivity.CUDA, one whole step"
            )
        return Workload(
            name="your step",
            title=f"step {step.number} of {self.name}",
            sample="batch",
            gradient_dtype=_DTYPE_OF_BYTES[item],
            layer_shares="as recorded",
            forward_share=_recorded(step.backward_ms / step.computed_ms, self.name),
            # A model's layers are in the order of forward; these were found in that of backward.
            layers=tuple(reversed(layers)),
            blocks=("your step",),
        )

    def step(self, scenario: Scenario | None = None, number: int | None = None, **given: Any) -> Step:
        """Return the question what this step would take on a cluster; give it to :func:`peerlab.step`.

        Parameters
        ----------
        scenario:
            Cluster, nodes and data path; `given` may hold its fields, and those of a step that do not follow from the trace.
        number:
            Which step, as the profiler counts; default: that with the median time.

        Raises
        ------
        RecordsError, WorkloadError, ScenarioError
            If the trace does not say enough, or the question is impossible.
        """
        step = self.of(number)
        fixed = {
            "workload": self.workload(number),
            "compute_ms": step.computed_ms,
            # Negative where the mark of a step ends before its last exchange does.
            "optimizer_ms": max(0.0, step.rest_ms),
            "batch": 1,
            "slowdown": 0,  # what exchanges cost the computing is in what was recorded
            # A limit of one byte: every tensor closes its bucket, so each recorded bucket is one again.
            "first_bucket_bytes": 1,
            "bucket_bytes": 1,
        }
        for name in fixed:
            # A batch and a slow-down may be what-ifs; the rest would contradict what was recorded.
            if name in given and name not in ("batch", "slowdown"):
                raise RecordsError(f"{name}: follows from the trace; leave it out")
        return Step.of(scenario, **{**fixed, **given})

    def __repr__(self) -> str:
        usual = self.usual
        moved = say_bytes(sum(exchange.kernel.nbytes for exchange in usual.exchanges))
        steps = f"{len(self.steps)} step{'s' * (len(self.steps) != 1)}"
        return (
            f"ProfiledTraining({self.name}: {steps} of {usual.time_ms:.1f} ms, {len(usual.exchanges)} exchanges of {moved}, "
            f"{usual.exposed_ms:.1f} ms exposed; replay {self.verdict})"
        )


def _recorded(forward_share: float, name: str) -> Figure:
    basis = "share of the computing of a step"
    return Figure(
        key="forward_share",
        value=forward_share,
        unit="1",
        basis=basis,
        source=name,
        assumption="",
        range=None,
    )


# Only the size of a type counts here, so bf16 stands for fp16, too.
_DTYPE_OF_BYTES = {8: "fp64", 4: "fp32", 2: "bf16", 1: "fp8"}


def _check_marks(events: TraceEvents) -> None:
    """Refuse a trace without steps, or without a device."""
    if not events.steps:
        name = (
            ""
            if events.begins
            else f"; {events.count:,} events, none of a device: it looks like another tool's"
        )
        raise RecordsError(
            f"{events.name}: no ProfilerStep in it{name}; call profiler.step() after each step, and record with a schedule"
        )
    if empty := [number for number, begin, end in events.steps if end <= begin]:
        raise RecordsError(
            f"{events.name}: ProfilerStep#{empty[0]} takes 0 us; a step takes time, so its mark is damaged"
        )
    if not events.begins:
        raise RecordsError(f"{events.name}: no kernel of a device in it; record with ProfilerActivity.CUDA")


def profiled(events: TraceEvents) -> ProfiledTraining:
    """Return the steps of a trace.

    Raises
    ------
    RecordsError
        If it has no steps, nothing was computed on a device, or nothing was exchanged in them.
    """
    _check_marks(events)
    every = kernels(events)
    if not every:
        raise RecordsError(
            f"{events.name}: no collective of nccl, rccl or hccl in it; a single device exchanges nothing"
        )
    device = DeviceEvents(events)
    marked = sorted(events.steps, key=lambda mark: mark[1])
    _check_one_rank(events.name, marked)
    steps = [device.step(mark, every) for mark in marked]
    kept = [profiled_step for profiled_step in steps if profiled_step is not None]
    if not kept:
        kinds = _named(every)
        why = (
            "they lie outside of its steps; record whole steps"
            if ADDS in kinds
            else "sharded training's traces are not read yet"
        )
        raise RecordsError(
            f"{events.name}: no AllReduce of gradients in its steps, only {', '.join(kinds)}; {why}"
        )
    if len(kept) < len(steps):
        events.warnings["steps without an AllReduce were left out"] = len(steps) - len(kept)
    ranks = max(exchange.kernel.ranks for step in kept for exchange in step.exchanges)
    others = tuple(name for name in _named(every) if name != ADDS)
    warnings = tuple(f"{count:,} {what}" for what, count in events.warnings.items())
    return ProfiledTraining(events.name, tuple(kept), ranks, others, warnings)


def _check_one_rank(name: str, marked: Sequence[tuple[int, float, float]]) -> None:
    """Refuse steps that go on beside each other: whose exchanges are whose cannot be said."""
    for (number, begin, end), (other, since, _) in pairwise(marked):
        if end - since > _BESIDE * (end - begin):
            raise RecordsError(
                f"{name}: steps {number} and {other} overlap; give the trace of one rank, not several in one file"
            )


def _named(every: Sequence[TracedKernel]) -> list[str]:
    """Return the kinds of collectives in words, only some where there are many."""
    kinds = sorted({traced_kernel.collective or "unnamed ones" for traced_kernel in every})
    return (
        kinds if len(kinds) <= _MOST_KINDS else [*kinds[:_MOST_KINDS], f"{len(kinds) - _MOST_KINDS:,} more"]
    )
