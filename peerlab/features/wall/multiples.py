"""Small multiples: the same picture of many runs in one drawing, the fastest first: the wall chart of a review.

Each run has its data path unrolled, with carriages as close as its busiest resource on that stretch is busy, its time and bus
bandwidth, and a bar as long as that. Of many runs on one path, whose roads would all be alike, each has a bar in a list (`ranking`).
One scale holds for all.
"""

from collections.abc import Sequence
from textwrap import wrap

from peerlab.answer.run import Run
from peerlab.base.units import TIMES_SIGN, say_bytes, say_count, say_time, three_digits
from peerlab.features.wall.ranking import draw_ranking, leaders, ranking_height
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import Point
from peerlab.picture.road import Road, road
from peerlab.picture.road_slices import kinds_on, parts_of
from peerlab.picture.svg import Paper, key_spans
from peerlab.picture.theme import palettes
from peerlab.picture.words import waits_for
from peerlab.question.naming import told_apart

_FEW = 3
"""Of more runs than these on one path the roads are left out: they would all be alike."""
_WIDE, _ROAD = 1216.0, (420.0, 1150.0)
"""Of one picture, and from where to where the road lies in it: all begin and end at the same places, so that the eye goes down."""
_HIGH = 188.0
_GAP, _MARGIN, _HEAD, _FOOT = 12.0, 24.0, 84.0, 42.0
_TOP, _BASE, _BAR = 47.0, 103.0, 150.0
"""Heights of host memory, of devices and of the bar, which begins and ends where the road does."""
_CARRIAGE = 14.0
_NAME, _LONGEST_TITLE, _LONGEST_WAIT = 26, 64, 32
"""Letters of a name, of the title and of what a run waits for at their usual sizes; longer ones are written smaller."""
_SQUARE = 5
"""So many letters a square of the key takes, with the gaps around it."""
_LINE = 142
"""Letters of a line of the foot, which is then as wide as the pictures above it."""


def multiples_svg(runs: Sequence[Run], theme: str = "light", left_out: Sequence[str] = ()) -> str:
    """Return small multiples of some runs as SVG; at least one of them must take time. `left_out` cannot do what they do."""
    ordered = sorted(runs, key=lambda run: -run.busbw_GBps)
    width, height = size(ordered, left_out)
    paper = Paper(palettes()[theme])
    title = _title(ordered)
    # Smaller letters for a longer title, so that it keeps its one line.
    large = min(30, 30 * _LONGEST_TITLE / len(title))
    paper.text((_MARGIN, 30), title, size=large, bold=True, align="left")
    paper.text((_MARGIN, 60), _about(ordered), size=18, ink="muted", align="left")
    # One scale for all pictures: bars are compared across them.
    most = max(run.busbw_GBps for run in ordered)
    if is_list(ordered):
        draw_ranking(paper, ordered, [_name(run, ordered) for run in ordered], _HEAD)
    for number, run in enumerate([] if is_list(ordered) else ordered):
        y = _HEAD + number * (_HIGH + _GAP)
        paper.shapes.append(f"<g transform='translate({_MARGIN:g} {y:g})'>")
        _picture(paper, run, _name(run, ordered), most)
        paper.shapes.append("</g>")
    lines, key = _foot(ordered, left_out), [] if is_list(ordered) else _key(ordered)
    for above, line in enumerate(reversed(lines)):
        paper.text((_MARGIN, height - 20 - 22 * above), line, size=16, ink="muted", align="left")
    for above, entries in enumerate(reversed(key)):
        _draw_key(paper, entries, height - 20 - 22 * (len(lines) + above))
    return paper.svg(width, height, alt_text(ordered, left_out))


def _foot(runs: Sequence[Run], left_out: Sequence[str]) -> list[str]:
    """Return the lines below the pictures."""
    road_said = (
        ""
        if is_list(runs)
        else " The denser a stretch, the busier it is; orange outline: what a run mostly waits for; bar: bus bandwidth."
    )
    # A line ends between two names.
    whole = [name.replace(" ", "\u00a0") for name in left_out]
    return [
        *wrap(_say_left_out(whole), _LINE, break_on_hyphens=False),
        f"Simulated by peerlab.{road_said}",
    ]


