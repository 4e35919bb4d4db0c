"""The machine this runs on, read from /sys and /proc: accelerators, NICs, the PCIe between them, NUMA domains. Nothing is changed."""

from peerlab.machine.read import HABANA, NVIDIA, VENDORS, Machine, Switch, read_machine

__all__ = ["HABANA", "NVIDIA", "VENDORS", "Machine", "Switch", "read_machine"]
