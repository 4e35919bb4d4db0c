"""A cluster file drafted from a machine, and what is said about what it lacks."""

import os
import re
import tomllib
from datetime import date

import pytest
from fake_sys import ETHERNET, GPU, MELLANOX, FakeSys
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import HardwareError
from peerlab.base.places import folder
from peerlab.features.clusters.draft import draft, write_draft
from peerlab.machine import read_machine
from peerlab.model.cluster_reading import examine
from peerlab.model.guide import GUIDE
from peerlab.model.hardware import FIGURE_KINDS, Figure, internal_value
from peerlab.question.completeness import check
from peerlab.question.plausible import implausible
from peerlab.question.presets import read_cluster

DAY = date(2026, 1, 31)
DL1 = (folder("data") / "hardware" / "dl1.toml").read_text()


@pytest.fixture
def fake(tmp_path):
    return FakeSys(tmp_path / "machine")


def drafted(fake):
    return draft(read_machine(fake.root), "my.toml", DAY)


def test_what_the_machine_says_is_filled_in_with_the_file_it_was_read_from(fake):
    reading = examine(drafted(fake.pairs("8.0 GT/s PCIe")))
    assert reading.wrong == []
    found = {key: (figure.value, figure.unit) for key, figure in reading.figures.items()}
    assert found == {
        "node.numa_domains": (2, "1"),
        "node.switches_per_numa": (2, "1"),
        "node.devices_per_switch": (2, "1"),
        "node.nics_per_switch": (1, "1"),
        "device.pcie": (14.1, "GB/s"),
        "switch.uplink": (14.1, "GB/s"),
        "nic.rate": (100, "Gbit/s"),
        "host.packet_size": (9000, "B"),
    }
    for figure in reading.figures.values():
        assert re.match(r"read from .*/sys/.* on 2026-01-31(: |$)", figure.source)
    assert reading.paths == ("host-rdma", "peer-direct", "host-tcp")


def test_a_draft_holds_no_name_of_the_host(fake):
    assert os.uname().nodename not in drafted(fake.pairs())


