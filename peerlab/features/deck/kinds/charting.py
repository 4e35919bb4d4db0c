"""The slides of a review that are charts or tables."""

from dataclasses import replace

from peerlab.answer.gain import GainBand, GainCase
from peerlab.answer.lanes import lane_name
from peerlab.answer.metrics import BUSY
from peerlab.answer.run import Run
from peerlab.base.units import (
    PS_PER_S,
    TIMES_SIGN,
    say_bytes,
    say_percent,
    say_range,
    say_share,
    say_time,
    write_bytes,
)
from peerlab.features.deck.blocks import card, grid, paragraphs
from peerlab.features.deck.compared_runs import NODES, ComparedRuns
from peerlab.features.deck.kinds.charts import Bar, Curve, Part, bars, curves
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.kinds.step_slide import gains_in_words, simulated_step
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.features.deck.training import StepTime, Training
from peerlab.model.paths import PEER_DIRECT
from peerlab.model.resources import RESOURCES, resource_kind
from peerlab.model.stages import STAGES, stage_kind
from peerlab.picture.theme import line_roles, stage_role

_HOST, _PEER = "through the host", "Peer Direct"
_MOST_WATCHED = 3
"""Kinds of resources that a slide has room for."""


def time(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Say where the time goes, and what is busy meanwhile."""
    host, peer = compared.detour, compared.direct
    spent = [_spent(name, run) for name, run in ((_HOST, host), (_PEER, peer))]
    busy = [bar for kind in _watched(host, peer) for bar in _busy(kind, host, peer)]
    charts = [
        ("Where the time goes.", spent, None),
        *([("How busy each part is.", busy, 1.0)] if busy else []),
    ]
    alt = [
        f"{what} " + " ".join(f"{bar.group}{', ' * bool(bar.group)}{bar.name}: {bar.says}." for bar in rows)
        for what, rows, _ in charts
    ]
    cards = [
        card(
            bars(rows, words, full=full, pitch=_PITCHES[place], left=_NAMED), 12, title=what.removesuffix(".")
        )
        for place, (words, (what, rows, full)) in enumerate(zip(alt, charts, strict=True))
    ]
    idle = "Latency alone: no part is busy for a twentieth of the time on either path."
    title = f"Busiest: {_label(host)}, and with Peer Direct {_label(peer)}"
    if not busy:
        cards.append(card(paragraphs(idle), 12, high="strip"))
    return Slide(title, "", grid(*cards), notes=tuple(alt), source=figures_said(compared))


_NAMED = 354.0
"""Where the bars of both charts begin, right of a part's name and a path's."""
_PITCHES = (50.0, 36.0)
"""From one bar to the next, in both charts."""


def _label(run: Run) -> str:
    return run.bottleneck.label if run.bottleneck else "nothing"


def _watched(host: Run, peer: Run) -> list[str]:
    """Return both paths' bottlenecks, then what tells the paths apart most, one kind for each part of the picture."""
    shares = {kind: [run.busy.get(kind, 0.0) for run in (host, peer)] for kind in RESOURCES}
    # What is idle on both ways tells nothing, however far their shares are apart.
    apart = {kind: max(both) - min(both) for kind, both in shares.items() if max(both) >= BUSY}
    busy = sorted(apart, key=lambda kind: -apart[kind])
    first = [run.bottleneck.kind for run in (host, peer) if run.bottleneck]
    kinds: list[str] = list(dict.fromkeys(kind for kind in first if kind in busy))
    for kind in busy:
        # One kind for each part that is drawn: both ways along one link would say the same twice.
        part = resource_kind(kind).drawn
        if kind not in kinds and (not part or part not in {resource_kind(other).drawn for other in kinds}):
            kinds.append(kind)
    # In the record's order: a kind stands at the same place on every slide.
    return [kind for kind in RESOURCES if kind in kinds[:_MOST_WATCHED]]


def _busy(kind: str, host: Run, peer: Run) -> list[Bar]:
    """Return a bar for each path, with how busy it keeps this kind of resource."""
    shares = [(name, run.bottleneck, run.busy.get(kind, 0.0)) for name, run in ((_HOST, host), (_PEER, peer))]
    return [
        # Grey: a colour is a stage above. The bottlenecks, which the title names, have theirs.
        Bar(
            name,
            (Part(share, "hot" if limit and limit.kind == kind else "edge"),),
            f"{say_percent(share)} busy",
            lane_name(kind),
        )
        for name, limit, share in shares
    ]


def _spent(name: str, run: Run) -> Bar:
    """Return the critical path of a run as a bar, in seconds; the key names what is a hundredth of it or more."""
    spent: dict[str, float] = {}
    meanings: dict[str, str] = {}
    for stage, seconds in run.breakdown().items():  # the longest first: it gives its colour the meaning
        role = stage_role(stage) if stage in STAGES else "faint"
        spent[role] = spent.get(role, 0.0) + seconds
        meanings.setdefault(role, _meaning(stage))
    parts = (
        Part(seconds, role, meanings[role] if seconds > 0.01 * run.time_s else "")
        for role, seconds in sorted(spent.items(), key=lambda item: -item[1])
    )
    return Bar(name, tuple(parts), say_time(run.time_ps))


def _meaning(stage: str) -> str:
    """Return what a stage is, as in the key of the pictures; where nothing recorded explains the time, somebody waits."""
    return (kind := stage_kind(stage)).legend or kind.says if stage in STAGES else "waiting"


def nodes(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Draw throughput against nodes."""
    lines = []
    for name, path in ((_PEER, PEER_DIRECT), (_HOST, str(compared.base.path))):
        runs = [compared.run(path=path, nodes=count) for count in NODES]
        lines.append(Curve(name, *line_roles(path), tuple(run.sensitivity_band() for run in runs)))
    peer, host = (line.bands for line in lines)
    ratios = [a.value_GBps / b.value_GBps for a, b in zip(peer, host, strict=True)]
    sentence = ", ".join(
        f"{count} nodes: {ratio:.2f}{TIMES_SIGN}" for count, ratio in zip(NODES, ratios, strict=True)
    )
    beyond = [count for count in NODES if compared.base.with_(nodes=count).extrapolates]
    # Where the vendor allows none of them, the title speaks of all, and the line below says that they are
    # beyond.
    number = len(NODES) - len(beyond) or len(NODES)
    best, last = max(range(number), key=lambda i: ratios[i]), number - 1
    title = f"Peer Direct: {ratios[best]:.2f}{TIMES_SIGN} the throughput on {NODES[best]} nodes, {ratios[last]:.2f}{TIMES_SIGN} on {NODES[last]}"
    drawn = NODES[:number]
    shown = [replace(line, bands=line.bands[:number]) for line in lines]
    chart = curves(drawn, shown, "nodes", f"Bus bandwidth against nodes. {sentence}.")
    hardware = compared.base.hardware
    allowed = hardware.max_ranks // hardware.devices if hardware.max_ranks else 0
    more = f"Beyond {allowed} nodes there are more ranks than the vendor's library allows." if beyond else ""
    about = f"Messages of {say_bytes(compared.base.nbytes)}; filled and dashed: from the low end to the high end of what is assumed"
    notes = (f"{sentence}.", _ENDS, *([more] if more else []))
    return Slide(title, about, grid(card(chart, 12)), notes=notes, source=figures_said(compared))


_ENDS = "Bands: all assumed figures at the ends of their ranges, and the model's error."


def training(outline: Outline, compared: ComparedRuns) -> Slide:
    """Say what the gain means for a step of a training."""
    if isinstance(outline.training, Training):
        return _step(outline.training, compared)
    simulation = compared.simulated_step(outline.training)
    return simulated_step(simulation) if simulation else Slide("")  # slides() leaves it out


def _step(asked: Training, compared: ComparedRuns) -> Slide:
    host_s, peer_s = compared.exchanges(asked)
    today = asked.today(host_s)
    share, time = today.same_share(peer_s), today.same_time(peer_s)
    rows = [
        _step_bar("today, through the host", today, "copy"),
        _step_bar(f"Peer Direct, {say_share(asked.overlap_share)} hidden", share, "direct"),
        _step_bar(f"Peer Direct, {_s(today.hidden_s)} hidden", time, "direct"),
    ]
    alt = "A training step. " + " ".join(f"{row.name}: {row.says}." for row in rows)
    lines = (
        _exchange(asked, host_s, peer_s, compared),
        (
            f"A step of {_s(today.time_s)} today, {say_share(asked.overlap_share)} of the exchange ({_s(today.hidden_s)})"
            f" hidden behind {_s(today.computing_s)} of computing."
        ),
        _how_sure(today, peer_s, compared.exchange_gain(asked)),
    )
    title = f"A training step becomes {gains_in_words(today, peer_s)}{TIMES_SIGN} as fast"
    body = grid(
        card(bars(rows, alt, pitch=82), 12, title=_HIDDEN),
        card(paragraphs(*lines[:2]), 7, title="What is given", high="strip"),
        card(paragraphs(lines[2]), 5, title="How sure"),
    )
    return Slide(title, "", body, notes=(alt, _READINGS), source=figures_said(compared))


_HIDDEN = "A step, if computing hides the same share or the same time of the exchange as today"
_READINGS = "Not simulated: how much of a shorter exchange computing hides; so both readings are shown. The computing stays as it is."


def _how_sure(today: StepTime, peer_s: float, gain: GainBand) -> str:
    """Say what the step gains if the exchange gains the least, and the most, that the assumptions leave open."""
    if gain.wired:
        sentence = "; ".join(
            f"{_step_ends(today, peer_s, gain, case)}{TIMES_SIGN} if {case.says}" for case in gain.wired
        )
        return f"{sentence[:1].upper()}{sentence[1:]} †."
    depends = f", depending most on {gain.decisive.figure.label} †" if gain.decisive else ""
    # The time of the exchange goes down as its gain goes up.
    least, most = (gains_in_words(today, peer_s * gain.value / end) for end in (gain.least, gain.most))
    return f"{least}{TIMES_SIGN} at the least, {most}{TIMES_SIGN} at the most{depends}."


def _step_ends(today: StepTime, peer_s: float, gain: GainBand, case: GainCase) -> str:
    """Return how many times as fast a step becomes at both ends of one wiring's band."""
    ends = [
        today.time_s / step.time_s
        for end in (case.low, case.high)
        for step in (today.same_share(peer_s * gain.value / end), today.same_time(peer_s * gain.value / end))
    ]
    return say_range(min(ends), max(ends))


def _exchange(asked: Training, host_s: float, peer_s: float, compared: ComparedRuns) -> str:
    """Say how long the exchange of gradients takes on both paths, and where that is from."""
    if asked.gradient_bytes:
        what = (
            f"Exchange: {write_bytes(asked.gradient_bytes)} of gradient per rank, simulated as one message: "
        )
        return f"{what}{_s(host_s)} through the host, {_s(peer_s)} by Peer Direct."
    return (
        f"Exchange: {say_share(asked.communication_share or 0.0)} of the step, {_s(host_s)} through the host;"
        f" {compared.gain:.2f}{TIMES_SIGN} as fast by Peer Direct, {_s(peer_s)}."
    )


def _step_bar(name: str, step: StepTime, role: str) -> Bar:
    parts = (
        Part(step.computing_s, "gather", "computing and all else"),
        Part(step.seen_s, role, _EXCHANGES[role]),
    )
    return Bar(name, parts, _s(step.time_s))


_EXCHANGES = {"copy": "exchange that is not hidden, through the host", "direct": "the same by Peer Direct"}


def _s(seconds: float) -> str:
    return say_time(seconds * PS_PER_S)
