"""What happens in a run, as a notebook shows it: when each stage is at work, and every span in a table, folded."""

from collections.abc import Iterator
from html import escape

import numpy as np

from peerlab.answer.run import Run
from peerlab.base.units import PS_PER_US, say_time
from peerlab.features.simulate.explain import ExplainedRun, spans_told, whose_spans
from peerlab.model.stages import STAGES
from peerlab.page.frame import framed, table
from peerlab.picture.scale import round_step
from peerlab.picture.theme import stage_role
from peerlab.picture.words import title, waits_for

_HEAD = ("at", "who begins", "with what", "takes", "waits")
_MOST_TICKS = 4


def explained_html(explanation: ExplainedRun) -> str:
    """Return what a run takes and waits for, its stages on one axis of time, and its spans, folded."""
    run = explanation.run
    # its share is of the critical path, and the bars are of all that happens: two shares of one thing would disagree
    waits = run.bottleneck.label if run.bottleneck else waits_for(run)
    answer = f"<p class='pl-answer'><b>{say_time(run.time_ps)}</b>, mostly waiting for {escape(waits)}</p>"
    says = run.scenario.hardware.says
    rows = [
        tuple(escape(says(words)) for words in (span.at, span.who, span.does, span.takes, span.waits))
        for span in spans_told(run.trace)
    ]
    folded = f"<details><summary>{escape(whose_spans(run))}</summary>{table('', _HEAD, rows)}</details>"
    return framed("explained", title(run.scenario), f"{answer}{_chart(run)}{folded}")


def _chart(run: Run) -> str:
    """Return a row for each stage in the order in which they begin: its name, how long somebody is at it, and when."""
    end_ps = max(run.trace.last.end_ps, 1)
    rows = "".join(
        f"<p>{escape(name)}</p><p><b>{say_time(sum(end - start for start, end in times))}</b></p><p class='pl-span'>"
        + "".join(
            f"<i style='background:var(--pl-{role});left:{100 * start / end_ps:.4g}%;width:{100 * (end - start) / end_ps:.4g}%'></i>"
            for start, end in times
        )
        + "</p>"
        for name, role, times in _stages(run)
    )
    end_us = end_ps / PS_PER_US
    step = round_step(end_us, _MOST_TICKS)
    ticks = "".join(
        f"<span style='left:{100 * tick / end_us:.4g}%'>{tick:g}</span>"
        for tick in np.arange(0, end_us + step / 2, step)
        if tick <= end_us
    )
    head = "".join(f"<p class='pl-quiet'>{name}</p>" for name in ("what happens", "lasts", "when, in µs"))
    return f"<div class='pl-bars'>{head}{rows}<p></p><p></p><p class='pl-ticks'>{ticks}</p></div>"


def _stages(run: Run) -> Iterator[tuple[str, str, list[tuple[int, int]]]]:
    """Yield the name and the role of each stage, and from when to when somebody is at work on it, picoseconds."""
    spans = run.trace.last.unrolled
    begins = {
        stage: int(spans["start"][spans["stage"] == stage].min()) for stage in set(spans["stage"].tolist())
    }
    for stage in sorted(begins, key=begins.__getitem__):
        of_stage, name = spans["stage"] == stage, run.trace.stages[stage]
        times = _merged(spans["start"][of_stage].tolist(), spans["end"][of_stage].tolist())
        yield run.scenario.hardware.says(STAGES[name].says), stage_role(name), times


def _merged(starts: list[int], ends: list[int]) -> list[tuple[int, int]]:
    """Return the times at which at least one lasts."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(zip(starts, ends, strict=True)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