def test_every_figure_is_explained_and_offered_once(fake):
    text = drafted(fake)
    assert set(GUIDE) == set(FIGURE_KINDS)
    for key, entry in GUIDE.items():
        section, _, name = key.partition(".")
        (inside,) = re.findall(rf"^\[{section}\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
        assert len(re.findall(rf"^# {name} = ", inside, re.MULTILINE)) == 1
        internal_value(
            Figure(key=key, value=1, unit=entry.unit, basis="", source="", assumption="", range=None)
        )


def test_filled_in_as_it_asks_a_draft_is_complete(fake, tmp_path):
    text = drafted(fake.pairs()).partition("\n[leaves_out]")[0]
    file = tmp_path / "my.toml"
    file.write_text(text)
    asked = {one.key for one in check(file).missing}
    answers = {"1": "1", "us": "1", "B": "4096", "KiB": "512", "GB/s": "200", "Gbit/s": "100"}
    lines, section = [], ""
    for line in text.splitlines():
        section = line.strip("[]") if line.startswith("[") else section
        name = line.removeprefix("# ").partition(" = ")[0]
        if name in asked or f"{section}.{name}" in asked:
            unit = re.search(r'unit = "(.*?)"', line)
            value = f"value = {answers[unit[1]]}" if unit else ""
            line = line.removeprefix("# ").replace('value = "?"', value).replace('"?"', '"measured"')  # noqa: PLW2901
        lines.append(line)
    file.write_text("\n".join(lines))
    report = check(file)
    assert (report.wrong, report.missing) == ((), ())
    cluster = peerlab.load_cluster(file)
    assert (cluster.devices, cluster.nics) == (8, 4)
    assert peerlab.simulate(peerlab.Scenario(cluster=cluster)).busbw_GBps > 0


def test_uncommented_but_not_filled_in_counts_as_not_there(fake, tmp_path):
    file = tmp_path / "my.toml"
    file.write_text(drafted(fake).replace('# title = "?"', 'title = "?"').replace("# rate = {", "rate = {"))
    report = check(file)
    assert "title" in {one.key for one in report.missing}
    assert any(text.startswith("nic.rate: value '?' is not a number") for text in report.wrong)


def test_what_the_machine_hides_or_has_otherwise_is_said(fake):
    fake.numa(2)
    for bus, count in (("00", 1), ("40", 2)):
        fake.pci(f"0000:{bus}:01.0")
        fake.pci(f"0000:{bus}:01.0", f"0000:{bus[0]}1:00.0")
        for index in range(count):
            fake.pci(
                f"0000:{bus}:01.0",
                f"0000:{bus[0]}1:00.0",
                f"0000:{bus[0]}{2 + index}:00.0",
                kind=GPU,
                numa=-1,
            )
    fake.net("eth0", fake.pci("0000:00:03.0", kind=ETHERNET, vendor=MELLANOX), speed=-1)
    text = drafted(fake)
    remarks = re.findall(r"here: (.*(?:\n#     .*)*)", text)
    said = " ".join(" ".join(remark.split("\n#     ")) for remark in remarks)
    assert "the firmware does not say to which NUMA nodes" in said
    assert "they differ (1, 2); peerlab takes all as alike" in said
    assert "no NIC below an accelerator's switch or port (eth0 at 0000:00:03.0)" in said
    assert "the driver of eth0 does not say" in said
    assert tomllib.loads(text)["paths"]["has"] == ["host-tcp"]


def test_a_virtual_machine_that_hides_its_bridges_is_not_taken_for_one_without_switches(fake):
    fake.numa(2)
    for index in range(8):
        fake.pci(f"0000:00:1{index}.0", kind=GPU, numa=index // 4)
    reading = examine(drafted(fake))
    assert set(reading.figures) == {"node.numa_domains", "device.pcie"}
    assert drafted(fake).count("no bridge is to be seen above the accelerators") == 4


def test_accelerators_at_ports_of_their_own_are_switches_of_one(fake):
    fake.numa(1)
    for index in range(4):
        fake.pci(f"0000:00:0{index}.0")
        fake.pci(f"0000:00:0{index}.0", f"0000:0{1 + index}:00.0", kind=GPU)
    figures = examine(drafted(fake)).figures
    assert figures["node.switches_per_numa"].value == 4
    assert figures["node.devices_per_switch"].value == 1
    assert "no switch: each accelerator has a port of the CPU of its own" in drafted(fake)


def test_a_draft_overwrites_nothing_unless_told(fake, tmp_path):
    file, machine = tmp_path / "my.toml", read_machine(fake.root)
    write_draft(file, machine, DAY)
    file.write_text("mine")
    with pytest.raises(HardwareError, match=r"my\.toml is there already; --force overwrites it"):
        write_draft(file, machine, DAY)
    assert file.read_text() == "mine"
    write_draft(file, machine, DAY, force=True)
    assert file.read_text() != "mine"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("my.txt", "ends in .toml, as in my.toml"),
        ("no/such/my.toml", "cannot write .*: there is no folder .*no/such"),
        ("folder.toml", "cannot write .*: not a file"),
        ("pipe.toml", "cannot write .*: not a file"),
        ("\x00.toml", "cannot write"),
        ("~no-such-user/my.toml", "cannot write"),
    ],
)
def test_where_nothing_can_be_written_one_line_says_so(fake, tmp_path, name, says):
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    path = tmp_path / name if "~" not in name else type(tmp_path)(name)
    with pytest.raises(HardwareError, match=says) as caught:
        write_draft(path, read_machine(fake.root), DAY, force=True)
    assert "\n" not in str(caught.value)


@given(name=st.text(min_size=1, max_size=20))
def test_any_file_name_makes_a_file_that_can_be_read(tmp_path_factory, name):
    machine = read_machine(tmp_path_factory.getbasetemp())
    assert examine(draft(machine, f"{name}.toml", DAY)).wrong == []


def test_everything_missing_is_said_at_once_with_who_needs_it(tmp_path):
    file = tmp_path / "bare.toml"
    file.write_text('name = "bare"\n[paths]\nhas = ["wire", "host-rdma"]\n')
    report = check(file)
    missing = {one.key: one.why for one in report.missing}
    assert {"title", "device_name", "summary"} < set(missing)
    assert missing["nic.rate"] == "every path needs it"
    assert missing["switch.uplink"] == "path 'host-rdma' needs it"
    assert missing["scaleup.rate"] == "a node with several devices needs it"
    assert "registration.base" not in missing
    assert not report.complete


