"""Lab 11: single delays in a ring, the game of the slow node, and runs that nobody has shown."""

from itertools import combinations
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.diagnosis import CANNOT_TELL
from peerlab.features.exercises.catalogue import find, transfer_of
from peerlab.features.exercises.labs import late_node, search_game
from peerlab.features.exercises.labs.held_up_transfers import BLOCKING, PIPELINED, RING, later_us
from peerlab.features.exercises.labs.search_game import NODES, NOISE, SLOW, SearchGame, times_as_long
from peerlab.features.exercises.labs.unseen.unseen_suspect import runs_of
from peerlab.features.suspects.bayes import capacity, runs_needed
from peerlab.features.suspects.late_ranks import late_rank

WHOLE = RING.with_(slice_bytes=None)
"""One slice a transfer, as in the laws."""
D_US = 1e6 * RING.nbytes / RING.nodes / RING.hardware.nic_Bps

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("dependency", [BLOCKING, PIPELINED])
def test_one_delay_of_any_transfer_delays_the_end_by_as_much(dependency):
    assert later_us({(7, 3): D_US}, dependency, WHOLE) == pytest.approx(671.08864, abs=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "blocking", "pipelined"),
    [
        ((2, 3), (2, 5), 0.5, 0.5),  # in the same step neither reaches the other
        ((2, 3), (4, 5), 0.8, 0.8),  # two nodes further on, two steps later
        ((2, 3), (4, 1), 0.8, 0.5),  # a pipelined ring passes a delay on downstream only
    ],
)
def test_two_delays_add_up_where_the_second_is_within_reach_of_the_first(first, second, blocking, pipelined):
    late = {first: 0.5 * D_US, second: 0.3 * D_US}
    assert later_us(late, BLOCKING, WHOLE) == pytest.approx(blocking * D_US, abs=1e-5)
    assert later_us(late, PIPELINED, WHOLE) == pytest.approx(pipelined * D_US, abs=1e-5)


def test_latency_absorbs_a_delay_step_by_step_in_a_pipelined_ring():
    latency_us = RING.hardware.latency_ps / 1e6
    late = {(2, 3): 0.5 * D_US, (5, 3): 0.3 * D_US}
    assert later_us(late, PIPELINED, WHOLE) == pytest.approx(0.8 * D_US - 3 * latency_us, abs=1e-5)


@given(
    step=st.integers(0, 13), node=st.integers(0, 7), later=st.integers(0, 13), other=st.integers(0, 7),
    delays=st.tuples(st.integers(1, 600), st.integers(1, 600)),
)  # fmt: skip
def test_a_blocking_ring_adds_two_delays_exactly_within_a_light_cone(step, node, later, other, delays):
    first, second = sorted([(step, node), (later, other)])
    apart = min((first[1] - second[1]) % 8, (second[1] - first[1]) % 8)
    inside = first[0] < second[0] and apart <= second[0] - first[0]
    late = {first: float(delays[0]), second: float(delays[1])}
    expected = delays[1] if first == second else sum(delays) if inside else max(delays)
    assert later_us(late, BLOCKING, WHOLE) == pytest.approx(expected, abs=1e-5)


def test_what_lab_11_says_of_slack_is_so():
    """A delay shorter than seven eighths of a transfer, less the latency, reaches no other NIC; one that is longer does."""
    slack = 7 / 8 * D_US - RING.hardware.latency_ps / 1e6
    for first, more in ((slack - 20, 0), (slack + 20, 20)):
        both = later_us({(2, 3): first, (3, 4): 300}, PIPELINED)
        assert both == pytest.approx(max(first, 300 + more), abs=1)
    assert find("11-forgives").truth() == 400 < slack


def test_halves_tell_every_slow_node_apart_and_the_threshold_lies_between_healthy_and_slow():
    for some in [*combinations(range(NODES), 2), tuple(range(NODES))]:
        for seed in (0, 5):
            assert times_as_long(some, None, seed) < SLOW < times_as_long(some, some[0], seed)
    assert late_node.fewest_runs() == log2(NODES) == search_game.FEWEST - 1


