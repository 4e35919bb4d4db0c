"""What a deck is about: its outline, from a short file in Markdown, or from the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from peerlab.base.errors import ExportError, PeerlabError, nearest
from peerlab.base.textfile import in_words, read_text
from peerlab.base.units import MIB
from peerlab.features.deck.reading.lead import Lead, read_logo
from peerlab.features.deck.reading.markdown import read_markdown
from peerlab.features.deck.trained_step import TrainedStep
from peerlab.features.deck.training import Training
from peerlab.records.load import load
from peerlab.records.schema import Records

KINDS = {
    "title": "what is compared, and the answer as a range",
    "compare": "where the bytes go before and after, with what changes",
    "race": "both ways on one clock, played; in print the moment when the faster one is through",
    "live": "the explorer: to be played and switched by hand",
    "log": "what you measured, which path it was, what Peer Direct would bring (with --log)",
    "clusters": "the same question on a second cluster (with --beside)",
    "sure": "how sure the gain is: figures, library and wiring",
    "wiring": "where the NICs hang, the fact to check first: the byte's way as assumed, and as it may be instead",
    "training": "what it means for a step of a training, over batches, and when it is not worth it",
    "elsewhere": "gains measured elsewhere, on the axis of the simulated one",
    "scale": "the gain over message sizes and nodes, with its bands",
    "alternatives": "what else one could buy or set, simulated, with a cost to fill in",
    "limits": "what is not modelled",
    "recommendation": "what to do: each step with its command, the threshold, the way back",
    "registration": "what registering memory costs: pool, cache, a cache too small, none",
    "assumptions": "what the answers owe to assumed figures",
    "sources": "where the figures come from",
    "detour": "the data path through the host alone, with its figures",
    "direct": "the data path of Peer Direct alone, with its figures",
    "time": "where the time goes, and which part is busy",
    "nodes": "throughput against nodes, with the bands of what is assumed",
    "tails": "both ways at p50, p90 and p99 of many runs with noise, and the gain there, as far as a minute of runs goes",
    "p99": "the run of Peer Direct at p99 of those: who is late, and how lateness spreads",
    "neighbours": "what an AllReduce keeps of its speed beside others, on each fabric with queues",
    "jobs": "two jobs on one uplink, begun together and begun apart",
    "text": "words of your own",
}
"""Kinds of slides."""
REVIEW = tuple(
    kind
    for kind in KINDS
    if kind not in ("detour", "direct", "time", "nodes", "tails", "p99", "neighbours", "jobs", "text")
)
"""The slides of an outline that names none; those on a log or a second cluster only where there is one."""
THEMES = ("light", "dark", "auto")
DEFAULT_TITLE = "Through the host, or Peer Direct?"


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
            raise ExportError(
                f"there is no kind of slide {self.show!r:.40}; {nearest(str(self.show), KINDS)}"
            )


@dataclass(frozen=True)
class Outline:
    """A deck that is asked for."""

    title: str = DEFAULT_TITLE
    """Title of the deck."""
    subtitle: str = ""
    """The line below the title, such as the presenter and the audience."""
    scenario: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the scenario that is compared; the path is not among them, as all are compared."""
    training: Training | TrainedStep | None = None
    """A step of a training; without one there is no slide on it."""
    author: str = ""
    """Who presents it."""
    date: str = ""
    """When, in your own words."""
    logo: str = ""
    """File of a logo: PNG, JPEG, GIF or WebP of at most 1 MiB."""
    theme: str = "light"
    """``light``, ``dark``, or ``auto``: that of the reader's system; print is always light."""
    beside: str = ""
    """A second cluster that is asked the same."""
    log: str = ""
    """File of a log whose path and gain are shown."""
    slides: tuple[SlidePlan, ...] = tuple(SlidePlan(kind) for kind in REVIEW)
    """The slides, in order."""

    def __post_init__(self) -> None:
        """Refuse a theme that is none."""
        if self.theme not in THEMES:
            raise ExportError(f"theme: {self.theme!r} is unknown; {nearest(self.theme, THEMES)}")

    @cached_property
    def lead(self) -> Lead:
        """Presenter, date and logo of the deck."""
        return Lead(self.author, self.date, read_logo(self.logo) if self.logo else "")

    @cached_property
    def records(self) -> Records:
        """What the log holds.

        Raises
        ------
        ExportError
            If it cannot be read.
        """
        try:
            return load(self.log)
        except PeerlabError as problem:
            raise ExportError(f"log: {problem}") from None

    def check_shown(self) -> None:
        """Refuse a log, or a second cluster, that no slide shows.

        Raises
        ------
        ExportError
            If there is one.
        """
        # Else somebody would look in vain for what was asked for, and was read.
        shown = {plan.show for plan in self.slides}
        for name, text, kind in (("log", self.log, "log"), ("beside", self.beside, "clusters")):
            if text and kind not in shown:
                raise ExportError(
                    f"{name}: no slide shows {text}; add ## {kind} to the outline, or {kind} to --only"
                )

    def only(self, kinds: Sequence[str]) -> "Outline":
        """Return the outline with some kinds of slides alone, in the order of the deck.

        Raises
        ------
        ExportError
            If a kind is unknown, or none is named.
        """
        for kind in kinds:
            # Made to be refused: an unknown kind is named here.
            SlidePlan(kind)
        if not kinds:
            raise ExportError("only: name a kind of slide, such as title")
        planned = {plan.show for plan in self.slides}
        more = tuple(SlidePlan(kind) for kind in KINDS if kind in kinds and kind not in planned)
        # Named kinds that the outline lacks come last, in the order of the review.
        return replace(self, slides=(*(plan for plan in self.slides if plan.show in kinds), *more))


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
    slides = tuple(SlidePlan(**entry) for entry in held.pop("slides"))
    for file in ("logo", "log"):  # beside the outline
        if held.get(file):
            with in_words(f"{name}: {file}: {held[file]}", ExportError):
                # An absolute path stays what it is.
                held[file] = str(Path(path).parent / Path(held[file]).expanduser())
    # An outline without any ## shows the whole review.
    return Outline(**held, slides=slides or Outline.slides)
