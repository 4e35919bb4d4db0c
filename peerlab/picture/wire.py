"""The words on the wire: rate and latency of this run, which depend on its message size where a library has protocols."""

from peerlab.answer.run import Run
from peerlab.base.units import say_percent
from peerlab.model.hardware import FIGURE_OF_FIELD
from peerlab.model.paths import sending_kinds, stages, uses_nic
from peerlab.model.resources import capacity_Bps, resource_kind
from peerlab.model.stages import OVER_FABRIC
from peerlab.question.scenario import Scenario


def _of_library(scenario: Scenario, key: str) -> str:
    """Return the figure that says `key` where a library does not: what the library's is assumed from, else `key`."""
    return "library.hop" if scenario.choice else key


def assumed(scenario: Scenario, key: str) -> str:
    """Return the sign of an assumed figure of the cluster, if it is one."""
    figure = scenario.hardware.figures.get(key)
    return " †" if figure and figure.assumption else ""


def _sender(scenario: Scenario) -> str:
    """Return the kind of resource that the path sends with; the NIC where it sends with none."""
    return next(iter(sending_kinds(scenario.hardware, str(scenario.path))), "nic_tx")


def sends(scenario: Scenario) -> bool:
    """Return whether the path sends into a network, by NICs or the devices' own ports."""
    return bool(sending_kinds(scenario.hardware, str(scenario.path)))


def wire_name(scenario: Scenario) -> str:
    """Return what the wire is called: where neither NICs nor the devices' own ports send, as what does."""
    if scenario.data_path.uses_own_ports or uses_nic(scenario.hardware, str(scenario.path)):
        return "wire"
    return resource_kind(_sender(scenario)).label


def _flight(scenario: Scenario) -> str:
    """Return the field of `Cluster` with the latency behind what sends; the network's where nothing does."""
    for stage in stages(scenario.hardware, str(scenario.path)):
        if stage.flight and any(resource_kind(use.kind).counts_as == "send" for use in stage.uses):
            return stage.flight
    return OVER_FABRIC


def say_wire(run: Run) -> str:
    """Return how busy the wire is, in words; where nothing sends, that."""
    scenario = run.scenario
    return (
        f"{wire_name(scenario)} {say_percent(run.wire_busy)} busy" if sends(scenario) else "no NIC, no port"
    )


def wire_share(run: Run) -> str:
    """Return the busy share of the wire for a table; a dash where nothing sends."""
    return say_percent(run.wire_busy) if sends(run.scenario) else "-"


def wire_Bps(scenario: Scenario) -> int:  # noqa: N802
    """Return what one of the resources carries that the path sends with, such as a NIC, bytes per second and direction."""
    # A protocol of the library may carry less than the NIC does.
    return capacity_Bps(scenario.cluster_for_message, _sender(scenario))


def say_rate(scenario: Scenario, speed: float) -> str:
    """Return the name of the wire with its rate, which is `speed` of the full one where the node is slow.

    Where a protocol carries less than the NIC does, the NIC's rate stands beside it; `say_latency` names the protocol.
    """
    native, machine = scenario.data_path.uses_own_ports, scenario.hardware
    kind = resource_kind(_sender(scenario))
    striped = machine.nics_per_device if kind.scope == "nic" else 1
    full = striped * capacity_Bps(machine, _sender(scenario)) if scenario.choice else 0
    of = f" of {full * speed / 1e9:.4g}" if full > wire_Bps(scenario) else ""
    rate = f"{wire_Bps(scenario) * speed / 1e9:.4g}{of} GB/s"
    mark = assumed(scenario, FIGURE_OF_FIELD.get(kind.rate, ""))
    if native:
        return f"ports, {rate} a device{mark}"
    if kind.scope == "nic" and machine.used_nics_per_switch * striped > 1:
        return f"{rate} a {'device' if striped > 1 else 'wire'}{mark}"
    # of two rates, the words have no room in a narrow picture; a slow node's is its own, not the other way's
    each_way = "" if of or speed < 1 else " each way"
    return f"{wire_name(scenario)}, {rate}{each_way}{mark}"


def say_latency(scenario: Scenario) -> str:
    """Return the latency of the wire, with the library's protocol where it has one of its own."""
    flight = _flight(scenario)
    if flight != OVER_FABRIC:
        own_ps: int = getattr(scenario.cluster_for_message, flight)
        mark = assumed(scenario, FIGURE_OF_FIELD.get(flight, ""))
        return f"{own_ps / 1e6:g} µs latency{mark}"
    mark = assumed(scenario, _of_library(scenario, "fabric.latency"))
    latency = scenario.hop_latency_ps / 1e6
    if scenario.choice:
        course = scenario.choice.course
        hop = latency * scenario.choice.hops / course.hops  # a ring's flights are many hops in one
        return f"{course.protocol} protocol, {hop:.3g} µs/hop{mark}"
    if scenario.sums_between:
        return f"{latency:.4g} µs up, {latency:.4g} µs down{mark}"
    return f"{latency:.4g} µs latency{mark}"
