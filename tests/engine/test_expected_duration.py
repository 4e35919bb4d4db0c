"""How long a simulation will take is known before it begins, and it says how far it is however much happens at once."""

import pytest

import peerlab
from peerlab.base.errors import Cancelled
from peerlab.engine.compiled import refusals
from peerlab.engine.expected_duration import forecast_s, offer
from peerlab.engine.loop import event_loop
from peerlab.engine.system import least
from peerlab.study.patience import large

HEAVY = peerlab.Scenario(
    cluster="g4dn-8xlarge", nodes=32, message_bytes="512 MiB", path="host-tcp", jitter=0.05
)
"""A thousand slices a transfer, each with factors of its own."""


def test_long_simulations_are_forecast_and_short_ones_are_not(monkeypatch):
    assert forecast_s(peerlab.Scenario(nodes=1024)) == 0
    assert forecast_s(peerlab.Scenario(jitter=0.05)) < 1
    assert forecast_s(HEAVY) > 10
    alone = peerlab.Scenario(nodes=512, slow_nodes={4: 0.8}, path="peer-direct")
    monkeypatch.setattr(refusals, "on_disk", lambda: True)
    assert 1 < forecast_s(alone) < 10
    monkeypatch.setattr(refusals, "on_disk", lambda: False)
    assert 10 < forecast_s(alone) < 60  # it is compiled first
    monkeypatch.setattr(refusals, "installed", lambda: False)
    assert 60 < forecast_s(alone) < 600
    assert "peerlab[compiled]" in offer(alone)
    assert offer(alone.with_(nodes=1024)) == ""  # too many spans to keep, with numba as without


def test_numba_is_offered_where_it_would_help_and_is_not_there(monkeypatch):
    ring = peerlab.Scenario(nodes=64, jitter=0.1, algorithm="hierarchical", path="host-rdma")
    monkeypatch.setattr(refusals, "installed", lambda: False)
    assert "peerlab[compiled]" in offer(ring)
    assert offer(HEAVY) == ""  # it is no ring
    assert offer(peerlab.Scenario()) == ""


def test_what_holds_a_lab_up_is_not_begun_where_its_keys_are_answered():
    assert large(HEAVY)
    assert not large(HEAVY.with_(nodes=2, message_bytes="1 MiB"))


def test_a_simulation_can_be_stopped_in_an_instant_in_which_thousands_of_slices_begin(monkeypatch):
    monkeypatch.setattr(event_loop, "_EVENTS", 64)
    heard = []

    def stop(done, total):
        heard.append((done, total))
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        peerlab.simulate(HEAVY, progress=stop)
    assert len(heard) == 1


def test_legs_with_factors_of_their_own_are_made_when_a_slice_needs_them():
    legs = least(HEAVY).legs(0, 0)
    assert (len(legs), len(legs._made)) == (1024, 1)
    assert legs[5] is legs[5]
    assert legs[5] != legs[6]
    assert len(legs._made) == 3
