"""How sure a gain is, as a picture: the figures, the library and the wiring as rows of what is not known, and the fact to check first."""

from collections.abc import Iterator, Sequence

from peerlab.answer.gain import GainBand
from peerlab.base.units import say_gain
from peerlab.model.guide import where_to_find
from peerlab.picture.gain_ticks import gain_bar, gain_ticks
from peerlab.picture.scale import logarithmic
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palette

WIDTH, HEIGHT = 1200, 446
"""Size of the picture, as of a deck's charts."""
_LEFT, _RIGHT, _PANEL = 40.0, 770.0, 810.0
_TOP, _BOTTOM = 26.0, 404.0
_LETTERS = 31
"""Letters of a line of the panel at the largest of its sizes."""
_SIZES = (20, 19, 18, 17, 16, 15, 14, 13, 12)
"""Of the panel's words, pixels; the largest at which all have room."""
_MOST_WIRINGS = 2
_MOST_PITCH = 140.0
"""From a row to the next, at most."""


def how_sure_svg(gain: GainBand, *, theme: str = "light") -> str:
    """Return the picture of a gain as SVG, with the sentence as its words for who does not see it."""
    paper = Paper(palette(theme))
    _chart(paper, gain)
    _panel(paper, gain)
    return paper.svg(WIDTH, HEIGHT, alt(gain))


def _chart(paper: Paper, gain: GainBand) -> None:
    """Draw a bar for each thing that is not known, on one axis."""
    low_end, high_end = axis_ends(gain)
    at = logarithmic((low_end, high_end), (_LEFT, _RIGHT))
    paper.box((0, 0, _PANEL - 16, HEIGHT), "panel", radius=10)
    ticks = gain_ticks(low_end, high_end, at)
    for tick in ticks:
        is_one = tick == 1
        paper.text(
            (at(tick), _BOTTOM + 18), f"{tick:g}", size=16, bold=is_one, ink="ink" if is_one else "muted"
        )
    rows, y = list(_rows(gain)), _TOP + 16
    for title, sentence, low, value, high, sure in rows:
        for tick in ticks:  # beside the bars only: a line through words is hard to read
            is_one = tick == 1
            paper.line(
                [(at(tick), y + 13), (at(tick), y + 37)], "edge" if is_one else "faint", 2 if is_one else 1
            )
        if title:
            paper.text((_LEFT, y), title, size=18, bold=True, align="left")
        paper.text((_LEFT + 12 + 10.5 * len(title), y), sentence, size=15, ink="muted", align="left")
        gain_bar(paper, at, y + 25, (low, high), "direct")
        paper.square((at(value), y + 25), 8, "direct" if sure else "paper", "ink", 2.5, radius=8)
        y += min(_MOST_PITCH, (_BOTTOM - _TOP) / len(rows))
    for tick in ticks:
        paper.line([(at(tick), _BOTTOM - 2), (at(tick), _BOTTOM + 6)], "edge")
    paper.line([(_LEFT, _BOTTOM + 2), (_RIGHT, _BOTTOM + 2)], "edge")


def alt(gain: GainBand) -> str:
    """Return in words what the picture shows."""
    return f"How sure are we? {gain.in_words}.".replace("`", "")


def axis_ends(gain: GainBand) -> tuple[float, float]:
    """Return the least and the largest gain of the axis: 1 is always on it, with room on both sides."""
    # Once as fast is on the axis in any case.
    low = min(0.9, gain.least, gain.value)
    high = max(1.2, gain.most, gain.value)
    return low / 1.05, high * 1.05


Row = tuple[str, str, float, float, float, bool]


def _rows(gain: GainBand) -> Iterator[Row]:
    """Yield title, words, low end, value, high end, and whether it holds for the assumed wiring."""
    figures = gain.topology or (gain.low, gain.high)
    yield (
        "The figures",
        f"{_ends(*figures)}: what is assumed of the machine",
        figures[0],
        gain.value,
        figures[1],
        True,
    )
    if gain.topology:
        alone = f"; without a library {gain.alone:.2f}" if gain.alone else ""
        sentence = f"{_ends(gain.low, gain.high)} with what it adds{alone}"
        yield "The library", sentence, gain.low, gain.value, gain.high, True
    for place, case in enumerate(gain.wired[: 1 + _MOST_WIRINGS]):
        title = "" if place else "The wiring"
        if place:
            yield title, f"{_ends(case.low, case.high)} if {case.says}", case.low, case.gain, case.high, False
        else:
            sentence = f"yes or no, not a range. Assumed: {case.says}"
            yield title, sentence, case.low, case.gain, case.high, True
    if old := gain.old_library:
        sentence = f"{_ends(old.low, old.high)} if {old.says}"
        yield "The version", sentence, old.low, old.gain, old.high, False


def _ends(low: float, high: float) -> str:
    return say_gain(low, high, sign=" times")


def _panel(paper: Paper, gain: GainBand) -> None:
    """Draw the fact to check first, with its command."""
    paper.box((_PANEL, 0, WIDTH, HEIGHT), "panel", radius=10)
    head, paragraphs = _fact(gain)
    paper.text((_PANEL + 28, 36), head, size=22, bold=True, align="left")
    _paragraphs(paper, (_PANEL + 28, 80 if gain.decisive else 76), paragraphs)


def _fact(gain: GainBand) -> tuple[str, list[tuple[float, str, bool]]]:
    """Return the heading of the fact to check first, and its paragraphs: room above, words, bold."""
    decisive = gain.decisive
    if decisive is None:
        return "Nothing to check first", [(0, "Nothing that is assumed moves the gain by 1 %.", False)]
    rows: list[tuple[float, str, bool]] = [
        (0, f"{decisive.figure.label}: {decisive.figure}", True),
        (14, where_to_find(decisive.figure), False),
    ]
    rows += [(14, f"As assumed: keep {_ends(case.low, case.high)}.", False) for case in gain.wired[:1]]
    rows += [
        (4, f"If {case.says}: expect {_ends(case.low, case.high)}.", False)
        for case in gain.wired[1 : 1 + _MOST_WIRINGS]
    ]
    return "Check this one fact first", rows


def _paragraphs(paper: Paper, at: tuple[float, float], told: Sequence[tuple[float, str, bool]]) -> None:
    """Write paragraphs (room above, words, bold) below each other, as large as all of them have room."""
    x, y = at
    for size in _SIZES:
        letters, pitch = _LETTERS * _SIZES[0] // size, 1.3 * size
        # Bold letters are wider.
        lines = [(above, _wrapped(words, letters - 5 * bold), bold) for above, words, bold in told]
        if y + sum(above + pitch * len(wrapped) for above, wrapped, _ in lines) < HEIGHT - 8:
            break
    for above, wrapped, bold in lines:
        y += above
        for line in wrapped:
            paper.text((x, y), line, size=size, bold=bold, align="left")
            y += pitch


def _wrapped(words: str, letters: float) -> list[str]:
    """Return lines of at most so many small letters; a capital is as wide as one and a half."""
    lines: list[str] = []
    for word in words.replace("`", "").split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and len(longer) + sum(map(str.isupper, longer)) / 2 <= letters:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
