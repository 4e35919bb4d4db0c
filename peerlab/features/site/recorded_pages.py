"""Pages of the site that were recorded when it was written: a race, a training step, transports, neighbours, jobs, a thousand runs with noise."""

from collections.abc import Callable
from dataclasses import dataclass

from peerlab.base.feature import registered
from peerlab.page.embedded import page_of
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.scenario import Scenario
from peerlab.study.fabric_comparison import compare_fabrics
from peerlab.study.jobs_answer import shared_fabric
from peerlab.study.racing import race
from peerlab.training.answer_step import step
from peerlab.training.step_band import step_gain

_RUNS = 1000


@dataclass(frozen=True)
class RecordedPage:
    """One page."""

    name: str
    """Of its file."""
    asks: str
    """The question that the page answers, as the landing page says it."""
    shows: str
    """What is seen there, in a sentence of the landing page."""
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
    # A fabric that has every transport, and a message so small that headers and hops are felt.
    return page_of("FabricComparison", compare_fabrics(Scenario(cluster="ideal-100g", message_bytes="1 MiB")))


def _tails() -> str:
    # Both paths of this machine run side by side as arrays: a thousand runs take a second, and minutes on DL1.
    direct = _pair(Scenario(cluster="juliet", message_bytes="128 MiB"))[1]
    result = registered("offers", "tails of a scenario")(direct, seeds=_RUNS, progress=False)
    html: str = registered("offers", "page of many runs")(result)
    return html


def _neighbours() -> str:
    # Small: each cell that a port passes is a row of the page.
    compared = registered("offers", "neighbours on fabrics")(message_bytes="1 MiB")
    return page_of("PortComparison", compared)


def _jobs() -> str:
    crossing, twice = {"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}
    return page_of("SharedFabric", shared_fabric([crossing, twice]))


def _pair(scenario: Scenario | None = None) -> tuple[Scenario, Scenario]:
    pair = detour_and_direct(scenario or Scenario())
    assert pair, "the cluster has both paths"  # noqa: S101
    return pair


RECORDED = (
    RecordedPage("race.html", "Both paths race on one clock", "Every slice of both, side by side.", _race),
    RecordedPage(
        "step.html", "What a training step gains", "ResNet-50: which exchanges hide behind computing.", _step
    ),
    RecordedPage(
        "fabrics.html",
        "The same over every transport",
        "InfiniBand, RoCE, EFA, TCP: hops and headers.",
        _fabrics,
    ),
    RecordedPage(
        "neighbours.html",
        "What others on the network cost you",
        "Queues, pauses, credits, lost packets.",
        _neighbours,
    ),
    RecordedPage(
        "jobs.html", "Two jobs share their uplinks", "Who pays, and who stands in whose way.", _jobs
    ),
    RecordedPage(
        "tails.html",
        "What noise makes of a thousand runs",
        "The slow end of the times, and who is to blame.",
        _tails,
    ),
)
