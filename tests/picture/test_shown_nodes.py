"""What is shown of runs in which nodes differ, and of partners that change from step to step."""

import itertools
import re

import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.places import folder
from peerlab.collectives.choose import plan
from peerlab.picture.frames import moves
from peerlab.picture.geometry import BOX_BOTTOM, NIC, NODE_WIDTH, SWITCH_BOTTOM, WIDTH, Geometry, ways
from peerlab.picture.payload import payload
from peerlab.picture.picture import Picture
from peerlab.picture.shown_nodes import BACK, NEXT, OWN, PREVIOUS, ShownNodes, focus, shares, shown_nodes
from peerlab.picture.timeline import lanes
from peerlab.question.presets import read_cluster

DL1 = (folder("data") / "hardware" / "dl1.toml").read_text()
PORTS = """[port]
rate = { value = 37.5, unit = "GB/s", basis = "per device", source = "a test" }
latency = { value = 1, unit = "us", basis = "per message", source = "a test" }

[limits]"""


def simulated(**fields):
    return peerlab.simulate(peerlab.Scenario(**{"message_bytes": "2 MiB", **fields}))


@pytest.fixture(scope="module")
def native():
    """A run over the devices' own ports."""
    text = (
        DL1.replace('"host-tcp"]', '"native"]').replace("native =", "host-tcp =").replace("[limits]", PORTS)
    )
    return simulated(cluster=read_cluster(text, "ports.toml"), path="native")


def test_the_slowest_node_is_shown_and_the_picture_says_so():
    run = simulated(library="none", path="peer-direct", slow_nodes={2: 0.8, 5: 0.5})
    assert focus(run) == 5
    parcel = payload(run)
    assert parcel["views"]["timeline"]["title"] == "node 5"
    assert "node 5 at 50 %, shown: node 5" in parcel["views"]["footer"]["simulated"][0]
    assert parcel["views"]["scene"]["sight"]["slow"] == {"2": "NICs at 80 %", "5": "NICs at 50 %"}
    assert (parcel["views"]["scene"]["sight"]["partner"], parcel["views"]["scene"]["sight"]["source"]) == (
        (6,),
        (4,),
    )
    texts = parcel["views"]["scene"]["texts"]["text"]
    assert "50 Gb/s" in texts
    assert "1 of 4 PCIe switches" in texts


def test_where_a_nic_is_lost_its_node_is_shown():
    run = peerlab.simulate(peerlab.Scenario(slow_nics={(3, 1): 0, (2, 0): 0.5}))
    assert focus(run) == 3
    slow = payload(run)["views"]["scene"]["sight"]["slow"]
    assert slow == {"3": "NIC\u00a03.1 lost", "2": "NIC\u00a02.0 at 50 %"}


