"""Which path is a log from? Real figures, with and without the lines that tell."""

import dataclasses
import json
import math
import re
import tomllib

import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st
from logs import (
    DIRECT_US,
    G4DN_US,
    MIB,
    NCCL_RDMA_US,
    NCCL_TCP_US,
    P5_US,
    STAGED_US,
    hccl,
    nccl,
    osu,
    osu_bw,
)  # fmt: skip

import peerlab
from peerlab import Records
from peerlab.base.document import document_lines
from peerlab.cli import main
from peerlab.diagnosis import explanations, fits, shortfall
from peerlab.diagnosis.evidence import from_latency
from peerlab.diagnosis.knowledge import knowledge
from peerlab.diagnosis.observed import observe
from peerlab.features.diagnose.diagnosis_document import diagnosis_document
from peerlab.model.paths import PATHS

T4 = ("Tesla T4",)
EFA = ("Selected Provider is efa (found 1 nics)", "via NET/AWS Libfabric/0")
ON_DEVICE = {"command": "osu_bw D D"}
SMALL_RDMA = {1: 0.00090, 64: 0.0575, MIB: 23.88, 2 * MIB: 23.96, 4 * MIB: 23.99}
SMALL_TCP = {1: 0.00016, 64: 0.0104, MIB: 2.919, 2 * MIB: 3.047, 4 * MIB: 3.121}

KNOWN = {
    "NCCL over TCP": (nccl(NCCL_TCP_US), None, "host-tcp"),
    "NCCL over RDMA": (nccl(NCCL_RDMA_US), None, "peer-direct"),
    "NCCL over EFA, lines": (nccl(G4DN_US, 2, 2, T4, transport=EFA), None, "host-rdma"),
    "NCCL over EFA, figures": (nccl(G4DN_US, 2, 2, T4), None, "host-rdma"),
    "NCCL over EFA, direct": (nccl(P5_US, 16, None, ()), "p5", "peer-direct"),
    "NCCL over EFA, direct, cluster unknown": (nccl(P5_US, 16, None, ()), None, "peer-direct"),
    "OSU, GPUDirect off": (osu(STAGED_US, command="osu_latency -d cuda D D"), "juliet", "host-rdma"),
    "OSU, GPUDirect off, cluster unknown": (
        osu(STAGED_US, command="osu_latency -d cuda D D"),
        None,
        "host-rdma",
    ),
    "OSU, GPUDirect on": (osu(DIRECT_US, command="osu_latency -d cuda D D"), "juliet", "peer-direct"),
    "OSU, GPUDirect on, cluster unknown": (
        osu(DIRECT_US, command="osu_latency -d cuda D D"),
        None,
        "peer-direct",
    ),
    "OSU, host buffers, RDMA": (osu_bw(SMALL_RDMA, command="osu_bw"), "alps-gh200", "host-rdma"),
    "OSU, host buffers, TCP": (osu_bw(SMALL_TCP, command="osu_bw"), "alps-gh200", "host-tcp"),
    "OSU, device buffers, RDMA": (osu_bw(SMALL_RDMA, **ON_DEVICE), "alps-gh200", "peer-direct"),
    "OSU, one node, through the NIC": (osu_bw(SMALL_RDMA, nodes=1, **ON_DEVICE), "alps-gh200", "peer-direct"),
    "HCCL in one box": (hccl(32 * MIB, 147.58), None, "in-node"),
}


DIRECT = ("via NET/AWS Libfabric/0/GDRDMA",)
ONE_GIB_US = 2**30 * 15 / 8 / 479e3
"""What a p5 should take for 1 GiB at a bus bandwidth of 479 GB/s, microseconds."""


