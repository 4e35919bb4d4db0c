"""The panel for a user's machine: its topology pasted, uploaded or read here, drafted as a cluster file, and drawn."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import ipywidgets as w

from peerlab.answer.gain import FELT, GainBand
from peerlab.app.panels.paste_panel import PastePanel
from peerlab.base.errors import HardwareError, one_line
from peerlab.base.units import say_count
from peerlab.model.nic_wiring import Wiring
from peerlab.page.widgets import classed
from peerlab.question.scenario import Scenario
from peerlab.topology import read_topology
from peerlab.topology.load_topology import TOOLS

if TYPE_CHECKING:
    from peerlab.features.clusters.drafted_file import DraftedFile

_INVITATION = f"Paste what one of these printed on your machine: {', '.join(TOOLS)}; or choose the file."
_HERE = "this machine"
_NAME = "my-machine"
_MOST_NAMED = 3
"""So many assumptions are named: those that move the gain most."""


class OwnMachine(PastePanel):
    """The panel. `on_drafted` is called with the cluster file that was written, to be shown.

    Attributes
    ----------
    files:
        The cluster files that were drafted here, as a scenario names them.
    """

    def __init__(self, on_drafted: Callable[[str], None]) -> None:
        close = w.ToggleButton(description="Close", tooltip="Close this panel; what was drawn stays")
        super().__init__("machine", _INVITATION, "Draw it", classed(close, "pl-machine-close"))
        self._on_drafted = on_drafted
        self._drafted: DraftedFile | None = None
        self.files: list[str] = []
        self._here = self._styled(
            w.Button(
                description="Read this machine", tooltip="The machine that this notebook's kernel runs on"
            ),
            "here",
        )
        self._again = self._styled(w.Button(description="Another machine"), "again")
        then = self._styled(w.VBox([self._again, close]), "then")
        for button in then.children:
            classed(button, "pl-plain")
        self._lay_out([self._here], [then])
        self._here.on_click(lambda _: self.read_here())
        self._again.on_click(lambda _: self._ask(asking=True))
        close.observe(lambda _: self._ask(asking=True), "value")
        self._ask(asking=True)

    def _ask(self, *, asking: bool) -> None:
        """Show what takes a topology, or the answer alone: what was drawn should be seen."""
        self._asking.layout.display = "" if asking else "none"
        self._again.layout.display = "none" if asking else ""

    def read(self, held: str | bytes, name: str) -> None:
        """Draw the machine whose topology was pasted, or is in a file of this name."""
        self._drafted = None  # what is said of it gives way
        if self._is_empty(held):
            return
        data = held.encode("utf-8", "replace") if isinstance(held, str) else held
        where = "pasted text" if isinstance(held, str) else name
        self._start(name, lambda: _draft(data, where), self._tell)

    def read_here(self) -> None:
        """Draw the machine that the kernel runs on."""
        self._drafted = None
        self._start(_HERE, _draft_here, self._tell)

    def rank(self, scenario: Scenario, band: GainBand) -> None:
        """Name the assumptions that move the gain most, if the scenario is of the cluster that was drafted last."""
        if self._drafted and scenario.cluster == str(self._drafted.path):
            self._short.value = _in_words(self._drafted) + _what_matters(band)

    def _tell(self, drafted_file: "DraftedFile") -> None:
        self._drafted = drafted_file
        self._short.value = _in_words(drafted_file)
        self.files = [*dict.fromkeys([*self.files, str(drafted_file.path)])]
        self._ask(asking=False)
        self._on_drafted(str(drafted_file.path))


def _draft(topology: bytes, where: str) -> "DraftedFile":
    from peerlab.features.clusters.drafted_file import write_beside  # noqa: PLC0415

    return write_beside(_NAME, read_topology(topology), where, where)


def _draft_here() -> "DraftedFile":
    from peerlab.features.clusters.drafted_file import this_machine, write_beside  # noqa: PLC0415

    try:
        return write_beside(_NAME, this_machine(), _HERE, "/sys")
    except HardwareError as problem:
        raise HardwareError(f"{problem}; paste what its tools printed on the machine that has some") from None


def _in_words(drafted_file: "DraftedFile") -> str:
    """Return where the file is, what was read, and how much of it is assumed."""
    cluster, drafted = drafted_file.drafted.cluster, drafted_file.drafted
    switches = say_count(cluster.numa_domains * cluster.switches_per_numa, "PCIe switch")
    sockets = say_count(cluster.numa_domains, "CPU socket")
    sentence = (
        f"{cluster.summary} {switches} at {sockets}. "
        f"{say_count(len(drafted.read), 'figure')} read, {len(cluster.assumptions)} assumed †, most as on {drafted.like}."
    )
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in drafted.remarks)
    return (
        f"<p role='status'>Drawn from <b>{escape(str(drafted_file.path))}</b>, written in {escape(one_line(Path.cwd()))}: {escape(sentence)}</p>"
        f"{f'<ul>{remarks}</ul>' if remarks else ''}"
    )


def _what_matters(band: GainBand) -> str:
    most = [assumption.figure for assumption in band.assumptions if assumption.reach >= FELT][:_MOST_NAMED]
    if not most:
        return "<p>None of what is assumed moves the gain by 1 %.</p>"
    names = ", ".join(
        "where the NICs hang" if isinstance(figure, Wiring) else figure.label for figure in most
    )
    return f"<p>Put your own figures into the file, those that move the gain most first: {escape(names)}.</p>"
