"""A step of a training, and a profiler's trace of some, in a notebook."""

from collections.abc import Iterable
from html import escape

from peerlab.base.units import PS_PER_MS, say_bytes, say_share, say_time
from peerlab.model.paths import path_title
from peerlab.page.frame import framed, table
from peerlab.training.profiled import ProfiledTraining
from peerlab.training.step_picture import step_svg
from peerlab.training.step_run import StepRun
from peerlab.training.waited_for import in_a_row, who_was_last

_SIGNS = {"good": ("pass", "✓"), "bad": ("fail", "✕")}
_MOST_ROWS = 12


def step_html(run: StepRun) -> str:
    """Return a step as HTML that brings its own style: its figures, its lanes, and the exchanges that are seen most."""
    return framed(
        "step",
        f"A step of {run.step.model.title} on {run.step.scenario.hardware.title}",
        "".join(_parts(run)),
    )


def _parts(run: StepRun) -> Iterable[str]:
    step, s = run.step, run.step.scenario
    yield (
        f"<p><b>{say_time(run.time_ps)}</b> a step, of which <b>{say_time(run.trace.exposed_ps)}</b> "
        f"({say_share(1 - run.utilisation)}) exposed: the devices wait. {run.samples_per_s:,.0f} samples/s on {s.nodes} nodes, "
        f"{escape(path_title(str(s.path)))}, {escape(step.shard)}, batch {step.batch} a device.</p>"
    )
    yield from (f"<p>{escape(sentence)}</p>" for sentence in [*in_a_row(run.trace), *who_was_last(run.trace)])
    yield step_svg(run)
    yield _told(run)
    worst = sorted(run.trace.placed, key=run.trace.exposed_of, reverse=True)[:_MOST_ROWS]
    rows = [
        (
            escape(placed_span.op.name),
            say_bytes(placed_span.op.nbytes),
            say_time(placed_span.ready_ps),
            say_time(placed_span.begin_ps - placed_span.ready_ps),
            # From when it could have begun: the stream was at the one before.
            say_time(placed_span.lasts_ps),
            say_time(run.trace.exposed_of(placed_span)),
        )
        for placed_span in worst
    ]
    most = (
        f"The {len(rows)} exchanges that are seen most"
        if len(rows) < len(run.trace.placed)
        else "Exchanges, those seen most first"
    )
    yield table(most, ("exchange", "size", "ready", "waits for the one before", "takes", "exposed"), rows)
    yield f"<p class='pl-quiet'>Computing: {escape(step.compute.says)}{' (assumed)' * step.compute.assumed}.</p>"


def _told(run: StepRun) -> str:
    sentences = [] if run.peak_share is None else [f"{say_share(run.peak_share)} of the devices' peak"]
    sentences += [f"{value:.4g} {escape(unit)}" for unit, value in run.spent.items()]
    return f"<p>{', '.join(sentences)}.</p>" if sentences else ""


def profiled_html(one: ProfiledTraining) -> str:
    """Return a trace as HTML that brings its own style: each step as recorded and by the rule that is simulated."""
    status, sign = _SIGNS[one.verdict]
    usual = one.usual
    sentence = (
        "each exchange begins when it is ready and the one before it is through; steps played so take what they took"
        if one.verdict == "good"
        else "exchanges do not begin when they are ready and the one before is through; what is simulated from this trace is not worth much"
    )
    rows = [
        (
            str(step.number),
            _ms(step.time_ms),
            _ms(step.replayed_ms),
            _ms(step.exposed_ms),
            _ms(step.replayed_exposed_ms),
            _ms(step.late_ms),
            step.verdict,
        )
        for step in one.steps
    ]
    head = ("step", "recorded", "replayed", "exposed, recorded", "replayed", "begins late by", "replay")
    stays = f" {escape(', '.join(one.others))}: part of the computing, as recorded." if one.others else ""
    body = (
        f"<p class='pl-verdict pl-{status}'><span class='pl-sign' aria-hidden='true'>{sign}</span> <b>{one.verdict.capitalize()} replay</b>: {sentence}</p>"
        f"<p>{_ms(usual.time_ms)} a step, {_ms(usual.exposed_ms)} ({say_share(usual.exposed_ms / usual.time_ms)}) exposed; "
        f"{len(usual.exchanges)} exchanges of {say_bytes(sum(x.kernel.nbytes for x in usual.exchanges))} among {one.ranks or 'unknown'} ranks.{stays}</p>"
        + table("Steps", head, rows)
        + "".join(f"<p class='pl-quiet'>{escape(warning)}</p>" for warning in one.warnings)
        # A kernel of NCCL waits for the slowest rank inside: no trace of one rank tells the two apart.
        + "<p class='pl-quiet'>What an exchange takes contains what it waited for other ranks.</p>"
    )
    return framed("profiled", f"{one.name}: {len(one.steps)} steps", body)


def elsewhere_html(runs: Iterable[StepRun], recorded_ms: float) -> str:
    """Return what a recorded step would take on a cluster, on each of its paths."""
    step_runs = list(runs)
    s = step_runs[0].step.scenario
    rows = [
        (
            escape(path_title(str(run.step.scenario.path))),
            say_time(run.time_ps),
            f"{say_time(run.trace.exposed_ps)} ({say_share(1 - run.utilisation)})",
            f"{recorded_ms * PS_PER_MS / run.time_ps:.3f} times",
        )
        for run in step_runs
    ]
    title = f"The same computing on {s.hardware.title}, {s.nodes} nodes, {s.ranks} ranks"
    return framed("profiled", title, table("", ("path", "step", "exposed", "as fast as recorded"), rows))


def _ms(value: float) -> str:
    return say_time(round(value * PS_PER_MS))
