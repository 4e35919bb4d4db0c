"""A panel for what a tool printed: pasted or chosen as a file, read in a thread, answered in words below."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, TypeVar

import ipywidgets as w

from peerlab.base.errors import PeerlabError
from peerlab.page.widgets import classed, refusal_html, row, unfold

_Found = TypeVar("_Found")


class PastePanel:
    """The panel; what reads is a subclass (`read`).

    Attributes
    ----------
    panel:
        The widget, hidden until `toggle` is pressed.
    toggle:
        The button that shows and hides it.
    """

    def __init__(self, kind: str, invitation: str, action: str, toggle: w.Widget) -> None:
        """`kind` names its style classes, `action` is what the button says that reads the text."""
        self._task: asyncio.Task[None] | None = None
        self._kind, self.toggle = kind, toggle
        self._text = self._styled(w.Textarea(placeholder=invitation, rows=5), "text")
        self._file = self._styled(
            w.FileUpload(description="Choose a file", multiple=False, tooltip=f"Read a {kind} from a file"),
            "file",
        )
        self._read = self._styled(w.Button(description=action), "read")
        self._short = self._styled(w.HTML(), "short")
        self.panel = self._styled(w.VBox(), "panel")
        self._file.observe(self._uploaded, "value")
        self._read.on_click(lambda _: self.read(self._text.value, f"your {kind}"))

    def _styled(self, widget: w.Widget, part: str) -> w.Widget:
        return classed(widget, f"pl-paste-{part}", f"pl-{self._kind}-{part}")

    def _lay_out(self, buttons: Sequence[w.Widget], beside: Sequence[w.Widget]) -> None:
        """Put buttons below that for a file, and others beside the answer."""
        every = [classed(button, "pl-plain") for button in (self._read, self._file, *buttons)]
        column = self._styled(w.VBox(every), "buttons")
        self._asking = row([self._text, column], "pl-paste")
        self.panel.children = [self._asking, row([self._short, *beside], "pl-paste-told")]
        unfold(self.toggle, self.panel)

    def read(self, held: str | bytes, name: str) -> None:
        """Read what was pasted, or the file of this name; the panel shows what is wrong with it."""
        raise NotImplementedError

    def _is_empty(self, held: str | bytes) -> bool:
        """Return whether there is nothing to read, and say so."""
        if not held.strip():
            self._say(f"Nothing to read yet: paste a {self._kind} above, or choose a file.")
        return not held.strip()

    def _start(self, name: str, look: Callable[[], _Found], show: Callable[[_Found], None]) -> None:
        """Let a thread look at what was given, then `show` what it found; what was begun before is given up."""
        self._stop()
        self._short.value = f"<p role='status'>Reading {escape(name)}</p>"
        # Kept here, as a loop holds its tasks by weak references only.
        self._task = asyncio.get_running_loop().create_task(self._look(name, look, show))

    async def _look(self, name: str, look: Callable[[], _Found], show: Callable[[_Found], None]) -> None:
        try:
            show(await asyncio.to_thread(look))
        except PeerlabError as problem:
            self._say(str(problem) if str(problem).startswith(name) else f"{name}: {problem}")
        except Exception as bug:  # nobody would see it: the panel would read for ever
            logging.getLogger("peerlab").exception("in the panel for a %s", self._kind)
            self._say(f"This should not happen; please report it: {type(bug).__name__}: {bug}")

    def _stop(self) -> None:
        """Give up what is being read."""
        if self._task:
            self._task.cancel()

    def _uploaded(self, event: Any) -> None:
        for upload in event["new"]:
            # What was pasted is not what is read now.
            self._text.value = ""
            self.read(bytes(upload["content"]), upload["name"])

    def _say(self, problem: str) -> None:
        self._short.value = refusal_html(problem)
