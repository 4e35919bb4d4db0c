"""Topologies that people have, of each tool: what is read, what is assumed, and what is refused in words."""

import encodings.aliases
import random
from datetime import date
from xml.sax.saxutils import quoteattr

import machines
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import HardwareError, PeerlabError
from peerlab.cli import main
from peerlab.features.clusters.from_topology import from_topology
from peerlab.picture.still import still_svg
from peerlab.question.presets import load_cluster
from peerlab.topology import load_topology, read_topology
from peerlab.topology.load_topology import MOST_BYTES
from peerlab.topology.topology import are_islands, joined, nearest

DAY = date(2026, 1, 31)
SEEN = {
    # machine: sockets, switches per socket, accelerators and NICs per switch, distance, accelerator
    "h100_nine_nics": (2, 4, 1, 1, "PIX", "H100"),
    "dgx2": (2, 2, 4, 2, "PIX", "V100"),
    "virtual_h100": (2, 4, 1, 1, "PHB", "NVIDIA GPU"),
    "h20_mixed": (2, 1, 4, 2, "PIX", "H100"),
    "bonded": (2, 2, 2, 2, "PXB", "H100"),
    "dgx_a100": (2, 2, 2, 2, "PXB", "A100"),
    "p4d": (2, 2, 2, 1, "PIX", "A100"),
    "lstopo_a100": (2, 1, 1, 1, "PIX", "A100"),
    "lspci_tree": (1, 1, 3, 2, "", "A100"),
    "lspci_verbose": (1, 1, 1, 1, "PIX", "V100"),
}


def read(tmp_path, text, name="topology.txt"):
    file = tmp_path / name
    file.write_text(text)
    return load_topology(file)


def drafted(tmp_path, text):
    return from_topology(read(tmp_path, text), "mine", "topology.txt", DAY)


@pytest.mark.parametrize("name", SEEN)
def test_each_machine_is_drafted_and_drawn(tmp_path, name):
    sockets, switches, devices, nics, distance, device = SEEN[name]
    topology = read(tmp_path, getattr(machines, name)())
    assert nearest(topology, topology.accelerators[0], topology.nics) == distance
    found = from_topology(topology, "mine", "topology.txt", DAY)
    cluster = found.cluster
    counts = (
        cluster.numa_domains,
        cluster.switches_per_numa,
        cluster.devices_per_switch,
        cluster.nics_per_switch,
    )
    assert counts == (sockets, switches, devices, nics)
    assert cluster.device_name == device
    run = peerlab.simulate(peerlab.Scenario(cluster=cluster, nodes=2, message_bytes="1 MiB"))
    assert device in still_svg(run)
    for figure in cluster.figures.values():
        assert figure.source or figure.assumption


def test_what_a_file_says_has_it_as_its_source_and_the_rest_is_marked_as_taken_over(tmp_path):
    found = drafted(tmp_path, machines.dgx_a100())
    figures = found.cluster.figures
    assert figures["nic.rate"].value == 200
    assert "NCCL's topology, topology.txt, read on 2026-01-31" in figures["nic.rate"].source
    assert "12 NVLinks" in figures["scaleup.rate"].source
    assert figures["scaleup.rate"].value == pytest.approx(12 * 20 / 7, abs=0.001)
    assert figures["device.pcie"].value == pytest.approx(28.2, abs=0.1)
    assert figures["host.dram"].assumption == "taken over from roce-100g-a100; put in your own"
    assert found.cluster.wiring.nic == "switch"
    assert not found.cluster.wiring.assumption
    assert found.cluster.paths[0] == "peer-direct"


def test_nics_at_the_cpu_are_staged_by_default_and_cost_what_the_cpu_forwards(tmp_path):
    found = drafted(tmp_path, machines.virtual_h100())
    assert found.cluster.wiring.nic == "root-port"
    assert found.cluster.paths[0] == "host-rdma"
    assert "host.peer_read" in found.cluster.figures
    assert "left out, as farther away or slower: NIC0" in found.remarks


def test_distances_that_differ_are_one_assumption_with_the_other_as_possible(tmp_path):
    found = drafted(tmp_path, machines.h20_mixed())
    wiring = found.cluster.wiring
    assert "4 accelerators have PIX, 4 accelerators have PHB" in wiring.assumption
    assert [one.nic for one in wiring.possible] == ["root-port"]
    assert any("4 NICs for 8 groups" in remark for remark in found.remarks)


