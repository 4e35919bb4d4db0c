"""Whether a log is well: the verdict, and which fault would look like it."""

import json
import random

import pytest
from command_line import peerlab_command
from tool_logs import ALPS

import peerlab
from peerlab.diagnosis.observed import observe
from peerlab.features.expect.expectation import ExpectedSize
from peerlab.features.expect.over_tcp import over_tcp
from peerlab.features.expect.verdicts.causes import JudgedSize
from peerlab.features.expect.verdicts.faults import _slow_nics, faults
from peerlab.features.expect.verdicts.judging import judge
from peerlab.features.expect.verdicts.nics_in_use import nics_in_use
from peerlab.features.expect.verdicts.verdict_rules import ruled

SIZES = [8 << power for power in range(0, 30, 2)]
DENSE = [64 * 1024 << power for power in range(15)]
HEALTHY = {
    "nccl_aws_p5_2n16r_efa": "p5",
    "nccl_azure_ndA100_2n16r_ib_a": "azure-nd-a100-v4",
    "nccl_nebius_h100_2n16r_ib": "h100-ndr",
    "nccl_cscs_gh200_2n8r_rdma": "alps-gh200",
    "nccl_cscs_gh200_2n2r_rdma": "alps-gh200",
    "nccl_eks_g4dn_metal_2n2r_efa_nogdr_mpitag": "g4dn-metal",
    "nccl_g4dn8xl_2n2r_efa": "g4dn-8xlarge",
    "nccl_p4d_2n16r_efa_gdr_2023": "p4d",
}


def log_of(cluster, nodes=2, sizes=SIZES, change=lambda s: s, noise=0.05, also=""):
    """Return the text of nccl-tests for a scenario with a fault and noise."""
    draw = random.Random(cluster)  # noqa: S311
    rows = []
    machine = peerlab.load_cluster(cluster)
    for size in sizes:
        asked = change(
            peerlab.Scenario(
                cluster=cluster, nodes=nodes, path="peer-direct", registration="pool", message_bytes=size
            )
        )
        us = peerlab.simulate(asked).time_s * 1e6 * draw.lognormvariate(0, noise)
        alg = size / us / 1e3
        ranks = nodes * machine.devices
        rows.append(
            f"{size:>12} {size // 4:>12}  float  sum  -1  {us:.2f}  {alg:.2f}  {alg * 2 * (ranks - 1) / ranks:.2f}  0"
        )
    ranks = [
        f"#  Rank {rank:>2} Group  0 Pid {rank} on host{rank // machine.devices} device {rank % machine.devices} [0x00] NVIDIA {machine.device_name}"
        for rank in range(nodes * machine.devices)
    ]
    head = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"
    return "\n".join(["# nThread 1 nGpus 1 minBytes 8", "# Using devices", *ranks, also, head, *rows, ""])


def half_rate(s):
    machine = s.given_cluster
    return s.with_(cluster=machine.with_figure("nic.rate", machine.figures["nic.rate"].value / 2))


def verdict(text, cluster):
    found = judge(peerlab.load(text), cluster)
    assert len(found) == 1
    return found[0]


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", HEALTHY)
def test_no_healthy_log_is_below_its_floor(reference_dir, name):
    records = peerlab.load(reference_dir / "logs" / f"{name}.log", 2)
    for cluster in (HEALTHY[name], None):
        (found,) = judge(records, cluster)
        assert found.verdict != "below", found.why
        for row in found.rows:
            assert row.expected is None or row.measured <= row.expected.ceiling


def test_a_machine_of_which_only_the_accelerators_are_known_is_not_called_ill(reference_dir):
    records = peerlab.load(reference_dir / "logs" / "nccl_gcp_a3mega_h100_2n16r_tcpxo.log", 2)
    (found,) = judge(records)
    assert found.verdict == "unknown"


