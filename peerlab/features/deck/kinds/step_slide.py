"""The slide on a training step that was simulated: its gain over batches, when it is not worth it, and how sure that is."""

from peerlab.base.units import PS_PER_S, TIMES_SIGN, say_bytes, say_count, say_percent, say_range, say_time
from peerlab.features.deck.blocks import (
    card,
    facts,
    grid,
    paragraphs,
    span,
    words,
)
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.batch_chart import batch_chart
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.features.deck.trained_step import SimulatedStep
from peerlab.features.deck.training import StepTime, Training
from peerlab.training.step_band import StepGain
from peerlab.training.step_headline import GainAtBatches
from peerlab.training.step_run import StepRun

_WORTH = 1.02
"""Below this gain of a step an effort is not worth it for the step alone: a fiftieth is within what steps differ by."""


def step_in_one_line(outline: Outline, compared: ComparedRuns) -> str:
    """Return what a step gains, for the first slide."""
    if isinstance(outline.training, Training):
        host_s, peer_s = compared.exchanges(outline.training)
        today = outline.training.today(host_s)
        return f"A step of {_s(today.time_s)} becomes {gains_in_words(today, peer_s)}{TIMES_SIGN} as fast."
    simulation = compared.simulated_step(outline.training)
    if simulation is None:
        return "Not simulated here. Name a workload, or say what a profiler says of yours: peerlab deck tells how."
    ends = simulation.sure
    what = (
        f"{simulation.host.step.model.title}, {_batch(simulation.host)}: {span(ends.low, ends.high)} a step."
    )
    if simulation.batches is None:
        return what
    return f"{what} Up to {max(gain for _, gain in simulation.batches['points']):.2f}{TIMES_SIGN} at small batches."


def gains_in_words(today: StepTime, peer_s: float) -> str:
    """Return how many times as fast a step becomes whose exchange takes `peer_s`: the same share hidden, the same time hidden."""
    gains = [today.time_s / step.time_s for step in (today.same_share(peer_s), today.same_time(peer_s))]
    return say_range(gains[0], gains[1])


def simulated_step(found: SimulatedStep) -> Slide:
    """Return the slide of a step that is simulated."""
    host, peer, sure = found.host, found.peer, found.sure
    step = host.step
    title = f"A step becomes {span(sure.low, sure.high)} as fast"
    if found.batches and max(gain for _, gain in found.batches["points"]) > _WORTH * found.batches["here"][1]:
        title += "; smaller batches gain more"
    about = (
        f"{'Example: ' if found.example else ''}{step.model.title}, {_batch(host)}, {say_bytes(step.gradient_bytes)} of gradients in "
        f"{say_count(len(host.trace.placed), 'bucket')}"
    )
    ranges = _ranges(sure)
    if found.batches:
        worth = f"<p class='strong'>{words(_worth(found.batches))}</p>"
        changes = _changes(host, peer) + paragraphs(*_money(host, peer))
        chart = card(
            batch_chart(found.batches, _WORTH), 8, title="Gain of the whole step", high="two-rows spread"
        )
        body = grid(
            chart,
            card(worth, 4, title="Where it pays", high="" if _little(found.batches) else "good"),
            card(changes, 4, title="Host → Peer Direct", high="changes"),
        )
    else:
        body = grid(
            card(_now(host, peer) + paragraphs(*_money(host, peer)), 6, title="Host → Peer Direct"),
            card(facts(*ranges), 6, title="How sure: the step's gain"),
        )
    told = (
        repr(sure),
        _WHY,
        *(f"{what}: {ends}." for what, ends in ranges),
        f"Computing: {say_time(step.compute.ps)} a pass, {step.compute.says}.",
    )
    source = f"Computing: {step.compute.says}{' †' * step.compute.assumed}"
    return Slide(title, about, body, notes=told, source=source)


_WHY = "At large batches backward is so long that the exchange hides behind it on either path."


def _batch(run: StepRun) -> str:
    return f"{say_count(int(run.step.batch or 1), run.step.model.sample.partition(' ')[0])} a device"


def _little(batches: GainAtBatches) -> list[float]:
    """Return the batches at which a step gains little."""
    return [batch for batch, gain in batches["points"] if gain < _WORTH]


def _worth(batches: GainAtBatches) -> str:
    """Say from which batch on a step gains little."""
    # Gains fall with the batch: computing grows, and what is exchanged stays.
    little = _little(batches)
    what = batches["unit"].partition(" ")[0]
    if not little:
        return f"At every batch it gains {say_percent(_WORTH - 1)} or more."
    if len(little) == len(batches["points"]):
        return f"At no batch does it gain {say_percent(_WORTH - 1)}."
    return f"From {little[0]:g} {what} a device on it gains less than {say_percent(_WORTH - 1)}."


def _now(host: StepRun, peer: StepRun) -> str:
    return facts(
        ("step", f"{_s(host.time_s)} → {_s(peer.time_s)}"),
        ("exchanges", f"{_s(host.exchange_s)} → {_s(peer.exchange_s)}"),
        ("exposed wait", f"{_s(host.exposed_s)} → {_s(peer.exposed_s)}"),
    )


def _changes(host: StepRun, peer: StepRun) -> str:
    """Return the same, large: what a name was, and what it becomes."""
    rows = (
        ("step", host.time_s, peer.time_s),
        ("exchanges", host.exchange_s, peer.exchange_s),
        ("exposed wait", host.exposed_s, peer.exposed_s),
    )
    return "".join(
        f"<p class='label'>{words(what)}</p><p class='change'><b>{words(before)}</b><span class='arrow'>→</span>"
        f"<b{' class=good' * (after_s < before_s)}>{words(after)}</b></p>"
        for what, before_s, after_s in rows
        for before, after in [_one_unit(_s(before_s), _s(after_s))]
    )


def _one_unit(before: str, after: str) -> tuple[str, str]:
    """Return two times; a unit that both have stands behind the second."""
    number, _, unit = before.partition(" ")
    return (number if unit and after.endswith(f" {unit}") else before), after


def _ranges(sure: StepGain) -> tuple[tuple[str, str], ...]:
    """Return what is not known, and from where to where the step's gain lies for it."""
    # The first case is the wiring as assumed: its range is that of the line above.
    apart = sure.cluster.wired[1:2]
    return (
        ("cluster's figures, all at their ends", span(sure.cluster.low, sure.cluster.high, 3)),
        ("what is assumed of computing", span(sure.training_low, sure.training_high, 3)),
        *((f"if {case.says}", span(case.low, case.high, 3)) for case in apart),
    )


def _money(host: StepRun, peer: StepRun) -> list[str]:
    """Say what it costs and draws on both ways, where prices and watts were given."""
    other = peer.spent
    sentences = [
        f"{spent:.4g} and {other[unit]:.4g} {unit}" for unit, spent in host.spent.items() if unit in other
    ]
    return [f"Through the host and with Peer Direct: {'; '.join(sentences)}."] if sentences else []


def _s(seconds: float) -> str:
    return say_time(seconds * PS_PER_S)
