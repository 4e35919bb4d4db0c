"""The answer to a scenario, for people: its trace and every figure drawn from it."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerlab.answer import critical_path, metrics
from peerlab.answer.gain import GainBand, check_alike, gain_band
from peerlab.answer.known_answers import answer
from peerlab.answer.lanes import lane_name
from peerlab.answer.sensitivity import Band, band, influences
from peerlab.answer.trace import Recording, Trace
from peerlab.base.display import shown, write_trace
from peerlab.base.errors import PeerlabError
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import PS_PER_S, say_bytes, say_time, seconds
from peerlab.collectives.choose import plan
from peerlab.collectives.plan import overlaps
from peerlab.model.hardware import Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.model.registration import Counters
from peerlab.question.alternatives import Alternative, alternatives, as_later_versions
from peerlab.question.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

ITERATION_TIMES = "iteration_times_s"
"""Key of `Run.as_dict`, and column of a sweep, that is there only if it was asked for."""


@dataclass(frozen=True)
class IterationResult:
    """One run of the collective."""

    time_s: float
    """How long it took, seconds."""
    algbw_GBps: float  # noqa: N815
    """Bytes / time, GB/s."""
    busbw_GBps: float  # noqa: N815
    """Bus bandwidth as nccl-tests report it, GB/s."""
    registration: Counters
    """What the registration caches of one PCIe switch's NICs did; see `Run.registration`."""


