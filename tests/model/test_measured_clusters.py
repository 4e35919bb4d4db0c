"""The clusters that logs of real machines validate."""

import pytest

import peerlab

MEASURED = ("juliet", "alps-gh200", "alps-gh200-tcp", "p5", "g4dn-metal", "gaudi2")


@pytest.mark.parametrize("name", [*MEASURED, "ideal-100g-staged", "ideal-100g-staged-shared"])
def test_every_path_of_a_cluster_can_be_simulated(name):
    cluster = peerlab.load_cluster(name)
    for path in cluster.paths:
        for nodes in (1, 2, 3):
            run = peerlab.simulate(
                peerlab.Scenario(cluster=name, path=path, nodes=nodes, message_bytes="4 MiB")
            )
            assert run.time_s > 0 or run.scenario.ranks == 1


def test_a_collective_meets_what_the_library_gets_of_the_nic():
    small, large = (
        peerlab.Scenario(cluster="p4d", nodes=2, path="peer-direct", message_bytes=size)
        for size in (8, "1 GiB")
    )
    assert large.choice.course.protocol == "Simple"
    for one in (small, large):
        assert one.cluster_for_message.nic_Bps == one.choice.nic_Bps <= one.hardware.nic_Bps
        assert one.cluster_for_message.latency_ps == one.choice.hop_ps > one.hardware.latency_ps


def test_point_to_point_meets_the_bare_nic_whatever_its_size():
    for size in ("1 KiB", "256 MiB"):
        scenario = peerlab.Scenario(
            cluster="alps-gh200", collective="point-to-point", nodes=2, message_bytes=size
        )
        assert (scenario.cluster_for_message.nic_Bps, scenario.cluster_for_message.latency_ps) == (
            24 * 10**9,
            3_340_000,
        )


@pytest.mark.parametrize(("size", "log_us"), [(8, 69.1), (64, 65.5), ("8 MiB", 204.8), ("16 GiB", 66132)])
def test_small_and_large_collectives_of_p5_are_both_near_the_log(size, log_us):
    asked = {"cluster": "p5", "nodes": 2, "registration": "pool"}
    run = peerlab.simulate(peerlab.Scenario(message_bytes=size, **asked))
    assert run.time_s * 1e6 == pytest.approx(log_us, rel=0.2)


def test_a_cluster_says_what_it_was_fitted_on_and_keeps_it_in_a_what_if():
    alps = peerlab.load_cluster("alps-gh200")
    assert alps.fitted_on == "osu_bw of 4 MiB between 2 nodes"
    assert alps.with_figure("nic.rate", 23).fitted_on == alps.fitted_on
    assert peerlab.load_cluster("dl1").fitted_on == ""


def test_every_cluster_with_fitted_figures_says_on_what():
    for name in peerlab.known_clusters():
        cluster = peerlab.load_cluster(name)
        fitted = any("fitted on" in figure.assumption for figure in cluster.assumptions)
        assert bool(cluster.fitted_on) == fitted, name


def test_pageable_staging_keeps_the_core_that_sends_busy_and_pinned_does_not():
    """The core that copies cannot send meanwhile: 1 / (1/3.12 + 1/4.27) = 1.80 GB/s."""
    asked = {"collective": "point-to-point", "nodes": 2, "path": "host-tcp", "message_bytes": "256 MiB"}
    pageable = peerlab.simulate(peerlab.Scenario(cluster="alps-gh200", **asked))
    host = peerlab.simulate(peerlab.Scenario(cluster="alps-gh200", memory="host", **asked))
    pinned = peerlab.simulate(peerlab.Scenario(cluster="alps-gh200-tcp", **asked))
    assert pageable.algbw_GBps < 1.82
    assert 3 < host.algbw_GBps < 3.13
    assert pinned.algbw_GBps == pytest.approx(host.algbw_GBps, rel=0.02)


def test_without_the_copy_through_the_librarys_own_buffers_topology_alone_gives_twice_as_much():
    """g4dn.metal: 7.05 GB/s through the uplink, 3.12 measured."""
    fast = peerlab.load_cluster("g4dn-metal").with_figure("host.bounce_copy", 1000)
    run = peerlab.simulate(peerlab.Scenario(cluster=fast, nodes=2, message_bytes="1 GiB"))
    assert run.algbw_GBps == pytest.approx(7.05, rel=0.02)
