"""Export, below *More*: what is shown goes into a file beside the notebook, to play, print or present without a kernel."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as w

from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.base.feature import Place, load
from peerlab.page.widgets import classed, offer, refusal_html, row, select


@dataclass(frozen=True)
class Shown:
    """What the lab shows, and what it showed before."""

    run: Run
    before: Run | None = None

    @property
    def both(self) -> tuple[Run, ...]:
        """Two runs, what was before on the left."""
        return (self.before, self.run) if self.before else (self.run,)


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    says: str
    """What it is called in the list."""
    suffix: str
    """Of its name; a folder has none."""
    writer: Place
    """What writes a run, or of a `pair` two of them, into a file of some name; it is loaded when it is asked for."""
    pair: bool = False
    """Whether it shows what was before as well."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the writer."""

    def write(self, shown: Shown, name: str) -> Path:
        """Write what is shown into a file of this name, and return where it is."""
        write: Callable[..., Path] = load(self.writer)
        return write(shown.both if self.pair else shown.run, name, **self.options)


_PAGE = "peerlab.features.export.page:export_html"
_STILL = "peerlab.features.export.pictures:export_still"
_VIDEO = "peerlab.features.export.video:export_video"
_NO_BAR = {"progress": False}
"""A bar would go to a terminal that nobody sees."""
KINDS = (
    Kind("page with its switches", ".html", _PAGE),
    Kind("page, before beside now", ".html", _PAGE, pair=True),
    Kind("architecture review, as slides", "", "peerlab.features.deck.write_deck:write_deck_of"),
    Kind("picture (PNG)", ".png", _STILL),
    Kind("picture, before beside now", ".png", _STILL, pair=True),
    Kind("drawing (SVG)", ".svg", _STILL),
    Kind("video (MP4)", ".mp4", _VIDEO, options=_NO_BAR),
    Kind("video, before beside now", ".mp4", _VIDEO, pair=True, options=_NO_BAR),
    Kind("race, before against now (page)", ".html", _PAGE, pair=True, options={"mode": "race"}),
    Kind("race, before against now (slide)", ".html", _PAGE, pair=True, options={"mode": "race-slide"}),
    Kind(
        "race, before against now (MP4)",
        ".mp4",
        _VIDEO,
        pair=True,
        options={**_NO_BAR, "view": "race-slide"},
    ),
)
_TAKES = {
    ".html": "every state of the switches is simulated",
    ".mp4": "its 200 frames take a while",
    "": "what it compares is simulated",
}
_THEN = {
    ".html": ": opens in any browser, and in a frame of a slide",
    "": ": opens by double click, without a network",
}


class Exporting:
    """Writes what `current` returns, and says where.

    Attributes
    ----------
    panel:
        What is written, and a button that begins.
    """

    def __init__(self, current: Callable[[], Shown]) -> None:
        self._current = current
        self._task: asyncio.Task[None] | None = None
        self.kind = select(
            "Export", [], "pl-export-kind", "Take this along: what is saved beside the notebook"
        )
        self.button = classed(w.Button(description="Save"), "pl-plain", "pl-export-write")
        self._said = classed(w.HTML(), "pl-exported")
        self.panel = classed(
            w.VBox([row([self.kind, self.button], "pl-export"), self._said]), "pl-export-panel"
        )
        self.button.on_click(lambda _: self.start())
        self.show(pair=False)

    def show(self, *, pair: bool) -> None:
        """Offer what there is to write; of `pair`: there is a scenario before this one."""
        there = [(kind.says, number) for number, kind in enumerate(KINDS) if pair or not kind.pair]
        chosen = self.kind.value if self.kind.value in [number for _, number in there] else 0
        offer(self.kind, there, chosen)

    def start(self) -> None:
        """Begin to write, in a thread; may be called in a running event loop only."""
        kind = KINDS[self.kind.value]
        self.button.disabled = True
        self._say(f"Saving: {kind.says} ({_TAKES.get(kind.suffix, 'a moment of it')})")
        self._task = asyncio.get_running_loop().create_task(self._write(kind, self._current()))

    async def _write(self, kind: Kind, shown: Shown) -> None:
        what = "before-now" if kind.pair else f"{shown.run.scenario.path}-{shown.run.scenario.nodes}-nodes"
        name = f"peerlab-{what}-{datetime.now(UTC).astimezone():%Y%m%d-%H%M%S}{kind.suffix}"
        try:
            path = await asyncio.to_thread(kind.write, shown, name)
        except PeerlabError as problem:
            self._said.value = refusal_html(problem)
        else:
            size = path.stat().st_size / 1e6
            self._say(f"Saved as {path}, beside the notebook ({size:.2g} MB){_THEN.get(kind.suffix, '')}.")
        finally:
            self.button.disabled = False

    def _say(self, words: str) -> None:
        self._said.value = f"<p role='status'>{escape(words)}</p>"
