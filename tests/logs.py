"""Figures of published benchmarks, typed by hand, and records made of them."""

from peerlab import Records

KIB, MIB = 2**10, 2**20

NCCL_TCP_US = {
    8: 53.4, 64: 50.7, 256: 51.8, 4096: 56.0, 64 * KIB: 325.0, 512 * KIB: 1143.1, MIB: 1502.2, 2 * MIB: 921.8,
    4 * MIB: 1443.1, 16 * MIB: 5036.9, 64 * MIB: 21253, 128 * MIB: 43293,
}  # fmt: skip
"""NCCL all_reduce, 2 nodes of 4 GH200, without RDMA (eth-cscs/cscs-docs 80abed13, nccl.md)."""
NCCL_RDMA_US = {
    8: 17.9, 64: 19.3, 256: 18.8, 4096: 32.0, 64 * KIB: 61.0, 512 * KIB: 170.3, MIB: 164.3, 2 * MIB: 182.1,
    4 * MIB: 292.7, 16 * MIB: 461.7, 64 * MIB: 1090.5, 128 * MIB: 1916.4,
}  # fmt: skip
"""The same with RDMA."""
STAGED_US = {
    1: 4.32,
    64: 6.57,
    KIB: 10.48,
    2 * KIB: 14.39,
    8 * KIB: 45.75,
    MIB: 166.81,
    2 * MIB: 268.49,
    4 * MIB: 443.22,
}
"""osu_latency D D on juliet, GPUDirect RDMA off (OSU 7.2)."""
DIRECT_US = {
    1: 4.06,
    64: 4.45,
    KIB: 4.89,
    2 * KIB: 4.93,
    8 * KIB: 6.20,
    MIB: 74.08,
    2 * MIB: 145.56,
    4 * MIB: 281.57,
}
"""The same with GPUDirect RDMA on."""
G4DN_US = {
    8: 64.88, 256: 65.30, 64 * KIB: 115.8, MIB: 583.4, 4 * MIB: 1745.4, 16 * MIB: 5966.3, 64 * MIB: 21934, 128 * MIB: 43014,
}  # fmt: skip
"""NCCL all_reduce, 2 g4dn.metal, EFA without GPUDirect RDMA (aws-ia/terraform-aws-eks-blueprints a56919df)."""
P5_US = {
    8: 69.12, 256: 74.12, 64 * KIB: 135.1, MIB: 123.2, 16 * MIB: 298.1, 128 * MIB: 870.3, 2**30: 4607.6, 2**34: 66132,
}  # fmt: skip
"""NCCL all_reduce, 2 p5.48xlarge (aws-samples/awsome-distributed-training 7217859f)."""


def nccl(times_us, ranks=8, nodes=2, devices=("NVIDIA GH200 120GB",), **manifest):
    rows = [
        {"kind": "imported", "source": "nccl-tests: typed", "collective": "allreduce", "variant": "out-of-place",
         "size_bytes": size, "ranks": ranks, "nodes": nodes, "time_s": us / 1e6}
        for size, us in times_us.items()
    ]  # fmt: skip
    return Records.of(rows, {"tool": "nccl-tests", "devices": list(devices), **manifest})


def osu(times_us, **manifest):
    rows = [
        {"kind": "imported", "source": "osu: typed", "collective": "point-to-point", "variant": "latency",
         "size_bytes": size, "ranks": 2, "nodes": 2, "time_s": us / 1e6}
        for size, us in times_us.items()
    ]  # fmt: skip
    return Records.of(rows, {"tool": "osu", **manifest})


def osu_bw(rates_GBps, nodes=2, **manifest):  # noqa: N803
    rows = [
        {"kind": "imported", "source": "osu: typed", "collective": "point-to-point", "variant": "bandwidth",
         "size_bytes": size, "ranks": 2, "nodes": nodes, "algbw_GBps": rate}
        for size, rate in rates_GBps.items()
    ]  # fmt: skip
    return Records.of(rows, {"tool": "osu", **manifest})


def hccl(size, algbw):
    row = {"kind": "imported", "source": "hccl_demo: typed", "collective": "allreduce", "size_bytes": size,
           "ranks": 8, "algbw_GBps": algbw, "time_s": size / algbw / 1e9}  # fmt: skip
    return Records.of([row], {"tool": "hccl_demo"})
