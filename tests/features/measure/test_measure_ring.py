"""The ring's transfers, done here by hand with all ranks in one process, and the numbers that are summed."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from peerlab.collectives.ring_moves import MOST_RANKS, PAGE, Numbers, RingLayout

BASE = Numbers(1 << 20)


def around(ring, slice_bytes, run, numbers=BASE):
    """Run the ring on every rank in turn, step by step; return their memories."""
    devices = [np.full(ring.footprint, 7, np.uint8) for _ in range(ring.ranks)]
    for rank, device in enumerate(devices):
        numbers.fill(rank, run, device[: ring.nbytes].view(np.float32))
    plans = [ring.moves(rank) for rank in range(ring.ranks)]
    for step in zip(*plans, strict=True):
        sent = [[] for _ in step]
        for rank, move in enumerate(step):
            for at, out, _ in move.slices(slice_bytes):
                begin = move.source_at + at
                sent[rank].append((move.there_at + at, devices[rank][begin : begin + out].copy()))
        for rank, move in enumerate(step):
            for to, what in sent[rank - 1]:
                devices[rank][to : to + len(what)] = what
            if move.adds_to is not None:
                total = devices[rank][move.adds_to : move.adds_to + move.lands_bytes].view(np.float32)
                total += devices[rank][move.lands_at : move.lands_at + move.lands_bytes].view(np.float32)
    return devices


@given(
    ranks=st.integers(2, 9),
    floats=st.integers(1, 5000),
    slice_floats=st.integers(1, 900),
    run=st.integers(0, 10**6),
)
def test_every_rank_ends_with_the_exact_sum_whatever_does_not_divide(ranks, floats, slice_floats, run):
    ring = RingLayout(ranks, 4 * floats)
    for device in around(ring, 4 * slice_floats, run):
        assert BASE.is_sum(ranks, run, device[: ring.nbytes].view(np.float32))


@given(ranks=st.integers(2, 40), floats=st.integers(1, 10**6))
def test_chunks_cover_the_message_once_and_scratch_begins_behind_it(ranks, floats):
    ring = RingLayout(ranks, 4 * floats)
    chunks = [ring.chunk(index) for index in range(ranks)]
    assert [at for at, _ in chunks] == [sum(n for _, n in chunks[:index]) for index in range(ranks)]
    assert sum(length for _, length in chunks) == ring.nbytes
    assert max(length for _, length in chunks) - min(length for _, length in chunks) in (0, 4)
    landings = [move.lands_at for move in ring.moves(0)[: ring.steps]]
    assert all(at % PAGE == 0 and at >= ring.nbytes for at in landings)
    assert landings[-1] + ring.largest_chunk <= ring.footprint


@given(ranks=st.integers(2, 9), floats=st.integers(1, 5000), slice_floats=st.integers(1, 900))
def test_what_one_sends_in_a_step_is_what_its_right_neighbour_receives(ranks, floats, slice_floats):
    ring = RingLayout(ranks, 4 * floats)
    for rank in range(ranks):
        for mine, theirs in zip(ring.moves(rank), ring.moves((rank + 1) % ranks), strict=True):
            assert (mine.source_bytes, mine.there_at) == (theirs.lands_bytes, theirs.lands_at)
            sent = [out for _, out, _ in mine.slices(4 * slice_floats) if out]
            assert sent == [into for _, _, into in theirs.slices(4 * slice_floats) if into]


@given(there=st.integers(-40_000, 40_000), run=st.integers(0, 10**6))
@example(there=9973, run=0)  # a period that the numbers once had
def test_a_chunk_at_a_wrong_place_is_noticed_wherever_that_is(there, run):
    ranks, right = 2, 50_000
    message, other = np.zeros(100_000, np.float32), np.zeros(100_000, np.float32)
    for rank in range(ranks):
        BASE.fill(rank, run, other)
        message += other
    message[right : right + 500] = message[right + there : right + there + 500].copy()
    assert BASE.is_sum(ranks, run, message) == (there == 0)


def test_sums_are_whole_numbers_that_a_float32_holds_for_as_many_ranks_as_allowed():
    numbers, message = Numbers(80_000), np.zeros(20_000, np.float32)
    total = np.zeros(20_000, np.int64)
    for rank in range(MOST_RANKS):
        numbers.fill(rank, 3, message)
        total += message.astype(np.int64)
    assert total.max() < 2**24
    assert numbers.is_sum(MOST_RANKS, 3, total.astype(np.float32))


@pytest.mark.parametrize("spoil", ["stale", "shifted", "twice", "one bit"])
def test_a_wrong_sum_is_noticed(spoil):
    message, other = np.zeros(100_000, np.float32), np.zeros(100_000, np.float32)
    for rank in (0, 1):
        BASE.fill(rank, 6 if spoil == "stale" else 5, other)
        message += other
    if spoil == "shifted":
        message = np.roll(message, 4096)
    elif spoil == "twice":  # rank 1's in place of rank 0's
        message = 2 * other
    elif spoil == "one bit":
        message[99_999] = np.nextafter(message[99_999], np.float32(np.inf))
    assert not BASE.is_sum(2, 5, message)
