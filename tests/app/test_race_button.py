"""The Race button: what is shown against what it is compared with."""

import re
from html import unescape

import peerlab


def opened(**fields):
    explorer = peerlab.explore(path="host-rdma", **fields)
    explorer.controls.racing.toggle.value = True
    return explorer


def shown(explorer):
    return explorer.controls.racing.frame.value


def when(explorer):
    return re.findall(r'"when": "(\w*)"', unescape(shown(explorer)))


def test_the_button_races_both_sides_of_the_host_switch_and_follows_what_is_shown():
    explorer = opened()
    assert "RDMA through host takes 4.38 ms" in shown(explorer)
    assert "Peer Direct takes 2.54 ms" in shown(explorer)
    assert "pl-both-sides" in explorer.controls.racing.panel._dom_classes  # so the switch rests
    assert when(explorer) == ["", ""]
    explorer.controls.nodes.value = 16  # from now on there is something before
    assert when(explorer) == ["before", "now"]
    assert "16 nodes" in shown(explorer)
    assert "8 nodes" in shown(explorer)
    assert "pl-both-sides" not in explorer.controls.racing.panel._dom_classes
    explorer.close()


def test_a_closed_panel_plays_nothing():
    explorer = opened()
    explorer.controls.racing.toggle.value = False
    assert shown(explorer) == ""
    explorer.controls.nodes.value = 16
    assert shown(explorer) == ""
    explorer.close()


def test_what_cannot_race_is_said_in_words():
    alone = peerlab.explore(cluster="ideal-100g")
    alone.controls.racing.toggle.value = True
    assert "Ideal 100G crossbar has nothing to race against: switch something, then race" in shown(alone)
    one = opened(nodes=1)
    assert "a race needs 2 nodes or more" in shown(one)
    for explorer in (alone, one):
        explorer.close()
