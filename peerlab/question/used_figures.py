"""Which figures of a cluster a scenario looks at, and which end of each one's range is the faster machine."""

from collections.abc import Iterator
from dataclasses import replace

from peerlab.model.hardware import FIGURE_KINDS, FIGURE_OF_FIELD, Figure
from peerlab.model.paths import REDUCE
from peerlab.model.resources import resource_kind
from peerlab.model.stages import Stage
from peerlab.question.domains import HOP, RATE, SHARP
from peerlab.question.node_exchange import node_exchange
from peerlab.question.scenario import Scenario

_WIRED = tuple(key for key in FIGURE_KINDS if key.startswith("node."))


def figures_used(scenario: Scenario) -> frozenset[str]:
    """Return the keys of the figures that the simulation of a scenario may look at; no other changes its answer."""
    cluster = scenario.hardware
    message = scenario.collective_record.is_message
    keys = {*_WIRED, *scenario.fabric.figures}
    # More may be named than matters, never less: bands, `why` and the lab's list of sources rest on it.
    for stage in (*scenario.stages, REDUCE):
        keys.update(_of_stage(stage))
    keys.update(scenario.law.figures(scenario))
    if scenario.data_path.uses_own_ports and scenario.nodes > 1:
        # no law serves devices' own ports, and overlap is lost there, too (`engine/opening`)
        keys.add("library.overlap_lost")
    keys.update(_of_transport(scenario))
    if not message and cluster.devices > 1:
        keys.update(_inside(scenario))
    if scenario.registers:
        keys.update(key for key in FIGURE_KINDS if key.startswith("registration."))
    if scenario.slice_bytes == "auto" and not scenario.choice:
        keys.add("slices.staged" if scenario.bounces else "slices.direct")
        if not scenario.only_sends:
            keys.add("slices.least")
    if scenario.window is None:
        keys.add("slices.window")
    if scenario.nodes_per_domain > 1:  # what its devices are joined with is the domain's
        keys = (keys - {"scaleup.rate", "scaleup.sharp"}) | {RATE, SHARP, HOP}
    if scenario.choice:  # a hop between nodes has the library's latency, as has one inside them
        keys -= {"fabric.latency", "scaleup.latency", "slices.least"}
    # what the file leaves out is not there to be varied
    return frozenset(keys & cluster.figures.keys())


def _inside(scenario: Scenario) -> Iterator[str]:
    """Yield what the devices of one node hand each other things with, and what adds them up."""
    way = node_exchange(scenario)
    rate = resource_kind(way.resource).rate
    yield from (
        (FIGURE_OF_FIELD[rate], "scaleup.latency")
        if scenario.memory == "device"
        else (FIGURE_OF_FIELD[rate],)
    )
    if way.adds:
        yield "device.hbm"


def _of_transport(scenario: Scenario) -> Iterator[str]:
    """Yield what the transport adds: its packets, and the way where the cluster does not say its latency, or where there is more of it."""
    if scenario.used_transport is None:
        return
    yield from ("transport.mtu", "transport.header", "transport.inside", "transport.first_header")
    own = scenario.hardware.leaves_latency
    if own:
        yield from ("transport.base", "transport.hops")
    if own or scenario.hops is not None:
        yield "transport.switch"
    if own or scenario.metres is not None:
        yield from ("transport.metres", "transport.per_metre")


def _of_stage(stage: Stage) -> Iterator[str]:
    if stage.flight in FIGURE_OF_FIELD:
        yield FIGURE_OF_FIELD[stage.flight]
    for use in stage.uses:
        rate = use.work or resource_kind(use.kind).rate
        if rate in FIGURE_OF_FIELD:
            yield FIGURE_OF_FIELD[rate]
        if resource_kind(use.kind).is_core and not use.work:
            yield from ("host.packet_cost", "host.packet_size")


def assumed(scenario: Scenario) -> list[Figure]:
    """Return the assumed figures with a range that a scenario meets, in the order of the cluster's file."""
    used = figures_used(scenario)
    return [
        _as_met(figure, scenario)
        for key, figure in scenario.hardware.figures.items()
        if key in used and figure.range
    ]


def _as_met(figure: Figure, scenario: Scenario) -> Figure:
    """Return a figure with the range that it has in a scenario.

    The lower end of a link's rate is what NCCL plans with for rings and trees. Where the switch adds up between nodes (NVLSTree), a device
    sends its bytes once, over all of its links at their own rate: no less than that goes through, and no more than the switch was measured to add up
    (`scaleup.sharp`).
    """
    sharp = scenario.hardware.figures.get("scaleup.sharp")
    if (
        figure.key != "scaleup.rate"
        or sharp is None
        or not (scenario.choice and scenario.choice.course.in_switch)
    ):
        return figure
    as_links = [
        end * 2 / (scenario.hardware.devices + 1) for end in ends(sharp)
    ]  # rate n/2 = sharp n/(n + 1)
    return replace(figure, range=(min(figure.value, *as_links), max(figure.value, *as_links)))


def ends(figure: Figure) -> tuple[float, float]:
    """Return from where to where a figure may lie, in the unit of its file: its value, where it has no range."""
    return figure.range or (figure.value, figure.value)


def better_end(figure: Figure) -> int | None:
    """Return which end of a figure's range is the faster machine (0 low, 1 high), or None where only a trial tells.

    A higher rate, a shorter time and a larger packet are never slower; a larger slice may be either.
    """
    if FIGURE_KINDS[figure.key] == "rate" or figure.key in ("host.packet_size", "transport.mtu"):
        return 1
    headers = ("transport.header", "transport.inside", "transport.first_header")
    return 0 if FIGURE_KINDS[figure.key] in ("time", "share", "length") or figure.key in headers else None
