"""How sure the gain of one data path over another is.

Both paths are of one machine and share its figures, so that their ratio is surer than either of them: a figure moves on both
together, there is but one NIC. Figures that are assumed within a range give a band. What is assumed without a range is in no
band: where the NICs hang, say. Each of its alternatives is simulated, with a band of its own, and stands beside the other.
Beyond the figures every band reaches as far as the laws of both paths may be off (`peerlab.question.law_error`).
They are never merged into one minimum and maximum.
"""

# The gain is surer than the two rates that it compares. Dividing the worse end of one path by the better
# end of another takes one NIC for slow and for quick at once; on Gaudi 3 that gave 0.28 to 3.98 times, a
# range that no machine has. `gain_band` moves each assumed figure on both paths together and gives 1.01 to
# 2.00 (figures of topology alone). It tries each figure alone and then all together, not every combination:
# it would miss two figures that together turn a direction round. Lab 06 lets learners divide first, because
# that needs no new idea, and then shows why it is too wide.

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from typing import TYPE_CHECKING

from peerlab.answer.sensitivity import Busbw, changed, end_of
from peerlab.base.display import shown
from peerlab.base.errors import PeerlabError, ScenarioError
from peerlab.base.units import say_count, say_gain, say_percent, say_unit
from peerlab.library.library_files import with_library
from peerlab.library.library_record import NONE
from peerlab.model.hardware import Cluster, Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.question.alternatives import alternatives, as_later_versions
from peerlab.question.law_error import NO_FURTHER, Reach, reach_of_ratio
from peerlab.question.scenario import Scenario
from peerlab.question.used_figures import assumed, better_end, ends

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("figure", "what", "value", "if", "gain", "change_percent", "in_band")
OF_LIBRARY = ("library.", "graph.")
"""Sections of figures that are the communication library's, not the topology's."""
Moves = list[tuple[str, float]]
"""Figures by key, and what each is moved to, in the unit of its file."""
FELT = 0.01
"""From which relative change on an assumption is said to move a gain."""


@dataclass(frozen=True)
class GainCase:
    """One other way that an assumed figure may be."""

    says: str
    """What holds then, after *if*: ``it is 25 µs``, or ``each NIC has a root port of its own``."""
    gain: float
    """The gain then."""
    ends: tuple[float, float] | None = None
    """For another wiring: from where to where the gain may lie then; None: not tried."""

    @property
    def low(self) -> float:
        """The smallest gain then."""
        return self.ends[0] if self.ends else self.gain

    @property
    def high(self) -> float:
        """The largest gain then."""
        return self.ends[1] if self.ends else self.gain