def _key(runs: Sequence[Run]) -> list[list[tuple[str, str]]]:
    """Return what the colours of roads mean, in lines: roles, each with its words in short."""
    meanings: dict[str, list[str]] = {}
    for run in runs:
        for part in parts_of(run):
            kind = stage_kind(part.stage.name)
            says, known = (kind.legend or kind.says).partition(":")[0], meanings.setdefault(kind.role, [])
            if says not in known:
                known.append(says)
    lines: list[list[tuple[str, str]]] = [[]]
    for role, known in meanings.items():
        entry = (role, " or ".join(known))
        if sum(len(says) + _SQUARE for _, says in (*lines[-1], entry)) > _LINE:
            lines.append([])
        lines[-1].append(entry)
    return [line for line in lines if line]


def _draw_key(paper: Paper, entries: Sequence[tuple[str, str]], y: float) -> None:
    spans = key_spans([(f"fill='{paper.colour(role)}'", "\u25a0", says) for role, says in entries])
    paper.shapes.append(
        f"<text x='{_MARGIN:g}' y='{y + 16 * 0.36:.5g}' font-size='16' fill='{paper.colour('muted')}'>{spans}</text>"
    )


def size(runs: Sequence[Run], left_out: Sequence[str] = ()) -> tuple[float, float]:
    """Return width and height of the chart of some runs, CSS pixels."""
    high = ranking_height(len(runs)) if is_list(runs) else len(runs) * (_HIGH + _GAP)
    lines = len(_foot(runs, left_out)) + (0 if is_list(runs) else len(_key(runs)))
    return 2 * _MARGIN + _WIDE, _HEAD + high + _FOOT + 22 * (lines - 1)


def is_list(runs: Sequence[Run]) -> bool:
    """Return whether the runs stand in a list: many on one path, whose roads would all be alike."""
    return len(runs) > _FEW and len({run.scenario.path for run in runs}) == 1


def alt_text(runs: Sequence[Run], left_out: Sequence[str] = ()) -> str:
    """Return small multiples in words."""
    sentences = [
        f"{_name(run, runs)}: {run.busbw_GBps:.3g} GB/s in {say_time(run.time_ps)}, waits for {waits_for(run)}"
        for run in runs
    ]
    return f"{_about(runs)}. {'; '.join(sentences)}.{' ' if left_out else ''}{_say_left_out(left_out)}"


def _say_left_out(titles: Sequence[str]) -> str:
    # Between semicolons: some titles have commas.
    return f"Not shown, because they cannot do this: {'; '.join(titles)}." if titles else ""


def _name(run: Run, runs: Sequence[Run]) -> str:
    """Return what tells a run from the first of the others that differs."""
    # From the first that differs: what all have in common stands in the head.
    other = next(
        (other_run.scenario for other_run in runs if other_run.scenario != run.scenario), run.scenario
    )
    return told_apart([run.scenario, other])[0]


def _title(ordered: Sequence[Run]) -> str:
    best, last = ordered[0], ordered[-1]
    # A path of nothing has no ratio to it.
    if best is last or not last.busbw_GBps:
        return _name(best, ordered)
    fastest = leaders(ordered)
    if last in fastest:
        return f"All the same: {three_digits(best.busbw_GBps)} GB/s of bus bandwidth"
    name = _together([_name(run, ordered) for run in fastest])
    ratio = best.busbw_GBps / last.busbw_GBps
    if is_list(ordered):  # whose names stand below it in bold
        return f"{ratio:.3g}{TIMES_SIGN} between the fastest and the slowest of {len(ordered)} clusters"
    return (
        f"{name[:1].upper()}{name[1:]}: {ratio:.3g}{TIMES_SIGN} the bus bandwidth of {_name(last, ordered)}"
    )


def _together(names: Sequence[str]) -> str:
    """Return the names of the fastest: of three or more the first alone."""
    first, *others = names
    if len(others) < 2:
        return " and ".join(names)
    return f"{first} and {len(others)} others"


def _about(runs: Sequence[Run]) -> str:
    """Return what all have in common."""
    scenarios = [run.scenario for run in runs]
    kinds = (
        {scenario.collective_record.title for scenario in scenarios},
        {say_bytes(scenario.nbytes) for scenario in scenarios},
        {say_count(scenario.nodes, "node") for scenario in scenarios},
        {scenario.hardware.title for scenario in scenarios},
        {scenario.data_path.title for scenario in scenarios},
    )
    return ", ".join(kind.pop() for kind in kinds if len(kind) == 1)


