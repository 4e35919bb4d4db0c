"""How long a message takes that has too many slices to simulate each: what one more of them costs is known from a shorter one."""

from peerlab.answer.known_answers import answer
from peerlab.answer.metrics import busbw_GBps
from peerlab.engine.simulate import simulate
from peerlab.question.scenario import Scenario

ENOUGH_SLICES = 64
"""A device's slices after which each further one takes as long as the one before."""


def simulated_GBps(asked: Scenario) -> float:  # noqa: N802
    """Return the bus bandwidth of a scenario; what was simulated before is not simulated again."""
    return busbw_GBps(asked, time_ps(asked))


def time_ps(asked: Scenario) -> int:
    """Return how long a scenario takes, picoseconds.

    >>> whole = Scenario(cluster="g4dn-metal", nodes=2, path="host-rdma", message_bytes="2 GiB")
    >>> abs(time_ps(whole) / simulate(whole).time_ps - 1) < 1e-3
    True
    """
    base = simulated_in_place(asked)
    if base is asked:
        return answer(asked, simulate).time_ps
    half = base.with_(message_bytes=base.nbytes // 2)
    long, short = answer(base, simulate).time_ps, answer(half, simulate).time_ps
    return long + (asked.nbytes - base.nbytes) * (long - short) // (base.nbytes - half.nbytes)


def simulated_in_place(asked: Scenario) -> Scenario:
    """Return the scenario that is simulated: a shorter message that the library treats alike, or `asked` itself."""
    base, does = asked, _does(asked)
    while (
        base.nbytes > 1
        and (shorter := base.with_(message_bytes=base.nbytes // 2))
        and _slices(shorter) >= ENOUGH_SLICES
    ):
        if _does(shorter.with_(message_bytes=shorter.nbytes // 2)) != does:
            break
        base = shorter
    return base


def _slices(scenario: Scenario) -> int:
    choice = scenario.choice
    return scenario.nbytes // (choice.slice_bytes * scenario.hardware.devices) if choice else 0


def _does(scenario: Scenario) -> object:
    choice = scenario.choice
    return choice and (choice.does, choice.slice_bytes, choice.hops)
