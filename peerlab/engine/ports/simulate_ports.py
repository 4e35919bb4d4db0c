"""Simulates a scene of ports on an engine that is chosen."""

from peerlab.base.errors import ScenarioError, nearest
from peerlab.base.units import say_bytes
from peerlab.engine.ports.port_loop import run_ports
from peerlab.engine.ports.port_scene import PortScene
from peerlab.engine.ports.port_trace import PortTrace

ENGINES = ("loop", "referee")


def simulate_ports(scene: PortScene, engine: str = "loop") -> PortTrace:
    """Return everything that happens in a scene.

    Raises
    ------
    ScenarioError
        If there are too many events; if packets are lost for good; if a headroom is too small for what is still on its way when a sender
        pauses.
    """
    if engine not in ENGINES:
        raise ScenarioError("engine", f"{engine!r} knows no queues; {nearest(engine, ENGINES)}")
    if engine == "loop":
        trace = run_ports(scene)
    else:
        from peerlab.engine.referee.port_processes import PortReferee  # noqa: PLC0415  (loads SimPy)

        trace = PortReferee(scene).run()
    if trace.overrun:
        fabric, where = scene.fabric, scene.links[trace.overrun_link].name
        raise ScenarioError(
            "headroom",
            f"{say_bytes(fabric.headroom)} are too small behind {where}: {say_bytes(trace.overrun)} would have been lost; "
            f"{fabric.headroom + trace.overrun} bytes lose nothing",
        )
    return trace
