"""Communication libraries: one file per library and transport, read and checked.

A library file is TOML in ``data/libraries``. It says by which law the library walks a topology (``kind``), which versions are known and from which one
accuracy is promised (``promised``), and gives figures as a cluster file does: those that a machine may have otherwise under ``[library]``, constants of the library's own
source under ``[law]``, as numbers or lists. ``extends`` takes over another file; ``[instead]`` names the library that serves a data path
in its place, ``short`` is its title where room is short, ``mpi`` the one that MPI programs have, ``maker`` the one maker whose accelerators it runs on; ``[[forbids]]`` says which protocols it does not use when, and why;
``[[since]]`` what is otherwise from a version on, ``[[unsolved]]`` what of it the law does not meet, and where.
"""

# Topology is the machine's, constants are the library's. A cluster file names its library and has what
# NCCL's graph search sees (channels, rates of its graphs); `data/libraries` has one file for each library
# and transport. NCCL's law (`library/nccl_law`, its source's own formulas) gives launch, hops, flush,
# chunks, cost of a message and rate of an AllReduce; the simulation takes those as spans, flights and
# resources, and lets the topology limit the rest. What the law does not meet stands in the library's file,
# with the sizes and nodes where it matters, and is said below the pictures (`[[unsolved]]`). Three fitted
# numbers for each transport (hop, message, rendezvous) replace five for each cluster. So a machine without
# a log of its own is within about 15 % in the median (docs/validation.md), where topology alone was 54 to
# 80 % too fast.

from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from peerlab.base.errors import HardwareError, ScenarioError, nearest
from peerlab.base.places import folder
from peerlab.base.textfile import read_text, read_toml
from peerlab.library.law_constants import read_law
from peerlab.library.library_laws import KINDS, law_of
from peerlab.library.library_record import MAKERS, NONE, Library, version_number
from peerlab.library.library_tables import (
    SECTION,
    forbidden,
    library_figures,
    one_of,
    sentence,
    since,
    tables,
    unsolved,
)
from peerlab.library.nccl_law import SHAPES
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS, Cluster, internal_value
from peerlab.model.paths import PATHS

_MOST_BYTES = 2**18
_EXTENDED = "nccl"
"""The file that others extend; no cluster has it."""
_TEXTS = ("name", "title", "short", "kind", "extends", "version", "promised", "mpi", "maker")
_STEERED = ("steering", "steering_changes")
"""Constants that a law has both, or neither."""
_ASKED = ("eager", "rendezvous")
"""Figures that a library has both, or neither."""


@cache
def known_libraries() -> tuple[str, ...]:
    """Return the names of the libraries that come with peerlab and that a cluster can have; the first is ``none``."""
    names = sorted(path.stem for path in (folder("data") / "libraries").glob("*.toml"))
    return (NONE, *(name for name in names if name != _EXTENDED))


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
    if name in known_libraries():
        return _complete(name)
    # The name decides which figures of a machine are this library's (`with_library`), so it is nobody else's.
    own = _complete.__wrapped__(name)  # a file of one's own may have changed
    if own.name in (*known_libraries(), _EXTENDED):
        raise HardwareError(
            f"{name}: name = {own.name!r} is a library that comes with peerlab; give yours a name of its own"
        )
    return own


@cache
def _complete(name: str | Path) -> Library:
    library = _load(name)
    try:
        _check_complete(library)
    except HardwareError as problem:
        raise HardwareError(f"{_path(name)}: {problem}") from None
    return library


def _path(name: str | Path) -> Path:
    return Path(name) if str(name).endswith(".toml") else folder("data") / "libraries" / f"{name}.toml"


def _load(name: str | Path) -> Library:
    path = _path(name)
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
    except (HardwareError, ScenarioError, ValueError) as problem:
        raise HardwareError(f"{where}: {problem}") from None


def _library(document: dict[str, Any]) -> Library:
    known = (*_TEXTS, "versions", "instead", "forbids", "since", "unsolved", "law", "library")
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
    versions, version, promised = _versions(document, base)
    mpi, maker = (document.get(key, getattr(base, key, "")) for key in ("mpi", "maker"))
    library = Library(
        name=_text(document, "name"),
        title=_text(document, "title"),
        kind=kind,
        versions=versions,
        version=version,
        promised=promised,
        instead={**(base.instead if base else {}), **_instead(document.get("instead", {}))},
        mpi=mpi and one_of("mpi", mpi, known_libraries()),
        maker=maker and one_of("maker", maker, MAKERS),
        short=document.get("short", ""),
        forbids=(*(base.forbids if base else ()), *map(forbidden, tables(document, "forbids"))),
        unsolved=(*(base.unsolved if base else ()), *map(unsolved, tables(document, "unsolved"))),
        law={**(base.law if base else {}), **read_law(document.get("law", {}))},
        figures={
            **(base.figures if base else {}),
            **library_figures(document.get("library", {}), f"library file {document['name']}.toml"),
        },
        since=(
            *(base.since if base else ()),
            *(since(table, document["name"]) for table in tables(document, "since")),
        ),
    )
    # refuses a file whose usual version is none of those that it knows
    library.number(library.version)
    return library


