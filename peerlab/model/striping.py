"""Devices that have several NICs: they stripe over them, so that a device's NICs are one of their rates together."""

from dataclasses import replace

from peerlab.model.hardware import Cluster

_PER_NIC = ("nic_Bps", "nic_pcie_Bps", "peer_read_Bps", "peer_write_Bps")
"""Rates of a cluster that are counted per NIC."""


def striped(cluster: Cluster) -> Cluster:
    """Return a cluster with the NICs of each device as one of their rates together; it is the same where devices share NICs.

    So does what runs on it: aws-ofi-nccl gives NCCL the four EFA devices of a p5's GPU as one, and sends a part of each message over
    each (src/nccl_ofi_scheduler.cpp). A slice then is a message on each of them at the same time, and so is a
    registration. NICs that are left over, such as the third of two devices, nobody uses.
    """
    each = cluster.nics_per_device
    if cluster.nics_per_switch <= cluster.devices_per_switch:
        return cluster
    rates = {name: each * rate for name in _PER_NIC if (rate := getattr(cluster, name))}
    return replace(cluster, nics_per_switch=cluster.devices_per_switch, **rates)
