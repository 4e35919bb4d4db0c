"""Communication libraries: one file per library and transport, read and checked.

A library file is TOML in ``data/libraries``. It says by which law the library walks a topology (``kind``), which versions are known,
and gives figures as a cluster file does: those that a machine may have otherwise under ``[library]``, constants of the library's own
source under ``[law]``, as numbers or lists. ``extends`` takes over another file; ``[instead]`` names the library that serves a data path
in its place, ``mpi`` the one that MPI programs have; ``[[forbids]]`` says which protocols it does not use when, and why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from peerlab.errors import HardwareError, ScenarioError, nearest
from peerlab.model.cluster_reading import read_figure
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS, Cluster, Figure, internal_value
from peerlab.places import folder
from peerlab.textfile import read_text, read_toml

NONE = "none"
"""No library: topology alone, as on the bare fabrics."""
KINDS = ("nccl", "pairwise", "messages")
"""Laws: NCCL's own choice of trees and rings; pairwise exchanges; a cost for each message point to point."""
_WHEN = ("always", "staged", "before Hopper")
_MOST_BYTES = 2**18
_SECTION = "library."
_TEXTS = ("name", "title", "kind", "extends", "version", "mpi")
_LIMIT = 10**12


@dataclass(frozen=True)
class Forbidden:
    """Protocols that a library does not use, and when."""

    protocols: tuple[str, ...]
    when: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Library:
    """One library over one transport."""

    name: str
    title: str
    kind: str
    """One of `KINDS`."""
    versions: tuple[str, str]
    """The first and the last version whose law is known."""
    version: str
    """The one that is meant where nobody says it."""
    instead: Mapping[str, str]
    """By data path the library that serves it in place of this one."""
    mpi: str
    """The library with which MPI programs use the same transport; empty where none is known."""
    forbids: tuple[Forbidden, ...]
    law: Mapping[str, Any]
    """Constants of the library's source, by name, in the units of its file."""
    figures: Mapping[str, Figure]
    """Figures that a machine may have otherwise, by key."""

    def __hash__(self) -> int:
        """Return the hash of its name: libraries are few."""
        return hash(self.name)

    def number(self, version: str) -> int:
        """Return a version as a number, such as 219 for 2.19.

        Raises
        ------
        ScenarioError
            If it is no version, or none that the library's file knows.
        """
        first, last = (_version(one) for one in self.versions)
        found = _version(version)
        if found < 0:
            raise ScenarioError(
                "library_version", f"{version!r} is no version; give one such as {self.version!r}"
            )
        if not first <= found <= last:
            older = found < first
            why = (
                "before it the library is another one, and nothing is promised"
                if older
                else "later ones are not known"
            )
            raise ScenarioError(
                "library_version",
                f"{self.title} is known from {self.versions[0]} to {self.versions[1]}; {why}",
            )
        return found


def _version(text: object) -> int:
    """Return a version as a number; -1 where it is none."""
    parts = str(text).strip().split(".")
    if len(parts) < 2 or not all(part.isdecimal() and len(part) < 4 for part in parts[:3]):
        return -1
    return 100 * int(parts[0]) + min(int(parts[1]), 99)


@cache
def known_libraries() -> tuple[str, ...]:
    """Return the names of the libraries that come with peerlab and that a cluster can have; the first is ``none``."""
    found = sorted(path.stem for path in (folder("data") / "libraries").glob("*.toml"))
    return (NONE, *(name for name in found if name != "nccl"))


def load_library(name: str | Path) -> Library | None:
    """Return a library by name or from a TOML file of your own; None for ``none``.

    Raises
    ------
    ScenarioError
        If there is none of this name.
    HardwareError
        If its file is damaged.
    """
    if name == NONE:
        return None
    if name not in known_libraries() and not str(name).endswith(".toml"):
        offer = nearest(str(name), known_libraries())
        raise ScenarioError(
            "library", f"unknown library {str(name)!r}; {offer}; or the path of a .toml file of your own"
        )
    return _load(name)


@cache
def _load(name: str | Path) -> Library:
    path = Path(name) if str(name).endswith(".toml") else folder("data") / "libraries" / f"{name}.toml"
    text = read_text(path, what="library file", most_bytes=_MOST_BYTES, error=HardwareError)
    return read_library(text, str(path))


def read_library(text: str, where: str) -> Library:
    """Return the library that a TOML text describes; `where` names it in errors.

    Raises
    ------
    HardwareError
        One line with the first thing that is wrong.
    """
    try:
        return _library(read_toml(text, "this is not a TOML file", HardwareError))
    except (HardwareError, ScenarioError) as problem:
        raise HardwareError(f"{where}: {problem}") from None