def test_a_run_on_a_clear_path_that_is_slower_than_its_own_path_is_never_called_well():
    slow = nccl({2**30: ONE_GIB_US * 479 / 320}, 16, 2, (), transport=DIRECT)
    found = peerlab.diagnose(slow, "p5")
    below = found.shortfall
    assert (found.path, below.path, below.cluster, below.message_bytes) == (*["peer-direct"] * 2, "p5", 2**30)
    assert below.measured_GBps == pytest.approx(320 * 8 / 15, rel=1e-3)
    assert below.measured_GBps < below.low_GBps < below.expected_GBps < below.high_GBps
    assert found.checks[0].what == "what holds this run below what its own path reaches?"
    assert "nothing to gain" not in found.forecast.why_not
    assert f"{below.expected_GBps:.3g} GB/s" in found.forecast.why_not
    assert found.as_dict()["shortfall"]["says"] in found._repr_html_()
    printed = " ".join(
        "\n".join(
            document_lines(diagnosis_document(found, "slow.log", "peerlab expect --log slow.log"))
        ).split()
    )
    assert "The run is slower than its own path: at 1 GiB" in printed
    assert "the path is clear" not in printed


def test_a_clear_path_is_no_healthy_run_and_the_next_step_finds_that_out(tmp_path, capsys):
    log = tmp_path / "a run; of p5.log"
    log.write_text(
        "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
        "1073741824 268435456 float sum -1 4607.0 233.07 437.00 0 4607.0 233.07 437.00 0\n"
    )
    assert main(["diagnose", str(log), "--cluster", "p5", "--nodes", "2"]) == 0
    printed = "".join(capsys.readouterr().out.split())  # a long path is wrapped anywhere
    words = f"* is the run well, too? peerlab expect --log '{log}' --cluster p5 --nodes 2 * the path is clear"
    assert "".join(words.split()) in printed
    assert "nothing:" not in printed


def test_a_run_within_its_band_lacks_nothing():
    found = peerlab.diagnose(nccl({2**30: ONE_GIB_US}, 16, 2, (), transport=DIRECT), "p5")
    assert (found.path, found.clusters, found.shortfall) == ("peer-direct", ("p5",), None)
    assert found.forecast.why_not == "it is Peer Direct already: nothing to gain"


def test_a_path_that_is_only_probable_says_its_odds_and_what_would_settle_it(reference_dir):
    found = peerlab.diagnose(peerlab.load(reference_dir / "logs" / "nccl_nebius_h100_2n16r_ib.log"))
    assert (found.path, found.verdict) == ("peer-direct", "probable")
    odds = f"{100 * found.ranking[0].odds:.0f} %"
    assert (
        found.forecast.why_not
        == f"it is Peer Direct already at odds of {odds}: if so, there is nothing to gain"
    )
    assert "NCCL_DEBUG=INFO" in found.decides.command
    printed = " ".join("\n".join(document_lines(diagnosis_document(found, "a.log"))).split())
    assert f"at odds of {odds}" in printed
    assert "One fact would decide" in printed
    assert printed.count(found.decides.what) == 1, "the question is asked once"


def test_a_second_path_by_kernel_tcp_shares_the_evidence_on_tcp(monkeypatch):
    monkeypatch.setitem(PATHS, "tcp-zero-copy", PATHS["host-tcp"])
    on_rdma = osu(DIRECT_US, command="osu_latency -d cuda D D")
    prompt = [one for one in from_latency(observe(on_rdma), knowledge()) if "too prompt" in one.says]
    assert [set(one.points) for one in prompt] == [{"host-tcp", "tcp-zero-copy"}]


@pytest.mark.parametrize("name", KNOWN)
def test_the_path_of_a_known_log_is_named(name):
    records, cluster, path = KNOWN[name]
    found = peerlab.diagnose(records, cluster)
    assert (found.path, found.ranking[0].path) == (path, path), found.why
    assert found.verdict in ("clear", "probable")
    assert sum(one.odds for one in found.ranking) == pytest.approx(1)
    assert all(one.source and one.seen and one.says for one in found.evidence)
    json.dumps(found.as_dict())


def test_two_flat_rows_tell_nothing():
    found = peerlab.diagnose(nccl({MIB: 500, 2 * MIB: 1000}, 2, 2, ()))
    assert (found.path, found.verdict) == (None, "cannot tell")
    assert "nothing in the log separates" in found.why
    assert "peerlab doctor" in [check.command for check in found.checks]
    assert "nobody can say" in found.forecast.why_not


