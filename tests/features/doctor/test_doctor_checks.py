"""Every check, every fault: a healthy host passes all, and one fault changes one finding."""

import gzip

import pytest
from fake_host import CLOSED_DRIVER, CONFIG, RELEASE, FakeHost
from fake_sys import ETHERNET, GPU, HABANA, MELLANOX, FakeSys

from peerlab.features.doctor.host import Host
from peerlab.features.doctor.report import CHECKS, examine

MIB = 1 << 20
COUNTERS = "sys/class/infiniband/mlx5_{}/ports/1/hw_counters"


def old_kernel(fake, release="5.4.0-42-generic"):
    fake.write("proc/sys/kernel/osrelease", release)
    fake.write(f"boot/config-{release}", CONFIG)


def nameless_kernel(fake):
    fake.remove("proc/sys/kernel/osrelease")
    (fake.root / "proc/config.gz").write_bytes(gzip.compress(CONFIG.encode()))


def ports(state):
    return lambda fake: [fake.write(f"sys/class/infiniband/mlx5_{i}/ports/1/state", state) for i in range(4)]


def bridges(action):
    def change(fake):
        for index in range(4):
            action(fake, fake.device(f"0000:{index}1:00.0"))

    return change


def set_(**environment):
    return lambda fake: fake.environment.update(environment)


def has(**attributes):
    return lambda fake: [setattr(fake, name, value) for name, value in attributes.items()]


def libfabric(providers, version=(1, 22)):
    return has(
        libfabric={"path": "/opt/lib/libfabric.so.1", "version": list(version), "providers": providers}
    )


def efa_of_old(fake):
    libfabric(["efa", "tcp"], version=(1, 15))(fake)
    fake.environment["FI_EFA_USE_DEVICE_RDMA"] = "1"  # which was needed then


def without_ecn(fake):
    fake.remove(*(f"sys/class/net/eth{i}/ecn" for i in range(4)))


def ecn_off(fake):
    for end in ("roce_np", "roce_rp"):
        fake.write(f"sys/class/net/eth2/ecn/{end}/enable/3", "0")


def infiniband(fake, waited=None):
    """Let a port speak InfiniBand, and say for how many ticks it waited."""
    port = "sys/class/infiniband/mlx5_1/ports/1"
    fake.write(f"{port}/link_layer", "InfiniBand")
    if waited:
        fake.write(f"{port}/counters/port_xmit_wait", waited)


def at_the_cpu(fake):
    """Hang a NIC at a port of the CPU of its own."""
    port, nic = "0000:0f:01.0", "0000:05:00.0"
    fake.device(nic).unlink()
    fake.pci(port)
    fake.pci(port, nic, kind=ETHERNET, vendor=MELLANOX, driver="mlx5_core")
    fake.iommu(nic, "identity")


def cannot(extra, why="EPERM (Operation not permitted)"):
    return lambda fake: fake.refused.update({extra: why})


