"""The controls above the pictures: they say what is wanted, and show what is."""

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as w

from peerlab.model.path import STAGED
from peerlab.model.presets import known_clusters, load_cluster
from peerlab.model.scenario import COLLECTIVE_NAMES, PAGES, Scenario
from peerlab.units import KIB, say_bytes, write_bytes

NODES = tuple(2**k for k in range(1, 11))
SIZES = tuple(64 * KIB * 2**k for k in range(15))
OWN_FILE = "your own file"
BASELINES = (("RDMA bounce", "host-rdma"), ("kernel TCP", "host-tcp"))

Changes = dict[str, Any]


class Controls:
    """Widgets for every field of a scenario that the lab can change.

    `on_change` is told ``(changes, name of the control)`` when a user changes one; `on_command` hears ``undo``,
    ``reset``.
    """

    def __init__(self, on_change: Callable[[Changes, str], None], on_command: Callable[[str], None]) -> None:
        self._on_change = on_change
        self._showing = False
        self._make_primary()
        self._make_secondary()
        self._make_more()
        self.undo = _button("Undo", "Go back to the scenario before (U)")
        self.reset = _button("Reset", "Go back to the scenario at the start")
        self.undo.on_click(lambda _: on_command("undo"))
        self.reset.on_click(lambda _: on_command("reset"))
        self.hint = _classed(w.HTML(), "pl-hint")
        self.error = _classed(w.HTML(), "pl-error")
        self._connect()

    def rows(self) -> list[w.Widget]:
        """Return the rows of controls, top to bottom."""
        sliders = [_pair(self.nodes, self.nodes_text), _pair(self.size, self.size_text)]
        primary = [self.host, self.cache, *sliders]
        secondary = [
            self.cluster,
            self.file,
            self.baseline,
            self.collective,
            self.more,
            self.hint,
            self.undo,
            self.reset,
        ]
        return [
            _row(primary, "pl-primary"),
            _row(secondary, "pl-secondary"),
            self.more_row,
            self.error,
        ]

    def _make_primary(self) -> None:
        self.host = _classed(w.Checkbox(description="Host bottleneck", indent=False), "pl-switch", "pl-host")
        self.cache = _classed(
            w.Checkbox(description="Registration cache", indent=False), "pl-switch", "pl-cache"
        )
        self.nodes = _slider("Nodes", [(str(n), n) for n in NODES], "pl-nodes")
        self.nodes_text = _number("Nodes, as a number", "pl-nodes-text")
        self.size = _slider("Message", [(say_bytes(n), n) for n in SIZES], "pl-size")
        self.size_text = _number("Message size", "pl-size-text")

    def _make_secondary(self) -> None:
        clusters = [(load_cluster(name).title, name) for name in known_clusters()]
        self.cluster = _select("Cluster", [*clusters, ("your own file ...", OWN_FILE)], "pl-cluster")
        self.file = _classed(
            w.Text(placeholder="path of a .toml file", continuous_update=False, tooltip="Cluster file"),
            "pl-file",
        )
        self.baseline = _select("Detour", list(BASELINES), "pl-baseline")
        operations = [(name, word) for word, name in COLLECTIVE_NAMES.items()]
        self.collective = _select("Operation", operations, "pl-collective")
        self.more = w.ToggleButton(description="More", tooltip="Rarer settings", icon="caret-right")
        _classed(self.more, "pl-plain", "pl-more-button")

    def _make_more(self) -> None:
        self.policy = _select("Cache", [("LRU", "cached"), ("one static pool", "pool")], "pl-policy")
        self.regions = _text("Cache regions", "no limit", "pl-regions")
        self.page = _select("Page", [(say_bytes(n), n) for n in PAGES], "pl-page")
        self.memlock = _text("Locked-memory limit", "no limit", "pl-memlock")
        self.call = _select("Shown", [("warm call", "auto"), ("first call, cold", 1)], "pl-call")
        self.slice = _text("Slice", "auto", "pl-slice")
        self.window = _text("Window", "auto", "pl-window")
        steps = [("slice by slice", "auto"), ("step by step", "step")]
        self.dependency = _select("Forwarding", steps, "pl-dependency")
        for field, what in (
            (
                self.policy,
                "What keeps registered memory: a cache of regions, or one pool registered at start",
            ),
            (self.regions, "Most regions that the cache of a NIC keeps; 0: none"),
            (self.page, "Page of registered memory: registering costs per page"),
            (self.memlock, "Most memory that may be locked per NIC (ulimit -l)"),
            (self.call, "A warm call, as benchmarks report it, or the first one, which registers everything"),
            (self.slice, "Slice that a transfer is cut into, such as 1 MiB"),
            (self.window, "Slices in flight per device and direction; bounce buffers per side"),
            (
                self.dependency,
                "Whether a slice goes on as soon as it is there, or when the whole step is over",
            ),
        ):
            field.tooltip = what
        fields = (
            self.policy,
            self.regions,
            self.page,
            self.memlock,
            self.call,
            self.slice,
            self.window,
            self.dependency,
        )
        self.more_row = _row(list(fields), "pl-more")
        self.more_row.layout.display = "none"

    def _connect(self) -> None:
        tell = self._tell
        tell(self.host, "host", lambda on: {"path": self.baseline.value if on else "peer-direct"})
        tell(self.cache, "cache", lambda on: {"registration": self.policy.value if on else "per-transfer"})
        tell(self.nodes, "nodes", lambda n: {"nodes": n})
        tell(self.nodes_text, "nodes_text", lambda text: {"nodes": _whole(text)})
        tell(self.size, "size", lambda n: {"message_bytes": n})
        tell(self.size_text, "size_text", lambda text: {"message_bytes": text})
        tell(self.cluster, "cluster", self._cluster_chosen)
        tell(self.file, "file", lambda text: {"cluster": text.strip()} if text.strip() else None)
        tell(self.baseline, "baseline", lambda path: {"path": path})
        tell(self.collective, "collective", lambda what: {"collective": what})
        tell(self.policy, "policy", lambda kind: {"registration": kind})
        tell(self.regions, "regions", lambda text: {"cache_regions": _whole(text) if _given(text) else None})
        tell(self.page, "page", lambda size: {"page_bytes": size})
        tell(self.memlock, "memlock", lambda text: {"memlock_bytes": text if _given(text) else None})
        tell(self.call, "call", lambda runs: {"iterations": runs})
        tell(self.slice, "slice", lambda text: {"slice_bytes": text if _given(text) else "auto"})
        tell(self.window, "window", lambda text: {"window": _whole(text) if _given(text) else None})
        tell(self.dependency, "dependency", lambda kind: {"dependency": kind})
        self.more.observe(self._fold, "value")

    def _tell(self, control: w.Widget, name: str, change: Callable[[Any], Changes | None]) -> None:
        def changed(event: Any) -> None:
            if self._showing:
                return
            changes = change(event["new"])
            if changes is not None:
                self._on_change(changes, name)

        control.observe(changed, "value")

    def _cluster_chosen(self, name: str) -> Changes | None:
        self.file.layout.display = "" if name == OWN_FILE else "none"
        if name != OWN_FILE:
            return {"cluster": name}
        return {"cluster": self.file.value.strip()} if self.file.value.strip() else None

    def _fold(self, event: Any) -> None:
        self.more_row.layout.display = "flex" if event["new"] else "none"
        self.more.icon = "caret-down" if event["new"] else "caret-right"

    def switches(self, scenario: Scenario) -> dict[str, Changes]:
        """Return what each switch that does not rest would change in `scenario`."""
        found: dict[str, Changes] = {}
        if not self.host.disabled:
            found["host"] = {"path": "peer-direct" if scenario.staged else self.baseline.value}
        if not self.cache.disabled:
            on = scenario.registration != "per-transfer"
            found["cache"] = {"registration": "per-transfer" if on else self.policy.value}
        return found

    # ---- showing -----------------------------------------------------------------------------------------------

    def show(self, scenario: Scenario, *, can_undo: bool) -> None:
        """Bring every control to what `scenario` says, without telling anybody."""
        self._showing = True
        try:
            self._show_primary(scenario)
            self._show_secondary(scenario)
            self._show_more(scenario)
            self.undo.disabled = not can_undo
            self.hint.value = escape(_hint(scenario))
            self.say("")
        finally:
            self._showing = False

    def _show_primary(self, s: Scenario) -> None:
        paths = s.hardware.paths
        self.host.value = s.staged
        self.host.disabled = "peer-direct" not in paths or not any(path in STAGED for path in paths)
        self.cache.value = s.registration != "per-transfer"
        self.cache.disabled = s.path != "peer-direct"
        self.nodes.value = _nearest(s.nodes, NODES)
        self.nodes_text.value = str(s.nodes)
        self.size.value = _nearest(s.nbytes, SIZES)
        self.size_text.value = write_bytes(s.nbytes)

    def _show_secondary(self, s: Scenario) -> None:
        known = s.cluster if s.cluster in known_clusters() else OWN_FILE
        self.cluster.value = known
        self.file.layout.display = "" if known == OWN_FILE else "none"
        if known == OWN_FILE:
            self.file.value = str(getattr(s.cluster, "name", s.cluster))
        if s.path in STAGED:
            self.baseline.value = s.path
        self.baseline.disabled = self.host.disabled
        self.collective.value = s.collective

    def _show_more(self, s: Scenario) -> None:
        if s.registration != "per-transfer":
            self.policy.value = s.registration
        self.policy.disabled = self.cache.disabled or not self.cache.value
        self.regions.disabled = self.policy.disabled or s.registration == "pool"
        for field in (self.page, self.memlock, self.call):
            field.disabled = self.cache.disabled
        self.regions.value = "" if s.cache_regions is None else str(s.cache_regions)
        self.page.value = s.page_bytes
        self.memlock.value = "" if s.memlock_bytes is None else write_bytes(int(s.memlock_bytes))
        self.call.value = 1 if s.iterations == 1 else "auto"
        self.slice.value = "" if s.slice_bytes == "auto" else write_bytes(s.slice_limit or s.nbytes)
        self.window.value = "" if s.window is None else str(s.window)
        self.dependency.value = "step" if s.dependency == "step" else "auto"

    def say(self, problem: str, control: str = "") -> None:
        """Show what is wrong, beside the control that it is about; nothing, if `problem` is empty."""
        for name in ("nodes_text", "size_text", "file", "regions", "memlock", "slice", "window"):
            getattr(self, name).remove_class("pl-bad")
        if control and hasattr(self, control) and isinstance(getattr(self, control), w.Text):
            getattr(self, control).add_class("pl-bad")
        self.error.value = f'<p role="alert">{escape(problem)}</p>' if problem else ""