def test_where_the_path_is_clear_nobody_is_sent_to_find_it_out():
    """What mends a slow path is still to be looked at; what only names the path is not."""
    direct = peerlab.diagnose(nccl(P5_US, 16, None, ()), "p5")
    assert (direct.verdict, direct.checks) == ("clear", ())
    staged = peerlab.diagnose(osu(STAGED_US, command="osu_latency -d cuda D D"), "juliet")
    asked = [check.what for check in staged.checks]
    assert staged.verdict == "clear"
    assert "the copies alone" in asked
    tcp = nccl(NCCL_TCP_US)
    transport = "what does the library say about its transport?"
    assert transport not in [check.what for check in peerlab.diagnose(tcp).checks]
    assert transport in [check.what for check in knowledge().checks_for("host-tcp", "nccl-tests")]


def test_lines_that_contradict_each_other_leave_it_open():
    found = peerlab.diagnose(
        nccl(NCCL_RDMA_US, devices=(), transport=["via NET/IB/0/GDRDMA", "Using network Socket"])
    )
    assert found.path is None
    assert "contradicts itself" in found.why


def test_figures_that_contradict_the_lines_leave_it_open():
    """The log says RDMA from device memory and is as slow as TCP: what is configured is not what happened, or is held up."""
    found = peerlab.diagnose(nccl(NCCL_TCP_US, transport=["via NET/OFI/0/GDRDMA"]))
    assert found.path is None
    assert "GDRDMA" in found.why


@pytest.mark.parametrize(
    ("line", "path", "likelier"),
    [
        ("Channel 00 : 0[0] -> 1[1] [send] via NET/IB/1/GDRDMA", "peer-direct", True),
        ("Channel 00 : 0[0] -> 1[1] [send] via NET/IB/1", "peer-direct", False),
        ("via NET/IB/1(3)/GDRDMA", "peer-direct", True),
        ("via NET/IB/1(3)/GDRDMA(PCI)/Shared", "peer-direct", True),
        ("via NET/IB/1/Shared", "peer-direct", False),
        ("HCCL_GAUDI_DIRECT=1", "native", False),
        ("via NET/Socket/0", "host-tcp", True),
        ("Using network Socket", "host-tcp", True),
        ("NET/OFI Selected Provider is tcp;ofi_rxm", "host-tcp", True),
        ("Selected Provider is efa (found 4 nics)", "host-tcp", False),
        ("Selected provider is cxi, fabric is cxi", "host-tcp", False),
        ("Using network IB", "host-tcp", False),
        ("UCX_IB_GPU_DIRECT_RDMA=0", "peer-direct", False),
        ("UCX_IB_GPU_DIRECT_RDMA=1", "peer-direct", True),
        ("UCX_TLS=tcp,cuda_copy", "host-tcp", True),
        ("FI_PROVIDER=tcp;ofi_rxm", "host-tcp", True),
        ("FI_EFA_USE_DEVICE_RDMA=1", "peer-direct", True),
        ("HCCL_OVER_OFI=1", "peer-direct", False),
    ],
)
def test_known_lines_mean_what_they_mean(line, path, likelier):
    # UCX is MPI's: NCCL heeds it with a plug-in alone
    log = (
        osu({MIB: 500, 2 * MIB: 1000}, command=f"{line} osu_latency -d cuda D D")
        if line.startswith("UCX")
        else nccl({MIB: 500, 2 * MIB: 1000}, 2, 2, (), transport=[line])
    )
    found = peerlab.diagnose(log)
    told = next(one for one in found.evidence if one.kind == "line" and path in one.points)
    assert (told.points[path] > 0) == likelier
    assert told.seen.strip("'") in line


@pytest.mark.parametrize(
    "line", ["UCX_TLS=rc,tcp,cuda_copy", "NET/Plugin : no plugin found", "SHM/direct", "tcp"]
)
def test_other_lines_say_nothing(line):
    found = peerlab.diagnose(nccl({MIB: 500, 2 * MIB: 1000}, 2, 2, (), transport=[line]))
    assert [one for one in found.evidence if one.kind == "line"] == []


