"""The slides of a review that are charts or tables."""

from collections.abc import Mapping
from typing import Any

from peerlab.deck.charts import Bar, Curve, Part, bars, curves
from peerlab.deck.evidence import NODES, Evidence
from peerlab.deck.outline import Outline, Training
from peerlab.deck.slide import Slide
from peerlab.lanes import lane_name
from peerlab.model.hardware import Cluster
from peerlab.model.path import STAGES
from peerlab.run import Run
from peerlab.units import PS_PER_S, say_bytes, say_time, say_unit, write_bytes
from peerlab.view.theme import PATH_ROLES, stage_role

_HOST, _PEER, _BARE = "through the host", "Peer Direct", "without a cache"
_ROLES = {_HOST: "copy", _PEER: "direct"}
_WATCHED = ("uplink_up", "dram", "core", "nic_tx")
"""Resources whose busy shares tell the two paths apart; the others are busy with these or alike."""


def time(_outline: Outline, evidence: Evidence) -> Slide:
    """Say where the time goes, and what is busy meanwhile."""
    host, peer = evidence.detour, evidence.direct
    spent = [_spent(name, run) for name, run in ((_HOST, host), (_PEER, peer), (_BARE, evidence.uncached))]
    busy = [bar for kind in _WATCHED for bar in _busy(kind, host, peer)]
    charts = [("Where the time goes.", spent, None), *([("Busy shares.", busy, 1.0)] if busy else [])]
    alt = [f"{what} " + " ".join(f"{bar.name}: {bar.says}." for bar in rows) for what, rows, _ in charts]
    pictures = [bars(rows, said, full=full) for said, (_, rows, full) in zip(alt, charts, strict=True)]
    idle = "Latency alone: no part is busy for a twentieth of the time on either path."
    title = f"What is busiest: {_label(host)} through the host, {_label(peer)} with Peer Direct"
    return Slide(title, tuple(pictures), () if busy else (idle,), notes=tuple(alt))


def _label(run: Run) -> str:
    return run.bottleneck.label if run.bottleneck else "nothing"


def _busy(kind: str, host: Run, peer: Run) -> list[Bar]:
    """Return a bar for each path, if one of them keeps this kind of resource busy."""
    shares = {_HOST: host.busy.get(kind, 0.0), _PEER: peer.busy.get(kind, 0.0)}
    if max(shares.values()) < 0.05:
        return []
    return [
        Bar(f"{lane_name(kind)}, {name}", (Part(share, _ROLES[name]),), f"{share:.0%} busy")
        for name, share in shares.items()
    ]


def _spent(name: str, run: Run) -> Bar:
    """Return the critical path of a run as a bar, in seconds; the key names what is a hundredth of it or more."""
    spent: dict[str, float] = {}
    for stage, seconds in run.breakdown().items():
        role = stage_role(stage) if stage in STAGES else "faint"
        spent[role] = spent.get(role, 0.0) + seconds
    parts = (
        Part(seconds, role, _MEANINGS[role] if seconds > 0.01 * run.time_s else "")
        for role, seconds in sorted(spent.items(), key=lambda item: -item[1])
    )
    return Bar(name, tuple(parts), say_time(run.time_ps))


_MEANINGS = {
    "copy": "copies to and from host memory",
    "cpu": "CPU: kernel copies and TCP/IP",
    "network": "NIC to NIC, through host memory",
    "direct": "NIC to NIC, straight",
    "register": "registering memory",
    "inside": "adding up",
    "gather": "links inside the node",
    "ink": "in flight",
    "faint": "waiting",
}


def nodes(_outline: Outline, evidence: Evidence) -> Slide:
    """Draw throughput against nodes."""
    lines = []
    for name, path in ((_PEER, "peer-direct"), (_HOST, str(evidence.base.path))):
        runs = [evidence.run(path=path, nodes=count) for count in NODES]
        lines.append(Curve(name, *PATH_ROLES[path], tuple(run.sensitivity_band() for run in runs)))
    peer, host = (line.bands for line in lines)
    ratios = [a.value_GBps / b.value_GBps for a, b in zip(peer, host, strict=True)]
    said = ", ".join(f"{count} nodes: {ratio:.2f}x" for count, ratio in zip(NODES, ratios, strict=True))
    best = max(range(len(ratios)), key=lambda i: ratios[i])
    title = f"Peer Direct: {ratios[best]:.2f} times the throughput on {NODES[best]} nodes at best, {ratios[-1]:.2f} on {NODES[-1]}"
    axis = f"nodes, messages of {say_bytes(evidence.base.nbytes)}"
    chart = curves(NODES, lines, axis, f"Bus bandwidth against nodes. {said}.")
    beyond = [count for count in NODES if evidence.base.with_(nodes=count).extrapolates]
    more = f" From {beyond[0]} nodes on more ranks than the vendor's library allows." if beyond else ""
    line = f"Bands: all assumed figures at the ends of their ranges.{more}"
    return Slide(title, (chart,), (line,), notes=(f"{said}.",))


