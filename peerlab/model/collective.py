"""The collectives: one record each, with what ranks hold before and after, what of it crosses the network, and who measures it."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field

AUTO = "auto"
"""What a field holds where nobody chose: as the library, the cluster or the collective has it."""


@dataclass(frozen=True, kw_only=True)
class Collective:
    """One collective, or another exchange that tools measure as one."""

    title: str
    """What every view calls it."""
    before: str
    """What ranks hold before, in words."""
    after: str
    """What they hold after."""
    adds: bool = False
    """Whether the result holds sums."""
    spreads: bool = False
    """Whether every rank has the whole result."""
    shares: bool = False
    """Whether the message is made of a share for each rank; it counts with all of them, as in nccl-tests' column "size"."""
    rooted: bool = False
    """Whether one rank, the root, has all before or has all after."""
    exchanges: bool = False
    """Whether every rank has something else for every other one."""
    is_message: bool = False
    """Whether two ranks take part and one sends: the first device of node 0 to that of node 1. They alone are drawn."""
    passes: int = 0
    """How often a rank sends all shares of the message but one, for busbw; 0: the message passes every link once, whole."""
    usual_algorithm: str = AUTO
    """The algorithm that ``auto`` stands for; by default a ring on each rail."""
    programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By tool what it calls the test, or the operation."""

    @property
    def only_sends(self) -> bool:
        """Whether it is sends and receives and nothing else: nothing is added up, and nothing that is received is passed on."""
        return self.exchanges or self.is_message

    @property
    def gathers(self) -> bool:
        """Whether a rank begins with its share alone and ends with those of all."""
        return self.shares and self.spreads

    def bus_factor(self, ranks: int) -> float:
        """Return busbw / algbw among so many ranks (nccl-tests, doc/PERFORMANCE.md); algbw counts the whole message.

        >>> COLLECTIVES["allreduce"].bus_factor(8), COLLECTIVES["allgather"].bus_factor(2), COLLECTIVES["point-to-point"].bus_factor(2)
        (1.75, 0.5, 1.0)
        """
        return self.passes * (ranks - 1) / ranks if self.passes else 1.0

    def node_factor(self, nodes: int, devices: int) -> float:
        """Return how many bytes a node of so many devices sends to the other nodes, per byte of the message.

        Of an all-to-all each device sends its own message, less what stays in the node; of any other collective the node sends one
        as a single rank would.

        >>> COLLECTIVES["allreduce"].node_factor(8, 8), COLLECTIVES["alltoall"].node_factor(8, 8)
        (1.75, 7.0)
        """
        return self.bus_factor(nodes) * (devices if self.exchanges else 1)


COLLECTIVES: dict[str, Collective] = {
    "allreduce": Collective(
        title="AllReduce",
        before="a contribution to the whole message",
        after="the sum of all contributions",
        adds=True,
        spreads=True,
        passes=2,
        programs={
            "nccl-tests": ("all_reduce_perf",), "NCCL": ("AllReduce",), "hccl_demo": ("allreduce",), "nccom-test": ("all_reduce", "allr"),
            # of OSU the program's name, and the word in the first line of its log
            "osu": ("allreduce", "Allreduce"), "PyTorch": ("allreduce", "allreduce_coalesced"),
        },
    ),
    "allgather": Collective(
        title="AllGather",
        before="its own share",
        after="the shares of all",
        spreads=True,
        shares=True,
        passes=1,
        programs={
            "nccl-tests": ("all_gather_perf",), "NCCL": ("AllGather",), "hccl_demo": ("allgather",), "nccom-test": ("all_gather", "allg"),
            "osu": ("allgather", "Allgather"), "PyTorch": ("allgather", "_allgather_base", "all_gather_into_tensor_coalesced"),
        },
    ),
    "reduce-scatter": Collective(
        title="ReduceScatter",
        before="a contribution to the whole message",
        after="the sum of its own share",
        adds=True,
        shares=True,
        passes=1,
        programs={
            "nccl-tests": ("reduce_scatter_perf",), "NCCL": ("ReduceScatter",), "hccl_demo": ("reducescatter",),
            "nccom-test": ("reduce_scatter", "redsct"), "osu": ("reduce_scatter", "Reduce_scatter"),
            "PyTorch": ("reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced"),
        },
    ),
    # nccl-tests' size of it is what one rank sends to all, so what a node sends grows with its devices.
    "alltoall": Collective(
        title="all-to-all",
        before="a share for each rank",
        after="a share of each rank",
        shares=True,
        exchanges=True,
        passes=1,
        usual_algorithm="direct",
        programs={
            "nccl-tests": ("alltoall_perf",), "NCCL": ("AlltoAll", "AllToAll"), "hccl_demo": ("alltoall", "all2all"), "nccom-test": ("alltoall",),
            "osu": ("alltoall", "All-to-All Personalized Exchange"), "PyTorch": ("all_to_all", "all_to_allv"),
        },
    ),
    # no passes: the message crosses every link once, and its busbw is its algbw
    "broadcast": Collective(
        title="Broadcast",
        before="the message, at the root",
        after="the message",
        spreads=True,
        rooted=True,
        usual_algorithm="pipeline",
        programs={
            "nccl-tests": ("broadcast_perf",), "NCCL": ("Broadcast",), "hccl_demo": ("broadcast",),
            "osu": ("bcast", "Broadcast"), "PyTorch": ("broadcast",),
        },
    ),
    "point-to-point": Collective(
        title="point to point",
        before="the message, at the sender",
        after="the message, at the receiver",
        is_message=True,
        programs={"nccl-tests": ("sendrecv_perf",), "hccl_demo": ("sendrecv",), "nccom-test": ("sendrecv", "permute")},
    ),
}  # fmt: skip
"""Every collective that is simulated."""

# Tools measure these, so that logs of them are read and compared; no algorithm does them here.
_ONLY_MEASURED: dict[str, Collective] = {
    "reduce": Collective(
        title="Reduce",
        before="a contribution to the whole message",
        after="the sum of all contributions, at the root",
        adds=True,
        rooted=True,
        programs={"nccl-tests": ("reduce_perf",), "hccl_demo": ("reduce",), "osu": ("reduce", "Reduce")},
    ),
    "gather": Collective(
        title="Gather",
        before="its own share",
        after="the shares of all, at the root",
        shares=True,
        rooted=True,
        passes=1,
        programs={"nccl-tests": ("gather_perf",), "osu": ("gather", "Gather")},
    ),
    "scatter": Collective(
        title="Scatter",
        before="a share for each rank, at the root",
        after="its own share",
        shares=True,
        rooted=True,
        passes=1,
        programs={"nccl-tests": ("scatter_perf",), "osu": ("scatter", "Scatter")},
    ),
}  # fmt: skip

# A view and not a copy: a collective that is added to COLLECTIVES is in it at once. A ChainMap goes
# through its last mapping first.
MEASURED: Mapping[str, Collective] = ChainMap(_ONLY_MEASURED, COLLECTIVES)
"""Every collective that tools measure: those that are simulated first."""


def collective_of(name: str) -> Collective:
    """Return the record of a collective that is simulated or measured.

    Raises
    ------
    LookupError
        If there is none of this name.
    """
    if name not in MEASURED:
        raise LookupError(f"no collective is called {name!r}; known are {', '.join(MEASURED)}")
    return MEASURED[name]


def programs_of(tool: str) -> dict[str, str]:
    """Return the name of each collective by what a tool calls it.

    >>> programs_of("nccl-tests")["all_reduce_perf"]
    'allreduce'
    """
    return {word: name for name, record in MEASURED.items() for word in record.programs.get(tool, ())}
