"""How many times as fast one data path is as another on one machine: the figure that a page shows largest."""

# The ratio comes first. The largest figure is how many times as fast the way past the host is, whichever of
# the two paths is shown, with its band and, in the same sentence, the alternatives (`picture/path_ratio`).
# The band takes about two seconds to simulate, so it follows in a thread; an exported page has it for the
# two paths that it begins with.

from collections.abc import Sequence
from typing import TypedDict

from peerlab.answer.gain import FELT, GainBand
from peerlab.answer.run import Run
from peerlab.base.units import say_gain, say_time
from peerlab.model.noise import NOISE_KINDS
from peerlab.picture.how_sure import how_sure_svg
from peerlab.picture.theme import PAGE
from peerlab.question.scenario import Scenario


class OtherRatio(TypedDict):
    """The ratio if an assumption without a range does not hold."""

    says: str
    """What holds then, after *if*: ``each NIC has a root port of its own``."""
    ratio: float
    low: float
    """Where it has a band of its own, its ends; else the ratio itself."""
    high: float


class _Condition(TypedDict):
    """On what a range rests."""

    condition: str
    """As it ends a sentence: ``if each NIC hangs below the devices' switch``; ``depending most on the library's cost per message``; or that there is no range."""
    kind: str
    """``if``: the range holds then; ``on``: it depends on this; ``note``: there is none."""


class PathRatio(_Condition):
    """The ratio of two data paths' bus bandwidth, as the page gets it."""

    of: list[str]
    """The scenarios, as Python, beside which it may stand."""
    slow: str
    """What the path is called that the other one is compared with."""
    fast: str
    value: float
    low: float | None
    """With the assumed figures at those ends of their ranges that make it smaller; none: not computed."""
    high: float | None
    range: str
    """From where to where it lies, in words; empty: not computed."""
    others: list[OtherRatio]
    """Beside the band: with each alternative to an assumption without a range."""
    pending: bool
    """Whether its range follows."""
    says: str
    """The band and the alternatives as one sentence without its end."""
    sure: str
    """The picture of how sure it is, as SVG whose colours are the page's; empty without a band."""
    times: list[str]
    """How long the one path takes, and the other."""
    without: str
    """What the two were simulated without, as with it one of them takes too long: ``noise``; empty: both as asked for."""


def path_ratio(
    slow: Run, fast: Run, band: GainBand | None, of: Sequence[str] = (), *, pending: bool = False
) -> PathRatio | None:
    """Return the ratio of two runs of one machine, or nothing if one of them takes no time.

    `of` are other scenarios that it holds for; `pending`: the band follows.
    """
    if not slow.time_ps or not fast.time_ps:
        return None
    rests = _condition(band, pending)
    cases = [
        # Beside its assumption a case says *it*; alone it has to say what.
        (case, case.says.replace("it is", f"{assumption.figure.label} is", 1))
        for assumption in (band.left_out if band else ())
        for case in assumption.cases
        if assumption.reach >= FELT
    ]
    return {
        "of": list(dict.fromkeys((slow.scenario.as_code(), fast.scenario.as_code(), *of))),
        "slow": slow.scenario.data_path.title,
        "fast": fast.scenario.data_path.title,
        "value": fast.busbw_GBps / slow.busbw_GBps,
        "low": band.low if band else None,
        "high": band.high if band else None,
        "range": say_gain(band.low, band.high) if band else "",
        "others": [
            {"says": words, "ratio": case.gain, "low": case.low, "high": case.high} for case, words in cases
        ],
        "condition": rests["condition"],
        "kind": rests["kind"],
        "pending": pending and not band,
        "says": band.range_in_words() if band else "",
        "sure": how_sure_svg(band, theme=PAGE) if band else "",
        "times": [say_time(slow.time_ps), say_time(fast.time_ps)],
        "without": "",
    }


def without_noise(scenario: Scenario) -> Scenario:
    """Return the same question on machines that are always equally fast."""
    return scenario.with_(**dict.fromkeys(NOISE_KINDS, 0))


def stands_in(ratio: PathRatio | None, noisy: Sequence[Scenario]) -> PathRatio | None:
    """Return the ratio of two runs without noise as that of two scenarios with it, of which one takes too long."""
    return ratio and {**ratio, "of": [scenario.as_code() for scenario in noisy], "without": "noise"}


def _condition(band: GainBand | None, pending: bool) -> _Condition:
    """Return the one condition that stands below a range: the wiring, else the figure that moves the gain most."""
    if band is None:
        without = "(its range follows)" if pending else "(simulated, without a range here)"
        return {"condition": without, "kind": "note"}
    if band.wired:
        return {"condition": f"if {band.wired[0].says}", "kind": "if"}
    if band.decisive is None:
        return {"condition": "to within the model's error", "kind": "on"}
    label = band.decisive.figure.label
    if band.decisive.in_band:
        return {"condition": f"depending most on {label}", "kind": "on"}
    return {"condition": f"if {label} is {band.decisive.figure}", "kind": "if"}
