"""The panel for a user's log: pasted or uploaded, read, diagnosed, and drawn on the curves."""

import asyncio
from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as w

from peerlab.app.log_findings import LogFindings, in_short, look_at, look_at_trace, say_changes, way_to
from peerlab.app.widgets import Changes, classed, row, unfold
from peerlab.errors import PeerlabError
from peerlab.model.scenario import Scenario
from peerlab.records import Records
from peerlab.records.benchmarks import TOOLS
from peerlab.reports.diagnosis_report import diagnosis_html

_INVITATION = f"Paste the output of {TOOLS}, its command line included; or choose the file, or a trace of PyTorch's profiler."


class OwnLog:
    """The panel. `on_found` is called with the findings in a log, or with None when the log is taken away.

    `on_go` is called with the changes that lead to the scenario of the log.

    Attributes
    ----------
    panel:
        The widget, hidden until it is asked for.
    toggle:
        The button that shows and hides it.
    verdict:
        All findings in words, below the figures.
    """

    def __init__(
        self, on_found: Callable[[LogFindings | None], None], on_go: Callable[[Changes], None]
    ) -> None:
        self._on_found, self._on_go = on_found, on_go
        self._task: asyncio.Task[None] | None = None
        self._held: tuple[str | bytes, str] = "", ""
        self._found: LogFindings | None = None
        self._scenario: Scenario | None = None
        self.toggle = classed(
            w.ToggleButton(description="Your log", tooltip=_INVITATION, icon="caret-right"),
            *("pl-plain", "pl-log-button"),
        )
        self._text = classed(w.Textarea(placeholder=_INVITATION, rows=5), "pl-log-text")
        self._file = classed(
            w.FileUpload(description="Choose a file", multiple=False, tooltip="Read a log from a file"),
            "pl-plain",
            "pl-log-file",
        )
        self._read = classed(w.Button(description="Which path is this?"), "pl-plain", "pl-log-read")
        self._away = classed(w.Button(description="Remove the log"), "pl-plain", "pl-log-away")
        self._short = classed(w.HTML(), "pl-log-short")
        self._go = classed(w.Button(), "pl-plain", "pl-log-go")
        self.verdict = classed(w.HTML(), "pl-log-verdict")
        buttons = classed(w.VBox([self._read, self._file, self._away]), "pl-log-buttons")
        told = row([self._short, self._go], "pl-log-told")
        self.panel = classed(w.VBox([row([self._text, buttons], "pl-log"), told]), "pl-log-panel")
        unfold(self.toggle, self.panel)
        self._file.observe(self._uploaded, "value")
        self._read.on_click(lambda _: self.read(self._text.value, "your log"))
        self._away.on_click(lambda _: self._take_away())
        self._go.on_click(lambda _: self._follow())
        self._offer()

    def show(self, scenario: Scenario) -> None:
        """Take the scenario that is shown: the next log is compared with its cluster, and the last log may be of another."""
        self._scenario = scenario
        self._offer()

    def read(self, held: str | bytes, name: str) -> None:
        """Read a log, pasted or from a file of this name; the panel shows what is wrong with it."""
        if not held.strip():
            self._say("Nothing to read yet: paste a log above, or choose a file.")
            return
        if self._task:
            self._task.cancel()
        self._held, self.verdict.value = (held, name), ""
        self._forget()
        self._short.value = f"<p role='status'>Reading {escape(name)} ...</p>"
        self._task = asyncio.get_running_loop().create_task(self._look(held, name))

    async def _look(self, held: str | bytes, name: str) -> None:
        try:
            if said := await asyncio.to_thread(look_at_trace, held, name, self._scenario):
                self._short.value, self.verdict.value = f"<p role='status'>{escape(said[0])}</p>", said[1]
                return
            shown = self._scenario.hardware if self._scenario else None
            found = await asyncio.to_thread(look_at, held, name, shown)
        except PeerlabError as problem:
            self._say(str(problem) if str(problem).startswith(name) else f"{name}: {problem}")
            return
        self._short.value = f"<p role='status'>{escape(in_short(found))}</p>{_warnings(found.records)}"
        told = found.diagnosis.as_dict() | {"warnings": []}  # they stand above, in the panel
        self.verdict.value = diagnosis_html(told, name)
        self._found = found
        self._on_found(found)
        self._offer()

    def _offer(self) -> None:
        """Show a button for the next thing to do, if there is one."""
        label, self._follow = self._next()
        self._go.description, self._go.layout.display = label, "" if label else "none"

    def _next(self) -> tuple[str, Callable[[], None]]:
        """Return what the button says and does: compare with the cluster chosen since, or go to where the log was taken."""
        found, shown = self._found, self._scenario
        if not found or not shown:
            return "", lambda: None
        if shown.hardware != found.shown and (found.compared or not found.cluster):
            return f"Compare with {shown.hardware.title}", lambda: self.read(*self._held)
        there = way_to(shown, found)
        return f"Show {said}" if (said := say_changes(there)) else "", lambda: self._on_go(there)

    def _forget(self) -> None:
        self._found = None
        self._offer()

    def _uploaded(self, event: Any) -> None:
        for one in event["new"]:
            self._text.value = ""
            self.read(bytes(one["content"]), one["name"])

    def _take_away(self) -> None:
        if self._task:
            self._task.cancel()
        self._text.value = self._short.value = self.verdict.value = ""
        self._forget()
        self._on_found(None)

    def _say(self, problem: str) -> None:
        self._short.value = f"<div class='pl-error'><p role='alert'>{escape(problem)}</p></div>"


def _warnings(records: Records) -> str:
    lines = "".join(f"<li>{escape(one)}</li>" for one in records.warnings)
    return f"<div class='pl-error'><ul role='alert'>{lines}</ul></div>" if lines else ""
