"""For whom a step waits: the nodes that begin an exchange last; and what a step of several in a row takes."""

from collections import Counter

from peerlab.base.units import say_count, say_time
from peerlab.training.step_trace import StepsInARow, StepTrace

_MOST_NAMED = 3


def who_was_last(trace: StepTrace) -> list[str]:
    """Return who began exchanges last and how long others waited for them, and whose times are shown; nothing where all do the same.

    An exchange ends for nobody before the last has begun it. So all others wait for that one, and it for nobody.
    """
    apart = trace.apart
    if not apart:
        return []
    shown = f"Shown is node {apart[-1].shown}, which ends the step last."
    late = Counter(node for exchange in apart for node in exchange.last)
    if not late:
        return [f"All nodes began every exchange together. {shown}"]
    named = sorted(late, key=lambda node: (-late[node], node))[:_MOST_NAMED]
    waited = {node: max(exchange.waited_ps for exchange in apart if node in exchange.last) for node in named}
    sentence = "; ".join(
        f"node {node} was last at {late[node]} of {say_count(len(apart), 'exchange')}, the others waited up to {say_time(waited[node])}"
        for node in named
    )
    more = f"; {len(late) - len(named)} more nodes were last elsewhere" if len(late) > len(named) else ""
    return [f"Waited for: {sentence}{more}. {shown}"]


def in_a_row(trace: StepTrace) -> list[str]:
    """Return what a step takes in a row without barriers, and what the first takes, which all nodes begin together; nothing of a step alone."""
    row = trace.row
    if not row:
        return []
    head = f"{len(row.ends)} steps in a row without a barrier between them: {say_time(row.steady_ps)} a step"
    if row.repeats and row.steady_from == 1:
        return [f"{head}, each as the first."]
    apart = row.steady_ps - row.lasts[0]
    beside = f"{say_time(abs(apart))} {'more' if apart > 0 else 'less'} than" if apart else "as long as"
    return [f"{head}, {_which(row)}; {beside} the first, which all nodes begin together."]


def _which(row: StepsInARow) -> str:
    """Return which steps take so long."""
    if row.repeats == 1:
        return f"each as the one before from step {row.steady_from} on"
    if row.repeats:
        return f"the mean of {row.repeats} that repeat from step {row.steady_from} on"
    return f"the mean of the second half ({say_time(min(row.late))} to {say_time(max(row.late))})"
