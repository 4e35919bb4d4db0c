"""What a scene of ports must be: its flows have hosts, its thresholds have room for a cell, and it is small enough to simulate."""

from typing import TYPE_CHECKING

from peerlab.base.errors import ScenarioError
from peerlab.base.units import PS_PER_S, say_bytes, say_time
from peerlab.engine.ports.port_limits import EVENTS_PER_HOP, MOST_EVENTS, MOST_HOSTS

if TYPE_CHECKING:
    from peerlab.engine.ports.port_scene import PortFlow, PortScene


def check_scene(scene: "PortScene") -> None:
    """Refuse what cannot be simulated.

    Raises
    ------
    ScenarioError
        In one line, with what would fit.
    """
    _check_hosts(scene)
    for number, flow in enumerate(scene.flows):
        _check_flow(scene, number, flow)
    _check_room(scene)
    _check_size(scene)


def _check_hosts(scene: "PortScene") -> None:
    if not 2 <= scene.hosts <= MOST_HOSTS:
        raise ScenarioError("nodes", f"{scene.hosts} hosts; queues are simulated for 2 to {MOST_HOSTS}")
    if min(scene.cell_packets, scene.trunks, scene.hop_ps, scene.latency_ps, scene.host_Bps) < 1:
        raise ScenarioError("cell", "a cell has a packet or more; rates and latencies are above 0")
    if not all(0 <= leaf < MOST_HOSTS for leaf in scene.leaves):
        raise ScenarioError("leaves", f"leaves are numbered 0 to {MOST_HOSTS - 1}")
    if len(set(scene.leaves)) > 1 and not scene.trunk_Bps:
        raise ScenarioError("trunk", "two leaves or more have a trunk")
    if not scene.flows or not (scene.finite or scene.until_ps):
        raise ScenarioError("until", "nothing ends this scene: give a time, or a flow that has an end")


def _check_flow(scene: "PortScene", number: int, flow: "PortFlow") -> None:
    hosts = range(scene.hosts)
    if flow.src not in hosts or flow.dst not in hosts or flow.src == flow.dst:
        raise ScenarioError(
            "flows", f"flow {number} goes from host {flow.src} to {flow.dst} of {scene.hosts}"
        )
    if not 0 <= flow.vl < scene.fabric.vls:
        raise ScenarioError("vls", f"flow {number} is in lane {flow.vl}; there are {scene.fabric.vls}")
    if flow.messages < 1 or (flow.is_endless and (flow.messages > 1 or flow.after is not None)):
        raise ScenarioError("flows", f"flow {number} has {flow.messages} messages of {flow.nbytes} bytes")
    if flow.after is not None:
        before = scene.flows[flow.after] if 0 <= flow.after < len(scene.flows) else None
        if before is None or before.messages < flow.messages - 1:
            raise ScenarioError("flows", f"flow {number} waits for messages that nobody sends")
    if flow.collective:
        _check_collectives(scene, number, flow)


def _check_collectives(scene: "PortScene", number: int, flow: "PortFlow") -> None:
    """Refuse flows of a job that would wait for each other for ever."""
    if flow.messages % flow.collective or flow.compute_ps < 1:
        raise ScenarioError(
            "flows", f"flow {number} sends whole collectives, and its job computes for 1 ps or more"
        )
    turns = {
        (other.messages, other.collective, other.compute_ps, other.start_ps) for other in scene.flows if other.collective and other.job == flow.job
    }  # fmt: skip
    if len(turns) > 1:
        raise ScenarioError(
            "flows", f"flows of job {flow.job!r} differ in messages, collectives, computing or start"
        )


def _check_room(scene: "PortScene") -> None:
    fabric, cell = scene.fabric, scene.cell_packets * scene.fabric.packet
    size = f"a cell is {say_bytes(cell)} on the wire"
    if fabric.credits and fabric.credits < cell:
        raise ScenarioError("credits", f"{say_bytes(fabric.credits)} never let a cell go: {size}")
    if fabric.xoff and not cell <= fabric.xon <= fabric.xoff:
        raise ScenarioError("xon", f"XON lies between a cell and XOFF, {say_bytes(fabric.xoff)}: {size}")
    if fabric.queue and fabric.queue < cell:
        raise ScenarioError("queue", f"{say_bytes(fabric.queue)} hold no cell: {size}")


def hops(scene: "PortScene", flow: "PortFlow") -> int:
    """Return how many links a flow crosses."""
    return 2 + len(scene.between(flow))


def events(scene: "PortScene") -> int:
    """Return about how many events a scene has, of the flows that it waits for, or else until it is cut; without what is sent again."""
    cell, most = scene.cell_packets * scene.fabric.mtu, _until_cut(scene)
    waited_for = [flow for flow in scene.flows if flow.counts]
    total = 0
    for flow in waited_for:
        cells = flow.messages * -(-flow.nbytes // cell)
        total += (min(cells, most) if scene.until_ps else cells) * hops(scene, flow)
    if not waited_for:
        # as many streams as hosts that send; where nothing is lost, no more than hosts that receive
        streams = len({flow.src for flow in scene.flows})
        if not scene.fabric.loses:
            streams = min(streams, len({flow.dst for flow in scene.flows}))
        total = streams * most * max(hops(scene, flow) for flow in scene.flows)
    return total * EVENTS_PER_HOP


def _until_cut(scene: "PortScene") -> int:
    """Return how many cells a host sends at most until a scene is cut."""
    wire = scene.cell_packets * scene.fabric.packet
    return scene.until_ps * scene.host_Bps // (wire * PS_PER_S)


def _check_size(scene: "PortScene") -> None:
    count = events(scene)
    if count > MOST_EVENTS:
        raise ScenarioError("cell", f"some {count:,} events; {what_fits(scene, count)}")


def never_ends() -> ScenarioError:
    """Return what a scene without a time is refused with once nothing more happens in it."""
    return ScenarioError("recovery", "packets were lost that nobody sends again, so this never ends")


def what_fits(scene: "PortScene", count: int) -> str:
    """Return the words for a scene with too many events."""
    most = f"at most {MOST_EVENTS:,} are simulated"
    less = -(-count // MOST_EVENTS)
    cell = scene.cell_packets * scene.fabric.mtu
    larger = f"cells of {say_bytes(cell * less)} instead of {say_bytes(cell)} fit"
    nbytes = max((flow.nbytes * flow.messages for flow in scene.flows if flow.counts), default=0)
    if nbytes and not 0 < _until_cut(scene) * cell < nbytes:
        return f"{most}: {larger}, or 1/{less} of the message, {say_bytes(nbytes // less)} a flow instead of {say_bytes(nbytes)}"
    return f"{most}: {larger}, or {say_time(scene.until_ps // less)} instead of {say_time(scene.until_ps)}"
