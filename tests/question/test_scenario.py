import copy
import pickle

import numpy as np
import pytest

import peerlab
from peerlab.base.errors import PeerlabError, ScenarioError


def refused(**fields):
    with pytest.raises(PeerlabError) as caught:
        peerlab.Scenario(**fields)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_text_sizes_become_bytes():
    s = peerlab.Scenario(message_bytes="64 MiB", slice_bytes="1 MiB", memlock_bytes="8 MiB")
    assert (s.message_bytes, s.slice_bytes, s.memlock_bytes) == (64 * 2**20, 2**20, 8 * 2**20)


def test_with_changes_one_field_and_checks_it():
    s = peerlab.Scenario(nodes=8)
    assert s.with_(nodes=16).nodes == 16
    assert s.nodes == 8
    with pytest.raises(ScenarioError, match="nodes: 0 is out of range"):
        s.with_(nodes=0)
    with pytest.raises(ScenarioError, match="node: unknown field; did you mean 'nodes'"):
        s.with_(node=3)


def test_a_scenario_is_frozen_and_can_be_a_key():
    s = peerlab.Scenario(nodes=8)
    with pytest.raises(AttributeError):
        s.nodes = 9
    assert {s: 1}[peerlab.Scenario(nodes=8)] == 1
    assert hash(peerlab.Scenario(cluster=peerlab.load_cluster("dl1")))


def test_a_placement_slow_nodes_and_jitter_are_kept_as_given_and_can_be_a_key():
    s = peerlab.Scenario(nodes=4, placement=(3, 2, 1, 0), slow_nodes={2: 0.5, 1: 1}, jitter=0, seed=7)
    assert (s.placement, s.slow_nodes, s.jitter) == ((3, 2, 1, 0), {2: 0.5}, 0.0)
    assert {s: 1}[s.with_()] == 1
    assert eval(s.as_code()) == s  # noqa: S307
    assert pickle.loads(pickle.dumps(s)) == s  # noqa: S301


@pytest.mark.parametrize("nodes", [0, -1, 2.5, "8", True, None, 10**9])
def test_nodes_are_a_whole_number_in_range(nodes):
    message = refused(nodes=nodes)
    assert message.startswith("nodes: ")
    assert "a whole number from 1 to 16384" in message


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"cluster": "dl2"}, "did you mean 'dl1'"),
        ({"path": "wire"}, f"it has: {', '.join(peerlab.load_cluster('dl1').paths)}"),
        ({"path": "peer-drect"}, "did you mean 'peer-direct'"),
        ({"registration": "cache"}, "did you mean 'cached'"),
        ({"message_bytes": "64 MB/s"}, "message_bytes: '64 MB/s' is a rate"),
        ({"message_bytes": 0}, "message_bytes: 0 is out of range"),
        ({"message_bytes": -5}, "out of range"),
        ({"message_bytes": "2 PiB"}, "unknown"),
        ({"slice_bytes": 0}, "slice_bytes: 0 is out of range"),
        ({"window": 0}, "window: 0 is out of range"),
        ({"page_bytes": 5000}, "use 4 KiB, 64 KiB, 2 MiB"),
        ({"iterations": 0}, "iterations: 0"),
        ({"iterations": "many"}, "iterations: 'many'"),
        ({"cache_regions": -1}, "cache_regions: -1"),
        ({"dependency": "slices"}, "did you mean 'slice'"),
        ({"algorithm": "binary-tre"}, "did you mean 'binary-tree'"),
        ({"algorithm": "halving-doubling", "nodes": 6}, "needs a power of two of nodes, not 6; try 4 or 8"),
        ({"algorithm": "recursive-doubling", "nodes": 1000}, "try 512 or 1024"),
        ({"algorithm": "binary-tree", "collective": "allgather"}, "does an allreduce only"),
        ({"collective": "alreduce"}, "did you mean 'allreduce'"),
        ({"algorithm": "ring"}, "use 'hierarchical'"),
        ({"cluster": "ideal-100g", "algorithm": "hierarchical"}, "needs several devices"),
        ({"jitter": -0.1}, "jitter: -0.1 is not a sigma from 0 to 2"),
        ({"jitter": float("nan")}, "is not a sigma"),
        ({"jitter": "much"}, "'much' is not a sigma"),
        ({"seed": -1}, "seed: -1 is out of range"),
        ({"slow_nodes": {8: 0.5}}, "there is no node 8; nodes are 0 to 7"),
        ({"slow_nodes": {4: 2}}, "2 is not a share of the full rate"),
        ({"slow_nodes": {4: 0}}, "0 is not a share of the full rate"),
        ({"slow_nodes": (4, 0.5)}, "is not a mapping such as {4: 0.5}"),
        ({"placement": (1, 0)}, "give 8 different hosts"),
        ({"placement": (1,) * 8}, "give 8 different hosts"),
        ({"placement": {0: 1}}, "give 8 different hosts"),
        ({"memory": "host"}, "'host' is for point-to-point"),
        ({"prefetch": "yes"}, "neither True nor False"),
        ({"collective": "point-to-point", "nodes": 1}, "needs 2 nodes"),
    ],
)
def test_an_impossible_question_is_refused_in_one_line(fields, says):
    assert says in refused(**fields)


