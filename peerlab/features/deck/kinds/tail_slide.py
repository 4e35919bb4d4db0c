"""Slides on the slow end of many runs: what an exchange takes at p50, p90 and p99 on both ways, and who is late in the run at p99."""

from functools import lru_cache
from typing import Any

from peerlab.answer.lateness import lateness
from peerlab.base.feature import registered
from peerlab.base.units import MIB, TIMES_SIGN, say_count, say_time
from peerlab.features.deck.blocks import card, grid, paper_without_ground, paragraphs
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.kinds.late_field import late_field
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.paths import data_path
from peerlab.picture.late import in_words
from peerlab.picture.shown_nodes import unit
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
_NAMES = ("through the host", "Peer Direct")
"""Of both ways, in the order in which they are drawn: as on all slides."""
_WIDE, _HIGH, _LEFT, _ROOM, _THICK = 1144.0, 490.0, 190.0, 560.0, 50.0


def tails(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the percentiles of both ways, and the gain as the ratio of equal percentiles."""
    result = _result(compared)
    enough = [percentile for percentile in result.paths[0].percentiles if not percentile.missing]
    gains = [("without noise", result.quiet_gain)]
    gains += [(f"at {percentile.name}", result.gain(percentile.per_mille)) for percentile in enough]
    where, gain = gains[-1]
    slow = f": one run of {1000 / (1000 - enough[-1].per_mille):g} is slower" if enough else ""
    path = result.paths[0]
    noise = f"{path.scenario.noise.in_words}." + " Assumed; docs/model.md says why so much." * bool(
        result.assumed
    )
    return Slide(
        f"{gain:.2f}{TIMES_SIGN} as fast {where}{slow}",
        f"{say_count(len(path.times_ps), 'run')} of each way with noise; thin lines: from where to where a percentile may lie",
        grid(card(_chart(result, gains), 12)),
        notes=(repr(result), noise, *_missing(path.percentiles[:3]), _WHY),
        source=figures_said(compared, path.scenario.nbytes),
    )


_WHY = (
    "All wait for the slowest node, so the slow end is what a training sees. The same seed is other noise on the other way: "
    "percentiles are compared, not runs."
)


def _missing(percentiles: Any) -> list[str]:
    return [
        f"{percentile.name}: {percentile.missing:,} more runs are needed."
        for percentile in percentiles
        if percentile.missing
    ]


def at_p99(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Draw who is late in the run of Peer Direct at p99; where p99 has too few runs, in that at the last percentile that has enough."""
    path = _result(compared).paths[0]
    enough = [percentile for percentile in path.percentiles[:3] if not percentile.missing]
    name, per_mille = (enough[-1].name, enough[-1].per_mille) if enough else ("the slowest", _SLOWEST)
    run = compared.simulate(path.run_at(per_mille))
    delays = lateness(run, compared.simulate)
    title = f"In the run at {name} nobody is late"
    body = grid(card(paragraphs("It is as planned."), 12))
    if delays:
        node, step = delays.latest
        title = f"In the run at {name} {unit(run.scenario)} {node} is latest: {say_time(delays.most_ps)} in step {step + 1}"
        body = grid(card(late_field(delays, run), 12))
    return Slide(
        title,
        f"How late each {unit(run.scenario)} is while the run goes on, against the run without noise",
        body,
        notes=(*([in_words(run, delays)] if delays else []), *_missing(path.percentiles[2:3]), alt_text(run)),
        source=f"{figures_said(compared, run.scenario.nbytes)}; the run at {name} of {say_count(len(path.times_ps), 'run')} of Peer Direct",
    )


def _result(compared: ComparedRuns) -> Any:
    """Return the runs of both ways."""
    base = compared.direct.scenario
    return _tails(base.with_(message_bytes=min(base.nbytes, _MOST_BYTES)), str(compared.base.path), SEEDS)


@lru_cache(maxsize=4)
def _tails(scenario: Scenario, over: str, seeds: int | None) -> Any:
    """Return the runs of both ways; two slides show them, and they take a minute."""
    return registered("offers", "tails of a scenario")(scenario, over=over, seeds=seeds, progress=False)


def _chart(result: Any, gains: list[tuple[str, float]]) -> str:
    """Draw two bars for each percentile that has runs enough, from zero, with the ends of its interval, and the gain there."""
    paper, ways = Paper(palette(PAGE)), result.paths[::-1]
    rows = [_row(way) for way in ways]
    full = max(high for row in rows for _, _, high in row.values())
    pitch = _HIGH / len(rows[0])
    for place, (name, (_, gain)) in enumerate(zip(rows[0], gains, strict=True)):
        y = pitch * (place + 0.5)
        paper.text((0, y), name, size=20, bold=True, align="left")
        paper.text((_WIDE, y), f"{gain:.2f}{TIMES_SIGN}", size=28, bold=True, ink="good-ink", align="right")
        for number, (way, row) in enumerate(zip(ways, rows, strict=True)):
            record = data_path(str(way.scenario.path))
            low, value, high = (_ROOM * ps / full for ps in row[name])
            middle = y + (number - 0.5) * (_THICK + 6)
            paper.box((_LEFT, middle - _THICK / 2, _LEFT + value, middle + _THICK / 2), record.role, radius=3)
            paper.line([(_LEFT + low, middle), (_LEFT + high, middle)], f"{record.role}-ink", 3)
            label = say_time(row[name][1])
            paper.text((_LEFT + high + 12, middle), label, size=20, bold=True, align="left")
            if not place:  # each way is named once, behind its first bar
                x = _LEFT + high + 24 + 13 * len(label)
                paper.text((x, middle), _NAMES[number], size=18, ink=f"{record.role}-ink", align="left")
    alt = "; ".join(
        f"{way.title}: {', '.join(f'{name} {say_time(value)}' for name, (_, value, _) in row.items())}"
        for way, row in zip(ways, rows, strict=True)
    )
    return paper_without_ground(paper, _WIDE, _HIGH, f"One exchange. {alt}.")


def _row(way: Any) -> dict[str, tuple[int, int, int]]:
    """Return by name what a way takes: from where, as simulated, to where, picoseconds."""
    enough = {
        percentile.name: (percentile.low_ps, percentile.value_ps, percentile.high_ps)
        for percentile in way.percentiles[:3]
        if not percentile.missing
    }
    return {_QUIET: (way.quiet_ps,) * 3, **enough}
