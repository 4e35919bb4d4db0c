"""What crosses the CPU, or the uplink twice, costs what the closed form says; engines agree on every wiring."""

import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.trace import SPAN_COLUMNS
from peerlab.model.nic_wiring import PLACES
from peerlab.model.paths import RECEIVE_DIRECT, stages

PATHS = {"dl1": ("host-rdma", "peer-direct", "host-tcp"), "p4d": ("host-rdma", "peer-direct", RECEIVE_DIRECT)}


def rows(run):
    spans = run.trace.last.unrolled
    kinds = [(one.kind, one.index) for one in run.trace.resources]
    columns = [spans[name] for name in SPAN_COLUMNS if name != "resource"]
    found = zip(*columns, (kinds[i] for i in spans["resource"]), strict=True)
    return sorted(tuple(map(str, row)) for row in found)


@st.composite
def wired(draw):
    cluster = draw(st.sampled_from(tuple(PATHS)))
    return peerlab.Scenario(
        cluster=cluster,
        path=draw(st.sampled_from(PATHS[cluster])),
        wiring=draw(st.sampled_from(tuple(PLACES))),
        acs_redirect=draw(st.sampled_from(("on", "off"))),
        nodes=draw(st.integers(2, 3)),
        message_bytes=draw(st.sampled_from(("64 KiB", "3 MiB"))),
        library=draw(st.sampled_from((None, "none"))),
        jitter=draw(st.sampled_from((0, 0.1))),
    )


@examples(part=2)
@given(wired())
def test_the_loop_gives_the_referees_spans_on_every_wiring(scenario):
    referee = peerlab.simulate(scenario, engine="referee", every_node=True)
    assert rows(peerlab.simulate(scenario, engine="loop", every_node=True)) == rows(referee)
    assert peerlab.simulate(scenario).time_ps == referee.time_ps


def test_acs_redirect_costs_what_the_detour_costs():
    direct = peerlab.simulate(peerlab.Scenario(path="peer-direct", acs_redirect="on", library="none"))
    staged = peerlab.simulate(peerlab.Scenario(path="host-rdma", library="none"))
    assert 0.95 < direct.busbw_GBps / staged.busbw_GBps < 1.05
    assert direct.bottleneck.kind == "uplink_up"
    assert direct.busy["nic_tx"] == pytest.approx(7.05 / 12.5, rel=0.03)


@pytest.mark.parametrize(
    ("fields", "share"),
    [
        ({"wiring": "switch"}, 12.5 / 12.5),
        ({"wiring": "root-port"}, 11.75 / 12.5),
        ({"acs_redirect": "on"}, 7.05 / 12.5),
        ({"wiring": "socket-switch", "acs_redirect": "on"}, 7.05 / 2 / 12.5),
        # 10 GB/s between the sockets, shared by what two NICs send and receive
        ({"wiring": "other-socket"}, 10 / 4 / 12.5),
    ],
)
def test_a_nic_gets_what_the_closed_form_says(fields, share):
    run = peerlab.simulate(
        peerlab.Scenario(path="peer-direct", library="none", message_bytes="1 GiB", **fields)
    )
    assert run.busy["nic_tx"] == pytest.approx(share, rel=0.02)


def test_a_message_one_way_over_the_uplink_twice_gets_all_of_it():
    run = peerlab.simulate(
        peerlab.Scenario(
            path="peer-direct",
            acs_redirect="on",
            collective="point-to-point",
            nodes=2,
            library="none",
            message_bytes="1 GiB",
            window=16,
        )
    )
    assert run.bottleneck.kind == "peer_read"  # 11.75 GB/s: the uplink's 14.1 are not halved
    assert run.algbw_GBps == pytest.approx(11.75, rel=0.02)


def test_a_nic_at_the_cpu_spares_the_detour_its_second_crossing():
    below, apart = (
        peerlab.simulate(peerlab.Scenario(path="host-rdma", library="none", wiring=place))
        for place in ("switch", "root-port")
    )
    assert (below.bottleneck.kind, apart.bottleneck.kind) == ("uplink_up", "nic_tx")
    assert apart.busbw_GBps > 1.6 * below.busbw_GBps


def test_a_nics_own_pcie_link_limits_it_where_the_file_gives_one():
    from peerlab.base.places import folder
    from peerlab.question.presets import read_cluster

    text = (folder("data") / "hardware" / "dl1.toml").read_text()
    line = '[nic]\npcie = { value = 7.05, unit = "GB/s", basis = "per NIC", source = "lspci: x8" }\n'
    narrow = read_cluster(text.replace("[nic]\n", line), "narrow.toml")
    run = peerlab.simulate(
        peerlab.Scenario(cluster=narrow, path="peer-direct", library="none", message_bytes="1 GiB")
    )
    assert run.busy["nic_tx"] == pytest.approx(7.05 / 12.5, rel=0.02)
    assert run.bottleneck.kind == "nic_pcie_in"


def test_receive_only_direct_copies_on_the_sending_side_alone():
    cluster = peerlab.load_cluster("p4d")
    sent, network = stages(cluster, RECEIVE_DIRECT)
    assert sent.name == "d2h"
    kinds = [(use.kind, use.side) for use in network.uses]
    assert ("dram", "source") in kinds
    assert ("dram", "destination") not in kinds
    assert ("link_down", "destination") in kinds
    run, staged, direct = (
        peerlab.simulate(peerlab.Scenario(cluster="p4d", nodes=2, path=path, library="none"))
        for path in (RECEIVE_DIRECT, "host-rdma", "peer-direct")
    )
    assert run.copies_per_byte == pytest.approx(staged.copies_per_byte / 2)
    assert direct.copies_per_byte == 0
    assert staged.time_ps >= run.time_ps >= direct.time_ps