def test_names_are_one_line_that_tells_a_terminal_nothing(tmp_path):
    file = tmp_path / "evil.toml"
    file.write_text(
        re.sub(r"^title = .*$", r'title = "evil\\u001b[31m\\nline two"', DL1, count=1, flags=re.MULTILINE)
    )
    assert check(file).wrong == (
        r"title must be one line of letters that can be printed, not 'evil\x1b[31m\nline two'",
    )


def test_several_mistakes_are_all_named(tmp_path):
    file = tmp_path / "bad.toml"
    bad = DL1.replace("uplink = { value = 14.1", "uplink = { value = -14.1").replace("lookup =", "lokup =")
    file.write_text(bad.replace('"host-tcp"', '"host-tpc"').replace("[limits]", "[limit]"))
    wrong = " | ".join(check(file).wrong)
    for part in (
        "must be greater than zero",
        "did you mean 'lookup'",
        "did you mean 'host-tcp'",
        "did you mean 'limits'",
    ):
        assert part in wrong
    with pytest.raises(HardwareError, match=r"\(\d+ more: peerlab clusters check bad\.toml\)"):
        read_cluster(file.read_text(), "bad.toml")


@given(drop=st.sets(st.integers(0, DL1.count("\n")), min_size=1, max_size=4))
def test_a_file_is_complete_exactly_if_it_can_be_loaded(drop):
    text = "\n".join(line for number, line in enumerate(DL1.splitlines()) if number not in drop)
    reading = examine(text)
    if reading.wrong or reading.missing:
        with pytest.raises(HardwareError):
            read_cluster(text, "my.toml")
    else:
        read_cluster(text, "my.toml")


def suspicious(**changes):
    dl1 = peerlab.load_cluster("dl1")
    figures = dict(dl1.figures)
    for key, (value, unit) in changes.items():
        name = key.replace("__", ".")
        figures[name] = Figure(
            key=name, value=value, unit=unit, basis="", source="x", assumption="", range=None
        )
    return " | ".join(implausible(figures))


@pytest.mark.parametrize(
    ("key", "value", "unit", "says"),
    [
        ("nic__rate", 100, "GB/s", "is 800 Gbit/s; is it meant in Gbit/s?"),
        ("nic__rate", 800, "Gbit/s", "is it what several carry together?"),
        ("nic__rate", 12.5, "Gbit/s", "is it meant in GB/s? 12.5 GB/s are 100 Gbit/s"),
        ("switch__uplink", 6, "GB/s", "the uplink carries less than half of what one NIC does (12.5 GB/s)"),
        (
            "switch__uplink",
            32,
            "GB/s",
            "is what PCIe Gen4 x16 carries before its own headers; about 28.2 GB/s",
        ),
        ("device__pcie", 256, "GB/s", "more than PCIe Gen6 x16"),
        ("device__copy_engine", 20, "GB/s", "more than its PCIe link carries"),
        ("device__hbm", 3.35, "GB/s", "is unusual (others have 100 to 30000 GB/s)"),
        ("fabric__latency", 5, "s", "is unusual (others have 100 ns to 1 ms)"),
        ("scaleup__rate", 900, "GB/s", "is it a device's whole rate?"),
        ("node__nics_per_switch", 3, "1", "a device stripes over 1 of them, so 1 stay idle"),
        ("node__devices_per_switch", 3, "1", ""),
    ],
)
def test_what_is_hardly_meant_is_pointed_at(key, value, unit, says):
    assert says in suspicious(**{key: (value, unit)})


def test_devices_that_stripe_over_all_their_nics_are_not_pointed_at():
    assert suspicious(node__nics_per_switch=(4, "1")) == ""


def test_devices_that_cannot_share_their_nics_evenly_are_pointed_at():
    said = suspicious(node__nics_per_switch=(2, "1"), node__devices_per_switch=(3, "1"))
    assert "do not share the NICs evenly" in said


@pytest.mark.parametrize("name", peerlab.known_clusters())
def test_no_cluster_that_peerlab_brings_looks_implausible(name):
    report = check(name)
    assert report.complete
    assert report.implausible == ()
