"""The times of many seeds of one scenario, without a run for each: what a tail is counted from."""

from collections.abc import Sequence

from peerlab.engine.arrays.ring_arrays import Batch
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.opening import opening
from peerlab.engine.simulate import fastest, of_events, simulate, simulate_one_of
from peerlab.engine.system import least
from peerlab.question.scenario import Scenario

_AT_ONCE = 250
"""Runs side by side; their arrays stay in the processor's cache."""
_MOST_TIMES = 4_000_000
"""Moments that runs side by side may hold together: 32 MB."""


def side_by_side(scenario: Scenario) -> bool:
    """Return whether seeds of a scenario can run side by side: on the arrays."""
    return fastest(least(scenario)) == "arrays"


def times_of_seeds(
    scenario: Scenario, seeds: Sequence[int], progress: Progress | None = None, alike: int | None = None
) -> list[int]:
    """Return the time of each seed, picoseconds, equal to what `simulate` gives: side by side, or one after the other.

    `progress` is called with how many of these are done and how many they are; what it raises ends the simulation. `alike`: runs that there
    are in all, where these are some of them; many runs pay together for machine code. None: these alone.

    Raises
    ------
    OverflowError
        If one may take longer than can be counted.
    """
    if not side_by_side(scenario):
        return _one_by_one(scenario, seeds, progress, alike or len(seeds))
    system = least(scenario).of_every_node()
    held = len(system.lanes) * (system.pieces + scenario.window_slices)
    at_once = max(1, min(_AT_ONCE, _MOST_TIMES // held))
    before = sum(lasts for *_, lasts in opening(system))
    numbers: list[int] = []
    for first in range(0, len(seeds), at_once):
        some = seeds[first : first + at_once]
        batch = Batch(system, some, [scenario.jitter] * len(some))
        ends, held_order = batch.run(), batch.orders.hold()
        for seed, end, exact in zip(some, ends.tolist(), held_order.tolist(), strict=True):
            numbers.append(end + before if exact else _by_events(scenario.with_(seed=seed)))
        if progress:
            progress(len(numbers), len(seeds))
    return numbers


def _one_by_one(scenario: Scenario, seeds: Sequence[int], progress: Progress | None, alike: int) -> list[int]:
    numbers: list[int] = []

    def tell(_done: int, _total: int) -> None:
        if progress:
            progress(len(numbers), len(seeds))

    for seed in seeds:
        numbers.append(simulate_one_of(scenario.with_(seed=seed), alike, progress=tell).time_ps)
        tell(1, 1)
    return numbers


def _by_events(scenario: Scenario) -> int:
    return simulate(scenario, engine=of_events(least(scenario))).time_ps
