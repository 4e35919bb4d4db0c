"""Bands of runs, each computed once in a session: the lab, its exports and several labs in one notebook share them."""

from collections.abc import Sequence

from peerlab.answer.gain import GainBand, check_alike, gain_band
from peerlab.answer.known_answers import answer
from peerlab.answer.metrics import busbw_GBps, wire_limit_GBps
from peerlab.answer.run import Run
from peerlab.answer.sensitivity import Band, band
from peerlab.base.errors import Cancelled, PeerlabError
from peerlab.base.latest import Latest
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.simulate import simulate
from peerlab.model.hardware import Cluster
from peerlab.question.scenario import Scenario
from peerlab.study.patience import TooSlow

_MOST_REPORTS = 100
"""A simulation at the end of a band that reports more often is given up. Counted, not timed: the same points have bands on
every machine, and the same picture is the same file."""
_MOST_KEPT = 4000
_bands: Latest[tuple[Scenario, Cluster], Band] = Latest(_MOST_KEPT)
"""Only numbers are kept, no traces; the cluster is in the key, as its file may be another one meanwhile."""


def band_of(run: Run, report: Progress | None = None) -> Band:
    """Return the band of a run; `report` is called with every simulation's progress, and may end it with an exception.

    Raises
    ------
    TooSlow
        If one of its ends takes too long to simulate.
    PeerlabError
        If one of its ends is impossible.
    """
    key = (run.scenario, run.scenario.hardware)
    return _bands.get(
        key,
        lambda: band(run.scenario, lambda end: _busbw(end, report), run.busbw_GBps, wire_limit_GBps),
    )


_gain_bands: Latest[tuple[Scenario, Scenario, Cluster], GainBand] = Latest(_MOST_KEPT)


def gain_band_of(slow: Run, fast: Run, report: Progress | None = None) -> GainBand:
    """Return how many times as fast one path may be as another; `report` as in `band_of`.

    Raises
    ------
    TooSlow
        If one of its ends takes too long to simulate.
    PeerlabError
        If the runs cannot be compared, or an end is impossible.
    """

    def computed() -> GainBand:
        # then both have one machine, and that of one of them is enough in the key
        check_alike(fast.scenario, slow.scenario)
        here = fast.busbw_GBps / slow.busbw_GBps
        return gain_band(fast.scenario, slow.scenario, lambda end: _busbw(end, report), here)

    return _gain_bands.get((slow.scenario, fast.scenario, slow.scenario.hardware), computed)


def bands_of(runs: Sequence[Run | None], report: Progress | None = None) -> list[Band | None]:
    """Return the bands of a curve's points; None where there is no run, or no band, and from the first that takes too long."""
    bands: list[Band | None] = []
    for run in runs:
        try:
            bands.append(band_of(run, report) if run else None)
        # before its own bases: `TooSlow` is a `Cancelled`, and that is a `PeerlabError`
        except TooSlow:  # so are the larger ones
            break
        except Cancelled:
            raise
        except PeerlabError:  # an end that the scenario cannot have
            bands.append(None)
    return bands + [None] * (len(runs) - len(bands))


def _busbw(scenario: Scenario, report: Progress | None) -> float:
    reports = 0

    def progress(done: int, total: int) -> None:
        nonlocal reports
        reports += 1
        if reports > _MOST_REPORTS:
            raise TooSlow(f"step {done} of {total} was reached")
        if report:
            report(done, total)

    # Counted as a report here, and not by `answer`: so both limits below give up the same simulations.
    progress(0, 1)  # in any case: a short simulation has ended before it reports
    known = answer(scenario, simulate, progress)
    if known.reports >= _MOST_REPORTS:  # where somebody else waited for it, too
        raise TooSlow(f"it reports {known.reports} times")
    return busbw_GBps(scenario, known.time_ps)