def test_a_game_says_what_contradicts_an_accusation_and_what_is_still_possible():
    game = SearchGame(slow=5)
    game.run(0, 1, 2, 3)
    assert "Name a node from 0 to 7" in game.accuse().accused
    assert "Not node 2: it took part in the run on 0, 1, 2 and 3" in game.accuse(2).accused
    assert "It may be node 5. So may 4, 6 and 7" in game.accuse(5).accused
    game.run(4, 5)
    assert "took no part in the run on 4 and 5, which took 1.2" in game.accuse(6).accused
    game.run(4, 0)
    assert game.accuse(5).accused.startswith("Right: node 5, in 3 runs. In the mean")
    assert game.accused in repr(game)
    game.run(5, 0)
    assert "Three suffice" in game.accuse(5).accused
    first = late_node.suspected(game).iloc[:1]
    assert first.index.tolist() == ["node 5"]
    assert first.iloc[0, 0] > 95


@pytest.mark.parametrize("nodes", [(), (3,), (1, 1), (0, 8), ("0", "1"), (0, True)])
def test_a_run_that_cannot_be_is_refused_in_a_line(nodes):
    with pytest.raises(PeerlabError, match="two nodes or more"):
        SearchGame(slow=1).run(*nodes)


def test_everybodys_game_is_drawn_by_the_own_seed():
    assert SearchGame().slow == SearchGame().slow


def test_a_search_that_does_not_end_is_told_so_and_lists_will_do():
    def ever(run):
        while True:
            run(0, 1)

    assert "does your search come to an end?" in find("11-search").judge(ever).says
    halves = find("11-search").judge(
        lambda run: next(
            (node for node in range(8) if all((run([o for o in range(8) if o >> bit & 1]) > 1.1) == bool(node >> bit & 1) for bit in range(3))), None
        )
    )  # fmt: skip
    assert not halves.right


def test_what_is_quoted_of_ranks_and_of_bits_is_what_suspects_computes():
    rank = late_rank({rank: [took / 1e3] for rank, took in late_node.LASTS_MS.items()})
    assert (rank.rank, rank.named) == (5, True)
    assert find("11-shortest").truth() == pytest.approx(1e3 * rank.lateness_s)
    assert round(capacity(2.1), 2) == late_node.BIT_OF_A_RUN
    assert find("11-runs").truth() == pytest.approx(runs_needed(late_node.SEARCHED, 2.1), rel=0.01)


def test_of_the_runs_of_50_seeds_some_accuse_a_node_some_leave_it_open_and_some_accuse_nobody():
    truths = [transfer_of("11").drawn(seed).truth() for seed in range(50)]
    kinds = [one if one in (CANNOT_TELL, "nothing is slow") else "a node" for one in truths]
    assert min(map(kinds.count, set(kinds))) > 10
    assert len(set(kinds)) == 3


def test_what_the_runs_say_is_what_peerlab_suspects_says():
    """The check crosses out; `peerlab suspects` goes by Bayes, and names somebody from 95 per cent on."""
    transfer = transfer_of("11")
    for seed in range(0, 50, 3):
        kind, slow, nodes = transfer.values(seed)
        truth, runs = transfer.drawn(seed).truth(), runs_of(nodes, slow, kind)
        told = peerlab.suspects(
            runs, hosts=[f"n{number}" for number in range(nodes)], sigma=0.01, expected_s=1.0
        )
        assert told.decided == (truth != CANNOT_TELL), seed
        assert truth in (CANNOT_TELL, told.suspects[0].in_words)


def test_noise_is_a_little_and_is_known():
    """`peerlab suspects` is told by how much healthy runs of the game differ."""
    times = [times_as_long((0, 1, 2, 3), None, seed) for seed in range(40)]
    assert max(times) / min(times) - 1 < 6 * NOISE
    assert peerlab.suspects([(("a", "b"), 1.0)], sigma=NOISE, expected_s=1.0).sigma == NOISE
