"""Every lab as its learner opens it: it runs in the page, asks nobody outside, and takes an answer."""

import re

import nbformat
import pytest
from playwright.sync_api import expect

import peerlab
from peerlab.base.places import folder
from peerlab.features.exercises import exercises
from peerlab.features.exercises.exercise import Choice, Number

LABS = sorted(folder("labs").glob("*.ipynb"))
FIGURES = """count => window.peerlabPages?.size === count || (!count && !window.peerlabPages)"""
PAINTED = "() => [...window.peerlabPages ?? []].every(page => page.root.dataset.painted && page.curves.curves?.lines)"


def code(path):
    """Return the code of a lab."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(one.source for one in cells if one.cell_type == "code")


def shows(path, what):
    """Return how often a lab calls a function of peerlab."""
    return len(re.findall(rf"peerlab\.{what}\(", code(path)))


def answerable(path):
    """Return the first exercise of a lab that can be answered in the page; None if it has none.

    What is asked about the learner's own records is known in the learner's kernel alone.
    """
    asked = re.findall(r'peerlab\.exercise\("([^"]+)", answer=\.\.\.\)', code(path))
    can = [one for one in exercises(path.stem[:2]) if one.name in asked and isinstance(one, Number | Choice)]
    return next(iter(can), None)


@pytest.mark.sample(3)
@pytest.mark.parametrize("path", LABS, ids=lambda path: path.stem)
def test_a_lab_runs_in_the_page_and_takes_an_answer(path, open_notebook):
    notebook = open_notebook(path.name)
    page = notebook.page
    notebook.run_all()
    page.wait_for_function(FIGURES, arg=shows(path, "explore"))
    page.wait_for_function(PAINTED)
    expect(page.locator(".pl-exercise")).to_have_count(len(exercises(path.stem[:2])))
    expect(page.locator(".pl-predict:not(.pl-exercise)")).to_have_count(shows(path, "predict"))
    exercise = answerable(path)
    assert bool(exercise) == bool(exercises(path.stem[:2]))
    if exercise:
        answer_in_the_page(page, exercise)
    if path.stem == "00_tour":
        predict_in_the_page(notebook)
    assert notebook.outside_requests() == []
    assert notebook.complaints == []


def predict_in_the_page(notebook):
    """Choose an answer; the simulation says how near it was."""
    threads = "() => window.notebookUnderTest.sessionContext.session.kernel.commsOverSubshells"
    assert notebook.page.evaluate(threads) == "disabled"  # with a second thread, a switch can be lost
    question = notebook.page.locator(".pl-predict").nth(1)
    question.scroll_into_view_if_needed()
    reveal = question.get_by_role("button", name="Reveal")
    expect(reveal).to_be_disabled()
    question.get_by_role("button", name="4x").click()
    reveal.click()
    verdict = question.locator(".pl-verdict [role=status]")
    staged = peerlab.Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
    ratio = peerlab.simulate(staged).time_s / peerlab.simulate(staged.with_(path="peer-direct")).time_s
    expect(verdict).to_contain_text(f"Simulated: {ratio:.3g}x.")
    expect(verdict).to_contain_text("You said 4x. The closest was 1.8x.")


def answer_in_the_page(page, exercise):
    """Be told what is wrong with a typical mistake, ask for a hint, and get it right."""
    wrong, says = exercise.wrong()[0]
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
    give(asked, exercise, exercise.truth())
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
