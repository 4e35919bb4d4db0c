"""The button that writes what is shown as a page that plays without a kernel."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import ipywidgets as w

from peerlab.app.widgets import button, classed
from peerlab.errors import PeerlabError
from peerlab.export.page import export_html
from peerlab.model.scenario import Scenario

_TOOLTIP = "Write this scenario as a page that plays in any browser without a kernel, beside the notebook"


class Exporting:
    """Writes the page of the scenario that `current` returns, and says where.

    Attributes
    ----------
    button:
        What its user presses.
    said:
        Where the page is, or why there is none.
    """

    def __init__(self, current: Callable[[], Scenario]) -> None:
        self._current = current
        self._task: asyncio.Task[None] | None = None
        self.button = button("Export", _TOOLTIP)
        self.said = classed(w.HTML(), "pl-exported")
        self.button.on_click(lambda _: self.start())

    def start(self) -> None:
        """Begin to write, in a thread; may be called in a running event loop only."""
        self.button.disabled = True
        self.said.value = "<p role='status'>Exporting: every state of the switches is simulated ...</p>"
        self._task = asyncio.get_running_loop().create_task(self._write(self._current()))

    async def _write(self, scenario: Scenario) -> None:
        name = f"peerlab-{datetime.now(UTC).astimezone():%Y%m%d-%H%M%S}.html"
        try:
            path = await asyncio.to_thread(export_html, scenario, name)
        except PeerlabError as problem:
            self.said.value = f"<div class='pl-error'><p role='alert'>{escape(str(problem))}</p></div>"
        else:
            self.said.value = f"<p role='status'>{escape(_say(path))}</p>"
        finally:
            self.button.disabled = False


def _say(path: Path) -> str:
    return (
        f"Saved as {path}, beside the notebook ({path.stat().st_size / 1e6:.1f} MB): opens in any browser, "
        "and in a frame of a slide."
    )