@pytest.mark.parametrize("cluster", ["p4d", "azure-nd-a100-v4", "h100-ndr"])
def test_a_healthy_run_with_noise_is_healthy(cluster):
    assert verdict(log_of(cluster), cluster).verdict == "healthy"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("cluster", "change", "cause"),
    [
        ("azure-nd-a100-v4", half_rate, "half of the NICs"),
        ("p4d", half_rate, "half of the NICs"),
        ("azure-nd-a100-v4", lambda s: s.with_(path="host-rdma"), "GPUDirect off"),
        ("p4d", lambda s: s.with_(path="host-tcp"), "kernel TCP"),
        ("azure-nd-a100-v4", lambda s: s.with_(registration="per-transfer"), "registration without a cache"),
        ("azure-nd-a100-v4", lambda s: s.with_(slow_nodes={0: 0.5}), "a NIC at half its rate"),
        ("h100-ndr", lambda s: s.with_(slow_nics={"1.1": 0.25}), "a NIC at a quarter of its rate"),
        ("h100-ndr", lambda s: s.with_(cluster=over_tcp(s.given_cluster), path="host-tcp"), "kernel TCP"),
    ],
)
def test_an_ill_run_is_below_and_its_fault_is_among_those_alike(cluster, change, cause):
    # half of the NICs cost a tree on two nodes a fifth: 3 to 7 % below the floor, which a noise of 5 % may hide
    found = verdict(log_of(cluster, change=change, noise=0.03), cluster)
    assert found.verdict == "below"
    assert any(one.name.startswith(cause) for one in found.likely), found.because
    assert all(one.explains >= 0.8 for one in found.likely)


def test_half_of_the_nics_is_found_where_nvlink_switches_add_up():
    """NVLSTree on two nodes: no end of the range of NVLink's rate makes a ring of it, which half of the NICs carry."""
    # half of the NICs leave 375 of 480 GB/s, 4 % below the floor at the largest sizes, which a noise of 5 % may hide
    text = log_of("h100-ndr", sizes=[8 << power for power in range(31)], change=half_rate, noise=0.02)
    found = verdict(text, "h100-ndr")
    assert found.verdict == "below"
    assert all(row.below for row in found.rows if row.size >= 256 * 2**20)
    assert any(one.name.startswith("half of the NICs") for one in found.likely), found.because


def test_a_run_that_is_disturbed_at_one_size_is_held_up():
    rows = log_of("p4d", sizes=SIZES).splitlines()
    words = rows[-4].split()
    rows[-4] = " ".join([*words[:5], str(float(words[5]) * 8), "0", "0", "0"])
    found = verdict("\n".join(rows) + "\n", "p4d")
    assert found.verdict == "held-up"
    assert not found.causes


def test_a_setting_that_costs_small_messages_alone_is_no_disturbance():
    found = verdict(
        log_of("azure-nd-a100-v4", change=lambda s: s.with_(protocol="Simple")), "azure-nd-a100-v4"
    )
    assert found.why.startswith("below the floor from 8 B to ")
    assert any(one.name.startswith("Simple alone") for one in found.likely), found.because


def ruled_by(measured):
    """Return the rule on sizes from 1 KiB on, all with a floor of 80, a band of 90 to 110 and 100 expected."""
    rows = []
    for place, rate in enumerate(measured):
        one = ExpectedSize(
            size=1024 << place,
            time_s=1.0,
            floor=80.0,
            low=90.0,
            expected=100.0,
            high=110.0,
            ceiling=120.0,
            limits="",
        )
        rows.append(JudgedSize(size=one.size, measured=rate, expected=one, disturbed=False))
    return ruled(rows, sure=True)


