"""The slides behind the recommendation: what registering costs, what the gain owes to assumptions, where the figures come from."""

import re

from peerlab.answer.gain import Assumption, GainBand
from peerlab.answer.run import Run
from peerlab.base.errors import shell_word
from peerlab.base.units import (
    KIB,
    MIB,
    TIMES_SIGN,
    say_bytes,
    say_count,
    say_percent,
    say_time,
    say_unit,
    three_digits,
)
from peerlab.features.deck.blocks import (
    card,
    facts,
    grid,
    paper_without_ground,
    paragraphs,
    span,
    table,
    words,
)
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.hardware import FIGURE_KINDS, Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.model.paths import PEER_DIRECT
from peerlab.picture.gain_ticks import SLOWER
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette

_PLAIN = 1.05
"""Below this ratio of times registering is called cheap."""


def registration(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Say what registering memory costs."""
    direct = (
        ("Peer Direct, one pool", compared.run(path=PEER_DIRECT, registration="pool")),
        ("Peer Direct, cache", compared.direct),
        ("Peer Direct, cache of one region", compared.run(path=PEER_DIRECT, cache_regions=1)),
        (_BARE, compared.uncached),
    )
    # What the title compares with comes first.
    runs = [
        (_HOST, compared.detour, "copy"),
        *(
            (name, run, SLOWER[0] if run.time_ps > compared.detour.time_ps else "direct")
            for name, run in direct
        ),
    ]
    slow = compared.uncached.time_ps > compared.detour.time_ps
    ratio = compared.detour.time_s / compared.uncached.time_s
    title = f"Without a cache Peer Direct is {ratio:.2f}{TIMES_SIGN} as fast as through the host"
    alt = "Bus bandwidth by registration. " + " ".join(
        f"{name}: {run.busbw_GBps:.3g} GB/s." for name, run, _ in runs
    )
    counters = compared.uncached.registration
    # Without a cache every transfer registers: misses are all registrations there were.
    counted = f"Without a cache: {counters.misses} registrations by {_nics(compared)} of one PCIe switch, {say_time(counters.time_ps)} in all."
    notes = (alt, counted, _too_small(direct[2][1], compared), _carried(compared.direct))
    about = "A NIC reads and writes memory only where it is registered; a cache keeps what was registered"
    if slow:
        about = "A NIC needs memory registered; a cache keeps what was registered; grey: slower"
    body = grid(
        card(_rates(runs, alt), 12, title="Bus bandwidth, GB/s"),
        card(paragraphs(_so(compared)), 12, high="strip" if slow else "good strip"),
    )
    return Slide(title, about, body, notes=tuple(filter(None, notes)), source=figures_said(compared))


def _nics(compared: ComparedRuns) -> str:
    """Return whose registrations are counted."""
    machine = compared.base.hardware
    many = machine.used_nics_per_switch
    return "the NIC" if many == 1 else f"the {many} NICs"


def _rates(runs: list[tuple[str, Run, str]], alt: str) -> str:
    """Draw a bar for each way to register."""
    paper, most = Paper(palette(PAGE)), max(run.busbw_GBps for _, run, _ in runs)
    host = _LEFT + _ROOM * runs[0][1].busbw_GBps / most
    for place, (name, run, role) in enumerate(runs):
        y = _PITCH * (place + 0.5)
        paper.text((0, y), name, size=20, bold=name in _TITLED, align="left")
        end = _LEFT + _ROOM * run.busbw_GBps / most
        paper.box((_LEFT, y - 19, end, y + 19), role, SLOWER[1] if role == SLOWER[0] else "none", radius=3)
        # In a column of their own, as the line crosses what stands behind a bar.
        paper.text((_WIDE, y), three_digits(run.busbw_GBps), size=22, bold=True, align="right")
    # The first is what all others are compared with: a line marks its end.
    paper.line([(host, _PITCH / 2 + 19), (host, _PITCH * (len(runs) - 0.5) + 25)], "ink", 2, dash="3 5")
    return paper_without_ground(paper, _WIDE, _PITCH * len(runs), alt)


_HOST, _BARE = "through the host", "Peer Direct, no cache"
_TITLED = (_HOST, _BARE)
"""What the title compares is bold."""
_LEFT, _ROOM, _PITCH, _WIDE = 360.0, 690.0, 68.0, 1144.0


def _too_small(small: Run, compared: ComparedRuns) -> str:
    ratio = compared.detour.time_s / small.time_s
    return f"With room for one region alone it is {ratio:.2f}{TIMES_SIGN} as fast as the way through the host: each buffer drives another one out of the cache."


def _so(compared: ComparedRuns) -> str:
    if compared.uncached.time_s < _PLAIN * compared.direct.time_s:
        return "Registering costs little here, with a cache or without."
    return "Keep the registration cache on, with room for all buffers."


def _carried(run: Run) -> str:
    """Say what NICs carry where bus bandwidth counts more than that: exchanges inside a node, too."""
    limit = run.scenario.hardware.node_wire_Bps / 1e9
    carried = run.wire_busy * limit
    if run.busbw_GBps <= carried:
        return ""
    return f"Bus bandwidth counts what stays inside a node: of {run.busbw_GBps:.3g} GB/s the NICs carry {carried:.3g} of {limit:g}."


_SIZES = {"KiB": KIB, "MiB": MIB}
"""Bytes of the units that figures of sizes have: their ranges' ends have units of their own."""
_SAME = 1e-6
"""A gain no further off is the gain as assumed."""
_MOST_ROWS = 5
"""Assumed figures that a slide has room for: the most influential."""


def assumptions(_outline: Outline, compared: ComparedRuns) -> Slide:
    # Each further wiring takes a row of the table.
    """Say what the gain owes to assumed figures."""
    gain = compared.gain_band
    most = _MOST_ROWS - len(gain.wired[1:])
    left = gain.assumptions[most:]
    host, peer = (f"{band.low_GBps:.3g} to {band.high_GBps:.3g} GB/s" for band in compared.bands)
    # Assumed, but used on neither way: no end of their ranges moves the gain.
    idle = len(compared.base.hardware.assumptions) - len(gain.assumptions)
    first = gain.decisive.figure.label if gain.decisive else ""
    notes = (
        f"{gain.value:.2f}{TIMES_SIGN} as assumed. Bus bandwidth, all at their ends, and the model's error: {host} through the host, {peer} with Peer Direct.",
        *[f"{say_count(len(left), 'more figure')}: each changes the gain less."] * bool(left),
        *[f"{say_count(idle, 'figure')}: used by neither way."] * bool(idle),
        *(f"{assumption.figure.label}: {assumption.figure.assumption}." for assumption in gain.assumptions),
    )
    return Slide(
        f"The gain depends most on {first}" if first else "No assumption changes the gain by 1 %",
        f"One assumption changed at a time; as assumed the gain is {gain.value:.2f}{TIMES_SIGN}",
        grid(card(_moving(gain, most), 12, high="wide four")),
        notes=notes,
        source=figures_said(compared),
    )


def _moving(gain: GainBand, most: int) -> str:
    """Return the table of the figures that move the gain most, and of all together."""
    rows = [_assumed(assumption, gain.value) for assumption in gain.assumptions[:most]]
    together = [
        ("all at the ends of their ranges, together with the model's error", span(gain.low, gain.high)),
        *(
            ("the same, with the NICs elsewhere", case.says, span(case.low, case.high))
            for case in gain.wired[1:]
        ),
    ]
    first = gain.assumptions[0].cases if gain.assumptions else ()
    head = ("what is assumed †", "value", "if instead", "the gain is")
    return table(
        head,
        rows,
        marked={(0, 2)},
        tells="loss" if any(case.gain < 1 for case in first) else "gain",
        foot=together,
    )


def _assumed(assumption: Assumption, as_assumed: float) -> tuple[str, str, str, str]:
    """Return a row of the table: what is assumed, as what, what else may be, and the gain then."""
    figure = assumption.figure
    # An end that is the value itself changes nothing.
    ends = ""
    if figure.range:
        instead = [end for end in figure.range if end != figure.value]
        ends = " or ".join(f"{end:g}" for end in instead) + say_unit(figure.unit)
        if figure.unit in _SIZES:
            ends = " or ".join(say_bytes(end * _SIZES[figure.unit]) for end in instead)
        if _is_share(figure):
            ends = " or ".join(map(say_percent, instead))
    others = " / ".join(case.says for case in assumption.cases) or "not simulated otherwise"
    changed = [
        case for case in assumption.cases if abs(case.gain / as_assumed - 1) > _SAME
    ] or assumption.cases
    gains = " / ".join(f"{case.gain:.2f}{TIMES_SIGN}" for case in changed)
    return figure.label, _short(figure), ends or others, gains


def _is_share(figure: Figure | Wiring) -> bool:
    """Return whether a figure is a share, which slides say in percent: without a unit, 0 and 1 were numbers of nothing."""
    return isinstance(figure, Figure) and FIGURE_KINDS[figure.key] == "share"


def sources(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Name who says every figure that is not assumed, and from where to where each that is assumed may lie."""
    hardware = compared.base.hardware
    assumed = _by_weight(compared)
    sourced = [figure for figure in hardware.stated if not figure.assumption]
    # A publisher once, with all that it says.
    by_publisher: dict[str, dict[str, str]] = {}
    for figure in sourced:
        by_publisher.setdefault(_publisher(figure.source), {})[figure.label] = _short(figure)
    everything = f"peerlab clusters {shell_word(hardware.name)}"
    cards = (
        card(
            _listed(by_publisher),
            6,
            title=f"{len(sourced)} with a source",
            high="listed",
        ),
        card(_ranges(assumed), 6, title=f"{len(assumed)} assumed †", high="listed"),
    )
    notes = (
        *(f"{figure.label}: {figure.source}." for figure in sourced),
        *(
            f"{figure.label}, assumed: {figure.assumption}."
            + f" Its value: {figure.source}." * bool(figure.source)
            for figure in assumed
        ),
    )
    title = f"{hardware.title}: {hardware.counted}"
    about = "Of the cluster and of the library that serves it"
    return Slide(
        title,
        about,
        grid(*cards),
        notes=notes,
        source=f"Every figure with its source and unit: {everything}",
    )


def _by_weight(compared: ComparedRuns) -> list[Figure | Wiring]:
    """Return what is assumed, what moves the gain most first."""
    order = [assumption.figure.label for assumption in compared.gain_band.assumptions]
    figures = compared.base.hardware.assumptions
    return sorted(
        figures, key=lambda figure: order.index(figure.label) if figure.label in order else len(order)
    )


def _ranges(assumed: list[Figure | Wiring]) -> str:
    """Return a line of each figure, as far as there is room, and how many more there are."""
    rows = assumed if len(assumed) < _MOST_LINES else assumed[: _MOST_LINES - 2]
    left = len(assumed) - len(rows)
    # Words that have no range, such as where the NICs hang, stand above the columns of values and ranges.
    worded = [figure for figure in rows if not _range(figure) and not _short(figure)[:1].isdigit()]
    above = "".join(
        f"<div class='facts worded'><span>{words(figure.label)}:</span><b>{words(_short(figure))}</b></div>"
        for figure in worded
    )
    lines = "".join(
        _ranged(figure.label, _short(figure), _range(figure)) for figure in rows if figure not in worded
    )
    more = paragraphs(f"{left} more") if left > 0 else ""
    return above + _ranged("", "value", "range", "heads") + lines + more


def _ranged(label: str, value: str, ends: str, kind: str = "") -> str:
    """Return a line of a figure: its value, and apart from it from where to where it may lie."""
    return f"<div class='facts ranged {kind}'><span>{words(label)}</span><b>{words(value)}</b><i>{words(ends)}</i></div>"


def _listed(by_publisher: dict[str, dict[str, str]]) -> str:
    """Return figures with a source below who says them, as many as there is room for, and how many more there are."""
    shown, room, left = "", _MOST_LINES - 1, 0
    for name, values in by_publisher.items():
        rows = list(values.items())[: max(0, room - 1)]
        shown += f"<h4>{words(name)}</h4>{facts(*rows)}" if rows else ""
        room -= len(rows) + bool(rows)
        left += len(values) - len(rows)
    return shown + (paragraphs(f"{left} more") if left else "")


_MOST_LINES = 14
"""Of a card: figures, those who say them, and one that counts the others."""


def _publisher(source: str) -> str:
    """Return who says it: a repository or a site by its address, else what stands before the first mark.

    >>> _publisher("openucx/ucx topo.c: effective PCIe Gen3 x16"), _publisher("AWS Compute blog, DL1 deep dive: pairs")
    ('openucx/ucx', 'AWS Compute blog')
    """
    head = re.split("[,:;(]", source, maxsplit=1)[0].strip()
    first = head.split(" ")[0]
    return first if "/" in first else head


def _short(figure: Figure | Wiring) -> str:
    """Return a figure's value with three digits of those behind its point, where it has more."""
    if isinstance(figure, Figure) and _is_share(figure):
        return say_percent(figure.value)
    return re.sub(r"\b0\.\d{4,}", lambda match: f"{float(match[0]):.3g}", str(figure))


def _range(figure: Figure | Wiring) -> str:
    """Return a figure's range in words, with its unit: a size's ends in units of their own, 512 KiB to 16 MiB."""
    if not figure.range or not isinstance(figure, Figure):
        return ""
    low, high = figure.range
    if figure.unit in _SIZES:
        return " to ".join(say_bytes(end * _SIZES[figure.unit]) for end in (low, high))
    of, unit = (100, " %") if _is_share(figure) else (1, say_unit(figure.unit))
    # Three digits of an end, as it is an estimate; all of the value itself, where that is one.
    ends = (f"{of * end:{'g' if end == figure.value or of * end >= 1000 else '.3g'}}" for end in figure.range)
    return f"{' to '.join(ends)}{unit}"