def test_host_buffers_say_nothing_about_devices():
    found = peerlab.diagnose(osu_bw(SMALL_RDMA, command="osu_bw"), "alps-gh200")
    assert "Host buffers" in found.notes[0]
    assert "host memory" in found.forecast.why_not


def test_one_box_has_no_network():
    found = peerlab.diagnose(hccl(32 * MIB, 147.58))
    assert found.ranking[0].fit.cluster.name == "gaudi2"
    assert "nothing about a network" in found.notes[0]
    assert "no network" in found.forecast.why_not


def test_busbw_above_the_wire_is_explained():
    found = peerlab.diagnose(nccl(NCCL_RDMA_US))
    (note,) = found.notes
    assert "busbw reaches 123 GB/s, above the 96 GB/s of a node's NICs" in note


def test_nics_that_carry_nothing_are_suspected():
    """1 GiB on 2 p4d at algbw 30.5 GB/s: three of four NICs were in use (NVIDIA/nccl issue 527)."""
    sizes = [64 * MIB, 256 * MIB, 1024 * MIB]
    records = nccl({size: size / 30.5e3 for size in sizes}, 16, 2, (), transport=["via NET/OFI/0/GDRDMA"])
    found = peerlab.diagnose(records, "p4d")
    assert found.path == "peer-direct"
    assert any("as if 3 of 4 NICs" in note for note in found.notes), found.notes


def test_one_nic_of_four_does_not_contradict_lines_that_say_peer_direct():
    """4 GiB on p4d through one of four NICs: algbw 11.1 GB/s (aws-ofi-nccl issue 584)."""
    sizes = [64 * MIB, 256 * MIB, 1024 * MIB]
    lines = ["NET/OFI Selected Provider is efa (found 1 nics)", "via NET/AWS Libfabric/0/GDRDMA"]
    records = nccl({size: size / 11.1e3 for size in sizes}, 16, 2, ("NVIDIA A100",), transport=lines)
    for cluster in ("p4d", None):
        found = peerlab.diagnose(records, cluster)
        assert (found.path, found.verdict) == ("peer-direct", "clear"), found.why
    assert any("libfabric found 1 NIC, and a node of p4d has 4" in note for note in found.notes), found.notes


def test_tcp_may_be_as_slow_as_it_likes():
    """Nothing is slower than TCP, so that being slow cannot speak for another path."""
    times = {size: 300 + size / 0.9e3 for size in (8, 64, MIB, 16 * MIB, 256 * MIB)}
    lines = ["NET/Socket : Using [0]eth0", "via NET/Socket/0"]
    found = peerlab.diagnose(nccl(times, 16, 2, ("NVIDIA A100",), transport=lines), "p4d")
    assert (found.path, found.verdict) == ("host-tcp", "clear"), found.why


def test_tcp_that_claims_to_be_efa_is_left_open():
    times = {size: 300 + size / 1.8e3 for size in (8, 64, MIB, 16 * MIB, 256 * MIB)}
    line = "NET/OFI Selected Provider is efa (found 4 nics)"
    assert peerlab.diagnose(nccl(times, 16, 2, ("NVIDIA A100",), transport=[line])).path is None


def test_both_settings_together_are_how_hccl_is_told_to_use_peer_direct():
    def points(**environment):
        records = dataclasses.replace(
            hccl(32 * MIB, 30), manifest={"tool": "hccl_demo", "environment": environment}
        )
        return sum(
            one.points.get("peer-direct", 0)
            for one in peerlab.diagnose(records, "dl1").evidence
            if one.kind == "line"
        )

    assert points(HCCL_OVER_OFI="1") < 0 < points(HCCL_OVER_OFI="1", HCCL_GAUDI_DIRECT="1")


def test_channels_of_which_some_bounce_are_told():
    lines = ["via NET/IB/0/GDRDMA", "via NET/IB/0"]
    found = peerlab.diagnose(nccl({MIB: 50, 2 * MIB: 80, 4 * MIB: 120}, 16, 2, (), transport=lines))
    assert found.path is None
    assert any("others have not" in note for note in found.notes)


