"""What a cluster file says, and everything that is wrong or missing in it: found at once, not one after the other."""

# A cluster file is read to its end. `model/cluster_reading` notes everything that is wrong or missing;
# loading raises the first of it, `clusters check` shows all. Both use one reader, so that a file that is
# called complete can be simulated.

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

from peerlab.base.errors import HardwareError, nearest
from peerlab.base.textfile import read_toml
from peerlab.model.hardware import FIGURE_KINDS, MAX_DEVICES, Figure, internal_value
from peerlab.model.nic_wiring import Wiring
from peerlab.model.paths import PATHS
from peerlab.model.required_figures import MAY_BE_LEFT_OUT, NEEDS_OF_SEVERAL, TOGETHER, needed_by
from peerlab.model.wiring_reading import read_wiring, wiring_by_rule

TEXTS = ("name", "title", "device_name", "summary")
"""Texts at the top of a cluster file."""
OPTIONAL_TEXTS = ("fitted_on", "cpu")
"""Texts that may stand there: what some figures were fitted on; the processors' maker."""
_LIBRARY_TEXTS = {"name": "library", "version": "library_version"}
"""Texts of the section ``[library]``, and the fields that they fill."""
_TRANSPORT_TEXTS = {"name": "transport"}
_MOST = 10**30
# What `peerlab clusters new` writes where somebody has yet to say something: it counts as missing, not wrong.
_PLACEHOLDERS = ("", "?", "...")


@dataclass(frozen=True)
class Missing:
    """A text or figure that a cluster file should have and has not."""

    key: str
    """Such as ``title`` or ``switch.uplink``."""
    why: str
    """What needs the figure, as in ``path 'host-rdma' needs it``."""

    def __str__(self) -> str:
        return f"{self.key} is missing; {self.why}"


