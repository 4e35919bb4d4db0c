"""For whom a step waits: the nodes that begin an exchange last."""

from collections import Counter

from peerlab.base.units import say_count, say_time
from peerlab.training.step_trace import StepTrace

_MOST_NAMED = 3


def who_was_last(trace: StepTrace) -> list[str]:
    """Return who began exchanges last and how long others waited for them, and whose times are shown; nothing where all do the same.

    An exchange ends for nobody before the last has begun it. So all others wait for that one, and it for nobody.
    """
    apart = trace.apart
    if not apart:
        return []
    shown = f"Shown is node {apart[-1].shown}, which ends the step last."
    late = Counter(node for one in apart for node in one.last)
    if not late:
        return [f"All nodes began every exchange together. {shown}"]
    named = sorted(late, key=lambda node: (-late[node], node))[:_MOST_NAMED]
    waited = {node: max(one.waited_ps for one in apart if node in one.last) for node in named}
    sentence = "; ".join(
        f"node {node} was last at {late[node]} of {say_count(len(apart), 'exchange')}, the others waited up to {say_time(waited[node])}"
        for node in named
    )
    more = f"; {len(late) - len(named)} more nodes were last elsewhere" if len(late) > len(named) else ""
    return [f"Waited for: {sentence}{more}. {shown}"]
