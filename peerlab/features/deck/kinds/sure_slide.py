"""The slide on how sure the gain is: one bar for each thing that is not known, on one axis."""

from collections.abc import Iterator
from textwrap import wrap

from peerlab.answer.gain import GainBand
from peerlab.features.deck.blocks import GainAxis, card, grid, paper_without_ground, paragraphs, span
from peerlab.features.deck.compared_runs import SURELY, ComparedRuns
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.guide import where_to_find
from peerlab.picture.how_sure import alt

_LEFT, _RIGHT, _WIDE = 450.0, 950.0, 1144.0
_LETTERS = 40
"""Of a line of a name."""
_LEAST_PITCH, _ROOM = 66.0, 440.0
_MOST_WIRINGS = 2
Row = tuple[str, float, float, float, bool]


def sure(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show how sure the gain is, and the fact to check first where no slide on the wiring says it."""
    gain = compared.gain_band
    if gain.least >= SURELY:
        title = "Peer Direct is faster, whatever is assumed"
    elif gain.wired and gain.low >= SURELY:
        title = "Peer Direct is faster if the wiring is as assumed"
    else:
        title = f"Not sure: Peer Direct may {'be slower' if gain.low < 1 else 'gain nothing'}"
    first = gain.decisive if not gain.wired else None
    check = (
        [
            card(
                paragraphs(f"Check first {first.figure.label}: {where_to_find(first.figure)}."),
                12,
                high="good strip",
            )
        ]
        if first
        else []
    )
    return Slide(
        title,
        "Bar: range of the gain; line: as simulated; grey: slower",
        grid(card(_chart(gain), 12), *check),
        notes=(alt(gain), f"{gain.range_in_words()}."),
        source=figures_said(compared),
    )


def _chart(gain: GainBand) -> str:
    rows = list(_rows(gain))
    axis = GainAxis([gain.least, gain.most, gain.value], _LEFT, _RIGHT)
    pitch = max(_LEAST_PITCH, _ROOM / len(rows))
    axis.draw(8, pitch * len(rows))
    for place, (name, low, value, high, holds) in enumerate(rows):
        y, lines = pitch * (place + 0.5), wrap(name, _LETTERS)
        for line, words in enumerate(lines):
            axis.paper.text(
                (0, y + 26 * (line - (len(lines) - 1) / 2)), words, size=20, bold=holds, align="left"
            )
        axis.bar(y, low, value, high)
        axis.paper.text((_WIDE, y), span(low, high), size=22, bold=True, align="right")
    return paper_without_ground(axis.paper, _WIDE, pitch * len(rows) + 40, alt(gain))


def _rows(gain: GainBand) -> Iterator[Row]:
    """Yield what is not known, the gain's low end, as simulated, its high end, and whether that is with all else as assumed."""
    yield "Machine figures", *_around(gain.topology or (gain.low, gain.high), gain.value), True
    if gain.topology:
        yield "Machine and library figures", gain.low, gain.value, gain.high, True
    for case in gain.wired[1 : 1 + _MOST_WIRINGS]:
        yield f"If {case.says}", case.low, case.gain, case.high, False
    if old := gain.old_library:
        yield f"If {old.says}", old.low, old.gain, old.high, False


def _around(ends: tuple[float, float], value: float) -> tuple[float, float, float]:
    return ends[0], value, ends[1]