def test_auto_fields_follow_the_path():
    direct = peerlab.Scenario(path="peer-direct")
    staged = peerlab.Scenario(path="host-rdma")
    wire = peerlab.Scenario(cluster="ideal-100g")
    assert (direct.slice_limit, staged.slice_limit) == (2**20, 2**19)
    assert (direct.runs, direct.with_(registration="pool").runs, staged.runs) == (2, 1, 1)
    assert (wire.path, wire.blocking, staged.blocking) == ("wire", True, False)
    assert direct.with_(slice_bytes=None).slice_limit is None


def test_beyond_the_librarys_limit_is_an_extrapolation():
    assert not peerlab.Scenario(nodes=128).extrapolates
    assert peerlab.Scenario(nodes=129).extrapolates


def test_a_scenario_can_be_copied_as_code():
    s = peerlab.Scenario(cluster="dl1", nodes=16, path="peer-direct", message_bytes="1 GiB", cache_regions=4)
    assert eval(s.as_code(), {"peerlab": peerlab}) == s  # noqa: S307


def test_a_field_that_does_not_exist_is_refused_with_the_nearest_name():
    assert refused(nodez=4).startswith("nodez: unknown field; did you mean 'nodes'")
    with pytest.raises(PeerlabError, match="give fields by name"):
        peerlab.Scenario("dl1")


@pytest.mark.parametrize("cluster", ["dl1", peerlab.load_cluster("dl1")])
def test_a_scenario_can_be_copied_and_sent_to_another_process(cluster):
    s = peerlab.Scenario(cluster=cluster, nodes=4)
    for twin in (copy.deepcopy(s), pickle.loads(pickle.dumps(s))):  # noqa: S301  (our own)
        assert twin == s
        assert twin.hardware == s.hardware
        with pytest.raises(TypeError):
            twin.hardware.figures["nic.rate"] = None


@pytest.mark.parametrize(
    "name",
    [
        "nodes",
        "path",
        "cluster",
        "collective",
        "algorithm",
        "message_bytes",
        "window",
        "registration",
        "memory",
    ],
)
@pytest.mark.parametrize("value", [np.array([1, 2]), object(), [1], 10**4000, b"8", {}, {"ring": []}, ([1],)])
def test_a_value_of_an_impossible_kind_is_refused_in_one_line(name, value):
    assert refused(**{name: value}).startswith(f"{name}: ")


@pytest.mark.parametrize(
    "given", ["dl1", peerlab.load_cluster("dl1"), {}, np.array([1]), [peerlab.Scenario()]]
)
@pytest.mark.parametrize("ask", [peerlab.simulate, peerlab.way, peerlab.sweep, peerlab.explore])
def test_what_is_no_scenario_is_refused_in_one_line(ask, given):
    with pytest.raises(
        ScenarioError, match=r"^scenario: give a Scenario, such as peerlab\.Scenario\(cluster='dl1'\)"
    ):
        ask(given)
