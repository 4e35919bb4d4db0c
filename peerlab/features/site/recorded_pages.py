"""Pages of the site that were recorded when it was written: a race, a training step, all fabrics side by side, a thousand runs with noise."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from peerlab.base.display import shown
from peerlab.base.feature import registered
from peerlab.base.units import say_bytes
from peerlab.page.embedded import page_of
from peerlab.page.frame import alone, framed
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.scenario import Scenario
from peerlab.study.fabric_comparison import compare_fabrics
from peerlab.study.racing import race
from peerlab.training.answer_step import step
from peerlab.training.step_band import step_gain

_TAILS = "What noise makes of a thousand runs"
_RUNS = 1000


@dataclass(frozen=True)
class RecordedPage:
    """One page."""

    name: str
    """Of its file."""
    asks: str
    """The question that the page answers, as the landing page says it."""
    make: Callable[[], str]
    """Returns the page as text."""


def _race() -> str:
    slow, fast = _pair()
    return page_of("race", race(fast, slow))


def _step() -> str:
    slow, fast = _pair()
    host = step(path=slow.path)
    direct = step(host.step.with_(path=fast.path))
    return page_of("step", [host, direct], sure=step_gain(direct, host))


def _fabrics() -> str:
    return page_of("FabricComparison", compare_fabrics(_pair()[1]))


def _tails() -> str:
    # Both paths of this machine run side by side as arrays: a thousand runs take a second, and minutes on DL1.
    direct = _pair(Scenario(cluster="juliet", message_bytes="128 MiB"))[1]
    result = registered("offers", "tails of a scenario")(direct, seeds=_RUNS, progress=False)
    noisy = result.paths[0].scenario
    sentence = (
        f"{_RUNS:,} AllReduces of {say_bytes(noisy.nbytes)} on {noisy.nodes} nodes of {noisy.hardware.title}, on each path, with "
        f"{noisy.noise.in_words}; how much of each kind is assumed. A dot stands for a run, or for several where there is no room."
    )
    return alone(_TAILS, framed("tails", _TAILS, f"<p>{escape(sentence)}</p>{shown(result)}"))


def _pair(scenario: Scenario | None = None) -> tuple[Scenario, Scenario]:
    pair = detour_and_direct(scenario or Scenario())
    assert pair, "the cluster has both paths"  # noqa: S101
    return pair


RECORDED = (
    RecordedPage("race.html", "Both paths race on one clock", _race),
    RecordedPage("step.html", "What a training step gains", _step),
    RecordedPage("fabrics.html", "The same on every fabric", _fabrics),
    RecordedPage("tails.html", _TAILS, _tails),
)
