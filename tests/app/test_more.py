"""The rarer settings under More: what they mean, and how the impossible is refused."""

import pytest

import peerlab
from peerlab.app.chips import Chips
from peerlab.app.explore import explore
from peerlab.base.places import folder
from peerlab.model.algorithms import ALGORITHMS
from peerlab.picture.payload import payload

HARDWARE = folder("data") / "hardware"
LEAVES = """[fabric]
hosts_per_leaf = { value = 4, unit = "1", basis = "per leaf", source = "a test" }
oversubscription = { value = 2, unit = "1", basis = "per leaf", source = "a test" }"""
PORTS = """[port]
rate = { value = 37.5, unit = "GB/s", basis = "per device", source = "a test" }
latency = { value = 1, unit = "us", basis = "per message", source = "a test" }

[limits]"""


@pytest.fixture
def lab():
    one = explore(nodes=4, message_bytes="4 MiB")
    yield one
    one.close()


@pytest.fixture
def leaves(tmp_path):
    """A bare leaf-spine of four hosts a leaf."""
    text = (HARDWARE / "ideal-100g.toml").read_text()
    (tmp_path / "leaves.toml").write_text(text.replace("[fabric]", LEAVES))
    one = explore(cluster=str(tmp_path / "leaves.toml"), nodes=8, message_bytes="1 MiB")
    yield one
    one.close()


@pytest.fixture
def ports(tmp_path):
    """A DL1 whose devices offer their own ports between nodes."""
    text = (HARDWARE / "dl1.toml").read_text()
    own = (
        text.replace('"host-tcp"]', '"native"]').replace("native =", "host-tcp =").replace("[limits]", PORTS)
    )
    (tmp_path / "ports.toml").write_text(own)
    one = explore(cluster=str(tmp_path / "ports.toml"), nodes=4, message_bytes="4 MiB")
    yield one
    one.close()


def test_a_lost_nic_which_has_no_control_is_a_chip_that_takes_it_back(lab):
    lab._changed({"slow_nics": {(3, 1): 0}}, "")
    (chip,) = lab.controls.chips.box.children
    assert chip.description.startswith("NIC 3.1 lost")
    assert "pl-fault" in chip._dom_classes, "its node says the same where no chip does"
    assert lab.figures.data["views"]["scene"]["sight"]["slow"] == {"3": "NIC\u00a03.1 lost"}, "one name"
    chip.click()
    assert lab.scenario.slow_nics is None
    assert lab.controls.chips.box.children == ()


def test_the_chip_of_a_number_that_its_list_does_not_offer_says_the_number(lab):
    """Rare delays of 0.0003 were "none"."""
    lab._changed({"detours": 0.0003}, "")
    (chip,) = lab.controls.chips.box.children
    assert chip.description.startswith("Rare delays: 0.0003")
    assert "pl-fault" not in chip._dom_classes


def test_a_list_offers_what_is_in_force_as_long_as_it_is(lab):
    """*Rare delays* showed none beside a chip of 0.0003."""
    rare = lab.controls.rare._widgets["detours"]
    usual = rare.options
    lab._changed({"detours": 0.0003}, "")
    assert (rare.label, rare.value) == ("0.0003", 0.0003)
    rare.value = 1e-5
    assert lab.scenario.detours == 1e-5
    assert rare.options == usual


def test_what_cannot_be_changed_says_why(lab):
    rare = lab.controls.rare
    assert (rare.seed.disabled, rare.seed.value, rare.seed.placeholder) == (True, "", "no noise")
    transport = rare.transport
    rest = [transport.mtu, transport.hops, transport.metres]
    assert all(field.disabled for field in rest)
    assert [field.placeholder for field in rest] == ["needs a transport", "\u2013", "\u2013"], (
        "the reason stands once"
    )
    lab._changed({"detours": 1e-5}, "")
    assert (rare.seed.disabled, rare.seed.placeholder) == (False, "0")


