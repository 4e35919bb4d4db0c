"""The panel for a user's log: pasted or uploaded, read, diagnosed, and drawn on the curves."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from peerlab.app.panels.paste_panel import PastePanel
from peerlab.page.widgets import Changes, classed, row, select, unfold, way_back
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records import Records
from peerlab.records.benchmarks import TOOLS

if TYPE_CHECKING:
    from peerlab.app.panels.log_findings import LogFindings

_INVITATION = f"Paste the output of {TOOLS}, its command line included; or choose the file, or a trace of PyTorch's profiler."
_NONE = "choose its machine", ""
"""What the list of clusters shows where nothing says which it is."""


class OwnLog(PastePanel):
    """The panel. `on_found` is called with the findings in a log, or with None when the log is taken away.

    `on_go` is called with the changes that lead to the scenario of the log.

    Attributes
    ----------
    first:
        Whether the run is well, large.
    machine:
        The list of clusters below that sentence; which one is chosen reads the log again.
    verdict:
        All else that was found: its picture, causes and commands.
    """

    def __init__(
        self, on_found: "Callable[[LogFindings | None], None]", on_go: Callable[[Changes], None]
    ) -> None:
        toggle = w.ToggleButton(description="Your log", tooltip=_INVITATION)
        super().__init__("log", _INVITATION, "Is it well?", classed(toggle, "pl-plain", "pl-log-button"))
        self._on_found, self._on_go = on_found, on_go
        self._held: tuple[str | bytes, str] = "", ""
        self._found: LogFindings | None = None
        self._scenario: Scenario | None = None
        self._showing = False
        self._away = classed(
            w.Button(description="Remove", tooltip="Remove the log"), "pl-plain", "pl-log-away"
        )
        self._go = classed(w.Button(), "pl-plain", "pl-log-go")
        self.first, self.verdict = (
            classed(w.HTML(), "pl-log-verdict", name) for name in ("pl-log-first", "pl-log-rest")
        )
        self.machine = select(
            "Compared with", [_NONE], "pl-log-machine", "The cluster that the log is compared with"
        )
        self._lay_out([], [])
        self._other = classed(
            w.ToggleButton(description="The log", icon="caret-right"), "pl-plain", "pl-log-other"
        )
        asking, told = self.panel.children
        self.panel.children = [
            row([way_back(self.toggle), self._other, self._away, self._go], "pl-place"),
            asking,
            self.first,
            self.machine,
            self.verdict,
            told,
        ]
        unfold(self._other, asking)
        self._other.value = True
        self._away.on_click(lambda _: self._take_away())
        self._go.on_click(lambda _: self._gone())
        self.machine.observe(self._chosen, "value")
        self._clear()
        self._offer()

    def show(self, scenario: Scenario) -> None:
        """Take the scenario that is shown: the next log is compared with its cluster, and the last log may be of another."""
        self._scenario = scenario
        self._offer()

    def read(self, held: str | bytes, name: str) -> None:
        """Read a log, pasted or from a file of this name; the panel shows what is wrong with it."""
        if self._is_empty(held):
            return
        self._held = held, name
        self._clear()
        self._forget()
        shown = self._scenario
        self._start(name, lambda: self._look_at(held, name, shown), self._tell)

    def _look_at(
        self, held: str | bytes, name: str, shown: Scenario | None
    ) -> "LogFindings | tuple[str, str]":
        """Return the findings in a log, or what a profiler's trace says, in short and as HTML."""
        from peerlab.app.panels.log_findings import look_at, look_at_trace  # noqa: PLC0415

        pair = look_at_trace(held, name, shown)
        return pair or look_at(held, name, shown.given_cluster if shown else None)

    def _chosen(self, event: Any) -> None:
        """Read the log again beside the cluster that was chosen; what is shown stays until it is read."""
        held, name = self._held
        cluster = event["new"]
        if not cluster or self._showing or self._found is None:
            return
        from peerlab.app.panels.log_findings import look_at  # noqa: PLC0415

        self._start(name, lambda: look_at(held, name, cluster), self._tell)

    def _tell(self, answer: "LogFindings | tuple[str, str]") -> None:
        if isinstance(answer, tuple):
            self._short.value, self.verdict.value = f"<p role='status'>{escape(answer[0])}</p>", answer[1]
            return
        self._short.value = f"<p role='status'>{escape(answer.in_short())}</p>{_warnings(answer.records)}"
        self.first.value, self.verdict.value = answer.in_full()
        if self._found is None:  # else another cluster was chosen in the list, which keeps the focus
            self._other.value = False  # its text is folded: the verdict stands first
            self._other.focus()  # the button that was pressed is hidden, and Escape must still be heard
        self._offer_machines(answer)
        self._found = answer
        self._on_found(answer)
        self._offer()

    def _offer_machines(self, log_findings: "LogFindings") -> None:
        """Show the list of clusters at the one that the log was compared with, or at none."""
        held = log_findings.held
        clusters = [load_cluster(name) for name in log_findings.machines()]
        drafted = [held] if held and held not in clusters else []
        options = [(cluster.title, cluster) for cluster in (*drafted, *clusters)]
        self._showing = True
        self.machine.options = options if held else [_NONE, *options]
        self.machine.value, self.machine.layout.display = held or _NONE[1], ""
        self._showing = False

    def _clear(self) -> None:
        self.first.value = self.verdict.value = ""
        self.machine.layout.display = "none"

    def _offer(self) -> None:
        """Show a button for the next thing to do, if there is one."""
        label, self._follow = self._next()
        self._go.description, self._go.layout.display = label, "" if label else "none"
        self._away.layout.display = "" if self._held[0] else "none"

    def _next(self) -> tuple[str, Callable[[], None]]:
        """Return what the button says and does: compare with the cluster chosen since, or go to where the log was taken."""
        log_findings, shown = self._found, self._scenario
        if not log_findings or not shown:
            return "", lambda: None
        if shown.given_cluster != log_findings.shown and (log_findings.compared or not log_findings.cluster):
            return f"Compare with {shown.given_cluster.title}", lambda: self.read(*self._held)
        there, sentence = log_findings.way_from(shown)
        return f"Show {sentence}" if sentence else "", lambda: self._on_go(there)

    def _gone(self) -> None:
        self._follow()
        self._other.focus()  # the button hides itself

    def _forget(self) -> None:
        self._found = None
        self._offer()

    def _take_away(self) -> None:
        self._stop()
        self._other.value = True
        self._text.value = self._short.value = ""
        self._clear()
        self._held = "", ""
        self._forget()
        self._text.focus()  # the button that was pressed hides itself
        self._on_found(None)


def _warnings(records: Records) -> str:
    lines = "".join(f"<li>{escape(warning)}</li>" for warning in records.warnings)
    return f"<div class='pl-error'><ul role='alert'>{lines}</ul></div>" if lines else ""
