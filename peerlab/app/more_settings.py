"""The rarer settings, folded away under *More*."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import ipywidgets as w

from peerlab.app.chips import Chip, changed, chips_of, chips_of_slow_parts, mark
from peerlab.app.field_controls import change, controls, possible, show, widget
from peerlab.app.transport_settings import TransportSettings, chosen_transport
from peerlab.app.wiring_settings import WiringSettings
from peerlab.base.units import write_bytes
from peerlab.library.library_files import known_libraries, load_library
from peerlab.library.library_record import NONE, Library
from peerlab.library.nccl_law import PROTOCOLS
from peerlab.model.algorithms import ALGORITHMS
from peerlab.page.widgets import Tell, classed, offer, row
from peerlab.question.library_fit import misfit_of
from peerlab.question.placement import PLACEMENTS
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS

_OWN = "own"
"""Value of an option for what only a scenario written in Python has."""
_USUAL = "its usual"
"""Value of the option for the library that the cluster's file names."""
_SHOWN_APART = {
    "algorithm", "library", "protocol", "wiring", "acs_redirect", "transport", "mtu", "hops", "metres", "placement", "jitter",
    "slow_nodes", "registration", "slice_bytes",
}  # fmt: skip
"""Fields whose controls offer or show what more of the scenario decides; of the others the record is enough."""
_JITTERS = (0.0, 0.05, 0.1, 0.2)
_SHARES = (0.75, 0.5, 0.25)
GROUPS = {
    "often": ("Often changed",),
    "trouble": ("Noise", "trouble", "slow", "fault"),
    "library": ("Software", "library", "nccl"),
    "fabric": ("Hardware and network", "fabric", "topology", "nic"),
    "registration": ("Registration", "memory", "cache", "mr"),
}
"""Headings of *More* in the order of the keys, down each column, each with further words that find the whole group."""
_COLUMNS = (("often", "trouble"), ("library", "fabric"), ("registration",))
"""Groups that stand right below each other where five columns have no room."""
_OFTEN = ("algorithm", "slow_nodes")
"""Fields that stand first, before the group of their record."""
SLOW_NODE = 0
"""The node that the lab slows down: that of the picture."""


