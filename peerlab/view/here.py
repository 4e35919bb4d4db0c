"""This machine's own measurement as the third curve: ratios to the staged way, never GB/s beside another machine's."""

from collections.abc import Sequence
from html import escape
from typing import Protocol

from peerlab.units import PS_PER_S, say_bytes, say_time


class Compared(Protocol):
    """One way at one size against the staged way: what `peerlab.measurement.judge` returns."""

    @property
    def ranks(self) -> int: ...  # noqa: D102  (said where it is made)
    @property
    def size_bytes(self) -> int: ...  # noqa: D102
    @property
    def path(self) -> str: ...  # noqa: D102
    @property
    def variant(self) -> str: ...  # noqa: D102
    @property
    def registration(self) -> str: ...  # noqa: D102
    @property
    def capacity(self) -> int | None: ...  # noqa: D102
    @property
    def time_s(self) -> float: ...  # noqa: D102
    @property
    def ratio(self) -> float: ...  # noqa: D102
    @property
    def low(self) -> float: ...  # noqa: D102
    @property
    def high(self) -> float: ...  # noqa: D102
    @property
    def noise(self) -> float | None: ...  # noqa: D102
    @property
    def verdict(self) -> str: ...  # noqa: D102


ABOUT = (
    "Processes on this machine add up float32 through memory that they share: no NIC, no PCIe, no wire. "
    "What is real is how the ways compare, so only ratios are drawn."
)
_EMPTY = "A real AllReduce between processes here: what do the bounce buffer, TCP and registering cost? About ten seconds."
_LEGEND = "measured, median and quartiles; grey: staged against itself (A/A), within it nothing is said"
_SMALL_CACHE = 8
"""Regions below which a cache cannot hold what a ring of a few ranks needs."""


def here(found: Sequence[Compared], text: str = "", *, busy: bool = False) -> dict[str, object]:
    """Return what the page needs to show what was measured here, for the most ranks for which there is something."""
    ranks = max((one.ranks for one in found), default=0)
    mine = [one for one in found if one.ranks == ranks and not one.variant]
    sizes = sorted({one.size_bytes for one in mine})
    ways: dict[tuple[str, str, str], list[Compared]] = {}
    for one in mine:
        if way := _way(one):
            ways.setdefault(way, []).append(one)
    return {
        "busy": busy,
        "action": "Stop" if busy else "Measure again" if found else "Measure this machine",
        "text": text or ("" if found else _EMPTY),
        "about": ABOUT,
        "curves": {
            "axis": "here",
            "key": "here",
            "values": sizes,
            "names": [say_bytes(size) for size in sizes],
            "lines": [_line(way, sizes, ones) for way, ones in ways.items()],
            "limits": {"nic": {"label": f"staged, {ranks} ranks", "y": [1.0] * len(sizes)}},
            "noise": _noise(mine, sizes),
            "points": _points(ways),
            "bands": _LEGEND,
            "missing": "",
        },
    }


def _way(one: Compared) -> tuple[str, str, str] | None:
    """Return name, role and ink of the way that a row is of; None for what is not drawn."""
    match one.path, one.registration:
        case "tcp", _:
            return "TCP, no bounce", "cpu", "cpu-ink"
        case "staged-shm", _:
            return "bounce, no TCP", "network", "network-ink"
        case "direct", "none":
            return "direct, unregistered", "edge", "muted"
        case "direct", "per-transfer":
            return "direct, no cache", "register", "register-ink"
        case "direct", "lru" if one.capacity and one.capacity < _SMALL_CACHE:
            return "direct, cache too small", "hot", "hot-ink"
        case "direct", "lru":
            return "direct, cache", "direct", "direct-ink"
    return None


def _line(way: tuple[str, str, str], sizes: Sequence[int], ones: Sequence[Compared]) -> dict[str, object]:
    name, role, ink = way
    at = {one.size_bytes: one for one in ones}
    there = [at.get(size) for size in sizes]
    return {
        "name": name,
        "label": name,
        "role": role,
        "ink": ink,
        "x": list(sizes),
        "y": [one.ratio if one else None for one in there],
        "low": [one.low if one else None for one in there],
        "high": [one.high if one else None for one in there],
        "note": [_note(one) if one else "" for one in there],
    }


def _note(one: Compared) -> str:
    took = say_time(round(one.time_s * PS_PER_S))
    spread = f"{one.ratio:.2f} times staged ({one.low:.2f} to {one.high:.2f})"
    noise = "" if one.noise is None else f"; noise: {one.noise:.2f}"
    return escape(f"{one.ranks} ranks, {say_bytes(one.size_bytes)}: {took}, {spread}: {one.verdict}{noise}")


def _noise(mine: Sequence[Compared], sizes: Sequence[int]) -> dict[str, list[float]]:
    """Return between which ratios nothing is said, at the sizes where the control was measured."""
    at = {one.size_bytes: one.noise for one in mine if one.noise is not None}
    there = [size for size in sizes if size in at]
    return {"x": [float(s) for s in there], "low": [1 / at[s] for s in there], "high": [at[s] for s in there]}


def _points(ways: dict[tuple[str, str, str], list[Compared]]) -> dict[str, list[object]]:
    rows = [(one, name, ink) for (name, _, ink), ones in ways.items() for one in ones]
    return {
        "x": [one.size_bytes for one, _, _ in rows],
        "y": [one.ratio for one, _, _ in rows],
        "line": [ink for _, _, ink in rows],
        "label": [name for _, name, _ in rows],
        "note": [f"{_note(one)}<br>measured on this machine" for one, _, _ in rows],
    }
