"""What a library does before the first slice: its launch, the hops inside the nodes, and what of the exchange there does not overlap.

Nothing of the simulation depends on it, so every engine begins at 0, and all its times are moved by this much afterwards.
"""

from collections.abc import Sequence

from peerlab.answer.trace import SPAN_COLUMNS, Columns, Totals, freeze
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import PS_PER_S
from peerlab.engine.scaleup import exchange
from peerlab.engine.system import System
from peerlab.model.paths import sending_kinds
from peerlab.model.resources import capacity_Bps, count_in_node, resource_kind
from peerlab.model.stages import stage_number

Parts = list[tuple[str, str, int]]
"""Stage, kind of resource, and how long it takes."""


def opening(system: System) -> Parts:
    """Return the parts of the opening, one after the other; none takes no time."""
    scenario = system.scenario
    rows = [(stage, "launch", lasts) for stage, lasts in scenario.law.opening(scenario)]
    lost = scenario.hardware.overlap_lost
    serves = scenario.law.serves(scenario) or scenario.data_path.uses_own_ports
    if lost and serves and system.plan.exchanges and system.plan.schedule.steps:
        rows.append(("apart", "scaleup", round(lost * min(_inside_ps(system), _between_ps(system)))))
    return [part for part in rows if part[2]]


def _inside_ps(system: System) -> int:
    """Return how long the exchange inside a node takes, collecting and handing out."""
    traffic = exchange(system)
    collected = int(traffic.ready[-1]) if system.plan.collects else 0
    return collected + (int(traffic.link_ps.sum()) + traffic.latency_ps if system.plan.hands_out else 0)


def _between_ps(system: System) -> int:
    """Return how long what a node sends to the others occupies that with which it sends, at least."""
    scenario = system.scenario
    times = scenario.collective_record.node_factor(scenario.nodes, scenario.hardware.devices)
    sends = times * system.plan.message_bytes
    kinds = sending_kinds(scenario.hardware, str(scenario.path))
    return max(
        round(
            sends
            * PS_PER_S
            / (capacity_Bps(scenario.hardware, kind) * count_in_node(scenario.hardware, kind))
        )
        for kind in kinds
    )


def begin(system: System, lanes: Sequence[int]) -> None:
    """Make the resources of the opening, so that the trace names them."""
    for lane in lanes:
        for _, kind, _ in opening(system):
            system.resource(kind, system.lanes[lane].node, system.lanes[lane].device)


def opened(
    system: System, spans: Columns, lanes: Sequence[int], parts: Parts, begins: Sequence[int] = ()
) -> Columns:
    """Return the spans moved behind the opening, with its own behind them; `begins`: when nodes begin, if not at 0.

    A dictionary of spans is empty then: both would be twice the memory.
    """
    shift = sum(lasts for *_, lasts in parts)
    more = _rows(system, lanes, parts, begins)
    take = spans.pop if isinstance(spans, dict) else spans.__getitem__
    moved = {name: np.concatenate([take(name), more[:, at]]) for at, name in enumerate(SPAN_COLUMNS)}
    for name in ("queued", "start", "end"):
        moved[name][: len(moved[name]) - len(more)] += shift
    return freeze(moved)


def _rows(
    system: System, lanes: Sequence[int], parts: Parts, begins: Sequence[int] = ()
) -> NDArray[np.int64]:
    rows = []
    for lane in lanes:
        sender = system.lanes[lane]
        at = first = begins[sender.node] if begins else 0
        for stage, kind, lasts in parts:
            resource = system.resource(kind, sender.node, sender.device)
            rows.append(
                (
                    sender.node,
                    sender.device,
                    0,
                    0,
                    stage_number(stage),
                    resource,
                    first,
                    at,
                    at + lasts,
                    0,
                    lasts,
                )
            )
            at += lasts
    return np.array(rows, np.int64).reshape(-1, len(SPAN_COLUMNS))


def behind(events: Columns, shift: int) -> Columns:
    """Return registrations moved by so much."""
    moved = {name: np.array(values) for name, values in events.items()}
    for name in ("start", "end"):
        moved[name] += shift
    return freeze(moved)


def with_opening(system: System, totals: Totals, lanes: Sequence[int], parts: Parts) -> Totals:
    """Return the totals of some lanes with their opening."""
    count = max(len(system.resources), len(totals.served_ps))
    served, nbytes = np.zeros(count), np.zeros(count, np.int64)
    served[: len(totals.served_ps)], nbytes[: len(totals.nbytes)] = totals.served_ps, totals.nbytes
    for row in _rows(system, lanes, parts):
        served[row[5]] += row[10]
    first = any(system.lanes[lane].node == system.lanes[lane].device == 0 for lane in lanes)
    # what bytes do not count on is latency
    flown = sum(lasts for _, kind, lasts in parts if not resource_kind(kind).rate) if first else 0
    return Totals(served, nbytes, totals.flown_ps + flown)