class Rare:
    """Widgets for the fields of a scenario that are seldom changed."""

    def __init__(
        self,
        firsts: Mapping[str, Sequence[w.Widget]] = MappingProxyType({}),
        lasts: Mapping[str, Sequence[w.Widget]] = MappingProxyType({}),
        below: Sequence[w.Widget] = (),
    ) -> None:
        """`firsts` and `lasts` are what else stands in a group, `below` stands below all groups."""
        self._controls = controls()
        made = self._widgets = {name: widget(control) for name, control in self._controls.items()}
        self.algorithm, self.protocol, self.placement = made["algorithm"], made["protocol"], made["placement"]
        self.library, self.version = made["library"], made["library_version"]
        self.jitter, self.slow, self.seed = made["jitter"], made["slow_nodes"], made["seed"]
        self.policy, self.slice = made["registration"], made["slice_bytes"]
        self.wiring, self.transport = WiringSettings(made), TransportSettings(made)
        self._groups = {
            group: self._group(group, firsts.get(group, ()), lasts.get(group, ())) for group in GROUPS
        }
        self.search = classed(
            w.Text(placeholder="find a setting", tooltip="Find a setting"), "pl-more-search"
        )
        self.search.observe(lambda event: self.find(event["new"]), "value")
        columns = [
            classed(w.Box([self._groups[group] for group in groups]), "pl-more-column") for groups in _COLUMNS
        ]
        self.row = classed(w.VBox([row([self.search], "pl-more-head"), *columns, *below]), "pl-more")

    def _group(self, group: str, first: Sequence[w.Widget], last: Sequence[w.Widget]) -> w.Widget:
        own = [
            self._widgets[name]
            for name, control in self._controls.items()
            if group == ("often" if name in _OFTEN else control.group)
        ]
        heading = w.HTML(f"<h3>{GROUPS[group][0]}</h3>")
        return classed(row([heading, *first, *own, *last], "pl-more-group"), f"pl-more-{group}")

    def find(self, text: str) -> None:
        """Show the settings and groups whose words contain `text`, those that rest too; all that do not rest, if it is empty."""
        wanted = text.strip().lower()
        (self.row.add_class if wanted else self.row.remove_class)("pl-searched")
        records = {self._widgets[name]: control for name, control in self._controls.items()}
        for group, box in self._groups.items():
            fits = []
            for setting in box.children[1:]:
                record = records.get(setting)
                words = [*GROUPS[group], setting.description]
                words += [*GROUPS[record.group], record.tip] if record else []
                fits.append(any(wanted in word.lower() for word in words))
                (setting.remove_class if fits[-1] else setting.add_class)("pl-unfound")
            (box.remove_class if any(fits) else box.add_class)("pl-unfound")

    def _fold_rests(self) -> None:
        """Fold away what changes nothing here: a search shows it; a whole group says it itself."""
        for box in self._groups.values():
            resting = [setting for setting in box.children[1:] if setting.disabled]
            for setting in box.children[1:]:
                (setting.add_class if setting in resting else setting.remove_class)("pl-rests")
            whole = len(resting) == len(box.children) - 1
            (box.add_class if whole else box.remove_class)("pl-rests-all")

    def chips(self, s: Scenario) -> list[Chip]:
        """Return a chip for each setting here that `s` has otherwise than usually."""
        return [*chips_of(s, self._widgets), *chips_of_slow_parts(s)]

    def connect(self, tell: Tell) -> None:
        """Say what each control changes."""
        own = {
            "library": _chosen_library,
            "placement": _placed,
            "slow_nodes": _slowed,
            "transport": chosen_transport,
        }
        for name, control in self._controls.items():
            tell(self._widgets[name], control.name, own.get(name) or change(name, control))

    def show(self, s: Scenario) -> None:
        """Set every control to the value in `s`, and disable what changes nothing there."""
        for name, control in self._controls.items():
            if name not in _SHOWN_APART:
                show(self._widgets[name], name, control, s)
            self._widgets[name].disabled = FIELDS[name].rests(s)
        there = changed(s)
        if self.seed.disabled:
            self.seed.value = ""
        self.seed.placeholder = "no noise" if self.seed.disabled else "0"
        for name, setting in self._widgets.items():
            mark(setting, changed=name in there)
        self._show_library(s)
        self._show_way(s)
        self.wiring.show(s)
        self.transport.show(s)
        self._show_disturbance(s)
        # Where registration is switched off, the list keeps what the switch leads back to.
        if s.registration != "per-transfer":
            self.policy.value = s.registration
        self._fold_rests()

    def _show_library(self, s: Scenario) -> None:
        # What the cluster has by itself, whatever is chosen now.
        own = s.with_(library=None, library_version=None, protocol="auto", algorithm="auto").used_library
        offers = [(f"usual: {_short_title(own) if own else NONE}", _USUAL)]
        fitting = [
            name
            for name in known_libraries()
            if name == s.library or not misfit_of(load_library(name), s.given_cluster)
        ]
        offers += [(_library_title(name), name) for name in fitting]
        chosen = _USUAL if s.library is None else s.library if s.library in known_libraries() else _OWN
        own_file = [(str(getattr(s.library, "title", s.library)), _OWN)] if chosen == _OWN else []
        offer(self.library, [*offers, *own_file], chosen)
        offer(
            self.protocol,
            [(name, name) for name in ("auto", *PROTOCOLS) if possible(s, protocol=name)],
            s.protocol,
        )
        # Only `auto` is left: nothing to choose.
        self.protocol.disabled = len(self.protocol.options) == 1

    def _show_way(self, s: Scenario) -> None:
        offer(self.algorithm, [(name, name) for name in _algorithms(s)], s.algorithm)
        self.algorithm.disabled = len(self.algorithm.options) == 1
        name = _OWN if isinstance(s.placement, tuple) else s.placement or PLACEMENTS[0]
        # Without leaf switches all places are alike.
        if s.fabric.uniform:
            offer(self.placement, [("any: no leaf switches", name)], name)
        else:
            own = [("as given", _OWN)] if name == _OWN else []
            offer(self.placement, [*((placement, placement) for placement in PLACEMENTS), *own], name)
        self.slice.value = "" if s.slice_bytes == "auto" else write_bytes(s.slice_limit or s.nbytes)

    def _show_disturbance(self, s: Scenario) -> None:
        sigmas = sorted({*_JITTERS, s.jitter})
        offer(self.jitter, [(_percent(sigma), sigma) for sigma in sigmas], s.jitter)
        offers = [(f"node {SLOW_NODE} at {_percent(share)}", share) for share in _SHARES]
        slow = dict(s.slow_nodes or {})
        value: Any = slow.get(SLOW_NODE, 1.0) if not slow or list(slow) == [SLOW_NODE] else _OWN
        if value not in (1.0, *_SHARES):
            offers.append((say_slow(s), value))
        offer(self.slow, [("none", 1.0), *offers], value)


def _algorithms(s: Scenario) -> list[str]:
    """Return the algorithms that the cluster, its nodes and the collective of `s` can have."""
    kind = s.used_library.kind if s.used_library else ""
    does = [
        name
        for name, record in ALGORITHMS.items()
        if name != "auto"
        and s.collective in record.collectives
        and record.library in ("", kind)  # no trial is needed to say so
    ]
    return ["auto", *(name for name in does if possible(s, algorithm=name))]


def _library_title(name: str) -> str:
    library = load_library(name)
    return _short_title(library) if library else "none: topology alone"


def _short_title(library: Library) -> str:
    return library.short or library.title


def _chosen_library(name: str) -> dict[str, Any] | None:
    """Return what another library changes."""
    if name == _OWN:
        return None
    return {"library": None if name == _USUAL else name}


def _slowed(share: Any) -> dict[str, Any] | None:
    if share == _OWN:
        return None
    return {"slow_nodes": {SLOW_NODE: share} if share < 1 else None}


def _placed(name: str) -> dict[str, Any] | None:
    if name == _OWN:
        return None
    return {"placement": None if name == PLACEMENTS[0] else name}


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def say_slow(s: Scenario) -> str:
    """Return which nodes are slow, for people: ``node 4 at 50 %``."""
    return ", ".join(f"node {node} at {_percent(share)}" for node, share in (s.slow_nodes or {}).items())
