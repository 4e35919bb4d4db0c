"""A step of a training, and a profiler's trace of some, in a notebook."""

from collections.abc import Iterable, Sequence

from peerlab.base.document import Conclusion, Document, Part, Table, Text
from peerlab.base.units import PS_PER_MS, say_bytes, say_count, say_share, say_time
from peerlab.features.step.step_document import behind_document
from peerlab.model.paths import path_title
from peerlab.page.document_html import document_html
from peerlab.training.profiled import ProfiledTraining
from peerlab.training.profiled_step import ProfiledStep
from peerlab.training.step_run import StepRun

_MOST_ROWS = 12


def step_html(run: StepRun) -> str:
    """Return what the page of a step leaves out, as HTML that brings its own style."""
    return document_html(behind_document(run, _MOST_ROWS), "step")


def profiled_html(training: ProfiledTraining) -> str:
    """Return a trace as HTML that brings its own style: each step as recorded and by the rule that is simulated."""
    usual, steps = training.usual, training.steps
    conclusion = (
        Conclusion(
            "pass",
            "Good replay",
            "Each exchange begins when it is ready and the one before it is through; steps played so take what they took.",
        )
        if training.verdict == "good"
        else Conclusion(
            "fail",
            "Bad replay",
            "Exchanges do not begin when they are ready and the one before is through: do not rely on what is simulated from this trace.",
        )
    )
    stays = f" {', '.join(training.others)}: part of the computing, as recorded." if training.others else ""
    moved = say_bytes(sum(exchange.kernel.nbytes for exchange in usual.exchanges))
    sentence = (
        f"{_ms(usual.time_ms)} a step, {_ms(usual.exposed_ms)} ({say_share(usual.exposed_ms / usual.time_ms)}) exposed; "
        f"{len(usual.exchanges)} exchanges of {moved} among {training.ranks or 'unknown'} ranks.{stays}"
    )
    # A kernel of NCCL waits for the slowest rank inside: no trace of one rank tells the two apart.
    waited = "The time of an exchange includes waiting for other ranks."
    parts: tuple[Part, ...] = (
        conclusion,
        Text(sentence),
        _replays(steps),
        *(Text(text, quiet=True) for text in (*training.warnings, waited)),
    )
    return document_html(Document(f"{training.name}: {say_count(len(steps), 'step')}", parts), "profiled")


def _replays(steps: Sequence[ProfiledStep]) -> Table:
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
        for step in steps
    ]
    head = (
        "step",
        "recorded",
        "replayed",
        "exposed, recorded",
        "exposed, replayed",
        "begins late by",
        "replay",
    )
    return Table("Steps", head, rows)


def elsewhere_html(runs: Iterable[StepRun], recorded_ms: float) -> str:
    """Return what a recorded step would take on a cluster, on each of its paths."""
    step_runs = list(runs)
    s = step_runs[0].step.scenario
    rows = [
        (
            path_title(str(run.step.scenario.path)),
            say_time(run.time_ps),
            f"{say_time(run.trace.exposed_ps)} ({say_share(1 - run.utilisation)})",
            f"{recorded_ms * PS_PER_MS / run.time_ps:.3f} times",
        )
        for run in step_runs
    ]
    title = f"The same computing on {s.hardware.title}, {s.nodes} nodes, {s.ranks} ranks"
    head = ("path", "step", "exposed", "as fast as recorded")
    return document_html(Document(title, (Table("", head, rows),)), "profiled")


def _ms(value: float) -> str:
    return say_time(round(value * PS_PER_MS))
