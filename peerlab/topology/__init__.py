"""Topology that other tools print: which accelerators and NICs a machine has, and how far they are from each other.

One record for all of them (`peerlab.topology.topology`), and a reader for each tool (`load_topology`).
"""

from peerlab.topology.load_topology import load_topology, read_topology
from peerlab.topology.topology import PciCard, Topology

__all__ = ["PciCard", "Topology", "load_topology", "read_topology"]