def test_several_nics_of_one_accelerator_are_one_with_their_rates_together(tmp_path):
    found = drafted(tmp_path, machines.bonded())
    assert "an accelerator has 2 NICs, which are counted as one" in found.remarks


def test_a_switch_that_redirects_and_a_nic_of_eight_lanes_are_seen(tmp_path):
    found = drafted(tmp_path, machines.lspci_verbose(redirect="+"))
    assert found.cluster.wiring.acs_redirect
    assert not drafted(tmp_path, machines.lspci_verbose()).cluster.wiring.acs_redirect
    topology = read(tmp_path, machines.lspci_verbose())
    assert (topology.accelerators[0].link.speed_GTps, topology.nics[0].link.lanes) == (8.0, 8)


def test_the_tree_tells_who_shares_a_switch_and_a_virtual_function_is_no_nic(tmp_path):
    topology = read(tmp_path, machines.lspci_tree())
    assert sorted(map(len, joined(topology))) == [1, 2]
    assert [nic.name for nic in topology.nics] == [
        "0000:c2:00.0",
        "0000:44:00.0",
        "0000:46:00.0",
    ]


BAD = {
    "<topology><object": "no whole XML",
    machines.p4d()[:900]: "no whole XML",
    "<system version='1'></system>": "of no tool that is known",
    "<system><cpu numaid='0'/></system>": "it names no accelerator",
    "<html><body>hello</body></html>": "an XML with <html> at its top is of no tool that is known",
    "<topology><object type='Machine'/></topology>": "write it with lstopo --whole-io --of xml",
    "": "this is of no tool that is known",
    "Sun May 3 10:00:00 2026 up 3 days": "known are NCCL's topology, nvidia-smi topo -m",
    machines.h100_nine_nics()[:400]: "the matrix is cut: ",
    "\n".join(machines.h100_nine_nics().splitlines()[:5]): "the matrix is cut: it has no row of GPU4",
    machines.virtual_h100().replace(
        "GPU3\tPHB", "GPU3\tSYS"
    ): "the matrix contradicts itself: GPU0 to GPU3 is PHB, and back SYS",
    machines.lspci_verbose().replace("secondary=44", "secondary=40"): "its bridges lead in a circle",
    machines.lspci_tree().replace("NVIDIA", "Matrox"): "lspci -tv names no accelerator here",
    "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]><system>&b;</system>": "it declares entities",
    "<system>" + "<cpu>" * 300 + "</cpu>" * 300 + "</system>": "more levels, than any machine",
}


@pytest.mark.parametrize("text", BAD)
def test_what_cannot_be_understood_is_said_in_one_line(tmp_path, text):
    with pytest.raises(HardwareError) as refused:
        read(tmp_path, text)
    assert BAD[text] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_hundred_megabytes_are_refused_without_being_understood(tmp_path):
    file = tmp_path / "large.xml"
    with file.open("wb") as out:
        out.write(b"<system>")
        out.truncate(MOST_BYTES + 100)
    with pytest.raises(HardwareError, match="no topology is as large"):
        load_topology(file)


def test_a_hundred_thousand_elements_are_too_many(tmp_path):
    with pytest.raises(HardwareError, match="more elements"):
        read(tmp_path, "<system><cpu>" + "<pci/>" * 100_001 + "</cpu></system>")


@given(st.sampled_from(sorted(SEEN)), st.randoms(use_true_random=False))
def test_a_damaged_file_is_a_topology_or_an_error_in_words(tmp_path_factory, name, chance: random.Random):
    text = getattr(machines, name)()
    at = chance.randrange(len(text))
    damaged = chance.choice(
        (text[:at], text[:at] + chance.choice("<>&\0\t9Xé") + text[at + 1 :], text[at:], text * 2)
    )
    file = tmp_path_factory.mktemp("damaged") / "t"
    file.write_text(damaged)
    found = said_or_drafted(file)
    assert "\n" not in found if isinstance(found, str) else found.devices >= 1


def said_or_drafted(file):
    try:
        return from_topology(load_topology(file), "mine", "t", DAY).cluster
    except PeerlabError as problem:
        return str(problem)


