"""Devices that have several NICs: they stripe over them, so that a device's NICs are one of their rates together."""

from peerlab.base.units import say_count
from peerlab.model.effective_machine import Change, Changes, changed
from peerlab.model.hardware import Cluster

_PER_NIC = ("nic_Bps", "nic_pcie_Bps", "peer_read_Bps", "peer_write_Bps")
"""Rates of a cluster that are counted per NIC."""
_BY = "striping"


def striped(cluster: Cluster) -> Cluster:
    """Return a cluster with the NICs of each device as one of their rates together; it is the same where devices share NICs.

    So does what runs on it: aws-ofi-nccl gives NCCL the four EFA devices of a p5's GPU as one, and sends a part of each message over
    each (src/nccl_ofi_scheduler.cpp). A slice then is a message on each of them at the same time, and so is a
    registration. NICs that are left over, such as the third of two devices, nobody uses.
    """
    return changed(cluster, striping(cluster))


def striping(cluster: Cluster) -> Changes:
    """Return what that does to figures."""
    # no device has several: NICs stay as they are, and devices that share one queue for it
    if cluster.nics_per_switch <= cluster.devices_per_switch:
        return {}
    each = cluster.nics_per_device
    why = f"a device stripes over its {say_count(each, 'NIC')}, which count as one"
    basis = f"the {each} NICs of a device together, per direction"
    together = [Change(how="times", amount=each, by=_BY, why=why, basis=basis)]
    counted = [Change(how="is", amount=cluster.devices_per_switch, by=_BY, why=why)]
    rates = [name for name in _PER_NIC if getattr(cluster, name)]
    # one NIC left for each device and none left over: nothing is multiplied
    return {"nics_per_switch": counted, **(dict.fromkeys(rates, together) if each > 1 else {})}
