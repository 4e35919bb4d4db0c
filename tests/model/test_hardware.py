import os
import tomllib
from dataclasses import replace

import pytest

import peerlab
from peerlab.base.errors import HardwareError, PeerlabError
from peerlab.base.places import folder
from peerlab.question.presets import load_cluster, read_cluster

DL1 = (folder("data") / "hardware" / "dl1.toml").read_text()


def refused(text):
    with pytest.raises(HardwareError) as caught:
        read_cluster(text, "my.toml")
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", peerlab.known_clusters())
def test_every_figure_has_unit_basis_and_source_or_says_what_it_assumes(name):
    cluster = peerlab.load_cluster(name)
    assert cluster.name == name
    for figure in cluster.figures.values():
        assert figure.unit
        assert figure.basis
        assert figure.source or figure.assumption


def test_dl1_is_wired_as_documented():
    dl1 = peerlab.load_cluster("dl1")
    assert (dl1.devices, dl1.nics, dl1.node_wire_Bps) == (8, 4, 50 * 10**9)
    assert dl1.uplink_Bps == 14_100_000_000
    assert dl1.paths[0] == "host-rdma"
    assert dl1.assumptions[0] is dl1.wiring
    assert dl1.wiring.key == "wiring.nic"


def test_memory_says_that_what_no_document_states_is_assumed():
    assumed = {figure.key for figure in peerlab.load_cluster("dl1").assumptions}
    assert {"device.hbm", "host.dram", "device.copy_engine", "fabric.latency"} <= assumed


def test_an_unknown_cluster_gets_the_nearest_name():
    with pytest.raises(HardwareError, match="unknown cluster 'dl2'; did you mean 'dl1'"):
        peerlab.load_cluster("dl2")


@pytest.mark.parametrize(
    ("name", "offer"),
    [
        ("b200", "'b200-ndr', 'b200-roce' or 'p6-b200'"),
        ("a100", "'azure-nd-a100-v4', 'infiniband-hdr-a100' or 'roce-100g-a100'"),
        ("gb200", "'gb200-nvl72'"),
        ("gaudi", "'gaudi2' or 'gaudi3'"),
        ("p5.48xlarge", "'p5'"),
        ("Gaudi DL1", "'dl1'"),
        ("mi300", "'mi300x-roce'"),
    ],
)
def test_an_unknown_cluster_is_answered_by_those_that_are_named_by_its_word(name, offer):
    with pytest.raises(HardwareError, match=f"did you mean {offer}\\?"):
        load_cluster(name)


def test_a_missing_source_is_refused():
    text = DL1.replace('source = "AWS Compute blog, Amazon EC2 DL1 instances deep dive"', 'source = " "', 1)
    assert refused(text).startswith("my.toml: node.numa_domains has no source")


def test_a_negative_capacity_is_refused():
    assert "switch.uplink = -14.1 GB/s must be greater than zero" in refused(
        DL1.replace("uplink = { value = 14.1", "uplink = { value = -14.1")
    )


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("uplink =", "uplnk =", "did you mean 'uplink'"),
        ("[switch]", "[swich]", "did you mean 'switch'"),
        ("basis =", "base =", "did you mean 'basis'"),
        ("lacks", "laks", "did you mean 'lacks'"),
        ('"host-rdma"', '"host-rmda"', "did you mean 'host-rdma'"),
        ('"peer-direct"', '"host-rdma"', "path 'host-rdma' is listed twice"),
        ('unit = "GB/s"', 'unit = "GB"', "is not a rate"),
        ('unit = "us"', 'unit = "moons"', "is not a time"),
        ("value = 2, unit", "value = 2.5, unit", "a count is a whole number"),
        ("value = 14.1", 'value = "14.1"', "is not a number"),
        ("value = 14.1", "value = inf", "is not a number"),
        ("value = 14.1", "value = true", "is not a number"),
        ('title = "Gaudi DL1"', "", "title is missing"),
        ('unit = "GB/s", ', "", "has no unit"),
        ("[scaleup]", "[x", "is not a TOML file"),
    ],
)
def test_a_misspelt_or_impossible_entry_is_named(old, new, says):
    assert old in DL1
    assert says in refused(DL1.replace(old, new, 1))


@pytest.mark.parametrize(
    "key", ["switch.uplink", "registration.base", "scaleup.rate", "host.packet_size", "nic.rate"]
)
def test_a_figure_that_a_path_needs_may_not_be_missing(key):
    section, name = key.split(".")
    lines, inside = [], ""
    for line in DL1.splitlines():
        inside = line if line.startswith("[") else inside
        if not (inside == f"[{section}]" and line.startswith(f"{name} ")):
            lines.append(line)
    assert f"{key} is missing" in refused("\n".join(lines))


