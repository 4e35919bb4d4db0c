"""A gain as a notebook shows it: its range, a bar for each way that things may be, and the fact to check first."""

from collections.abc import Iterator
from html import escape

from peerlab.answer.gain import GainBand, GainCase
from peerlab.base.units import say_gain, with_signs
from peerlab.base.words_html import words_html
from peerlab.model.guide import where_to_find
from peerlab.page.frame import framed
from peerlab.picture.gain_ticks import gain_ticks
from peerlab.picture.how_sure import axis_ends
from peerlab.picture.scale import logarithmic

_LEAST_PX = 300
"""Of the axis, in a narrow notebook: so many of its gains have room for their names."""


def gain_html(gain: GainBand) -> str:
    """Return the gain's range as the answer, what it may be otherwise as bars on one axis, and what it rests on, folded."""
    condition = f" if {gain.wired[0].says}" if gain.wired else ""
    answer = f"<p class='pl-answer'><b>{say_gain(gain.low, gain.high)} as fast</b>{escape(condition)}</p>"
    rests = "".join(
        f"<li>{words_html(with_signs(words))}</li>" for words in gain.range_in_words().split("; ")
    )
    folded = f"<details><summary>What the range rests on</summary><ul>{rests}</ul></details>"
    return framed("gain", "How sure is the gain?", answer + _chart(gain) + _first(gain) + folded)


def _chart(gain: GainBand) -> str:
    """Return a row for each way that things may be: words, range, bar; a ring is the gain with all as assumed."""
    low, high = axis_ends(gain)
    at = logarithmic((low, high), (0, 100))
    gains = gain_ticks(low, high, lambda gain: at(gain) * _LEAST_PX / 100)
    grid = "".join(
        f"<i class='{'pl-one' if tick == 1 else 'pl-grid'}' style='left:{at(tick):.4g}%'></i>"
        for tick in gains
    )
    bars = "".join(
        _row(
            words,
            say_gain(case.low, case.high),
            grid,
            at(1.0),
            [*map(at, (case.low, case.gain, case.high))],
        )
        for words, case in _rows(gain)
    )
    ticks = "".join(
        f"<{'b' if tick == 1 else 'span'} style='left:{at(tick):.4g}%'>{tick:g}&times;</{'b' if tick == 1 else 'span'}>"
        for tick in gains
    )
    slower = "<span><i class='pl-slower'></i> slower</span>" if "pl-slower" in bars else ""
    key = f"<p class='pl-quiet'><span><i class='pl-ring'></i> as simulated</span><span><i class='pl-direct'></i> range</span>{slower}</p>"
    return f"<div class='pl-bars'>{bars}<p class='pl-ticks'>{ticks}</p>{key}</div>"


def _rows(gain: GainBand) -> Iterator[tuple[str, GainCase]]:
    """Yield what holds, and the gain then: the band first, then the part of it that is the machine's, then what stands beside it."""
    yield "As assumed", GainCase("", gain.value, (gain.low, gain.high))
    if gain.topology:
        yield "As assumed, and the library known exactly", GainCase("", gain.value, gain.topology)
    for case in (*gain.wired[1:], *([gain.old_library] if gain.old_library else ())):
        yield f"If {case.says}", case


def _row(words: str, gain: str, grid: str, today: float, places: list[float]) -> str:
    """Return a row of the chart; what is slower than today is grey, as orange warns."""
    low, value, high = places
    slower = (
        f"<i class='pl-slower' style='left:{low:.4g}%;width:{min(today, high) - low:.4g}%'></i>"
        if low < today
        else ""
    )
    bar = f"<i class='pl-direct' style='left:{low:.4g}%;width:{high - low:.4g}%'></i>{slower}"
    marks = f"{grid}{bar}<i class='pl-ring' style='left:{value:.4g}%'></i>"
    return f"<p>{escape(words)}</p><p><b>{gain}</b></p><p class='pl-span'>{marks}</p>"


def _first(gain: GainBand) -> str:
    """Return the fact to check first, with its command."""
    if gain.decisive is None:
        return "<p>Nothing that is assumed moves the gain by 1 %.</p>"
    figure, folded = gain.decisive.figure, gain.range_in_words()
    how = where_to_find(figure)
    how = _in_short(how) if how in folded else how
    return f"<h4>Check this fact first: {escape(figure.label)}</h4><p>{words_html(how)}</p>"


def _in_short(sentence: str) -> str:
    """Return how to find a fact out without what it says in parentheses at its end, which what is folded says."""
    how, _, more = sentence.partition(" (")
    return how if more.endswith(")") and "(" not in more else sentence