def test_the_command_writes_a_whole_file_and_its_picture_and_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "dump.xml").write_text(machines.dgx_a100())
    mine = tmp_path / "mine.toml"
    asked = ["clusters", "draft", str(mine), "--from", str(tmp_path / "dump.xml"), "--show"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert "figures read" in said
    assert "8 A100s and 8 NICs per node, each NIC below the devices' switch" in " ".join(said.split())
    assert load_cluster(mine).devices == 8
    assert (tmp_path / "mine.svg").read_text().startswith("<svg")
    assert main(["clusters", "check", str(mine)]) == 0
    assert main(asked) == 1
    assert "is there already; --force overwrites it" in capsys.readouterr().err
    assert main([*asked, "--force"]) == 0


def test_a_file_that_is_not_there_or_is_a_pipe_is_refused_and_nothing_is_written(tmp_path, capsys):
    mine = tmp_path / "mine.toml"
    assert main(["clusters", "draft", str(mine), "--from", str(tmp_path / "no\nfile")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert not mine.exists()


@given(st.text(max_size=30))
def test_any_name_in_a_file_stays_on_its_line(tmp_path_factory, name):
    attribute = quoteattr("".join(letter for letter in name if letter.isprintable()))
    text = machines.dgx_a100().replace('name="mlx5_0"', f"name={attribute}")
    file = tmp_path_factory.mktemp("named") / "t.xml"
    file.write_text(text)
    found = from_topology(load_topology(file), "mine", "t.xml", DAY)
    assert all("\n" not in one for one in found.remarks)


def matrix(*rows, head="GPU0\tGPU1\tNIC0"):
    return "\n".join((f"\t{head}\tCPU Affinity\tNUMA Affinity", *rows)) + "\n"


PLAIN = matrix("GPU0\tX\tPHB\tPIX\t0-7\t0", "GPU1\tPHB\tX\tPHB\t0-7\t0", "NIC0\tPIX\tPHB\tX")


def test_accelerators_without_nvlink_exchange_over_pcie_and_not_over_the_nvlink_of_another_machine(tmp_path):
    rate = drafted(tmp_path, PLAIN).cluster.figures["scaleup.rate"]
    assert rate.value <= drafted(tmp_path, PLAIN).cluster.figures["device.pcie"].value
    assert rate.assumption.startswith("no NVLink")
    assert (
        drafted(tmp_path, machines.p4d()).cluster.figures["scaleup.rate"].value > 30
    )  # says nothing of NVLink


def test_what_was_guessed_from_the_count_of_nvlinks_is_marked(tmp_path):
    found = drafted(tmp_path, machines.h100_nine_nics())
    assert "taken for H100 by its 18 NVLinks, which others may have as well" in found.remarks
    assert found.cluster.figures["device.generation"].assumption.startswith("taken for H100")
    assert not any(
        "taken for" in one or "recognised" in one for one in drafted(tmp_path, machines.p4d()).remarks
    )


@pytest.mark.parametrize(
    ("device", "name", "like"),
    [
        ("1000", "Gaudi", "dl1"),
        ("1010", "Gaudi", "dl1"),
        ("1020", "Gaudi 2", "gaudi3"),
        ("1060", "Gaudi 3", "gaudi3"),
    ],
)
def test_generations_of_gaudi_are_told_apart(tmp_path, device, name, like):
    nic = "<pci busid='0000:02:00.0' class='0x020700'><nic><net name='mlx5_0' speed='200000'/></nic></pci>"
    card = f"busid='0000:01:00.0' class='0x120000' vendor='0x1da3' device='0x{device}'"
    links = "link_speed='16.0 GT/s PCIe' link_width='16'"
    found = drafted(
        tmp_path, f"<system version='1'><cpu numaid='0'><pci {card} {links}/>{nic}</cpu></system>"
    )
    assert (found.cluster.device_name, found.like) == (name, like)
    figures = found.cluster.figures
    assert figures["device.copy_engine"].value <= figures["device.pcie"].value


@pytest.mark.parametrize("words", ["Gaudi2", "Gaudi 2"])
def test_a_gaudi_2_by_its_name_is_no_gaudi(tmp_path, words):
    text = machines.lspci_tree().replace("NVIDIA Corporation GA100 [A100", f"Habana Labs Ltd. {words} [HL")
    assert drafted(tmp_path, text).cluster.device_name == "Gaudi 2"


@pytest.mark.parametrize("name", SEEN)
def test_a_draft_has_no_rate_that_is_implausible(tmp_path, name, capsys):
    (tmp_path / "dump").write_text(getattr(machines, name)())
    mine = str(tmp_path / "mine.toml")
    assert main(["clusters", "draft", mine, "--from", str(tmp_path / "dump")]) == 0
    capsys.readouterr()
    assert main(["clusters", "check", mine]) == 0
    said = capsys.readouterr().out
    assert "more than its PCIe link carries" not in said
    assert "more than PCIe Gen6" not in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            PLAIN.replace("NIC0\tPIX", "NIC0\tSYS"),
            "the matrix contradicts itself: GPU0 to NIC0 is PIX, and back SYS",
        ),
        (PLAIN.replace("GPU0\tGPU1", "GPU0\tGPU0"), "the matrix contradicts itself: it has GPU0 twice"),
        (
            "<system><cpu>" + "<pci class='0x030200'><gpu/></pci>" * 2000 + "</cpu></system>",
            "are more than any node has; 72 are the most",
        ),
    ],
)
def test_contradictions_and_crowds_are_refused(tmp_path, text, says):
    with pytest.raises(HardwareError, match=says):
        read(tmp_path, text)