def test_each_control_changes_its_field_and_undo_brings_it_back(lab):
    rare = lab.controls.rare
    for control, value, field, expected in (
        (rare.algorithm, "pairwise", "algorithm", "pairwise"),
        (rare.jitter, 0.1, "jitter", 0.1),
        (rare.slow, 0.5, "slow_nodes", {0: 0.5}),
        (rare.seed, "7", "seed", 7),
    ):
        before = lab.scenario
        control.value = value
        assert getattr(lab.scenario, field) == expected
        assert lab.run.scenario == lab.scenario
        lab._command("undo")
        assert lab.scenario == before


def test_only_algorithms_that_machine_nodes_and_collective_can_have_are_offered(lab):
    def offered():
        return {value for _, value in lab.controls.rare.algorithm.options}

    adding = set(ALGORITHMS) - {
        "direct",
        "tree",
        "nvls-tree",
        "nvls",
        "pipeline",
    }  # an all-to-all's, NCCL's, NVSwitch's, and a broadcast's
    assert offered() == adding - {"ring"}  # dl1 has eight devices a node
    lab.controls.nodes_text.value = "12"
    assert offered() == adding - {"ring", "halving-doubling", "recursive-doubling"}
    lab.controls.collective.value = "allgather"
    assert offered() == {"auto", "hierarchical", "pairwise"}
    lab.controls.cluster.value = "ideal-100g"
    assert "ring" in offered()
    assert "hierarchical" not in offered()


def test_an_all_to_all_leaves_behind_an_algorithm_that_it_cannot_have(lab):
    lab.controls.rare.algorithm.value = "halving-doubling"
    lab.controls.collective.value = "alltoall"
    assert (lab.scenario.collective, lab.scenario.algorithm) == ("alltoall", "auto")
    assert {value for _, value in lab.controls.rare.algorithm.options} == {"auto", "pairwise", "direct"}
    lab.controls.rare.algorithm.value = "pairwise"
    lab.controls.collective.value = "allreduce"  # it does that too
    assert lab.scenario.algorithm == "pairwise"
    assert lab.controls.error.value == ""


def test_nodes_that_an_algorithm_cannot_have_are_refused_and_the_text_stays_to_be_corrected(lab):
    lab.controls.rare.algorithm.value = "halving-doubling"
    lab.controls.nodes_text.value = "12"
    assert "needs a power of two of nodes, not 12" in lab.controls.error.value
    assert lab.controls.nodes_text.value == "12"
    assert lab.scenario.nodes == 4


def test_point_to_point_has_no_algorithm(lab):
    lab.controls.rare.algorithm.value = "pairwise"
    lab.controls.collective.value = "point-to-point"
    assert lab.scenario.algorithm == "auto"
    assert lab.controls.rare.algorithm.disabled


def test_a_seed_rests_until_something_is_random(lab):
    assert lab.controls.rare.seed.disabled
    lab.controls.rare.jitter.value = 0.05
    assert not lab.controls.rare.seed.disabled
    lab.controls.rare.seed.value = "many"
    assert "seed" in lab.controls.error.value


def test_placement_rests_where_every_host_is_as_near_as_any_other(lab):
    assert lab.controls.rare.placement.disabled
    assert lab.controls.rare.placement.label == "any: no leaf switches"


@pytest.mark.usefixtures("whole_curves")
def test_a_placement_follows_the_nodes_and_costs_what_it_costs(leaves):
    near = leaves.run.time_s
    leaves.controls.rare.placement.value = "strided"
    assert [leaves.scenario.host(node) for node in range(4)] == [0, 4, 1, 5]
    assert leaves.run.time_s > 1.5 * near
    leaves.controls.nodes_text.value = "16"
    assert leaves.scenario.placement == "strided"
    assert leaves.controls.rare.placement.value == "strided"
    assert len(leaves.figures.curves["lines"][0]["y"]) == 10
    leaves.controls.rare.placement.value = "shuffled"
    first = [leaves.scenario.host(node) for node in range(16)]
    leaves.controls.rare.seed.value = "1"
    assert [leaves.scenario.host(node) for node in range(16)] != first
    leaves.controls.cluster.value = "ideal-100g"
    assert leaves.scenario.placement is None


