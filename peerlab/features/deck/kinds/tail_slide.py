"""The slide on the slow end of many runs: what an exchange takes at p50, p90 and p99 on both ways, and the gain there."""

from typing import Any

from peerlab.base.feature import registered
from peerlab.base.units import MIB, say_bytes, say_count, say_time
from peerlab.features.deck.blocks import TIMES, card, facts, grid, paper_without_ground, paragraphs, words
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.paths import data_path
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette

SEEDS: int | None = None
"""Runs of each way; None: as many as take about a minute, which says how many p99 lacks: a thousand may take ten."""
_MOST_BYTES = 4 * MIB
"""Of a larger message so many runs take minutes; the slide says which size it is about."""
_QUIET = "without noise"
_WIDE, _LEFT, _ROOM, _TOP, _PITCH, _THICK = 740.0, 150.0, 470.0, 44.0, 102.0, 36.0


def tails(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the percentiles of both ways, and the gain as the ratio of equal percentiles."""
    options = {"over": str(compared.base.path), "seeds": SEEDS, "progress": False}
    base = compared.direct.scenario
    base = base.with_(message_bytes=min(base.nbytes, _MOST_BYTES))
    result = registered("offers", "tails of a scenario")(base, **options)
    enough = [percentile for percentile in result.paths[0].percentiles if not percentile.missing]
    gains = [("without noise", result.quiet_gain)]
    gains += [(f"at {percentile.name}", result.gain(percentile.per_mille)) for percentile in enough]
    where, gain = gains[-1]
    slow = f": {1000 - enough[-1].per_mille} of 1,000 runs are slower" if enough else ""
    about = f"How long an exchange of {say_bytes(base.nbytes)} takes where nodes and services are not always alike"
    return Slide(
        f"{gain:.2f}{TIMES} as fast {where}{slow}",
        about,
        grid(*_cards(result, gains)),
        notes=(repr(result),),
        source=figures_said(compared),
    )


def _cards(result: Any, gains: list[tuple[str, float]]) -> tuple[str, ...]:
    """Return the chart, the gain at each percentile, and what stands behind both."""
    path, (where, gain) = result.paths[0], gains[-1]
    runs = say_count(len(path.times_ps), "run")
    missing = (
        f"{percentile.name}: {percentile.missing:,} more runs are needed."
        for percentile in path.percentiles[:3]
        if percentile.missing
    )
    noise = f"{path.scenario.noise.in_words}."
    if result.assumed:
        noise += " Assumed; docs/model.md says why so much."
    why = (
        "All wait for the slowest node, so the slow end is what a training sees. The same seed is other noise on the other way: "
        "percentiles are compared, not runs."
    )
    rows = facts(*((name, f"{ratio:.2f}{TIMES}") for name, ratio in gains[:-1]))
    large = f"<p class='large'>{words(f'{gain:.2f}{TIMES}')}</p><p>{words(f'as fast {where}')}</p>"
    return (
        card(_chart(result), 8, title=f"One exchange, {runs} of each way", high="three-rows"),
        card(large + rows, 4, high="good"),
        card(paragraphs(noise, *missing), 4, title="What makes runs differ", tone="edge"),
        card(paragraphs(why), 4, title="Why not the mean", tone="edge"),
    )


def _chart(result: Any) -> str:
    """Draw two bars for each percentile that has runs enough, from zero, with the ends of its interval."""
    paper, ways, x = Paper(palette(PAGE)), result.paths[::-1], 0.0
    rows = [_row(way) for way in ways]
    for way in ways:
        role = data_path(str(way.scenario.path)).role
        paper.box((x, 4, x + 16, 20), role, radius=3)
        paper.text((x + 24, 12), way.title, size=17, bold=True, ink=f"{role}-ink", align="left")
        x += 60 + 11.5 * len(way.title)
    full = max(high for row in rows for _, _, high in row.values())
    for place, name in enumerate(rows[0]):
        y = _TOP + _PITCH * place
        paper.text((0, y + _THICK), name, size=18, bold=True, align="left")
        for number, (way, row) in enumerate(zip(ways, rows, strict=True)):
            role, top = data_path(str(way.scenario.path)).role, y + number * (_THICK + 4)
            low, value, high = (_ROOM * ps / full for ps in row[name])
            middle = top + _THICK / 2
            paper.box((_LEFT, top, _LEFT + value, top + _THICK), role, radius=3)
            paper.line([(_LEFT + low, middle), (_LEFT + high, middle)], f"{role}-ink", 3)
            paper.text((_LEFT + high + 10, middle), say_time(row[name][1]), size=17, bold=True, align="left")
    alt = "; ".join(
        f"{way.title}: {', '.join(f'{name} {say_time(value)}' for name, (_, value, _) in row.items())}"
        for way, row in zip(ways, rows, strict=True)
    )
    return paper_without_ground(paper, _WIDE, _TOP + _PITCH * len(rows[0]), f"One exchange. {alt}.")


def _row(way: Any) -> dict[str, tuple[int, int, int]]:
    """Return by name what a way takes: from where, as simulated, to where, picoseconds."""
    enough = {
        percentile.name: (percentile.low_ps, percentile.value_ps, percentile.high_ps)
        for percentile in way.percentiles[:3]
        if not percentile.missing
    }
    return {_QUIET: (way.quiet_ps,) * 3, **enough}
