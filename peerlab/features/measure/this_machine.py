"""A measurement of this machine as the third figure of curves: ratios to `staged`, never GB/s beside another machine's."""

from collections.abc import Sequence
from html import escape

from peerlab.base.units import PS_PER_S, say_bytes, say_time
from peerlab.records.judge import Comparison

ABOUT = (
    "Processes on this machine add up float32 through memory that they share: no NIC, no PCIe, no wire. "
    "What is real is how the ways compare, so only ratios are drawn."
)
_EMPTY = "A real AllReduce between processes here: what do the bounce buffer, TCP and registering cost? Some ten seconds, longer on a busy machine."
_LEGEND = "◇ median, quartiles; grey: noise (staged against itself, A/A)"
_WAYS = {
    ("tcp", "none"): ("TCP, no bounce", "cpu", "cpu-ink"),
    ("staged-pageable", "none"): ("pageable bounce", "cpu", "cpu-ink"),
    ("staged-shm", "none"): ("bounce, no TCP", "network", "network-ink"),
    ("direct", "none"): ("direct, unpinned", "edge", "muted"),
    ("direct", "per-transfer"): ("direct, no cache", "register", "register-ink"),
    ("direct", "lru"): ("direct, cache", "direct", "direct-ink"),
}
"""Name, role and ink of what is drawn, by arm and registration."""
_SMALL_CACHE = 8
"""Regions below which a cache cannot hold what a ring of a few ranks needs."""


def here(
    comparisons: Sequence[Comparison],
    text: str = "",
    *,
    busy: bool = False,
    about: str = ABOUT,
    other_machine: str = "",
) -> dict[str, object]:
    """Return what the page needs to show what was measured here, for the most ranks for which there is a curve.

    `other_machine` names the machine, if what is shown was not measured here.
    """
    ranks = max(
        {comparison.ranks for comparison in comparisons},
        key=lambda count: _curve(comparisons, count),
        default=0,
    )
    mine = [comparison for comparison in comparisons if comparison.ranks == ranks and not comparison.variant]
    sizes = sorted({comparison.size_bytes for comparison in mine})
    ways: dict[tuple[str, str, str], list[Comparison]] = {}
    for comparison in mine:
        if way := _way(comparison):
            ways.setdefault(way, []).append(comparison)
    again = comparisons and not other_machine
    return {
        "busy": busy,
        "action": "Stop" if busy else "Measure again" if again else "Measure this machine",
        "text": text or ("" if comparisons else _EMPTY),
        "about": about,
        "mine": not other_machine,
        "curves": {
            "axis": "here",
            "key": "here",
            "values": sizes,
            "names": [say_bytes(size) for size in sizes],
            "lines": [_line(way, sizes, curve) for way, curve in ways.items()],
            # What is drawn are ratios to `staged`, which itself is therefore the line at 1.
            "limits": {"nic": {"label": f"staged, {ranks} ranks", "y": [1.0] * len(sizes)}},
            "noise": _noise(mine, sizes),
            "points": _points(ways, other_machine or "this machine"),
            "bands": _LEGEND,
            "missing": "",
        },
    }


def _curve(comparisons: Sequence[Comparison], ranks: int) -> tuple[bool, int]:
    """Return whether several sizes were measured with so many ranks, and with how many."""
    return len({comparison.size_bytes for comparison in comparisons if comparison.ranks == ranks}) > 1, ranks


def _way(comparison: Comparison) -> tuple[str, str, str] | None:
    """Return name, role and ink of the way that a row is of; None for what is not drawn."""
    if comparison.registration == "lru" and comparison.capacity and comparison.capacity < _SMALL_CACHE:
        return "direct, small cache", "ink", "ink"
    return _WAYS.get((comparison.path, comparison.registration))


def _line(way: tuple[str, str, str], sizes: Sequence[int], curve: Sequence[Comparison]) -> dict[str, object]:
    name, role, ink = way
    at = {comparison.size_bytes: comparison for comparison in curve}
    there = [at.get(size) for size in sizes]
    return {
        "name": name,
        "label": name,
        "role": role,
        "ink": ink,
        "x": list(sizes),
        "y": [comparison.ratio if comparison else None for comparison in there],
        "low": [comparison.low if comparison else None for comparison in there],
        "high": [comparison.high if comparison else None for comparison in there],
        "note": [_note(comparison) if comparison else "" for comparison in there],
    }


def _note(comparison: Comparison) -> str:
    took = say_time(round(comparison.time_s * PS_PER_S))
    spread = f"{comparison.ratio:.2f} times staged ({comparison.low:.2f} to {comparison.high:.2f})"
    noise = "" if comparison.noise is None else f"; noise: {comparison.noise:.2f}"
    kept = f":{comparison.capacity}" if comparison.registration == "lru" else ""
    how = (
        comparison.path
        if comparison.registration == "none"
        else f"{comparison.path}, {comparison.registration}{kept}"
    )
    return escape(
        f"{how}; {comparison.ranks} ranks, {say_bytes(comparison.size_bytes)}: {took}, {spread}: {comparison.verdict}{noise}"
    )


def _noise(mine: Sequence[Comparison], sizes: Sequence[int]) -> dict[str, list[float]]:
    """Return between which ratios nothing is said, at the sizes where the control was measured."""
    at = {comparison.size_bytes: comparison.noise for comparison in mine if comparison.noise is not None}
    there = [size for size in sizes if size in at]
    return {"x": [float(s) for s in there], "low": [1 / at[s] for s in there], "high": [at[s] for s in there]}


def _points(ways: dict[tuple[str, str, str], list[Comparison]], machine: str) -> dict[str, list[object]]:
    rows = [(comparison, name, ink) for (name, _, ink), curve in ways.items() for comparison in curve]
    return {
        "x": [measured_row.size_bytes for measured_row, _, _ in rows],
        "y": [measured_row.ratio for measured_row, _, _ in rows],
        "line": [ink for _, _, ink in rows],
        "own": [False] * len(rows),
        "label": [name for _, name, _ in rows],
        "note": [f"{_note(measured_row)}<br>measured on {escape(machine)}" for measured_row, _, _ in rows],
    }
