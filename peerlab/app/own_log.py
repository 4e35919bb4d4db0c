"""A log of one's own: pasted or uploaded, read, diagnosed, and laid on the curves."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as w

from peerlab.app.fitting import fitting
from peerlab.app.widgets import classed, row, unfold
from peerlab.errors import PeerlabError
from peerlab.model.checks import COLLECTIVES
from peerlab.model.hardware import Cluster
from peerlab.model.presets import load_cluster
from peerlab.model.scenario import Scenario
from peerlab.records import Records
from peerlab.records.load import TOOLS, read_log
from peerlab.records.text import log_of
from peerlab.study.diagnosis import Diagnosis, diagnose
from peerlab.units import say_bytes
from peerlab.view.diagnosis import diagnosis_html, path_name

_INVITATION = f"Paste the output of {TOOLS}, its command line included; or choose the file."


@dataclass(frozen=True)
class Found:
    """What was found in a log."""

    name: str
    """Of the file, or what its user calls it."""
    records: Records
    """What it says."""
    diagnosis: Diagnosis
    """Which path it is from."""

    @property
    def machine(self) -> Cluster | None:
        """The cluster that explains it best, or the only one recognised; None if none is."""
        first = self.diagnosis.ranking[0]
        if self.diagnosis.path and first.fit:
            return first.fit.cluster
        return load_cluster(self.diagnosis.clusters[0]) if len(self.diagnosis.clusters) == 1 else None


class OwnLog:
    """The panel; `on_found` hears what was found in a log, or None when it is taken away.

    Attributes
    ----------
    panel:
        The widget, hidden until it is asked for.
    toggle:
        The button that shows and hides it.
    verdict:
        What the log tells, in full; it stands below the figures.
    """

    def __init__(self, on_found: Callable[[Found | None], None]) -> None:
        self._on_found = on_found
        self._task: asyncio.Task[None] | None = None
        self.toggle = classed(
            w.ToggleButton(description="Your log", tooltip=_INVITATION, icon="caret-right"),
            *("pl-plain", "pl-log-button"),
        )
        self._text = classed(w.Textarea(placeholder=_INVITATION, rows=5), "pl-log-text")
        self._file = classed(
            w.FileUpload(description="Choose a file", multiple=False), "pl-plain", "pl-log-file"
        )
        self._read = classed(w.Button(description="Which path is this?"), "pl-plain", "pl-log-read")
        self._away = classed(w.Button(description="Take it away"), "pl-plain", "pl-log-away")
        self._short = classed(w.HTML(), "pl-log-short")
        self.verdict = classed(w.HTML(), "pl-log-verdict")
        buttons = classed(w.VBox([self._read, self._file, self._away]), "pl-log-buttons")
        self.panel = classed(w.VBox([row([self._text, buttons], "pl-log"), self._short]), "pl-log-panel")
        unfold(self.toggle, self.panel)
        self._file.observe(self._uploaded, "value")
        self._read.on_click(lambda _: self.read(self._text.value, "your log"))
        self._away.on_click(lambda _: self._take_away())

    def read(self, held: str | bytes, name: str) -> None:
        """Read a log, as pasted or as a file of this name holds it; what is wrong with it is said in the panel."""
        if not held.strip():
            self._say("Nothing to read yet: paste a log above, or choose a file.")
            return
        if self._task:
            self._task.cancel()
        self.verdict.value = ""
        self._short.value = f"<p role='status'>Reading {escape(name)} ...</p>"
        self._task = asyncio.get_running_loop().create_task(self._look(held, name))

    async def _look(self, held: str | bytes, name: str) -> None:
        try:
            found = await asyncio.to_thread(_look_at, held, name)
        except PeerlabError as problem:
            self._say(str(problem) if str(problem).startswith(name) else f"{name}: {problem}")
            return
        self._short.value = f"<p role='status'>{escape(_in_short(found))}</p>{_warnings(found.records)}"
        told = found.diagnosis.as_dict() | {"warnings": []}  # they stand above, in the panel
        self.verdict.value = diagnosis_html(told, name)
        self._on_found(found)

    def _uploaded(self, event: Any) -> None:
        for one in event["new"]:
            self._text.value = ""
            self.read(bytes(one["content"]), one["name"])

    def _take_away(self) -> None:
        if self._task:
            self._task.cancel()
        self._text.value = self._short.value = self.verdict.value = ""
        self._on_found(None)

    def _say(self, problem: str) -> None:
        self._short.value = f"<div class='pl-error'><p role='alert'>{escape(problem)}</p></div>"


def as_measured(scenario: Scenario, found: Found) -> Scenario:
    """Return the scenario of a log: its cluster, nodes, operation, path and largest message; as it was without a cluster."""
    machine, seen = found.machine, found.diagnosis.seen
    if machine is None:
        return scenario
    changes: dict[str, Any] = {"cluster": machine.name, "message_bytes": int(seen.sizes[-1])}
    if seen.collective in COLLECTIVES:
        changes["collective"] = seen.collective
    if seen.nodes or seen.collective == "point-to-point":
        changes["nodes"] = seen.nodes or 2
    path = {"path": found.diagnosis.path} if found.diagnosis.path in machine.paths else {}
    return scenario.with_(**{**fitting(scenario, changes), **path})


def start_of(records: Records, otherwise: Scenario) -> Scenario:
    """Return the scenario of some records, or another one where their machine is not recognised."""
    try:
        return as_measured(otherwise, Found("records", records, diagnose(records)))
    except PeerlabError:  # records of this machine, or of several paths, have no scenario
        return otherwise


def _look_at(held: str | bytes, name: str) -> Found:
    records = read_log(log_of(held, name))
    return Found(name, records, diagnose(records))


def _in_short(found: Found) -> str:
    """Return the verdict, what Peer Direct would bring, and whether the pictures show the log's machine."""
    diagnosis, would = found.diagnosis, found.diagnosis.forecast
    path = f"{path_name(diagnosis.path)}, {diagnosis.verdict}" if diagnosis.path else "cannot tell the path"
    gain = would.why_not or (
        f"{would.ratio[-1]:.2f} times at {say_bytes(int(would.sizes[-1]))}; {would.gain.range_in_words()}"
    )
    shown = "" if found.machine else " No cluster was recognised: the pictures still show another machine."
    return f"{found.name}: {path}. With Peer Direct: {gain}.{shown} The evidence is below the figures."


def _warnings(records: Records) -> str:
    lines = "".join(f"<li>{escape(one)}</li>" for one in records.warnings)
    return f"<div class='pl-error'><ul role='alert'>{lines}</ul></div>" if lines else ""
