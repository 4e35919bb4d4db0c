"""Rules by which a path is named, each with an invented log of a machine that no cluster file describes."""

import math

import pytest
from logs import MIB, nccl, osu

import peerlab
from peerlab.diagnosis.knowledge import knowledge

GIB = 2**30
H100, A100, H200 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "NVIDIA H200"


def times_us(algbw, floor_us=40):
    """Times of a run that reaches an algorithm bandwidth, GB/s, after `floor_us`."""
    sizes = [2**power for power in range(3, 34)]
    return {size: floor_us + size / algbw / 1e3 for size in sizes}


def slow_start(rate=24):
    """Latencies of a NIC that reads device memory at a rate, where each small message waits 17 us for a copy by the driver."""
    return {2**power: 20 + 2**power / rate / 1e3 for power in range(23)}


@pytest.mark.parametrize(
    "setting",
    [
        "UCX_NET_DEVICES=mlx5_0:1",
        "UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1",
        "UCX_TLS=rc,cuda_copy",
        "UCX_TLS=rc_mlx5,self,cuda_copy",
        "NCCL_IB_HCA=mlx5_0",
        "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1",
    ],
)
def test_an_rdma_device_that_was_named_excludes_tcp(setting):
    name, _, value = setting.partition("=")
    slow = nccl(times_us(9, 200), 16, 2, (A100,), environment={name: value})
    without = nccl(times_us(9, 200), 16, 2, (A100,))
    assert peerlab.diagnose(without).ranking[0].path == "host-tcp"
    found = peerlab.diagnose(slow)
    assert found.path != "host-tcp"
    assert next(one.points["host-tcp"] for one in found.evidence if one.kind == "line") <= -math.log(9)


def test_what_ucx_was_told_says_nothing_of_nccl_unless_nccl_sends_by_ucx():
    """Launchers of nccl-tests set UCX_TLS=tcp for MPI's own messages, on machines whose NCCL does RDMA."""
    told = {"environment": {"UCX_TLS": "tcp", "UCX_IB_GPU_DIRECT_RDMA": "no"}}
    log = times_us(60)
    found = peerlab.diagnose(nccl(log, 16, 2, (A100,), **told))
    assert not [one for one in found.evidence if one.kind == "line"]
    assert found.path == peerlab.diagnose(nccl(log, 16, 2, (A100,))).path
    plug_in = peerlab.diagnose(nccl(log, 16, 2, (A100,), transport=["Using network UCX"], **told))
    assert next(one.points["host-tcp"] for one in plug_in.evidence if one.seen == "'UCX_TLS=tcp'") > 0
    assert (
        peerlab.diagnose(osu(slow_start(), command="mpirun -np 2 osu_latency -d cuda D D", **told)).path
        == "host-tcp"
    )


@pytest.mark.parametrize(
    "line",
    [
        "NCCL_NET_GDR_LEVEL=LOC",
        'export NCCL_NET_GDR_LEVEL="LOC"',
        "+ export NCCL_NET_GDR_LEVEL=LOC",
        "n0:1:2 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to LOC",
    ],
)
def test_a_setting_is_read_wherever_a_log_prints_it(line):
    rows = [
        f"{size:>12} {size // 4:>12} float sum -1 {us:.2f} {size / us / 1e3:.2f} {1.875 * size / us / 1e3:.2f} 0"
        for size, us in times_us(22).items()
    ]
    ranks = [
        f"#  Rank {rank:>2} Group  0 Pid {rank} on n{rank // 8} device {rank % 8} [0x00] {A100}"
        for rank in range(16)
    ]
    head = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"
    log = peerlab.load("\n".join([line, "PATH=/usr/bin", "# nThread 1 nGpus 1", *ranks, head, *rows, ""]))
    assert log.manifest["environment"] == {"NCCL_NET_GDR_LEVEL": "LOC"}
    assert peerlab.diagnose(log).ranking[0].path == "host-rdma"


