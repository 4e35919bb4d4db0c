"""Adds the hops of a library's tree or ring to the stages of a path, and refuses paths and fabrics on which there are none."""

from peerlab.base.errors import ScenarioError
from peerlab.model.fabrics import Fabric
from peerlab.model.paths import DataPath
from peerlab.model.stages import OVER_FABRIC, Stage
from peerlab.model.transport_record import TransportRecord

UP_AND_DOWN = 2
"""Flights of a slice that goes up to the switches, and comes down from them as a sum."""


def with_hops(stages: tuple[Stage, ...], hops: int, *, flushes: bool = False) -> tuple[Stage, ...]:
    """Return the stages of a path whose slices fly so many hops, behind each perhaps a flush of what was received."""
    at = 1 + next(
        place for place, stage in enumerate(stages) if stage.crosses_fabric
    )  # `check_flight` refuses a path without
    # A further hop is a latency without resources: every node sends its share once, so the bytes are already
    # counted by the path's own stage. Bytes at each hop would count the network's load `hops` times.
    further = (Stage("flight", (), flight=OVER_FABRIC),) * (hops - 1)
    flush = (Stage("flush", (), flight="flush_ps"),) if flushes else ()
    flown = [flight for hop in ((), *((stage,) for stage in further)) for flight in (*hop, *flush)]
    return (*stages[:at], *flown, *stages[at:])


def check_flight(library: str, path: str, stages: tuple[Stage, ...]) -> None:
    """Refuse a path whose slices do not fly over the fabric: a library that passes them from node to node has no hops there.

    Raises
    ------
    ScenarioError
        If it is so.
    """
    if not any(stage.crosses_fabric for stage in stages):
        why = f"{library} passes slices on over the network between the nodes, which {path!r} does not cross"
        raise ScenarioError("library", f"{why}; give 'none'")


def check_in_network(name: str, path: DataPath, fabric: Fabric, transport: TransportRecord | None) -> None:
    """Refuse a path whose NICs do no RDMA, and a fabric that contends: what goes up to a switch is no flow from NIC to NIC.

    Raises
    ------
    ScenarioError
        With what the algorithm called `name` needs.
    """
    if not (path.is_rdma or path.is_bare):
        raise ScenarioError("algorithm", f"{name!r} needs NICs that do RDMA, which {path.title} does not use")
    if transport and not transport.rdma:
        raise ScenarioError("algorithm", f"{name!r} needs RDMA, which {transport.title} has not")
    if fabric.contended:
        why = f"{name!r} is simulated on fabrics that never limit, not on {fabric.title}"
        raise ScenarioError("algorithm", why)
