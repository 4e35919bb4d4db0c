"""The headline's words."""

from html import unescape

import pytest

import peerlab
from peerlab.base.units import say_percent
from peerlab.picture.headline import cards
from peerlab.picture.registration_table import table
from peerlab.picture.words import caption, waits_for

DIRECT = {"path": "peer-direct", "registration": "per-transfer", "nodes": 3, "message_bytes": "1 MiB"}


@pytest.mark.parametrize(
    ("fields", "ends"),
    [
        ({"cluster": "dl1"}, ""),
        ({"cluster": "infiniband-hdr-a100"}, ", 2 NICs"),
        ({"cluster": "dl1", "slow_nodes": {1: 0.5}}, ", node 1"),
        ({"cluster": "infiniband-hdr-a100", "jitter": 0.1}, ", 2 NICs of node 0"),
        ({"cluster": "infiniband-hdr-a100", "collective": "point-to-point"}, ", node 0"),
    ],
)
def test_counts_say_whose_they_are_where_that_is_not_plain(fields, ends):
    run = peerlab.simulate(peerlab.Scenario(**DIRECT | fields))
    note = next(str(card["note"]) for card in cards(run) if card["name"] == "registration")
    assert note.endswith(f"s{ends}")
    assert note.startswith(f"{run.registration.misses} misses, ")
    assert str(table(run)["total"]).endswith(note)


def test_where_the_proxy_is_named_it_is_explained():
    asked = {"cluster": "p4d", "nodes": 2, "message_bytes": "64 MiB"}
    named, other = (
        peerlab.simulate(peerlab.Scenario(path=path, **asked)) for path in ("peer-direct", "host-rdma")
    )
    assert "with its proxy" in waits_for(named)
    card = next(card for card in cards(named) if card["name"] == "bottleneck")
    limits = named.bottleneck
    assert card["note"] == f"NIC or its proxy: {say_percent(limits.in_turns)} busy", "one figure"
    assert card["hint"].startswith(f"{say_percent(limits.share)} busy, alone. Proxy: ")
    for says in (caption(named), str(cards(named)), peerlab.race(other, named)._repr_html_()):
        assert "the library's thread that posts messages to a NIC" in unescape(says)
    assert "proxy" not in caption(other).lower()


def test_of_one_rank_the_headline_says_that_it_exchanges_nothing():
    alone = cards(peerlab.simulate(peerlab.Scenario(cluster="ideal-100g", nodes=1)))
    assert (alone[0]["name"], alone[0]["note"]) == ("busbw", "one rank exchanges nothing")


def test_a_wire_that_is_full_is_said_to_be_the_limit_and_no_other_bottleneck_is():
    """Orange and 92 % read like a fault of the way that is as fast as the wire."""

    def note(path):
        run = peerlab.simulate(peerlab.Scenario(path=path))
        return next(card["note"] for card in cards(run) if card["name"] == "bottleneck")

    assert note("peer-direct") == "92 % busy: the wire is the limit"
    assert note("host-rdma") == "95 % busy"
