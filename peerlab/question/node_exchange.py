"""How the devices of one node hand each other what does not go over the network."""

from dataclasses import dataclass

from peerlab.question.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeExchange:
    """The way inside a node."""

    resource: str
    """Key of `peerlab.model.resources.RESOURCES`: what each device collects and hands out with."""
    collect_stage: str = "gather"
    """Key of `peerlab.model.stages.STAGES`: collecting the contributions to its shard, or the root's handing out of shards."""
    hand_stage: str = "broadcast"
    """Key of the same: handing out."""
    latency_ps: int
    """Latency behind it, picoseconds."""
    collects: int
    """How often the bytes of a slice leave by a device's links while all devices collect their shards, or get them from the root."""
    hands: int
    """How often those of a finished slice do when it is handed out."""
    adds: int
    """Bytes that a device's memory moves for each byte of a sum: contributions read, sum written; 0 where the device adds nothing up."""


def node_exchange(scenario: Scenario) -> NodeExchange:
    """Return the way inside a node: scale-up links between devices; between buffers in host memory a core copies (no latency is known).

    With NVLink SHARP the switch reads a slice of all n devices, adds it up and gives one of them the sum, and copies what that one sends
    back to all: of a shard n times its bytes leave by a device's links, and once more, (n + 1)/n of the message in all.
    """
    cluster = scenario.cluster_for_message
    peers = cluster.devices - 1
    if scenario.memory == "host":
        return NodeExchange(
            resource="shared_memory",
            hand_stage="share",
            latency_ps=0,
            collects=peers,
            hands=peers,
            adds=peers + 2,
        )
    latency = cluster.scaleup_latency_ps
    if scenario.sums_inside:
        return NodeExchange(
            resource="nvlink_sharp", collect_stage="switch-sum", hand_stage="switch-copy", latency_ps=latency,
            collects=cluster.devices, hands=1, adds=0,
        )  # fmt: skip
    if scenario.collective_record.rooted:
        return NodeExchange(
            resource="scaleup",
            collect_stage="broadcast",
            latency_ps=latency,
            collects=peers,
            hands=peers,
            adds=0,
        )
    # Adding up reads the contributions of all n devices and writes one sum: n + 1, which is peers + 2.
    return NodeExchange(resource="scaleup", latency_ps=latency, collects=peers, hands=peers, adds=peers + 2)
