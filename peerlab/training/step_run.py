"""A step that was answered, with every figure drawn from it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from peerlab.base.display import shown, write_trace
from peerlab.base.units import say_share, say_time, seconds
from peerlab.training.program import PHASES
from peerlab.training.step_trace import Apart, StepTrace
from peerlab.training.training_step import Step

if TYPE_CHECKING:
    import pandas as pd

_PER_HOUR = 3600
"""Seconds of an hour, and joules of a watt hour."""


class AnswersSteps(Protocol):
    """What answers another step."""

    def __call__(self, step: Step, /) -> "StepRun":
        """Return its run."""
        ...


@dataclass(frozen=True, repr=False)
class StepRun:
    """One step of a training, after its warm-up: the caches hold what the step before left there.

    >>> from peerlab import step
    >>> run = step(workload="resnet50", path="peer-direct")
    >>> run.time_ps > run.trace.exposed_ps
    True
    """

    step: Step
    """The question."""
    trace: StepTrace
    """Every operation and every exchange."""
    engine: str
    """Which engine answered: ``composition`` or ``referee``."""
    answer: AnswersSteps | None = field(default=None, compare=False)
    """What answers another step; for what-ifs."""
    _repr_html_ = shown

    @property
    def time_ps(self) -> int:
        """The whole step, picoseconds."""
        return self.trace.end_ps

    @property
    def time_s(self) -> float:
        """The whole step, seconds."""
        return seconds(self.time_ps)

    @property
    def steady_s(self) -> float:
        """What a step takes in a row without barriers, once steps repeat or in the mean of the second half, seconds; alone, its own time."""
        return seconds(self.trace.row.steady_ps) if self.trace.row else self.time_s

    @property
    def exposed_s(self) -> float:
        """How long the devices waited for an exchange, seconds."""
        return seconds(self.trace.exposed_ps)

    @property
    def exchange_s(self) -> float:
        """All exchanges, one after the other, hidden or not, seconds."""
        return seconds(sum(exchange.lasts_ps for exchange in self.trace.placed))

    @property
    def compute_s(self) -> float:
        """How long the devices computed, seconds; longer than given where exchanges slow it down."""
        # The lane either computes or waits.
        return self.time_s - self.exposed_s

    @property
    def utilisation(self) -> float:
        """Share of the step in which the devices compute, 0 to 1."""
        return self.compute_s / self.time_s if self.time_ps else 1.0

    @property
    def samples_per_s(self) -> float:
        """Samples per second, of all devices; not a number where no time passes."""
        return self.step.samples / self.time_s if self.time_ps else float("nan")

    @property
    def peak_share(self) -> float | None:
        """Share of the devices' peak, 0 to 1, by the workload's operations; None where either is unknown."""
        flop, peak = self.step.model.flop_per_sample, self.step.peak
        if flop is None or not peak or not self.time_ps:
            return None
        # Both in TFLOP: what a sample takes, and what a device does in a second.
        return flop.value * self.samples_per_s / (peak * self.step.devices)

    @property
    def cost_per_step(self) -> float | None:
        """What the nodes cost in a step; None without a price."""
        price = self.step.price_per_node_hour
        return None if price is None else self.time_s * self.step.scenario.nodes * price / _PER_HOUR

    @property
    def energy_per_step_J(self) -> float | None:  # noqa: N802
        """What the nodes draw in a step, joules; None without watts."""
        busy, wait = self.step.busy_W, self.step.wait_W
        if busy is None or wait is None:
            return None
        return self.step.scenario.nodes * (busy * self.compute_s + wait * self.exposed_s)

    @property
    def steps_per_epoch(self) -> float | None:
        """Steps in which every sample of the training set is seen once; None where its size is unknown."""
        epoch = self.step.model.samples_per_epoch
        return None if epoch is None else epoch.value / self.step.samples

    @property
    def spent(self) -> dict[str, float]:
        """What the nodes cost and draw, by unit, such as ``USD an epoch`` and ``Wh an epoch``; of a step where nobody knows how long an epoch is.

        What nobody gave a price or watts for is left out.
        """
        steps, per = self.steps_per_epoch or 1, "a step" if self.steps_per_epoch is None else "an epoch"
        cost, energy = self.cost_per_step, self.energy_per_step_J
        entries = {} if cost is None else {f"{self.step.currency} {per}": cost * steps}
        return entries if energy is None else {**entries, f"Wh {per}": energy * steps / _PER_HOUR}

    @property
    def phases(self) -> dict[str, float]:
        """Seconds in which the devices compute, by phase."""
        entries = dict.fromkeys(PHASES, 0)
        for computing in self.trace.computed:
            entries[computing.op.phase] += computing.end_ps - computing.begin_ps
        return {phase: seconds(ps) for phase, ps in entries.items()}

    def exchanges(self) -> "pd.DataFrame":
        """Return one row for each exchange, in order.

        Columns: ``exchange``, ``collective``, ``bytes``; ``ready_s``, ``begin_s``, ``end_s`` from the beginning of the step; ``waits_s`` for the
        stream; ``time_s``; ``exposed_s``, in which the devices wait while it is under way. Where nodes differ, these are of the node that ends
        the step last, and ``began_last`` has the nodes for which the others waited, ``apart_s`` how long the first of them did.
        """
        import pandas as pd  # noqa: PLC0415  (takes longer to load than most questions to answer)

        rows = [
            {
                "exchange": exchange.op.name,
                "collective": exchange.op.collective,
                "bytes": exchange.op.nbytes,
                "ready_s": seconds(exchange.ready_ps),
                "begin_s": seconds(exchange.begin_ps),
                "end_s": seconds(exchange.end_ps),
                "waits_s": seconds(exchange.begin_ps - exchange.ready_ps),
                "time_s": seconds(exchange.lasts_ps),
                "exposed_s": seconds(self.trace.exposed_of(exchange)),
                **_apart(exchange.apart),
            }
            for exchange in self.trace.placed
        ]
        return pd.DataFrame(rows)

    def gain(self, over: "StepRun") -> float:
        """Return how many times as fast this step is as another one; of rows, how many times as fast a step of the row is."""
        if self.trace.row and over.trace.row:
            return over.trace.row.steady_ps / self.trace.row.steady_ps
        return over.time_ps / self.time_ps

    def to_perfetto(self, path: str | Path) -> None:
        """Write its lanes, and every span of its exchanges, as a Chrome trace; open it in ui.perfetto.dev or chrome://tracing.

        Raises
        ------
        PeerlabError
            If the file cannot be written.
        """
        write_trace(self, path)

    def as_dict(self) -> dict[str, Any]:
        """Return the question and every figure as plain values, units in their names; None where nobody gave what it needs."""
        s, steps = self.step.scenario, self.steps_per_epoch
        cost, energy = self.cost_per_step, self.energy_per_step_J
        return {
            "workload": self.step.model.name, "cluster": s.hardware.name, "nodes": s.nodes, "devices": self.step.devices,
            "path": s.path, "registration": s.registration if s.registers else None, "library": s.library_says or None,
            "batch": self.step.batch, "accumulate": self.step.accumulate, "shard": self.step.shard,
            "bucket_bytes": self.step.bucket_bytes, "overlap": self.step.overlap, "gradient_dtype": self.step.gradient_dtype,
            "slowdown_share": self.step.slowdown_per_mille / 1000,
            "time_s": self.time_s, "compute_s": self.compute_s, "exchange_s": self.exchange_s, "exposed_s": self.exposed_s,
            "utilisation": self.utilisation, "samples_per_s": self.samples_per_s, "peak_share": self.peak_share,
            "exchanges": len(self.trace.placed), "gradient_bytes": self.step.gradient_bytes,
            "compute_from": self.step.compute.says, "compute_assumed": self.step.compute.assumed,
            "currency": self.step.currency if cost is not None else None,
            "cost_per_step": cost, "cost_per_epoch": None if cost is None or steps is None else cost * steps,
            "energy_per_step_J": energy, "energy_per_epoch_J": None if energy is None or steps is None else energy * steps,
            "engine": self.engine,
            **self._of_row(),
            **self._of_nodes(),
        }  # fmt: skip

    def _of_row(self) -> dict[str, Any]:
        """Return what a step takes in a row of several; nothing of a step alone."""
        row = self.trace.row
        if not row:
            return {}
        return {
            "steps": len(row.ends),
            "steady_s": self.steady_s,
            "first_step_s": seconds(row.lasts[0]),
            "steady_from": row.steady_from or None,
        }

    def _of_nodes(self) -> dict[str, Any]:
        """Return what makes nodes differ, and which of them is shown; nothing where all do the same."""
        apart = self.trace.apart
        if not apart:
            return {}
        slow = dict(self.step.slow_compute or {})
        return {
            "slow_compute": slow,
            "compute_jitter": self.step.compute_jitter,
            **({"compute_jitter_of": self.step.compute_jitter_of} if self.step.compute_jitter else {}),
            "shown_node": apart[-1].shown,
        }

    def __repr__(self) -> str:
        s = self.step.scenario
        return (
            f"StepRun({self.step.model.title} on {s.hardware.name}, {s.nodes} nodes, {s.path}, {self.step.shard}: "
            f"{say_time(self.time_ps)}, {say_time(self.trace.exposed_ps)} ({say_share(self.exposed_s / self.time_s if self.time_ps else 0)}) exposed, "
            f"{self.samples_per_s:.4g} samples/s)"
        )


def _apart(apart: Apart | None) -> dict[str, Any]:
    return {"began_last": apart.last, "apart_s": seconds(apart.waited_ps)} if apart else {}