def test_more_than_the_wire_carries_is_not_called_the_wires_rate():
    sizes = [64 * MIB, 256 * MIB, 1024 * MIB]
    lines = ["via NET/IB/0/GDRDMA"]
    found = peerlab.diagnose(
        nccl({size: size / 420e3 for size in sizes}, 16, 2, ("NVIDIA H100",), transport=lines)
    )
    (note,) = (note for note in found.notes if "GB/s" in note)
    assert "more than the 400 GB/s of the NICs of h100-ndr" in note


def test_small_messages_alone_are_said_to_tell_little():
    found = peerlab.diagnose(nccl({8: 40, 1024: 41}, 16, 2))
    assert found.path is None
    assert "measure larger ones as well" in found.notes[0]


def test_runs_of_the_same_sizes_that_differ_widely_are_said_to_be_no_one_run():
    def noted(us):
        slow, fast = nccl({8: us, MIB: 10 * us}, 16, 2), nccl({8: 40, MIB: 400}, 16, 2)
        both = Records.of([*slow.rows, *fast.rows], slow.manifest)
        return any("Sizes stand in the log several times" in note for note in peerlab.diagnose(both).notes)

    assert noted(4000)
    assert not noted(44)


def test_hops_inside_the_nodes_do_not_pass_for_a_slow_network():
    """Eight accelerators a node: 30 µs are 14 hops over NVLink, NCCL itself, and two prompt messages."""

    def said(us, ranks):
        found = peerlab.diagnose(nccl({8: us, 64: us}, ranks, 2)).evidence
        (told,) = (one for one in found if one.kind == "latency")
        return told

    inside = said(30, 16)
    assert inside.seen == "a hop between nodes adds at most 2.4 µs to what NCCL plans with"
    assert "NCCL over InfiniBand or RoCE verbs (0 to 8 µs)" in inside.says
    assert inside.points["host-tcp"] < said(30, 2).points["host-tcp"] < 0  # the same time, and no hop inside
    assert said(106, 2).points["host-tcp"] > 0
    assert "NCCL over EFA" in said(66, 2).says
    assert said(66, 2).points == {}  # EFA or sockets
    assert said(9, 2).seen == "a hop between nodes adds nothing to what NCCL plans with"


def test_an_older_nccl_is_not_held_against_todays_law():
    slow = nccl({8: 176, 64: 176, MIB: 500, 2 * MIB: 900}, 16, 2)
    old = dataclasses.replace(slow, manifest={**slow.manifest, "version": "2.9.9+cuda11.2"})
    found = peerlab.diagnose(old)
    assert not [one for one in found.evidence if "hop between nodes" in one.seen]
    assert any("NCCL 2.9.9 is older" in note for note in found.notes)
    assert [one for one in peerlab.diagnose(slow).evidence if "hop between nodes" in one.seen]


def test_a_run_that_is_held_up_at_some_sizes_is_never_named_by_its_figures():
    held_up = STAGED_US | {size * 1024: 3500.0 for size in (64, 128, 256)}
    found = peerlab.diagnose(osu(held_up, command="osu_latency D D"), "juliet")
    assert (found.path, found.verdict) == (None, "cannot tell")
    assert "something holds this run up at some sizes, so its figures were not weighed" in found.why
    assert {one.kind for one in found.evidence} <= {"line", "set-up", "latency"}
    told = peerlab.diagnose(osu(held_up, command="osu_latency D D UCX_IB_GPU_DIRECT_RDMA=0"), "juliet")
    assert told.path == "host-rdma"  # what was set says so, and how prompt it is


def test_where_nobody_can_tell_one_fact_is_named_with_its_command():
    found = peerlab.diagnose(nccl({MIB: 500, 2 * MIB: 1000}, 2, 2, ()))
    assert found.decides.what == "what does NCCL say of its channels?"
    assert found.decides.command.startswith("NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET ")
    assert found.as_dict()["decides"]["command"] == found.decides.command
    assert peerlab.diagnose(nccl(P5_US, 16, None, ()), "p5").decides is None