@dataclass
class Reading:
    """What a cluster file says, as far as it can be understood."""

    texts: dict[str, str] = field(default_factory=dict)
    """Those of `TEXTS` and `OPTIONAL_TEXTS` that are there."""
    paths: tuple[str, ...] = ()
    """Data paths that the machine has."""
    lacks: dict[str, str] = field(default_factory=dict)
    """For each other path the reason."""
    figures: dict[str, Figure] = field(default_factory=dict)
    """Figures that are right, by key."""
    leaves_out: dict[str, str] = field(default_factory=dict)
    """Figures left out on purpose, with the reason."""
    wiring: Wiring = field(default_factory=Wiring)
    """Where the NICs hang."""
    transports: tuple[str, ...] = ()
    """Transports that the machine can have; empty where the file does not say it."""
    wrong: list[str] = field(default_factory=list)
    """What is there and not understood, a sentence each."""
    missing: list[Missing] = field(default_factory=list)
    """What is not there."""

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note what is wrong in this block, and go on after it."""
        try:
            yield
        except HardwareError as problem:
            self.wrong.append(str(problem))


def examine(text: str) -> Reading:
    """Return what the TOML `text` says, with all that is wrong or missing."""
    reading = Reading()
    try:
        document = read_toml(text, "this is not a TOML file", HardwareError)
    except HardwareError as problem:
        reading.wrong.append(str(problem))
        return reading
    _read_texts(document, reading)
    # Texts first: what they leave of these sections is read as figures.
    _read_names(document.get("library"), "library", _LIBRARY_TEXTS, reading)
    _read_names(document.get("transport"), "transport", _TRANSPORT_TEXTS, reading)
    _read_transports(document.get("transport"), reading)
    with reading.noting():
        _read_paths(document.pop("paths", None), reading)
    reasons = document.pop("leaves_out", {})
    wiring = document.pop("wiring", None)
    mentioned = _read_figures(document, reading)
    with reading.noting():
        # after the figures: without the section it follows from which counts are assumed
        reading.wiring = wiring_by_rule(reading.figures) if wiring is None else read_wiring(wiring)
    _read_leaves_out(reasons, mentioned, reading)
    _note_missing(mentioned | set(reading.leaves_out), reading)
    return reading


def _read_texts(document: dict[str, Any], reading: Reading) -> None:
    """Take the texts out of the document."""
    for name in (*TEXTS, *OPTIONAL_TEXTS):
        given = document.pop(name, None)
        if given is not None and not isinstance(given, str):
            reading.wrong.append(f"{name} must be a text, not {given!r}")
        elif given is not None and not given.isprintable():
            reading.wrong.append(f"{name} must be one line of letters that can be printed, not {given!r}")
        elif given is not None and given.strip() not in _PLACEHOLDERS:
            reading.texts[name] = given
        elif name in TEXTS:
            reading.missing.append(Missing(name, "it is a text at the top of the file"))


def _read_transports(section: Any, reading: Reading) -> None:
    """Take the transports that the machine can have out of the section, and note a name that is not among them."""
    given = section.pop("has", []) if isinstance(section, dict) else []
    if not isinstance(given, list) or not all(isinstance(element, str) for element in given):
        reading.wrong.append(
            f'transport.has = {given!r} must be a list of transports, such as ["roce", "tcp"]'
        )
        return
    reading.transports = tuple(given)
    named = reading.texts.get("transport", "")
    if named and given and named not in given:
        reading.wrong.append(f"transport.name = {named!r} is not in transport.has")


def _read_names(section: Any, head: str, texts: dict[str, str], reading: Reading) -> None:
    """Take the texts out of a section that may hold figures too: a library's name and version, a transport's name."""
    for name, field_name in texts.items() if isinstance(section, dict) else ():
        given = section.pop(name, None)
        if given is not None and not isinstance(given, str):
            reading.wrong.append(f"{head}.{name} must be a text, not {given!r}")
        elif given is not None and given.isprintable() and given.strip() not in _PLACEHOLDERS:
            reading.texts[field_name] = given.strip()


def _read_figures(document: dict[str, Any], reading: Reading) -> set[str]:
    """Read the figures; return the keys that are written, right or wrong."""
    sections = sorted({key.partition(".")[0] for key in FIGURE_KINDS})
    mentioned = set()
    for section, entries in document.items():
        if section not in sections or not isinstance(entries, dict):
            offer = nearest(section, [*TEXTS, *OPTIONAL_TEXTS, "paths", "leaves_out", "wiring", *sections])
            reading.wrong.append(f"unknown entry {section!r}; {offer}")
            continue
        for name, entry in entries.items():
            key = f"{section}.{name}"
            if key not in FIGURE_KINDS:
                known = [k.partition(".")[2] for k in FIGURE_KINDS if k.startswith(f"{section}.")]
                reading.wrong.append(f"unknown figure {key!r}; {nearest(name, known)}")
                continue
            mentioned.add(key)
            with reading.noting():
                reading.figures[key] = read_figure(key, entry)
    return mentioned


def read_figure(key: str, entry: Any) -> Figure:
    """Return one figure of a file, checked."""
    if not isinstance(entry, dict):
        raise HardwareError(f"{key} must be a table with value, unit, basis and source, not {entry!r}")
    # whose figure it is the reader knows, and where it was written: a file cannot say it
    names = [f.name for f in fields(Figure) if f.name not in ("key", "origin")]
    for name in entry:
        if name not in names:
            raise HardwareError(f"{key} has an unknown entry {name!r}; {nearest(name, names)}")
    for name in ("value", "unit", "basis"):
        if name not in entry:
            raise HardwareError(f"{key} has no {name}")
    # `true` is an int to Python, and TOML has `inf` and `nan`
    value = entry["value"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
        raise HardwareError(f"{key}: value {value!r} is not a number")
    if abs(value) > _MOST:
        raise HardwareError(f"{key}: value is larger than any figure of a machine")
    texts = {name: _text_of(entry.get(name)) for name in ("unit", "basis", "source", "assumption")}
    if not texts["source"] and not texts["assumption"]:
        raise HardwareError(f'{key} has no source; give source = "..." or say assumption = "..."')
    figure = Figure(key=key, value=value, range=None, **texts)
    internal_value(figure)
    return replace(figure, range=_read_range(figure, entry.get("range")))


def _text_of(text: Any) -> str:
    sentence = "" if text is None else str(text).strip()
    return "" if sentence in _PLACEHOLDERS else sentence


def _read_range(figure: Figure, given: Any) -> tuple[float, float] | None:
    """Return from where to where an assumed figure may lie."""
    if given is None:
        # Between one NIC and two there is nothing: another count is another machine, which [wiring] tells of.
        if figure.assumption and FIGURE_KINDS[figure.key] != "count":
            raise HardwareError(f"{figure.key} is assumed; say from where to where: range = [low, high]")
        return None
    if not figure.assumption:
        raise HardwareError(f'{figure.key} has a range and no assumption = "..."')
    numbers = isinstance(given, list) and all(
        isinstance(v, (int, float)) and not isinstance(v, bool) for v in given
    )
    if not numbers or len(given) != 2 or not given[0] <= figure.value <= given[1]:
        raise HardwareError(f"{figure.key}: range = {given!r} must be [low, high] around {figure.value:g}")
    # The ends are simulated for the band, so they keep to the bounds of a figure themselves.
    for value in given:
        internal_value(replace(figure, value=value))
    return (given[0], given[1])


def _read_leaves_out(entry: Any, mentioned: set[str], reading: Reading) -> None:
    if not isinstance(entry, dict):
        reading.wrong.append("[leaves_out] must be a table of figures with the reason for each")
        return
    for key, reason in entry.items():
        with reading.noting():
            if key not in MAY_BE_LEFT_OUT:
                raise HardwareError(f"[leaves_out] {key!r} is not possible; {nearest(key, MAY_BE_LEFT_OUT)}")
            if not isinstance(reason, str) or not _text_of(reason):
                raise HardwareError(f"[leaves_out] {key!r} needs a reason")
            if key in mentioned:
                raise HardwareError(f"{key} is given and left out")
            reading.leaves_out[key] = reason


def _read_paths(entry: Any, reading: Reading) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("has"), list) or not entry["has"]:
        raise HardwareError('[paths] must list the data paths the machine has, such as has = ["host-rdma"]')
    lacks = entry.get("lacks", {})
    for name in set(entry) - {"has", "lacks"}:
        raise HardwareError(f"[paths] has an unknown entry {name!r}; {nearest(name, ['has', 'lacks'])}")
    if not isinstance(lacks, dict):
        raise HardwareError("[paths.lacks] must be a table of paths with the reason for each")
    for name in [*entry["has"], *lacks]:
        if name not in PATHS:
            raise HardwareError(f"unknown path {name!r}; {nearest(name, PATHS)}")
        if entry["has"].count(name) > 1:
            raise HardwareError(f"path {name!r} is listed twice")
        if name in entry["has"] and name in lacks:
            raise HardwareError(f"path {name!r} is in has and in [paths.lacks]; strike out one of them")
    reading.paths = tuple(entry["has"])
    # a rare path is lacked by nearly every machine: only a file that says why has it listed
    lacking = [path for path, record in PATHS.items() if path in lacks or not record.is_rare]
    reasons = {path: str(lacks.get(path, "not described in the cluster's file")) for path in lacking}
    reading.lacks = {path: why for path, why in reasons.items() if path not in entry["has"]}


def _note_missing(there: set[str], reading: Reading) -> None:
    """Note the figures that a path needs, or that others need beside them."""
    for key in FIGURE_KINDS:
        # what is written wrong is noted as wrong, and not as missing once more
        wanted = [path for path in needed_by(key) if path in reading.paths]
        if key not in there and wanted:
            reading.missing.append(Missing(key, _who(wanted, reading.paths)))
    for group in TOGETHER:
        absent = [key for key in group if key not in there]
        first = next((key for key in group if key in there), "")
        if first:
            reading.missing += [Missing(key, f"it belongs to {first}") for key in absent]
    noted = {missing.key for missing in reading.missing}
    devices = _devices(reading)
    if devices and devices > MAX_DEVICES:
        reading.wrong.append(f"a node with {devices} devices is too large; at most {MAX_DEVICES}")
    # None while a count is missing: then what several devices need is asked for, too
    if devices != 1:
        which = f"a node with {devices} devices" if devices else "a node with several devices"
        several = [key for key in NEEDS_OF_SEVERAL if key not in noted | set(reading.figures)]
        reading.missing += [Missing(key, f"{which} needs it") for key in several]


def _who(wanted: list[str], paths: tuple[str, ...]) -> str:
    if len(wanted) == 1:
        return f"path {wanted[0]!r} needs it"
    return (
        "every path needs it"
        if len(wanted) == len(paths)
        else f"paths {' and '.join(map(repr, wanted))} need it"
    )


def _devices(reading: Reading) -> int | None:
    """Return the devices of a node, or None while a figure that says so is missing."""
    counts = [
        reading.figures.get(f"node.{name}")
        for name in ("numa_domains", "switches_per_numa", "devices_per_switch")
    ]
    numbers = [int(count.value) for count in counts if count]
    return math.prod(numbers) if len(numbers) == len(counts) else None
