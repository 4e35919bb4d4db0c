"""Logs as people paste them: lines that NCCL, RCCL, plug-ins, UCX, Open MPI and HCCL print by their sources, above figures that decide nothing."""

import pytest

import peerlab

KINDS = {"A100": "NVIDIA A100-SXM4-80GB", "H200": "NVIDIA H200", "V100": "Tesla V100-PCIE-32GB"}


def nccl_log(said, ranks=16, name="", per_node=8, rate=40.0, least=30):
    """Return a log of nccl-tests: microseconds at least and GB/s, with lines of the library and perhaps names."""
    head = [
        f"#  Rank {rank:2d} Group  0 Pid {4000 + rank:6d} on node{rank // per_node} device {rank % per_node:2d} [0x{16 * (rank % per_node):02x}] {name}"
        for rank in range(ranks if name else 0)
    ]
    factor, table = 2 * (ranks - 1) / ranks, []
    for power in range(3, 31):
        size = 2**power
        us = least + size / rate / 1e3
        figures = f"{us:8.1f} {size / us / 1e3:7.2f} {size / us / 1e3 * factor:7.2f}      0"
        table.append(f"{size:>12d} {size // 4:>13d}     float     sum      -1 {figures} {figures}")
    lines = [f"node0:4000:4100 [0] NCCL INFO {line}" for line in said]
    return "\n".join([*head, *lines, *table])


def osu_log(command, said=(), buffers="D D", rate=24.2):
    rows = [
        f"{2**power:<10d}{min(2**power / 1.3, 1e3 * rate * 2**power / (2**power + 3e4)):>18.2f}"
        for power in range(23)
    ]
    head = [
        f"$ {command} ./osu_bw {buffers}",
        *said,
        "# OSU MPI-CUDA Bandwidth Test v7.4" if "D" in buffers else "# OSU MPI Bandwidth Test v7.4",
    ]
    return "\n".join([*head, "# Size      Bandwidth (MB/s)", *rows])


def hccl_log(command, rate):
    return "\n".join(
        [
            f"{command}python3 run_hccl_demo.py --nranks 16 --node_id 0 --size 256m --test all_reduce --ranks_per_node 8",
            "[BENCHMARK] hcclAllReduce(dataSize=268435456, count=67108864, dtype=float, iterations=100)",
            f"[BENCHMARK]     NW Bandwidth   : {rate * 1.875:.6f} GB/s",
            f"[BENCHMARK]     Algo Bandwidth : {rate:.6f} GB/s",
        ]
    )


def path_of(text):
    return peerlab.diagnose(peerlab.load(text)).path


OF_NCCL = {
    "libfabric since plug-in 1.10": (
        [
            "NET/OFI Selected provider is efa, fabric is efa-direct (found 16 nics)",
            "Using network Libfabric",
            "Channel 00/0 : 3[3] -> 14[6] [send] via NET/Libfabric/3/GDRDMA",
        ],
        "",
        "peer-direct",
    ),
    "EFA's plug-in checks it": (
        ["NET/OFI Selected provider is efa, fabric is efa-direct (found 16 nics)"],
        "H200",
        "peer-direct",
    ),
    "NCCL 2.27 says over which link": (
        ["Channel 02/0 : 3[3] -> 8[0] [send] via NET/IB/0(1)/GDRDMA(PCI)/Shared"],
        "",
        "peer-direct",
    ),
    "buses as numbers, as NCCL 2.10 prints them": (
        [
            "Channel 00 : 1[101d0] -> 8[101c0] [send] via NET/AWS Libfabric/0/GDRDMA",
            "Channel 03 : 15[a01d0] -> 6[a01c0] [receive] via NET/AWS Libfabric/3/GDRDMA",
        ],
        "",
        "peer-direct",
    ),
    "RCCL's channels": (
        [
            "NET/IB : Using [0]bnxt_re0:1/RoCE [1]bnxt_re1:1/RoCE [RO]; OOB ens50f0:10.1.1.5<0>",
            "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA comm 0x55d1c0 nRanks 16",
            "Channel 01/0 : 0[0] -> 1[1] via P2P/IPC comm 0x55d1c0 nRanks 16",
        ],
        "",
        "peer-direct",
    ),
    "one receives, no name, two ranks": (
        ["Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IB/0"],
        "",
        "host-rdma",
    ),
    "a plug-in of verbs": (
        [
            "Channel 00/0 : 1[0] -> 0[0] [receive] via NET/NCCL RDMA Plugin v10/0",
            "NET/NCCL RDMA Plugin v10 : GPU Direct RDMA Disabled for HCA 0 'rocep1s0f0'",
        ],
        "",
        "host-rdma",
    ),
    "a level that no NIC is near enough for": (
        ["NCCL_NET_GDR_LEVEL set by environment to LOC", "Using network IB"],
        "A100",
        "host-rdma",
    ),
    "a GPU that a NIC may read": (
        [
            "GPU Direct RDMA Enabled for GPU 0 / HCA 0 (distance 4 <= 5), read 0 mode Default",
            "GPU Direct RDMA Enabled for GPU 0 / HCA 0 (distance 4 <= 5), read 1 mode Default",
            "Using network IB",
        ],
        "V100",
        "peer-direct",
    ),
    "a NIC may write, and from Ampere on it reads": (
        [
            "GPU Direct RDMA Enabled for GPU 0 / HCA 0 (distance 4 <= 5), read 0 mode Default",
            "Using network IB",
        ],
        "A100",
        "peer-direct",
    ),
    "a NIC may write, and before Ampere nobody knows": (
        [
            "GPU Direct RDMA Enabled for GPU 1e000 / HCA 0 (distance 4 <= 5), read 0 mode Default",
            "Using network IB",
        ],
        "V100",
        None,
    ),
    "no verbs, and a plug-in": (
        ["NCCL_IB_DISABLE set by environment to 1.", "NET/OFI Selected Provider is efa (found 4 nics)"],
        "A100",
        "peer-direct",
    ),
    "sockets, of which NCCL says that they do no RDMA": (
        [
            "NET/IB : No device found.",
            "NET/Socket : Using [0]eth0:10.140.0.7<0>",
            "NET/Socket : GPU Direct RDMA Disabled for HCA 0 'eth0'",
        ],
        "A100",
        "host-tcp",
    ),
    "TCPX of A3 High": (
        [
            "NET/GPUDirectTCPX ver. 3.1.8. Using [0]eth1:10.0.1.2<0>",
            "Channel 00/0 : 0[0] -> 8[0] [send] via NET/GPUDirectTCPX_v7/0/GDRDMA",
        ],
        "",
        "device-tcp",
    ),
}

