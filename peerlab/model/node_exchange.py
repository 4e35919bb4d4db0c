"""How the devices of one node hand each other what does not go over the network."""

from dataclasses import dataclass

from peerlab.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class NodeExchange:
    """The way inside a node."""

    stage: str
    """Key of `peerlab.model.stages.STAGES`."""
    resource: str
    """Key of `peerlab.model.resources.RESOURCES`: what each device hands out with."""
    latency_ps: int
    """Latency behind it, picoseconds."""


def node_exchange(scenario: Scenario) -> NodeExchange:
    """Return the way inside a node: scale-up links between devices; between buffers in host memory a core copies (no latency is known)."""
    if scenario.memory == "host":
        return NodeExchange("share", "shared_memory", 0)
    return NodeExchange("broadcast", "scaleup", scenario.cluster_for_message.scaleup_latency_ps)
