"""Faults that a slow run may have, each as a change of the healthy scenario: which would look like it is simulated, never guessed."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from peerlab.base.errors import PeerlabError
from peerlab.engine.long_messages import simulated_GBps
from peerlab.features.expect.over_tcp import TCP, over_tcp
from peerlab.library.nccl_law import PROTOCOLS
from peerlab.model.paths import data_path
from peerlab.question.scenario import Scenario

_MANY = 16
"""Nodes from which on the loss by one slow node hardly changes: at 64 MiB on p5 a slow one costs 33 % of 16 nodes and 31 % of 64."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that may be wrong."""

    name: str
    """What is wrong, in a few words."""
    means: str = ""
    """How the fault comes about, or what it does."""
    decides: str
    """The one command or counter that decides."""
    with_it: Callable[[Scenario], list[Scenario]]
    """The healthy scenario with the fault; of several the library takes the fastest, and of none there is no such fault here."""
    path: str = ""
    """The data path that it leads to, where that is the fault."""
    nics: int | None = None
    """How many NICs of a node it leaves, where that is the fault."""
    setting: str = ""
    """A pattern of the settings of NCCL's that bring it about, such as ``NCCL_ALGO=Ring``; empty: none does."""
    of_one_node: bool = False
    """Whether one node alone has it: then all nodes would be simulated, and beyond 16 a run on 16 says what it costs."""

    def GBps(self, healthy: Scenario) -> float | None:  # noqa: N802
        """Return the bus bandwidth with the fault, GB/s; None where it cannot be simulated."""
        if self.of_one_node and healthy.nodes > _MANY and healthy.nodes_per_domain == 1:
            few = _as_few(healthy)
            slow = self.GBps(few)
            # What a slow node costs is a share: that of 16 nodes holds for more of them.
            return None if slow is None else simulated_GBps(healthy) * slow / simulated_GBps(few)
        values = []
        # Twice: changing the scenario may be refused, and so may simulating one of its variants.
        with suppress(PeerlabError):
            for scenario in self.with_it(healthy):
                with suppress(PeerlabError):
                    values.append(simulated_GBps(scenario))
        return max(values, default=None)


def _as_few(healthy: Scenario) -> Scenario:
    """Return a scenario on 16 nodes with the same choice: all wait for the slowest, however many they are."""
    course = healthy.choice.course if healthy.choice else None
    forced = {"algorithm": course.algorithm, "protocol": course.protocol} if course else {}
    return healthy.with_(nodes=_MANY, **forced)


def faults(healthy: Scenario, in_use: int | None = None) -> list[Fault]:
    """Return the faults that the machine of a scenario may have; `in_use`: how many NICs of a node its log names."""
    # Inside one NVLink domain no NIC has work, so none can be at fault.
    between = [*_slow_nics(healthy), *_missing_nics(healthy, in_use), *_of_path(healthy)]
    return [*(between if healthy.domains > 1 else []), *_of_library(healthy)]


def _slow_nics(healthy: Scenario) -> list[Fault]:
    # NCCL has one queue pair (QP) a connection where nothing else is set. Over RoCE it keeps to one of equally long ways, where it may meet
    # another, and to one of two bonded ports (NVIDIA/nccl issue 1015, nccl-tests issue 265). InfiniBand's ways are no matter of queue pairs.
    roce = "roce" in healthy.hardware.transports
    return [
        _one_slow_nic("half", 0.5, "x8", roce=roce), _one_slow_nic("a quarter of", 0.25, "x4", roce=roce), _all_slow_nics(roce=roce),
    ]  # fmt: skip


_MORE_QPS = "; or `NCCL_IB_QPS_PER_CONNECTION=4`: it is faster if {}"


def _one_slow_nic(words: str, share: float, lanes: str, *, roce: bool) -> Fault:
    # channels have equal shares of a message, so one slow NIC holds all of them up as a slow node does
    ways = _MORE_QPS.format("flows shared an uplink") if roce else ""
    return Fault(
        name=f"a NIC at {words} its rate, {'a slow node, or one QP a connection' if roce else 'or a slow node'}",
        means=f"a cable, or PCIe {lanes}{', or flows that share an uplink' if roce else ''}; all wait for it",
        decides=f"nccl-tests on each pair of nodes: those with that node are slow; there `lspci -vv`: LnkSta, `ibstat` or `ethtool`: rate{ways}",
        with_it=lambda s: [s.with_(slow_nodes={0: share})],
        of_one_node=True,
    )


def _all_slow_nics(*, roce: bool) -> Fault:
    ways = f"{_MORE_QPS.format('ports are bonded')}; `rdma statistic`: out_of_sequence" if roce else ""
    return Fault(
        name=f"every NIC at half its rate{', or one QP on bonded ports' if roce else ''}",
        means=f"a link speed, or PCIe x8{', or packets that are lost and sent again' if roce else ''}",
        decides=f"`ibstat` or `ethtool`: rate, and `lspci -vv`: LnkSta, of each NIC{ways}",
        with_it=lambda s: [_nic_rate(s, 0.5)],
    )


