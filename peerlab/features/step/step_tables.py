"""The tables of `peerlab step`."""

from collections.abc import Iterator, Sequence

from peerlab.base.terminal_text import table
from peerlab.base.units import say_bytes, say_count, say_share, say_time
from peerlab.features.step.device_memory import device_memory
from peerlab.training.step_run import StepRun
from peerlab.training.step_trace import Placed
from peerlab.training.waited_for import in_a_row, who_was_last

_MOST_NAMED = 3
"""Nodes that a row of exchanges names."""


def lines(runs: Sequence[StepRun]) -> Iterator[str]:
    """Yield what is printed of a step on every data path, and what it rests on."""
    step = runs[0].step
    passes = f", {step.accumulate} passes" if step.accumulate > 1 else ""
    yield (
        f"{step.model.title} on {step.scenario.hardware.title}: {say_count(step.scenario.nodes, 'node')}, {say_count(step.devices, 'device')}, "
        f"batch {step.batch} each{passes}, {step.shard}, {say_bytes(step.gradient_bytes)} of gradients as {step.gradient_dtype}"
    )
    # Then nothing says how many samples a batch has, so batches are counted.
    unsaid = step.model.sample == "batch" and step.batch == 1  # a trace does not say how large its batch is
    counted = "batches/s" if unsaid else "samples/s"
    head = ["path", "step", "exposed", "computing", counted]
    head += runs[0].spent
    against = "against the first path, in a row" if runs[0].trace.row else "against the first path"
    yield (table([*head, against], [_row(run, runs[0]) for run in runs], right=set(range(1, len(head)))))
    yield (f"computing: {say_time(step.compute.ps)} a pass, {step.compute.says}")
    if step.compute.assumed:
        low, high = step.compute.low_ps, step.compute.high_ps
        yield (f"that is assumed; it may be {say_time(low)} to {say_time(high)}")
    for run in runs:
        for sentence in [*in_a_row(run.trace), *who_was_last(run.trace)]:
            yield (f"{run.step.scenario.path}: {sentence[0].lower()}{sentence[1:]}")
    figure = step.slowdown_figure
    if figure:
        share = f"{say_share(figure.value)} ({say_share((figure.range or (0, 0))[0])} to {say_share((figure.range or (0, 0))[1])})"
        yield (f"an exchange takes {share} of the computing beside it: {figure.assumption or figure.source}")
    yield (f"memory: {device_memory(step).says}")
    # Where nodes differ, a node is simulated as one: its devices stay alike.
    alike = "devices of a node do the same" if runs[0].trace.apart else "every device does the same"
    yield (
        f"{alike}; input, failures and memory limits are not modelled, tensor and pipeline parallelism are formulas"
    )


def _row(run: StepRun, first: StepRun) -> list[str]:
    return [
        str(run.step.scenario.path),
        say_time(run.time_ps),
        f"{say_time(run.trace.exposed_ps)} ({say_share(1 - run.utilisation)})",
        say_share(run.utilisation),
        f"{float(f'{run.samples_per_s:.4g}'):,.12g}",  # four digits, and no exponent
        *(f"{amount:.4g}" for amount in run.spent.values()),
        f"{run.gain(first):.3f} times as fast",
    ]


def exchanges_table(run: StepRun) -> str:
    """Return every exchange of a step as a table."""
    rows = [
        [
            exchange.op.name,
            exchange.op.collective,
            say_bytes(exchange.op.nbytes),
            say_time(exchange.ready_ps),
            say_time(exchange.begin_ps),
            say_time(exchange.end_ps),
            say_time(run.trace.exposed_of(exchange)),
            *_last(exchange),
        ]
        for exchange in run.trace.placed
    ]
    head = ["exchange", "collective", "size", "ready", "begin", "end", "exposed"]
    # Columns of nodes stand only where nodes differ.
    head += ["waited for", "apart"] if run.trace.apart else []
    return table(head, rows, right={2, 3, 4, 5})


def _last(exchange: Placed) -> list[str]:
    """Return who began an exchange last, and how long after the first; nothing where all nodes do the same."""
    apart = exchange.apart
    if not apart:
        return []
    nodes = ", ".join(map(str, apart.last[:_MOST_NAMED])) + ", ..." * (len(apart.last) > _MOST_NAMED)
    return [f"node {nodes}" if apart.last else "nobody", say_time(apart.waited_ps)]