def test_receiving_straight_and_sending_staged_is_named_by_its_lines_alone():
    lines = [
        "Channel 00 : 0[0] -> 1[1] [send] via NET/IB/0",
        "Channel 00 : 1[1] -> 0[0] [receive] via NET/IB/0/GDRDMA",
    ]
    flat = {MIB: 500, 2 * MIB: 1000}
    assert peerlab.diagnose(nccl(flat, 2, 2, (), transport=lines)).path == "receive-direct"
    assert peerlab.diagnose(nccl(flat, 2, 2, (), transport=lines[1:])).path == "peer-direct"
    weighed = {one.path for one in peerlab.diagnose(nccl(flat, 2, 2, ())).ranking}
    assert "receive-direct" not in weighed


def test_how_fast_tcp_is_no_cluster_promises():
    found = peerlab.diagnose(
        nccl({MIB: 300, 2 * MIB: 550, 4 * MIB: 1050}, 2, 2, T4, transport=["Using network Socket"]),
        "g4dn-8xlarge",
    )
    assert found.path == "host-tcp"


def test_the_forecast_for_tcp_meets_what_rdma_reached():
    predicted = peerlab.diagnose(nccl(NCCL_TCP_US)).forecast
    assert predicted.cluster == "alps-gh200"
    for size, low, high in zip(predicted.sizes, predicted.low_GBps, predicted.high_GBps, strict=True):
        reached = size / NCCL_RDMA_US[int(size)] / 1e3
        assert low * 0.9 <= reached <= high
    assert predicted.ratio[-1] == pytest.approx(NCCL_TCP_US[128 * MIB] / NCCL_RDMA_US[128 * MIB], rel=0.15)


def test_the_forecast_for_staging_meets_what_gpudirect_reached():
    predicted = peerlab.diagnose(osu(STAGED_US, command="osu_latency D D"), "juliet").forecast
    reached = [STAGED_US[size] / DIRECT_US[size] for size in (MIB, 2 * MIB, 4 * MIB)]
    assert predicted.ratio == pytest.approx(reached, rel=0.15)
    assert (predicted.low_ratio < predicted.ratio).all()
    assert (predicted.ratio < predicted.high_ratio).all()


def test_without_a_cluster_nothing_is_predicted():
    found = peerlab.diagnose(osu(STAGED_US, command="osu_latency D D"))
    assert found.forecast.why_not.startswith("no cluster to predict with")
    assert found.forecast.GBps.size == 0


def test_a_cluster_without_peer_direct_says_why():
    found = peerlab.diagnose(nccl(G4DN_US, 2, 2, T4))
    assert "EFA on g4dn cannot read the T4's memory" in found.forecast.why_not


def test_no_rows_are_refused_in_words():
    with pytest.raises(peerlab.PeerlabError, match="no row has both a size and a time"):
        peerlab.diagnose(Records.of([]))
    with pytest.raises(peerlab.PeerlabError, match="no row has both a size and a time"):
        peerlab.diagnose(
            Records.of([{"kind": "imported", "collective": "allreduce", "size_bytes": 0, "time_s": 1e-5}])
        )


@pytest.mark.parametrize("given", ["run.log", None, 5])
def test_what_are_no_records_is_refused_in_words(given):
    for ask in (peerlab.diagnose, lambda records: peerlab.calibrate(records, "juliet")):
        with pytest.raises(peerlab.PeerlabError, match="are no records; give what"):
            ask(given)


def test_records_that_name_their_path_are_refused():
    row = {"kind": "imported", "collective": "allreduce", "size_bytes": MIB, "time_s": 1e-3, "path": "staged"}
    with pytest.raises(peerlab.PeerlabError, match=r"path they took: staged; .* peerlab\.load"):
        peerlab.diagnose(Records.of([row]))


