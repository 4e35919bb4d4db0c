"""What an author leaves open becomes controls; what cannot be is refused in words."""

import pytest

import peerlab
from peerlab.base.errors import ExportError
from peerlab.features.export.choices import choices, start_of, states


def asked(controls, **fields):
    scenario = peerlab.Scenario(**fields)
    return scenario, choices(scenario, controls)


def test_by_default_the_switches_that_the_cluster_has_and_nodes():
    _, found = asked(None)
    assert [(one.label, one.kind, one.values) for one in found] == [
        ("Host bottleneck", "switch", ("host-rdma", "peer-direct")),
        ("Registration cache", "switch", ("cached", "per-transfer")),
        ("Nodes", "range", (2, 4, 8, 16, 32, 64)),
    ]
    assert [one.field for one in asked(None, cluster="ideal-100g")[1]] == ["nodes"]
    assert [one.field for one in asked(None, cluster="ideal-100g-staged")[1]] == ["nodes"]
    assert [one.field for one in asked(None, cluster="ideal-100g", collective="point-to-point")[1]] == [
        "message_bytes"
    ]
    assert asked(None, nodes=12, path="host-tcp")[1][0].values == ("host-tcp", "peer-direct")
    assert 12 in asked(None, nodes=12)[1][2].values
    scenario, found = asked(None, nodes=16, slow_nodes={3: 0.5})
    assert found[-1].values == (4, 8, 16, 32, 64)  # a node 3 there must be
    assert states(scenario, found)


def test_values_are_read_as_a_scenario_reads_them():
    _, (nodes, message) = asked("nodes=2:64,message=1MiB:64 MiB:1000")
    assert nodes.values == (2, 4, 8, 16, 32, 64)
    assert message.values == (1000, 2**20, 2**26)
    assert message.page()["words"] == ["1kB", "1MiB", "64MiB"]
    assert message.page()["names"] == ["1000 B", "1 MiB", "64 MiB"]
    assert asked({"nodes": [8, 2], "window": [1, 4]})[1][0].values == (2, 8)
    assert asked("")[1] == ()
    assert asked("nodes=2:2")[1][0].values == (2,)
    assert asked("jitter=0:0.1")[1][0].values == (0, 0.1)


def test_every_combination_is_a_state_and_the_last_control_varies_fastest():
    scenario, controls = asked("host,cache,nodes=2:8")
    found = states(scenario, controls)
    assert len(found) == 2 * 2 * 3
    assert [s.nodes for s in found[:3]] == [2, 4, 8]
    assert {s.registration for s in found[:6]} == {"cached"}  # on host paths the cache rests
    assert [s.registration for s in found[6:]] == ["cached"] * 3 + ["per-transfer"] * 3


def test_a_page_begins_with_the_scenario_or_where_it_is_told():
    scenario, controls = asked("host,nodes=2:8", path="peer-direct", nodes=4)
    assert start_of(scenario, controls, None) == [1, 1]
    assert start_of(scenario, controls, {"path": "host-rdma", "nodes": "8"}) == [0, 2]


WRONG = [
    ("nodez", {}, "unknown control 'nodez'; did you mean 'nodes'"),
    ("nodes=", {}, "nodes= has no value"),
    ("nodes=0:4", {}, "nodes: 0 is out of range"),
    ("nodes=2:²", {}, "nodes: '²' is not a whole number"),
    ("nodes=" + 5000 * "9", {}, "nodes: inf is not a whole number"),
    ("=3", {}, "'=3' names no field"),
    ("message=4 MB/s", {}, "'4 MB/s' is a rate"),
    ({"nodes": 3}, {}, "nodes has a list of values, not 3"),
    ("nodes,nodes=2:4", {}, "nodes is asked for twice"),
    ("window", {}, "window needs values here"),
    ("host", {"cluster": "ideal-100g"}, "nothing for host to switch"),
    ("cache", {"path": "host-rdma"}, "makes no difference on host-rdma"),
]


@pytest.mark.parametrize(("controls", "fields", "says"), WRONG)
def test_what_cannot_be_a_control_is_refused_in_one_line(controls, fields, says):
    with pytest.raises(ExportError) as refused:
        asked(controls, **fields)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_impossible_combination_is_named():
    scenario, controls = asked({"nodes": [2, 8], "slow_nodes": [None, {4: 0.5}]})
    with pytest.raises(ExportError, match=r"nodes=2, slow_nodes=.* is impossible \(slow_nodes: "):
        states(scenario, controls)


@pytest.mark.parametrize(
    ("start", "says"),
    [({"nodes": 5}, "nodes=5 is not among its values: 2, 4, 8"), ({"pat": 1}, "'pat' is no control")],
)
def test_a_start_that_there_is_not_is_refused(start, says):
    scenario, controls = asked("nodes=2:8")
    with pytest.raises(ExportError, match=says):
        start_of(scenario, controls, start)
