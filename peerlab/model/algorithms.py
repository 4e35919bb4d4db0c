"""The algorithms of a collective: what they are called, what a rank does, and which scenarios may ask for them."""

# An algorithm is what a rail does. With several devices a node, device d of every node forms rail d;
# `ring`, `pairwise`, `halving-doubling` and the others run between the nodes on each rail's share of the
# buffer. `hierarchical` is a ring on the rails; `pairwise` is what HCL does over host NICs, and so DL1's
# default; where NCCL serves a path, it chooses. A flat ring over all devices is refused: no library builds
# one across PCIe switches.

from dataclasses import dataclass

from peerlab.base.errors import ScenarioError
from peerlab.model.collective import AUTO, collective_of
from peerlab.model.hardware import Cluster


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """One algorithm. What each rank sends to whom is its schedule, in `peerlab.collectives`."""

    name: str
    """As in a scenario."""
    schedule: str
    """What each rail does between the nodes: key of `peerlab.collectives.choose.SCHEDULES`."""
    does: str = ""
    """What a rank does, in words; empty for another name of a schedule that has its own record."""
    one_device: bool = False
    """Whether it needs nodes with one device, except where a library takes it over the devices of all nodes."""
    several_devices: bool = False
    """Whether it needs nodes with several devices."""
    power_of_two: bool = False
    """Whether the number of nodes must be a power of two."""
    in_network: bool = False
    """Whether the switches add up: what a node sends goes up to them and comes down to all as a sum."""
    in_node_switch: bool = False
    """Whether the switch inside a node adds up too, and copies the sum to its devices."""
    library: str = ""
    """Kind of the library that alone has it; empty: any scenario may ask for it."""
    collectives: tuple[str, ...] = ("allreduce", "allgather", "reduce-scatter")
    """The collectives that it does."""
    pipelined: bool = False
    """Whether slices go on as they come even where other algorithms run in blocking steps: without that it is nothing."""
    blocks_alltoall: bool = False
    """Whether a rank of an all-to-all deals with one other rank at a time: with all at once it would be a direct exchange."""

    def check(self, cluster: Cluster, nodes: int, collective: str) -> None:
        """Refuse what the algorithm is not for.

        Raises
        ------
        ScenarioError
            If the cluster's nodes, their number or the collective do not suit it.
        """
        name, devices, does = repr(self.name), cluster.devices, self.collectives
        # 'auto' is what the collective usually has; a message between two ranks has no algorithm to refuse.
        if self.name != AUTO and collective not in does and not collective_of(collective).is_message:
            article = "an" if does[0][0] in "aeiou" else "a"
            what = f"{article} {does[0]} only" if len(does) == 1 else ", ".join(does)
            can = [
                algorithm.name
                for algorithm in ALGORITHMS.values()
                if collective in algorithm.collectives and algorithm.name != AUTO
            ]
            raise ScenarioError(
                "algorithm", f"{name} does {what}, no {collective}; others do: {', '.join(can)}"
            )
        # inside one node the library's law serves 'auto' alone (`library/node_law`)
        if self.library and nodes == 1:
            raise ScenarioError("algorithm", f"{name} goes between nodes; with one node leave it at 'auto'")
        if self.one_device and devices > 1:
            why = f"{name} needs one device per node and {cluster.name} has {devices}; use 'hierarchical'"
            raise ScenarioError("algorithm", why)
        if self.several_devices and devices == 1:
            why = f"{name} needs several devices per node; {cluster.name} has one"
            raise ScenarioError("algorithm", why)
        if self.power_of_two and nodes & (nodes - 1):
            below = 1 << (nodes.bit_length() - 1)
            why = f"{name} needs a power of two of nodes, not {nodes}; try {below} or {2 * below}"
            raise ScenarioError("algorithm", why)


ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(name=AUTO, schedule="ring"),
        Algorithm(
            name="ring",
            schedule="ring",
            does="to the right neighbour, chunk by chunk, twice round",
            one_device=True,
        ),
        # Another name of rings on the rails, so it says nothing of its own in lists.
        Algorithm(name="hierarchical", schedule="ring", several_devices=True),
        Algorithm(
            name="halving-doubling",
            schedule="halving-doubling",
            does="partners at distances of 1, 2, 4, ...: half of what is left each time, and back",
            power_of_two=True,
        ),
        Algorithm(
            name="recursive-doubling",
            schedule="recursive-doubling",
            does="partners at distances of 1, 2, 4, ...: the whole message each time",
            power_of_two=True,
            collectives=("allreduce",),
        ),
        Algorithm(
            name="binary-tree",
            schedule="binary-tree",
            does="sums up to the root and results down, slice by slice",
            collectives=("allreduce",),
            pipelined=True,
        ),
        Algorithm(
            name="pairwise",
            schedule="pairwise",
            does="a chunk to every other rank directly, then the sums back; what HCL does over host NICs "
            "(hcl_collective_routines.cpp)",
            collectives=("allreduce", "allgather", "reduce-scatter", "alltoall"),
            blocks_alltoall=True,
        ),
        Algorithm(
            name="direct",
            schedule="direct",
            does="an all-to-all: a chunk to every other rank, all at once, as NCCL's grouped sends and receives and Open MPI's "
            "linear algorithm do",
            collectives=("alltoall",),
            pipelined=True,
        ),
        Algorithm(
            name="pipeline",
            schedule="pipeline",
            does="a broadcast: what comes from the left neighbour on to the right one, slice by slice, beginning at the root",
            collectives=("broadcast",),
            pipelined=True,
        ),
        Algorithm(
            name="sharp",
            schedule="chain",
            does="its whole buffer up to the switches, which add it up and send the sums down to all (SHARP)",
            in_network=True,
            collectives=("allreduce",),
            pipelined=True,
        ),
        Algorithm(
            name="nvls",
            schedule="chain",
            does="reads sums that the node's NVSwitch makes, and has it copy results to all (NVLink SHARP); between nodes the switches add "
            "up as with sharp",
            several_devices=True,
            in_network=True,
            in_node_switch=True,
            collectives=("allreduce",),
            pipelined=True,
        ),
        Algorithm(
            name="tree",
            schedule="chain",
            does="NCCL's double tree, as a chain of hops that all nodes walk alike",
            collectives=("allreduce",),
            library="nccl",
        ),
        Algorithm(
            name="nvls-tree",
            schedule="chain",
            does="NCCL's tree between nodes, adding up in the NVLink switch inside them",
            collectives=("allreduce",),
            several_devices=True,
            library="nccl",
        ),
    )
}
"""Every algorithm, by name."""


def algorithm_of(name: str, collective: str) -> Algorithm:
    """Return the record of a scenario's algorithm: of ``auto`` that which the collective usually has, such as a ring."""
    return ALGORITHMS[collective_of(collective).usual_algorithm if name == AUTO else name]