OF_TWO_RANKS = ("one receives, no name, two ranks", "a plug-in of verbs")


@pytest.mark.parametrize("case", OF_NCCL)
def test_lines_of_nccl_and_its_plug_ins(case):
    said, name, path = OF_NCCL[case]
    shape = {"ranks": 2, "per_node": 1, "rate": 11} if case in OF_TWO_RANKS else {}
    shape |= {"rate": 10, "least": 120} if path == "host-tcp" else {}  # which is not as fast, nor as prompt
    text = nccl_log(said, name=KINDS.get(name, ""), **shape)
    assert path_of(text) == path


UCX = "[1701292112.829711] [n1:162239:0]     proto_debug.c:406  UCX  INFO  "
TABLE = UCX + "| ucp_context_0 inter-node cfg#3 | tagged message by ucp_tag_send*(multi) from cuda/GPU0 |"


@pytest.mark.parametrize(
    ("command", "said", "path"),
    [
        (
            "mpirun -np 2 -x UCX_PROTO_INFO=y",
            [TABLE, UCX + "|    17298..inf | (?) rendezvous zero-copy read from remote | rc_mlx5/mlx5_0:1 |"],
            "peer-direct",
        ),
        (
            "mpirun -np 2 -x UCX_PROTO_INFO=y",
            [
                TABLE,
                UCX
                + "| 17298..inf | (?) rendezvous pipeline cuda_copy, fenced write to remote, frag host, cuda_copy, frag host | rc_mlx5/mlx5_0:1 |",
            ],
            "host-rdma",
        ),
        ("mpirun -np 2", [UCX + "0x100b240 inter-node cfg#3 tag(tcp/eth0 tcp/eth0)"], "host-tcp"),
        ("mpirun -np 2 --mca pml ob1 --mca btl tcp,self,vader", [], "host-tcp"),
    ],
)
def test_lines_and_settings_of_mpi(command, said, path):
    rate = 3.0 if path == "host-tcp" else 24.2
    assert path_of(osu_log(command, said, "H H" if path == "host-tcp" else "D D", rate)) == path


def test_lanes_of_rdma_exclude_tcp():
    lane = UCX + "0x100b240 inter-node cfg#3 tag(rc_mlx5/mlx5_0:1 rc_mlx5/mlx5_1:1)"
    found = peerlab.diagnose(peerlab.load(osu_log("mpirun -np 2", [lane], "D D")))
    assert next(one.points["host-tcp"] for one in found.evidence if "inter-node cfg" in one.seen) < -3


def test_a_transport_of_mpi_that_ucx_does_not_ask_says_nothing():
    found = peerlab.diagnose(
        peerlab.load(osu_log("mpirun -np 2 --mca pml ucx --mca btl tcp,self", [], "D D"))
    )
    assert not any(one.kind == "line" for one in found.evidence)


@pytest.mark.parametrize(
    ("command", "rate", "path"),
    [
        ("HCCL_OVER_OFI=1 HCCL_GAUDI_DIRECT=1 HCCL_COMM_ID=10.3.1.2:5555 ", 16.9, "peer-direct"),
        ("HCCL_OVER_OFI=1 FI_PROVIDER=verbs HCCL_COMM_ID=10.3.1.2:5555 ", 9.1, "host-rdma"),
        ("HCCL_OVER_TCP=1 HCCL_COMM_ID=10.3.1.2:5555 ", 2.1, "host-tcp"),
    ],
)
def test_settings_of_hccl(command, rate, path):
    assert path_of(hccl_log(command, rate)) == path


def test_efa_that_is_far_below_those_that_reach_device_memory_is_staged():
    provider = ["NET/OFI Selected Provider is efa"]
    assert path_of(nccl_log(provider, 2, rate=2.8, least=70)) == "host-rdma"
    assert path_of(nccl_log(provider, 2, rate=11, least=70)) is None


def test_from_host_memory_rdma_fills_its_nic():
    found = peerlab.diagnose(peerlab.load(osu_log("mpirun -np 2", [], "H H", rate=3.1)))
    assert found.path == "host-tcp"
    assert any("fills its NIC" in one.says and one.points["host-rdma"] < -1 for one in found.evidence)


def test_more_than_one_stream_of_tcp_is_not_named_tcp():
    """A message every 6 us is slow for RDMA; but no stream of TCP was seen to carry 5.4 GB/s."""
    rows = "\n".join(f"{2**power:<10d}{min(2**power / 6.2, 5400):>18.2f}" for power in range(18))
    assert path_of(f"# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n{rows}\n") is None