@pytest.mark.parametrize(
    "setting",
    ["UCX_NET_DEVICES=mlx5_0:1,eth0", "UCX_NET_DEVICES=ib0", "UCX_TLS=rc,tcp,cuda_copy", "UCX_TLS=all", "NCCL_SOCKET_IFNAME=eth0"],
)  # fmt: skip
def test_a_setting_that_leaves_tcp_possible_excludes_nothing(setting):
    name, _, value = setting.partition("=")
    found = peerlab.diagnose(nccl(times_us(60), 16, 2, (A100,), environment={name: value}))
    assert not [one for one in found.evidence if one.kind == "line"]


def test_sockets_that_nccl_fell_back_to_outweigh_a_device_that_was_named():
    said = ["NET/Socket : Using [0]eth0:10.0.0.1<0>", "Using network Socket"]
    log = nccl(times_us(3, 200), 16, 2, (A100,), transport=said, environment={"NCCL_IB_HCA": "mlx5"})
    assert peerlab.diagnose(log).path == "host-tcp"


def test_without_gdrcopy_a_slow_small_message_says_nothing():
    bare = {"command": "mpirun -np 2 osu_latency -d cuda D D"}
    with_it = {"command": "mpirun -np 2 -x LD_LIBRARY_PATH=/apps/gdrcopy/lib osu_latency -d cuda D D"}

    def latencies(manifest, cluster=None):
        found = peerlab.diagnose(osu(slow_start(), **manifest), cluster)
        return [one for one in found.evidence if one.kind == "latency" and one.points]

    assert not latencies(bare)
    assert not latencies(bare, "juliet")
    assert latencies(with_it)


def test_one_size_alone_names_no_path_at_odds_below_four_fifths():
    alone = peerlab.diagnose(nccl({GIB: GIB / 75e3}, 16, 2, (A100,)))
    assert (alone.path, alone.ranking[0].odds < 0.8) == (None, True)
    assert "one size alone names no path at odds below 80 %" in alone.why
    least = knowledge().ranges["odds_of_one_size"].low
    sure = peerlab.diagnose(nccl({GIB: GIB / 300e3}, 16, 2, (H200,)))
    assert (sure.path, sure.ranking[0].odds > least) == ("peer-direct", True)


def test_one_size_that_was_simulated_is_one_size_however_long_the_curve_is():
    """An AllReduce of two ranks up to 1 MiB, on a cluster whose staging meets that one size: a slower NIC and Peer Direct would, too."""
    curve = {2**power: 9.1 + 2**power / 11.4e3 for power in range(2, 21)}
    rows = [row | {"collective": "allreduce"} for row in osu(curve).rows]
    found = peerlab.diagnose(peerlab.Records.of(rows, {"tool": "osu", "memory": "device"}), "juliet")
    assert any(one.says == "this path explains it" for one in found.evidence)
    assert (found.path, "one size alone" in found.why) == (None, True)


@pytest.mark.parametrize(("ranks", "nodes"), [(8, 2), (64, 16), (72, 18)])
def test_servers_that_nvlink_joins_are_in_node_as_a_data_path(ranks, nodes):
    """850 GB/s of busbw: each of four GB200 sends more than any NIC carries."""
    alg = 850 * ranks / (2 * (ranks - 1))
    lines = ["use ring PXN 0 GDR 1"]
    found = peerlab.diagnose(nccl(times_us(alg, 25), ranks, nodes, ("NVIDIA GB200",), transport=lines))
    assert (found.path, found.verdict) == ("in-node", "clear"), found.why
    assert f"NVLink joins these {nodes} servers" in found.notes[0]
    assert "one NVLink domain" in found.forecast.why_not


