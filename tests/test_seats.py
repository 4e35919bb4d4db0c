"""Forty seats on one machine, in the long trials alone."""

import sys

import pytest
from drawing import SOAK


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="a long trial")
def test_forty_learners_run_the_labs_on_one_machine_and_nobody_fails(root, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(root / "bench"), str(root / "tests" / "browser"), *sys.path])
    import seats

    room = seats.run(seats.SEATS, seats.AT_ONCE, seats.labs())
    assert [(seat.lab.stem, seat.problem) for seat in room.seats if seat.problem] == []
    assert len(room.pss) == seats.SEATS == 40
    assert all(size > 20 * seats.MIB for size in room.pss)  # each had a kernel of its own, alive to the end
