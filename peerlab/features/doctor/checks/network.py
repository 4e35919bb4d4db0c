"""Whether the network is fit for RDMA: packet size, and what keeps Ethernet from losing packets."""

import re
from collections.abc import Iterator, Mapping, Sequence

from peerlab.features.doctor.check import PASS, UNKNOWN, WARN, Check, Seen, listed
from peerlab.features.doctor.host import Host
from peerlab.machine.files import entries, number, text
from peerlab.machine.rdma import EFA, RdmaPort

# A packet of RoCE with 4096 B and its headers.
_LEAST_MTU = 4200
_OF_LOSSES = ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err")
"""What a receiver, a sender and a sender's timer count when a packet is missing."""
_PAUSES = re.compile(r"\b(rx_prio\d_pause): (\d+)")
"""Lines of ``ethtool -S``; those of global pauses and of how long they lasted are named otherwise."""


def _roce_interfaces(host: Host) -> list[str]:
    return sorted({name for port in host.ports if port.roce for name in port.interfaces})


def _without_roce(host: Host) -> Seen | None:
    """Return what to say where no port speaks RoCE; None where one does."""
    if not host.ports:
        return Seen(UNKNOWN, "no RDMA device")
    if not any(port.roce for port in host.ports):
        return Seen(PASS, "no RoCE: the RDMA ports do not depend on it")
    return None


def _mtu(host: Host) -> Seen:
    without = _without_roce(host)
    if without:
        return without
    sizes = {name: number(host.root / "sys/class/net" / name / "mtu") for name in _roce_interfaces(host)}
    known = {name: size for name, size in sizes.items() if size is not None}
    if not known:
        return Seen(UNKNOWN, "the interfaces of the RoCE ports do not say their MTU")
    small = [name for name, size in known.items() if size < _LEAST_MTU]
    return Seen(WARN if small else PASS, listed(f"{name} has {known[name]} B" for name in small or known))


def _flow_control(host: Host) -> Seen:
    without = _without_roce(host)
    if without:
        return without
    names = _roce_interfaces(host)
    state = {name: [*_ecn(host, name), *_pfc(host, name)] for name in names}
    on = [name for name in names if any(state[name])]
    # On every port: one without flow control is enough to lose packets.
    if names and len(on) == len(names):
        return Seen(PASS, f"on for {listed(on)}")
    # An interface of which nothing can be read is not called off.
    off = [name for name in names if state[name] and name not in on]
    if off:
        return Seen(WARN, f"neither ECN nor PFC is on for {listed(off)}")
    return Seen(UNKNOWN, "neither the driver's ECN files nor dcb pfc show can be read")


def _ecn(host: Host, interface: str) -> Iterator[bool]:
    """Say of each priority and end (sender, receiver) whether congestion is notified."""
    for end in ("roce_np", "roce_rp"):
        for priority in entries(host.root / "sys/class/net" / interface / "ecn" / end / "enable"):
            yield text(priority) == "1"


def _pfc(host: Host, interface: str) -> Iterator[bool]:
    """Say of each priority whether it is paused when buffers fill."""
    output = host.run(["dcb", "pfc", "show", "dev", interface], host.environment) or ""
    # It prints `prio-pfc 0:off 1:off ... 7:off`, one entry for each priority.
    for line in re.findall(r"prio-pfc((?: \d:(?:on|off))+)", output):
        yield from (state.endswith("on") for state in line.split())


def _resent(host: Host) -> Seen:
    """Say whether a port had packets that came out of order or were never acknowledged: what was lost and had to be sent again."""
    if not host.ports:
        return Seen(UNKNOWN, "no RDMA device")
    ports = [port for port in host.ports if port.verbs and port.driver != EFA]
    if not ports:
        return Seen(PASS, "neither InfiniBand nor RoCE: what these ports lose they send again by themselves")
    unread = f"the ports have no hw_counters of {listed(_OF_LOSSES)}"
    return _counted(
        _counters(host, ports, "hw_counters", _OF_LOSSES),
        unread,
        "no packet was lost since the ports came up",
    )


def _paused(host: Host) -> Seen:
    without = _without_roce(host)
    if without:
        return without
    read = {
        f"{name} {counter}": int(value)
        for name in _roce_interfaces(host)
        for counter, value in _PAUSES.findall(host.run(["ethtool", "-S", name], host.environment) or "")
    }
    unread = "ethtool -S shows no rx_prioN_pause of the RoCE ports"
    return _counted(read, unread, "no port was paused since it came up")


