"""The switch that is shown is that of the busiest NIC of the node."""

import pytest

import peerlab
from peerlab.picture.frames import registrations
from peerlab.picture.payload import payload
from peerlab.picture.shown_nodes import bottleneck_at, shown_switch


def views(run):
    return payload(run)["views"]


def edge_of_nic(boxes):
    """Return the edge of the left node's NIC."""
    sides = zip(*(boxes[side] for side in ("line", "left", "top", "right")), strict=True)
    (edge,) = [line for line, *at in sides if at == [276, 158, 390]]
    return edge


def test_the_busiest_nic_beside_a_lost_one_is_drawn_marked_and_has_its_lane():
    run = peerlab.simulate(
        peerlab.Scenario(cluster="p4d", nodes=4, path="peer-direct", slow_nics={(3, 2): 0})
    )
    assert shown_switch(run) == 3
    shown = views(run)
    scene, lanes = shown["scene"], shown["timeline"]["lanes"]
    assert {"A100 6", "A100 7", "NIC 3.3", "NIC 0.3"} <= set(scene["texts"]["text"])
    boxes = scene["boxes"]
    assert edge_of_nic(boxes) == "hot"
    assert [lane["label"] for lane in lanes if lane["hot"]] == ["NIC send"]
    assert [lane["label"] for lane in lanes].count("NIC send") == 1
    cards = {card["name"]: card for card in shown["headline"]["cards"]}
    assert cards["bottleneck"]["note"].endswith("% busy: NIC 3.2 lost")
    assert scene["table"]["title"] == "Registered (MR), NIC 3.3"
    assert set(registrations(run.trace, 3, 3).rows["device"].tolist()) == {6, 7}


def test_where_the_first_nic_is_about_as_busy_it_is_drawn():
    run = peerlab.simulate(peerlab.Scenario(cluster="p4d", nodes=4, path="peer-direct", slow_nodes={3: 0.5}))
    assert shown_switch(run) == 0
    assert {"A100 0", "NIC 3.0"} <= set(views(run)["scene"]["texts"]["text"])


@pytest.mark.parametrize("nodes", [4, 8])
def test_with_noise_the_nic_that_the_card_names_is_drawn_and_marked(nodes):
    run = peerlab.simulate(
        peerlab.Scenario(cluster="p4d", nodes=nodes, path="peer-direct", jitter=0.3, seed=1)
    )
    shown, hot = views(run), bottleneck_at(run)
    name = f"NIC {hot.node}.{hot.index}"
    note = next(card["note"] for card in shown["headline"]["cards"] if card["name"] == "bottleneck")
    assert note.endswith("% busy")  # the picture says where
    assert name in shown["scene"]["texts"]["text"]
    assert edge_of_nic(shown["scene"]["boxes"]) == "hot"
    assert shown["scene"]["table"]["title"] == f"Registered (MR), {name}"
    assert shown["timeline"]["title"] == f"node {hot.node}"


def test_a_colour_that_nothing_has_is_not_in_the_key():
    def key(**fields):
        return [
            role
            for role, _ in views(peerlab.simulate(peerlab.Scenario(nodes=4, path="peer-direct", **fields)))[
                "footer"
            ]["colours"]
        ]

    assert "register" not in key()
    assert "register" in key(registration="per-transfer")