def test_a_line_of_many_megabytes_is_not_followed_to_its_end(tmp_path):
    text = "-[0000:00]-" + "-[00]-" * 5000 + "-00.0  NVIDIA Corporation GA100 [A100]\n"
    with pytest.raises(HardwareError, match="names no accelerator"):
        read(tmp_path, text)


def test_a_slower_nic_beside_the_one_of_the_collective_is_left_out_by_its_link(tmp_path):
    cards = (
        ("3b", "3D controller: NVIDIA Corporation GH100 [H100]", "32GT/s, Width x16"),
        (
            "18",
            "Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]",
            "32GT/s, Width x16",
        ),
        ("19", "Ethernet controller: Intel Corporation I350", "5GT/s, Width x4"),
    )
    text = "\n".join(
        f"0000:{bus}:00.0 {name}\n\tNUMA node: 0\n\t\tLnkSta:\tSpeed {link}\n" for bus, name, link in cards
    )
    found = drafted(tmp_path, text)
    assert "1 H100 and 1 NIC per node" in found.cluster.summary
    assert "left out, as farther away or slower: 0000:19:00.0" in found.remarks


PAIRS = (
    ("X", "NV4", "SOC", "SOC"),
    ("NV4", "X", "SOC", "SOC"),
    ("SOC", "SOC", "X", "NV4"),
    ("SOC", "SOC", "NV4", "X"),
)


@pytest.mark.parametrize("joined_all", [False, True])
def test_nvlinks_between_pairs_alone_do_not_join_a_node(tmp_path, joined_all):
    rows = [[cell if cell == "X" or not joined_all else "NV4" for cell in row] for row in PAIRS]
    lines = (f"GPU{at}\t" + "\t".join(row) + "\tPHB\t0-7\t0" for at, row in enumerate(rows))
    found = drafted(tmp_path, matrix(*lines, head="GPU0\tGPU1\tGPU2\tGPU3\tmlx5_0"))
    said = found.cluster.figures["scaleup.rate"].assumption
    assert ("NVLinks join some accelerators alone" in said) is not joined_all


def test_a_dump_of_nccl_with_bridges_between_pairs_is_no_nvlink_of_all(tmp_path):
    assert not read(tmp_path, machines.dgx_a100()).islands
    gpu = "<pci busid='{0}' class='0x030200'><gpu><nvlink target='{1}' count='4' tclass='0x030200'/></gpu></pci>"
    cards = "".join(gpu.format(one, other) for one, other in ("ab", "ba", "cd", "dc"))
    assert read(tmp_path, f"<system><cpu numaid='0'>{cards}</cpu></system>").islands


ENCODINGS = sorted({*encodings.aliases.aliases.values(), "foo", "", "utf-8 ", "../x"})


def test_an_xml_in_any_encoding_is_a_topology_or_an_error_in_words():
    """Expat asks Python's codecs, of which some are no encodings of text."""
    body = '<system><cpu numaid="0"><pci busid="0000:1b:00.0" class="0x030200"><gpu/></pci></cpu></system>'
    refused = {}
    for name in ENCODINGS:
        try:
            read_topology(f'<?xml version="1.0" encoding="{name}"?>{body}'.encode())
        except HardwareError as problem:
            refused[name] = str(problem)
    assert not any("\n" in said or "Error" in said for said in refused.values())
    assert {"foo", "utf_7", "gb18030", "rot_13", "zlib_codec", "idna"} & {*ENCODINGS} <= refused.keys()
    assert not {"utf_8", "ascii", "latin_1"} & refused.keys()


