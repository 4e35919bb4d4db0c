"""What a machine should reach, size by size: floor, expected with its band, ceiling, and what limits."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from peerlab.answer.metrics import wire_limit_GBps
from peerlab.answer.sensitivity import band
from peerlab.base.display import shown
from peerlab.base.progress_bar import progress_bar
from peerlab.base.units import say_bytes, say_count, seconds
from peerlab.engine.long_messages import simulated_GBps, time_ps, waits_for
from peerlab.features.expect.ceiling import Ceiling, ceiling
from peerlab.features.expect.too_long import expectation_takes_s, refuse_long
from peerlab.model.hardware import Cluster
from peerlab.model.paths import PEER_DIRECT, data_path, path_title
from peerlab.question.floors import FloorFactor, floor_factor
from peerlab.question.scenario import Scenario


def figure(GBps: float) -> str:  # noqa: N803
    """Return a bandwidth as tables, pictures and files write it: three digits, or all before its point.

    >>> figure(0.000115), figure(342.66), figure(1736.4)
    ('0.000115', '343', '1736')
    """
    return f"{GBps:.0f}" if GBps >= 1000 else f"{GBps:.3g}"


@dataclass(frozen=True, kw_only=True)
class ExpectedSize:
    """One size; bandwidths are bus bandwidths in GB/s, as nccl-tests print them."""

    size: int
    """Bytes of the message."""
    time_s: float
    """Expected time of one collective, seconds."""
    floor: float | None
    """Below it something is wrong; None: no log says how far a healthy run may be off."""
    low: float
    expected: float
    high: float
    """Between low and high nine of ten healthy runs lie."""
    ceiling: float
    """What the machine cannot pass."""
    limits: str
    """What it mostly waits for, and what the library runs."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True, repr=False)
class Expectation:
    """What a machine should reach."""

    scenario: Scenario
    """The question, at its largest size."""
    rows: tuple[ExpectedSize, ...]
    """By size, ascending."""
    ceiling: Ceiling
    """What cannot be passed at any size."""
    factor: FloorFactor | None
    """What puts the floor below the band."""
    what_if: str = ""
    """That another machine was asked for, of which nothing is known; empty: this one was."""

    _repr_html_ = shown

    @property
    def says(self) -> str:
        """The question in one line."""
        scenario = self.scenario
        way = "over NVLink, past every NIC" if scenario.domains == 1 else path_title(str(scenario.path))
        library = f", {scenario.library_words.who}" if scenario.library_words.who else ""
        return (
            f"{scenario.collective_record.title} on {say_count(scenario.nodes, 'node')} of {scenario.hardware.title}, "
            f"{say_count(scenario.ranks, 'rank')}, {way}{library}"
        )

    @property
    def notes(self) -> Iterator[str]:
        """What each column means here, and what to beware of, as sentences."""
        yield "Expected: simulated; nine of ten healthy runs should lie in the band."
        if self.factor:
            sure = "" if self.factor.promised else " No accuracy is promised for this transport."
            yield f"Floor: {self.factor.says}; below it something is wrong.{sure}"
        else:
            yield "No floor: no log says how far a healthy run of this library and collective may be off."
        yield f"Ceiling: {self.ceiling.says}."
        yield from dict.fromkeys(sentence for row in self._scenarios() for sentence in row.library_unsolved)

    def _scenarios(self) -> Iterator[Scenario]:
        return (self.scenario.with_(message_bytes=row.size) for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold; bus bandwidths in GB/s."""
        scenario = self.scenario
        return {
            "what_if": self.what_if or None,
            "says": self.says,
            "cluster": scenario.hardware.name,
            "nodes": scenario.nodes,
            "ranks": scenario.ranks,
            "collective": scenario.collective,
            "path": scenario.path,
            "library": scenario.library_words.who or None,
            "unit": "GB/s busbw",
            "ceiling": vars(self.ceiling),
            "floor_from": self.factor.says if self.factor else None,
            "rows": [row.as_dict() for row in self.rows],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        last = self.rows[-1]
        floor = "" if last.floor is None else f"floor {figure(last.floor)}, "
        return (
            f"Expectation({self.says}: at {say_bytes(last.size)} {figure(last.expected)} GB/s, "
            f"{floor}band {figure(last.low)} to {figure(last.high)}, ceiling {figure(last.ceiling)})"
        )


def expectation(
    asked: Scenario, sizes: Iterable[int], *, anyway: bool = False, shows: bool = False
) -> Expectation:
    """Return what a scenario should reach at some sizes.

    `anyway`: begin what takes more than two minutes, too. `shows`: whether a bar shows how far it is.

    Raises
    ------
    ScenarioError
        If it would take more than two minutes, since every node is simulated.
    """
    most, factor = ceiling(asked), floor_factor(asked)
    # The largest size is the question's own, as its ceiling and its words are those of large messages.
    each = [asked.with_(message_bytes=size) for size in sorted(set(sizes))]
    forecast_s = expectation_takes_s(each)
    if not anyway:
        refuse_long(each, forecast_s)
    rows = []
    with progress_bar("expect", "sizes", len(each), forecast_s=forecast_s, shown=shows) as bar:
        for scenario in each:
            rows.append(_row(scenario, most, factor))
            bar.advance()
    return Expectation(
        scenario=each[-1],
        rows=tuple(rows),
        ceiling=most,
        factor=factor,
    )


def usual_path(cluster: Cluster) -> str:
    """Return the path that a machine should take: its devices' own ports, else Peer Direct, else the first of its file."""
    own = next((path for path in cluster.paths if data_path(path).uses_own_ports), None)
    return own or (PEER_DIRECT if PEER_DIRECT in cluster.paths else cluster.paths[0])


def _row(scenario: Scenario, most: Ceiling, factor: FloorFactor | None) -> ExpectedSize:
    here = simulated_GBps(scenario)
    busbw_band = band(scenario, simulated_GBps, here, wire_limit_GBps)
    # The ceiling gives way where a simulation passes it; below, the law's error is taken off the band again:
    # floors come without.
    limit, by_figures = max(most.busbw_GBps, here), busbw_band.low_GBps / busbw_band.reach.low
    return ExpectedSize(
        size=scenario.nbytes,
        time_s=seconds(time_ps(scenario)),
        # Never above the band: else a run could lie in its band and be called ill.
        floor=min(busbw_band.low_GBps, by_figures / factor.times) if factor else None,
        low=busbw_band.low_GBps,
        expected=here,
        high=min(busbw_band.high_GBps, limit),
        ceiling=limit,
        limits=_limits(scenario),
    )


def _limits(scenario: Scenario) -> str:
    """Return what a run mostly waits for, and what the library runs."""
    waits, does = waits_for(scenario), ", ".join(scenario.library_words.does)
    label = waits.label if waits else "nothing"
    return f"{label} ({does})" if does else label