def _versions(document: dict[str, Any], base: Library | None) -> tuple[tuple[str, str], str, str]:
    """Return the first and the last known version, the one that is meant where nobody says it, and the first that is promised."""
    versions = document.get("versions", list(base.versions) if base else None)
    if not isinstance(versions, list) or [version_number(v) < 0 for v in versions] != [False, False]:
        raise HardwareError(
            f'versions = {versions!r} must be the first and the last known one, such as ["2.12", "2.31"]'
        )
    version = document.get("version", base.version if base else versions[1])
    if version_number(version) < 0:
        raise HardwareError(f"version = {version!r} is no version; give one such as {versions[1]!r}")
    promised = str(document.get("promised", base.promised if base else versions[0]))
    if not version_number(versions[0]) <= version_number(promised) <= version_number(versions[1]):
        raise HardwareError(f"promised = {promised!r} is no version from {versions[0]} to {versions[1]}")
    return (versions[0], versions[1]), str(version), promised


def _base(document: dict[str, Any]) -> Library | None:
    name = document.get("extends")
    if name is None:
        return None
    names = [path.stem for path in (folder("data") / "libraries").glob("*.toml")]
    if name not in names:
        raise HardwareError(f"extends the unknown library {name!r}; {nearest(name, names)}")
    # not `_complete`: a file that others extend may lack what each of them adds, as nccl.toml does
    return _load(name)


def _text(document: dict[str, Any], entry: str) -> str:
    given = document.get(entry, "")
    if not given.strip():
        raise HardwareError(f"{entry} is missing; it is a text at the top of the file")
    return sentence(entry, given)


def _instead(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given.values()):
        raise HardwareError("[instead] must be a table of data paths with the library for each")
    for path, name in given.items():
        one_of("[instead]", path, PATHS)
        one_of(f"[instead] {path}", name, known_libraries())
    return dict(given)


def _check_complete(library: Library) -> None:
    """Refuse a library of which the law lacks something."""
    lacking = [f"law.{name}" for name in SHAPES if name not in (*library.law, *_STEERED)]
    law = law_of(library)
    # only a law that chooses by NCCL's source reads its constants
    lacking = lacking if law.chooses else []
    lacking += [SECTION + name for name in law.needs if SECTION + name not in library.figures]
    steered = [name for name in _STEERED if name in library.law]
    if len(steered) == 1:
        lacking += [f"law.{name}" for name in _STEERED if name not in steered]
    names = [name for name in _ASKED if SECTION + name in library.figures]
    if len(names) == 1:
        lacking += [SECTION + name for name in _ASKED if name not in names]
    if lacking:
        raise HardwareError(f'{library.title} lacks {", ".join(lacking)}; give them, or extends = "nccl"')


# ---- a machine with a library -----------------------------------------------------------------------------------


def serving(name: str | Path | Library, path: str) -> Library | None:
    """Return the library that serves a data path where a machine has the one of this name."""
    library = name if isinstance(name, Library) else load_library(name)
    if library and path in library.instead:
        return load_library(library.instead[path])
    return library


def known_by_name(given: str | Path | Library | None) -> str | Path | Library | None:
    """Return the name of a library that comes with peerlab, if it was given loaded; anything else as it was given."""
    if isinstance(given, Library) and given.name in known_libraries() and load_library(given.name) == given:
        return given.name
    return given


def with_library(cluster: Cluster, library: Library | None, version: int = 0) -> Cluster:
    """Return a cluster with a library's figures; those of its own file, or changed on it, stay if they are of this library.

    `version` is as `Library.number` returns it; 0: before all that changed with one.
    """
    name = library.name if library else NONE
    wanted = library.figures_of(version) if library else {}
    dropped = library.dropped_by(version) if library else set[str]()
    if cluster.library == name:
        wanted |= {key: figure for key, figure in cluster.figures.items() if key.startswith(SECTION)}
    figures = {
        key: figure
        for key, figure in cluster.figures.items()
        if not key.startswith(SECTION) and key not in dropped
    } | wanted
    # Every figure of a library is set, if only to None: nothing of the machine's former library may stay.
    values: dict[str, Any] = {FIGURE_FIELDS[key]: None for key in dropped if key in cluster.figures} | {
        FIGURE_FIELDS[key]: internal_value(wanted[key]) if key in wanted else None
        for key in FIGURE_KINDS
        if key.startswith(SECTION)
    }
    return replace(cluster, figures=MappingProxyType(figures), library=name, **values)
