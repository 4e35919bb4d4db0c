"""The map of choices as a picture: colour is what the library takes, a dot what would be faster."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

from peerlab.base.units import say_bytes, say_time
from peerlab.features.choices.choice_map import ChoiceMap, MapCell
from peerlab.picture.svg import key_spans

_LEFT, _TOP, _WIDE, _HIGH = 38, 8, 38, 32
_LEAST, _LEAST_SLIM = 720, 440
"""So wide is the picture at least: the key below it; on a narrow page that has two lines."""
_SLIM = 13
"""Sizes on a narrow page, at most: of more every other one is left out."""
_BELOW = 66
"""Room for sizes and legend."""
_ROLES = ("network", "copy", "cpu")
"""Roles of colours, in the order in which algorithms first appear on the map. Green is none: everywhere else it is Peer Direct."""
_THICK = {"LL": 0.35, "Simple": 0.46, "LL128": 0.58}
"""How much of an algorithm's colour a protocol has: the least is 1.3 to 1 from a white page, and on the most in the dark words are 4.5 to 1."""
_KEY = 124
"""Where both lines of the legend begin, right of what they are about."""
_LABELLED = 6
"""Cells from which on a region has its name in it."""


def choice_html(choice_map: ChoiceMap) -> str:
    """Return the map; of many sizes for a wide page and for a narrow one, of which the page shows one."""
    if len(choice_map.sizes) <= _SLIM:
        return choice_svg(choice_map)
    # Counted from the end: the largest size stays.
    sizes = set(choice_map.sizes[::-2])
    fewer = replace(choice_map, cells=tuple(cell for cell in choice_map.cells if cell.size in sizes))
    return choice_svg(choice_map, kind="broad") + choice_svg(fewer, kind="slim", whole=choice_map)


def choice_svg(choice_map: ChoiceMap, *, kind: str = "", whole: ChoiceMap | None = None) -> str:
    """Return the map as SVG in the colours of the page around it; hovering a cell says its times.

    `kind` is ``broad`` or ``slim`` where there are two; `whole`: that of all sizes, whose colours and headline it has.
    """
    slim, classes = kind != "broad", f"pl-map pl-{kind}".removesuffix(" pl-")
    # Rows grow upwards, as on the axis of a chart.
    rows, columns = choice_map.nodes[::-1], choice_map.sizes
    places = {(nodes, size): (x, y) for y, nodes in enumerate(rows) for x, size in enumerate(columns)}
    roles = algorithm_roles(whole or choice_map)
    cells = {(cell.nodes, cell.size): cell for cell in choice_map.cells}
    parts = [_square(cell, *places[key], roles) for key, cell in cells.items()]
    # Above the squares, whose paper-coloured edges would cover them.
    parts += _borders(cells, rows, columns)
    names = _names(cells, places)
    parts += names.values()
    # Last, so that no name lies on a dot.
    parts += [_dot(cell, *places[key], roles) for key, cell in cells.items() if cell.faster]
    parts += _axes(rows, columns)
    unnamed = [taken for taken in dict.fromkeys(map(_taken, choice_map.cells)) if taken not in names]
    under = _TOP + len(rows) * _HIGH + 24 * slim
    parts += _legend(roles, _TOP + len(rows) * _HIGH + 52, slim=slim)
    parts += _small_regions(unnamed, roles, under + 76)
    wide, high = _LEFT + len(columns) * _WIDE + 12, under + _BELOW + 24 * bool(unnamed)
    wide = max(wide, _LEAST_SLIM if slim else _LEAST)
    return (
        f"<svg class='{classes}' viewBox='0 0 {wide} {high}' width='{wide}' role='img' "
        f"aria-label='{escape((whole or choice_map).headline, quote=True)}' font-size='12' fill='var(--pl-ink)' style='max-width:100%;height:auto'>{''.join(parts)}</svg>"
    )


def algorithm_roles(choice_map: ChoiceMap) -> dict[str, str]:
    """Return the role of each algorithm's colour: those taken first, then those that would be faster."""
    names = [cell.algorithm for cell in choice_map.cells] + [
        cell.faster[0] for cell in choice_map.cells if cell.faster
    ]
    # NCCL's law has three algorithms, as many as there are roles here.
    return dict(zip(dict.fromkeys(names), _ROLES, strict=False))


def _corner(x: int, y: int) -> tuple[int, int]:
    return _LEFT + x * _WIDE, _TOP + y * _HIGH


def _square(cell: MapCell, x: int, y: int, roles: dict[str, str]) -> str:
    left, top = _corner(x, y)
    return (
        f"<rect x='{left}' y='{top}' width='{_WIDE}' height='{_HIGH}' fill='var(--pl-{roles[cell.algorithm]})' "
        f"fill-opacity='{_thick(cell.protocol)}' stroke='var(--pl-paper)'><title>{escape(say_cell(cell))}</title></rect>"
    )


def say_cell(cell: MapCell) -> str:
    """Return a cell in words."""
    taken = f"{cell.nodes} nodes, {say_bytes(cell.size)}: {cell.algorithm}, {cell.protocol} takes {say_time(round(cell.time_s * 1e12))}"
    if not cell.faster:
        return taken
    sure = "beyond" if cell.beyond_error else "within"
    return (
        f"{taken}; {', '.join(cell.faster)} would be {cell.gain:.2f} times as fast, {sure} the model's error"
    )


def _thick(protocol: str) -> float:
    return _THICK.get(protocol, _THICK["Simple"])


