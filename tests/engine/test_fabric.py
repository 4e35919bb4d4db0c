"""Contended fabrics: max-min fair rates, what they do to a ring, and a fabric that is known to this test alone."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.engine.max_min import max_min
from peerlab.model import fabrics
from peerlab.model.fabrics import Fabric, SharedLink
from peerlab.model.resources import RESOURCES
from peerlab.picture.payload import payload

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


@dataclass(frozen=True)
class TwoPods(Fabric):
    """Two pods of four hosts with one link between them, for both directions together: 18.75 GB/s."""

    name = "two-pods"
    figures = ()
    uniform = False
    hosts_per_leaf = 4

    @classmethod
    def is_in(cls, cluster):
        return cluster.name == cls.name

    def links(self, source, destination):
        return () if source // 4 == destination // 4 else self.links_at(source)

    def links_at(self, host):  # noqa: ARG002
        return (SharedLink("between_pods", 0, 18_750_000_000),)


@pytest.fixture
def two_pods(monkeypatch):
    """Peerlab with one more fabric: a line in the registry, and a record of its link."""
    monkeypatch.setattr(fabrics, "FABRICS", (*fabrics.FABRICS, TwoPods))
    link = replace(RESOURCES["backbone"], label="link between the pods", rate="")
    monkeypatch.setitem(RESOURCES, "between_pods", link)

    def asked(cluster, **fields):
        there = replace(peerlab.load_cluster(cluster), name="two-pods")
        return peerlab.Scenario(cluster=there, **fields)

    return asked


def spans(run):
    recording, resources = run.recording.unrolled, run.trace.resources
    names = [name for name in recording if name != "resource"]
    kinds = [(resources[i].kind, resources[i].index) for i in recording["resource"].tolist()]
    return sorted(zip(kinds, *(recording[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize(
    ("cluster", "fields"),
    [
        ("ideal-100g", {"nodes": 8, "message_bytes": "16 MiB"}),
        ("ideal-100g", {"nodes": 8, "message_bytes": "1 MiB", "dependency": "slice", "placement": "strided"}),
        ("ideal-100g", {"nodes": 8, "message_bytes": "1 MiB", "algorithm": "binary-tree", "jitter": 0.1}),
        ("dl1", {"nodes": 3, "message_bytes": "2 MiB", "placement": (3, 4, 1)}),
    ],
)
def test_a_fabric_of_a_test_runs_in_the_loop_as_in_the_referee(two_pods, cluster, fields):
    asked = two_pods(cluster, **fields)
    referee = peerlab.simulate(asked, engine="referee", every_node=True)
    assert peerlab.simulate(asked).time_ps == referee.time_ps
    assert spans(peerlab.simulate(asked, engine="loop", every_node=True)) == spans(referee)
    assert any(kind == ("between_pods", 0) for kind, *_ in spans(referee))


def test_what_shares_the_link_between_the_pods_goes_at_its_share_of_it(two_pods):
    base = two_pods("ideal-100g", nodes=8, message_bytes="16 MiB")
    in_order, dealt = (peerlab.simulate(base.with_(placement=name)) for name in ("contiguous", "strided"))
    # in order two transfers cross at a time, from node 3 to 4 and from 7 to 0; dealt out all eight
    assert in_order.time_s == pytest.approx(14 * (2 * 2**20 / (18.75e9 / 2) + 5e-6), rel=1e-6)
    assert dealt.time_s == pytest.approx(14 * (2 * 2**20 / (18.75e9 / 8) + 5e-6), rel=1e-6)
    assert dealt.bottleneck.label == "link between the pods"


def test_the_page_shows_the_link_of_a_fabric_of_a_test(two_pods):
    run = peerlab.simulate(two_pods("ideal-100g", nodes=8, message_bytes="1 MiB", placement="strided"))
    lanes = {lane["label"]: lane for lane in payload(run)["views"]["timeline"]["lanes"]}
    assert lanes["link between the pods"]["hot"]
    assert lanes["link between the pods"]["used"]
