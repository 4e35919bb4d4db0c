"""The tables of a library's file: what it forbids, what is otherwise from a version on, what is not solved, and its figures."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from peerlab.base.errors import HardwareError, nearest
from peerlab.base.units import parse_bytes
from peerlab.library.library_record import Forbidden, Since, Unsolved, version_number
from peerlab.library.nccl_law import ALGORITHMS, PROTOCOLS
from peerlab.model.cluster_reading import read_figure
from peerlab.model.collective import COLLECTIVES
from peerlab.model.hardware import FIGURE_KINDS, Figure

_WHEN = ("always", "staged", "before Hopper")
_GAP_WHEN = ("staged", "from Hopper")
SECTION = "library."
_DOMAIN = ("within", "between")
"""Where of NVLink domains a thing is not solved."""


def sentence(entry: str, given: Any) -> str:
    """Return a text that a page shows as it is."""
    if not isinstance(given, str) or not given.strip() or not given.isprintable():
        raise HardwareError(
            f"{entry} = {given!r:.60} must be a text on one line, of characters that can be printed"
        )
    return given


def one_of(entry: str, given: Any, known: Collection[str]) -> str:
    """Return a word if it is known, and refuse another one."""
    if not isinstance(given, str) or given not in known:
        raise HardwareError(f"{entry}: unknown {given!r:.60}; {nearest(str(given), known)}")
    return given


def forbidden(given: Any) -> Forbidden:
    """Return what a table below ``[[forbids]]`` says."""
    if (
        not isinstance(given, dict)
        or set(given) != {"protocols", "when", "why"}
        or not isinstance(given["protocols"], list)
    ):
        raise HardwareError("[[forbids]] needs protocols, when and why")
    return Forbidden(
        tuple(one_of("[[forbids]] protocols", protocol, PROTOCOLS) for protocol in given["protocols"]),
        one_of("[[forbids]] when", given["when"], _WHEN),
        sentence("[[forbids]] why", given["why"]),
    )


def since(given: Any, name: str) -> Since:
    """Return what a table below ``[[since]]`` of the library `name` says."""
    if not isinstance(given, dict) or not {"version"} <= set(given) <= {"version", "without", "library"}:
        raise HardwareError("[[since]] needs version, and has without and library beside it")
    if version_number(given["version"]) < 0:
        raise HardwareError(
            f"[[since]] version = {given['version']!r:.40} is no version; give one such as 2.29"
        )
    without = given.get("without", [])
    if not isinstance(without, list):
        raise HardwareError("[[since]] without must be a list of figures")
    keys = tuple(one_of("[[since]] without", key, FIGURE_KINDS) for key in without)
    origin = f"library file {name}.toml, from version {given['version']} on"
    return Since(
        version=given["version"], figures=library_figures(given.get("library", {}), origin), without=keys
    )


def tables(document: dict[str, Any], entry: str) -> list[Any]:
    """Return the tables below ``[[entry]]``."""
    given = document.get(entry, [])
    if not isinstance(given, list):
        raise HardwareError(f"{entry} must be tables, each below [[{entry}]]")
    return given


def unsolved(given: Any) -> Unsolved:
    """Return what a table below ``[[unsolved]]`` says."""
    kinds: dict[str, type] = {
        "says": str, "nodes": int, "from_bytes": str, "to_bytes": str, "algorithm": str, "collective": str, "domain": str, "before": str, "takes": list, "when": str, "promised": bool
    }  # fmt: skip
    if not isinstance(given, dict) or "says" not in given:
        raise HardwareError("[[unsolved]] needs says, a sentence")
    for name, value in given.items():
        if name not in kinds:
            raise HardwareError(f"[[unsolved]] has the unknown entry {name!r}; {nearest(name, list(kinds))}")
        # `true` is an int to Python, so `nodes = true` would pass
        if not isinstance(value, kinds[name]) or (isinstance(value, bool) and kinds[name] is not bool):
            what = {int: "number", list: "list", bool: "true or false"}.get(kinds[name], "text")
            raise HardwareError(f"[[unsolved]] {name} = {value!r} is no {what}")
    sentence("[[unsolved]] says", given["says"])
    for name, words in (
        ("algorithm", ALGORITHMS),
        ("collective", COLLECTIVES),
        ("domain", _DOMAIN),
        ("when", _GAP_WHEN),
    ):
        if name in given:
            one_of(f"[[unsolved]] {name}", given[name], words)
    if version_number(given.get("before", "2.0")) < 0:
        raise HardwareError(
            f"[[unsolved]] before = {given['before']!r:.40} is no version; give one such as 2.12"
        )
    sizes = {name: parse_bytes(given[name]) for name in ("from_bytes", "to_bytes") if name in given}
    takes = {"takes": _takes(given["takes"])} if "takes" in given else {}
    return Unsolved(**{**given, **sizes, **takes})


def _takes(given: list[Any]) -> tuple[float, float]:
    numbers = [
        element for element in given if isinstance(element, int | float) and not isinstance(element, bool)
    ]
    # 1 lies within: a gap widens the band around what was simulated, it never moves it
    if len(given) != 2 or numbers != given or not 0.01 <= numbers[0] <= 1 <= numbers[1] <= 100:
        raise HardwareError(
            f"[[unsolved]] takes = {given!r:.60} must be two numbers, from 0.01 to 1 and from 1 to 100: how many times as long as simulated it may take"
        )
    return float(numbers[0]), float(numbers[1])


def library_figures(given: Any, origin: str) -> dict[str, Figure]:
    """Return the figures of a table, by key; `origin` is the file that has them."""
    if not isinstance(given, dict):
        raise HardwareError("[library] must be a table of figures")
    keys = [key for key in FIGURE_KINDS if key.startswith(SECTION)]
    for name in given:
        if SECTION + name not in keys:
            raise HardwareError(
                f"unknown figure {SECTION + name!r}; {nearest(name, [k.removeprefix(SECTION) for k in keys])}"
            )
    return {
        SECTION + name: replace(read_figure(SECTION + name, entry), origin=origin)
        for name, entry in given.items()
    }
