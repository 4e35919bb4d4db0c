"""Slides on the slow end of many runs: what an exchange takes at p50, p90 and p99 on both ways, and the run at p99, played."""

from functools import lru_cache
from typing import Any

from peerlab.answer.lateness import lateness
from peerlab.base.feature import registered
from peerlab.base.units import MIB, say_bytes, say_count, say_time
from peerlab.features.deck.blocks import TIMES, card, facts, grid, paper_without_ground, paragraphs, words
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.paths import data_path
from peerlab.page.embedded import page_of
from peerlab.picture.late import in_words
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette
from peerlab.picture.words import alt_text
from peerlab.question.scenario import Scenario

SEEDS: int | None = None
"""Runs of each way; None: as many as take about a minute, which says how many p99 lacks: a thousand may take ten."""
_MOST_BYTES = 4 * MIB
"""Of a larger message so many runs take minutes; the slide says which size it is about."""
_QUIET = "without noise"
_SLOWEST = 1000
"""Per mille of the slowest run."""
_LATE = 0.7
"""Of the run at p99: the moment that is printed, when a delay has reached many."""
_WIDE, _LEFT, _ROOM, _TOP, _PITCH, _THICK = 740.0, 150.0, 470.0, 44.0, 102.0, 36.0


def tails(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the percentiles of both ways, and the gain as the ratio of equal percentiles."""
    result = _result(compared)
    enough = [percentile for percentile in result.paths[0].percentiles if not percentile.missing]
    gains = [("without noise", result.quiet_gain)]
    gains += [(f"at {percentile.name}", result.gain(percentile.per_mille)) for percentile in enough]
    where, gain = gains[-1]
    slow = f": {1000 - enough[-1].per_mille} of 1,000 runs are slower" if enough else ""
    about = f"How long an exchange of {say_bytes(result.paths[0].scenario.nbytes)} takes where nodes and services are not always alike"
    return Slide(
        f"{gain:.2f}{TIMES} as fast {where}{slow}",
        about,
        grid(*_cards(result, gains)),
        notes=(repr(result),),
        source=figures_said(compared),
    )


def at_p99(outline: Outline, compared: ComparedRuns) -> Slide:
    """Play the run of Peer Direct at p99 with who is late in it; where p99 has too few runs, that at the last percentile that has enough."""
    path = _result(compared).paths[0]
    enough = [percentile for percentile in path.percentiles[:3] if not percentile.missing]
    name, per_mille = (enough[-1].name, enough[-1].per_mille) if enough else ("the slowest", _SLOWEST)
    run = compared.simulate(path.run_at(per_mille))
    found = lateness(run, compared.simulate)
    late = (in_words(run, found),) if found else ()
    missing = [f"p99: {one.missing:,} more runs are needed." for one in path.percentiles[2:3] if one.missing]
    return Slide(
        f"The run at {name} of {say_count(len(path.times_ps), 'run')}: who is late, and how it spreads",
        live=page_of("run", run, mode="figure", controls={}, theme=outline.theme),
        titled=True,
        still=_LATE,
        notes=(
            *late,
            *missing,
            "Play it: the orange ring shows how late each node is at that moment.",
            alt_text(run),
        ),
        source=figures_said(compared),
    )


def _result(compared: ComparedRuns) -> Any:
    """Return the runs of both ways."""
    base = compared.direct.scenario
    return _tails(base.with_(message_bytes=min(base.nbytes, _MOST_BYTES)), str(compared.base.path), SEEDS)


@lru_cache(maxsize=4)
def _tails(scenario: Scenario, over: str, seeds: int | None) -> Any:
    """Return the runs of both ways; two slides show them, and they take a minute."""
    return registered("offers", "tails of a scenario")(scenario, over=over, seeds=seeds, progress=False)


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