def _missing_nics(healthy: Scenario, in_use: int | None) -> list[Fault]:
    # NICs beyond the devices nobody uses: losing one of those is no fault.
    nics = min(healthy.hardware.nics, healthy.hardware.devices)
    # Where counts coincide the later words win: of two NICs one that is missing leaves one that carries
    # everything.
    left = {
        nics - 1: ("one NIC is missing", "{} carry everything, of all nodes or of one"),
        nics // 2: ("half of the NICs carry everything", "{}, of all nodes or of one"),
        nics // 4: ("a quarter of the NICs carries everything", "{}, of all nodes or of one"),
        1: ("one NIC carries everything", "{}: one rail, or one channel"),
    }
    if in_use:
        left.setdefault(in_use, (f"{in_use} NICs carry everything", "{}"))
    return [
        Fault(
            name=name,
            means=means.format(f"{count} of {nics}"),
            decides="`NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET`: which NICs it uses; `ibstat`: state Active on every port",
            with_it=lambda s, count=count: [_nic_rate(s, count / nics)],  # type: ignore[misc]
            nics=count,
        )
        for count, (name, means) in left.items()
        if 0 < count < nics
    ]


def _nic_rate(healthy: Scenario, times: float) -> Scenario:
    machine = healthy.given_cluster
    # Fewer NICs are simulated as slower ones: channels spread evenly over what is left.
    return healthy.with_(cluster=machine.with_figure("nic.rate", machine.figures["nic.rate"].value * times))


_PATHS = {
    "host-rdma": ("GPUDirect off", "bytes bounce through host memory", "`NCCL_DEBUG=INFO`: channels `via NET/.../GDRDMA`, or without GDRDMA"),
    TCP: ("kernel TCP carries it", "","`NCCL_DEBUG=INFO`: `Using network Socket` instead of IB or the plugin"),
}  # fmt: skip


def _taking(path: str) -> Callable[[Scenario], list[Scenario]]:
    if data_path(path).uses_kernel_tcp:
        return lambda healthy: [healthy.with_(cluster=over_tcp(healthy.given_cluster), path=path)]
    return lambda healthy: [healthy.with_(path=path)]


def _of_path(healthy: Scenario) -> list[Fault]:
    path_faults = [
        Fault(name=name, means=means, decides=decides, with_it=_taking(path), path=path)
        for path, (name, means, decides) in _PATHS.items()
        if path != healthy.path and (data_path(path).uses_kernel_tcp or path in healthy.given_cluster.paths)
    ]
    if healthy.is_wired and data_path(str(healthy.path)).uses_device_memory:
        path_faults += [
            Fault(
                name="NICs beside another GPU",
                means="on the other socket",
                decides="`nvidia-smi topo -m`: PIX or PXB between each GPU and its NIC, not SYS",
                with_it=lambda s: [s.with_(wiring="other-socket")],
            ),
            Fault(
                name="ACS redirect",
                means="switches send peer traffic up to the CPU",
                decides="`lspci -vvv | grep ACSCtl`: ReqRedir+ on a switch port",
                with_it=lambda s: [s.with_(acs_redirect="on")],
            ),
            Fault(
                name="registration without a cache",
                decides="the provider's registration counter, or `perf top`: ib_reg_mr or pin_user_pages at every call",
                with_it=lambda s: [s.with_(registration="per-transfer")],
            ),
        ]
    return path_faults


def _of_library(healthy: Scenario) -> list[Fault]:
    if not healthy.choice:
        return []
    debug = "`NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING`"
    others = [name for name in PROTOCOLS if name != "LL128"]
    return [
        Fault(
            name="no LL128", setting=r"NCCL_PROTO=(\^LL128|LL|LL,Simple|Simple,LL)",
            decides=f"{debug}: protocol; unset NCCL_PROTO",
            # Where it would not run LL128 anyway the fault costs nothing: its curve is the healthy one.
            with_it=lambda s: [s.with_(protocol=other) for other in others] if s.choice and s.choice.does[1] == "LL128" else [s],
        ),
        Fault(
            name="Simple alone", means="NCCL_PROTO=Simple", setting="NCCL_PROTO=Simple",
            decides=f"{debug}: protocol; unset NCCL_PROTO",
            with_it=lambda s: [s.with_(protocol="Simple")],
        ),
        Fault(
            name="no NVLS", setting="NCCL_NVLS_ENABLE=0",
            decides=f"{debug}: NVLS channels; NCCL_NVLS_ENABLE, and the fabric manager's state",
            with_it=lambda s: [s.with_(algorithm=algorithm) for algorithm in ("tree", "ring")] if s.choice and s.choice.course.in_switch else [s],
        ),
        Fault(
            name="ring alone", means="NCCL_ALGO=Ring", setting="NCCL_ALGO=Ring",
            decides=f"{debug}: algorithm; unset NCCL_ALGO",
            with_it=lambda s: [s.with_(algorithm="ring")],
        ),
        Fault(
            name="tree alone", means="NCCL_ALGO=Tree", setting="NCCL_ALGO=Tree",
            decides=f"{debug}: algorithm; unset NCCL_ALGO",
            with_it=lambda s: [s.with_(algorithm="tree")],
        ),
        Fault(
            name="a small window", means="NCCL_BUFFSIZE", setting=r"NCCL_BUFFSIZE=\d+",
            decides="`env | grep NCCL_BUFFSIZE`; unset it",
            with_it=lambda s: [s.with_(window=1)],
        ),
    ]  # fmt: skip
