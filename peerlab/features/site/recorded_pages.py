"""Pages of the site that were recorded when it was written: a race, a training step, all fabrics side by side."""

from collections.abc import Callable
from dataclasses import dataclass

from peerlab.base.display import shown
from peerlab.page.embedded import page_of
from peerlab.page.frame import alone
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.scenario import Scenario
from peerlab.study.fabric_comparison import compare_fabrics
from peerlab.study.racing import race
from peerlab.training.answer_step import step
from peerlab.training.step_band import step_gain


@dataclass(frozen=True)
class RecordedPage:
    """One page."""

    name: str
    """Of its file."""
    asks: str
    """What it answers, as the landing page says it."""
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
    return alone("All fabrics side by side", shown(compare_fabrics(_pair()[1])))


def _pair() -> tuple[Scenario, Scenario]:
    pair = detour_and_direct(Scenario())
    assert pair, "the usual cluster has both paths"  # noqa: S101
    return pair


RECORDED = (
    RecordedPage("race.html", "Both paths race on one clock", _race),
    RecordedPage("step.html", "What a training step gains", _step),
    RecordedPage("fabrics.html", "The same on every fabric", _fabrics),
)
