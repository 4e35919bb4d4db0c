"""What a deck is about: its outline, from a short file in Markdown, or from the command line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peerlab.deck.markdown import read_markdown
from peerlab.deck.trained_step import TrainedStep
from peerlab.deck.training import Training
from peerlab.errors import ExportError, nearest
from peerlab.textfile import read_text
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
    "sure": "how sure the gain is: figures, library and wiring, and the one fact to check first",
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
class SlidePlan:
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
    training: Training | TrainedStep | None = None
    """A step of a training; without one there is no slide on it."""
    slides: tuple[SlidePlan, ...] = tuple(SlidePlan(kind) for kind in REVIEW)
    """The slides, in order."""


def read_outline(path: str | Path) -> Outline:
    """Return the outline in a Markdown file; ``peerlab deck --help`` shows one.

    Raises
    ------
    ExportError
        If it cannot be read, or holds what an outline does not have; it names the line.
    """
    name = Path(path).name
    if Path(path).suffix.lower() == ".toml":
        raise ExportError(
            f"{name}: an outline is Markdown now, in a file such as review.md: title, subtitle, scenario: and training: as YAML "
            "between two lines of ---, and below them for each [[slide]] a line ## kind: title (peerlab deck --help shows one)"
        )
    text = read_text(path, what="outline of a deck", most_bytes=MIB, error=ExportError)
    held = read_markdown(text, name, KINDS)
    slides = tuple(SlidePlan(**one) for one in held.pop("slides"))
    return Outline(**held, slides=slides or Outline.slides)
