"""No picture says what the run does not: what is left out is no limit, and the wire is the one that is used."""

import re
from dataclasses import replace

import pytest

import peerlab
from peerlab.picture.curve_scenarios import lines
from peerlab.picture.curves import curves, mark
from peerlab.picture.payload import payload
from peerlab.question.presets import known_clusters, load_cluster


def shown(cluster, **fields):
    run = peerlab.simulate(
        peerlab.Scenario(**{"cluster": cluster, "nodes": 4, "message_bytes": "4 MiB", **fields})
    )
    parcel = payload(run)
    lanes = {lane["label"] for lane in parcel["views"]["timeline"]["lanes"]}
    return (
        parcel["views"]["scene"]["texts"]["text"],
        {card["name"]: card for card in parcel["views"]["headline"]["cards"]},
        lanes,
    )


@pytest.mark.sample(part=3)
@pytest.mark.parametrize("name", known_clusters())
def test_only_a_cluster_of_nothing_but_wires_is_called_a_bare_fabric(name):
    bare = any("bare fabric" in text for text in shown(name)[0])
    assert bare == (load_cluster(name).paths == ("wire",))


def test_a_long_name_of_a_device_stays_in_its_box_and_its_number_is_kept():
    machine = replace(load_cluster("dl1"), device_name="NVIDIA A100-SXM4-80GB")
    texts, _, _ = shown(machine)
    assert {"NVIDIA A1… 0", "NVIDIA A1… 1"} <= set(texts)
    crowded = replace(machine, devices_per_switch=8, switches_per_numa=1, numa_domains=1)
    assert {"0", "7"} <= set(shown(crowded)[0])


@pytest.mark.parametrize("name", ["ideal-100g-staged", "alps-gh200-tcp"])
def test_a_staged_path_goes_through_host_memory_even_where_that_is_no_limit(name):
    texts, cards, lanes = shown(name)
    assert {"Host memory", "DRAM, no limit here", "way to host memory", "not a limit here"} <= set(texts)
    assert cards["dram"]["value"] == "not modelled"
    assert not {"DRAM", "PCIe to host"} & lanes


def test_a_machine_described_for_peer_direct_alone_has_a_switch_and_no_host(root, tmp_path):
    text = (root / "data" / "hardware" / "p5.toml").read_text()
    kept = [
        line for line in text.splitlines() if not line.startswith(("dram", "uplink", "copy_engine", "staged"))
    ]
    text = "\n".join(kept).replace(', "host-rdma"]', "]")
    own = tmp_path / "own.toml"
    own.write_text(text.replace("[paths.lacks]\n", "[paths.lacks]\nhost-rdma = 'not described'\n"))
    texts, _, _ = shown(own)
    assert "PCIe switch" in texts
    assert "Host memory and CPU: not described here," in texts


def test_the_cores_that_copy_for_the_network_library_are_seen_to_work():
    texts, _, lanes = shown("g4dn-metal")
    assert {"CPU cores", "0.9 of 1"} <= set(texts)
    assert "schedules" not in texts
    assert "CPU cores" in lanes


def test_the_wire_is_the_one_of_the_protocol_that_this_message_takes():
    texts, _, _ = shown("p5", message_bytes="1 KiB")
    assert {"wire, 3.562 of 50 GB/s", "LL protocol, 23 µs/hop †"} <= set(texts)
    texts, _, _ = shown("p5", message_bytes="1 GiB")
    assert {
        "400 Gb/s",
        "wire, 34.84 of 50 GB/s",
        "Simple protocol, 42.9 µs/hop †",
    } <= set(texts)
    run = peerlab.simulate(peerlab.Scenario(cluster="p5", nodes=2, message_bytes="1 GiB"))
    assert run.busbw_GBps / run.wire_limit_GBps == pytest.approx(run.wire_busy, rel=1e-3)


