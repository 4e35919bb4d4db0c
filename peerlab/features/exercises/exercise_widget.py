"""An exercise in a notebook: a question, a place to answer, the reply to the answer, and hints one by one."""

# Without widgets the lab is text. In a plain shell, or a notebook that was saved without its widgets, the
# explorer is its run in one line, an exercise its question and the replies so far. So labs can be done in
# IPython with `exercise(name, answer=...)`.

from html import escape
from typing import Any

import ipywidgets as w

from peerlab.base.errors import PeerlabError
from peerlab.features.exercises import progress
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.exercise import Choice, Exercise, Number, Verdict, unanswered
from peerlab.features.exercises.lessons.cards import html, place_of
from peerlab.features.exercises.lessons.lesson_style import style
from peerlab.features.exercises.own_seed import own_seed
from peerlab.page.widgets import Spoken
from peerlab.records import Records, checked_records


class Asked(Spoken):
    """An exercise that a learner can answer here, or in the code of the cell.

    Attributes
    ----------
    verdict:
        The reply to the last answer; None before the first.
    """

    def __init__(self, exercise: Exercise, answer: Any) -> None:
        self.exercise = exercise
        self.verdict: Verdict | None = None
        self._hints = 0
        self._told = ""
        self._answered: Any = ...
        self.feedback, self.hint_text, self.trouble = w.HTML(), w.HTML(), w.HTML()
        self.field = _field(exercise)
        self.check = w.Button(description="Check", tooltip="Is it right?")
        self.hint = w.Button(tooltip="A step towards the answer")
        self._name_hint()
        self.check.on_click(lambda _: self._pressed())
        self.hint.on_click(lambda _: self.give_hint())
        self.feedback.add_class("pl-verdict")
        self.hint_text.add_class("pl-hints")
        self.check.add_class("pl-first")
        super().__init__([_question(exercise), *self._fields(), self.feedback, self.hint_text, self.trouble])
        self.add_class("pl-lesson")
        self.add_class("pl-exercise")
        if not unanswered(answer):
            self.answer(answer)

    def __repr__(self) -> str:
        """Say in words what a page would show, for a notebook or a shell that has no widgets."""
        task = self.exercise
        sentence = (
            self._told
            or f"Answer with peerlab.exercise({task.name!r}, answer=...), see the next hint with .hint.click()."
        )
        options = [f"  * {option}" for option in getattr(task, "options", ())]
        hints = [f"Hint: {hint}" for hint in task.hints[: self._hints]]
        if self._hints > len(task.hints):
            hints.append(f"Solution:\n{task.solution}")
        return "\n".join([f"Exercise {task.name}: {task.question}", *options, *hints, sentence])

    def _fields(self) -> list[w.Widget]:
        """Return where to answer, and the buttons."""
        buttons = [self.check, self.hint] if self.field else [self.hint]
        row, above = w.HBox(buttons), []
        if isinstance(self.field, w.Text):
            self.field.observe(
                lambda event: self.answer(event["new"]), "value"
            )  # Enter, or leaving the field
            unit = w.HTML(escape(getattr(self.exercise, "unit", "")))
            unit.add_class("pl-unit")
            row.children = (self.field, unit, *buttons) if unit.value else (self.field, *buttons)
        elif self.field:
            above = [self.field]
        row.add_class("pl-row")
        return [*above, row]

    def answer(self, answer: Any) -> None:
        """Check an answer, show the reply, and record the try in the progress."""
        self._answered = answer
        # `str.strip` itself: what a learner made a text of may have a `strip` of its own.
        if answer is None or (isinstance(answer, str) and not str.strip(answer)):
            self._say(Verdict(right=False, says="Give an answer first."))
            return
        try:
            self.verdict = self.exercise.judge(answer)
        except PeerlabError as problem:
            self._say(Verdict(right=False, says=str(problem)))
            return
        self._say(self.verdict)
        self._note(tries=1, right=self.verdict.right)

    def _pressed(self) -> None:
        if self.field.value != self._answered:  # leaving the text field has sent this answer already
            self.answer(self.field.value)

    def give_hint(self) -> None:
        """Show the next hint; after the last one, the solution."""
        # One more than there are hints: the last step is the solution.
        self._hints = min(self._hints + 1, len(self.exercise.hints) + 1)
        shown = [f"<li>{html(hint)}</li>" for hint in self.exercise.hints[: self._hints]]
        solution = (
            f"<pre>{escape(self.exercise.solution)}</pre>" if self._hints > len(self.exercise.hints) else ""
        )
        self.hint_text.value = f"<ol>{''.join(shown)}</ol>{solution}"
        self._name_hint()
        # How many were seen, not that one was: the file keeps the most.
        self._note(hints=self._hints)

    def _name_hint(self) -> None:
        count = len(self.exercise.hints)
        self.hint.description = (
            f"Hint {self._hints + 1} of {count}" if self._hints < count else "Show the solution"
        )
        self.hint.disabled = self._hints > count

    def _say(self, verdict: Verdict) -> None:
        kind, role, word = (
            ("pl-yes", "status", "✓ Right.") if verdict.right else ("pl-no", "alert", "Not yet.")
        )
        self._told = f"{word} {verdict.says}"
        self.feedback.value = f'<p class="{kind}" role="{role}"><b>{word}</b> {html(verdict.says)}</p>'
        (self.add_class if verdict.right else self.remove_class)("pl-done")
        self.hint.layout.display = "none" if verdict.right else None  # nothing is left to hint at

    def _note(self, **what: Any) -> None:
        try:
            sentence = progress.note(self.exercise.name, **what)
        except PeerlabError as problem:
            sentence = str(problem)
        self.trouble.value = f'<p role="alert">{escape(sentence)}</p>' if sentence else ""


