"""Logs of real machines: each is read, and its figures are those of its text."""

import re

import pytest

import peerlab
from peerlab.base.errors import RecordsError

SPOTS = {
    "nccl_aws_p5_2n16r_efa.log": (64, "allreduce", 16, None, "in-place", 17179869184, 0.066109, 487.26),
    "nccl_cscs_gh200_2n2r_rdma.log": (16, "allreduce", 2, 2, "in-place", 134217728, 5867.43e-6, 22.88),
    "nccl_cscs_gh200_2n8r_rdma.log": (50, "allreduce", 8, 2, "out-of-place", 134217728, 1916.4e-6, 122.57),
    "nccl_cscs_gh200_2n8r_tcp.log": (50, "allreduce", 8, 2, "in-place", 33554432, 0.017275, 3.40),
    "nccl_eks_g4dn_metal_2n2r_efa_nogdr_mpitag.log": (
        62,
        "allreduce",
        2,
        2,
        "in-place",
        1073741824,
        0.344454,
        3.12,
    ),
    "nccl_azure_ndA100_2n16r_ib_a.log": (62, "allreduce", 16, None, "in-place", 8589934592, 0.085091, 189.28),
    "nccl_g4dn8xl_2n2r_efa.log": (62, "allreduce", 2, None, "out-of-place", 1073741824, 0.378919, 2.83),
    "nccl_g4dn8xl_2n2r_socket.log": (62, "allreduce", 2, None, "in-place", 1073741824, 0.541545, 1.98),
    "nccl_nebius_h100_2n16r_ib.log": (62, "allreduce", 16, None, "in-place", 8589934592, 0.034381, 468.46),
    "nccl_p4d_2n16r_efa_gdr_2023.log": (60, "allreduce", 16, 2, "in-place", 1073741824, 0.04742, 42.46),
    "nccl_coreweave_gb200_18n72r_nvl72.log": (10, "allreduce", 72, None, "in-place", 2**33, 0.020006, 846.82),
    "nccl_coreweave_gb200_2racks128r_ib.log": (
        12,
        "allreduce",
        128,
        None,
        "in-place",
        2**34,
        0.041557,
        820.36,
    ),
    "nccl_gcp_a3mega_h100_2n16r_tcpxo.log": (62, "allreduce", 16, 2, "in-place", 2**33, 0.047743, 337.35),
    "nccl_oci_gb200_2n8r_mnnvl.log": (66, "allreduce", 8, 2, "in-place", 2**35, 0.070956, 847.42),
    "nccl_oci_gb200_32n128r_2racks.log": (66, "allreduce", 128, None, "in-place", 2**35, 0.0997563, 683.49),
    "nccl_oci_h200_2n16r_argonne.log": (10, "allreduce", 16, 2, "in-place", 2**34, 0.066226, 486.40),
    "rccl_mi300x_2n16r_cx7_roce.log": (64, "allreduce", 16, 2, "in-place", 2**34, 0.090127, 357.41),
    "rccl_mi250x_4n32r_cxi.log": (34, "allreduce", 32, None, "out-of-place", 4294967296, 0.089585, 92.89),
    "osu_alltoall_cscs_HH_cxi.log": (21, "alltoall", 8, 2, "latency", 8 * 1048576, 519.85e-6, None),
    "osu_alltoall_cscs_HH_tcp.log": (21, "alltoall", 8, 2, "latency", 8 * 65536, 782.28e-6, None),
    "osu_bw_cscs_DD_internode_gdr.log": (23, "point-to-point", 2, 2, "bandwidth", 4194304, None, 23.98954),
    "osu_bw_cscs_DD_internode_tcp_staged.log": (
        23,
        "point-to-point",
        2,
        2,
        "bandwidth",
        4194304,
        None,
        1.80275,
    ),
    "osu_bw_cscs_DD_intranode_cxi.log": (23, "point-to-point", 2, 1, "bandwidth", 4194304, None, 23.98944),
    "osu_bw_cscs_HH_internode_cxi.log": (23, "point-to-point", 2, 2, "bandwidth", 4194304, None, 23.98218),
    "osu_bw_cscs_HH_internode_tcp.log": (23, "point-to-point", 2, 2, "bandwidth", 4194304, None, 3.12142),
    "osu_latency_cscs_HH_cxi.log": (23, "point-to-point", 2, 2, "latency", 4194304, 183.66e-6, None),
    "osu_latency_juliet_DD_gdr0_gdrcopy1.log": (
        23,
        "point-to-point",
        2,
        2,
        "latency",
        262144,
        3549.30e-6,
        None,
    ),
    "osu_latency_juliet_DD_gdr1_gdrcopy1.log": (23, "point-to-point", 2, 2, "latency", 1, 4.06e-6, None),
    "hccl_demo_gaudi2_1n8r_1GB.log": (1, "allreduce", 8, 1, "", 1073741824, None, 258.200959),
    "hccl_demo_gaudi2_1n8r_32MB.log": (1, "allreduce", 8, None, "", 33554432, None, 258.259144),
    "hccl_demo_gaudi2_1n8r_32MB_openshift.log": (1, "allreduce", 8, None, "", 33554432, None, 258.209121),
}
"""Rows in all; then collective, ranks, nodes, variant, size, time and busbw of one of them."""
CRASHED = "osu_iallreduce_cscs_crash_malformed.log"


@pytest.mark.parametrize("name", SPOTS)
def test_a_log_is_read_and_a_row_of_it_is_that_of_its_text(reference_dir, name):
    count, collective, ranks, nodes, variant, size, time, busbw = SPOTS[name]
    found = peerlab.load(reference_dir / "logs" / name)
    table = found.table
    assert len(table) == count
    assert not any("doubtful" in one or "left out" in one for one in found.warnings)
    [row] = table[(table["variant"] == variant) & (table["size_bytes"] == size)].to_dict("records")
    assert (row["collective"], row["ranks"]) == (collective, ranks)
    assert nodes is None or row["nodes"] == nodes
    assert time is None or row["time_s"] == time
    assert busbw is None or row["busbw_GBps"] == busbw


def test_every_other_file_of_the_folder_is_refused_in_one_line(reference_dir):
    others = [file for file in sorted((reference_dir / "logs").iterdir()) if file.name not in SPOTS]
    assert len(others) > 10
    for file in others:
        with pytest.raises(RecordsError) as caught:
            peerlab.load(file)
        assert re.fullmatch(rf"{file.name}.*: .{{10,300}}", str(caught.value))
        if file.name == CRASHED:
            assert str(caught.value).endswith("line 8: '*** Process received signal ***'")


def test_the_transport_of_efa_without_gpudirect_is_kept(reference_dir):
    manifest = peerlab.load(reference_dir / "logs" / "nccl_eks_g4dn_metal_2n2r_efa_nogdr_mpitag.log").manifest
    told = (
        "NET/OFI Selected Provider is efa (found 1 nics)",
        "Using network AWS Libfabric",
        "[send] via NET/AWS Libfabric/0",
    )
    assert set(told) <= set(manifest["transport"])