@pytest.mark.parametrize(
    ("measured", "verdict", "says", "short"),
    [
        ([100] * 12, "healthy", "none of 12", 0),
        (
            [100] * 5 + [85] * 7,
            "healthy",
            "none of 12 sizes is below its floor; from 32 KiB on the run stays near its floor and below its band, at 85 %",
            7,
        ),
        ([100] * 10 + [85] * 2, "healthy", "none of 12", 0),
        ([100] * 5 + [88] * 7, "healthy", "none of 12", 0),
        ([100, 50, 100, 50, 100, 100, 100, 100], "held-up", "2 KiB, 8 KiB; the other 6", 0),
        ([100, 50, 50, 50, 100, 100, 100, 100], "held-up", "2 KiB, 4 KiB, 8 KiB; the other 5", 3),
        ([50, 50, 50, 50, 100, 100, 100, 100, 100, 100], "below", "from 1 KiB to 8 KiB: 50 %", 4),
        ([100] * 5 + [50] * 3, "below", "from 32 KiB on: 50 %", 3),
        ([100] * 5 + [75, 85, 75, 85, 85], "below", "at 32 KiB, 128 KiB, and below the band to the end", 5),
        ([100] * 5 + [75, 85, 75, 85, 100], "held-up", "32 KiB, 128 KiB", 0),
        ([50, 100], "held-up", "at 1 KiB; the other size is not below its floor", 0),
        ([50], "below", "from 1 KiB on: 50 %", 1),
    ],
)
def test_what_passes_is_a_disturbance_and_what_stays_is_a_fault(measured, verdict, says, short):
    found = ruled_by(measured)
    assert (found.verdict, says in found.why, len(found.short)) == (verdict, True, short), found.why


def test_neighbours_that_one_fault_explains_are_held_up_and_the_fault_is_said_with_its_condition():
    found = verdict(
        log_of("azure-nd-a100-v4", sizes=DENSE, change=lambda s: s.with_(window=1)), "azure-nd-a100-v4"
    )
    assert found.verdict == "held-up"
    assert found.because.startswith("If a second run has it, too"), found.because


def test_lines_of_the_log_that_say_the_cause_come_first():
    said = "host0:1:1 [0] NCCL INFO Using network Socket"
    found = verdict(log_of("p4d", change=lambda s: s.with_(path="host-tcp"), also=said), "p4d")
    assert found.verdict == "below"
    assert [one.name for one in found.likely] == ["kernel TCP carries it"]


def test_a_cluster_that_cannot_be_the_logs_is_said_in_words():
    found = verdict(ALPS, "p4d")
    assert found.verdict == "unknown"
    assert "p4d" in found.why
    assert found.rows  # nothing of the log is lost


def test_one_row_is_judged_too():
    found = verdict(log_of("p4d", sizes=[1 << 30], change=half_rate), "p4d")
    assert found.verdict == "below"
    assert found.causes
    assert not found.likely  # every fault that costs as much at one size would do
    assert "1 size cannot tell one from another" in found.because


def test_the_command_says_the_verdict_in_its_first_line(own_folder):
    (own_folder / "ill.log").write_text(log_of("p4d", change=half_rate))
    status, text, _ = peerlab_command("expect", "--log", own_folder / "ill.log", "--cluster", "p4d")
    assert status == 0
    assert text.startswith("Below the floor from ")
    assert "GB/s" in text
    told = json.loads(
        peerlab_command("expect", "--log", own_folder / "ill.log", "--cluster", "p4d", "--json")[1]
    )
    assert told["verdict"] == "below"
    assert {"name", "explains", "decides"} <= set(told["causes"][0])
    assert {"size", "measured", "floor", "low", "expected", "high", "ceiling", "inside"} <= set(
        told["rows"][0]
    )


USING = "host0:1:1 [0] NCCL INFO NET/IB : Using {} [RO]; OOB eth0:10.0.0.1<0>"


def using(count):
    return USING.format(" ".join(f"[{nic}]mlx5_{nic}:1/IB" for nic in range(count)))


def test_lines_that_name_fewer_nics_than_the_machine_has_say_the_cause():
    found = verdict(
        log_of("azure-nd-a100-v4", change=half_rate, also=using(4), noise=0.03), "azure-nd-a100-v4"
    )
    assert [one.name for one in found.likely] == ["half of the NICs carry everything"]