def test_a_slow_nic_has_its_own_rate_and_how_busy_it_is_stands_in_the_headline_alone():
    texts, cards, _ = shown("dl1", path="peer-direct", slow_nodes={2: 0.5}, message_bytes="64 MiB")
    assert {"wire, 6.25 GB/s", "50 Gb/s"} <= set(texts)
    assert re.fullmatch(r"9\d % busy: node 2 at 50 %", cards["bottleneck"]["note"])
    assert not any("NIC 9" in text for text in texts)
    # a lost NIC's traffic is carried by another: that one is drawn
    texts, cards, _ = shown("dl1", path="peer-direct", slow_nics={(3, 1): 0}, message_bytes="64 MiB")
    assert re.fullmatch(r"9\d % busy: NIC 3\.1 lost", cards["bottleneck"]["note"])
    assert {"NIC 3.2", "NIC 3.3"} & {text.rstrip(" \u2020") for text in texts}
    # of two faults the picture shows one, and the headline names the other, which limits
    lost = {(3, 2): 0, (2, 1): 0.5}
    _, cards, _ = shown("p4d", nodes=4, path="peer-direct", slow_nics=lost, message_bytes="64 MiB")
    assert re.fullmatch(r"9\d % busy: NIC 2\.1 at 50 %", cards["bottleneck"]["note"])
    assert not any("NIC 4" in text for text in texts)


def test_the_card_of_the_bottleneck_names_the_fault_that_makes_it_and_no_other():
    """ "NIC send, 96 % busy" did not say that a slow node was the cause."""
    slow_link = shown("dl1", path="peer-direct", slow_links={(0, 1): 0.25}, message_bytes="64 MiB")[1]
    assert slow_link["bottleneck"]["note"].endswith(" busy: link 0 to 1 at 25 %")
    # nothing is sent over this link of a ring, and each NIC does its own work
    p4d, dl1 = {"cluster": "p4d", "nodes": 8}, {"cluster": "dl1", "algorithm": "hierarchical", "nodes": 8}
    for scenario, says in (
        (p4d | {"slow_links": {(0, 2): 0.1}}, " busy"),
        (dl1 | {"slow_nics": {(0, 0): 0.5, (0, 1): 0.99}}, " busy: NIC 0.0 at 50 %"),
    ):
        note = shown(path="peer-direct", message_bytes="64 MiB", **scenario)[1]["bottleneck"]["note"]
        assert note.endswith(says), scenario
    # copies limit, which are as fast on the slow node
    hardly = shown("dl1", path="host-rdma", slow_nodes={0: 0.95}, message_bytes="64 MiB")[1]["bottleneck"]
    assert (hardly["value"], re.search(r"% busy$", hardly["note"]) is not None) == ("PCIe to host", True)


def test_a_mark_belongs_to_the_lines_of_its_own_scenario():
    start = peerlab.Scenario(nodes=4)

    def fits(scenario, axis="nodes"):
        drawn = curves(start, axis, [(line, [None] * len(line.scenarios)) for line in lines(start, axis)])
        return mark(peerlab.simulate(scenario))["of"][axis] == drawn["key"]

    assert fits(start)
    assert fits(start.with_(nodes=8, path="peer-direct", registration="per-transfer"))
    assert not fits(start.with_(message_bytes="1 MiB"))
    assert fits(start.with_(message_bytes="1 MiB"), "message_bytes")
    assert not fits(start.with_(cluster="gaudi2", path="host-rdma"))


def test_ports_have_a_limit_of_their_own_whichever_path_the_curves_were_made_for():
    of_ports = [
        curves(peerlab.Scenario(cluster="gaudi2", nodes=8, path=path), "nodes", [])["limits"]
        for path in ("native", "host-rdma")
    ]
    assert of_ports[0] == of_ports[1]
    assert of_ports[0]["native"]["label"] == "port limit"
    assert of_ports[0]["nic"]["label"] == "NIC limit"
    assert of_ports[0]["native"]["y"][0] > of_ports[0]["nic"]["y"][0]


def test_what_figures_were_fitted_on_stands_above_them():
    first = {
        name: payload(peerlab.simulate(peerlab.Scenario(cluster=name)))["views"]["footer"]["sources"][
            "lines"
        ][0]
        for name in ("alps-gh200", "dl1")
    }
    fitted = load_cluster("alps-gh200").fitted_on
    assert first["alps-gh200"] == {
        "text": f"Some figures were fitted on {fitted}: elsewhere an extrapolation.",
        "assumed": True,
    }
    assert first["dl1"]["text"].startswith("† ")


def test_a_node_alone_has_no_partner_and_no_wire():
    texts, _, _ = shown("dl1", nodes=1)
    assert {
        "One node: nothing crosses a NIC or a wire.",
        "Its 8 Gaudi exchange over links of their own,",
    } <= set(texts)
    assert texts.count("Host memory") == 1
    texts, _, _ = shown("g4dn-metal", nodes=1)
    assert "Its one T4 has nobody to exchange with." in texts