def test_more_ranks_than_a_domain_has_are_not_in_node():
    """Two racks: NVLink joins some servers and NICs the rest, so that no rate of a device says what its NIC carries."""
    found = peerlab.diagnose(nccl(times_us(410, 180), 128, 32, ("NVIDIA GB200",)))
    assert found.path is None
    assert "in-node" not in [one.path for one in found.ranking]
    assert any("128 ranks are more than one domain has (72)" in one.says for one in found.evidence)
    # NVLink carries what the NICs of a tray do not
    assert not [note for note in found.notes if "A ring would send" in note]


def test_what_the_fastest_nic_and_nvlink_carry_alike_names_neither():
    """75 GB/s a device: a NIC of 800 Gb/s, or an NVLink domain that is held up."""
    found = peerlab.diagnose(nccl(times_us(300), 8, 2, ()))
    assert found.path is None
    assert {one.path for one in found.ranking[:2]} == {"in-node", "peer-direct"}


def test_servers_of_a_named_rack_may_be_joined_whatever_the_log_says():
    """Sixteen ranks, and not a word about nodes: four trays of a GB300 NVL72 share NVLink."""
    found = peerlab.diagnose(nccl(times_us(290), 16, None, ()), "gb300-nvl72")
    assert "in-node" in [one.path for one in found.ranking]
    assert found.path != "peer-direct"


def test_over_nics_the_same_machines_are_not_in_node():
    found = peerlab.diagnose(nccl(times_us(180), 8, 2, ("NVIDIA GB200",)))
    assert "in-node" not in [one.path for one in found.ranking]


def test_nccl_says_itself_whom_nvlink_joins():
    line = "MNNVL 1 cliqueId 7ffe cliqueSize {} cliqueRank 0"
    flat = {MIB: 500, 2 * MIB: 1000}
    joined = nccl(flat, 16, 4, (), transport=[line.format(16)])
    assert peerlab.diagnose(joined).path == "in-node"
    assert peerlab.diagnose(nccl(flat, 16, 4, (), transport=[line.format(8)])).path is None


def test_a_path_that_the_cluster_which_was_named_does_not_have_is_no_suspect():
    log = nccl({MIB: 500, 2 * MIB: 1000}, 2, 2, ("Tesla T4",))
    assert {one.path for one in peerlab.diagnose(log, "g4dn-metal").ranking} == {"host-rdma", "host-tcp"}
    recognised = {one.path for one in peerlab.diagnose(log).ranking}
    assert "peer-direct" in recognised  # a name says nothing of a machine's NICs


def test_what_writes_to_device_memory_over_tcp_is_a_path_of_its_own():
    for line in ("NET/FasTrak plugin initialized", "Using network GPUDirectTCPX_v7"):
        found = peerlab.diagnose(nccl(times_us(170, 120), 16, 2, (H100,), transport=[line]))
        assert (found.path, found.verdict) == ("device-tcp", "clear")
        assert "device memory already" in found.forecast.why_not


@pytest.mark.parametrize(
    "line",
    [
        "NET/gIB : Using [0]mlx5_0:1/RoCE",
        "Using network gIB",
        "Using network IBext_v8",
        "NET/IBext_v9 : Using [0]mlx5_0",
    ],
)
def test_plug_ins_over_verbs_are_no_tcp(line):
    found = peerlab.diagnose(
        peerlab.load(logged([]).replace("#       size", f"n0:1:2 [0] NCCL INFO {line}\n#       size"))
    )
    assert next(one.points["host-tcp"] for one in found.evidence if one.kind == "line") <= -math.log(9)


def test_a_channel_into_switches_that_add_up_is_peer_direct():
    log = logged(["[send] via COLLNET/SHARP/0/GDRDMA"])
    assert peerlab.diagnose(peerlab.load(log)).path == "peer-direct"


