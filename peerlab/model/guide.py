"""Every figure of a cluster file: its unit, what it is counted per, what it means and where to find it."""

from dataclasses import dataclass

from peerlab.model.hardware import Figure
from peerlab.model.nic_wiring import Wiring


@dataclass(frozen=True)
class Entry:
    """How one figure is written."""

    what: str
    """What the figure says, in one line."""
    unit: str
    """A usual unit."""
    basis: str
    """What it is counted per."""
    where: str
    """Where to find it."""


_TRANSPORT = "the transport's standard; data/transports has those of peerlab"
_LIBRARY = "the source or the manual of the collective library"


def where_to_find(one: Figure | Wiring) -> str:
    """Return how to find out an assumed figure, or where the NICs hang, as a sentence without its end."""
    return one.check if isinstance(one, Wiring) else GUIDE[one.key].where


# Every figure of `Cluster` has an entry and nothing else has: tests/features/clusters/test_draft.py.
GUIDE = {
    "node.numa_domains": Entry(
        "CPU sockets (NUMA domains) with accelerators", "1", "per node", "lscpu; the server's block diagram"
    ),
    "node.switches_per_numa": Entry(
        "PCIe switches, or ports of the CPU, with accelerators", "1", "per NUMA domain",
        "lspci -tv; nvidia-smi topo -m (PIX: the same switch); the server's block diagram",
    ),
    "node.devices_per_switch": Entry(
        "accelerators below one PCIe switch", "1", "per PCIe switch", "lspci -tv; nvidia-smi topo -m; hl-smi -L"
    ),
    "node.nics_per_switch": Entry(
        "NICs below one PCIe switch; a device that has several stripes over them", "1", "per PCIe switch",
        "lspci -tv: is the NIC below the accelerator's PCIe switch, or below a root port of its own? nvidia-smi topo -m: PIX or PXB "
        "if below that switch. In a virtual machine, ask the provider",
    ),
    "node.cores_per_device": Entry(
        "CPU cores that do an accelerator's communication", "1", "per device",
        "NCCL: NCCL_SOCKET_NTHREADS; HCCL: one host scheduler thread",
    ),
    "device.generation": Entry(
        "NVIDIA's compute capability, its first number (8 for an A100, 9 for an H100)", "1", "per device", "nvidia-smi --query-gpu=compute_cap --format=csv"
    ),
    "device.hbm": Entry(
        "memory bandwidth of one accelerator", "GB/s", "per device, reads and writes together",
        "the accelerator's data sheet",
    ),
    "device.pcie": Entry(
        "PCIe link of one accelerator, after PCIe's own headers", "GB/s", "per device, per direction",
        "lspci -vv, LnkSta: x16 carries 14.1 (Gen3), 28.2 (Gen4) or 56.4 GB/s (Gen5)",
    ),
    "device.pcie_both_ways": Entry(
        "what that link carries in both directions together, if less than twice one", "GB/s", "per device",
        "a copy in and a copy out at the same time, such as nvbandwidth",
    ),
    "device.copy_engine": Entry(
        "copy (DMA) engine of one accelerator", "GB/s", "per device, per direction",
        "peerlab measure copies, nvbandwidth, bandwidthTest or hl_qual: pinned host memory to device and back",
    ),
    "device.copy_start": Entry(
        "starting a staged copy and waiting for it", "us", "per slice and copy",
        "peerlab measure copies, without gdrcopy (an H200 takes 7 to 9 us, others 5 to 20); 0 with gdrcopy; else leave it out",
    ),
    "device.copy_latency": Entry(
        "a copy's last byte to its end", "us", "per copy", "a copy of a few bytes, timed"
    ),
    "switch.uplink": Entry(
        "link of a PCIe switch to the CPU, after PCIe's own headers", "GB/s", "per switch, per direction",
        "lspci -vv, LnkSta of the switch's upstream port; x16 carries 14.1 (Gen3), 28.2 (Gen4), 56.4 GB/s (Gen5)",
    ),
    "host.dram": Entry(
        "memory bandwidth of one NUMA domain", "GB/s", "per NUMA domain, reads and writes together",
        "channels x MT/s x 8 bytes (dmidecode -t memory), or STREAM bound to one NUMA domain",
    ),
    "host.peer_read": Entry(
        "what the CPU forwards when a NIC reads device memory over it", "GB/s", "per NIC",
        "ib_read_bw --use_cuda or ib_write_bw --use_cuda on the sender, where nvidia-smi topo -m says PHB, NODE or SYS; only where NICs hang at the CPU",
    ),
    "host.peer_write": Entry(
        "what the CPU forwards when a NIC writes device memory over it", "GB/s", "per NIC",
        "ib_write_bw --use_cuda on the receiver, where nvidia-smi topo -m says PHB, NODE or SYS; only where NICs hang at the CPU",
    ),
    "host.socket_link": Entry(
        "link between two CPU sockets", "GB/s", "per socket, per direction",
        "mlc --bandwidth_matrix; NCCL plans with 6 to 40 (src/graph/topo.h); only where NICs hang at the other socket",
    ),
    "host.core_copy": Entry(
        "what one core copies between user and kernel memory", "GB/s", "per core",
        "a memcpy of 256 MiB on one core, timed",
    ),
    "host.pageable_copy": Entry(
        "what one core copies between device and host memory, where staging is pageable", "GB/s", "per core",
        "bandwidthTest --memory=pageable",
    ),
    "host.bounce_copy": Entry(
        "what one core copies into the NIC's own buffers, where the library does not send in place", "GB/s",
        "per core", "the network library's source; else leave it out",
    ),
    "host.packet_cost": Entry(
        "TCP/IP work of one core for a packet, beside the copy", "us", "per packet and core",
        "iperf3 with one stream pinned to a core: packet size / rate, less packet size / host.core_copy",
    ),
    "host.packet_size": Entry("largest packet of the network interface", "B", "per packet", "ip link: mtu"),
    "nic.rate": Entry(
        "line rate of one NIC", "Gbit/s", "per NIC, per direction", "ethtool, ibstat, or the NIC's data sheet"
    ),
    "nic.per_message": Entry(
        "what a message costs a NIC, however short it is", "us", "per message and NIC", "its data sheet: 1 / message rate; else leave it out"
    ),
    "nic.pcie": Entry(
        "PCIe link of one NIC, where it may carry less than the NIC does", "GB/s", "per NIC, per direction",
        "lspci -vv, LnkSta of the NIC: x8 carries half of what x16 does; else leave it out",
    ),
    "fabric.latency": Entry(
        "from the sending NIC to the receiving one", "us", "per message",
        "ib_send_lat or osu_latency between two nodes; NCCL plans with up to 14 us",
    ),
    "fabric.backbone": Entry(
        "what all nodes together can send, where they share one backbone", "GB/s", "all nodes together",
        "the network's plan; leave it out for a network that does not block",
    ),
    "fabric.hosts_per_leaf": Entry(
        "nodes below one leaf switch, where the network is oversubscribed", "1", "nodes per leaf switch",
        "the network's plan; leave it out for a network that does not block",
    ),
    "fabric.oversubscription": Entry(
        "rate of a leaf's nodes together / rate of its links to the spine", "1",
        "a leaf's nodes to its links to the spine", "the network's plan",
    ),
    "port.rate": Entry(
        "an accelerator's own ports to other nodes, together", "GB/s", "per device, per direction",
        "the accelerator's manual (Gaudi 2: 3 x 100 Gbit/s, Gaudi 3: 3 x 200 Gbit/s)",
    ),
    "port.latency": Entry("from such a port to the receiving one", "us", "per message", "a ping-pong, timed"),
    "graph.channels": Entry(
        "channels that NCCL opens on a node", "1", "per node", "NCCL_DEBUG=INFO: NN coll channels; without it two for each NIC"
    ),
    "graph.ring_rate": Entry(
        "what NCCL's search gives each channel of its ring", "GB/s", "per channel", "NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=GRAPH: Pattern 4, bw"
    ),
    "graph.tree_rate": Entry(
        "what NCCL's search gives each channel of its tree inside a node", "GB/s", "per channel",
        "NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=GRAPH: Pattern 1 or 3, bw",
    ),
    "library.hop": Entry(
        "what library and transport add to a hop between nodes", "us", "per hop", "peerlab calibrate, on a log of NCCL"
    ),
    "library.message": Entry(
        "what a message costs the library's thread that posts it", "us", "per message and channel", "peerlab calibrate, on a log of NCCL"
    ),
    "library.rendezvous": Entry(
        "what a message above library.eager takes more", "us", "per hop", "peerlab calibrate, on a log of NCCL"
    ),
    "library.eager": Entry("largest message that is sent without asking first", "KiB", "per message", _LIBRARY),
    "library.device_buffers": Entry(
        "what buffers in device memory add, point to point", "us", "per message", "osu_latency D D and H H, compared"
    ),
    "library.overlap_lost": Entry(
        "share of the exchange inside a node that does not overlap the one between nodes", "1", "per collective", _LIBRARY
    ),
    "library.loopback": Entry(
        "share of what ranks of one node exchange from device memory that goes by their NICs", "1", "per exchange", "osu_bw D D inside a node: is it as fast as the NIC"
    ),
    "library.held": Entry("share of a chunk of LL that a device has before it passes it on", "1", "per hop inside a node", _LIBRARY),
    "transport.mtu": Entry(
        "largest packet; leave the section out, and headers are not counted", "B", "per packet", "ibv_devinfo (active_mtu); ip link"
    ),
    "transport.header": Entry("what a packet has on the wire beside its MTU", "B", "per packet", _TRANSPORT),
    "transport.inside": Entry("what of the MTU is headers, over IP", "B", "per packet", _TRANSPORT),
    "transport.first_header": Entry("what the first packet of a message has more", "B", "per message", _TRANSPORT),
    "transport.base": Entry("latency without switches and cable", "us", "per message", "ib_write_lat, cable from NIC to NIC"),
    "transport.switch": Entry("latency of one switch, port to port", "us", "per switch", "the switch's data sheet"),
    "transport.hops": Entry("switches between two nodes", "1", "per message", "the plan of the network"),
    "transport.metres": Entry("cable between two nodes", "m", "per message", "the plan of the network"),
    "transport.per_metre": Entry("latency of a metre of cable", "us", "per metre", "5.05 ns: light in glass"),
    "domain.nodes": Entry(
        "nodes whose accelerators NVLink joins, where it reaches beyond the node; leave the section out where it does not", "1",
        "per NVLink domain", "nvidia-smi -q (ClusterUUID, CliqueId); NCCL's INFO lines: cliqueSize, in ranks",
    ),
    "domain.rate": Entry(
        "what an accelerator's links to all others of its domain carry", "GB/s", "per device, per direction", "the accelerator's data sheet; all_reduce_perf of 16 GiB inside one domain: busbw of a ring",
    ),
    "domain.sharp": Entry(
        "what the switches of a domain add up (NVLink SHARP); leave it out where nobody knows", "GB/s", "per device, per direction",
        "all_reduce_perf inside one domain, NCCL_ALGO=NVLS: algbw (n + 1)/n with n devices",
    ),
    "domain.hop": Entry(
        "what a hop between accelerators of one domain takes more than NCCL plans with", "us", "per hop", "all_reduce_perf of 8 B inside one domain",
    ),
    "scaleup.rate": Entry(
        "link between two accelerators of a node (behind NVSwitch: a device's rate / its peers)", "GB/s",
        "per pair of devices, per direction", "nvidia-smi nvlink -s; the accelerator's manual",
    ),
    "scaleup.sharp": Entry(
        "what NVLink SHARP carries, where the switch of a node adds up; leave it out where there is none", "GB/s",
        "per device, per direction", "all_reduce_perf in one node, NCCL_ALGO=NVLS: algbw (n + 1)/n with n devices",
    ),
    "scaleup.latency": Entry(
        "latency of that link", "us", "per message", "a ping-pong inside a node; NCCL plans with 3.4 us for NVLink"
    ),
    "registration.base": Entry(
        "registering a buffer with the NIC: fixed part", "us", "per region",
        "ibv_reg_mr of one page, timed; UCX plans with 16 us",
    ),
    "registration.per_page": Entry(
        "registering: part that grows with the size", "us", "per page",
        "ibv_reg_mr of a large buffer, timed, / its 4 KiB pages; UCX plans with 0.246 us",
    ),
    "registration.deregister_base": Entry(
        "deregistering: fixed part", "us", "per region", "ibv_dereg_mr, timed; 0 if it grows with the size only"
    ),
    "registration.deregister_per_page": Entry(
        "deregistering: part that grows with the size", "us", "per page",
        "ibv_dereg_mr of a large buffer, timed, / its 4 KiB pages; 0.098 us were seen",
    ),
    "registration.lookup": Entry(
        "finding a buffer in the cache of registrations", "us", "per transfer and side", "UCX plans with 0.05 us"
    ),
    "slices.staged": Entry(
        "slice of a transfer that goes through host memory", "KiB", "per slice",
        f"{_LIBRARY}: HCCL takes 512 KiB, NCCL 512 KiB (4 MiB in 8 steps)",
    ),
    "slices.direct": Entry(
        "slice of a transfer that the NIC reads from device memory", "KiB", "per slice",
        f"{_LIBRARY}: HCCL takes 1024 KiB, NCCL 512 KiB (4 MiB in 8 steps)",
    ),
    "slices.window": Entry(
        "slices in flight; bounce buffers per side", "1", "per side, device and direction",
        f"{_LIBRARY}: HCCL takes 16, NCCL 8 (NCCL_STEPS)",
    ),
    "slices.least": Entry(
        "slices that a transfer is cut into at least", "1", "per transfer",
        f"{_LIBRARY}: NCCL cuts a chunk in 2 for each of its channels; 8 is assumed where it is left out; no more than slices.window",
    ),
    "limits.max_ranks": Entry("most ranks the library allows", "1", "per job", f"{_LIBRARY}; else leave it out"),
}  # fmt: skip
"""By key, in the order of a cluster file."""