@dataclass(frozen=True)
class Assumption:
    """What a gain owes to one assumed figure, or to where the NICs are assumed to hang."""

    figure: Figure | Wiring
    """The figure, or the wiring."""
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
    reach: Reach = NO_FURTHER
    """How far the error of the law makes the ends go beyond what the figures make."""
    old_library: GainCase | None = None
    """With the other algorithm that an old version of the library may run; None where its version leaves no doubt."""

    _repr_html_ = shown

    @property
    def left_out(self) -> tuple[Assumption, ...]:
        """The assumptions without a range, which the band leaves out."""
        return tuple(assumption for assumption in self.assumptions if not assumption.in_band)

    @property
    def least(self) -> float:
        """The smallest gain there is, in the band or with an alternative beside it: for a verdict, not to be shown as an end of a band."""
        return min([self.low, *(case.low for case in self._beside)])

    @property
    def most(self) -> float:
        """The largest gain there is, in the band or with an alternative beside it: for a verdict, as `least`."""
        return max([self.high, *(case.high for case in self._beside)])

    @property
    def _beside(self) -> list[GainCase]:
        """What stands beside the band: no range holds it."""
        old = [self.old_library] if self.old_library else []
        return [*(case for assumption in self.left_out for case in assumption.cases), *old]

    @property
    def wired(self) -> tuple[GainCase, ...]:
        """Each wiring that is possible, the assumed one first, with the gain and its band; empty where it is known or not felt."""
        for assumption in self.left_out:
            if isinstance(assumption.figure, Wiring) and assumption.reach >= FELT:
                assumed = GainCase(assumption.figure.place.holds, self.value, (self.low, self.high))
                return (assumed, *assumption.cases)
        return ()

    @property
    def decisive(self) -> Assumption | None:
        """The assumption that moves the gain most; None if none moves it by 1 %."""
        return next((assumption for assumption in self.assumptions if assumption.reach >= FELT), None)

    def __repr__(self) -> str:
        """Return it in one line, without what the law's error rests on: `range_in_words` says that."""
        return f"{_times(self.value)}: {'; '.join([*self._bands_in_words(), *self._left_out_in_words()])}"

    @property
    def in_words(self) -> str:
        """The gain, and what it may be otherwise, as one sentence without its end."""
        return f"{_times(self.value)}: {self.range_in_words()}"

    def range_in_words(self) -> str:
        """Return what the gain may be otherwise as one sentence without its end: a band for each wiring that is possible, then the rest."""
        law = [self.reach.in_words] if self.reach.error else []
        return "; ".join([*self._bands_in_words(), *law, *self._left_out_in_words()])

    def _left_out_in_words(self) -> list[str]:
        """Return what else may be otherwise, and how much it would move the gain."""
        old = self.old_library
        sentences = [f"{_between(old.low, old.high)} if {old.says}"] if old else []
        sentences += [
            _say(assumption)
            for assumption in self.left_out
            if assumption.reach >= FELT and isinstance(assumption.figure, Figure)
        ]
        quiet = [guess.figure.label for guess in self.left_out if guess.cases and guess.reach < FELT]
        silent = [guess.figure.label for guess in self.left_out if not guess.cases]
        if quiet:
            sentences.append(f"{', '.join(quiet)}: others move the gain by less than {say_percent(FELT)}")
        if silent:
            sentences.append(f"{', '.join(silent)}: no alternative can be simulated")
        return sentences

    def _bands_in_words(self) -> list[str]:
        """Return the band, or that of every wiring that is possible, and how to find out which one holds."""
        sentences, ends = [], "the assumed figures that have a range lie at its ends"
        if self.wired:
            (wiring,) = (
                assumption.figure for assumption in self.left_out if isinstance(assumption.figure, Wiring)
            )
            suggests = f", which {wiring.suggests} suggests" if wiring.suggests else " as assumed"
            first, *others = (f"{_between(case.low, case.high)} if {case.says}" for case in self.wired)
            sentences = [first + suggests, *others, wiring.check, f"each band: {ends}"]
        else:
            sentences = [f"{_between(self.low, self.high)} if {ends}"]
        if self.topology:
            of = "of the first band" if self.wired else "of that"
            alone = f"; without a library it is {_ratio(self.alone)}" if self.alone else ""
            low, high = map(_ratio, self.topology)
            rest = "the library's and the model's error" if self.reach.error else "the library's"
            sentences.append(f"{of} the machine's figures make {low} to {high}, {rest} the rest{alone}")
        return sentences

    def table(self) -> "pd.DataFrame":
        """Return one row for each case of each assumed figure, the most influential figure first.

        Columns: ``figure`` (its key in the cluster's file), ``what`` (its name), ``value`` (as assumed, with its unit), ``if``
        (what holds instead), ``gain`` (times), ``change_percent``, ``in_band``.
        """
        import pandas as pd  # noqa: PLC0415  (takes longer to load than the simulations)

        rows = [
            (assumption.figure.key, assumption.figure.label, str(assumption.figure), case.says, case.gain, 100 * (case.gain / self.value - 1), assumption.in_band)
            for assumption in self.assumptions
            for case in assumption.cases
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=list(COLUMNS))


def _ratio(value: float) -> str:
    """Return a ratio with two decimals, a small one with three digits."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3g}"


def _times(value: float) -> str:
    return f"{_ratio(value)} times"


_between = partial(say_gain, sign=" times")


def _say(assumption: Assumption) -> str:
    cases = ", ".join(f"{_times(case.gain)} if {case.says}" for case in assumption.cases)
    return f"{cases} (assumed is: {assumption.figure.assumption})"


def check_alike(scenario: Scenario, over: Scenario) -> None:
    """Refuse two scenarios whose bus bandwidths say nothing of two data paths.

    Raises
    ------
    PeerlabError
        If they are of two clusters, collectives, sizes or numbers of nodes.
    """
    # without their libraries: one machine may have another library on the other path
    if with_library(over.hardware, None) != with_library(scenario.hardware, None):
        raise PeerlabError("gain_band compares two runs on one cluster; these are on two")
    rows = [
        (side.collective, f"{side.nbytes} bytes per rank", say_count(side.nodes, "node"))
        for side in (scenario, over)
    ]
    for text, other in zip(*rows, strict=True):
        if text != other:
            raise PeerlabError(
                f"gain_band compares two data paths of one exchange; one run is of {text}, the other of {other}"
            )


def gain_band(
    scenario: Scenario, over: Scenario, busbw: Busbw, here: float, far: Reach | None = None
) -> GainBand:
    """Return how many times the bus bandwidth of `over` that of `scenario` may be, on one machine; `here` is it as assumed.

    `far` is how far the law's error moves the ends; None: as far as it moves the ratio of two bus bandwidths.

    Each figure with a range is tried alone at both ends, then all together at those ends that made the ratio smaller, and
    larger, and at their worse and better ends. Each alternative to an assumption without a range is tried alone.
    """
    met = scenario.hardware.figures  # of another library on the other path, only what both have
    # a range may be another one on the other path
    both = {figure.key: figure for figure in (*assumed(over), *assumed(scenario))}
    figures = [figure for figure in both.values() if figure.key in met]

    def gain(cluster: Cluster) -> float:
        return busbw(scenario.with_(cluster=cluster)) / busbw(over.with_(cluster=cluster))

    def moved(values: Moves) -> float:
        return gain(changed(scenario, values).hardware)

    # two simulations a figure; most of them have an answer that is known already (`known_answers`)
    alone = [[(moved([(figure.key, end)]), end) for end in ends(figure)] for figure in figures]

    def together(some: list[Figure]) -> list[Moves]:
        tried = [alone[figures.index(figure)] for figure in some]
        moves: list[Moves] = [
            [(figure.key, sorted(pairs)[place][1]) for figure, pairs in zip(some, tried, strict=True)]
            for place in (0, -1)
        ]
        # of the others nobody knows which end is better
        known = [figure for figure in some if better_end(figure) is not None]
        # worse ends before better ones, as the first of `moves` lowers the gain: `_ends` counts on this order
        return moves + [
            [end_of(figure, better_end(figure), better=up) for figure in known] for up in (False, True)
        ]

    def reached(some: list[Figure]) -> list[float]:
        tried = (ratio for figure in some for ratio, _ in alone[figures.index(figure)])
        return [here, *tried, *map(moved, together(some))]

    numbers = reached(figures)
    wired = [figure for figure in figures if not figure.key.startswith(OF_LIBRARY)]
    # without a library's figures the part would be the whole
    part = reached(wired) if len(wired) < len(figures) else None
    assumptions = [_ranged(figure, tried, here) for figure, tried in zip(figures, alone, strict=True)]
    far = far or reach_of_ratio(scenario, over)
    assumptions += without_range((scenario, over), gain, here, together(figures), far)
    return GainBand(
        min(numbers) * far.low,
        here,
        max(numbers) * far.high,
        tuple(sorted(assumptions, key=lambda assumption: -assumption.reach)),
        (min(part), max(part)) if part else None,
        _without_library(scenario, over, busbw) if part else None,
        far,
        _old_library(scenario, over, busbw, far),
    )


def _old_library(scenario: Scenario, over: Scenario, busbw: Busbw, far: Reach) -> GainCase | None:
    """Return the gain with the other algorithm that an old version of the library may run, with the law's error; None where nobody doubts which it runs."""
    others = as_later_versions(scenario), as_later_versions(over)
    other = others[0] or others[1]
    if other is None:
        return None
    gain = busbw(others[0] or scenario) / busbw(others[1] or over)
    who = (scenario if others[0] else over).library_words.who
    says = f"{who} runs a {other.algorithm}, which nobody has read"
    return GainCase(says, gain, (gain * far.low, gain * far.high))


