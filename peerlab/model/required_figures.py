"""Which figures of a cluster file a data path needs."""

from peerlab.model.fabrics import FABRICS
from peerlab.model.paths import PATHS

_ALWAYS = (
    "node.numa_domains", "node.switches_per_numa", "node.devices_per_switch", "node.nics_per_switch",
    "nic.rate", "fabric.latency", "slices.window",
)  # fmt: skip
MAY_BE_LEFT_OUT = (
    "device.copy_engine",
    "device.pcie",
    "switch.uplink",
    "host.dram",
    "device.hbm",
    "fabric.latency",
)
"""Figures that a file may leave out with a reason: what they describe then never limits anything; a latency is then the transport's."""
NEEDS_OF_SEVERAL = ("scaleup.rate", "scaleup.latency", "device.hbm")
"""Figures that a node with several devices needs, whatever its paths."""
TOGETHER = (*(law.figures for law in FABRICS if len(law.figures) > 1), ("domain.nodes", "domain.rate"))
"""Figures that mean something only together."""


def needed_by(key: str) -> tuple[str, ...]:
    """Return the data paths that need the figure `key`."""
    return tuple(path for path, record in PATHS.items() if key in _ALWAYS or key in record.needs)