def registration(_outline: Outline, evidence: Evidence) -> Slide:
    """Say what registering memory costs."""
    runs = [
        ("one pool, registered once", evidence.run(path="peer-direct", registration="pool"), "direct"),
        ("cache, warm", evidence.direct, "direct"),
        ("cache of one region", evidence.run(path="peer-direct", cache_regions=1), "register"),
        ("for each transfer", evidence.uncached, "register"),
        (_HOST, evidence.detour, "copy"),
    ]
    rows = [
        Bar(name, (Part(run.busbw_GBps, role),), f"{run.busbw_GBps:.3g} GB/s") for name, run, role in runs
    ]
    slower = evidence.uncached.time_ps > evidence.detour.time_ps
    title = f"Memory registered for each transfer: {'slower than' if slower else 'still faster than'} the way through the host"
    counters = evidence.uncached.registration
    line = (
        f"Without a cache the NICs of one PCIe switch register {counters.misses} times, {say_time(counters.time_ps)} in all;"
        f" the exchange takes {say_time(evidence.uncached.time_ps)}."
    )
    alt = "Bus bandwidth by registration. " + " ".join(f"{row.name}: {row.says}." for row in rows)
    return Slide(title, (bars(rows, alt),), (f"Bars: bus bandwidth. {line}",), notes=(alt,))


def training(outline: Outline, evidence: Evidence) -> Slide:
    """Say what the gain means for a step of a training."""
    if outline.training is None:  # slides() leaves it out
        return Slide("")
    return _step(outline.training, evidence)


def _step(asked: Training, evidence: Evidence) -> Slide:
    step = evidence.step(asked)
    rows = [
        _step_bar("today, through the host", step.now_s, step.seen_detour_s, "copy"),
        _step_bar("with Peer Direct", step.then_s, step.seen_direct_s, "direct"),
    ]
    alt = "A training step. " + " ".join(f"{row.name}: {row.says}." for row in rows)
    lines = (
        (
            f"Exchange: {write_bytes(asked.gradient_bytes)} of gradient per rank, {say_bytes(evidence.base.nbytes)} at a time,"
            f" {_s(step.exchange_detour_s)} through the host, {_s(step.exchange_direct_s)} by Peer Direct."
        ),
        f"Given: a step of {_s(asked.step_time_s)} today, {asked.overlap_share:.0%} of the exchange hidden behind computing.",
        "Assumed: the same share is hidden by Peer Direct, and the rest of the step stays as it is.",
    )
    title = f"A training step of {_s(step.now_s)} becomes one of {_s(step.then_s)}: {step.now_s / step.then_s:.2f} times as fast"
    return Slide(title, (bars(rows, alt),), lines, notes=(alt,))


def _step_bar(name: str, whole_s: float, seen_s: float, role: str) -> Bar:
    parts = (Part(whole_s - seen_s, "gather", "computing and all else"), Part(seen_s, role, _EXCHANGES[role]))
    return Bar(name, parts, _s(whole_s))


_EXCHANGES = {"copy": "exchange that is not hidden, through the host", "direct": "the same by Peer Direct"}


def _s(seconds: float) -> str:
    return say_time(seconds * PS_PER_S)


def yes_or_no(machine: Cluster) -> list[str]:
    """Return the assumed figures without a range: each is so or not so, and no band says what if not."""
    return [figure.key for figure in machine.assumptions if not figure.range]


_MOST_ROWS = 6
"""Assumed figures that a slide has room for: the most influential."""


def assumptions(_outline: Outline, evidence: Evidence) -> Slide:
    """Say what the answers owe to assumed figures."""
    tables = [influences(evidence.detour), influences(evidence.direct)]
    rows: dict[str, Mapping[str, Any]] = {**tables[1], **tables[0]}
    reach = {name: max(_reach(table[name]) for table in tables if name in table) for name in rows}
    named = sorted(rows, key=lambda name: -reach[name])[:_MOST_ROWS]
    body = [(*_range(rows[name]), *(_change(table.get(name)) for table in tables)) for name in named]
    spans = [f"{band.low_GBps:.3g} to {band.high_GBps:.3g} GB/s" for band in evidence.bands]
    head = ("assumed figure", "value", "range", _HOST, _PEER)
    left, bare = len(rows) - len(named), yes_or_no(evidence.base.hardware)
    lines = (
        "Change of the bus bandwidth with one figure at the low and the high end of its range.",
        *([f"{left} more figures change it less."] if left else []),
        *([f"Assumed without a range, in no band: {', '.join(bare)}."] if bare else []),
    )
    title = "What the answers owe to assumptions"
    return Slide(title, rows=(head, *body, ("all of them at once", "", "", *spans)), lines=lines)


def influences(run: Run) -> dict[str, Mapping[str, Any]]:
    """Return what a run owes to each assumed figure that it meets, by the figure's name."""
    return {
        str(key): row for key, row in run.sensitivity().set_index("figure", drop=False).T.to_dict().items()
    }


def _reach(row: Mapping[str, Any]) -> float:
    return max(abs(float(row[name])) for name in ("change_at_low_percent", "change_at_high_percent"))


def _range(row: Mapping[str, Any]) -> tuple[str, str, str]:
    unit = say_unit(row["unit"])
    return f"{row['figure']} †", f"{row['value']:g}{unit}", f"{row['low']:g} to {row['high']:g}{unit}"


def _change(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "not met"
    low, high = (row["change_at_low_percent"], row["change_at_high_percent"])
    return f"{low:+.1f} % / {high:+.1f} %".replace("-0.0", "0.0").replace("+0.0", "0.0")
