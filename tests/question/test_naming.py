"""What two scenarios are called beside each other: no difference is kept quiet."""

from dataclasses import fields

import pytest

from peerlab.question.naming import told_apart
from peerlab.question.scenario import Scenario

BASE = Scenario(path="peer-direct")


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"path": "host-rdma"}, ["Peer Direct", "RDMA through host"]),
        ({"slow_nodes": {0: 0.5}}, ["no slow node", "node 0 at 50 %"]),
        ({"jitter": 0.1, "nodes": 4}, ["8 nodes, jitter 0 %", "4 nodes, jitter 10 %"]),
        ({"slice_bytes": "1 MiB"}, ["slice auto", "slice 1 MiB"]),
        ({"cache_bytes": "1 GiB"}, ["cache not set", "cache 1 GiB"]),
        ({"prefetch": True}, ["without prefetch", "with prefetch"]),
    ],
)
def test_scenarios_are_named_by_what_tells_them_apart(change, names):
    assert told_apart([BASE, BASE.with_(**change)]) == names


def test_scenarios_that_are_alike_are_named_by_their_path():
    assert told_apart([BASE, BASE]) == ["Peer Direct", "Peer Direct"]


def test_every_field_has_a_word():
    changed = {
        "window": 3,
        "seed": 4,
        "iterations": 3,
        "buffers": 2,
        "page_bytes": "64 KiB",
        "envelope_bytes": 64,
    }
    assert set(changed) < {one.name for one in fields(Scenario)}
    for name, value in changed.items():
        one, other = told_apart([BASE, BASE.with_(**{name: value})])
        assert one != other, name
