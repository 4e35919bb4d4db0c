"""Which nodes a picture shows: one, its partner in each step, and the nodes that exchange slices with these two.

In a folded trace all nodes are alike, and node 0 is shown. A trace of every node (jitter, a slow node, a schedule in which
nodes differ) is shown from its slowest node, or that of its slowest NIC, or where none is slow that of the bottleneck; slices of the other
nodes are those that they recorded, not copies of its own.
"""

# Where nodes differ, the slowest is shown, or that of a slow or lost NIC, or that of the bottleneck. With jitter, a slow node or a tree the trace
# holds every node.
# The picture takes the slowest (else node 0), its partner of the step, and what those two and their
# neighbours recorded (`picture/shown_nodes`). Hollow slices are then the neighbours' own, not copies.

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from peerlab.answer.run import Run
from peerlab.answer.trace import Resource
from peerlab.base.numbers import NDArray, np
from peerlab.collectives.choose import plan
from peerlab.collectives.plan import Schedule
from peerlab.model.disturbance import most_disturbed
from peerlab.model.resources import RESOURCES
from peerlab.question.scenario import Scenario

OWN, NEXT, PREVIOUS, BACK = 1, 2, 4, 8
"""From where to where a slice goes: from the left node to the right one; from the right one to a third node; from a third node to the left
one; from the right one back to the left one."""

_STEPS = 2**14
"""Steps of a schedule that are looked at, at most."""


def unit(scenario: Scenario) -> str:
    """Return what a picture shows two of: nodes, or NVLink domains of several."""
    return scenario.hardware.counted_as