def _hint(s: Scenario) -> str:
    """Return why a switch rests, if one does."""
    machine = s.hardware
    if "peer-direct" not in machine.paths:
        return f"{machine.title} has one path, '{s.path}': both switches rest."
    if s.extrapolates:
        return f"An extrapolation: {s.ranks} ranks, and the vendor's library allows {machine.max_ranks}."
    if s.staged:
        return "The registration cache rests: the bounce pool is registered at start."
    return ""


def _whole(text: str) -> int | str:
    """Return a whole number, or the text for the scenario to refuse in its own words."""
    try:
        return int(text)
    except ValueError:
        return text


def _given(text: str) -> bool:
    return text.strip().lower() not in ("", "auto", "no limit", "none")


def _nearest(value: int, options: tuple[int, ...]) -> int:
    return min(
        options,
        key=lambda option: abs(option.bit_length() - value.bit_length()) + abs(option - value) / 2**60,
    )


def _classed(widget: w.Widget, *names: str) -> w.Widget:
    for name in names:
        widget.add_class(name)
    return widget


def _row(children: list[w.Widget], name: str) -> w.Widget:
    return _classed(w.Box(children), "pl-controls", name)


def _pair(slider: w.Widget, number: w.Widget) -> w.Widget:
    """Return a slider and its number, side by side however narrow the notebook is."""
    return _classed(w.Box([slider, number]), "pl-pair")


def _slider(label: str, options: list[tuple[str, int]], name: str) -> w.Widget:
    slider = w.SelectionSlider(options=options, description=label, readout=False, continuous_update=True)
    return _classed(slider, "pl-slider", name)


def _number(label: str, name: str) -> w.Widget:
    return _classed(w.Text(continuous_update=False, tooltip=label), "pl-number", name)


def _text(label: str, placeholder: str, name: str) -> w.Widget:
    text = w.Text(description=label, placeholder=placeholder, continuous_update=False)
    text.layout.width = "auto"
    return _classed(text, "pl-field", name)


def _select(label: str, options: list[tuple[str, Any]], name: str) -> w.Widget:
    return _classed(w.Dropdown(description=label, options=options), "pl-select", name)


def _button(label: str, tooltip: str) -> w.Widget:
    return _classed(w.Button(description=label, tooltip=tooltip), "pl-plain", f"pl-{label.lower()}")
