"""Who is late, and from when on: nodes as rows, steps as columns, the darker the later and those to blame in orange; of a single step a bar for each node."""

from collections.abc import Iterable
from html import escape

from peerlab.answer.lateness import how_it_spreads, source
from peerlab.base.units import say_time
from peerlab.features.blame.blaming import Blame

_SHADES = 5
"""Shades of the key."""
_FEW = 16
"""The most rows of full height."""
FOLDED = 3
"""So many rows of nothing, or more, are one."""
_LABELS = {"pl-all-steps": 14, "pl-some-steps": 7}
"""The most figures of steps, where a chart is broad and where it is slim."""
_APART = 32
"""The most steps whose cells have gaps."""


def late_chart(blame: Blame) -> str:
    """Return the chart as HTML; empty where nobody knows who was late in which step, or nobody was."""
    late = blame.late_ps
    if not late or not late[0] or max(map(max, late)) <= 0:
        return ""
    begins = source(late, blame.scenario)
    culprits = (begins[0],) if begins and begins[0] in blame.named else blame.named
    single = len(late[0]) == 1
    title = "How late each node is" + ("" if single else " in each step")
    if single:
        lines = _bars([row[0] for row in late], culprits, begins[0] if begins else None)
    else:
        lines = _cells(late, culprits, begins)
    return chart("pl-late", title, in_words(blame), lines, len(late))


def chart(kind: str, title: str, says: str, lines: str, rows: int) -> str:
    """Return a chart of lines below its title; `says` is what it shows, in words, and of many rows each is lower."""
    low = " pl-many" if rows > _FEW else ""
    return (
        f"<div class='pl-chart {kind}{low}' role='img' aria-label='{escape(f'{title}. {says}', quote=True)}'>"
        f"<strong>{title}</strong><div class='pl-lines'>{lines}</div></div>"
    )


def line(name: str, middle: str, amount: str = "", kind: str = "") -> str:
    """Return a line: a name, what is drawn beside it, and its figure."""
    figure = f"<span class='pl-amount'>{amount}</span>"
    return f"<div class='pl-line {kind}'><span class='pl-node'>{name}</span>{middle}{figure}</div>"


def bars(rows: list[tuple[str, float, str, str]]) -> str:
    """Return lines, each with a name, a bar of so large a part, a figure, and its kind; those of nothing have a line for all of them, too, which stands there in their place unless they have room."""
    nothing = [not share for _, share, _, _ in rows]
    shown, rest = without_nothing(nothing)
    lines = []
    for place, (name, share, amount, kind) in enumerate(rows):
        drawn = f"<i style='width:{100 * share:.3g}%'></i>" if share else ""
        each = "" if place in shown else " pl-each"
        lines.append(line(name, f"<span class='pl-extent'>{drawn}</span>", amount, kind + each))
    if rest:
        figure = rows[nothing.index(True)][2]
        lines.append(line(f"{rest} others", "<span class='pl-extent'></span>", figure, "pl-others"))
    return "".join(lines)


def in_words(blame: Blame) -> str:
    """Return in words what the picture shows."""
    return how_it_spreads(blame.late_ps, blame.scenario)


def without_nothing(nothing: Iterable[bool]) -> tuple[list[int], int]:
    """Return which rows are shown, of those that say nothing or something, and how many are folded into one at their end.

    >>> without_nothing([True, False, True, True]), without_nothing([True, False, True])
    (([1], 3), ([0, 1, 2], 0))
    """
    empty = list(nothing)
    if sum(empty) < FOLDED or all(empty):
        return list(range(len(empty))), 0
    return [place for place, folded in enumerate(empty) if not folded], sum(empty)


def _bars(late: list[int], culprits: tuple[int, ...], begins: int | None) -> str:
    """Return how late each node is where there is one step: a bar each, grey unless it begins there, and its time."""
    most = max(late)
    rows = []
    for node, late_ps in enumerate(late):
        ps = max(0, late_ps)
        first = node == begins if begins is not None else node in culprits
        rows.append((f"node {node}", ps / most, say_time(ps), "pl-named" if first else ""))
    follow = any(ps > 0 for node, ps in enumerate(late) if node != begins)
    keys = [("pl-named", "it begins here"), *([("", "late because of that")] if follow else [])]
    words = "".join(f"<span class='pl-key-of {kind}'><i></i>{text}</span>" for kind, text in keys)
    return bars(rows) + (line("", f"<span class='pl-key-row'>{words}</span>") if begins is not None else "")


def _cells(
    late: tuple[tuple[int, ...], ...], culprits: tuple[int, ...], begins: tuple[int, int] | None
) -> str:
    """Return a line for each node, of a cell for each step, with the steps' numbers and a key below them."""
    most, steps = max(map(max, late)), len(late[0])
    lines = []
    for node, row in enumerate(late):
        cells = ""
        for step, ps in enumerate(row):
            first = " class='pl-begins'" if (node, step) == begins else ""
            cells += f"<i{first} style='--late:{100 * max(0, ps) / most:.0f}%'></i>"
        apart = " pl-apart" if steps <= _APART else ""
        named = "pl-named" if node in culprits else ""
        lines.append(line(f"node {node}", f"<span class='pl-cells{apart}'>{cells}</span>", kind=named))
    lines += [line("step", _numbers(steps, room), kind=f"pl-foot {kind}") for kind, room in _LABELS.items()]
    shades = "".join(f"<i style='--late:{100 * shade / (_SHADES - 1):g}%'></i>" for shade in range(_SHADES))
    outlined = "<span class='pl-key-of'><i class='pl-begins'></i>where it begins</span>" if begins else ""
    scale = (
        f"<span class='pl-key-of'>on time<span class='pl-cells'>{shades}</span>{say_time(most)} late</span>"
    )
    return "".join([*lines, line("", f"<span class='pl-key-row'>{scale}{outlined}</span>", kind="pl-foot")])


def _numbers(steps: int, most: int) -> str:
    """Return the numbers of steps below their cells: the first, the last, and as many between as have room and are evenly apart."""
    widest = min(most, steps) - 1
    gaps = min(range(widest, min(widest, most // 3) - 1, -1), key=lambda number: (steps - 1) % number)
    places = [round(gap * (steps - 1) / gaps) for gap in range(gaps + 1)]
    numbers = "".join(
        f"<span style='left:{100 * (place + 0.5) / steps:.4g}%'>{place + 1}</span>" for place in places
    )
    return f"<span class='pl-numbers'>{numbers}</span>"