def test_a_channel_of_tcpxo_that_reaches_device_memory_does_no_rdma():
    """NCCL prints /GDRDMA of every plug-in that takes pointers to device memory."""
    lines = [
        "Using network FasTrak",
        "[send] via NET/FasTrak/0/GDRDMA",
        "[receive] via NET/FasTrak/3(11)/GDRDMA/Shared",
    ]
    found = peerlab.diagnose(nccl(times_us(170, 120), 16, 2, (H100,), transport=lines))
    assert (found.path, found.verdict) == ("device-tcp", "clear")


def test_no_accelerators_name_suggests_a_rare_path():
    """Eight H100 may be a3-mega's: its path is weighed where a line or the cluster names it."""
    log = nccl(times_us(170, 120), 16, 2, (H100,))
    assert "device-tcp" not in {one.path for one in peerlab.diagnose(log).ranking}
    assert "device-tcp" in {one.path for one in peerlab.diagnose(log, "a3-mega").ranking}


def test_more_than_host_memory_could_stage_is_peer_direct():
    """45 of 50 GB/s a NIC: eight devices send 190 GB/s, and staging would move four times that through DRAM."""
    found = peerlab.diagnose(nccl(times_us(190), 16, 2, (H200,)))
    assert (found.path, found.verdict) == ("peer-direct", "probable")
    assert peerlab.diagnose(nccl(times_us(170), 16, 2, (H200,))).path is None


def test_the_name_of_an_accelerator_says_nothing_of_its_nics():
    """As fast as staging on p5: Peer Direct over NICs half as wide would be, too."""
    found = peerlab.diagnose(nccl(times_us(90), 16, 2, (H100,)))
    assert found.path is None
    assert set(found.clusters) == {"p5", "h100-ndr", "h100-roce", "a3-mega"}


@pytest.mark.parametrize(
    ("devices", "algbw", "path"),
    [((H100,), 275, "in-node"), ((), 275, "in-node"), ((A100,), 132, "in-node"), ((), 40, None)],
)
def test_a_box_that_nobody_named_is_told_by_what_no_nic_carries(devices, algbw, path):
    """Eight ranks and no word about nodes: two nodes of four would send more than their PCIe links, or their NICs, carry."""
    assert peerlab.diagnose(nccl(times_us(algbw, 20), 8, None, devices)).path == path


def test_gdr_of_nccls_rings_tells_a_staged_path():
    log = times_us(90)
    direct = nccl(log, 16, 2, (H100,), transport=["Connected all rings, use ring PXN 0 GDR 1"])
    staged = nccl(log, 16, 2, (H100,), transport=["use ring PXN 0 GDR 0", "Using network IB"])
    assert peerlab.diagnose(direct).path == "peer-direct"
    assert peerlab.diagnose(staged).path == "host-rdma"


def logged(lines, times=None, ranks=16):
    """Return the text of a run of nccl-tests with what NCCL said."""
    rows = [
        f"{size:>12} {size // 4:>12} float sum -1 {us:.2f} {size / us / 1e3:.2f} {1.875 * size / us / 1e3:.2f} 0"
        for size, us in (times or times_us(22)).items()
    ]
    said = [
        f"n0:1:2 [0] NCCL INFO Channel 0{place}/0 : 0[0] -> 8[0] {line}" for place, line in enumerate(lines)
    ]
    head = [
        "#       size         count      type   redop    root     time   algbw   busbw #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)",
    ]
    devices = [
        f"#  Rank {rank:>2} Group  0 Pid {rank} on n{rank // 8} device {rank % 8} [0x00] {A100}"
        for rank in range(ranks)
    ]
    return "\n".join(["# nThread 1 nGpus 1", *devices, *said, *head, *rows, ""])


@pytest.mark.parametrize(
    ("lines", "path"),
    [
        (("[receive] via NET/IB/0/GDRDMA", "[send] via NET/IB/0"), "receive-direct"),
        (("[receive] via NET/IB/0/GDRDMA", "[send] via NET/IB/0/GDRDMA"), "peer-direct"),
        (("[receive] via NET/IB/0", "[send] via NET/IB/0"), "host-rdma"),
    ],
)
def test_which_side_reaches_device_memory_is_read_from_a_logs_text(lines, path):
    assert peerlab.diagnose(peerlab.load(logged(lines))).path == path


