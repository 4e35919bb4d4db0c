"""What else may be true where a cluster's file assumes something that has no range.

How a node is wired is so or not so: no band between two numbers holds it. So each such assumption has alternatives, whole
clusters that can be simulated instead:

* where the NICs hang, and ACS redirect: what the cluster's file marks as possible (`peerlab.model.nic_wiring`).
* any other count that is assumed: half of it, and twice as much.
"""

# An assumption without a range has alternatives. A NIC hangs in one place or another; no band between two
# numbers holds that, and it moves the gain more than all bands: on DL1 1.72 (1.16 to 2.11) becomes 0.95
# (0.68 to 1.29) if each NIC has a root port of its own. So wiring is a field of a cluster
# (`model/nic_wiring`), with evidence and with what else was thought of; each of these is marked as possible
# or not, with a reason. A file without the section `[wiring]` whose counts of switches or NICs are assumed
# leaves two open: a root port of its own, and one switch per socket. An assumed count has half and twice of
# it. `question/alternatives` makes clusters of these; each is simulated, another wiring with a band of its
# own, and every place that shows a gain's band names them in the same sentence, with the command that tells
# which one holds. They are never merged into one minimum and maximum. A band says what topology alone makes
# of it (1.76 times; 1.70 to 1.86 within the ranges of its figures); the rest of it is the library's (1.17
# to 2.09 with both and with the error of its law). A cluster whose wiring is documented (p4d,
# infiniband-hdr-a100) has no such alternative.

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from peerlab.base.errors import HardwareError
from peerlab.model.collective import AUTO
from peerlab.model.hardware import Cluster, Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.model.rewiring import rewired
from peerlab.question.scenario import Scenario
from peerlab.question.used_figures import figures_used

_TOPOLOGY = ("node.numa_domains", "node.switches_per_numa", "node.devices_per_switch", "node.nics_per_switch")
"""Figures that say together how a node is wired: where one of them is assumed, the wiring is."""


@dataclass(frozen=True)
class Alternative:
    """A cluster as it would be if one of its assumptions did not hold."""

    says: str
    """What holds instead, after *if*: ``each NIC has a root port of its own``."""
    cluster: Cluster
    """The cluster in which it holds."""
    because: str = ""
    """Why it is possible, where the cluster's file says so."""


def alternatives(*scenarios: Scenario) -> dict[Figure | Wiring, tuple[Alternative, ...]]:
    """Return what else may be true, by the assumption without a range that one of the `scenarios` (of one cluster) meets.

    An assumption that cannot be simulated otherwise has no alternatives.
    """
    met = frozenset[str]().union(*map(figures_used, scenarios))
    nics = any(scenario.is_wired for scenario in scenarios)
    return {
        figure: others
        for figure, others in _of(scenarios[0].hardware).items()
        if (nics if isinstance(figure, Wiring) else figure.key in met)
    }


def as_later_versions(scenario: Scenario) -> Scenario | None:
    """Return a scenario with the algorithm that later versions of its library run there; None where that is the same, or known.

    Before NCCL 2.12 large messages took a ring in the one log there is, of 2 nodes: on more of them nobody knows which version changed it.
    """
    choice, library = scenario.choice, scenario.used_library
    # of two nodes there is a log, and asked by name an algorithm is the same in every version
    if choice is None or library is None or scenario.domains <= 2 or scenario.algorithm != AUTO:
        return None
    first = round(100 * library.law["ring_alone_before"])
    if scenario.library_number >= first:
        return None
    later = scenario.with_(library_version=f"{first // 100}.{first % 100}").choice
    if later is None or later.course.algorithm == choice.course.algorithm:
        return None
    return scenario.with_(algorithm=later.course.algorithm)


@lru_cache(maxsize=64)
def _of(cluster: Cluster) -> Mapping[Figure | Wiring, tuple[Alternative, ...]]:
    """Return the alternatives to every assumption without a range: the wiring first, then figures in the order of the cluster's file."""
    counted = [figure for figure in cluster.figures.values() if figure.assumption and not figure.range]
    wiring = cluster.wiring
    entries: dict[Figure | Wiring, tuple[Alternative, ...]] = (
        {wiring: tuple(_wirings(cluster))} if wiring.assumption else {}
    )
    return MappingProxyType(
        entries
        | {figure: tuple(_counts(cluster, figure)) for figure in counted if figure.key not in _TOPOLOGY}
    )


def _wirings(cluster: Cluster) -> Iterator[Alternative]:
    for wiring in cluster.wiring.possible:
        with suppress(HardwareError):  # of a cluster without a PCIe uplink nothing of the kind is known
            yield Alternative(wiring.holds, rewired(cluster, wiring.nic, wiring.acs_redirect), wiring.because)


def _counts(cluster: Cluster, figure: Figure) -> Iterator[Alternative]:
    for value in (figure.value / 2, 2 * figure.value):
        with suppress(HardwareError):  # half of one is no count, and a count has an end
            changed = cluster.with_figure(figure.key, value)
            yield Alternative(f"{figure.label} {_verb(figure.label)} {changed.figures[figure.key]}", changed)


def _verb(label: str) -> str:
    """Return *are* after what is counted, as in CPU cores per accelerator, and *is* after a generation of the accelerator."""
    return "are" if any(word.endswith("s") for word in label.split()[:2]) else "is"
