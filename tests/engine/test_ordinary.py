"""What a run would have taken had a part been ordinary."""

import peerlab
from peerlab.engine.ordinary import time_if_ordinary

PAIR = peerlab.Scenario(
    cluster="ideal-100g", nodes=2, message_bytes=2500, slice_bytes=None, collective="allgather"
)


def test_a_part_that_is_made_ordinary_costs_no_more_than_nineteen_of_twenty_do():
    late = PAIR.with_(detours=1.0, detour_us=3)
    assert (
        time_if_ordinary(late, [(0, 1), (1, 0)])
        == peerlab.simulate(PAIR).time_ps
        < peerlab.simulate(late).time_ps
    )
    slow = PAIR.with_(slow_nodes={1: 0.5})
    assert time_if_ordinary(slow, [], [1]) == peerlab.simulate(PAIR).time_ps
