"""What the model must agree with: closed forms, other simulators, published ratios. No bound is loosened to pass."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.units import GIB, KIB, MIB, PS_PER_S, service_ps

ENVELOPE = 16
"""Bytes that SimGrid's MPI adds to every message."""


def ideal(nodes, message_bytes, **more):
    return peerlab.simulate(
        peerlab.Scenario(
            cluster="ideal-100g",
            path="wire",
            algorithm="ring",
            nodes=nodes,
            message_bytes=message_bytes,
            slice_bytes=None,
            **more,
        )
    )


def test_the_ring_on_an_ideal_fabric_takes_what_the_formula_says():
    assert ideal(8, 16 * MIB).time_s == pytest.approx(2.41881e-3, rel=1e-6)


@given(
    nodes=st.integers(1, 64),
    message_bytes=st.integers(1, 2**32),
    dependency=st.sampled_from(["slice", "step"]),
)
def test_a_ring_of_whole_chunks_is_exact_to_one_rounding_per_step(nodes, message_bytes, dependency):
    steps = 2 * (nodes - 1)
    chunk = -(-message_bytes // nodes)  # the last chunk is padded
    run = ideal(nodes, message_bytes, dependency=dependency)
    assert run.time_ps == steps * (5_000_000 + service_ps(chunk, 12_500_000_000))
    formula_ps = steps * (5e6 + message_bytes / nodes / 12.5e9 * PS_PER_S)
    one_byte_and_one_picosecond = PS_PER_S / 12.5e9 + 1
    assert abs(run.time_ps - formula_ps) <= steps * one_byte_and_one_picosecond + formula_ps * 1e-15


@pytest.mark.parametrize(
    ("nodes", "seconds"),
    # SimGrid 4.1, SMPI, algorithm "lr", model CM02, 12.5 GB/s, 5 us, 16 MiB; 16 bytes of envelope per message
    [(2, 0.00135217984), (8, 0.00241882816)],
)
def test_the_ring_agrees_with_simgrid(nodes, seconds):
    assert ideal(nodes, 16 * MIB + ENVELOPE * nodes).time_s == pytest.approx(seconds, rel=1e-6)


@pytest.mark.parametrize(
    ("nodes", "seconds"),
    # LogGOPSim 76451de: counts one byte less per message, in units of 10 ps
    [(2, 0.00135217712), (8, 0.00241880912), (64, 0.00327240144), (1024, 0.01291156944)],
)
def test_the_ring_agrees_with_loggopsim(nodes, seconds):
    assert ideal(nodes, 16 * MIB).time_s == pytest.approx(seconds, rel=2e-5)


def test_every_ring_on_a_crossbar_in_the_reference_file_agrees(reference_dir):
    rows = list(csv.DictReader((reference_dir / "reference" / "collectives.csv").open()))
    checked = 0
    for row in rows:
        if row["case"] != "crossbar" or row["algorithm"] != "ring":
            continue
        nodes, size, simgrid = int(row["n"]), int(row["bytes"]), row["simulator"] == "simgrid-smpi"
        run = ideal(nodes, size + (ENVELOPE * nodes if simgrid else 0))
        assert run.time_s == pytest.approx(float(row["sim_time_s"]), rel=1e-6 if simgrid else 2e-5), row
        checked += 1
    assert checked >= 8


@pytest.mark.parametrize("slices", [2, 5, 64])
def test_a_staged_pipeline_takes_all_stages_once_and_the_slowest_for_every_further_slice(slices):
    dl1 = peerlab.load_cluster("dl1")
    size = 256 * KIB
    run = peerlab.simulate(
        peerlab.Scenario(
            collective="point-to-point",
            nodes=2,
            path="host-rdma",
            message_bytes=slices * size,
            slice_bytes=size,
        )
    )
    copy = service_ps(size, dl1.uplink_Bps)  # as fast as the copy engine; DRAM is ten times faster
    network = service_ps(size, dl1.nic_Bps)
    assert run.time_ps == 2 * copy + network + dl1.latency_ps + (slices - 1) * max(copy, network)


CELLS = [(size, nodes) for size in (64 * MIB, 256 * MIB, GIB) for nodes in (2, 4, 8)]


def time_of(path, registration="cached", cluster="dl1", **more):
    return peerlab.simulate(
        peerlab.Scenario(cluster=cluster, path=path, registration=registration, **more)
    ).time_s


@pytest.mark.parametrize(("size", "nodes"), CELLS)
def test_on_dl1_the_detour_costs_what_the_article_measured(size, nodes):
    ratio = time_of("host-rdma", nodes=nodes, message_bytes=size) / time_of(
        "peer-direct", nodes=nodes, message_bytes=size
    )
    assert 1.6 <= ratio <= 2.0


@pytest.mark.parametrize(("size", "nodes"), CELLS)
def test_without_a_registration_cache_peer_direct_is_no_better_than_the_detour(size, nodes):
    ratio = time_of("host-rdma", nodes=nodes, message_bytes=size) / time_of(
        "peer-direct", "per-transfer", nodes=nodes, message_bytes=size
    )
    assert 0.6 <= ratio <= 0.95


@pytest.mark.parametrize(("size", "nodes"), CELLS)
def test_a_cache_that_is_large_enough_restores_it_from_the_second_iteration_on(size, nodes):
    cached = peerlab.simulate(
        peerlab.Scenario(
            path="peer-direct", registration="cached", nodes=nodes, message_bytes=size, iterations=3
        )
    )
    free = time_of("peer-direct", "pool", nodes=nodes, message_bytes=size)
    cold, *warm = cached.iterations
    assert cold.registration.misses > 0
    for iteration in warm:
        assert iteration.registration.misses == 0
        assert free / iteration.time_s >= 0.98


def test_with_the_cost_seen_on_efa_for_device_memory_registration_buries_the_gain():
    slow = peerlab.load_cluster("dl1").with_figure("registration.base", 2200)
    for nodes in (2, 8):
        ratio = time_of("host-rdma", cluster=slow, nodes=nodes, message_bytes="64 MiB") / time_of(
            "peer-direct", "per-transfer", cluster=slow, nodes=nodes, message_bytes="64 MiB"
        )
        assert ratio < 0.5


def test_the_ratio_follows_the_uplink_as_the_topology_says():
    """Staging crosses the uplink twice per direction, so its payload is half of the uplink until the NIC is slower."""
    dl1 = peerlab.load_cluster("dl1")
    direct = time_of("peer-direct", nodes=8, message_bytes="1 GiB")
    previous = float("inf")
    for uplink in (10.0, 12.0, 14.1, 18.0, 22.0):
        narrow = dl1.with_figure("switch.uplink", uplink)
        ratio = time_of("host-rdma", cluster=narrow, nodes=8, message_bytes="1 GiB") / direct
        assert ratio == pytest.approx(12.5 / (uplink / 2), rel=0.03)
        assert ratio < previous
        previous = ratio
    wide = dl1.with_figure("switch.uplink", 56.4)
    assert time_of("host-rdma", cluster=wide, nodes=8, message_bytes="1 GiB") / direct < 1.02


def test_the_detour_is_the_uplink_and_its_copies_are_counted():
    staged = peerlab.simulate(peerlab.Scenario(path="host-rdma"))
    direct = peerlab.simulate(peerlab.Scenario(path="peer-direct"))
    tcp = peerlab.simulate(peerlab.Scenario(path="host-tcp"))
    assert staged.bottleneck.kind in ("uplink_up", "uplink_down")
    assert direct.bottleneck.kind in ("nic_tx", "nic_rx")
    assert tcp.bottleneck.kind == "core"
    assert (staged.copies_per_byte, staged.dram_bytes_per_byte) == (2, 4)
    assert (direct.copies_per_byte, direct.dram_bytes_per_byte) == (0, 0)
    assert (tcp.copies_per_byte, tcp.dram_bytes_per_byte) == (4, 8)
    assert direct.busy.get("dram", 0) == direct.busy.get("uplink_up", 0) == 0
    assert 7 < tcp.cores_busy <= 8


@pytest.mark.parametrize("size", ["1 MiB", "16 MiB"])
def test_buffers_beyond_the_capacity_thrash_an_lru_cache(size):
    """Point to point, one at a time, over more buffers than fit: the next one needed was always just evicted."""
    question = peerlab.Scenario(
        collective="point-to-point", nodes=2, path="peer-direct", message_bytes=size, buffers=5, iterations=20
    )
    lru = peerlab.simulate(question.with_(registration="cached", cache_regions=4))
    none = peerlab.simulate(question.with_(registration="per-transfer"))
    fits = peerlab.simulate(question.with_(registration="cached", cache_regions=5))
    assert sum(one.registration.hits for one in lru.iterations) == 0
    total = [sum(one.time_s for one in run.iterations[5:]) for run in (lru, none, fits)]
    assert total[0] == pytest.approx(total[1], rel=0.05)
    assert total[2] < total[1]


@pytest.mark.parametrize(("nodes", "limit"), [(2, 93.75), (8, 56.25)])
def test_busbw_of_a_saturated_dl1_exceeds_its_nics_and_depends_on_the_nodes(nodes, limit):
    run = peerlab.simulate(peerlab.Scenario(path="peer-direct", nodes=nodes, message_bytes="1 GiB"))
    assert run.wire_limit_GBps == pytest.approx(limit)
    assert run.busbw_GBps < limit
    assert run.busbw_GBps / limit == pytest.approx(run.wire_busy, rel=0.02)


def test_one_rank_exchanges_nothing():
    run = ideal(1, 16 * MIB)
    assert run.time_s == 0
    assert run.bottleneck is None
    assert "no time passes" in repr(run)


@given(
    nodes=st.integers(1, 64),
    message_bytes=st.integers(1, 2**32),
    half=st.sampled_from(["allgather", "reduce-scatter"]),
)
def test_each_half_of_a_ring_takes_half_of_its_time(nodes, message_bytes, half):
    one = ideal(nodes, message_bytes, collective=half)
    assert 2 * one.time_ps == ideal(nodes, message_bytes).time_ps
    assert one.algbw_GBps * (nodes - 1) / nodes == pytest.approx(one.busbw_GBps, nan_ok=True) or nodes == 1


@pytest.mark.parametrize("half", ["allgather", "reduce-scatter"])
@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_the_detour_costs_each_half_what_it_costs_the_whole(half, nodes):
    """MODEL: the uplink carries everything twice per direction, whatever is summed or gathered."""
    times = [
        peerlab.simulate(
            peerlab.Scenario(nodes=nodes, path=path, collective=half, message_bytes="256 MiB")
        ).time_ps
        for path in ("host-rdma", "peer-direct")
    ]
    assert 1.55 <= times[0] / times[1] <= 2.0
