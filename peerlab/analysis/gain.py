"""How sure the gain of one data path over another is.

Both paths are of one machine and share its figures, so that their ratio is surer than either of them: a figure moves on both
together, there is but one NIC. Figures that are assumed within a range give a band. What is assumed without a range is in no
band (how the node is wired, say); each of its alternatives is simulated and stands beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from peerlab.analysis.sensitivity import Busbw, changed, end_of
from peerlab.errors import PeerlabError, ScenarioError
from peerlab.model.alternatives import alternatives
from peerlab.model.hardware import Cluster, Figure
from peerlab.model.library_files import with_library
from peerlab.model.library_record import NONE
from peerlab.model.scenario import Scenario
from peerlab.model.used_figures import assumed, better_end, ends
from peerlab.units import say_count, say_unit

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("figure", "what", "value", "if", "gain", "change_percent", "in_band")
OF_LIBRARY = ("library.", "graph.")
"""Sections of figures that are the communication library's, not the topology's."""
FELT = 0.01
"""From which relative change on an assumption is said to move a gain."""


@dataclass(frozen=True)
class GainCase:
    """One other way that an assumed figure may be."""

    says: str
    """What holds then, after *if*: ``it is 25 µs``, or ``each NIC has a root port of its own``."""
    gain: float
    """The gain then."""


@dataclass(frozen=True)
class Assumption:
    """What a gain owes to one assumed figure."""

    figure: Figure
    """The figure."""
    cases: tuple[GainCase, ...]
    """The gain at both ends of its range, or with every alternative; empty where none can be simulated."""
    reach: float
    """How far it moves the gain at most, as a natural logarithm of the ratio: 0.1 is about 10 %."""

    @property
    def in_band(self) -> bool:
        """Whether it has a range; the others stand beside the band."""
        return self.figure.range is not None


@dataclass(frozen=True, repr=False)
class GainBand:
    """From where to where the ratio of two bus bandwidths may lie, and what it would be if other assumptions did not hold.

    As text it is the sentence that says so.
    """

    low: float
    """With the assumed figures at those ends of their ranges that make it smaller."""
    value: float
    """As assumed."""
    high: float
    """With the figures at those ends that make it larger."""
    assumptions: tuple[Assumption, ...]
    """What it owes to each assumed figure that one of the paths meets, the most influential first."""
    topology: tuple[float, float] | None = None
    """The part of the band that figures of the topology alone make; the rest is the library's. None: no library is assumed."""
    alone: float | None = None
    """From topology alone, on both paths without the library. None: there is none, or the algorithm is the library's own."""

    @property
    def left_out(self) -> tuple[Assumption, ...]:
        """The assumptions without a range, which the band leaves out."""
        return tuple(one for one in self.assumptions if not one.in_band)

    @property
    def least(self) -> float:
        """The smallest gain there is, in the band or with an alternative beside it."""
        return min([self.low, *(case.gain for one in self.left_out for case in one.cases)])

    @property
    def most(self) -> float:
        """The largest gain there is, in the band or with an alternative beside it."""
        return max([self.high, *(case.gain for one in self.left_out for case in one.cases)])

    @property
    def decisive(self) -> Assumption | None:
        """The assumption that moves the gain most; None if none moves it by 1 %."""
        return next((one for one in self.assumptions if one.reach >= FELT), None)

    def __repr__(self) -> str:
        return f"{_times(self.value)}: {self.range_in_words()}"

    def range_in_words(self) -> str:
        """Return what the gain may be otherwise as one sentence without its end: first what no range holds, then the band."""
        told = [_say(one) for one in self.left_out if one.reach >= FELT]
        only = "only " if told else ""
        told.append(
            f"{_ratio(self.low)} to {_times(self.high)} if {only}the assumed figures that have a range lie at its ends"
        )
        if self.topology:
            low, high = self.topology
            alone = f"; topology alone says {_ratio(self.alone)}" if self.alone else ""
            told.append(
                f"of that topology makes {_ratio(low)} to {_ratio(high)}, the library the rest{alone}"
            )
        quiet = [one.figure.label for one in self.left_out if one.cases and one.reach < FELT]
        silent = [one.figure.label for one in self.left_out if not one.cases]
        if quiet:
            told.append(f"other {', '.join(quiet)} would move it by less than {FELT:.0%}")
        if silent:
            told.append(f"other {', '.join(silent)} cannot be simulated")
        return "; ".join(told)

    def table(self) -> "pd.DataFrame":
        """Return one row for each case of each assumed figure, the most influential figure first.

        Columns: ``figure`` (its key in the cluster's file), ``what`` (its name), ``value`` (as assumed, with its unit), ``if``
        (what holds instead), ``gain`` (times), ``change_percent``, ``in_band``.
        """
        import pandas as pd  # noqa: PLC0415  (takes longer to load than the simulations)

        rows = [
            (one.figure.key, one.figure.label, str(one.figure), case.says, case.gain, 100 * (case.gain / self.value - 1), one.in_band)
            for one in self.assumptions
            for case in one.cases
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=list(COLUMNS))