@pytest.mark.parametrize(
    "manifest",
    [
        {
            "transport": 5,
            "devices": {"a": 1},
            "environment": ["x"],
            "command": None,
            "tool": 7,
            "cluster": ["dl1"],
        },
        {"transport": [None, 3, "via NET/IB/0/GDRDMA\x1b[2J"], "devices": [None], "memory": ["host"]},
    ],
)
def test_a_manifest_from_outside_may_hold_anything(manifest):
    records = nccl({MIB: 500, 2 * MIB: 1000}, 2, 2)
    found = peerlab.diagnose(dataclasses.replace(records, manifest=manifest))
    assert "\x1b" not in json.dumps(found.as_dict(), ensure_ascii=False)


def test_several_logs_and_impossible_figures_are_refused():
    both = Records.together([nccl(NCCL_TCP_US), nccl(NCCL_RDMA_US)])
    with pytest.raises(peerlab.PeerlabError, match="of 2 logs; give them one by one"):
        peerlab.diagnose(both)
    with pytest.raises(peerlab.PeerlabError, match="is the time in another unit"):
        peerlab.diagnose(nccl({MIB: 1e-9}))


@pytest.mark.parametrize(
    ("device", "clusters"),
    [("Gaudi2", {"gaudi2"}), ("Intel Gaudi 3 HL-325L", {"gaudi3"}), ("Gaudi", {"dl1"}), ("Tesla T4", {"g4dn-metal", "g4dn-8xlarge"}),
     ("NVIDIA H100 80GB HBM3", {"p5", "h100-ndr", "h100-roce", "a3-mega"}), ("NVIDIA H1000", set()), ("GPU", set())],
)  # fmt: skip
def test_clusters_are_recognised_by_the_name_of_their_accelerators(device, clusters):
    assert set(peerlab.diagnose(nccl({MIB: 500, 2 * MIB: 1000}, 2, 2, (device,))).clusters) == clusters


def test_a_cluster_that_does_not_exist_is_refused():
    with pytest.raises(peerlab.PeerlabError, match="unknown cluster 'alpes'"):
        peerlab.diagnose(nccl(NCCL_TCP_US), "alpes")


@examples(part=6)  # an answer may simulate several clusters
@given(
    st.dictionaries(st.integers(0, 2**40), st.floats(0.001, 1e12), max_size=12),
    st.integers(1, 2**16) | st.none(),
    st.integers(1, 2**14) | st.none(),
    st.sampled_from(["allreduce", "alltoall", "broadcast", "point-to-point", "reduce-scatter"]),
    st.sampled_from(["", "latency", "bandwidth"]),
    st.lists(st.text(max_size=40), max_size=3),
    st.sampled_from([None, "dl1", "g4dn-metal", "ideal-100g"]),
)
def test_odd_records_get_an_answer_or_a_sentence(times, ranks, nodes, collective, variant, lines, cluster):
    rows = [
        {
            "kind": "imported",
            "collective": collective,
            "variant": variant,
            "size_bytes": size,
            "ranks": ranks,
            "nodes": nodes,
            "time_s": us / 1e6,
        }
        for size, us in times.items()
    ]
    try:
        found = peerlab.diagnose(Records.of(rows, {"transport": lines, "devices": lines}), cluster)
    except peerlab.PeerlabError:  # a sentence is an answer, too
        return
    assert {one.path for one in found.ranking} <= set(explanations())
    assert all(math.isfinite(one.points) for one in found.ranking)
    json.dumps(found.as_dict(), allow_nan=False)


def test_what_is_known_beforehand_names_its_source_and_our_paths(root):
    know = knowledge()
    assert all(rule.source and rule.points.keys() <= set(explanations()) for rule in know.rules)
    assert all(one.source and one.low <= one.high for one in know.ranges.values())
    document = tomllib.loads((root / "data" / "diagnosis.toml").read_text())
    assert {when for check in document["check"] for when in check["when"]} == {
        *explanations(),
        "cannot tell",
        "below its band",
    }
    told = {path for one in document["decides"] for path in one["between"]}
    assert told <= set(explanations())