TEXTS = {
    "name": "a short name in small letters, as used in a scenario",
    "title": "a name for people, such as Gaudi DL1",
    "device_name": "what one accelerator is called in the pictures, such as Gaudi or H100",
    "summary": "one sentence: accelerators, NICs and the PCIe between them",
}
"""The texts at the top of a cluster file."""

OPTIONAL_TEXTS = {
    "fitted_on": "only where you fit figures: on what, such as all_reduce of 1 MiB to 1 GiB on 2 nodes",
    "cpu": "maker of the hosts' processors, AMD or Intel: lscpu",
}
"""Texts that may stand there too."""
WIRING = (
    "Where the NICs hang. switch: below the PCIe switch of their accelerators; root-port: at a port of the CPU of their own; "
    "socket-switch: below one switch that joins a socket; other-socket: at the other CPU. lspci -tv or nvidia-smi topo -m tell "
    "(PIX, PXB: switch; PHB, NODE: root-port; SYS: other-socket). Where nobody knows, write assumption in place of source, and one "
    "[[wiring.other]] for each place that is possible."
)
"""What stands above the section ``[wiring]``."""
TRANSPORT_TEXTS = {
    "name": "the transport, such as infiniband, roce, efa, iwarp, tcp; without it headers are not counted",
    "has": 'those that it can have, such as ["roce", "tcp"]',
}
"""What may stand under ``[transport]`` beside figures."""
LIBRARY_TEXTS = {
    "name": "the communication library, such as nccl-efa, nccl-verbs, nccl-cxi, nccl-sockets; without it topology alone counts",
    "version": "its version, such as 2.19: NCCL_DEBUG=VERSION prints it",
}
"""Texts that may stand under ``[library]``."""