@dataclass(frozen=True)
class ShownNodes:
    """What a picture shows of a run; lists are per step, or of one entry where all steps are alike, -1: nobody."""

    node: int = 0
    """The node on the left."""
    partner: tuple[int, ...] = (-1,)
    """The node on the right: whom the left one sends to, or from whom it receives."""
    source: tuple[int, ...] = (-1,)
    """Another node that sends to the left one."""
    beyond: tuple[int, ...] = (-1,)
    """Another node that the right one sends to."""
    sends: tuple[bool, ...] = (True,)
    """Whether the left node sends to the right one."""
    answers: tuple[bool, ...] = (False,)
    """Whether the right node sends to the left one."""
    whole: bool = False
    """Whether the trace holds every node."""
    switch: int = 0
    """Which of the nodes' PCIe switches is drawn."""

    def whose(self, node: NDArray[np.int64], step: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each row of a trace where its slice is drawn: a sum of `OWN`, `NEXT`, `PREVIOUS`, `BACK`; 0 where nowhere."""
        # One entry stands for every step, and the last for those that were not looked at.
        index = np.minimum(step, len(self.partner) - 1)
        partner, source, beyond, answers = (
            np.array(values)[index] for values in (self.partner, self.source, self.beyond, self.answers)
        )
        if (
            not self.whole
        ):  # all nodes do what node 0 does, so each of its slices is drawn for the others as well
            everybody: NDArray[np.int64] = (
                OWN + NEXT * (beyond >= 0) + PREVIOUS * (source >= 0) + BACK * answers
            )
            return everybody
        numbers = np.where(node == self.node, OWN, 0)
        numbers = np.where((node == partner) & (beyond >= 0), NEXT, numbers)
        # A partner that sends back is shown doing that, and not sending on.
        numbers = np.where((node == partner) & answers, BACK, numbers)
        return np.where((node == source) & (source >= 0), PREVIOUS, numbers)


def shown_nodes(run: Run) -> ShownNodes:
    """Return what the pictures of a run show."""
    schedule, node, whole = plan(run.scenario).schedule, focus(run), not run.trace.folded
    rows = _rows(schedule, node)
    if not rows:
        return ShownNodes(node, whole=whole, switch=shown_switch(run))
    partner, source, beyond, sends, answers = zip(*rows, strict=True)
    return ShownNodes(node, partner, source, beyond, sends, answers, whole, shown_switch(run))


@lru_cache(maxsize=64)
def _rows(schedule: Schedule, node: int) -> tuple[tuple[int, int, int, bool, bool], ...]:
    """Return what `_step` says of every step, once if it is always the same."""
    rows = tuple(_step(schedule, node, step) for step in range(min(schedule.steps, _STEPS)))
    return rows[:1] if len(set(rows)) == 1 else rows


def _step(schedule: Schedule, node: int, step: int) -> tuple[int, int, int, bool, bool]:
    """Return partner, source, beyond, sends, answers of a step."""
    to, came = schedule.to(node, step), schedule.source(node, step)
    # A node that only receives is shown beside the one that it receives from.
    partner = to if to >= 0 else came
    if partner < 0:
        return -1, -1, -1, False, False
    onward = schedule.to(partner, step)
    return (
        partner,
        came if came != partner else -1,
        onward if onward != node else -1,
        to >= 0,
        came == partner,
    )


def focus(run: Run) -> int:
    """Return the node that the pictures show: the slowest, else that of the slowest NIC, else that of the bottleneck, or node 0."""
    s, shown = run.scenario, most_disturbed(run.scenario, run.trace.nodes)
    if run.trace.folded or s.slow_domains or s.slow_nics or s.collective_record.is_message:
        return shown
    hot = bottleneck_at(run)
    if hot is None:
        return shown
    # what receives is drawn at the right, beside the node that sends to it
    sender = plan(s).schedule.source(hot.node, 0) if RESOURCES[hot.kind].receives else hot.node
    # of many nodes only some keep their spans
    return sender if (run.recording.spans["node"] == sender).any() else shown


AS_BUSY = 0.9
"""From this part of the bottleneck's busy share on another of its kind is as busy as it."""


def busiest(run: Run, kind: str) -> Resource:
    """Return which resource of a kind is busiest in a run."""
    return max(_used(run, kind), key=lambda pair: pair[1])[0]


def _used(run: Run, kind: str) -> list[tuple[Resource, float]]:
    """Return the resources of a kind, each with the picoseconds of its capacity that were used."""
    pairs = zip(run.trace.resources, run.used_ps, strict=True)
    return [(resource, used) for resource, used in pairs if resource.kind == kind]


def bottleneck_at(run: Run) -> Resource | None:
    """Return which resource of a node is the bottleneck where nodes differ; None where they are alike, or none of a node's is."""
    bottleneck = run.bottleneck
    resource = bottleneck.resource if bottleneck else None
    if run.trace.folded or not bottleneck or not resource or resource.scope == "fabric":
        return None
    return busiest(run, bottleneck.kind)


def shown_switch(run: Run) -> int:
    """Return which PCIe switch of the nodes is shown: that of the NIC that is the bottleneck, if its node is shown, else the first."""
    hot = bottleneck_at(run)
    if hot is None or run.trace.one_switch or RESOURCES[hot.kind].scope != "nic":
        return 0
    node = focus(run)
    # what receives is the partner's, whose switch has the same number
    there = RESOURCES[hot.kind].receives or hot.node == node
    return hot.index // run.scenario.hardware.used_nics_per_switch if there else 0


def nic_name(node: int, index: int) -> str:
    """Return what a NIC is called, as in a scenario: ``NIC 3.2``."""
    return f"NIC {node}.{index}"


def drawn(run: Run, nodes: Sequence[int], switch: int) -> list[bool]:
    """Return for each resource whether it belongs to a PCIe switch of one of the nodes."""
    return [
        resource.node in nodes and resource.index // _beside(resource, run) == _place(resource, run, switch)
        for resource in run.trace.resources
    ]


def _beside(resource: Resource, run: Run) -> int:
    """Return how many of its kind a switch has."""
    match RESOURCES[resource.kind].scope:
        case "device":
            return run.trace.devices_per_switch
        case "nic":
            return run.scenario.hardware.used_nics_per_switch
    return 1


def _place(resource: Resource, run: Run, switch: int) -> int:
    """Return the number that it has if it belongs to a switch: the switch's, or its socket's."""
    scope = RESOURCES[resource.kind].scope
    return switch // run.scenario.hardware.switches_per_numa if scope == "numa" else switch


def shares(run: Run, node: int, switch: int = 0) -> dict[str, float]:
    """Return per kind of resource the busy share of the busiest one that is drawn at a switch of a node, 0 to 1."""
    if run.trace.folded:
        # All nodes are alike, so the busiest of all is as busy as any.
        return run.busy
    here = drawn(run, [node], switch)
    entries: dict[str, float] = {}
    for index, resource in enumerate(run.trace.resources):
        if here[index] and run.recording.end_ps:
            entries[resource.kind] = max(
                entries.get(resource.kind, 0.0), min(float(run.used_ps[index]) / run.recording.end_ps, 1.0)
            )
    return entries