def _ratio(value: float) -> str:
    """Return a ratio with two decimals, a small one with three digits."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3g}"


def _times(value: float) -> str:
    return f"{_ratio(value)} times"


def _say(one: Assumption) -> str:
    cases = ", ".join(f"{_times(case.gain)} if {case.says}" for case in one.cases)
    return f"{cases} (assumed is: {one.figure.assumption})"


def check_alike(scenario: Scenario, over: Scenario) -> None:
    """Refuse two scenarios whose bus bandwidths say nothing of two data paths.

    Raises
    ------
    PeerlabError
        If they are of two clusters, collectives, sizes or numbers of nodes.
    """
    if with_library(over.hardware, None) != with_library(scenario.hardware, None):
        raise PeerlabError("gain_band compares two runs on one cluster; these are on two")
    said = [
        (one.collective, f"{one.nbytes} bytes per rank", say_count(one.nodes, "node"))
        for one in (scenario, over)
    ]
    for one, other in zip(*said, strict=True):
        if one != other:
            raise PeerlabError(
                f"gain_band compares two data paths of one exchange; one run is of {one}, the other of {other}"
            )


def gain_band(scenario: Scenario, over: Scenario, busbw: Busbw, here: float) -> GainBand:
    """Return how many times the bus bandwidth of `over` that of `scenario` may be, on one machine; `here` is it as assumed.

    Each figure with a range is tried alone at both ends, then all together at those ends that made the ratio smaller, and
    larger, and at their worse and better ends. Each alternative to an assumption without a range is tried alone.
    """
    met = scenario.hardware.figures  # of another library on the other path, only what both have
    figures = list({one.key: one for one in (*assumed(scenario), *assumed(over)) if one.key in met}.values())

    def gain(cluster: Cluster) -> float:
        return busbw(scenario.with_(cluster=cluster)) / busbw(over.with_(cluster=cluster))

    def moved(values: list[tuple[str, float]]) -> float:
        return gain(changed(scenario, values).hardware)

    alone = [[(moved([(one.key, end)]), end) for end in ends(one)] for one in figures]

    def reached(some: list[Figure]) -> list[float]:
        tried = [alone[figures.index(one)] for one in some]
        together = [
            [(one.key, sorted(its)[place][1]) for one, its in zip(some, tried, strict=True)]
            for place in (0, -1)
        ]
        known = [one for one in some if better_end(one) is not None]
        together += [
            [end_of(one, better_end(one), better=better) for one in known] for better in (False, True)
        ]
        return [here, *(ratio for its in tried for ratio, _ in its), *map(moved, together)]

    found = reached(figures)
    wired = [one for one in figures if not one.key.startswith(OF_LIBRARY)]
    part = reached(wired) if len(wired) < len(figures) else None
    bare = _without_library(scenario, over, busbw) if part else None
    told = [
        _assumption(
            figure, [GainCase(f"it is {end:g}{say_unit(figure.unit)}", ratio) for ratio, end in tried], here
        )
        for figure, tried in zip(figures, alone, strict=True)
    ]
    told += without_range((scenario, over), gain, here)
    sorted_told = tuple(sorted(told, key=lambda one: -one.reach))
    return GainBand(min(found), here, max(found), sorted_told, (min(part), max(part)) if part else None, bare)


def _without_library(scenario: Scenario, over: Scenario, busbw: Busbw) -> float | None:
    """Return the ratio from topology alone; None where an algorithm of the library was asked for."""
    try:
        bare = {"library": NONE, "library_version": None, "protocol": "auto"}
        alone = [one.with_(**bare) for one in (scenario, over)]
    except ScenarioError:
        return None
    return busbw(alone[0]) / busbw(alone[1])


def without_range(
    scenarios: Sequence[Scenario], gain: Callable[[Cluster], float], here: float
) -> list[Assumption]:
    """Return the assumptions without a range that `scenarios` (of one cluster) meet, with the gain of each alternative.

    `gain` answers a cluster with the gain on it, `here` is it as assumed.
    """
    return [
        _assumption(figure, [GainCase(one.says, gain(one.cluster)) for one in others], here)
        for figure, others in alternatives(*scenarios).items()
    ]


def _assumption(figure: Figure, cases: list[GainCase], here: float) -> Assumption:
    return Assumption(figure, tuple(cases), max((abs(log(case.gain / here)) for case in cases), default=0.0))
