"""What happens at each instant of a run, in words: who begins what, for how long, and who waits.

It is told from the spans that the engine gave, so it says nothing that was not simulated.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from peerlab.answer.run import Run
from peerlab.answer.trace import Trace
from peerlab.base.display import shown
from peerlab.base.errors import PeerlabError, one_line
from peerlab.base.units import PS_PER_US, say_bytes, say_count
from peerlab.model.stages import STAGES

MOST = 2000
"""Spans that are told at most: more than that nobody reads."""


@dataclass(frozen=True, repr=False)
class ExplainedRun:
    """What happens in a run, in words; ``str`` of it is the text, and a notebook shows it."""

    run: Run
    """The run."""
    text: str
    """A line for each span, between a head and an end."""
    _repr_html_ = shown

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"ExplainedRun({len(self.text.splitlines())} lines of {self.run!r})"


def explain(run: Run) -> ExplainedRun:
    """Return what happens at each instant of a run's last iteration, one line a span, in the order of time.

    Each line has the time in microseconds since the beginning, the resource that begins, the slice, its bytes, and how long the
    resource has it. Where a slice waited, the line says how long; where others wait at that instant, how many. Of a folded run it
    is one PCIe switch of node 0, as all others do the same; ``simulate(..., engine="referee")`` gives every node, and says what happens
    while it runs, to the logger ``peerlab.referee`` (`peerlab.engine.referee.event_log`).

    Raises
    ------
    PeerlabError
        If it is no run, or has more than `MOST` spans.

    >>> import peerlab
    >>> s = peerlab.Scenario(cluster="ideal-100g", nodes=2, message_bytes="64 KiB", slice_bytes="32 KiB")
    >>> print(peerlab.explain(peerlab.simulate(s)).text.splitlines()[2])
    0.0 µs: NIC send 0 of node 0 begins slice 0 of step 0 of device 0: port to port (16 KiB, 1.3 µs)
    """
    if not isinstance(run, Run):
        raise PeerlabError(f"explain: give a run, as simulate returns it, not {one_line(repr(run)):.80}")
    # The last iteration: caches are warm there, as in the figures of the run.
    spans = run.trace.last.unrolled
    count = len(spans["start"])
    if count > MOST:
        raise PeerlabError(
            f"explain: {say_count(count, 'span')} are more than can be read, at most {MOST}; ask for fewer nodes or a smaller message"
        )
    end = f"{_time(run.trace.last.end_ps)}: all is done"
    says = run.scenario.hardware.says
    lines = [says(span.line) for span in spans_told(run.trace)]
    return ExplainedRun(run, "\n".join([f"{run!r}\n{whose_spans(run)}:", *lines, end]))


@dataclass(frozen=True)
class ToldSpan:
    """One span in words."""

    at: str
    who: str
    does: str
    takes: str
    waits: str
    """How long the slice waited, and how many wait now; empty if none does."""

    @property
    def line(self) -> str:
        """All of it in one line."""
        return f"{self.at}: {self.who} begins {self.does} ({self.takes}){f'; {self.waits}' if self.waits else ''}"


def whose_spans(run: Run) -> str:
    """Return how many spans are told, and whose."""
    count = len(run.trace.last.unrolled["start"])
    whose = "one PCIe switch of node 0, as all others do the same" if run.trace.folded else "every node"
    return f"{say_count(count, 'span')}, of {run.scenario.hardware.says(whose)}"


def spans_told(trace: Trace) -> Iterator[ToldSpan]:
    """Yield the spans of a run's last iteration in the order of time."""
    spans = trace.last.unrolled
    # The last key counts first: by start, then by end; the rest makes the order of equal moments the same
    # everywhere.
    order = np.lexsort((spans["device"], spans["resource"], spans["end"], spans["start"]))
    for row in order.tolist():
        begin, resource = int(spans["start"][row]), int(spans["resource"][row])
        # Who is in the queue at this instant: queued by now, and not yet begun.
        queue = (spans["resource"] == resource) & (spans["queued"] <= begin) & (spans["start"] > begin)
        span = {name: int(values[row]) for name, values in spans.items()}
        who, waits = trace.resources[resource].in_words, _queue(span, int(queue.sum()))
        yield ToldSpan(_time(begin), who, _work(trace, span), _takes(span), waits)


def _work(trace: Trace, span: dict[str, int]) -> str:
    """Return what a resource works on: a slice, or a region of memory that is registered."""
    stage = STAGES[trace.stages[span["stage"]]].says
    # A registration is of a region, and has no slice.
    if span["slice"] < 0:
        return f"step {span['step']} of device {span['device']}: {stage}"
    return f"slice {span['slice']} of step {span['step']} of device {span['device']}: {stage}"


def _takes(span: dict[str, int]) -> str:
    # Beyond its own work a resource waits for the one before it, or shares its rate.
    lasts, held = span["end"] - span["start"], span["end"] - span["start"] - span["work"]
    parts = [say_bytes(span["nbytes"])] if span["nbytes"] else []
    parts.append(_time(lasts))
    if held > 0:
        parts.append(f"{_time(held)} of it held up or shared")
    return ", ".join(parts)


def _queue(span: dict[str, int], others: int) -> str:
    waited = span["start"] - span["queued"]
    parts = [f"it waited {_time(waited)}"] if waited > 0 else []
    parts += [f"{others} more wait" if others > 1 else "1 more waits"] if others else []
    return ", ".join(parts)


def _time(picoseconds: int) -> str:
    return f"{picoseconds / PS_PER_US:.1f} µs"