def _library(document: dict[str, Any]) -> Library:
    known = (*_TEXTS, "versions", "instead", "forbids", "law", "library")
    for entry in document:
        if entry not in known:
            raise HardwareError(f"unknown entry {entry!r}; {nearest(entry, known)}")
    for entry in _TEXTS:
        if not isinstance(document.get(entry, ""), str):
            raise HardwareError(f"{entry} must be a text, not {document[entry]!r}")
    base = _base(document)
    kind = document.get("kind", base.kind if base else "")
    if kind not in KINDS:
        raise HardwareError(f"unknown kind {kind!r}; {nearest(kind, KINDS)}")
    versions = document.get("versions", list(base.versions) if base else None)
    if not isinstance(versions, list) or [_version(v) < 0 for v in versions] != [False, False]:
        raise HardwareError(
            f'versions = {versions!r} must be the first and the last known one, such as ["2.12", "2.31"]'
        )
    found = Library(
        name=_text(document, "name"),
        title=_text(document, "title"),
        kind=kind,
        versions=(versions[0], versions[1]),
        version=str(document.get("version", base.version if base else versions[1])),
        instead={**(base.instead if base else {}), **_instead(document.get("instead", {}))},
        mpi=str(document.get("mpi", base.mpi if base else "")),
        forbids=(*(base.forbids if base else ()), *map(_forbidden, document.get("forbids", []))),
        law={**(base.law if base else {}), **_law(document.get("law", {}))},
        figures={**(base.figures if base else {}), **_figures(document.get("library", {}))},
    )
    found.number(found.version)
    return found


def _base(document: dict[str, Any]) -> Library | None:
    name = document.get("extends")
    if name is None:
        return None
    known = [path.stem for path in (folder("data") / "libraries").glob("*.toml")]
    if name not in known:
        raise HardwareError(f"extends the unknown library {name!r}; {nearest(name, known)}")
    return _load(name)


def _text(document: dict[str, Any], entry: str) -> str:
    given = document.get(entry, "")
    if not given.strip() or not given.isprintable():
        raise HardwareError(f"{entry} is missing; it is a text at the top of the file")
    return str(given)


def _instead(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given.values()):
        raise HardwareError("[instead] must be a table of data paths with the library for each")
    return dict(given)


def _forbidden(given: Any) -> Forbidden:
    if (
        not isinstance(given, dict)
        or set(given) != {"protocols", "when", "why"}
        or not isinstance(given["protocols"], list)
    ):
        raise HardwareError("[[forbids]] needs protocols, when and why")
    if given["when"] not in _WHEN:
        raise HardwareError(
            f"[[forbids]] when = {given['when']!r} is not known; {nearest(str(given['when']), _WHEN)}"
        )
    return Forbidden(tuple(map(str, given["protocols"])), given["when"], str(given["why"]))


def _figures(given: Any) -> dict[str, Figure]:
    if not isinstance(given, dict):
        raise HardwareError("[library] must be a table of figures")
    keys = [key for key in FIGURE_KINDS if key.startswith(_SECTION)]
    for name in given:
        if _SECTION + name not in keys:
            raise HardwareError(
                f"unknown figure {_SECTION + name!r}; {nearest(name, [k.removeprefix(_SECTION) for k in keys])}"
            )
    return {_SECTION + name: read_figure(_SECTION + name, entry) for name, entry in given.items()}


def _law(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise HardwareError("[law] must be a table of constants")
    for name, entry in given.items():
        if not isinstance(entry, dict) or not {"value", "unit", "basis"} <= set(entry):
            raise HardwareError(f"law.{name} must be a table with value, unit, basis and source")
        if not entry.get("source") and not (entry.get("assumption") and entry.get("range")):
            raise HardwareError(
                f'law.{name} has no source; give source = "..." or assumption = "..." with a range'
            )
        if not _are_numbers(entry["value"]):
            raise HardwareError(f"law.{name}: value {entry['value']!r} is not a number, or a list of numbers")
    return {name: entry["value"] for name, entry in given.items()}


def _are_numbers(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_are_numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _LIMIT


# ---- a machine with a library -----------------------------------------------------------------------------------


def serving(name: str | Path | Library, path: str) -> Library | None:
    """Return the library that serves a data path where a machine has the one of this name."""
    library = name if isinstance(name, Library) else load_library(name)
    if library and path in library.instead:
        return load_library(library.instead[path])
    return library


def with_library(cluster: Cluster, library: Library | None) -> Cluster:
    """Return a cluster with a library's figures; those of its own file, or changed on it, stay if they are of this library."""
    name = library.name if library else NONE
    wanted = dict(library.figures) if library else {}
    if cluster.library == name:
        wanted |= {key: one for key, one in cluster.figures.items() if key.startswith(_SECTION)}
    figures = {key: one for key, one in cluster.figures.items() if not key.startswith(_SECTION)} | wanted
    values: dict[str, Any] = {
        FIGURE_FIELDS[key]: internal_value(wanted[key]) if key in wanted else None
        for key in FIGURE_KINDS
        if key.startswith(_SECTION)
    }
    return replace(cluster, figures=MappingProxyType(figures), library=name, **values)