def _dot(cell: MapCell, x: int, y: int, roles: dict[str, str]) -> str:
    # A cell in which nothing is faster has no dot, and no role for one.
    left, top = _corner(x, y)
    role = roles[cell.faster[0]] if cell.faster else "muted"
    fill = f"var(--pl-{role}-ink)" if cell.beyond_error else "var(--pl-paper)"
    weight = 700 if cell.beyond_error else 400
    place = f"cx='{left + _WIDE / 2}' cy='{top + 9}'"
    return (
        # Paper round the ring: on a cell of some hue its own would be pale.
        f"<g pointer-events='none'><circle {place} r='6.5' fill='var(--pl-paper)'/>"
        f"<circle {place} r='4.5' fill='{fill}' stroke='var(--pl-{role}-ink)' stroke-width='2'/>"
        f"<text x='{left + _WIDE / 2}' y='{top + 28}' text-anchor='middle' font-size='14' font-weight='{weight}'>{100 * (cell.gain - 1):.0f}</text></g>"
    )


def _borders(cells: dict[tuple[int, int], MapCell], rows: list[int], columns: list[int]) -> list[str]:
    """Return lines between cells that differ in what is taken."""
    steps = []
    for y, nodes in enumerate(rows):
        for x, (size, larger) in enumerate(pairwise(columns)):
            if _taken(cells[nodes, size]) != _taken(cells[nodes, larger]):
                left, top = _corner(x + 1, y)
                steps.append(f"M{left} {top}v{_HIGH}")
    for y, (nodes, fewer) in enumerate(pairwise(rows)):
        for x, size in enumerate(columns):
            if _taken(cells[nodes, size]) != _taken(cells[fewer, size]):
                left, top = _corner(x, y + 1)
                steps.append(f"M{left} {top}h{_WIDE}")
    return [
        f"<path d='{''.join(steps)}' fill='none' stroke='var(--pl-ink)' stroke-width='1.5' stroke-linecap='square'/>"
    ]


def _taken(cell: MapCell) -> tuple[str, str]:
    return cell.algorithm, cell.protocol


def _names(
    cells: dict[tuple[int, int], MapCell],
    places: dict[tuple[int, int], tuple[int, int]],
) -> dict[tuple[str, str], str]:
    """Return the name of each region that has room for it, in its row with most cells in a line that have no dot."""
    many = Counter(_taken(cell) for cell in cells.values())
    names = {}
    for taken, count in many.items():
        runs = _free_runs(cells, places, taken)
        if count < _LABELLED or not runs:
            continue
        # The longest run has most room for a name.
        length, x, y = max(runs)
        words = ", ".join(taken)
        # A name wider than its run would lie on another region.
        if length * _WIDE < 7.5 * len(words):
            continue
        left, top = _corner(x, y)
        names[taken] = (
            f"<text x='{left + length * _WIDE / 2}' y='{top + 21}' text-anchor='middle' font-size='13' font-weight='650' "
            f"pointer-events='none'>{escape(words)}</text>"
        )
    return names


def _free_runs(
    cells: dict[tuple[int, int], MapCell],
    places: dict[tuple[int, int], tuple[int, int]],
    taken: tuple[str, str],
) -> list[tuple[int, int, int]]:
    """Return length, column and row of cells in a line that take this and have no dot."""
    free = {places[key] for key, cell in cells.items() if _taken(cell) == taken and not cell.faster}
    runs = []
    # Only where a run begins: each is found once.
    for x, y in free:
        if (x - 1, y) not in free:
            length = 1
            while (x + length, y) in free:
                length += 1
            runs.append((length, x, y))
    return runs


def _axes(rows: list[int], columns: list[int]) -> list[str]:
    under = _TOP + len(rows) * _HIGH + 16
    # Every second or third size: their words are wider than a column.
    step = 3 if len(columns) > 12 else 2
    sizes = [
        f"<text x='{_corner(x, 0)[0] + _WIDE / 2}' y='{under}' text-anchor='middle' fill='var(--pl-muted)'>{say_bytes(size)}</text>"
        for x, size in enumerate(columns)
        if x % step == 0
    ]
    nodes = [
        f"<text x='{_LEFT - 8}' y='{_corner(0, y)[1] + 21}' text-anchor='end' fill='var(--pl-muted)'>{count}</text>"
        for y, count in enumerate(rows)
    ]
    return [*sizes, *nodes]


def _legend(roles: dict[str, str], y: int, *, slim: bool) -> list[str]:
    algorithms = [
        (f"fill='var(--pl-{role}-ink)' stroke='var(--pl-{role}-ink)' stroke-width='2'", "●", algorithm)
        for algorithm, role in roles.items()
    ]
    errors = [
        (f"fill='var(--pl-{fill})' stroke='var(--pl-ink)' stroke-width='2'", "●", f"{words} the model's error")
        for words, fill in (("beyond", "ink"), ("within", "paper"))
    ]  # fmt: skip
    named = f"<text x='0' y='{y}' fill='var(--pl-muted)'>would be faster, %:</text>"
    if slim:  # a line of its own
        return [named, _key(algorithms, y), _key(errors, y + 24)]
    return [named, _key(algorithms + errors, y)]


def _key(entries: Sequence[tuple[str, str, str]], y: int) -> str:
    return f"<text x='{_KEY}' y='{y}'>{key_spans(entries)}</text>"


def _small_regions(unnamed: list[tuple[str, str]], roles: dict[str, str], y: int) -> list[str]:
    """Return what is taken where a region has no room for its name."""
    if not unnamed:
        return []
    entries = [
        (
            f"fill='var(--pl-{roles[algorithm]})' fill-opacity='{_thick(protocol)}' font-size='15'",
            "■",
            f"{algorithm}, {protocol}",
        )
        for algorithm, protocol in unnamed
    ]
    return [f"<text x='0' y='{y}' fill='var(--pl-muted)'>also taken:</text>", _key(entries, y)]