def _question(exercise: Exercise) -> w.HTML:
    """Return the exercise's place in its lab, and its question."""
    where = place_of(exercise)
    drawn = "" if exercise.seed is None else f", drawn with your seed {exercise.seed}"
    cell = (
        ""
        if isinstance(exercise, (Choice, Number))
        else ", answered in the cell above: write, and run it again"
    )
    question = w.HTML(
        f"{style()}<p class='pl-kicker'>{where}<span>{escape(exercise.name)}{drawn}{cell}</span></p><p>{html(exercise.question)}</p>"
    )
    question.add_class("pl-question")
    return question


def _field(exercise: Exercise) -> Any:
    """Return where an answer is given; nothing where it is code, which stands in the cell."""
    if isinstance(exercise, Choice):
        options = w.RadioButtons(options=list(exercise.options), value=None)
        options.layout.width = "auto"
        return options
    if isinstance(exercise, Number):
        field = w.Text(placeholder="your answer", continuous_update=False)
        field.layout.width = "10em"
        return field
    return None


def exercise(name: str, answer: Any = ..., records: Records | None = None, seed: int | None = None) -> Asked:
    """Return an exercise of the labs, to be shown in a notebook.

    Parameters
    ----------
    name:
        Which one: ``"01-gain"``.
    answer:
        The answer, where it is written in the cell; it is checked at once. Numbers and choices can be given in the
        notebook's page as well.
    records:
        The learner's own measurement, for exercises about one.
    seed:
        Which task, for a transfer task; None: the learner's own, which is kept in a file beside the labs.

    Raises
    ------
    PeerlabError
        If there is no such exercise, or it is about no measurement.
    """
    if not isinstance(seed, int | None):
        raise PeerlabError(f"exercise: seed must be a whole number, not {seed!r:.40}")
    # Found first without a seed: only then it is known whether the exercise is drawn with one.
    task = find(name)
    if task.seed is not None:
        task = find(name, own_seed() if seed is None else seed)
    return Asked(task if records is None else task.about(checked_records(records, "records")), answer)


class AnswerNeeded(PeerlabError):  # noqa: N818  (it is a stop, not a failure)
    """A lab waits for an answer; a notebook shows the sentence alone, and runs no further cell."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def wait_for(name: str) -> None:
    """Let the cells that show what an exercise asks wait until it has been answered, rightly or not.

    Parameters
    ----------
    name:
        Which exercise: ``"05-silent"``.

    Raises
    ------
    AnswerNeeded
        If no answer was given in this folder yet. *Run All* stops there.
    PeerlabError
        If there is no such exercise.
    """
    done = progress.read().get(find(name).name, progress.Done())
    if not done.tries:
        raise AnswerNeeded(
            f"The lab waits here: answer exercise {name} above, rightly or not. Then run this cell again."
        )
