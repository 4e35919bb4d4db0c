"""A race of two scenarios: both simulated, to be watched on one clock."""

from typing import Any

from peerlab.answer.race import Race
from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.engine.simulate import simulate
from peerlab.question.scenario import Scenario


def race(one: Scenario | Run, other: Scenario | Run | None = None, **changes: Any) -> Race:
    """Let two scenarios race; a notebook plays them one above the other, on one clock.

    >>> import peerlab
    >>> peerlab.race(peerlab.Scenario(path="host-rdma"), path="peer-direct")
    Race(RDMA through host 4.38 ms, Peer Direct 2.54 ms: Peer Direct 1.72 times as fast)

    Parameters
    ----------
    one:
        A scenario, or a run of one.
    other:
        Another one; without it, `one` with the `changes`.
    changes:
        Fields of a scenario, in which `other` differs from `one`.

    Returns
    -------
    Race
        Two runs, and what each has delivered at any moment.

    Raises
    ------
    PeerlabError
        If something else than scenarios is given, neither `other` nor a change, both of them, or a scenario that sends
        nothing from node to node.
    """
    # one or the other: with both it would be open which of the two scenarios changes
    if (other is None) == (not changes):
        raise PeerlabError(
            "race: give a second scenario, or the fields in which it differs, as in path='peer-direct'"
        )
    runs = [_run(one)]
    runs.append(_run(runs[0].scenario.with_(**changes) if other is None else other))
    return Race((runs[0], runs[1]))


def _run(what: Scenario | Run) -> Run:
    if isinstance(what, Run):
        return what
    if not isinstance(what, Scenario):
        raise PeerlabError(f"race: scenarios race, or runs of them, not {what!r}")
    return simulate(what)
