"""The controls above the pictures: each shows a field of the scenario, and changes it."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as w

from peerlab.app.chips import Chip, Chips, mark
from peerlab.app.more_settings import Rare
from peerlab.app.panels.exporting import Exporting
from peerlab.app.panels.machine_panel import OwnMachine
from peerlab.app.panels.own_log import OwnLog
from peerlab.app.panels.race_panel import RacePanel
from peerlab.app.panels.tails_panel import TailsPanel
from peerlab.base.units import KIB, say_bytes, write_bytes
from peerlab.model.collective import COLLECTIVES
from peerlab.model.paths import PATHS
from peerlab.page.widgets import (
    Changes,
    classed,
    icon_button,
    number_field,
    offer,
    one_at_a_time,
    pair,
    row,
    say_states,
    segments,
    select,
    slider,
    switch,
    unfold,
    whole,
)
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario

NODES = tuple(2**k for k in range(1, 11))
SIZES = tuple(64 * KIB * 2**k for k in range(15))
HOST = "Host bottleneck"
SETTINGS = Scenario()
OWN_FILE = "your own file"
OWN_MACHINE = "your machine"
BASELINES = tuple((record.title, path) for path, record in PATHS.items() if record.is_staged)
DIRECT = tuple(
    (record.title, path) for path, record in PATHS.items() if not record.is_staged and not record.is_bare
)


class Controls:
    """Widgets for every field of a scenario that the lab can change.

    `on_change` is called with ``(changes, name of the control)`` when a user changes one, `on_command` with ``undo`` or
    ``reset``.
    """

    def __init__(
        self,
        on_change: Callable[[Changes, str], None],
        on_command: Callable[..., None],
        log: OwnLog,
        machine: OwnMachine,
        exporting: Exporting,
        racing: RacePanel,
        tailing: TailsPanel,
    ) -> None:
        self._on_change = on_change
        self._showing = False
        self._shown_cluster = OWN_FILE
        self._texts: dict[str, w.Widget] = {}
        self.log = log
        self.machine = machine
        self.exporting = exporting
        self.racing = racing
        self.tailing = tailing
        self._panels = racing, tailing, log, machine
        self._make_primary()
        self._make_secondary()
        firsts = {"often": [self.collective, self.baseline, self.direct]}
        self.rare = Rare(firsts, {"trouble": [tailing.toggle]}, [exporting.panel])
        self.chips = Chips(lambda changes: on_change(changes, "chip"))
        self.undo = icon_button("undo", "undo", "Undo: go back to the scenario before (U)")
        self.reset = icon_button("reset", "refresh", "Reset: go back to the scenario at the start")
        self.undo.on_click(lambda _: on_command("undo"))
        self.reset.on_click(lambda _: on_command("reset"))
        self.hint = classed(w.HTML(), "pl-hint")
        self.error = classed(w.HTML(), "pl-error")
        self._connect()

    def rows(self) -> list[w.Widget]:
        """Return the rows of controls, top to bottom."""
        sliders = [pair(self.nodes, self.nodes_text), pair(self.size, self.size_text)]
        cluster = classed(w.Box([self.cluster, self.file]), "pl-pair")
        actions = [self.more, self.racing.toggle, self.log.toggle, self.undo, self.reset]
        buttons = classed(w.Box([self.chips.box, classed(w.Box(actions), "pl-actions")]), "pl-buttons")
        panels = [self.rare.row, *(panel.panel for panel in self._panels)]
        return [
            row(
                [self.host, self.cache, self.rests, *sliders, cluster, buttons, self.hint],
                "pl-primary",
            ),
            self.error,  # above the panels, which would hide it
            classed(w.Box(panels), "pl-panels"),
        ]

    def _make_primary(self) -> None:
        self.host = segments(HOST, "pl-host")
        self.cache = switch("Registration cache", "pl-cache")
        self.rests = classed(w.HTML(), "pl-cache-rests")
        self.nodes = slider("Nodes", [(str(n), n) for n in NODES], "pl-nodes")
        self.nodes_text = number_field("Nodes, as a number", "pl-nodes-text")
        self.size = slider("Message", [(say_bytes(n), n) for n in SIZES], "pl-size")
        self.size_text = number_field("Message size", "pl-size-text")

    def _make_secondary(self) -> None:
        self.cluster = select("Cluster", self._clusters(), "pl-cluster")
        self.file = classed(
            w.Text(placeholder="path of a .toml file", continuous_update=False, tooltip="Cluster file"),
            "pl-file",
        )
        self.baseline = select("Through host by", list(BASELINES), "pl-baseline")
        self.direct = select("Direct", list(DIRECT), "pl-direct", "The way past the host's memory")
        operations = [(record.title, name) for name, record in COLLECTIVES.items()]
        self.collective = select("Operation", operations, "pl-collective")
        self.more = w.ToggleButton(description="More", tooltip="Rarer settings", icon="caret-right")
        classed(self.more, "pl-plain", "pl-more-button")

    def _clusters(self) -> list[tuple[str, str]]:
        """Return what the list of clusters offers: those that are known, those drafted here, and two ways to others."""
        known = [(load_cluster(name).title, name) for name in known_clusters()]
        drafted = [(file, file) for file in self.machine.files]
        return [*known, *drafted, (OWN_FILE, OWN_FILE), (OWN_MACHINE, OWN_MACHINE)]

    def _connect(self) -> None:
        tell = self._tell
        # The switch goes between the two paths that the lists have chosen.
        tell(self.host, "host", lambda on: {"path": (self.baseline if on else self.direct).value})
        tell(
            self.cache, "cache", lambda on: {"registration": self.rare.policy.value if on else "per-transfer"}
        )
        tell(self.nodes, "nodes", lambda n: {"nodes": n})
        tell(self.nodes_text, "nodes_text", lambda text: {"nodes": whole(text)})
        tell(self.size, "size", lambda n: {"message_bytes": n})
        tell(self.size_text, "size_text", lambda text: {"message_bytes": text})
        tell(self.cluster, "cluster", self._cluster_chosen)
        # A field that was emptied asks for nothing.
        tell(self.file, "file", lambda text: {"cluster": text.strip()} if text.strip() else None)
        tell(self.baseline, "baseline", lambda path: {"path": path})
        tell(self.direct, "direct", lambda path: {"path": path})
        tell(self.collective, "collective", lambda what: {"collective": what})
        self.rare.connect(tell)
        unfold(self.more, self.rare.row, "grid")
        one_at_a_time(self._toggles())
        self.machine.toggle.observe(self._machine_closed, "value")

    def _toggles(self) -> list[w.Widget]:
        return [self.more, *(panel.toggle for panel in self._panels)]

    def _tell(self, control: w.Widget, name: str, change: Callable[[Any], Changes | None]) -> None:
        def changed(event: Any) -> None:
            # The lab has set the control, and not the user.
            if self._showing:
                return
            changes = change(event["new"])
            if changes is not None:
                self._on_change(changes, name)

        if isinstance(control, w.Text):
            self._texts[name] = control
        control.observe(changed, "value")

    def _cluster_chosen(self, name: str) -> Changes | None:
        self.file.layout.display = "" if name == OWN_FILE else "none"
        self.machine.toggle.value = name == OWN_MACHINE
        if name == OWN_MACHINE:
            return None
        if name != OWN_FILE:
            return {"cluster": name}
        return {"cluster": self.file.value.strip()} if self.file.value.strip() else None

    def _machine_closed(self, event: Any) -> None:
        """Let the list name the cluster that is shown, and have the keyboard unless another panel took its place."""
        if event["new"]:
            return
        if self.cluster.value == OWN_MACHINE:
            self._showing = True
            self.cluster.value = self._shown_cluster
            self._showing = False
        if not any(toggle.value for toggle in self._toggles()):
            self.cluster.focus()

    def switches(self, scenario: Scenario) -> dict[str, Changes]:
        """Return what each enabled switch would change in `scenario`."""
        entries: dict[str, Changes] = {}
        if not self.host.disabled:
            entries["host"] = {"path": (self.direct if scenario.staged else self.baseline).value}
        if not self.cache.disabled:
            on = scenario.registration != "per-transfer"
            entries["cache"] = {"registration": "per-transfer" if on else self.rare.policy.value}
        return entries

    def pair(self, scenario: Scenario) -> tuple[Scenario, Scenario] | None:
        """Return `scenario` through the host and past it, as the host switch changes it; None where there is nothing to switch."""
        return detour_and_direct(scenario, self.baseline.value, self.direct.value)

    # ---- showing -----------------------------------------------------------------------------------------------

    def show(self, scenario: Scenario, *, can_undo: bool) -> None:
        """Set every control to the value in `scenario`, without calling `on_change`."""
        self._showing = True
        try:
            self._show_primary(scenario)
            self._show_secondary(scenario)
            self.rare.show(scenario)
            self.chips.show([*self._chips(scenario), *self.rare.chips(scenario)])
            self.undo.disabled = not can_undo
            self.hint.value = escape(_extrapolated(scenario))
            self.say("")
        finally:
            self._showing = False

    def _show_primary(self, s: Scenario) -> None:
        self.host.value = s.staged
        self.host.disabled = not _there(DIRECT, s) or not _there(BASELINES, s)
        self.cache.value = s.registration != "per-transfer"
        self.cache.disabled = not s.data_path.uses_device_memory
        self.rests.value = escape(s.data_path.cache_rests)
        # A slider has few places; the number beside it is exact.
        self.nodes.value = _nearest(s.nodes, NODES)
        self.nodes_text.value = str(s.nodes)
        self.size.value = _nearest(s.nbytes, SIZES)
        self.size_text.value = write_bytes(s.nbytes)

    def _show_secondary(self, s: Scenario) -> None:
        name = s.cluster if s.cluster in (*known_clusters(), *self.machine.files) else OWN_FILE
        self._shown_cluster = name
        offer(self.cluster, self._clusters(), name)
        self.file.layout.display = "" if name == OWN_FILE else "none"
        if name == OWN_FILE:
            self.file.value = str(getattr(s.cluster, "name", s.cluster))
        for menu, ways in ((self.baseline, BASELINES), (self.direct, DIRECT)):
            # A list cannot be empty: one without anything to choose is switched off, or not shown.
            there = _there(ways, s) or ways[:1]
            paths = [path for _, path in there]
            # What was chosen before stays where the cluster has it, so that the switch leads back to it.
            offer(menu, there, s.path if s.path in paths else menu.value if menu.value in paths else paths[0])
        self.baseline.disabled = not _there(BASELINES, s)
        self.direct.layout.display = "" if len(_there(DIRECT, s)) > 1 else "none"
        self.collective.value = s.collective
        say_states(self.host, HOST, *host_states(s, self.direct.value))

    def _chips(self, s: Scenario) -> list[Chip]:
        """Return chips for what is chosen in *More* and is no setting of `Rare`, and mark it: the operation, and another detour or direct path."""
        usual = SETTINGS.collective
        chips: list[Chip] = []
        mark(self.collective, changed=s.collective != usual)
        if s.collective != usual:
            chips.append((f"Operation: {s.collective_record.title}", {"collective": usual}))
        for menu, ways in ((self.baseline, BASELINES), (self.direct, DIRECT)):
            there = [path for _, path in _there(ways, s)]
            first = next((path for path in s.hardware.paths if path in there), None)
            other = s.path in there and s.path != first
            mark(menu, changed=other)
            if other:
                chips.append((f"{menu.description}: {s.data_path.title}", {"path": first}))
        return chips

    def is_text(self, control: str) -> bool:
        """Return whether a control is a text field, which keeps what was written there although it was refused."""
        return control in self._texts

    def say(self, problem: str, control: str = "") -> None:
        """Show what is wrong, beside the control that it is about; nothing, if `problem` is empty."""
        for text in self._texts.values():
            text.remove_class("pl-bad")
        if control in self._texts:
            self._texts[control].add_class("pl-bad")
        self.error.value = f'<p role="alert">{escape(problem)}</p>' if problem else ""


State = tuple[str, bool]
"""What a state of a switch is called, and whether the cluster has it."""


def host_states(s: Scenario, chosen: str = "") -> tuple[State, State]:
    """Return the two states of the host switch in `s`: through the host, and past it by the path `chosen`, else by the first there is."""
    there = {path: name for name, path in _there(DIRECT, s)}
    past = there.get(chosen) or next(iter(there.values()), "" if s.staged else s.data_path.title)
    detour = bool(_there(BASELINES, s))
    return ("Through host" if detour else "not through host", detour), (past or "no direct path", bool(past))


def _there(ways: Sequence[tuple[str, str]], s: Scenario) -> list[tuple[str, str]]:
    """Return those of some paths, each with its name, that the cluster of `s` has."""
    return [(name, path) for name, path in ways if path in s.hardware.paths]


def _extrapolated(s: Scenario) -> str:
    """Return the warning of a scenario larger than the vendor's library allows."""
    if not s.extrapolates:
        return ""
    return f"An extrapolation: {s.ranks} ranks, and the vendor's library allows {s.hardware.max_ranks}."


def _nearest(value: int, options: tuple[int, ...]) -> int:
    # By powers of two first, and of equal ones by the distance.
    return min(
        options,
        key=lambda option: abs(option.bit_length() - value.bit_length()) + abs(option - value) / 2**60,
    )