def test_what_only_python_can_say_is_shown_as_given():
    one = explore(nodes=8, message_bytes="1 MiB", slow_nodes={3: 0.4}, jitter=0.07)
    assert one.controls.rare.slow.label == "node 3 at 40 %"
    assert one.controls.rare.jitter.label == "7 %"
    assert one.figures.curves["lines"][0]["y"][0] is None  # two nodes have no node 3
    one.controls.nodes_text.value = "2"
    assert "there is no node 3" in one.controls.error.value
    one.controls.rare.slow.value = 0.5
    assert one.scenario.slow_nodes == {0: 0.5}
    one.close()


def test_the_way_past_the_host_is_a_choice_where_there_are_two(ports, lab):
    assert lab.controls.direct.layout.display == "none"
    direct = ports.controls.direct
    assert direct.layout.display == ""
    direct.value = "native"
    assert ports.scenario.path == "native"
    ports.controls.host.value = True
    assert ports.scenario.path == "host-rdma"
    ports.controls.host.value = False
    assert ports.scenario.path == "native"
    assert [name for name, _ in ports.controls.baseline.options] == ["RDMA through host"]


def test_nobody_waits_for_every_transfer_of_a_thousand_nodes():
    from peerlab.study.patience import large

    assert large(peerlab.Scenario(nodes=1024, jitter=0.1))
    assert not large(peerlab.Scenario(nodes=1024))
    assert not large(peerlab.Scenario(nodes=8, jitter=0.1))


def test_where_the_nics_hang_and_acs_redirect_are_switched_and_seen():
    lab = explore(path="peer-direct", nodes=4, message_bytes="16 MiB")
    assert lab.controls.rare.wiring.place.label == "below one switch †"
    assert lab.controls.rare.wiring.acs.label == "off, as assumed †"  # what the sign means
    before = payload(lab.run)["views"]["scene"]["ways"]
    lab.controls.rare.wiring.acs.value = "on"
    assert lab.scenario.acs_redirect == "on"
    assert lab.run.bottleneck.label == "PCIe to host"
    assert payload(lab.run)["views"]["scene"]["ways"] != before
    lab.controls.rare.wiring.acs.value = "auto"
    lab.controls.rare.wiring.place.value = "root-port"
    assert lab.scenario.hardware.wiring.place.distance == "PHB"
    lab.controls.cluster.value = "ideal-100g"
    assert (lab.scenario.wiring, lab.controls.rare.wiring.place.disabled) == ("auto", True)
    lab.close()


def test_a_wiring_that_is_given_in_python_and_is_the_clusters_own_is_shown_as_that():
    lab = explore(wiring="switch", acs_redirect="off", nodes=4, message_bytes="4 MiB")
    assert (lab.controls.rare.wiring.place.value, lab.controls.rare.wiring.acs.value) == ("auto", "auto")
    lab.close()


