"""The headline's words."""

import pytest

import peerlab
from peerlab.view.headline import cards
from peerlab.view.registration_table import table

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
