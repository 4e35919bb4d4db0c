"""What speaks for the simulation, and how far the gain carries: measured elsewhere, other sizes and nodes, what is not modelled."""

import re
from collections.abc import Sequence

from peerlab.answer.gain import GainBand
from peerlab.base.errors import PeerlabError
from peerlab.base.units import KIB, MIB, TIMES_SIGN, say_bytes, say_count
from peerlab.features.deck.blocks import GainAxis, card, grid, paper_without_ground, span, table
from peerlab.features.deck.compared_runs import SURELY, ComparedRuns
from peerlab.features.deck.gains_elsewhere import GainElsewhere, gains_elsewhere
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide

_SIZES = (64 * KIB, MIB, 16 * MIB, 64 * MIB, 256 * MIB)
_NODES = (2, 4, 8, 32, 128)
_HIGH = 420.0
"""Of the bars of one panel, pixels."""


def elsewhere(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show measured gains on the axis of the simulated one."""
    gains, gain = gains_elsewhere(), compared.gain_band
    ends = [end for machine in gains for end in machine.ends]
    # Names stand left of the axis, which is the same for all rows: bars can be compared by eye.
    # At its end is room for a label beside an edge of the band.
    axis = GainAxis([gain.low, gain.high, *ends], 430, _WIDE - _LETTER * _LONGEST_MARK - _FREE)
    low_edge = _ROW * (len(gains) + 1)
    axis.paper.box((axis.at(gain.low), 8, axis.at(gain.high), low_edge), "good-wash")
    axis.draw(8, low_edge)
    for place, machine in enumerate(gains):
        _measured(axis, _ROW * (place + 0.55), machine, (gain.low, gain.high))
    y, about = (
        _ROW * (len(gains) + 0.55),
        f"{say_count(compared.base.nodes, 'node')}, {say_bytes(compared.base.nbytes)}",
    )
    _named(axis, y, f"Simulated: {compared.base.hardware.title}", about)
    axis.bar(y, gain.low, gain.value, gain.high)
    axis.paper.text((axis.at(gain.value), y - 26), f"{gain.value:.2f}{TIMES_SIGN}", size=18, bold=True)
    alt = "Gains measured elsewhere: " + "; ".join(
        f"{machine.title} {span(*machine.ends)}"
        for machine in sorted(gains, key=lambda machine: machine.title)
    )
    picture = paper_without_ground(
        axis.paper, _WIDE, low_edge + 42, f"{alt}. Simulated here: {span(gain.low, gain.high)}."
    )
    source = "; ".join(dict.fromkeys(re.split(r"[,(:]", machine.source)[0].strip() for machine in gains))
    return Slide(
        f"On other machines direct paths gained {span(min(ends), max(ends))}",
        _inside(gain, gains),
        grid(card(picture, 12)),
        notes=(
            *(f"{machine.title}: {machine.what}. {machine.source}." for machine in gains),
            _other(gains, compared),
            _BASELINES,
        ),
        source=f"Sources: {source}. Each in full: speaker's notes",
    )


_ROW = 114.0
"""Pixels from one machine to the next."""
_BASELINES = "Do not mix the baselines: here it is RDMA through the host. Against kernel TCP a gain is another, larger one, and says nothing about this detour."
_WIDE = 1144.0
_LETTER = 11.8
"""A letter of a mark's label, as wide as it takes at most, in pixels."""
_FREE = 8
"""Pixels between a mark's label and an edge of the band."""
_LONGEST_MARK = 12
"""Letters of a mark's label: as many have room at the end of the axis."""


def _measured(axis: GainAxis, y: float, machine: GainElsewhere, band: tuple[float, float]) -> None:
    """Draw what is known of one machine: a diamond for each figure, whose words cross no edge of the band."""
    _named(axis, y, machine.title, machine.about)
    low, high = machine.ends
    axis.paper.line([(axis.at(low), y), (axis.at(high), y)], "edge", 4)
    # A label stands above its mark or below it, wherever the last one on that side has ended.
    free = {-26: 0.0, 28: 0.0}
    for value, figure in sorted(machine.marks):
        label = f"{figure}{TIMES_SIGN}"
        axis.mark(y, value, "ink")
        half = _LETTER * len(label) / 2
        x = _beside(axis.at(value), half, [axis.at(edge) for edge in band])
        above = next((at for at, right in free.items() if x - half > right), min(free, key=free.__getitem__))
        x = max(x, free[above] + half)  # where neither side has room at its mark, a little to the right of it
        free[above] = x + half
        axis.paper.text((x, y + above), label, size=18, bold=True)


def _beside(at: float, half: float, edges: Sequence[float]) -> float:
    """Return where the middle of words stands, as near to their mark as no edge crosses them.

    >>> _beside(100, 20, [50, 200]), _beside(100, 20, [90, 200]), _beside(100, 20, [50, 110])
    (100, 118, 82)
    """
    for edge in edges:
        if abs(at - edge) < half + _FREE:
            return edge + (half + _FREE if at >= edge else -half - _FREE)
    return at


def _inside(gain: GainBand, known: Sequence[GainElsewhere]) -> str:
    names = dict.fromkeys(
        machine.title.partition(",")[0]
        for machine in known
        for value in machine.ends
        if not gain.low <= value <= gain.high
    )
    beside = f" Outside of that: {', '.join(names)}." if names else " All lie in it."
    return f"This run says {span(gain.low, gain.high)}.{beside} Each machine has a baseline of its own."


def _other(known: Sequence[GainElsewhere], compared: ComparedRuns) -> str:
    fitted = [gain.title.partition(",")[0] for gain in known if gain.fitted]
    own = any(gain.cluster == compared.base.hardware.name for gain in known)
    sentence = (
        f"Constants of {', '.join(fitted)} were fitted to its figures; it is point to point. "
        if fitted
        else ""
    )
    return sentence + (
        "The report on this machine leaves its number of nodes open."
        if own
        else "None of them is this machine."
    )


def _named(axis: GainAxis, y: float, name: str, about: str) -> None:
    axis.paper.text((0, y - 12), name, size=20, bold=True, align="left")
    axis.paper.text((0, y + 14), about, size=18, ink="muted", align="left")


def scale(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the gain, with its band, over message sizes and over nodes."""
    base = compared.base
    by_size = [
        (say_bytes(size), compared.band_of(message_bytes=size)) for size in sorted({*_SIZES, base.nbytes})
    ]
    by_nodes = [(str(count), _over_nodes(compared, count)) for count in sorted({*_NODES, base.nodes})]
    rows = [(name, band) for name, band in by_nodes if band]
    every = [band for _, band in (*by_size, *rows)]
    ends = [end for band in every for end in (band.low, band.high)]
    panels = (
        card(
            _bars(by_size, ends, say_bytes(base.nbytes)),
            6,
            title=f"Gain by message, {say_count(base.nodes, 'node')}",
        ),
        card(
            _bars(rows, ends, str(base.nodes)),
            6,
            title=f"Gain by nodes, messages of {say_bytes(base.nbytes)}",
        ),
    )
    # Sizes are ascending: the first of these is the one from which on it is sure.
    sure = [name for name, band in by_size if band.low >= SURELY]
    title = (
        f"On {say_count(base.nodes, 'node')} Peer Direct is faster from {sure[0]} on"
        if sure
        else f"On {say_count(base.nodes, 'node')} Peer Direct is surely faster at no size"
    )
    wired = (f"If {compared.gain_band.wired[0].says}.",) if compared.gain_band.wired else ()
    notes = (_small(by_size), _many(rows), *wired, *(f"{name}: {band!r}" for name, band in (*by_size, *rows)))
    about = "Bar: range of the gain; line: as simulated; grey: slower"
    return Slide(title, about, grid(*panels), notes=notes, source=figures_said(compared))


def _over_nodes(compared: ComparedRuns, count: int) -> GainBand | None:
    """Return the gain on so many nodes; None where there cannot be so many."""
    try:
        return compared.band_of(nodes=count)
    except PeerlabError:
        return None


def _small(by_size: Sequence[tuple[str, GainBand]]) -> str:
    name, band = by_size[0]
    if band.high < 1:
        return f"At {name} Peer Direct loses: {span(band.low, band.high)}. Libraries choose by size; leave that to them."
    return f"At {name} it is {span(band.low, band.high)}: latency counts there, and both paths have it."


def _many(known: Sequence[tuple[str, GainBand]]) -> str:
    (first, fewest), (last, most) = known[0], known[-1]
    count, least = min(known, key=lambda pair: pair[1].low)
    return (
        f"From {first} to {last} nodes the gain goes from {fewest.value:.2f} to {most.value:.2f}{TIMES_SIGN} as assumed. "
        f"Its low end is lowest on {count} nodes: {least.low:.2f}{TIMES_SIGN}."
    )


def _bars(rows: Sequence[tuple[str, GainBand]], ends: Sequence[float], here: str) -> str:
    axis, pitch = GainAxis(ends, 96, 516), _HIGH / len(rows)
    axis.draw(0, _HIGH)
    for place, (name, band) in enumerate(rows):
        y = pitch * (place + 0.5)
        axis.paper.text((84, y), name, size=20, bold=name == here, align="right")
        axis.bar(y, band.low, band.value, band.high)
    alt = "Gain: " + "; ".join(f"{name} {span(band.low, band.high)}" for name, band in rows)
    return paper_without_ground(axis.paper, 544, _HIGH + 40, alt)


def limits(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Say what is not in the model, and what that may do to the answer."""
    law = (
        " ".join(compared.base.library_unsolved)
        or "What the library's law does not meet is in no log that we know of here."
    )
    rows = (
        ("Other traffic", "Lost packets, congestion control and other jobs slow both ways; which of the two more is not known."),
        ("The library's choices", law),
        ("Dearer registration", "The more memory is registered, the dearer it gets; here each region costs the same. A pool avoids it."),
        ("Copies for a pool", "A pool that is registered once may need a copy within the device, which is not counted."),
        ("Computing", "How long it takes is given, not simulated. Input, checkpoints and failures are left out."),
        ("Nodes that differ", "All nodes are alike here; peerlab simulate has options for slow nodes and jitter."),
    )  # fmt: skip
    return Slide(
        "What is not modelled, and what it may change",
        "",
        grid(card(table(("not modelled", "what it may change"), rows), 12, high="wide")),
        notes=(law, f"It rests on {compared.base.hardware.counted}; ranges are given where one is known."),
        source=f"{compared.base.hardware.counted} †. The whole list: docs/model.md, What is not modelled",
    )