@pytest.mark.parametrize(("also", "said"), [("", False), (using(7), True), (f"{using(8)}\n", None)])
def test_a_missing_nic_that_no_figure_shows_is_said_where_a_line_does(also, said):
    found = verdict(f"{also}\n" + log_of("h100-ndr", noise=0.015), "h100-ndr")
    assert found.verdict == "healthy"
    missing = [fault.said for fault in found.unseen if fault.name == "one NIC is missing"]
    assert missing == ([] if said is None else [said])


@pytest.mark.parametrize(
    ("chosen", "count"),
    [
        ("=mlx5_0,mlx5_3,mlx5_4", 3),
        ("==mlx5_1:1,mlx5_2:1", 2),
        ("=mlx5_1", None),
        ("=mlx5", None),
        ("=^mlx5_3", None),
    ],
)
def test_a_script_that_chooses_nics_says_how_many(chosen, count):
    log = f"export NCCL_IB_HCA{chosen}\n" + log_of("azure-nd-a100-v4", noise=0.03)
    assert nics_in_use(observe(peerlab.load(log))) == count


def test_lines_that_name_all_nics_rule_out_that_some_are_missing():
    found = verdict(
        log_of("azure-nd-a100-v4", change=half_rate, also=using(8), noise=0.03), "azure-nd-a100-v4"
    )
    assert not any("carry everything" in one.name or "carries everything" in one.name for one in found.causes)
    # half a NIC makes NCCL run a tree on two nodes, so that a tree alone looks alike
    assert any(one.name.startswith("every NIC at half its rate") for one in found.likely)


def test_a_setting_in_the_log_decides_between_faults_that_look_alike():
    """Without NVLS a ring runs, as fast as NVLSTree with half of the NICs; a setting that explains too little is no cause."""
    sizes = [2**20 << power for power in range(14)]
    change = lambda s: s.with_(algorithm="ring")  # noqa: E731
    for also, named in (("", 4), ("NCCL_NVLS_ENABLE=0", 1), ("NCCL_ALGO=Tree", 4)):
        found = verdict(
            f"export {also}\n" * bool(also) + log_of("h100-ndr", sizes=sizes, change=change, noise=0.015),
            "h100-ndr",
        )
        assert (found.verdict, len(found.likely)) == ("below", named), found.because
    found = verdict(
        "export NCCL_ALGO=Ring\n" + log_of("h100-ndr", sizes=sizes, change=change, noise=0.015), "h100-ndr"
    )
    assert [one.name for one in found.likely] == ["ring alone"]
    assert "The log's own lines say it" in found.because


def test_the_same_test_four_times_in_a_file_is_judged_four_times():
    well, ill = log_of("p4d"), log_of("p4d", change=half_rate)
    found = judge(peerlab.load(well + well + ill + well), "p4d")
    assert [one.verdict for one in found] == ["healthy", "healthy", "below", "healthy"]
    assert all(len(one.rows) == len(SIZES) for one in found)


def test_a_log_that_names_no_machine_asks_for_one_that_its_ranks_fill(reference_dir):
    (found,) = judge(peerlab.load(reference_dir / "logs" / "nccl_aws_p5_2n16r_efa.log"))
    assert (found.verdict, len(found.rows)) == ("unknown", 32)
    assert "--cluster, such as " in found.why
    assert ", p5" in found.why


def test_rows_without_a_time_are_judged_by_their_bandwidth(reference_dir):
    (found,) = judge(peerlab.load(reference_dir / "logs" / "osu_bw_cscs_DD_internode_gdr.log"))
    assert (found.verdict, found.rows[-1].measured) == ("unknown", pytest.approx(24.2, rel=0.05))


def test_1440_ranks_are_judged():
    found = verdict(log_of("p5", nodes=180, sizes=[1 << 30]), "p5")
    assert found.verdict == "healthy"
    assert "1440 ranks" in found.log


