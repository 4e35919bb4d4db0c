"""Predict, then reveal: a question whose answer comes out of the simulation."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as w

from peerlab.base.errors import PeerlabError
from peerlab.features.exercises.lessons.cards import revealed, say_figure
from peerlab.features.exercises.lessons.lesson_style import style
from peerlab.page.widgets import Spoken


class Prediction(Spoken):
    """A question, answers to choose from, and a button that simulates the truth.

    Attributes
    ----------
    truth:
        The simulated answer; None until it is revealed.
    """

    def __init__(
        self, question: str, answers: Sequence[float], truth: Callable[[], float], unit: str, how: str
    ) -> None:
        self.truth: float | None = None
        self._compute, self._unit, self._how = truth, unit, how
        self._asked, self._told = question, ""
        self.question = w.HTML(f"{style()}<p class='pl-kicker'>Predict</p><p>{escape(question)}</p>")
        self.question.add_class("pl-question")
        # No value at first: a prediction that is there already is none.
        self.choice = w.ToggleButtons(options=[(self._say(a), a) for a in answers], value=None)
        self.choice.tooltips = [f"I say {self._say(answer)}" for answer in answers]
        self.button = w.Button(description="Reveal", tooltip="What is it?", disabled=True)
        self.button.add_class("pl-first")
        self.verdict = w.HTML()
        self.verdict.add_class("pl-verdict")
        self.choice.observe(self._chosen, "value")
        self.button.on_click(lambda _: self.reveal())
        row = w.HBox([self.choice, self.button])
        row.add_class("pl-row")
        super().__init__([self.question, row, self.verdict])
        self.add_class("pl-lesson")
        self.add_class("pl-predict")

    def __repr__(self) -> str:
        """Say in words what a page would show, for a notebook or a shell that has no widgets."""
        answers = ", ".join(option for option, _ in self.choice.options)
        return f"Predict: {self._asked}\n  {answers}\n{self._told or 'Simulate it with .reveal().'}"

    def _say(self, value: float) -> str:
        return say_figure(value, self._unit)

    def _chosen(self, event: Any) -> None:
        self.button.disabled = event["new"] is None
        # Once revealed, another choice is told at once how far off it is.
        if self.truth is not None:
            self.reveal()

    def reveal(self) -> None:
        """Simulate, and say how far the prediction was from the truth."""
        try:
            self.truth = self._compute()
        except PeerlabError as problem:
            self.verdict.value = f'<p class="pl-no" role="alert">{escape(str(problem))}</p>'
            return
        answers = [answer for _, answer in self.choice.options]
        value, comment = revealed(answers, self.choice.value, self.truth, self._unit, self._how)
        self._told = f"{value} {comment}"
        text = f"<b>{escape(value)}</b> {escape(comment)}"
        self.verdict.value = f'<p role="status">{text}</p>'


def predict(
    question: str,
    answers: Sequence[float],
    truth: Callable[[], float],
    unit: str = "x",
    how: str = "Simulated",
) -> Prediction:
    """Return a question for a notebook; nothing is simulated before its reader has chosen an answer.

    Parameters
    ----------
    question:
        One sentence.
    answers:
        Numbers to choose from.
    truth:
        Computes the answer; called when it is revealed.
    unit:
        Written behind every number.
    how:
        Written before the answer: where it is from.
    """
    if not isinstance(question, str):
        raise PeerlabError(f"predict: the question is a sentence, not {question!r:.60}")
    if not isinstance(answers, Sequence) or not all(isinstance(answer, int | float) for answer in answers):
        raise PeerlabError(f"predict: answers are numbers to choose from, not {answers!r:.60}")
    return Prediction(question, answers, truth, unit, how)
