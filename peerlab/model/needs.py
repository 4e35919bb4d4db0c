"""Which figures of a cluster file a data path needs."""

from functools import cache

from peerlab.model.fabrics import FABRICS

_ALWAYS = (
    "node.numa_domains", "node.switches_per_numa", "node.devices_per_switch", "node.nics_per_switch",
    "nic.rate", "fabric.latency", "slices.window", "slices.direct",
)  # fmt: skip
_STAGING = (
    "device.copy_engine", "device.pcie", "switch.uplink", "host.dram", "slices.staged", "device.hbm",
)  # fmt: skip
_NEEDS = {
    "wire": (),
    "native": ("device.hbm", "port.rate", "port.latency"),
    "host-rdma": _STAGING,
    "host-tcp": (*_STAGING, "node.cores_per_device", "host.core_copy", "host.packet_cost", "host.packet_size"),
    "peer-direct": (
        "device.hbm", "device.pcie", "registration.base", "registration.per_page", "registration.deregister_base",
        "registration.deregister_per_page", "registration.lookup",
    ),
}  # fmt: skip
MAY_BE_LEFT_OUT = ("device.copy_engine", "device.pcie", "switch.uplink", "host.dram", "device.hbm")
"""Figures that a file may leave out with a reason: what they describe then never limits anything."""
NEEDS_OF_SEVERAL = ("scaleup.rate", "scaleup.latency", "device.hbm")
"""Figures that a node with several devices needs, whatever its paths."""
TOGETHER = (
    *(law.figures for law in FABRICS if len(law.figures) > 1),
    ("protocol.ll_rate", "protocol.ll_latency", "protocol.ll_up_to"),
    ("protocol.simple_rate", "protocol.simple_latency"),
)
"""Figures that mean something only together."""


@cache
def needed_by(key: str) -> tuple[str, ...]:
    """Return the data paths that need the figure `key`."""
    return tuple(path for path, keys in _NEEDS.items() if key in _ALWAYS or key in keys)