@examples(part=3)  # each simulates every node
@given(
    nodes=st.sampled_from([2, 4, 8]),
    algorithm=st.sampled_from(["auto", "halving-doubling", "recursive-doubling", "pairwise", "binary-tree"]),
    path=st.sampled_from(["host-rdma", "peer-direct"]),
    seed=st.integers(0, 9),
)
def test_what_moves_at_a_neighbour_is_what_the_neighbour_recorded(nodes, algorithm, path, seed):
    run = simulated(nodes=nodes, algorithm=algorithm, path=path, jitter=0.3, seed=seed, slow_nodes={1: 0.5})
    seen, schedule = shown_nodes(run), plan(run.scenario).schedule
    frame = run.trace.frame()
    frame = frame[(frame["slice"] >= 0) & (frame["device"] // 2 == seen.switch)]
    frame["device"] -= 2 * seen.switch  # as they are numbered there
    keys = ("node", "device", "step", "slice", "stage", "start_ps")
    recorded = set(zip(*(frame[key] for key in keys), strict=True))
    rows = moves(run.trace, seen).rows
    assert set(rows["whose"].tolist()) <= {OWN, NEXT, PREVIOUS, BACK}
    names = run.trace.stages
    for whose, device, step, piece, stage, start in zip(
        *(rows[name].tolist() for name in ("whose", "device", "step", "slice", "stage", "start")), strict=True
    ):
        at = min(step, len(seen.partner) - 1)
        node = {OWN: 1, NEXT: seen.partner[at], BACK: seen.partner[at], PREVIOUS: seen.source[at]}[whose]
        goes_to = schedule.to(node, step)
        assert (goes_to == 1) == (whose in (PREVIOUS, BACK))
        assert (node, device, step, piece, names[stage], start) in recorded
    own = frame[(frame["node"] == 1) & frame["stage"].isin(("network", "direct"))]
    sent = {(d, s, p) for d, s, p in zip(own["device"], own["step"], own["slice"], strict=True)}
    stages = [names[stage] for stage in rows["stage"].tolist()]
    drawn = {
        (d, s, p)
        for whose, d, s, p, stage in zip(
            *(rows[name].tolist() for name in ("whose", "device", "step", "slice")), stages, strict=True
        )
        if whose == OWN and stage in ("network", "direct")
    }
    assert drawn == sent


def test_a_folded_exchange_shows_that_the_partner_sends_back():
    run = simulated(path="peer-direct", algorithm="halving-doubling", message_bytes="64 MiB")
    seen = shown_nodes(run)
    assert run.trace.folded
    assert seen.partner == (1, 2, 4, 4, 2, 1)
    assert set(seen.source) == set(seen.beyond) == {-1}
    assert set(moves(run.trace, seen).rows["whose"].tolist()) == {OWN | BACK}


def test_a_ring_shows_the_same_two_nodes_all_the_time():
    assert shown_nodes(simulated(library="none", nodes=8)) == ShownNodes(
        0, (1,), (7,), (2,), (True,), (False,), whole=False
    )
    assert shown_nodes(simulated(nodes=2)) == ShownNodes(0, (1,), (-1,), (-1,), (True,), (True,), whole=False)


def test_the_busy_shares_of_a_slow_node_are_its_own():
    run = simulated(path="peer-direct", slow_nodes={3: 0.25}, message_bytes="64 MiB")
    assert shares(run, 3)["nic_tx"] == pytest.approx(run.busy["nic_tx"])
    assert shares(run, 0)["nic_tx"] < 0.5 * shares(run, 3)["nic_tx"]


def test_only_the_first_switch_of_the_shown_node_has_lanes():
    run = simulated(jitter=0.1)
    for lane in lanes(run):
        resources = [run.trace.resources[i] for i in lane.resources]
        assert {one.node for one in resources} <= {0}
        assert len(resources) <= 2, lane.label


def test_slices_that_leave_by_the_devices_own_ports_touch_neither_switch_nor_nic(native):
    geometry = Geometry(native.scenario.hardware, native=True)
    for device in (0, 1):
        for way in ways(geometry, "port to port", device):
            for (x, y), (to_x, to_y) in itertools.pairwise(way):
                assert min(y, to_y) > SWITCH_BOTTOM
                through_nic = min(y, to_y) < BOX_BOTTOM and not (
                    max(x, to_x) < NIC[0] or min(x, to_x) > WIDTH - NIC[0]
                )
                assert not through_nic


def test_the_picture_of_own_ports_names_them_and_shows_the_nic_as_unused(native):
    parcel = payload(native)
    texts = parcel["views"]["scene"]["texts"]["text"]
    assert "ports, 37.5 GB/s a device" in texts
    assert "1 µs latency" in texts
    assert texts.count("not used") == 2
    labels = {lane["label"]: lane["used"] for lane in parcel["views"]["timeline"]["lanes"]}
    assert labels["port send"]
    assert not labels["NIC send"]
    assert native.wire_busy == native.busy["port_tx"] > 0
    assert native.wire_limit_GBps == pytest.approx(8 * 37.5 * (63 / 64) / (7 / 8))


def _of_nodes(run):
    """Return the words in the first and in the second node's half of a data path."""
    texts = Picture(run).drawing.texts
    words = list(zip(texts["x"], texts["text"], strict=True))
    return [text for x, text in words if x < NODE_WIDTH], [
        text for x, text in words if x > WIDTH - NODE_WIDTH
    ]


@pytest.mark.parametrize("path", ["host-rdma", "host-tcp", "peer-direct"])
@pytest.mark.parametrize("cluster", ["dl1", "p4d"])
def test_the_second_of_two_nodes_that_are_alike_repeats_no_figure(cluster, path):
    """Through the host "95 % busy" stood at both nodes and in the headline, and every rate twice."""
    first, second = _of_nodes(simulated(cluster=cluster, nodes=4, path=path))
    figure = re.compile(r"\d (GB/s|Gb/s|%|of \d)|^idle$")
    assert [text for text in second if figure.search(text)] == []
    assert len([text for text in first if figure.search(text)]) >= 3
    uplink = "PCIe uplink" if "PCIe uplink" in first else "PCIe to host"
    assert {"Host memory", uplink} <= set(second), "names stay"


def test_what_differs_at_the_second_node_is_said_there():
    first, second = _of_nodes(
        simulated(nodes=4, path="peer-direct", algorithm="hierarchical", slow_nodes={0: 0.5})
    )
    assert "50 Gb/s" in first
    assert "100 Gb/s" in second
    assert "14.1 GB/s each way" not in second
