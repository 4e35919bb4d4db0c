"""Export, below *More*: what is shown goes into a file beside the notebook, to play, print or present without a kernel."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as w

from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.features.export.page import export_html
from peerlab.features.export.pictures import export_still
from peerlab.features.export.video import export_video
from peerlab.page.widgets import classed, offer, row, select


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
    write: Callable[[Any, str], Path]
    """Writes a run, or of a `pair` two of them, into a file of this name."""
    pair: bool = False
    """Whether it shows what was before as well."""


def _deck(run: Run, name: str) -> Path:
    # What reads outlines takes a tenth of the time in which the explorer opens.
    from peerlab.features.deck.reading.outline import Outline  # noqa: PLC0415
    from peerlab.features.deck.write_deck import write_deck  # noqa: PLC0415

    # The deck compares paths itself, so the one that is shown is no part of its question.
    scenario, compared = run.scenario, ("path", "registration")
    kept = {
        field.name: getattr(scenario, field.name) for field in fields(scenario) if field.name not in compared
    }
    return write_deck(Outline(scenario=kept), name)


# A bar would go to a terminal that nobody sees.
_video = partial(export_video, progress=False)
KINDS = (
    Kind("page with its switches", ".html", export_html),
    Kind("page, before beside now", ".html", export_html, pair=True),
    Kind("architecture review, as slides", "", _deck),
    Kind("picture (PNG)", ".png", export_still),
    Kind("picture, before beside now", ".png", export_still, pair=True),
    Kind("drawing (SVG)", ".svg", export_still),
    Kind("video (MP4)", ".mp4", _video),
    Kind("video, before beside now", ".mp4", _video, pair=True),
    Kind("race, before against now (page)", ".html", partial(export_html, mode="race"), pair=True),
    Kind("race, before against now (slide)", ".html", partial(export_html, mode="race-slide"), pair=True),
    Kind("race, before against now (MP4)", ".mp4", partial(_video, view="race-slide"), pair=True),
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
        self._say(f"Saving: {kind.says} ({_TAKES.get(kind.suffix, 'a moment of it')}) ...")
        self._task = asyncio.get_running_loop().create_task(self._write(kind, self._current()))

    async def _write(self, kind: Kind, shown: Shown) -> None:
        what = "before-now" if kind.pair else f"{shown.run.scenario.path}-{shown.run.scenario.nodes}-nodes"
        name = f"peerlab-{what}-{datetime.now(UTC).astimezone():%Y%m%d-%H%M%S}{kind.suffix}"
        try:
            path = await asyncio.to_thread(kind.write, shown.both if kind.pair else shown.run, name)
        except PeerlabError as problem:
            self._said.value = f"<div class='pl-error'><p role='alert'>{escape(str(problem))}</p></div>"
        else:
            size = path.stat().st_size / 1e6
            self._say(f"Saved as {path}, beside the notebook ({size:.2g} MB){_THEN.get(kind.suffix, '')}.")
        finally:
            self.button.disabled = False

    def _say(self, words: str) -> None:
        self._said.value = f"<p role='status'>{escape(words)}</p>"