@dataclass(frozen=True)
class Run:
    """A simulated scenario. Figures are those of the last iteration: what a benchmark reports after its warm-up.

    >>> from peerlab import Scenario, simulate
    >>> simulate(Scenario(path="peer-direct"))
    Run(dl1, 8 nodes, peer-direct, allreduce of 64 MiB: 2.54 ms, busbw 52 GB/s, NIC send 92 % busy)
    """

    scenario: Scenario
    """The question."""
    trace: Trace
    """Every span."""
    engine: str
    """Which engine answered."""
    # handed in, because what answers is not imported: engines stand above answers
    simulate: Callable[..., "Run"] | None = field(default=None, repr=False, compare=False)
    """What answers another scenario; for what-ifs (:meth:`sensitivity`)."""

    @property
    def recording(self) -> Recording:
        """The last iteration."""
        return self.trace.last

    @property
    def time_ps(self) -> int:
        """Time of the last iteration, picoseconds."""
        return self.recording.end_ps

    @property
    def time_s(self) -> float:
        """Time of the last iteration, seconds."""
        return seconds(self.time_ps)

    @property
    def algbw_GBps(self) -> float:  # noqa: N802
        """Bytes / time, GB/s; not a number where no time passes."""
        return metrics.algbw_GBps(self.scenario, self.time_ps)

    @property
    def busbw_GBps(self) -> float:  # noqa: N802
        """Bus bandwidth, GB/s: algbw x 2 (n-1)/n for an AllReduce of n ranks."""
        return metrics.busbw_GBps(self.scenario, self.time_ps)

    @property
    def wire_limit_GBps(self) -> float:  # noqa: N802
        """The busbw of a wire that is always busy, with this many nodes, GB/s."""
        return metrics.wire_limit_GBps(self.scenario)

    @cached_property
    def busy(self) -> dict[str, float]:
        """Busy share of the busiest resource of each kind, 0 to 1; :meth:`busy_lanes` has them by name."""
        return metrics.busy_shares(self.trace, self.recording)

    @cached_property
    def used_ps(self) -> NDArray[np.float64]:
        """Picoseconds of capacity that were used, per resource of the trace."""
        return metrics.busy_ps(self.trace, self.recording)

    @property
    def wire_busy(self) -> float:
        """Share of the time that the NICs (on ``native`` the devices' own ports) send, 0 to 1."""
        return metrics.sending_share(self.busy)

    @cached_property
    def bottleneck(self) -> metrics.Bottleneck | None:
        """What the collective mostly waits for; None where no time passes."""
        # in blocking steps no flight of the next step begins before this one is over
        overlapping = not self.scenario.blocking and overlaps(plan(self.scenario).schedule)
        flying = metrics.flight_share(self.recording)
        says = self.scenario.hardware.says
        return metrics.bottleneck(self.busy, flying, overlapping=overlapping, says=says)

    @cached_property
    def copies_per_byte(self) -> float:
        """How often a byte is copied on its way."""
        return metrics.copies_per_byte(self.trace, self.recording)

    @cached_property
    def dram_bytes_per_byte(self) -> float:
        """DRAM traffic per byte sent."""
        return metrics.dram_bytes_per_byte(self.trace, self.recording)

    @cached_property
    def cores_busy(self) -> float:
        """CPU cores of a node busy on average."""
        return metrics.cores_busy(self.trace, self.recording)

    @property
    def registration(self) -> Counters:
        """What the registration caches of one PCIe switch's NICs did in the last iteration, added up.

        It is the first switch of the node that is shown: the slowest of `slow_nodes`, else node 0. Where all nodes do the
        same, every switch counts the same. It does not matter which engine answered.
        """
        return self.recording.counters

    @cached_property
    def iterations(self) -> tuple[IterationResult, ...]:
        """Every iteration, first to last."""
        return tuple(
            IterationResult(
                seconds(iteration.time_ps),
                metrics.algbw_GBps(self.scenario, iteration.time_ps),
                metrics.busbw_GBps(self.scenario, iteration.time_ps),
                iteration.recording.counters,
            )
            for iteration in self.trace.iterations
        )

    @cached_property
    def critical_path(self) -> list[critical_path.Segment]:
        """What the end of the last iteration waited for, first to last, without a gap."""
        return critical_path.critical_path(self.trace, self.recording)

    def breakdown(self) -> dict[str, float]:
        """Return the seconds that each stage has on the critical path; they add up to `time_s`."""
        total: dict[str, int] = {}
        for segment in self.critical_path:
            total[segment.stage] = total.get(segment.stage, 0) + segment.end_ps - segment.start_ps
        return {stage: ps / PS_PER_S for stage, ps in sorted(total.items(), key=lambda item: -item[1])}

    def busy_lanes(self) -> dict[str, float]:
        """Return the shares of `busy`, 0 to 1, under the names that the lanes of the timeline have; the busiest first."""
        return {
            lane_name(kind): share for kind, share in sorted(self.busy.items(), key=lambda item: -item[1])
        }

    def sensitivity(self) -> "pd.DataFrame":
        """Return what the bus bandwidth owes to each assumption: one row per assumed figure that this path meets.

        Columns: ``figure``, ``unit``; ``low``, ``value``, ``high`` of the figure in that unit; ``busbw_at_low_GBps``,
        ``busbw_at_high_GBps`` (GB/s); ``change_at_low_percent``, ``change_at_high_percent``. The most influential comes
        first. Every end is a simulation of its own.

        Raises
        ------
        PeerlabError
            If this run was not made by `peerlab.simulate`.
        """
        return influences(self.scenario, self._busbw_of, self.busbw_GBps)

    def sensitivity_band(self) -> Band:
        """Return from where to where the bus bandwidth may lie (GB/s) if all assumed figures lie at the ends of their ranges.

        See `peerlab.answer.sensitivity` for what "worse" and "better" mean.

        Raises
        ------
        PeerlabError
            If this run was not made by `peerlab.simulate`.
        """
        return band(self.scenario, self._busbw_of, self.busbw_GBps, metrics.wire_limit_GBps)

    def other_algorithm(self) -> tuple[str, float] | None:
        """Return the algorithm that the library may run instead, and the bus bandwidth (GB/s) with it; None where its version leaves no doubt.

        Raises
        ------
        PeerlabError
            If this run was not made by `peerlab.simulate`.
        """
        other = as_later_versions(self.scenario)
        return (str(other.algorithm), self._busbw_of(other)) if other else None

    def alternatives(self) -> dict[Figure | Wiring, list[tuple[Alternative, float]]]:
        """Return what the bus bandwidth (GB/s) would be if an assumption without a range did not hold, by what is assumed.

        Raises
        ------
        PeerlabError
            If this run was not made by `peerlab.simulate`.
        """
        return {
            figure: [
                (alternative, self._busbw_of(self.scenario.with_(cluster=alternative.cluster)))
                for alternative in others
            ]
            for figure, others in alternatives(self.scenario).items()
        }

    def gain_band(self, over: "Run") -> GainBand:
        """Return how many times the bus bandwidth of another run this one's may be, and what that owes to each assumption.

        Both are on one machine, so a figure has one value for both: the ratio is surer than `sensitivity_band` of each.
        What is assumed without a range, such as where the NICs hang, stands beside the band, simulated. As text the answer
        is the sentence that says all this.

        Raises
        ------
        PeerlabError
            If the other is no run, or one of another cluster, collective, size or number of nodes; if one of them exchanges nothing, or this one was not made by
            `peerlab.simulate`.
        """
        if not isinstance(over, Run):
            raise PeerlabError(
                f"gain_band compares with a run that peerlab.simulate has made, not with {over!r:.60}"
            )
        check_alike(self.scenario, over.scenario)
        if not self.time_ps or not over.time_ps:
            raise PeerlabError("gain_band compares two runs that take time; one rank exchanges nothing")
        here = self.busbw_GBps / over.busbw_GBps
        return gain_band(self.scenario, over.scenario, self._busbw_of, here)

    def _busbw_of(self, scenario: Scenario) -> float:
        if self.simulate is None:
            raise PeerlabError("sensitivity needs a run that peerlab.simulate has made")
        return metrics.busbw_GBps(scenario, answer(scenario, self.simulate).time_ps)

    def as_dict(self, *, iteration_times: bool = False) -> dict[str, Any]:
        """Return the figures as plain values with the unit in every name; None where a figure has no value.

        A row of `sweep` has the same. What begins with ``registration_`` is of the NICs of one PCIe switch
        (:attr:`registration` says which).
        ``library``, ``algorithm``, ``protocol`` and ``chunk_bytes`` are what was used, ``library_does`` is the same in words.

        Parameters
        ----------
        iteration_times:
            Whether to add ``iteration_times_s``, the seconds of every iteration, first to last. With a registration cache the
            cold ones are then simulated too, which takes about twice as long as all the rest.
        """
        bottleneck = self.bottleneck
        s = self.scenario
        return {
            "cluster": s.hardware.name,
            "nodes": s.nodes,
            "ranks": s.ranks,
            "path": s.path,
            "registration": s.registration if s.data_path.uses_device_memory else None,
            "collective": s.collective,
            "message_bytes": s.nbytes,
            **s.library_figures,
            "time_s": self.time_s,
            "algbw_GBps": None if math.isnan(self.algbw_GBps) else self.algbw_GBps,
            "busbw_GBps": self.busbw_GBps,
            "wire_busy_share": self.wire_busy,
            "bottleneck": bottleneck.label if bottleneck else None,
            "bottleneck_share": bottleneck.share if bottleneck else None,
            "copies_per_byte": self.copies_per_byte,
            "dram_bytes_per_byte": self.dram_bytes_per_byte,
            "cores_busy": self.cores_busy,
            "registration_hits": self.registration.hits,
            "registration_misses": self.registration.misses,
            "registration_evictions": self.registration.evictions,
            "registration_time_s": seconds(self.registration.time_ps),
            **(
                {ITERATION_TIMES: [iteration.time_s for iteration in self.iterations]}
                if iteration_times
                else {}
            ),
            "extrapolated": s.extrapolates,
            "engine": self.engine,
        }

    def to_json(self, *, iteration_times: bool = False) -> str:
        """Return the figures of :meth:`as_dict` as JSON."""
        return json.dumps(self.as_dict(iteration_times=iteration_times), indent=2)

    def to_perfetto(self, path: str | Path) -> None:
        """Write every span of every iteration as a Chrome trace; open it in ui.perfetto.dev or chrome://tracing.

        Raises
        ------
        PeerlabError
            If the file cannot be written.
        """
        write_trace(self, path)

    _repr_html_ = shown

    def __repr__(self) -> str:
        s = self.scenario
        what = f"{s.hardware.name}, {s.nodes} nodes, {s.path}, {s.collective} of {say_bytes(s.nbytes)}"
        bottleneck = self.bottleneck
        if bottleneck is None:
            return f"Run({what}: one rank exchanges nothing, no time passes)"
        return f"Run({what}: {say_time(self.time_ps)}, busbw {self.busbw_GBps:.3g} GB/s, {bottleneck.label} {bottleneck.says})"