def _picture(paper: Paper, run: Run, name: str, most: float) -> None:
    """Draw one run; a colour is what is done with a slice, so that a path's name has none."""
    paper.box((0, 0, _WIDE, _HIGH), "panel", radius=6)
    letters = min(22, 22 * _NAME / len(name))
    paper.text((24, 36), name, size=letters, bold=True, align="left")
    paper.text((24, 86), f"{three_digits(run.busbw_GBps)} GB/s", size=36, bold=True, align="left")
    paper.text((24, 124), say_time(run.time_ps), size=18, ink="muted", align="left")
    waits = waits_for(run)
    letters = min(18, 18 * _LONGEST_WAIT / len(waits))
    paper.text((24, 151), waits, size=letters, bold=True, ink="hot-ink", align="left")
    _draw_road(paper, run)
    left, right = _ROAD
    paper.box((left, _BAR, right, _BAR + 14), "box", "faint", radius=3)
    paper.box((left, _BAR, left + (right - left) * run.busbw_GBps / most, _BAR + 14), "muted", radius=3)


def _draw_road(paper: Paper, run: Run) -> None:
    route, limit = road(run), run.bottleneck.kind if run.bottleneck else ""
    kinds = [kinds_on(part) for part in parts_of(run)]
    # Below all roads, so that none is crossed by the frame of another one; between frame and road is the panel's ground.
    framed = [
        stretch["points"] for stretch, on_it in zip(route["stretches"], kinds, strict=True) if limit in on_it
    ]
    for ground, width in (("hot", 22), ("panel", 17)):
        for points in framed:
            paper.line([_at(x, level) for x, level in points], ground, width, rounded=True)
    for stretch, on_it in zip(route["stretches"], kinds, strict=True):
        way, busy = [_at(x, level) for x, level in stretch["points"]], _busy(run, on_it)
        paper.line(way, "faint", width=11)
        if busy >= 0.01:  # a carriage and the gap behind it
            # At least 1.5 px of a carriage, so that a stretch that is hardly used is seen.
            full = max(1.5, (_CARRIAGE - 1.5) * busy)
            paper.line(way, stretch["role"], width=7, dash=f"{full:.3g} {_CARRIAGE - full:.3g}")
    for x in route["spared"]:
        at = _at(x, 1)
        paper.shapes.append(
            f"<rect x='{at[0] - 72:g}' y='{at[1] - 15:g}' width='144' height='30' rx='4' fill='none'"
            f" stroke='{paper.colour('edge')}' stroke-dasharray='4 3'/>"
        )
        paper.text(at, "host memory", size=18, ink="muted")
    _draw_stops(paper, route)


def _draw_stops(paper: Paper, route: Road) -> None:
    named = set[tuple[str, bool]]()
    for stop in route["stops"]:
        x, y = _at(stop["x"], stop["level"])
        if stop["name"]:
            colour = paper.colour("hot" if stop["hot"] else "ink")
            paper.shapes.append(
                f"<circle cx='{x:.5g}' cy='{y:g}' r='6' fill='{paper.colour('box')}' stroke='{colour}' stroke-width='2'/>"
            )
        key = (stop["name"], stop["x"] < 0.5)
        if stop["level"] and key not in named:
            # One word for both stops of a hill, above its middle.
            hill = [other["x"] for other in route["stops"] if other["level"] and (other["x"] < 0.5) == key[1]]
            paper.text((_at(sum(hill) / len(hill), 1)[0], y - 24), stop["name"], size=18, bold=True)
        elif not stop["level"]:
            paper.text((x, y + 24), stop["name"], size=18, bold=True)
        named.add(key)


def _busy(run: Run, kinds: Sequence[str]) -> float:
    """Return the busy share of the busiest of some kinds of resources, without what others do on it."""
    return max((run.busy.get(kind, 0.0) for kind in kinds), default=0.0)


def _at(x: float, level: float) -> Point:
    left, right = _ROAD
    return left + x * (right - left), _TOP if level else _BASE