def test_a_file_of_your_own_works_like_a_known_name(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(DL1.replace('name = "dl1"', 'name = "mine"'))
    assert peerlab.Scenario(cluster=mine).hardware.name == "mine"
    assert peerlab.Scenario(cluster=str(mine)).hardware.name == "mine"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"\x00\x01"])
def test_a_file_that_is_no_cluster_is_refused_in_one_line(tmp_path, content):
    bad = tmp_path / "bad.toml"
    bad.write_bytes(content)
    with pytest.raises(HardwareError) as caught:
        peerlab.load_cluster(bad)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(HardwareError, match=r"cannot read .*none\.toml: No such file"):
        peerlab.load_cluster(tmp_path / "none.toml")


def test_a_what_if_may_be_a_product_with_a_fraction():
    dl1 = load_cluster("dl1")
    twice = replace(dl1, uplink_Bps=2.0 * dl1.uplink_Bps)
    assert twice == replace(dl1, uplink_Bps=2 * dl1.uplink_Bps)
    assert isinstance(twice.uplink_Bps, int)


def test_a_what_if_changes_one_figure_and_says_so():
    dl1 = peerlab.load_cluster("dl1")
    wider = dl1.with_figure("switch.uplink", 28.2)
    assert wider.uplink_Bps == 28_200_000_000
    assert wider.figures["switch.uplink"].assumption == "a what-if value"
    assert dl1.uplink_Bps == 14_100_000_000
    with pytest.raises(HardwareError, match=r"did you mean 'switch\.uplink'"):
        dl1.with_figure("switch.uplnk", 1)
    with pytest.raises(HardwareError, match="greater than zero"):
        dl1.with_figure("switch.uplink", 0)


def test_the_files_hold_no_key_that_the_loader_would_ignore():
    for name in peerlab.known_clusters():
        text = (folder("data") / "hardware" / f"{name}.toml").read_text()
        written = {
            f"{s}.{k}"
            for s, v in tomllib.loads(text).items()
            if isinstance(v, dict) and s not in ("paths", "leaves_out", "wiring")
            for k in v
        }
        written -= {"library.name", "library.version", "transport.has"}
        assert written == set(peerlab.load_cluster(name).figures)


def test_what_is_no_small_file_is_refused_without_reading_it(tmp_path):
    os.mkfifo(tmp_path / "fifo.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    (tmp_path / "huge.toml").write_bytes(b"#" * (2**20 + 1))
    for name in ("fifo.toml", "zero.toml", "huge.toml"):
        with pytest.raises(PeerlabError, match=r"not a file|larger than 1 MiB; that is no cluster file"):
            peerlab.load_cluster(tmp_path / name)
    for name in ("\x00.toml", "~no-such-user/x.toml"):
        with pytest.raises(PeerlabError, match="cannot read"):
            peerlab.load_cluster(name)


@pytest.mark.parametrize("key", ["scaleup.rate", "scaleup.latency", "device.hbm"])
def test_several_devices_a_node_need_what_joins_them(root, key):
    section, _, name = key.partition(".")
    lines = (root / "data" / "hardware" / "dl1.toml").read_text().splitlines()
    where = lines.index(f"[{section}]")
    line = next(i for i in range(where, len(lines)) if lines[i].startswith(f"{name} = "))
    with pytest.raises(PeerlabError, match=f"{key} is missing"):
        read_cluster("\n".join(lines[:line] + lines[line + 1 :]), "mine.toml")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("uplink = { value = 14.1,", "uplink = { value = 1e-9,", "possible are 10 MB/s to 1 PB/s"),
        ("packet_cost = { value = 2.806,", "packet_cost = { value = 1e12,", "possible are 0 to 10 s"),
        ("devices_per_switch = { value = 2,", "devices_per_switch = { value = 1048576,", "at most 1024"),
    ],
)
def test_a_figure_beyond_what_can_be_counted_is_refused(old, new, says):
    assert old in DL1
    wider = DL1.replace("range = [0.7, 4]", "range = [0.7, 1e13]") if "packet" in old else DL1
    assert says in refused(wider.replace(old, new, 1))


@pytest.mark.parametrize("digits", [40, 4000, 5000])
def test_a_number_of_very_many_digits_is_refused(digits):
    assert "value" in refused(DL1.replace("value = 14.1", f"value = {'9' * digits}", 1)) or digits == 5000


def test_a_size_keeps_all_its_digits_and_a_what_if_is_checked_like_a_file():
    dl1 = peerlab.load_cluster("dl1")
    exact = read_cluster(DL1.replace('value = 1, unit = "MiB"', 'value = 1.048577, unit = "MB"'), "mine.toml")
    assert exact.slice_direct_bytes == 1048577
    with pytest.raises(HardwareError, match="too many; at most 1024"):
        dl1.with_figure("node.devices_per_switch", 1000)
    with pytest.raises(HardwareError, match=r"needs scaleup.rate"):
        peerlab.load_cluster("ideal-100g").with_figure("node.devices_per_switch", 2)