SHARED = {
    "nccl_cscs_gh200_2n2r_rdma": (None, "peer-direct"),
    "nccl_cscs_gh200_2n8r_rdma": (None, "peer-direct"),
    "nccl_cscs_gh200_2n8r_tcp": (None, "host-tcp"),
    "nccl_aws_p5_2n16r_efa": ("p5", "peer-direct"),
    "nccl_eks_g4dn_metal_2n2r_efa_nogdr_mpitag": (None, "host-rdma"),
    "osu_alltoall_cscs_HH_cxi": ("alps-gh200", "host-rdma"),
    "osu_alltoall_cscs_HH_tcp": ("alps-gh200", "host-tcp"),
    "osu_bw_cscs_DD_internode_gdr": ("alps-gh200", "peer-direct"),
    "osu_bw_cscs_DD_internode_tcp_staged": ("alps-gh200", "host-tcp"),
    "osu_bw_cscs_DD_intranode_cxi": ("alps-gh200", "peer-direct"),
    "osu_bw_cscs_HH_internode_cxi": ("alps-gh200", "host-rdma"),
    "osu_bw_cscs_HH_internode_tcp": ("alps-gh200", "host-tcp"),
    "osu_latency_cscs_HH_cxi": ("alps-gh200", "host-rdma"),
    "osu_latency_juliet_DD_gdr0_gdrcopy1": ("juliet", "host-rdma"),
    "osu_latency_juliet_DD_gdr1_gdrcopy1": ("juliet", "peer-direct"),
}
"""Published logs: where they are from, if they do not say, and which path they took."""


@pytest.mark.parametrize("name", SHARED)
def test_every_published_log_is_named_with_and_without_its_lines(reference_dir, name):
    cluster, path = SHARED[name]
    records = peerlab.load(reference_dir / "logs" / f"{name}.log")
    assert peerlab.diagnose(records, cluster).path == path
    command = re.sub(r"UCX_IB_GPU_DIRECT_RDMA=\d", "", records.manifest.get("command", ""))
    silent = {**records.manifest, "transport": [], "environment": {}, "command": command}
    found = peerlab.diagnose(dataclasses.replace(records, manifest=silent), cluster)
    assert found.path == path or (found.path is None and "holds this run up" in found.why)


@pytest.mark.parametrize("name", SHARED)
def test_without_a_cluster_no_published_log_is_named_wrongly(reference_dir, name):
    found = peerlab.diagnose(peerlab.load(reference_dir / "logs" / f"{name}.log"))
    assert found.path in (SHARED[name][1], None)


@pytest.mark.parametrize(
    ("name", "cluster", "says"),
    [
        ("nccl_aws_p5_2n16r_efa", "p4d", "a node of the log sends"),
        ("nccl_nebius_h100_2n16r_ib", "gaudi2", "nccl-tests does not run on Gaudi 2"),
        ("rccl_mi250x_4n32r_cxi", "p4d", "a node of the log sends"),
        ("nccl_cscs_gh200_2n8r_rdma", "h100-ndr", "the log names NVIDIA GH200"),
        ("nccl_g4dn8xl_2n2r_efa", "p5", "2 ranks do not fill nodes of 8 H100"),
    ],
)
def test_a_cluster_that_the_log_contradicts_is_not_held_against_it(reference_dir, name, cluster, says):
    records = peerlab.load(reference_dir / "logs" / f"{name}.log")
    found, without = peerlab.diagnose(records, cluster), peerlab.diagnose(records)
    assert found.notes[0].startswith(f"Not held against {cluster}: {says}")
    assert (found.path, found.clusters, found.chosen) == (without.path, without.clusters, False)


def test_the_ends_of_a_paths_band_are_simulated_only_where_a_log_beats_it(monkeypatch):
    asked, simulated_band = [], fits.simulated_band

    def ends(scenario):
        asked.append(scenario.path)
        return simulated_band(scenario)

    monkeypatch.setattr(fits, "simulated_band", ends)
    monkeypatch.setattr(shortfall, "ends_GBps", lambda _: (0.0, math.inf))  # asked of the path that was named
    slow = peerlab.diagnose(nccl({size: 1000 * us for size, us in NCCL_TCP_US.items()}))
    assert not asked
    assert slow.as_dict()
    peerlab.diagnose(nccl(NCCL_RDMA_US))
    assert asked
    assert "peer-direct" not in asked
