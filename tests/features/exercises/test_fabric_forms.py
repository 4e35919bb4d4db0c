"""Fabrics by formula, against what was published or worked out by hand."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerlab.features.exercises.labs import fabric_forms as forms


def test_a_ring_and_a_reduction_in_the_switch():
    """8 nodes, 64 MiB, 100 Gb/s, 5 us: 9.465 ms as a ring, 5.379 ms in the switches, 1.76 times as fast."""
    ring, sharp = forms.ring(8, 5e-6, 2**26, 12.5e9), forms.sharp(5e-6, 2**26, 12.5e9)
    assert (ring * 1e3, sharp * 1e3) == (pytest.approx(9.46524096), pytest.approx(5.37870912))
    assert ring / sharp == pytest.approx(1.76, abs=0.005)
    assert forms.ring(8, 5e-6, 2**26, 12.5e9, 4096 / 4178) * 1e3 == pytest.approx(9.6533, rel=1e-4)


@pytest.mark.parametrize(("devices", "published"), [(5, 258), (6, 265), (7, 270), (8, 273)])
def test_nvlink_sharp_as_published_for_eight_h100(devices, published):
    """NVIDIA/nccl issue 1455; one rate meets all four points."""
    assert forms.nvlink_sharp_algbw(devices, 308.5) == pytest.approx(published, rel=0.005)


@pytest.mark.parametrize(
    ("wire", "per_message", "rate"), [(50, 0, 250e6), (106, 0, 117.92e6), (50, 1 / 215e6, 215e6), (106, 1 / 215e6, 117.92e6)]
)  # fmt: skip
def test_writes_of_eight_bytes_a_second(wire, per_message, rate):
    assert forms.message_rate(per_message, wire, 12.5e9) == pytest.approx(rate, rel=1e-4)


@pytest.mark.parametrize(
    ("flows", "paths", "most"), [(4, 2, 1.375), (4, 4, 2.125), (8, 4, 1.769), (8, 8, 2.597), (16, 16, 3.078)]
)
def test_flows_on_equal_paths(flows, paths, most):
    assert forms.most_loaded(flows, paths) == pytest.approx(most, abs=5e-4)


def test_four_flows_on_four_paths_seldom_miss_each_other():
    assert forms.no_collision(4, 4) == 0.09375
    assert forms.no_collision(8, 8) == pytest.approx(0.0024, abs=5e-5)


@given(st.integers(1, 5), st.integers(1, 5))
def test_all_ways_to_lie_on_paths_are_counted(flows, paths):
    ways = [max(map(way.count, way)) for way in product(range(paths), repeat=flows)]
    assert forms.most_loaded(flows, paths) == pytest.approx(sum(ways) / len(ways) / (flows / paths))
    assert forms.no_collision(flows, paths) == pytest.approx(ways.count(1) / len(ways))


def test_gpu_initiated_is_rate_and_not_latency():
    """A proxy 3.2 million a second and 16.0 us round trip, one CTA of the GPU 12.7 million and 24.3 us: 36 messages pay."""
    proxy, own = (16.0e-6, 1 / 3.2e6), (24.3e-6, 1 / 12.7e6)
    assert forms.initiated(*proxy, 1) < forms.initiated(*own, 1)
    pays = forms.messages_to_pay(*proxy, *own)
    assert pays == pytest.approx(36.5, abs=0.1)
    assert forms.initiated(*own, 37) < forms.initiated(*proxy, 37)
    for ctas, linear in ((1, 12.7 / 3.2), (8, 101.6 / 3.2)):
        put = (
            forms.message_rate(0, 1, float("inf"), per_thread, n)
            for per_thread, n in ((12.7e6, ctas), (3.2e6, 1))
        )
        one, other = put
        assert one / other == pytest.approx(linear)
    assert forms.messages_to_pay(*own, *proxy) == float("inf")


def test_straight_from_drives_is_slower_where_the_cpu_forwards_badly():
    """Xeon E5-2650 v4: 7.1 GB/s to the GPU, 9.4 to host memory (NVIDIA developer forum 55564)."""
    direct = forms.storage_direct(9.4, 7.1, 12)
    bounced = forms.storage_bounced(9.4, 24, 60, 12)
    assert (direct.rate, direct.limit) == (7.1, "peer writes")
    assert (bounced.rate, bounced.limit) == (9.4, "the drives")
    assert forms.storage_bounced(38, 28.2, 200, 23).limit == "the PCIe uplink"
    assert forms.storage_bounced(38, 28.2, 200, 23, shares_uplink=False).limit == "the copy"


def test_a_node_that_waits_draws_about_six_tenths():
    """Verified by MLCommons, Llama 2 70B LoRA: 1 node 29.10 min and 6.741 kW, 8 nodes 5.403 min and 5.847 kW each."""
    efficiency = 29.10 / 5.403 / 8
    waits = forms.waiting_power(6.741, 5.847, efficiency)
    assert efficiency == pytest.approx(0.673, abs=5e-4)
    assert waits == pytest.approx(4.01, abs=0.01)
    assert waits / 6.741 == pytest.approx(0.6, abs=0.01)
    with pytest.raises(ValueError, match="leaves no waiting"):
        forms.waiting_power(6.741, 5.847, 1)


def test_what_an_exposed_millisecond_costs_in_a_year():
    """1 ms of a step of 100 ms on 64 nodes of 4.01 kW at 0.12 a kWh."""
    drawn, price = forms.waiting_year(1e-3, 0.1, 64, 4010, 0.12)
    assert drawn == pytest.approx(0.01 * 64 * 4.01 * 8766)
    assert price == pytest.approx(drawn * 0.12)
    assert forms.waiting_year(1e-3, 0.1, 64, 4010, 0.12, used=0.5)[0] == pytest.approx(drawn / 2)
    assert forms.waiting_hours(1e-3, 0.1, 64, 13.10904) == pytest.approx(0.64 * 13.10904 * 8766)
