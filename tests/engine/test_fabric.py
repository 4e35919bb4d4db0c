"""Contended fabrics: max-min fair rates, and what they do to a ring."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.engine.fabric import max_min

LEAFSPINE = "ideal-100g-leafspine-2to1"


@st.composite
def flows(draw):
    links = draw(st.integers(1, 6))
    route = st.lists(st.integers(0, links - 1), min_size=1, max_size=4, unique=True).map(tuple)
    capacities = {link: draw(st.sampled_from([1.0, 2.0, 5.0, 12.5])) for link in range(links)}
    return draw(st.lists(route, min_size=1, max_size=12)), capacities


@given(flows())
def test_no_link_carries_more_than_it_can_and_every_flow_meets_a_full_link_on_which_none_is_faster(given_):
    routes, capacities = given_
    rates = max_min(routes, capacities, {})
    load = {
        link: sum(r for r, route in zip(rates, routes, strict=True) if link in route) for link in capacities
    }
    assert all(load[link] <= capacities[link] * (1 + 1e-9) for link in capacities)
    for rate, route in zip(rates, routes, strict=True):
        assert rate > 0
        assert any(
            load[link] == pytest.approx(capacities[link])
            and all(r <= rate * (1 + 1e-9) for r, other in zip(rates, routes, strict=True) if link in other)
            for link in route
        )


@given(flows(), st.integers(2, 5))
def test_a_flow_that_stands_for_several_gets_what_each_of_them_would(given_, copies):
    routes, capacities = given_
    shared = dict.fromkeys(capacities, copies)
    assert max_min(routes * copies, capacities, {})[: len(routes)] == max_min(routes, capacities, shared)


def ring(**fields):
    return peerlab.simulate(peerlab.Scenario(message_bytes="16 MiB", **fields))


def test_in_order_a_leaf_spine_is_as_good_as_a_crossbar_and_dealt_out_it_is_not():
    crossbar = ring(cluster="ideal-100g", nodes=16)
    in_order = ring(cluster=LEAFSPINE, nodes=16)
    dealt = ring(cluster=LEAFSPINE, nodes=16, placement=tuple(r // 2 + 8 * (r % 2) for r in range(16)))
    assert in_order.time_ps == crossbar.time_ps
    assert dealt.time_s == pytest.approx(30 * (16 * 2**20 / 16 / 6.25e9 + 5e-6), rel=1e-9)
    assert dealt.bottleneck.kind in ("leaf_up", "leaf_down")


def test_all_nodes_share_a_backbone():
    run = ring(cluster="ideal-100g-backbone", nodes=4)
    assert run.time_s == pytest.approx(6 * (4 * 4 * 2**20 / 12.5e9 + 5e-6), rel=1e-9)
    assert run.bottleneck.kind == "backbone"
    assert run.wire_busy == pytest.approx(0.25, rel=0.01)


def test_a_slow_node_slows_its_neighbours_down_too():
    straight, slow = (
        ring(cluster="ideal-100g", nodes=8),
        ring(cluster="ideal-100g", nodes=8, slow_nodes={4: 0.5}),
    )
    assert slow.time_s == pytest.approx(14 * (2 * 2**21 / 12.5e9 + 5e-6), rel=1e-2)
    assert slow.time_ps > 1.9 * straight.time_ps
