"""Cluster files: one machine each, read and checked.

A cluster file is TOML. It names the machine, lists the data paths it has (and why it lacks the others), and
gives every figure as a table::

    [switch]
    uplink = { value = 14.1, unit = "GB/s", basis = "per switch, per direction", source = "..." }

A figure without a source must say what it assumes (``assumption = "..."``) and, unless it is a count, from where to
where it may lie (``range = [12, 16]``); the lab shows both. A resource that never limits may be left out, with a reason::

    [leaves_out]
    "host.dram" = "ten times faster than the NIC"
"""

import stat
import tomllib
from dataclasses import fields, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from peerlab.errors import HardwareError, nearest
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS, PATHS, Cluster, Figure, internal_value
from peerlab.places import folder

_MOST_BYTES = 2**20
"""A cluster file is small; whatever is larger is something else."""

_NEEDS_ALWAYS = (
    "node.numa_domains", "node.switches_per_numa", "node.devices_per_switch", "node.nics_per_switch",
    "nic.rate", "fabric.latency", "slices.window", "slices.direct",
)  # fmt: skip
_NEEDS_STAGING = (
    "device.copy_engine",
    "device.pcie",
    "switch.uplink",
    "host.dram",
    "slices.staged",
    "device.hbm",
)
MAY_BE_LEFT_OUT = ("device.copy_engine", "device.pcie", "switch.uplink", "host.dram", "device.hbm")
"""Figures that a file may leave out with a reason: what they describe then never limits anything."""
_TOGETHER = (
    ("fabric.hosts_per_leaf", "fabric.oversubscription"),
    ("protocol.ll_rate", "protocol.ll_latency", "protocol.ll_up_to"),
    ("protocol.simple_rate", "protocol.simple_latency"),
)
"""Figures that mean something only together."""
_NEEDS = {
    "wire": (),
    "native": ("device.hbm", "port.rate", "port.latency"),
    "host-rdma": _NEEDS_STAGING,
    "host-tcp": (*_NEEDS_STAGING, "node.cores_per_device", "host.core_copy", "host.packet_cost", "host.packet_size"),
    "peer-direct": (
        "device.hbm", "device.pcie", "registration.base", "registration.per_page", "registration.deregister_base",
        "registration.deregister_per_page", "registration.lookup",
    ),
}  # fmt: skip


