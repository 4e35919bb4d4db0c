"""What a training step says, on one data path or on several: told once, for `peerlab step` and for a notebook."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from peerlab.base.document import Document, Fold, Graphic, Part, Table, Text
from peerlab.base.units import say_bytes, say_count, say_share, say_time
from peerlab.features.step.device_memory import device_memory
from peerlab.model.paths import path_title
from peerlab.training.step_picture import step_svg
from peerlab.training.step_run import StepRun
from peerlab.training.step_trace import Placed
from peerlab.training.waited_for import in_a_row, who_was_last

_MOST_NAMED = 3
"""Nodes that a row of exchanges names."""
_LIMITS = "input, failures and memory limits are not modelled, tensor and pipeline parallelism are formulas."


def step_document(runs: Sequence[StepRun], exchanges: int | None = 0) -> Document:
    """Return what a step says on each data path; of its exchanges those that are seen most, so many of them, or every one in order."""
    return Document(_title(runs[0]), tuple(_parts(runs, exchanges)))


def behind_document(run: StepRun, exchanges: int) -> Document:
    """Return what the page of a step leaves out: who was last, what it rests on, and the exchanges that are seen most."""
    listed = replace(_exchanges(run, exchanges, several=False), folded=True)
    rests = Fold("Computing, memory and limits", tuple(_rests([run])))
    return Document("What it rests on", (*_seen(run, ""), rests, listed))


def _title(run: StepRun) -> str:
    step = run.step
    passes = f", {step.accumulate} passes" if step.accumulate > 1 else ""
    return (
        f"{step.model.title} on {step.scenario.hardware.title}: {say_count(step.scenario.nodes, 'node')}, {say_count(step.devices, 'device')}, "
        f"batch {step.batch} each{passes}, {step.shard}, {say_bytes(step.gradient_bytes)} of gradients as {step.gradient_dtype}"
    )


def _parts(runs: Sequence[StepRun], exchanges: int | None) -> Iterator[Part]:
    yield _times(runs)
    for run in runs:
        # Which path a sentence is about is said where there are several.
        lead = f"{path_title(str(run.step.scenario.path))}:" if len(runs) > 1 else ""
        yield Graphic(step_svg(run), lead)
        yield from _seen(run, lead)
    yield from _rests(runs)
    if exchanges != 0:
        yield from (_exchanges(run, exchanges, several=len(runs) > 1) for run in runs)


def _seen(run: StepRun, lead: str) -> Iterator[Text]:
    """Yield who was last, and how near the devices come to their peak."""
    yield from (Text(sentence, lead) for sentence in [*in_a_row(run.trace), *who_was_last(run.trace)])
    if run.peak_share is not None:
        yield Text(f"{say_share(run.peak_share)} of the devices' peak.", lead)


def _rests(runs: Sequence[StepRun]) -> Iterator[Text]:
    """Yield what the figures rest on."""
    step = runs[0].step
    yield Text(f"{say_time(step.compute.ps)} a pass, {step.compute.says}{_assumed(runs[0])}.", "Computing:")
    if figure := step.slowdown_figure:
        share = f"{say_share(figure.value)} ({say_share((figure.range or (0, 0))[0])} to {say_share((figure.range or (0, 0))[1])})"
        yield Text(
            f"{share} of the computing beside it: {figure.assumption or figure.source}", "An exchange takes"
        )
    yield Text(f"{device_memory(step).says}.", "Memory:")
    yield Text(f"{_alike(runs[0])}; {_LIMITS}", quiet=True)


def _alike(run: StepRun) -> str:
    """Return which devices do the same: where nodes differ, a node is simulated as one."""
    if run.step.compute_jitter and run.step.compute_jitter_of == "device":
        return "Each device has noise of its own, and a node exchanges once its latest device is ready"
    return "Devices of a node do the same" if run.trace.apart else "Every device does the same"


def _assumed(run: StepRun) -> str:
    compute = run.step.compute
    return f" (assumed: {say_time(compute.low_ps)} to {say_time(compute.high_ps)})" if compute.assumed else ""


def _times(runs: Sequence[StepRun]) -> Table:
    step = runs[0].step
    # A trace does not say how many samples a batch has, so batches are counted.
    unsaid = step.model.sample == "batch" and step.batch == 1
    head = ["path", "step", "exposed", "computing", "batches/s" if unsaid else "samples/s", *runs[0].spent]
    rows = [_row(run) for run in runs]
    if len(runs) > 1:
        head.append("against the first path, in a row" if runs[0].trace.row else "against the first path")
        rows = [[*row, f"{run.gain(runs[0]):.3f} times as fast"] for row, run in zip(rows, runs, strict=True)]
    return Table("", head, rows, right=range(1, 5 + len(runs[0].spent)))


def _row(run: StepRun) -> list[str]:
    return [
        str(run.step.scenario.path),
        say_time(run.time_ps),
        f"{say_time(run.trace.exposed_ps)} ({say_share(1 - run.utilisation)})",
        say_share(run.utilisation),
        f"{float(f'{run.samples_per_s:.4g}'):,.12g}",  # four digits, and no exponent
        *(f"{amount:.4g}" for amount in run.spent.values()),
    ]


def _exchanges(run: StepRun, most: int | None, *, several: bool) -> Table:
    placed: Sequence[Placed] = run.trace.placed
    caption = (
        f"{path_title(str(run.step.scenario.path))}: exchanges in order" if several else "Exchanges in order"
    )
    if most is not None:
        placed = sorted(placed, key=run.trace.exposed_of, reverse=True)[:most]
        few = len(placed) < len(run.trace.placed)
        caption = (
            f"The {len(placed)} exchanges that are seen most" if few else "Exchanges, those seen most first"
        )
    # Columns of nodes stand only where nodes differ.
    last = ["waited for", "apart"] if run.trace.apart else []
    head = ["exchange", "collective", "size", "ready", "begin", "end", "exposed", *last]
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
        for exchange in placed
    ]
    return Table(caption, head, rows, right={2, 3, 4, 5})


def _last(exchange: Placed) -> list[str]:
    """Return who began an exchange last, and how long after the first; nothing where all nodes do the same."""
    apart = exchange.apart
    if not apart:
        return []
    nodes = ", ".join(map(str, apart.last[:_MOST_NAMED])) + ", ..." * (len(apart.last) > _MOST_NAMED)
    return [f"node {nodes}" if apart.last else "nobody", say_time(apart.waited_ps)]
