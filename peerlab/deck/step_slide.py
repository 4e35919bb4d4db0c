"""The slide on a training step that was simulated: what it takes on both paths, what is exposed, and how sure that is."""

from peerlab.deck.charts import Bar, Part, bars
from peerlab.deck.slide import Slide
from peerlab.deck.trained_step import TrainedStep
from peerlab.model.nic_wiring import Wiring
from peerlab.model.scenario import Scenario
from peerlab.training.step_band import StepGain, step_gain
from peerlab.training.step_run import StepRun
from peerlab.units import PS_PER_S, say_bytes, say_count, say_share, say_time

_ROLES = {True: "copy", False: "direct"}


def simulated_step(asked: TrainedStep, base: Scenario) -> Slide:
    """Return the slide of a step that is simulated."""
    host, peer = asked.runs(base)
    sure = step_gain(peer, host)
    rows = [_bar("through the host", host), _bar("Peer Direct", peer)]
    alt = "A training step. " + " ".join(f"{row.name}: {row.says}." for row in rows)
    return Slide(
        _title(host, sure), (bars(rows, alt),), tuple(_lines(host, peer, sure)), notes=(alt, repr(sure))
    )


def _title(host: StepRun, sure: StepGain) -> str:
    step = host.step
    ends = dict.fromkeys(f"{one:.2f}" for one in (sure.low, sure.high))
    batch = f"{say_count(int(step.batch or 0), step.model.sample.partition(' ')[0])} a device"
    return f"A step of {step.model.title}, {batch}, becomes {' to '.join(ends)} times as fast"


def _lines(host: StepRun, peer: StepRun, sure: StepGain) -> list[str]:
    step = host.step
    compute = step.compute
    return [
        (
            f"Exchange: {say_bytes(step.gradient_bytes)} of gradients in {say_count(len(host.trace.placed), 'bucket')}, "
            f"{_s(host.exchange_s)} through the host, {_s(peer.exchange_s)} by Peer Direct; "
            f"of that {_s(host.exposed_s)} and {_s(peer.exposed_s)} are exposed, the rest hides behind backward."
        ),
        f"Computing: {say_time(compute.ps)} a pass, {compute.says}{' †' * compute.assumed}.",
        (
            f"How sure: {sure.value:.3f} times as assumed; {sure.cluster.low:.3f} to {sure.cluster.high:.3f} by the cluster's assumed figures, "
            f"{sure.training_low:.3f} to {sure.training_high:.3f} by what is assumed about computing."
        ),
        *_beside(sure),
        *_money(host, peer),
    ]


def _beside(sure: StepGain) -> list[str]:
    """Say what an assumption without a range would do, and how to find out where the NICs hang."""
    checks = [one.figure.check for one in sure.cluster.left_out if isinstance(one.figure, Wiring)]
    return [f"Beside that: {'; '.join([*sure.beside, *checks])}."] if sure.beside else []


def _money(host: StepRun, peer: StepRun) -> list[str]:
    """Say what it costs, where prices and watts were given."""
    per = host.steps_per_epoch or 1
    what = "epoch" if host.steps_per_epoch else "step"
    told = []
    if host.cost_per_step is not None and peer.cost_per_step is not None:
        told.append(f"{host.cost_per_step * per:.4g} and {peer.cost_per_step * per:.4g} {host.step.currency}")
    if host.energy_per_step_J is not None and peer.energy_per_step_J is not None:
        watt_hours = [one * per / _PER_HOUR for one in (host.energy_per_step_J, peer.energy_per_step_J)]
        told.append(f"{watt_hours[0]:.4g} and {watt_hours[1]:.4g} Wh")
    return (
        [f"An {what}" * (what == "epoch") + "A step" * (what == "step") + f": {'; '.join(told)}."]
        if told
        else []
    )


_PER_HOUR = 3600


def _bar(name: str, run: StepRun) -> Bar:
    role = _ROLES[run.step.scenario.staged]
    parts = (
        Part(run.compute_s, "gather", "computing"),
        Part(run.exposed_s, role, "exposed, " + ("through the host" if role == "copy" else "by Peer Direct")),
    )
    return Bar(name, parts, f"{_s(run.time_s)}, {say_share(1 - run.utilisation)} exposed")


def _s(seconds: float) -> str:
    return say_time(seconds * PS_PER_S)
