"""What a deck is about: its outline, from a short file in TOML or Markdown, or from the command line."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from peerlab.deck.markdown import read_markdown
from peerlab.deck.training import Training
from peerlab.errors import ExportError, nearest
from peerlab.textfile import read_text, read_toml
from peerlab.units import MIB

KINDS = {
    "title": "what is compared, and the answer in one line",
    "detour": "the data path through the host, with its figures",
    "direct": "the data path of Peer Direct, with its figures",
    "live": "the same, alive: to be played and switched by hand",
    "time": "where the time goes, and which part is busy",
    "nodes": "throughput against nodes, with the bands of what is assumed",
    "registration": "what registering memory costs: pool, cache, a cache too small, none",
    "training": "what it means for a step of a training",
    "recommendation": "what to do, and what it rests on",
    "assumptions": "what the answers owe to assumed figures",
    "sources": "where the figures come from",
    "text": "words of your own",
}
"""Kinds of slides."""
REVIEW = tuple(kind for kind in KINDS if kind != "text")
"""The slides of an outline that names none."""
DEFAULT_TITLE = "Host NIC against Peer Direct"


@dataclass(frozen=True)
class Plan:
    """One slide that is asked for."""

    show: str
    """Key of `KINDS`."""
    title: str = ""
    """Stands instead of the slide's own title."""
    text: str = ""
    """Words of your own below the title; an empty line begins a new paragraph."""
    notes: str = ""
    """What the speaker sees, before the slide's own notes."""

    def __post_init__(self) -> None:
        if self.show not in KINDS:
            raise ExportError(f"slide: show = {self.show!r} is unknown; {nearest(str(self.show), KINDS)}")


@dataclass(frozen=True)
class Outline:
    """A deck that is asked for."""

    title: str = DEFAULT_TITLE
    """Title of the deck."""
    subtitle: str = ""
    """A line below it, such as who presents it to whom."""
    scenario: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the scenario that is compared; the path is not among them, as all are compared."""
    training: Training | None = None
    """A step of a training; without one there is no slide on it."""
    slides: tuple[Plan, ...] = tuple(Plan(kind) for kind in REVIEW)
    """The slides, in order."""


_OWN = ("title", "subtitle", "scenario", "training", "slide")


def read_outline(path: str | Path) -> Outline:
    """Return the outline in a TOML file, or in a Markdown file (``.md``, ``.markdown``).

    Raises
    ------
    ExportError
        If it cannot be read, or holds what an outline does not have.
    """
    text = read_text(path, what="outline of a deck", most_bytes=MIB, error=ExportError)
    held = _held(text, Path(path))
    _only_known("outline", held, _OWN)
    slides = tuple(_plan(one) for one in _tables(held.get("slide", []), "slide"))
    scenario, training = held.get("scenario", {}), held.get("training")
    if not isinstance(scenario, dict) or not isinstance(training, dict | None):
        raise ExportError("outline: [scenario] and [training] are tables, as in [scenario] nodes = 8")
    return Outline(
        title=_text("title", held.get("title", DEFAULT_TITLE)),
        subtitle=_text("subtitle", held.get("subtitle", "")),
        scenario=scenario,
        training=None if training is None else Training.read(training),
        slides=slides or Outline.slides,
    )


def _held(text: str, path: Path) -> dict[str, Any]:
    if path.suffix.lower() in (".md", ".markdown"):
        return read_markdown(text, path.name, KINDS)
    return read_toml(text, f"{path} is not valid TOML", ExportError)


def _plan(given: Mapping[str, Any]) -> Plan:
    _only_known("slide", given, [one.name for one in fields(Plan)])
    words = {name: _text(name, value) for name, value in given.items()}
    return Plan(**{"show": "text", **words})


def _tables(given: object, name: str) -> list[dict[str, Any]]:
    if isinstance(given, list) and all(isinstance(one, dict) for one in given):
        return given
    raise ExportError(f"outline: slides are written as [[{name}]], one each")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ExportError(f"outline: {name} = {value!r} is not text")
    return value


def _only_known(where: str, given: Mapping[str, Any], known: Any) -> None:
    for name in given:
        if name not in known:
            raise ExportError(f"{where}: {name!r} is unknown; {nearest(name, known)}")