def test_rows_of_zero_bytes_and_a_row_that_is_printed_twice_make_no_further_run():
    lines = log_of("p4d").splitlines()
    zero = "0 0 float sum -1 3.91 0.00 0.00 0"
    (found,) = judge(peerlab.load("\n".join([*lines[:-4], zero, zero, *lines[-4:], lines[-1], ""])), "p4d")
    assert (found.verdict, len(found.rows)) == ("healthy", len(SIZES))


def with_columns_in_place(text, slower):
    """Return a log with columns in place, which take so many times as long by size."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.endswith("#wrong"):
            lines[place] = f"{line}     time   algbw   busbw #wrong"
        if line[:12].strip().isdecimal():
            time, algbw, busbw = map(float, line.split()[5:8])
            times = slower(int(line[:12]))
            lines[place] = f"{line} {times * time:.2f} {algbw / times:.2f} {busbw / times:.2f} 0"
    return "\n".join(lines) + "\n"


def test_processes_that_ran_alone_are_told_how_to_join():
    head = "# nThread 1 nGpus 1 minBytes 268435456\n# Using devices\n#  Rank  0 Group  0 Pid 1 on a device  0 [0x00] NVIDIA H100\n"
    row = "536870912 134217728 float sum -1 896.9 598.56 0.00 0 0.33 1611257.24 0.00 0\n"
    columns = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    with pytest.raises(peerlab.PeerlabError, match="each ran alone: nccl-tests join them by MPI"):
        judge(peerlab.load(head * 2 + columns + row))


def test_a_run_with_wrong_results_is_never_healthy():
    rows = log_of("p5", sizes=DENSE[-4:]).splitlines()
    (verdict,) = judge(peerlab.load("\n".join([*rows[:-1], rows[-1][:-1] + "7"])), "p5")
    assert verdict.verdict == "unknown"
    assert verdict.why.startswith(
        "its results are wrong at 1 GiB (#wrong); by its times alone it would be healthy"
    )


def test_columns_that_contradict_one_another_are_no_disturbance():
    found = verdict(with_columns_in_place(log_of("p4d"), lambda _: 4), "p4d")
    assert (found.verdict, len(found.rows)) == ("unknown", len(SIZES))
    assert "columns contradict one another: at 15 of 15 sizes" in found.why


def test_a_first_row_that_is_cold_in_one_column_is_no_disturbance():
    found = verdict(with_columns_in_place(log_of("p4d"), lambda size: 0.4 if size == SIZES[0] else 1), "p4d")
    assert (found.verdict, found.rows[0].disturbed) == ("healthy", False)


def test_what_held_up_one_column_alone_is_said():
    found = verdict(with_columns_in_place(log_of("p4d"), lambda size: 4 if size > 2**22 else 1), "p4d")
    assert found.verdict == "held-up"
    assert "in one of its two columns alone; the other " in found.why


def test_where_nothing_says_how_many_ranks_took_part_a_named_machine_is_taken_as_full():
    head = "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    small = head + "           8             2  float  sum  -1  70.00  0.00  0.00  0\n"
    (found,) = judge(peerlab.load(small, 2), "p5")
    assert (found.verdict, "16 ranks" in found.log, "all devices" in found.log) == ("healthy", True, True)
    (found,) = judge(peerlab.load(small), "p5")
    assert (found.verdict, "--nodes" in found.why) == ("unknown", True)


def test_what_one_slow_node_costs_many_is_near_what_simulating_all_of_them_says():
    asked = peerlab.Scenario(
        cluster="p5", nodes=32, path="peer-direct", registration="pool", message_bytes="64 MiB"
    )
    fault = next(one for one in _slow_nics(asked) if one.of_one_node)
    whole = peerlab.simulate(asked.with_(slow_nodes={0: 0.5})).busbw_GBps
    assert fault.GBps(asked) == pytest.approx(whole, rel=0.1)


def test_one_queue_pair_a_connection_is_a_fault_where_a_fabric_has_several_ways():
    """Over RoCE it keeps to one of equally long ways, and to one of two bonded ports; InfiniBand's ways are no matter of queue pairs."""
    for cluster, has in (("h200-roce", True), ("h100-ndr", False), ("p5", False)):
        asked = peerlab.Scenario(cluster=cluster, nodes=2, path="peer-direct", registration="pool")
        told = [one for one in faults(asked) if "one QP" in one.name]
        assert bool(told) == has
        assert all("NCCL_IB_QPS_PER_CONNECTION" in one.decides for one in told)