def _waited(host: Host) -> Seen:
    """Say whether an InfiniBand port had something to send and could not: its credits were out."""
    if not host.ports:
        return Seen(UNKNOWN, "no RDMA device")
    ports = [port for port in host.ports if port.link_layer == "InfiniBand"]
    if not ports:
        return Seen(PASS, "no InfiniBand: the RDMA ports wait for no credits")
    read = _counters(host, ports, "counters", ["port_xmit_wait"])
    unread = "the InfiniBand ports do not say port_xmit_wait"
    return _counted(read, unread, "no port waited since it came up")


def _counters(host: Host, ports: Sequence[RdmaPort], folder: str, names: Sequence[str]) -> dict[str, int]:
    """Return those counters of some ports that can be read, by the port's name and their own."""
    return {
        f"{port.name} {name}": value
        for port in ports
        for name in names
        if (
            value := number(
                host.root / "sys/class/infiniband" / port.device / "ports" / port.number / folder / name
            )
        )
        is not None
    }


def _counted(read: Mapping[str, int], unread: str, none: str) -> Seen:
    """Say which counters are above 0: `unread` where none can be read, `none` where all are 0."""
    if not read:
        return Seen(UNKNOWN, unread)
    counted = [f"{name} {value:,}" for name, value in read.items() if value]
    return Seen(WARN, listed(counted)) if counted else Seen(PASS, none)


CHECKS = (
    Check(
        id="mtu",
        title="Packet size (MTU)",
        where="/sys/class/net/*/mtu of the RoCE ports",
        rule="at least 4200 B, so that RoCE's largest packets of 4096 B fit; other RDMA ports have their own",
        why="With the usual 1500 B RoCE falls back to packets of 1024 B: more of the wire goes to headers, more work to the card.",
        mend="ip link set dev NAME mtu 9000, on hosts and switches alike.",
        source="docs.nvidia.com MLNX_OFED: RoCE takes the largest power of two that fits the interface's MTU",
        look=_mtu,
    ),
    Check(
        id="flow-control",
        title="Flow control (ECN, PFC)",
        where="/sys/class/net/*/ecn/roce_{np,rp}/enable/*, dcb pfc show dev NAME",
        rule="RoCE: ECN or PFC is on for some priority; InfiniBand, EFA and Slingshot have their own flow control",
        why="Ethernet drops packets when buffers fill; RoCE then resends whole windows, and bandwidth collapses under load.",
        mend="Let the driver notify congestion (echo 1 > .../ecn/roce_np/enable/PRIORITY, and roce_rp), or switch PFC on for the "
        "priority of RDMA: dcb pfc set dev NAME prio-pfc 3:on, on the switches too.",
        source="docs.nvidia.com MLNX_OFED: RoCE congestion control; dcb-pfc(8)",
        look=_flow_control,
    ),
    Check(
        id="lost-packets",
        title="Packets sent again",
        where="/sys/class/infiniband/*/ports/*/hw_counters",
        rule="out_of_sequence, packet_seq_err and local_ack_timeout_err are 0 since the ports came up",
        why="A lost packet sends a whole window again with go-back-N, and a lost tail waits for a timer: peerlab neighbours --fabric roce-lossy shows what it costs.",
        mend="Look whether they grow while a job runs. If so: flow control for the priority of RDMA on every switch, larger headroom, or the cable of the port that counts.",
        source="docs.amd.com PG332, HW debug counters; Mellanox OFED manual: packets received out of sequence",
        look=_resent,
    ),
    Check(
        id="pauses",
        title="Ports that were paused",
        where="ethtool -S NAME of the RoCE ports: rx_prioN_pause",
        rule="no port was told to pause since it came up",
        why="A paused port holds back everybody behind it: neighbours of a slow receiver or of an incast wait as well (peerlab neighbours).",
        mend="Look whether they grow while a job runs. If so: a priority of its own for the job, fewer senders to one receiver, or ECN so that senders slow down first.",
        source="kernel.org mlx5 counters: rx_prio[p]_pause, the number of pause packets received on priority p",
        look=_paused,
    ),
    Check(
        id="credits",
        title="Ports that waited for credits",
        where="/sys/class/infiniband/*/ports/*/counters/port_xmit_wait of the InfiniBand ports",
        rule="no port had data and sent none since it came up (PortXmitWait)",
        why="A port without credits holds back everybody behind it, as a paused one does: credits lose nothing, and make the same victims (peerlab neighbours).",
        mend="Look whether it grows while a job runs. If so: a virtual lane of its own for the job, or fewer senders to one receiver.",
        source="torvalds/linux Documentation/ABI/stable/sysfs-class-infiniband: port_xmit_wait, ticks with data to transmit of which none was sent, for want of credits or of arbitration",
        look=_waited,
    ),
)