@pytest.mark.parametrize(
    ("device", "algbw", "more", "path"),
    [
        (H100, 90, (), "peer-direct"),
        (A100, 22, (), "peer-direct"),
        ("Tesla T4", 4, (), "host-rdma"),
        (H100, 90, ("[send] via NET/AWS Libfabric/0",), "host-rdma"),
        ("", 90, (), None),
    ],
)
def test_efa_reaches_device_memory_on_some_instances_and_checks_it(device, algbw, more, path):
    lines = ["NET/OFI Selected Provider is efa (found 4 nics)", *more]
    log = nccl(times_us(algbw, 60), 16, 2, (device,) if device else (), transport=lines)
    assert peerlab.diagnose(log).path == path


def test_the_check_of_efas_plug_in_may_be_switched_off():
    line = "Selected Provider is efa (found 4 nics)"
    off = {"environment": {"OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK": "1"}}
    # plug-ins have it since 1.7.4: one before 1.6 does not count its NICs, and NCCL 2.18 is older than 1.7.4
    for said, more, checked in (
        (line, {"version": "2.20.5+cuda12.4"}, True),
        (line, off, False),
        ("Selected Provider is efa", {}, False),
        (line, {"version": "2.18.5+cuda12.2"}, False),
    ):
        found = peerlab.diagnose(nccl(times_us(22), 16, 2, (H100,), transport=[said], **more))
        assert any("ends with an error" in one.says for one in found.evidence) == checked


def test_a_message_one_way_is_staged_at_the_links_full_rate():
    """The copy to the host and the NIC that reads it there go opposite ways; an exchange sends both ways at once."""
    for title, variant, excluded in (
        ("Bandwidth", "osu_bw", False),
        ("Bi-Directional Bandwidth", "osu_bibw", True),
    ):
        rows = "\n".join(f"{2**power} {min(2**power / 20, 33000):.2f}" for power in range(23))
        log = peerlab.load(
            f"$ srun -N2 {variant} -d cuda D D\n# OSU MPI-CUDA {title} Test v7.5\n# Size      Bandwidth (MB/s)\n{rows}\n"
        )
        told = [
            one
            for one in peerlab.diagnose(log).evidence
            if "staging through host memory, per device" in one.says
        ]
        assert bool(told) == excluded


def test_staging_shares_no_pcie_link_where_the_host_is_reached_by_another():
    fast = times_us(140)  # 35 GB/s a device
    for device, said in (("NVIDIA GB200", False), ("NVIDIA L40S", True)):
        found = peerlab.diagnose(nccl(fast, 8, 2, (device,)))
        assert any("staging through host memory, per device" in one.says for one in found.evidence) == said


def test_what_lies_between_two_recognised_clusters_contradicts_neither():
    """45 GB/s a node: more than p4d's four NICs of 100 Gb/s send at these sizes by Peer Direct, and less than eight of 200; four of 200 would send that."""
    found = peerlab.diagnose(nccl(times_us(45), 16, 2, (A100,)))
    (told,) = (one for one in found.evidence if "between this path on" in one.says)
    assert not told.points
    assert found.path is None


def test_a_node_that_sends_more_than_its_hosts_memory_stages_does_not_stage():
    """Hosts of A100 have DDR4: 82 GB/s staged, where hosts of H100 may stage 184."""
    found = peerlab.diagnose(nccl(times_us(101), 16, 2, (A100,)))
    assert (found.path, found.verdict) == ("peer-direct", "probable")
    assert any("82 GB/s on hosts with NVIDIA A100" in one.says for one in found.evidence)
    assert peerlab.diagnose(nccl(times_us(101), 16, 2, (H100,))).path is None


