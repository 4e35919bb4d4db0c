"""A particle code at the end of strong scaling: what a staged copy's start makes of it, on every path."""

import pytest

import peerlab
from peerlab.errors import ScenarioError
from peerlab.study.halo import ParticleCode, halo_steps

JULIET = peerlab.load_cluster("juliet")


def gain(cluster, domains, **code):
    steps = {one.path: one for one in halo_steps(cluster, domains, ParticleCode(**code))}
    return steps["host-rdma"].step_s / steps["peer-direct"].step_s


@pytest.mark.parametrize(("domains", "started"), [(8, 1.39), (27, 1.66), (64, 1.81)])
def test_the_twofold_gain_is_that_of_copies_that_must_be_started(domains, started):
    """64,000 particles: with gdrcopy a few per cent; with 10 us before each of two copies nearly twice, at the end of strong scaling."""
    assert 1 < gain(JULIET, domains) < 1.05
    assert gain(JULIET.with_figure("device.copy_start", 10), domains) == pytest.approx(started, rel=0.05)


def test_every_path_of_a_cluster_is_told():
    assert [one.path for one in halo_steps("dl1", 8)] == list(peerlab.load_cluster("dl1").paths)


def test_one_domain_has_no_neighbour():
    with pytest.raises(ScenarioError, match="neighbours exchange from 2 on"):
        halo_steps("juliet", 1)


def test_a_copy_start_is_time_before_every_staged_copy_in_every_engine():
    scenario = peerlab.Scenario(
        cluster=JULIET,
        path="host-rdma",
        nodes=2,
        collective="point-to-point",
        message_bytes=4096,
        library="none",
    )
    slow = scenario.with_(cluster=JULIET.with_figure("device.copy_start", 10))
    more = peerlab.simulate(slow).time_ps - peerlab.simulate(scenario).time_ps
    assert more == 2 * 10_000_000
    ring = slow.with_(collective="allreduce", nodes=3, message_bytes="300 KB")
    assert len({peerlab.simulate(ring, engine=name).time_ps for name in ("referee", "loop", "auto")}) == 1
    direct = slow.with_(path="peer-direct")
    assert peerlab.simulate(direct).time_ps == peerlab.simulate(direct.with_(cluster="juliet")).time_ps