def _ranged(figure: Figure, tried: Sequence[tuple[float, float]], here: float) -> Assumption:
    """Return what a gain owes to a figure with a range; `tried` are the gains at both ends, each with the end."""
    cases = [GainCase(f"it is {end:g}{say_unit(figure.unit)}", ratio) for ratio, end in tried]
    return _assumption(figure, cases, here)


def _without_library(scenario: Scenario, over: Scenario, busbw: Busbw) -> float | None:
    """Return the ratio from topology alone; None where an algorithm of the library was asked for."""
    try:
        bare = {"library": NONE, "library_version": None, "protocol": "auto"}
        alone = [side.with_(**bare) for side in (scenario, over)]
    except ScenarioError:
        return None
    return busbw(alone[0]) / busbw(alone[1])


def without_range(
    scenarios: Sequence[Scenario],
    gain: Callable[[Cluster], float],
    here: float,
    together: Sequence[Moves] = (),
    far: Reach = NO_FURTHER,
) -> list[Assumption]:
    """Return the assumptions without a range that `scenarios` (of one cluster) meet, with the gain of each alternative.

    `gain` answers a cluster with the gain on it, `here` is it as assumed. Another wiring has a band: `together` are the figures
    that made the gain smallest and largest, and all at their worse and better ends, as `gain_band` found them; `far` is how far the law's
    error moves both ends.
    """
    assumptions = []
    for figure, others in alternatives(*scenarios).items():
        cases = [
            GainCase(
                other.says,
                value := gain(other.cluster),
                _ends(scenarios[0].hardware, other.cluster, gain, value, together, far)
                if isinstance(figure, Wiring)
                else None,
            )
            for other in others
        ]
        assumptions.append(_assumption(figure, cases, here))
    return assumptions


def _ends(
    cluster: Cluster,
    other: Cluster,
    gain: Callable[[Cluster], float],
    value: float,
    together: Sequence[Moves],
    far: Reach,
) -> tuple[float, float]:
    """Return from where to where the gain on another wiring may lie, with what only that wiring needs at the ends of its range."""
    # what only this wiring needs, such as what a CPU forwards, was moved by no figure of the assumed one
    own = [figure for key, figure in other.figures.items() if key not in cluster.figures and figure.range]
    lows, highs = ([(figure.key, ends(figure)[end]) for figure in own] for end in (0, 1))
    values = [value]
    # in pairs: nothing moved, what lowered and what raised the gain, worse and better ends
    for place, moves in enumerate([[], [], *together]):
        wired = other
        for key, end in (*moves, *(highs if place % 2 else lows)):
            wired = wired.with_figure(key, end)
        values.append(gain(wired))
    return min(values) * far.low, max(values) * far.high


def _assumption(figure: Figure | Wiring, cases: list[GainCase], here: float) -> Assumption:
    reach = max((abs(log(case.gain / here)) for case in cases), default=0.0)
    return Assumption(figure, tuple(cases), reach)