def test_a_card_that_is_given_twice_counts_as_one():
    gpu = '<pci busid="0000:{}:00.0" class="0x030200"><gpu/></pci>'
    cards = "".join(gpu.format(bus) for bus in ("1b", "1B", "1c"))
    topology = read_topology(f"<system><cpu numaid='0'>{cards}</cpu></system>".encode())
    assert [card.name for card in topology.accelerators] == ["0000:1b:00.0", "0000:1c:00.0"]
    assert "1 of its 3 cards are given twice, and count as one each" in topology.remarks


def test_a_matrix_of_more_devices_than_a_node_has_is_refused_before_it_is_compared():
    head = "        " + "    ".join(f"GPU{at}" for at in range(73)) + "\nGPU0     X\n"
    with pytest.raises(HardwareError, match=r"^73 accelerators are more than any node has; 72 are the most$"):
        read_topology(head.encode())


@given(st.integers(2, 20), st.data())
def test_accelerators_are_apart_where_no_chain_of_links_joins_them(count, data):
    """Whatever the order of the links: merging groups lost some of their members once."""
    names = [f"GPU{number}" for number in range(count)]
    every = [(a, b) for a in range(count) for b in range(a)]
    links = data.draw(st.lists(st.sampled_from(every), max_size=3 * count))
    reach = np.eye(count, dtype=int)
    for a, b in links:
        reach[a, b] = reach[b, a] = 1
    for _ in range(count.bit_length()):  # each time twice as many links away
        reach = (reach @ reach > 0).astype(int)
    assert are_islands(names, [(names[a], names[b]) for a, b in links]) == (not reach.all())
    assert not are_islands(names, [(names[a], names[b]) for a, b in data.draw(st.permutations(every))])


USUAL = """<system version="1"><cpu numaid="0">{}</cpu></system>"""
SWITCH = """<pci busid="0000:{0}0:00.0" class="0x060400" link_speed="32.0 GT/s" link_width="16">
<pci busid="0000:{0}1:00.0" class="0x030200" link_speed="32.0 GT/s" link_width="16"/>{1}</pci>"""
CARD = """<pci busid="0000:{}{}:00.0" class="0x{}00" vendor="0x{}" link_speed="{} GT/s" link_width="{}"/>"""


def beside(count, code="0207", vendor="15b3", speed="32.0", width=16):
    """Return a node of two accelerators, each with so many NICs of a kind beside it."""
    nics = (
        "".join(CARD.format(at, nic + 2, code, vendor, speed, width) for nic in range(count)) for at in (1, 2)
    )
    return USUAL.format("".join(SWITCH.format(at, each) for at, each in zip((1, 2), nics, strict=True)))


@pytest.mark.parametrize(
    ("count", "speed", "width", "gigabits"),
    [(1, "8.0", 16, 100), (1, "16.0", 16, 200), (1, "32.0", 16, 400), (1, "16.0", 8, 100), (2, "16.0", 16, 400), (4, "32.0", 16, 400)],
)  # fmt: skip
def test_a_nic_whose_rate_is_not_said_has_the_usual_one_of_its_link(tmp_path, count, speed, width, gigabits):
    """Several of an accelerator carry their sum, and no more than its own link: p5's four of 100 Gb/s have links for 400 each."""
    rate = drafted(tmp_path, beside(count, speed=speed, width=width)).cluster.figures["nic.rate"]
    assert (rate.value, rate.unit, rate.range) == (gigabits, "Gbit/s", (gigabits / 2, gigabits * 2))
    assert rate.assumption.startswith("usual for NICs at")


@pytest.mark.parametrize(
    ("code", "vendor", "library", "transports"),
    [
        ("0207", "15b3", "nccl-verbs", ("infiniband", "tcp")),
        ("0200", "15b3", "nccl-verbs", ("roce", "tcp")),
        ("0200", "1d0f", "nccl-efa", ("efa", "tcp")),
    ],
)
def test_library_and_transport_agree_with_what_the_nics_are(tmp_path, code, vendor, library, transports):
    cluster = drafted(tmp_path, beside(1, code, vendor)).cluster
    assert (cluster.library, cluster.transports) == (library, transports)
    assert peerlab.simulate(peerlab.Scenario(cluster=cluster, nodes=2, path="peer-direct")).time_ps > 0
