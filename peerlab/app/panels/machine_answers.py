"""Below the curves: what the machine that is shown should reach, and which algorithm its library takes there."""

import asyncio
from collections.abc import Callable

import ipywidgets as w

from peerlab.app.runs import running_loop
from peerlab.base.display import shown
from peerlab.base.errors import PeerlabError
from peerlab.base.feature import registered
from peerlab.page.widgets import classed, refusal_html, row, unfold
from peerlab.question.scenario import Scenario
from peerlab.question.size_list import parse_sizes


def should_reach(scenario: Scenario) -> str:
    """Return floor, band and ceiling of the scenario's machine, nodes and path as HTML."""
    # As `peerlab expect` asks: what it should reach once all memory is registered.
    expectation = registered("offers", "what a scenario should reach")
    return shown(expectation(scenario.with_(registration="pool"), parse_sizes(None)))


def which_runs(scenario: Scenario) -> str:
    """Return the map of choices of the scenario's machine and path as HTML."""
    choices = registered("offers", "map of choices")
    return shown(
        choices(scenario.given_cluster, path=scenario.path, library_version=scenario.library_version)
    )


_ANSWERS: dict[str, tuple[str, Callable[[Scenario], str]]] = {
    "What should it reach?": (
        "Floor, band and ceiling at each size, on these nodes and this path",
        should_reach,
    ),
    "Which algorithm runs?": (
        "What NCCL takes by size and nodes, and where another would be faster",
        which_runs,
    ),
}


class MachineAnswers:
    """Two buttons below the pictures, each with an answer that is computed while it is open.

    Attributes
    ----------
    box:
        The widget.
    toggles:
        The buttons.
    answers:
        The answer of each, as HTML.
    """

    def __init__(self) -> None:
        self._scenario: Scenario | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.toggles, self.answers = {}, {}
        for name, (tip, _) in _ANSWERS.items():
            toggle = classed(w.ToggleButton(description=name, tooltip=tip, icon="caret-right"), "pl-plain")
            self.toggles[name], self.answers[name] = toggle, classed(w.HTML(), "pl-answer")
            unfold(toggle, self.answers[name])
            toggle.observe(lambda _, name=name: self._answer(name), "value")
        self.box = classed(
            w.VBox([row(list(self.toggles.values()), "pl-asked"), *self.answers.values()]), "pl-answers"
        )

    def show(self, scenario: Scenario) -> None:
        """Take the scenario that is shown: an answer that is open follows it."""
        self._scenario = scenario
        for name in self.toggles:
            self._answer(name)

    def rest(self) -> None:
        """Give up what is being computed."""
        for task in self._tasks.values():
            task.cancel()

    def _answer(self, name: str) -> None:
        if name in self._tasks:
            self._tasks.pop(name).cancel()
        scenario = self._scenario
        if scenario is None or not self.toggles[name].value:
            self.answers[name].value = ""
            return
        loop = running_loop()
        if loop is None:
            self.answers[name].value = _answer_html(name, scenario)
            return
        self.answers[name].value = "<p role='status'>Computing</p>"
        self._tasks[name] = loop.create_task(self._compute(name, scenario))

    async def _compute(self, name: str, scenario: Scenario) -> None:
        self.answers[name].value = await asyncio.to_thread(_answer_html, name, scenario)


def _answer_html(name: str, scenario: Scenario) -> str:
    try:
        return _ANSWERS[name][1](scenario)
    except PeerlabError as problem:
        return refusal_html(problem)
