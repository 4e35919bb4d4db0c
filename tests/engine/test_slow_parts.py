"""Slow nodes, NICs and links, and lost NICs: what each costs, alike in all engines."""

import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.engine.arrays.ring_arrays import refuses
from peerlab.engine.system import least

RAILS = peerlab.Scenario(
    cluster="infiniband-hdr-a100", path="peer-direct", nodes=4, message_bytes="1 GiB", library="none",
    registration="pool", slice_bytes="1 MiB",
)  # fmt: skip
"""Eight devices with a NIC each."""
RING = peerlab.Scenario(cluster="ideal-100g", nodes=8, message_bytes="1 MiB", slice_bytes=None)


@pytest.mark.parametrize(
    ("slow", "nodes", "size", "blocking", "pipelined"),
    [({2: 0.5}, 8, "1 MiB", 363_601_280, 303_601_280), ({2: 0.1}, 16, "64 KiB", 248_304_000, 171_626_880)],
)
def test_one_slow_node_costs_what_its_law_says_to_the_picosecond(slow, nodes, size, blocking, pipelined):
    asked = RING.with_(nodes=nodes, message_bytes=size, slow_nodes=slow)
    for engine in ("referee", "loop", "arrays"):
        took = [peerlab.simulate(asked.with_(dependency=how), engine).time_ps for how in ("step", "slice")]
        assert took == [blocking, pipelined]


@pytest.mark.parametrize(
    ("fields", "times"),
    [
        ({"slow_nics": {"1.0": 0.5}}, 2),
        ({"slow_nics": {"1.0": 0}}, 2),  # its rail goes by the neighbour, which then serves two
        ({"slow_nics": {"1.0": 0}, "failover": "rebalance"}, 8 / 7),
        ({"slow_nics": {"1.0": 0.5}, "failover": "rebalance"}, 8 / 7.5),
        ({"slow_links": {"1>2": 0.5}}, 2),
        ({"slow_links": {"2>1": 0.5}}, 1),  # nobody sends that way in a ring
    ],
)
def test_a_slow_part_costs_what_it_lacks(fields, times):
    quiet = peerlab.simulate(RAILS).time_ps
    assert peerlab.simulate(RAILS.with_(**fields)).time_ps / quiet == pytest.approx(times, rel=0.005)


@examples(part=2)
@given(
    slow=st.dictionaries(
        st.sampled_from(["0.0", "0.1", "1.0", "2.1"]), st.sampled_from([0, 0.3, 0.9]), max_size=3
    ),
    links=st.dictionaries(st.sampled_from(["0>1", "1>0", "2>0"]), st.sampled_from([0.2, 0.8]), max_size=2),
    failover=st.sampled_from(["neighbour", "rebalance"]),
    cluster=st.sampled_from(["p4d", "dl1"]),
)
def test_engines_agree_on_slow_parts(slow, links, failover, cluster):
    asked = peerlab.Scenario(
        cluster=cluster, path="peer-direct", nodes=3, message_bytes="1 MiB", library="none", slow_nics=slow,
        slow_links=links, failover=failover,
    )  # fmt: skip
    times = {peerlab.simulate(asked, engine).time_ps for engine in ("loop", "referee")}
    times |= (
        {peerlab.simulate(asked, "arrays").time_ps}
        if not refuses(least(asked)) and not least(asked).folded
        else set()
    )
    assert len(times) == 1


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"slow_nics": {"9.0": 0.5}}, "no NIC 9.0"),
        ({"slow_nics": {"0.8": 0.5}}, "no NIC 0.8"),
        ({"slow_nics": {f"0.{n}": 0 for n in range(8)}}, "no NIC left"),
        ({"slow_nics": {"zero": 0.5}}, "two numbers"),
        ({"slow_nics": {"0.1": 2}}, "share of the full rate"),
        ({"slow_nics": 3}, "mapping"),
        ({"slow_links": {"0>0": 0.5}}, "no link 0>0"),
        ({"slow_links": {"0>1": 0}}, "share of the full rate"),
        ({"failover": "pray"}, "failover"),
    ],
)
def test_parts_that_there_are_not_are_refused_in_a_line(fields, says):
    with pytest.raises(ScenarioError, match=says):
        RAILS.with_(**fields)


def test_links_that_transfers_share_are_no_pairs_own():
    with pytest.raises(ScenarioError, match="shared by transfers"):
        peerlab.Scenario(cluster="ideal-100g-leafspine-2to1", nodes=4, slow_links={"0>1": 0.5})
