"""Exercises as cards of a page: what a browser needs to ask one, and what an answer is told there.

It needs no widget and no pandas, so it runs in a browser tab, too.
"""

import ast
import re
from collections.abc import Mapping, Sequence
from html import escape
from textwrap import dedent
from typing import Any

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.base.units import TIMES_SIGN
from peerlab.features.exercises.catalogue import find, fixed
from peerlab.features.exercises.exercise import Choice, Exercise, Number, Verdict, unanswered

_LINES = re.compile(r"\n\n((?: {4}.*\n?)+)")
"""Lines that are set as they stand, such as those of a log: each with four blanks before it."""
NEEDS_NOTEBOOK = {
    "01-crossings": "Its answer counts in a table of pandas",
    "05-eight-bytes": "Its answer comes from a table of pandas",
    "05-believe": "Its answer is a calibration, which needs SciPy",
    "11-tail": "Its answer is counted from thousands of runs, which needs NumPy",
}
"""Exercises that no tab can judge, and why."""
_NOTHING = Verdict(right=False, says="Give an answer first.")


def html(text: str) -> str:
    """Return a text of an exercise as HTML: escaped, with its `code` and its lines of a log set as such."""
    # Every second part is what the pattern caught: lines that are set as they stand. Quotes stay, as no
    # attribute holds a text.
    parts = _LINES.split(escape(text, quote=False))
    parts[::2] = [re.sub(r"`([^`]+)`", r"<code>\1</code>", words) for words in parts[::2]]
    parts[1::2] = [f"<pre>{dedent(lines)}</pre>" for lines in parts[1::2]]
    return "".join(parts)


def place_of(exercise: Exercise) -> str:
    """Return the exercise's place among those of its lab, such as ``Exercise 2 of 5``."""
    if exercise.seed is not None:
        return "Transfer task"
    alike = [sibling.name for sibling in fixed(exercise.lab) if sibling.further == exercise.further]
    kind = "Further" if exercise.further else "Exercise"
    return f"{kind} {alike.index(exercise.name) + 1} of {len(alike)}"


def card(exercise: Exercise) -> dict[str, Any]:
    """Return what a page needs to ask an exercise; texts are HTML."""
    return {
        "name": exercise.name,
        "place": place_of(exercise),
        "seed": exercise.seed,
        "question": html(exercise.question),
        "options": list(exercise.options) if isinstance(exercise, Choice) else None,
        "unit": exercise.unit if isinstance(exercise, Number) else None,
        "hints": [html(hint) for hint in exercise.hints],
        "solution": exercise.solution,
        "notebook": NEEDS_NOTEBOOK.get(exercise.name, ""),
    }


def say_figure(value: float, unit: str) -> str:
    """Return a figure as predictions say it; a factor has its sign.

    >>> say_figure(1.77, "x") == "1.77\u00d7", say_figure(55, " %")
    (True, '55 %')
    """
    return f"{value:.3g}{TIMES_SIGN if unit == 'x' else unit}"


def revealed(
    answers: Sequence[float], chosen: float | None, truth: float, unit: str, how: str
) -> tuple[str, str]:
    """Return what was found, and what a prediction is told."""
    # Of two predictions as near as each other the first one given counts.
    closest = min(answers, key=lambda answer: abs(answer - truth))
    sentence = f"You said {say_figure(chosen, unit)}." if chosen is not None else ""
    comment = "That is the closest." if chosen == closest else f"The closest was {say_figure(closest, unit)}."
    return f"{how}: {say_figure(truth, unit)}.", " ".join(filter(None, (sentence, comment)))


def prediction_card(
    question: str, answers: Sequence[float], truth: float, unit: str = "x", how: str = "Simulated"
) -> dict[str, Any]:
    """Return what a page needs to ask for a prediction, and to reveal what is true."""
    rows = [revealed(answers, chosen, truth, unit, how) for chosen in answers]
    return {
        "question": escape(question),
        "answers": [say_figure(answer, unit) for answer in answers],
        "found": rows[0][0],
        "replies": [comment for _, comment in rows],
    }


def drawn_card(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card of a transfer task for a seed; `asked` has ``name`` and ``seed``."""
    return card(find(asked["name"], asked["seed"]))


def judged(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer is told.

    `asked` has the exercise's ``name``, its ``seed`` where it is drawn, and an ``answer`` or the learner's ``code``, whose last line
    asks the exercise as in the notebook.
    """
    exercise = find(asked["name"], asked["seed"]) if asked.get("seed") is not None else find(asked["name"])
    verdict = _verdict(exercise, asked)
    return {"name": exercise.name, "right": verdict.right, "says": html(verdict.says)}


def _verdict(exercise: Exercise, asked: Mapping[str, Any]) -> Verdict:
    try:
        # A page sends the whole cell; an exercise without code sends what its field holds.
        answer = _code_answer(asked["code"]) if "code" in asked else asked["answer"]
    except (Exception, SystemExit) as problem:  # noqa: BLE001  (the learner's code may raise anything)
        return Verdict(right=False, says=f"Your code raised {type(problem).__name__}: {problem}"[:300])
    if unanswered(answer) or answer is None or (isinstance(answer, str) and not answer.strip()):
        return _NOTHING
    try:
        return exercise.judge(answer)
    except PeerlabError as problem:
        return Verdict(right=False, says=str(problem))


def _code_answer(source: str) -> Any:
    """Return what the learner's code gives as the answer, which stands in the call of its last line."""
    # The last line asks the exercise, as in the notebook: only its `answer` is wanted.
    *before, last = ast.parse(source).body
    names: dict[str, Any] = {"peerlab": peerlab}
    exec(compile(ast.Module(before, []), "your code", "exec"), names)  # noqa: S102  (the learner's own, in the learner's own tab)
    call: Any = last
    (answer,) = (word.value for word in call.value.keywords if word.arg == "answer")
    return eval(compile(ast.Expression(answer), "your code", "eval"), names)  # noqa: S307
