"""Every lab as its learner opens it: it runs in the page, asks nobody outside, and takes an answer."""

import re

import nbformat
import pytest

from peerlab.lessons import exercises
from peerlab.lessons.exercise import Choice, Number
from peerlab.places import folder

LABS = sorted(folder("labs").glob("*.ipynb"))
FIGURES = """count => window.peerlabPages?.size === count || (!count && !window.peerlabPages)"""
PAINTED = "() => [...window.peerlabPages ?? []].every(page => page.root.dataset.painted && page.curves.curves?.lines)"


def shows(path, what):
    """Return how often the cells of a lab call a function of peerlab."""
    cells = nbformat.read(path, as_version=4).cells
    return sum(len(re.findall(rf"peerlab\.{what}\(", one.source)) for one in cells if one.cell_type == "code")


def answerable(number):
    """Return the exercise of a lab to answer in the page, with its typical mistake and its truth; None if it has none.

    One whose truth is what the learner measured is known in the learner's kernel alone.
    """
    for one in exercises(number):
        if isinstance(one, Number | Choice):
            try:
                wrong, truth = one.wrong(), one.truth()
            except Exception:  # noqa: BLE001, S112  (whatever it lacks, it lacks the learner's records)
                continue
            if wrong:
                return one, *wrong[0], truth
    return None


@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_a_lab_runs_in_the_page_and_takes_an_answer(path, open_notebook):
    notebook = open_notebook(path.name)
    page = notebook.page
    notebook.run_all()
    page.wait_for_function(FIGURES, arg=shows(path, "explore"))
    page.wait_for_function(PAINTED)
    assert page.locator(".pl-exercise").count() == len(exercises(path.stem[:2]))
    assert page.locator(".pl-predict:not(.pl-exercise)").count() == shows(path, "predict")
    trial = answerable(path.stem[:2])
    if trial:
        answer_in_the_page(page, *trial)
    assert notebook.outside_requests() == []
    assert notebook.complaints == []


def answer_in_the_page(page, exercise, wrong, says, truth):
    """Be told what is wrong with a typical mistake, ask for a hint, and get it right."""
    names = [one.name for one in exercises(exercise.lab)]
    asked = page.locator(".pl-exercise").nth(names.index(exercise.name))
    asked.scroll_into_view_if_needed()
    give(asked, exercise, wrong)
    alert = asked.locator(".pl-verdict [role=alert]")
    alert.wait_for()
    assert alert.inner_text().endswith(f"Not yet. {says}".replace("`", ""))
    asked.get_by_role("button", name=f"Hint 1 of {len(exercise.hints)}").click()
    hint = asked.locator(".pl-hints li")
    hint.wait_for()
    assert hint.inner_text() == exercise.hints[0].replace("`", "")
    give(asked, exercise, truth)
    right = asked.locator(".pl-verdict [role=status]")
    right.wait_for()
    assert right.inner_text().endswith(f"Right. {exercise.why}".replace("`", ""))


def give(asked, exercise, answer):
    """Give an answer with the mouse and the keyboard."""
    if isinstance(exercise, Choice):
        asked.get_by_label(answer, exact=True).check()
        asked.get_by_role("button", name="Check").click()
    else:
        field = asked.locator("input[type=text]")
        field.fill(f"{answer:.6g}")
        field.press("Enter")