def test_a_rare_path_that_alone_explains_the_rates_is_weighed():
    """Receive-only direct on four nodes of HDR: Peer Direct would be half as fast again there, and staging slower."""
    asked = {size: 40 + size / 63 / 1e3 for size in (2**power for power in range(27, 35))}
    found = peerlab.diagnose(nccl(asked, 32, 4, (A100,)))
    assert found.path is None
    assert {"peer-direct", "receive-direct"} <= {one.path for one in found.ranking}


@pytest.mark.parametrize(("nic", "named"), [(22.9, True), (11.6, False)])
def test_one_rank_a_node_that_fills_a_nic_does_rdma(nic, named):
    """TCP was seen to fill a NIC of 100 Gb/s by ten streams, none wider."""
    found = peerlab.diagnose(nccl(times_us(nic), 2, 2, ("NVIDIA GH200 120GB",)))
    assert any("as if it were the limit" in one.says for one in found.evidence) == named


def test_how_slow_a_collective_of_nccls_is_names_no_tcp():
    slow = nccl({32: 335.0, 1024: 340.0}, 8, 8, ()).rows
    rows = [row | {"collective": "reduce-scatter"} for row in slow]
    found = peerlab.diagnose(peerlab.Records.of(rows, {"tool": "nccl-tests", "devices": []}))
    assert found.path is None


def test_what_has_no_name_names_no_other_machine():
    log = nccl(times_us(180), 16, 2, ("NVIDIA Graphics Device",))
    assert peerlab.diagnose(log, "p5").chosen


def test_evidence_counts_by_what_it_is_and_not_by_its_words():
    held_up = {1: 4.1, 64: 4.2, 1024: 4.5} | {2**power: 3500.0 for power in (16, 17, 18)} | {2**20: 90.0}
    found = peerlab.diagnose(osu(held_up, command="osu_latency -d cuda D D"))
    kept = [one for one in found.evidence if one.kind not in ("line", "set-up")]
    assert "holds this run up" in found.why
    assert kept
    assert all(one.of_smallest for one in kept)


def test_small_messages_of_servers_that_nvlink_may_join_name_no_nic():
    """GDR 1 is printed inside an NVLink domain as well (oracle-quickstart/oci-hpc-oke, 2 x 4 GB200); a large message tells NVLink from a NIC."""
    small = {8: 29.0, 1024: 30.0, 65536: 40.0}
    lines = ["Connected all rings, use ring PXN 0 GDR 1"]
    found = peerlab.diagnose(nccl(small, 8, 2, (), transport=lines))
    assert (found.path, {one.path for one in found.ranking[:2]}) == (None, {"in-node", "peer-direct"})
    joined = peerlab.diagnose(nccl({**small, 2**30: 2900.0, 2**33: 18000.0}, 8, 2, (), transport=lines))
    assert joined.path == "in-node"


def test_two_ranks_of_a_node_may_send_through_its_nic():
    """osu_bw D D between two GPUs of one node on Alps goes through the NIC (eth-cscs/cscs-docs 80abed13, openmpi.md)."""
    rows = [
        {"kind": "imported", "source": "osu: typed", "collective": "point-to-point", "variant": "bandwidth", "size_bytes": size, "ranks": 2, "nodes": 1, "time_s": us / 1e6}
        for size, us in {1: 1.07, 1024: 1.1, 4096: 1.2}.items()
    ]  # fmt: skip
    assert peerlab.diagnose(peerlab.Records.of(rows, {"tool": "osu", "memory": "device"})).path is None


def test_a_long_hop_alone_does_not_name_tcp():
    """RCCL takes 87 us a hop over RDMA on MI300X, NCCL 2.9.9 some 60 over EFA."""
    found = peerlab.diagnose(nccl({8: 219.0, 1024: 221.0, 65536: 241.0}, 16, 2, ()))
    assert found.path is None