FAULTS = [
    ("rdma-device", "fail", ports("1: DOWN")),
    ("rdma-device", "fail", ports("2: INIT")),
    ("device-node", "fail", lambda fake: fake.remove("dev/infiniband")),
    ("accelerator", "fail", lambda fake: [fake.drive(end, "vfio-pci") for end in fake.ends()]),
    ("accelerator", "fail", lambda fake: [(fake.device(end) / "driver").unlink() for end in fake.ends()]),
    (
        "numa",
        "warn",
        lambda fake: [(fake.device(f"0000:{i}5:00.0") / "numa_node").write_text("0\n") for i in (2, 3)],
    ),
    ("numa", "unknown", lambda fake: (fake.device("0000:03:00.0") / "numa_node").write_text("-1\n")),
    ("kernel", "fail", old_kernel),
    ("kernel", "unknown", nameless_kernel),
    ("dma-buf", "fail", lambda fake: fake.write(f"boot/config-{RELEASE}", "CONFIG_PCI_P2PDMA=y")),
    ("dma-buf", "unknown", lambda fake: fake.remove(f"boot/config-{RELEASE}")),
    ("peer-memory", "fail", lambda fake: fake.write("proc/driver/nvidia/version", CLOSED_DRIVER)),
    ("peer-memory", "unknown", lambda fake: fake.remove("proc/driver/nvidia/version")),
    ("locked-memory", "fail", has(locked_memory_bytes=8 * MIB)),
    ("nic-place", "warn", at_the_cpu),
    ("iommu", "warn", lambda fake: fake.iommu("0000:23:00.0", "DMA-FQ")),
    ("acs", "warn", bridges(lambda fake, bridge: fake.access_control(bridge, 0x001D))),
    ("acs", "unknown", bridges(lambda _, bridge: (bridge / "config").write_bytes(bytes(64)))),
    ("mtu", "warn", lambda fake: fake.write("sys/class/net/eth1/mtu", "1500")),
    ("mtu", "unknown", lambda fake: [fake.remove(f"sys/class/net/eth{i}/mtu") for i in range(4)]),
    ("flow-control", "warn", ecn_off),
    ("flow-control", "unknown", without_ecn),
    ("lost-packets", "warn", lambda fake: fake.write(f"{COUNTERS.format(2)}/out_of_sequence", "41")),
    ("lost-packets", "warn", lambda fake: fake.write(f"{COUNTERS.format(0)}/local_ack_timeout_err", "1")),
    ("lost-packets", "unknown", lambda fake: fake.remove(*map(COUNTERS.format, range(4)))),
    ("pauses", "warn", has(counters="NIC statistics:\n     rx_prio3_pause: 12\n")),
    ("pauses", "unknown", has(counters=None)),
    ("credits", "warn", lambda fake: infiniband(fake, "7")),
    ("credits", "unknown", infiniband),
    ("libfabric", "warn", libfabric(["shm", "tcp"])),
    ("libfabric", "warn", has(libfabric={"path": "", "version": [0, 0], "providers": []})),
    ("libfabric", "unknown", has(libfabric=None)),
    ("environment", "fail", set_(NCCL_IB_DISABLE="1")),
    ("environment", "fail", set_(NCCL_NET="Socket")),
    ("environment", "fail", set_(NCCL_NET_GDR_LEVEL="LOC")),
    ("environment", "fail", set_(NCCL_NET_GDR_LEVEL="0")),
    ("environment", "fail", set_(NCCL_DMABUF_ENABLE="0")),
    ("environment", "fail", set_(UCX_IB_GPU_DIRECT_RDMA="no")),
    ("environment", "fail", set_(UCX_TLS="tcp,sm,cuda_copy")),
    ("environment", "fail", set_(FI_HMEM_DISABLE_P2P="1")),
    ("environment", "warn", set_(FI_PROVIDER="tcp;ofi_rxm")),
    ("environment", "warn", set_(RDMAV_FORK_SAFE="1")),
    ("environment", "warn", set_(FI_MR_CACHE_MAX_COUNT="0")),
    ("environment", "warn", set_(FI_MR_CACHE_MAX_SIZE="0")),
    ("environment", "warn", set_(FI_MR_CACHE_MONITOR="disabled")),
    ("environment", "warn", set_(OFI_NCCL_MR_CACHE_DISABLE="1")),
    ("pin-io-uring", "warn", cannot("io_uring")),
    ("pin-mlock", "warn", cannot("mlock", "Cannot allocate memory")),
    ("put-process", "warn", cannot("cma")),
    ("shared-memory", "warn", cannot("memfd")),
]
WITH_EFA = [
    ("libfabric", "fail", libfabric(["shm", "tcp", "verbs"])),
    ("libfabric", "fail", efa_of_old),
    ("environment", "fail", set_(FI_EFA_USE_DEVICE_RDMA="0")),
    ("environment", "fail", set_(FI_PROVIDER="tcp")),
    ("environment", "fail", set_(FI_PROVIDER="^efa")),
    ("environment", "warn", libfabric(["efa", "tcp"], version=(1, 17))),
    ("environment", "warn", set_(FI_EFA_MR_CACHE_ENABLE="0")),
]
WITH_GAUDI = [
    ("dma-buf", "fail", lambda fake: fake.write(f"boot/config-{RELEASE}", "CONFIG_INFINIBAND_USER_MEM=y")),
    ("peer-memory", "fail", lambda fake: fake.remove("sys/module/habanalabs")),
    ("libfabric", "fail", libfabric(["verbs", "tcp"], version=(1, 19))),
    ("libfabric", "fail", has(libfabric={"path": "", "version": [0, 0], "providers": []})),
    ("environment", "warn", lambda fake: fake.environment.pop("MLX5_SCATTER_TO_CQE")),
    ("environment", "fail", set_(HCCL_OVER_TCP="1")),
    ("environment", "fail", set_(HCCL_OVER_OFI="1")),
    ("environment", "fail", set_(HCCL_GAUDI_DIRECT="1")),
    ("environment", "fail", set_(HCCL_OVER_OFI="1", HCCL_PEER_DIRECT="0")),
]


