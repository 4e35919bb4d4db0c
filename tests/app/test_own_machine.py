"""The explorer's panel for a machine of one's own: what is pasted is drafted as a cluster file, and drawn."""

import asyncio
import time

import machines
import pytest
from fake_sys import GPU, MELLANOX, FakeSys

import peerlab
from peerlab.app.explore import explore
from peerlab.features.clusters import drafted_file
from peerlab.machine import read_machine
from peerlab.topology.load_topology import MOST_BYTES


@pytest.fixture
def lab(own_folder):  # noqa: ARG001  (its files lie there)
    one = explore()
    one.controls.cluster.value = "your machine"
    yield one
    one.close()


def after(lab, act):
    async def acting():
        act()
        await lab.controls.machine._task
        await simulated(lab)
        lab.rest()

    asyncio.run(acting())
    return lab.controls.machine._short.value


async def simulated(lab):
    """Wait for what a busy machine simulates in the background."""
    end = time.monotonic() + 60
    while lab._job is not None:
        assert time.monotonic() < end, "it never came"
        await asyncio.sleep(0.05)


def draw(lab, held, name="your machine"):
    return after(lab, lambda: lab.controls.machine.read(held, name))


def cluster_names(lab):
    return [label for label, _ in lab.controls.cluster.options]


def test_the_list_opens_the_panel_and_closing_it_names_what_is_shown(lab):
    assert lab.controls.machine.panel.layout.display == ""
    assert lab.scenario == peerlab.Scenario()
    lab.controls.machine.toggle.value = False
    assert lab.controls.machine.panel.layout.display == "none"
    assert lab.controls.cluster.value == "dl1"
    for leave in (
        lambda: setattr(lab.controls.more, "value", True),
        lambda: setattr(lab.controls.cluster, "value", "p4d"),
    ):
        lab.controls.cluster.value = "your machine"
        assert lab.controls.machine.panel.layout.display == ""
        leave()
        assert lab.controls.machine.panel.layout.display == "none"
    assert lab.scenario.cluster == "p4d"


def test_a_pasted_matrix_is_drafted_and_drawn_and_undo_goes_back(lab, tmp_path):
    said = draw(lab, machines.virtual_h100())
    assert lab.scenario.cluster == "my-machine.toml"
    assert lab.scenario.hardware.devices == 8
    assert f"<b>my-machine.toml</b>, written in {tmp_path}" in said
    assert "8 NVIDIA GPUs and 8 NICs per node, each NIC on a root port of its own" in said
    assert "8 PCIe switches at 2 CPU sockets" in said
    assert "<li>the matrix has no rates: those of PCIe links and NICs are assumed</li>" in said
    cluster = peerlab.load_cluster(tmp_path / "my-machine.toml")
    assert f"{len(cluster.assumptions)} assumed †, most as on roce-100g-a100" in said
    assert lab.controls.cluster.label == "my-machine.toml"
    assert lab.controls.machine.panel.layout.display == ""  # its words stay
    assert lab.controls.machine._asking.layout.display == "none"
    lab.controls.machine._again.click()
    assert lab.controls.machine._asking.layout.display == ""
    lab.controls.undo.click()
    assert lab.scenario == peerlab.Scenario()
    assert lab.controls.cluster.value == "dl1"
    lab.controls.cluster.value = "my-machine.toml"
    assert lab.scenario.given_cluster == cluster


def test_what_moves_the_gain_most_is_named_once_it_is_simulated(lab):
    async def drawn():
        lab.controls.machine.read(machines.h20_mixed(), "your machine")
        await lab.controls.machine._task
        assert "move the gain most" not in lab.controls.machine._short.value
        await simulated(lab)
        await lab._ratio._task
        lab.rest()

    asyncio.run(drawn())
    assert (
        "move the gain most first: host memory bandwidth, PCIe uplink, " in lab.controls.machine._short.value
    )


def test_no_file_is_overwritten_and_the_same_machine_has_one(lab, tmp_path):
    (tmp_path / "my-machine.toml").write_text("mine, and precious")
    (tmp_path / "my-machine-2.toml").mkdir()
    for _ in range(2):
        draw(lab, machines.p4d().encode(), "p4d.xml")
        assert lab.scenario.cluster == "my-machine-3.toml"
    draw(lab, machines.dgx2())
    assert lab.scenario.cluster == "my-machine-4.toml"
    assert (tmp_path / "my-machine.toml").read_text() == "mine, and precious"
    assert cluster_names(lab)[-4:-2] == ["my-machine-3.toml", "my-machine-4.toml"]
    assert "p4d.xml" in (tmp_path / "my-machine-3.toml").read_text()


def test_the_machine_of_the_kernel_is_read(lab, tmp_path, monkeypatch):
    there = FakeSys(tmp_path / "host")
    there.pci("0000:00:01.0", "0000:01:00.0", kind=GPU)
    there.rdma("mlx5_0", there.pci("0000:00:02.0", "0000:02:00.0", kind=0x020000, vendor=MELLANOX))
    monkeypatch.setattr(drafted_file, "read_machine", lambda: read_machine(there.root))
    said = after(lab, lab.controls.machine._here.click)
    assert "1 NVIDIA GPU and 1 NIC per node" in said
    assert "drafted from this machine" in said


def test_a_machine_without_accelerators_is_said_in_a_line(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(drafted_file, "read_machine", lambda: read_machine(FakeSys(tmp_path / "host").root))
    assert after(lab, lab.controls.machine.read_here) == (
        "<div class='pl-error'><p role='alert'>this machine: no accelerator was found here; "
        "paste what its tools printed on the machine that has some</p></div>"
    )


BAD = {
    "": "Nothing to read yet: paste a machine above",
    "# nccl-tests\n 8 2 float sum": "this is of no tool that is known; known are NCCL",
    machines.h100_nine_nics()[:400]: "the matrix is cut",
    machines.p4d()[:900]: "no whole XML",
    b"\x7fELF\x02\x01\0\xff" * 100: "this is of no tool that is known",
    b"<system>" + b" " * MOST_BYTES: "larger than 1 MiB; no topology is as large",
    "<img src=x onerror=alert(1)>": "no whole XML",
}


@pytest.mark.parametrize("held", BAD, ids=range(len(BAD)))
def test_what_is_no_topology_is_said_in_one_line_and_nothing_changes(lab, tmp_path, held):
    lab.controls.machine._text.value = "kept"
    before = lab.scenario
    if held:
        said = draw(lab, held)
    else:
        lab.controls.machine.read(held, "your machine")
        said = lab.controls.machine._short.value
    assert said.startswith("<div class='pl-error'><p role='alert'>")
    assert BAD[held] in said
    assert "\n" not in said
    assert "<img" not in said
    assert lab.scenario is before
    assert list(tmp_path.iterdir()) == []
    assert lab.controls.machine._text.value == "kept"
    assert not lab.controls.machine.files


def test_a_folder_that_cannot_be_written_is_said_and_nothing_changes(lab, tmp_path):
    before = lab.scenario
    tmp_path.rmdir()
    assert "role='alert'" in draw(lab, machines.p4d())
    assert lab.scenario is before