def test_inside_one_nvlink_domain_no_nic_is_at_fault():
    asked = peerlab.Scenario(cluster="gb200-nvl72", nodes=18, path="peer-direct")
    assert not [one for one in faults(asked) if "NIC" in one.name]
    assert [one for one in faults(asked.with_(nodes=36)) if "NIC" in one.name]


def test_a_tree_with_ll128_carries_no_more_than_slow_nics_do():
    """NCCL plans two nodes with what a channel carries inside a node."""
    asked = peerlab.Scenario(
        cluster="alps-gh200", nodes=2, path="peer-direct", registration="pool", message_bytes="1 GiB"
    )
    for share in (1 / 2, 1 / 8):
        slow = rate_of_nics(share)(asked).with_(algorithm="tree", protocol="LL128")
        assert peerlab.simulate(slow).busbw_GBps < 4 * 24 * share * 1.75


def rate_of_nics(share):
    def slower(s):
        machine = s.given_cluster
        return s.with_(cluster=machine.with_figure("nic.rate", machine.figures["nic.rate"].value * share))

    return slower


ILL = {
    "half of the NICs": (rate_of_nics(1 / 2), "half of the NICs carry everything"),
    "a quarter of the NICs": (rate_of_nics(1 / 4), "a quarter of the NICs carries everything"),
    "one rail": (rate_of_nics(1 / 8), "one NIC carries everything"),
    "a cable at half its rate": (lambda s: s.with_(slow_nics={"0.3": 0.5}), "a NIC at half its rate"),
    "a cable at a quarter": (lambda s: s.with_(slow_nics={"1.1": 0.25}), "a NIC at a quarter of its rate"),
    "GPUDirect off": (lambda s: s.with_(path="host-rdma"), "GPUDirect off"),
    "the other socket": (lambda s: s.with_(wiring="other-socket"), "NICs beside another GPU"),
    "ring alone": (lambda s: s.with_(algorithm="ring"), "ring alone"),
    "TCP": (lambda s: s.with_(cluster=over_tcp(s.given_cluster), path="host-tcp"), "kernel TCP carries it"),
    "no cache": (lambda s: s.with_(registration="per-transfer"), "registration without a cache"),
    "Simple alone": (lambda s: s.with_(protocol="Simple"), "Simple alone"),
    "tree alone": (lambda s: s.with_(algorithm="tree"), "tree alone"),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("fault", ILL)
def test_of_a_dozen_ill_runs_each_is_found_and_its_cause_is_among_those_alike(fault):
    change, cause = ILL[fault]
    sizes = [1024 << power for power in range(24)]
    found = verdict(log_of("h100-ndr", 2, sizes, change, noise=0.015), "h100-ndr")
    assert found.verdict == "below", found.why
    assert any(one.name.startswith(cause) for one in found.likely), found.because


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("cluster", "nodes"),
    [("p5", 2), ("p5", 16), ("p4d", 4), ("h100-ndr", 8), ("azure-nd-a100-v4", 2), ("h200-roce", 2), ("b200-roce", 4),
     ("mi300x-roce", 2), ("alps-gh200", 2), ("p5en", 4), ("gb200-nvl72", 36), ("p6-b200", 2)],
)  # fmt: skip
def test_no_healthy_run_with_noise_is_called_ill(cluster, nodes):
    assert verdict(log_of(cluster, nodes, noise=0.015), cluster).verdict == "healthy"