@pytest.fixture
def fake(tmp_path):
    return FakeHost(tmp_path)


def statuses(fake):
    return {one.check.id: one.status for one in examine(fake.host()).findings}


def changed(fake, fault):
    before = statuses(fake)
    assert set(before.values()) == {"pass"}
    fault(fake)
    return {name: status for name, status in statuses(fake).items() if status != before[name]}


def test_a_healthy_host_passes_every_check_and_can(fake):
    report = examine(fake.host())
    assert {one.status for one in report.findings} == {"pass"}
    assert report.says == "Yes: nothing that was read stands against it."


@pytest.mark.parametrize(("check", "status", "fault"), FAULTS)
def test_one_fault_changes_one_finding(fake, check, status, fault):
    assert changed(fake, fault) == {check: status}


@pytest.mark.parametrize(("check", "status", "fault"), WITH_EFA)
def test_one_fault_on_efa_changes_one_finding(fake, check, status, fault):
    fake.efa()
    assert changed(fake, fault) == {check: status}


@pytest.mark.parametrize(("check", "status", "fault"), WITH_GAUDI)
def test_one_fault_with_gaudi_changes_one_finding(fake, check, status, fault):
    fake.gaudi()
    assert changed(fake, fault) == {check: status}


def test_every_check_has_a_fault_that_it_alone_finds():
    assert {check for check, _, _ in FAULTS} == {check.id for check in CHECKS}


def test_variables_of_a_library_that_is_not_used_here_do_no_harm(fake):
    fake.environment.update(HCCL_OVER_TCP="1", HCCL_OVER_OFI="1")
    assert statuses(fake)["environment"] == "pass"
    fake.gaudi()
    fake.environment = {"NCCL_NET": "Socket", "NCCL_IB_DISABLE": "1", "MLX5_SCATTER_TO_CQE": "0"}
    assert statuses(fake)["environment"] == "pass"


def test_a_libfabric_that_hangs_leaves_the_question_open_only_where_it_is_needed(fake):
    fake.libfabric = None
    assert examine(fake.host()).verdict == "yes"
    fake.efa()
    assert examine(fake.host()).verdict == "cannot tell"


def test_what_a_job_script_for_gaudi_on_efa_sets_is_right_there(fake):
    fake.gaudi()
    fake.efa()
    assert statuses(fake)["environment"] == "warn"
    fake.environment.update(FI_EFA_USE_DEVICE_RDMA="1", RDMAV_FORK_SAFE="1")
    assert set(statuses(fake).values()) == {"pass"}


def test_a_legacy_module_opens_the_way_without_dma_buf(fake):
    fake.write("sys/module/nvidia_peermem/refcnt", "0")
    fake.write("proc/driver/nvidia/version", CLOSED_DRIVER)
    old_kernel(fake)
    fake.write("boot/config-5.4.0-42-generic", "CONFIG_PCI_P2PDMA=y")
    report = examine(fake.host())
    assert report.verdict == "yes"
    assert [one.check.id for one in report.findings if one.status == "warn"] == ["kernel", "dma-buf"]