def test_a_transport_its_packets_and_the_way_are_set_and_seen_under_more():
    lab = explore(cluster="roce-100g-a100", path="peer-direct", nodes=4, message_bytes="16 MiB")
    rare, before = lab.controls.rare.transport, lab.run.time_ps
    assert [name for name, _ in rare.transport.options] == ["headers not counted", "ideal", "RoCE v2"]
    assert (rare.mtu.disabled, rare.hops.disabled, rare.metres.disabled) == (True, True, True)
    rare.transport.value = "roce"
    large = lab.run.time_ps
    assert large > before
    rare.mtu.value = "1024"
    small = lab.run.time_ps
    assert (lab.scenario.mtu, small > large) == (1024, True)
    rare.hops.value, rare.metres.value = "5", "300"
    assert (lab.scenario.hops, lab.scenario.metres) == (5, 300)
    assert lab.run.time_ps > small
    rare.mtu.value = "9000"
    assert "mtu: RoCE v2 allows 256, 512, 1024, 2048 or 4096 bytes, not 9000" in lab.controls.error.value
    rare.metres.value = "-3"
    assert "a cable of -3 m is not possible" in lab.controls.error.value
    lab.controls.cluster.value = "p4d"
    s = lab.scenario
    assert (s.transport, s.mtu, s.hops, s.metres, rare.mtu.value) == (None, None, None, None, "")
    assert [name for name, _ in rare.transport.options] == ["headers not counted", "EFA (SRD)", "ideal"]
    lab.close()


def test_a_transport_or_an_algorithm_that_a_path_lacks_goes_with_the_path():
    lab = explore(cluster="ideal-100g", transport="tcp", mtu=1500, nodes=4, message_bytes="1 MiB")
    assert lab.controls.rare.transport.mtu.value == "1500"
    lab.controls.cluster.value = "infiniband-hdr-a100"
    lab.controls.rare.library.value = "none"
    lab.controls.host.value = False
    lab.controls.rare.algorithm.value = "sharp"
    assert lab.run.busy["nic_tx"] > 0
    lab.controls.host.value = True
    lab.controls.baseline.value = "host-tcp"
    assert (lab.scenario.path, lab.scenario.algorithm) == ("host-tcp", "auto")
    lab.close()


def test_the_library_and_its_protocol_can_be_forced_and_only_what_the_path_has_is_offered():
    lab = explore(cluster="p5", path="peer-direct", nodes=2, message_bytes="1 MiB")
    rare = lab.controls.rare
    assert rare.library.label == "usual: NCCL over EFA"
    rare.protocol.value = "LL"
    assert ", LL, " in lab.run.scenario.library_says
    lab.controls.host.value = True  # through the host the plugin allows Simple alone
    assert lab.controls.error.value == ""
    assert lab.scenario.protocol == "auto"
    assert [name for name, _ in rare.protocol.options] == ["auto", "Simple"]
    rare.version.value = "2.3"
    assert "NCCL over EFA is known from 2.8" in lab.controls.error.value
    rare.version.value = "2.23"
    assert lab.run.scenario.library_says.startswith("NCCL 2.23 over EFA: ")
    rare.library.value = "none"
    assert (lab.scenario.library, lab.scenario.library_version, lab.run.scenario.library_says) == (
        "none",
        None,
        "",
    )
    assert rare.version.disabled
    assert rare.protocol.disabled
    lab.controls.cluster.value = "azure-nd-a100-v4"
    assert (lab.scenario.library, lab.scenario.used_library.title) == (
        None,
        "NCCL over InfiniBand or RoCE verbs",
    )
    lab.close()


def test_more_offers_the_libraries_that_the_cluster_can_have(lab):
    def offered():
        return [value for _, value in lab.controls.rare.library.options[1:]]

    assert offered() == ["none", "hcl-host-nics"]
    lab.controls.cluster.value = "p4d"
    assert offered() == ["none", "nccl-efa", "nccl-sockets"]


def test_chips_without_room_for_what_they_say_have_names_alone():
    """Two were two rows, and all controls went down by 20 pixels."""
    chips = Chips(lambda _: None)
    slow, jitter = ("Slow node: node 0 at 50 %", {"slow_nodes": None}), ("Jitter: 5 %", {"jitter": 0})
    chips.show([slow])
    assert [chip.description for chip in chips.box.children] == ["Slow node: node 0 at 50 % \u00d7"]
    chips.show([slow, jitter])
    assert [chip.description for chip in chips.box.children] == ["Slow node \u00d7", "Jitter \u00d7"]
    assert chips.box.children[1].tooltip.endswith("Jitter: 5 %")