def _read_figure(key: str, entry: Any, where: str) -> Figure:
    if not isinstance(entry, dict):
        raise HardwareError(
            f"{where}: {key} must be a table with value, unit, basis and source, not {entry!r}"
        )
    known = [f.name for f in fields(Figure) if f.name != "key"]
    for name in entry:
        if name not in known:
            raise HardwareError(f"{where}: {key} has an unknown entry {name!r}; {nearest(name, known)}")
    for name in ("value", "unit", "basis"):
        if name not in entry:
            raise HardwareError(f"{where}: {key} has no {name}")
    value = entry["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
        raise HardwareError(f"{where}: {key}: value {value!r} is not a number")
    texts = {name: str(entry.get(name, "")).strip() for name in ("unit", "basis", "source", "assumption")}
    if not texts["source"] and not texts["assumption"]:
        raise HardwareError(f'{where}: {key} has no source; give source = "..." or say assumption = "..."')
    figure = Figure(key=key, value=value, range=None, **texts)
    return replace(figure, range=_read_range(figure, entry.get("range"), where))


def _read_range(figure: Figure, given: Any, where: str) -> tuple[float, float] | None:
    """Return from where to where an assumed figure may lie."""
    if given is None:
        if figure.assumption and FIGURE_KINDS[figure.key] != "count":
            raise HardwareError(
                f"{where}: {figure.key} is assumed; say from where to where: range = [low, high]"
            )
        return None
    if not figure.assumption:
        raise HardwareError(f'{where}: {figure.key} has a range and no assumption = "..."')
    numbers = isinstance(given, list) and all(
        isinstance(v, (int, float)) and not isinstance(v, bool) for v in given
    )
    if not numbers or len(given) != 2 or not given[0] <= figure.value <= given[1]:
        raise HardwareError(
            f"{where}: {figure.key}: range = {given!r} must be [low, high] around {figure.value:g}"
        )
    for value in given:
        internal_value(replace(figure, value=value), where)
    return (given[0], given[1])


def _read_figures(document: dict[str, Any], where: str) -> dict[str, Figure]:
    figures = {}
    sections = sorted({key.partition(".")[0] for key in FIGURE_KINDS})
    for section, entries in document.items():
        if section not in sections or not isinstance(entries, dict):
            raise HardwareError(
                f"{where}: unknown entry {section!r}; {nearest(section, [*_TEXTS, 'paths', *sections])}"
            )
        for name, entry in entries.items():
            key = f"{section}.{name}"
            if key not in FIGURE_KINDS:
                known = [k.partition(".")[2] for k in FIGURE_KINDS if k.startswith(f"{section}.")]
                raise HardwareError(f"{where}: unknown figure {key!r}; {nearest(name, known)}")
            figures[key] = _read_figure(key, entry, where)
    return figures


_TEXTS = ("name", "title", "device_name", "summary")


def _read_leaves_out(entry: Any, figures: dict[str, Figure], where: str) -> dict[str, str]:
    if not isinstance(entry, dict):
        raise HardwareError(f"{where}: [leaves_out] must be a table of figures with the reason for each")
    for key, reason in entry.items():
        if key not in MAY_BE_LEFT_OUT:
            raise HardwareError(
                f"{where}: [leaves_out] {key!r} is not possible; {nearest(key, MAY_BE_LEFT_OUT)}"
            )
        if not isinstance(reason, str) or not reason.strip():
            raise HardwareError(f"{where}: [leaves_out] {key!r} needs a reason")
        if key in figures:
            raise HardwareError(f"{where}: {key} is given and left out")
    return dict(entry)


def _read_paths(entry: Any, where: str) -> tuple[tuple[str, ...], dict[str, str]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("has"), list) or not entry["has"]:
        raise HardwareError(
            f'{where}: [paths] must list the data paths the machine has, such as has = ["host-rdma"]'
        )
    lacks = entry.get("lacks", {})
    for name in set(entry) - {"has", "lacks"}:
        raise HardwareError(
            f"{where}: [paths] has an unknown entry {name!r}; {nearest(name, ['has', 'lacks'])}"
        )
    for name in [*entry["has"], *lacks]:
        if name not in PATHS:
            raise HardwareError(f"{where}: unknown path {name!r}; {nearest(name, PATHS)}")
    reasons = {path: str(lacks.get(path, "not described in the cluster's file")) for path in PATHS}
    return tuple(entry["has"]), {path: why for path, why in reasons.items() if path not in entry["has"]}


def _check_complete(paths: tuple[str, ...], there: set[str], where: str) -> None:
    """Refuse a file without a figure that a path needs, or with one that needs another."""
    for path in paths:
        for key in (*_NEEDS_ALWAYS, *_NEEDS[path]):
            if key not in there:
                raise HardwareError(f"{where}: {key} is missing; path {path!r} needs it")
    for group in _TOGETHER:
        missing = [key for key in group if key not in there]
        if missing and len(missing) < len(group):
            raise HardwareError(f"{where}: {', '.join(missing)} is missing; it belongs to {group[0]}")


@lru_cache(maxsize=64)  # a lab asks for the same cluster with every curve it draws
def read_cluster(text: str, where: str) -> Cluster:
    """Return the cluster described by the TOML `text`; `where` names the file in errors.

    Raises
    ------
    HardwareError
        One line that names the entry, its value and what is allowed.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise HardwareError(f"{where} is not a TOML file: {problem}") from None
    for name in _TEXTS:
        if not isinstance(document.get(name), str) or not document[name].strip():
            raise HardwareError(f"{where}: {name} is missing; it is a text at the top of the file")
    texts = {name: document.pop(name) for name in _TEXTS}
    paths, lacks = _read_paths(document.pop("paths", None), where)
    reasons = document.pop("leaves_out", {})
    figures = _read_figures(document, where)
    leaves_out = _read_leaves_out(reasons, figures, where)
    _check_complete(paths, {*figures, *leaves_out}, where)
    values: dict[str, Any] = {
        FIGURE_FIELDS[key]: internal_value(figure, where) for key, figure in figures.items()
    }
    cluster = Cluster(
        **texts,
        paths=paths,
        lacks=MappingProxyType(lacks),
        leaves_out=MappingProxyType(leaves_out),
        figures=MappingProxyType(figures),
        **values,
    )
    for key in ("scaleup.rate", "scaleup.latency", "device.hbm") if cluster.devices > 1 else ():
        if key not in figures:
            raise HardwareError(f"{where}: {key} is missing; a node with {cluster.devices} devices needs it")
    return cluster


@cache
def known_clusters() -> tuple[str, ...]:
    """Return the names of the clusters that come with peerlab."""
    return tuple(sorted(path.stem for path in (folder("data") / "hardware").glob("*.toml")))


def load_cluster(name: str | Path) -> Cluster:
    """Return a cluster by name, or from the path of a TOML file of your own.

    Raises
    ------
    HardwareError
        If there is no such cluster or file, or the file is wrong.
    """
    if name in known_clusters():
        path = folder("data") / "hardware" / f"{name}.toml"
    elif str(name).endswith(".toml"):
        path = Path(name)
    else:
        offer = nearest(str(name), known_clusters())
        raise HardwareError(
            f"unknown cluster {str(name)!r}; {offer}; or the path of a .toml file of your own"
        )
    try:
        found = path.expanduser().stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
            raise HardwareError(f"cannot read {path}: not a file of at most {_MOST_BYTES} bytes")
        text = path.expanduser().read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise HardwareError(f"{path} is not a text file in UTF-8") from None
    except (OSError, ValueError, RuntimeError) as problem:  # no such file, a NUL in its name, no such home
        if isinstance(problem, HardwareError):
            raise
        raise HardwareError(f"cannot read {path}: {getattr(problem, 'strerror', '') or problem}") from None
    return read_cluster(text, str(path))