def test_the_kernel_says_how_it_was_built_in_its_packed_file_too(fake):
    fake.remove(f"boot/config-{RELEASE}")
    (fake.root / "proc/config.gz").write_bytes(gzip.compress(CONFIG.encode()))
    assert statuses(fake)["dma-buf"] == "pass"


def test_the_nic_vendors_own_modules_count(fake):
    fake.write(f"boot/config-{RELEASE}", "CONFIG_PCI_P2PDMA=y")
    fake.write("proc/kallsyms", "0000000000000000 T ib_umem_dmabuf_get\t[ib_uverbs]")
    assert statuses(fake)["dma-buf"] == "pass"


def test_the_limit_does_not_hold_for_who_may_lock_all(fake):
    fake.locked_memory_bytes = 8 * MIB
    fake.write("proc/self/status", "Name:\tpython3\nCapEff:\t000001ffffffffff")
    fake.write("proc/self/uid_map", "         0          0 4294967295")
    assert statuses(fake)["locked-memory"] == "pass"
    fake.write("proc/self/uid_map", "         0       1000          1")  # root in its own namespace only
    assert statuses(fake)["locked-memory"] == "fail"


def test_a_guest_does_not_see_the_hosts_iommu(fake):
    fake.remove("sys/kernel/iommu_groups", *(f"sys/bus/pci/devices/{end}/iommu_group" for end in fake.ends()))
    assert statuses(fake)["iommu"] == "pass"
    fake.write("proc/cpuinfo", "flags\t: fpu hypervisor")
    assert statuses(fake)["iommu"] == "unknown"


def test_pfc_keeps_ethernet_lossless_without_ecn(fake):
    without_ecn(fake)
    fake.pfc = (
        "pfc-cap 8 macsec-bypass off delay 0\nprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n"
    )
    assert statuses(fake)["flow-control"] == "pass"
    fake.pfc = fake.pfc.replace("3:on", "3:off")
    assert statuses(fake)["flow-control"] == "warn"


def test_infiniband_needs_neither_mtu_nor_pfc_of_ethernet(fake):
    without_ecn(fake)
    for index in range(4):
        fake.write(f"sys/class/infiniband/mlx5_{index}/ports/1/link_layer", "InfiniBand")
        fake.write(f"sys/class/infiniband/mlx5_{index}/ports/1/counters/port_xmit_wait", "0")
        fake.write(f"sys/class/net/eth{index}/mtu", "2044")
    assert set(statuses(fake).values()) == {"pass"}


def test_slingshot_is_an_rdma_device_though_no_verbs_device(fake):
    for index in range(4):
        fake.write(f"sys/class/cxi/cxi{index}/x", "")
        (fake.root / f"sys/class/cxi/cxi{index}/device").symlink_to(
            fake.device(f"0000:{index}5:00.0").resolve()
        )
        fake.write(f"dev/cxi{index}", "")
    fake.remove("sys/class/infiniband", "dev/infiniband")
    fake.libfabric = {"path": "libfabric.so.1", "version": [1, 15], "providers": ["cxi", "tcp"]}
    assert set(statuses(fake).values()) == {"pass"}
    fake.libfabric = {**fake.libfabric, "providers": ["tcp"]}
    assert statuses(fake)["libfabric"] == "fail"


@pytest.mark.parametrize(
    ("nic", "status"), [("0000:10:1b.0", "pass"), ("0000:00:1b.0", "unknown")], ids=["with", "apart"]
)
def test_a_virtual_machine_tells_by_bus_numbers_with_whom_a_nic_hangs(tmp_path, nic, status):
    fake = FakeSys(tmp_path)
    for slot in ("1d", "1e"):
        fake.pci(f"0000:10:{slot}.0", kind=GPU, vendor=HABANA)
    fake.rdma("rdmap16s27", fake.pci(nic, kind=ETHERNET, vendor=0x1D0F, driver="efa"))
    report = examine(Host(root=tmp_path, run=lambda *_: None), ["nic-place"])
    (found,) = report.findings
    assert found.status == status
    assert nic in found.found
