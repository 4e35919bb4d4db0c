"""The rarer settings, folded away under *More*."""

from typing import Any

import ipywidgets as w

from peerlab.app.transport_settings import TransportSettings
from peerlab.app.widgets import Tell, given, offer, row, select, text_field, whole
from peerlab.app.wiring_settings import WiringSettings
from peerlab.errors import ScenarioError
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.checks import PAGES
from peerlab.model.library_files import known_libraries, load_library
from peerlab.model.library_fit import misfit_of
from peerlab.model.library_record import NONE
from peerlab.model.nccl_law import PROTOCOLS
from peerlab.model.placement import PLACEMENTS
from peerlab.model.scenario import Scenario
from peerlab.units import say_bytes, write_bytes

_OWN = "own"
"""Value of an option for what only a scenario written in Python has."""
_CLUSTERS = "the cluster's"
"""Value of the option for the library that the cluster's file names."""
_JITTERS = (0.0, 0.05, 0.1, 0.2)
_SHARES = (0.75, 0.5, 0.25)
SLOW_NODE = 0
"""The node that the lab slows down: the one that it shows."""


class Rare:
    """Widgets for the fields of a scenario that are seldom changed."""

    def __init__(self) -> None:
        self._make_way()
        self.wiring = WiringSettings()
        self.transport = TransportSettings()
        self._make_disturbance()
        self._make_registration()
        self.row = row(self._fields(), "pl-more")

    def _make_way(self) -> None:
        self.algorithm = select(
            "Algorithm",
            [(name, name) for name in ALGORITHMS],
            "pl-algorithm",
            "Who sends what to whom; auto: as the library does, without one a ring; of an all-to-all, everything at once",
        )
        self.library = select(
            "Library", [(_CLUSTERS, _CLUSTERS)], "pl-library", "Communication library; none: topology alone"
        )
        self.version = text_field("Version", "as known", "pl-version", "The library's version, such as 2.19")
        self.protocol = select(
            "Protocol", [("auto", "auto")], "pl-protocol", "NCCL's protocol; auto: as the library chooses"
        )
        self.placement = select(
            "Placement", [(name, name) for name in PLACEMENTS], "pl-placement", "Which node stands where"
        )
        self.slice = text_field(
            "Slice", "auto", "pl-slice", "Largest slice that a transfer is cut into, such as 1 MiB"
        )
        self.window = text_field(
            "Window",
            "auto",
            "pl-window",
            "Slices in flight per device and direction; bounce buffers per side",
        )
        self.dependency = select(
            "Forwarding",
            [("slice by slice", "auto"), ("step by step", "step")],
            "pl-dependency",
            "Whether a slice goes on as soon as it is there, or when the whole step is over",
        )

    def _make_disturbance(self) -> None:
        self.jitter = select(
            "Jitter",
            [(_percent(sigma), sigma) for sigma in _JITTERS],
            "pl-jitter",
            "How much every service time varies at random (sigma of a lognormal factor of mean 1)",
        )
        self.slow = select("Slow node", [("none", 1.0)], "pl-slow", "A node whose NICs are slower, both ways")
        self.seed = text_field("Seed", "0", "pl-seed", "Seed of the jitter and of a shuffled placement")

    def _make_registration(self) -> None:
        self.policy = select(
            "Cache",
            [("LRU", "cached"), ("one static pool", "pool")],
            "pl-policy",
            "What keeps registered memory: a cache of regions, or one pool registered at start",
        )
        self.regions = text_field(
            "Cache regions", "no limit", "pl-regions", "Most regions that the cache of a NIC keeps; 0: none"
        )
        self.page = select(
            "Page",
            [(say_bytes(n), n) for n in PAGES],
            "pl-page",
            "Page of registered memory: registering costs per page",
        )
        self.memlock = text_field(
            "Locked-memory limit",
            "no limit",
            "pl-memlock",
            "Most memory that may be locked per NIC (ulimit -l)",
        )
        self.call = select(
            "Shown",
            [("warm call", "auto"), ("first call, cold", 1)],
            "pl-call",
            "A warm call, as benchmarks report it, or the first one, which registers everything",
        )

    def _fields(self) -> list[w.Widget]:
        way = [
            self.library,
            self.version,
            self.protocol,
            self.algorithm,
            *self.wiring.fields,
            *self.transport.fields,
            self.placement,
            self.jitter,
            self.slow,
            self.seed,
        ]
        registration = [self.policy, self.regions, self.page, self.memlock, self.call]
        return [*way, *registration, self.slice, self.window, self.dependency]

    def connect(self, tell: Tell) -> None:
        """Say what each control changes."""
        tell(self.algorithm, "algorithm", lambda name: {"algorithm": name})
        self.wiring.connect(tell)
        self.transport.connect(tell)
        tell(self.library, "library", _chosen_library)
        tell(self.version, "version", lambda text: {"library_version": text.strip() if given(text) else None})
        tell(self.protocol, "protocol", lambda name: {"protocol": name})
        tell(self.placement, "placement", _placed)
        tell(self.jitter, "jitter", lambda sigma: {"jitter": sigma})
        tell(self.slow, "slow", _slowed)
        tell(self.seed, "seed", lambda text: {"seed": whole(text) if text.strip() else 0})
        tell(self.policy, "policy", lambda kind: {"registration": kind})
        tell(self.regions, "regions", lambda text: {"cache_regions": whole(text) if given(text) else None})
        tell(self.page, "page", lambda size: {"page_bytes": size})
        tell(self.memlock, "memlock", lambda text: {"memlock_bytes": text if given(text) else None})
        tell(self.call, "call", lambda runs: {"iterations": runs})
        tell(self.slice, "slice", lambda text: {"slice_bytes": text if given(text) else "auto"})
        tell(self.window, "window", lambda text: {"window": whole(text) if given(text) else None})
        tell(self.dependency, "dependency", lambda kind: {"dependency": kind})

    def show(self, s: Scenario, *, cache_rests: bool) -> None:
        """Set every control to the value in `s`."""
        self._show_way(s)
        self.wiring.show(s)
        self.transport.show(s)
        self._show_disturbance(s)
        cached = s.registration != "per-transfer"
        if cached:
            self.policy.value = s.registration
        self.policy.disabled = cache_rests or not cached
        self.regions.disabled = self.policy.disabled or s.registration == "pool"
        for field in (self.page, self.memlock, self.call):
            field.disabled = cache_rests
        self.regions.value = "" if s.cache_regions is None else str(s.cache_regions)
        self.page.value = s.page_bytes
        self.memlock.value = "" if s.memlock_bytes is None else write_bytes(int(s.memlock_bytes))
        self.call.value = 1 if s.iterations == 1 else "auto"

    def _show_library(self, s: Scenario) -> None:
        own = s.with_(library=None, library_version=None, protocol="auto", algorithm="auto").used_library
        offers = [(f"{_CLUSTERS}: {own.title if own else NONE}", _CLUSTERS)]
        fitting = [
            name
            for name in known_libraries()
            if name == s.library or not misfit_of(load_library(name), s.given_cluster)
        ]
        offers += [(_library_title(name), name) for name in fitting]
        chosen = _CLUSTERS if s.library is None else s.library if s.library in known_libraries() else _OWN
        own_file = [(str(getattr(s.library, "title", s.library)), _OWN)] if chosen == _OWN else []
        offer(self.library, [*offers, *own_file], chosen)
        self.version.value = s.library_version or ""
        self.version.disabled = s.used_library is None
        offer(
            self.protocol,
            [(name, name) for name in ("auto", *PROTOCOLS) if _possible(s, protocol=name)],
            s.protocol,
        )
        self.protocol.disabled = len(self.protocol.options) == 1

    def _show_way(self, s: Scenario) -> None:
        self._show_library(s)
        offer(self.algorithm, [(name, name) for name in _algorithms(s)], s.algorithm)
        self.algorithm.disabled = len(self.algorithm.options) == 1
        name = _OWN if isinstance(s.placement, tuple) else s.placement or PLACEMENTS[0]
        if s.fabric.uniform:
            offer(self.placement, [("any: no leaf switches", name)], name)
        else:
            own = [("as given", _OWN)] if name == _OWN else []
            offer(self.placement, [*((one, one) for one in PLACEMENTS), *own], name)
        self.placement.disabled = s.fabric.uniform
        self.slice.value = "" if s.slice_bytes == "auto" else write_bytes(s.slice_limit or s.nbytes)
        self.window.value = "" if s.window is None else str(s.window)
        self.dependency.value = "step" if s.dependency == "step" else "auto"

    def _show_disturbance(self, s: Scenario) -> None:
        sigmas = sorted({*_JITTERS, s.jitter})
        offer(self.jitter, [(_percent(sigma), sigma) for sigma in sigmas], s.jitter)
        offers = [(f"node {SLOW_NODE} at {_percent(share)}", share) for share in _SHARES]
        slow = dict(s.slow_nodes or {})
        value: Any = slow.get(SLOW_NODE, 1.0) if not slow or list(slow) == [SLOW_NODE] else _OWN
        if value not in (1.0, *_SHARES):
            offers.append((say_slow(s), value))
        offer(self.slow, [("none", 1.0), *offers], value)
        self.seed.value = str(s.seed)
        self.seed.disabled = not s.jitter and s.placement != "shuffled"


def _algorithms(s: Scenario) -> list[str]:
    """Return the algorithms that the cluster, its nodes and the collective of `s` can have."""
    kind = s.used_library.kind if s.used_library else ""
    does = [
        name
        for name, one in ALGORITHMS.items()
        if name != "auto"
        and s.collective in one.collectives
        and one.library in ("", kind)  # no trial is needed to say so
    ]
    return ["auto", *(name for name in does if _possible(s, algorithm=name))]


def _library_title(name: str) -> str:
    library = load_library(name)
    return library.title if library else "none: topology alone"


def _possible(s: Scenario, **changed: str) -> bool:
    try:
        s.with_(**changed)
    except ScenarioError:
        return False
    return True


def _chosen_library(name: str) -> dict[str, Any] | None:
    """Return what another library changes: its version and protocol are its own again."""
    if name == _OWN:
        return None
    return {"library": None if name == _CLUSTERS else name, "library_version": None, "protocol": "auto"}


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
