"""Whether the network is fit for RDMA: packet size, and what keeps Ethernet from losing packets."""

import re
from collections.abc import Iterator

from peerlab.features.doctor.check import PASS, UNKNOWN, WARN, Check, Seen, listed
from peerlab.features.doctor.host import Host
from peerlab.machine.files import entries, number, text

# A packet of RoCE with 4096 B and its headers.
_LEAST_MTU = 4200


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
)
