"""A host that can do peer direct, and what can be wrong with it."""

import json
import shutil
from pathlib import Path

from fake_sys import FakeSys

from peerlab.features.doctor.host import Host

RELEASE = "6.1.0-18-amd64"
CONFIG = "CONFIG_INFINIBAND=m\nCONFIG_INFINIBAND_USER_MEM=y\nCONFIG_PCI_P2PDMA=y\n"
OPEN_DRIVER = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release Build"
CLOSED_DRIVER = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 2024"
LIBFABRIC = {"path": "libfabric.so.1", "version": [1, 22], "providers": ["efa", "shm", "tcp", "verbs"]}


class FakeHost(FakeSys):
    """Two NUMA domains, eight GPUs with the open driver, four RoCE NICs; everything as it should be."""

    def __init__(self, root):
        super().__init__(root)
        self.environment = {}
        self.locked_memory_bytes = None
        self.libfabric = LIBFABRIC
        self.refused = {}
        self.pfc = None
        self.counters = "NIC statistics:\n     rx_prio3_pause: 0\n     rx_prio3_pause_duration: 7\n"
        self.pairs()
        self.write("proc/sys/kernel/osrelease", RELEASE)
        self.write("proc/cmdline", "ro quiet iommu=pt")
        self.write(f"boot/config-{RELEASE}", CONFIG)
        self.write("proc/driver/nvidia/version", OPEN_DRIVER)
        for index in range(4):
            self.write(f"dev/infiniband/uverbs{index}", "")
            for name in ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err"):
                self.write(f"sys/class/infiniband/mlx5_{index}/ports/1/hw_counters/{name}", "0")
            for end in ("roce_np", "roce_rp"):
                self.write(f"sys/class/net/eth{index}/ecn/{end}/enable/3", "1")
        for address in self.ends():
            self.iommu(address, "identity")

    def ends(self):
        """Return the addresses of all GPUs and NICs."""
        return [f"0000:{index}{end}:00.0" for index in range(4) for end in (3, 4, 5)]

    def device(self, address):
        return self.root / "sys/bus/pci/devices" / address

    def iommu(self, address, kind):
        """Put a device into an IOMMU group of a type."""
        group = f"sys/kernel/iommu_groups/{address.replace(':', '')}"
        self.write(f"{group}/type", kind)
        link = self.device(address) / "iommu_group"
        if not link.exists():
            link.symlink_to(self.root / group)

    def remove(self, *paths):
        for path in paths:
            place = self.root / path
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink()

    def drive(self, address, driver):
        """Give a device another driver."""
        link = self.device(address) / "driver"
        link.unlink(missing_ok=True)
        link.symlink_to(f"/sys/bus/pci/drivers/{driver}")

    def gaudi(self):
        """Make every GPU a Gaudi, and ask for what HCCL asks for."""
        for address in self.ends():
            if not address.endswith("5:00.0"):
                (self.device(address) / "vendor").write_text("0x1da3\n")
                self.drive(address, "habanalabs")
        self.write("sys/module/habanalabs/version", "1.20")
        self.environment["MLX5_SCATTER_TO_CQE"] = "0"

    def efa(self):
        """Make every NIC an EFA."""
        for index in range(4):
            self.drive(f"0000:{index}5:00.0", "efa")
            self.write(f"sys/class/infiniband/mlx5_{index}/ports/1/link_layer", "Unspecified")

    def run(self, command, environment):  # noqa: ARG002
        if command[0] == "ethtool":
            return self.counters
        if Path(command[-1]).name != "ask_libfabric.py":
            return self.pfc
        return None if self.libfabric is None else json.dumps(self.libfabric)

    def host(self):
        return Host(
            root=self.root,
            environment=self.environment,
            locked_memory_bytes=self.locked_memory_bytes,
            run=self.run,
            why_not=lambda extra: self.refused.get(extra, ""),
        )
