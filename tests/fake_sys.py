"""A /sys and /proc of a machine that is not here."""

import os

GPU, ETHERNET, INFINIBAND, BRIDGE = 0x030200, 0x020000, 0x020700, 0x060400
NVIDIA, HABANA, MELLANOX, ASPEED = 0x10DE, 0x1DA3, 0x15B3, 0x1A03


class FakeSys:
    """Folders and links as the kernel lays them out, below `root`."""

    def __init__(self, root):
        self.root = root
        (root / "sys/bus/pci/devices").mkdir(parents=True)
        self.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example CPU 9000\n")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def pci(
        self,
        *way,
        kind=BRIDGE,
        vendor=NVIDIA,
        speed="16.0 GT/s PCIe",
        top=None,
        lanes=16,
        numa=0,
        driver=None,
    ):
        """Put a device at the end of `way`, the addresses from the CPU's root port down."""
        folder = f"sys/devices/pci{way[0][:7]}/" + "/".join(way)
        says = {
            "class": f"0x{kind:06x}", "vendor": f"0x{vendor:04x}", "numa_node": numa, "max_link_speed": top or speed,
            "current_link_speed": speed, "current_link_width": lanes,
        }  # fmt: skip
        for name, text in says.items():
            self.write(f"{folder}/{name}", text)
        if driver:
            (self.root / folder / "driver").symlink_to(f"/sys/bus/pci/drivers/{driver}")
        if kind == BRIDGE:
            self.access_control(self.root / folder)
        place = self.root / "sys/bus/pci/devices" / way[-1]
        place.symlink_to(os.path.relpath(self.root / folder, place.parent))
        return self.root / folder

    def access_control(self, bridge, control=0):
        """Give the bridge at a folder a configuration space whose second capability is ACS, with this control word."""
        space = bytearray(4096)
        space[0x100:0x104] = (0x0001 | 1 << 16 | 0x148 << 20).to_bytes(4, "little")
        space[0x148:0x14C] = (0x000D | 1 << 16).to_bytes(4, "little")
        space[0x14E:0x150] = control.to_bytes(2, "little")
        (bridge / "config").write_bytes(space)

    def rdma(self, name, card, rate="100 Gb/sec (4X EDR)", state="4: ACTIVE", link_layer="Ethernet"):
        """Put an RDMA device with one port on the card at the folder `card`."""
        self.write(f"sys/class/infiniband/{name}/ports/1/rate", rate)
        self.write(f"sys/class/infiniband/{name}/ports/1/state", state)
        self.write(f"sys/class/infiniband/{name}/ports/1/link_layer", link_layer)
        (self.root / "sys/class/infiniband" / name / "device").symlink_to(card)

    def net(self, name, card, speed=100000, mtu=9000, state="up"):
        """Put a network interface on the card at the folder `card`."""
        for file, text in (("speed", speed), ("mtu", mtu), ("operstate", state)):
            self.write(f"sys/class/net/{name}/{file}", text)
        (self.root / "sys/class/net" / name / "device").symlink_to(card)
        (card / "net" / name).mkdir(parents=True)
        (card / "net" / name / "mtu").write_text(f"{mtu}\n")

    def numa(self, count):
        for node in range(count):
            self.write(f"sys/devices/system/node/node{node}/cpulist", f"{8 * node}-{8 * node + 7}")

    def pairs(self, speed="16.0 GT/s PCIe"):
        """Make a server of two NUMA domains, each with two switches of two GPUs and a 100G RoCE NIC."""
        self.numa(2)
        for index in range(4):
            port, up = f"0000:{index}0:01.0", f"0000:{index}1:00.0"
            numa = index // 2
            self.pci(port, speed=speed, numa=numa)
            self.pci(port, up, speed=speed, numa=numa)
            gpu, nic = (GPU, NVIDIA, "nvidia"), (ETHERNET, MELLANOX, "mlx5_core")
            for below, (kind, vendor, driver) in enumerate([gpu, gpu, nic]):
                down = f"0000:{index}2:{below:02x}.0"
                end = f"0000:{index}{3 + below}:00.0"
                self.pci(port, up, down, speed=speed, numa=numa)
                card = self.pci(
                    port, up, down, end, kind=kind, vendor=vendor, speed=speed, numa=numa, driver=driver
                )
            self.net(f"eth{index}", card)
            self.rdma(f"mlx5_{index}", card)
        return self
