"""Every lab as its learner opens it: it runs in the page, asks nobody outside, and takes an answer."""

import json
import re

import pytest
from playwright.sync_api import expect

import peerlab
from peerlab.base.places import folder
from peerlab.features.exercises.catalogue import exercises
from peerlab.features.exercises.exercise import Choice, Number
from peerlab.features.exercises.lessons.reading_time import lab_cells

LABS = sorted(folder("labs").glob("*.ipynb"))
SEEN = "[...window.peerlabPages ?? []].filter(page => page.root.checkVisibility())"
"""The explorers that a learner sees. JupyterLab makes those of a folded section too, where a lab measures for so long that it has the time."""
FIGURES = f"count => {SEEN}.length === count"
PAINTED = f"() => {SEEN}.every(page => page.root.dataset.painted && page.curves.curves?.lines)"


def code(path):
    """Return the code of a lab."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "code")


def answerable(path):
    """Return the first exercise of a lab that can be answered in the page; None if it has none.

    What is asked about the learner's own records is known in the learner's kernel alone.
    """
    asked = re.findall(r'peerlab\.exercise\("([^"]+)", answer=\.\.\.\)', code(path))
    can = [
        one
        for one in core(path)
        if one.name in asked and one.seed is None and isinstance(one, Number | Choice)
    ]
    return next(iter(can), None)


def core(path):
    """Return the exercises of a lab that no folded section hides, in their order."""
    return [one for one in exercises(path.stem[:2]) if not one.further]


def visible(path, what):
    """Return how often the core of a lab calls a function of peerlab."""
    cells = [one.source for one in lab_cells(path) if one.kind == "code" and not one.further]
    return len(re.findall(rf"peerlab\.{what}\(", "\n".join(cells)))


WAITING = [path for path in LABS if "peerlab.wait_for(" in code(path)]


@pytest.mark.long("notebooks")
@pytest.mark.sample(1)
@pytest.mark.parametrize("path", WAITING, ids=lambda path: path.stem)
def test_run_all_stops_in_words_where_a_lab_waits_for_an_answer(path, open_notebook):
    notebook = open_notebook(path.name)
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    first = core(path)[0]
    told = notebook.page.get_by_text(f"The lab waits here: answer exercise {first.name} above")
    told.wait_for()
    assert [one.partition(":")[0] for one in notebook.errors()] == ["AnswerNeeded"]
    assert notebook.page.get_by_text("Traceback").count() == 0
    expect(notebook.page.locator(".pl-exercise:visible")).to_have_count(1)


@pytest.mark.sample(1)
@pytest.mark.parametrize("path", [path for path in LABS if path not in WAITING], ids=lambda path: path.stem)
def test_a_lab_runs_in_the_page_and_takes_an_answer(path, open_notebook):
    notebook = open_notebook(path.name)
    page = notebook.page
    notebook.run_all()
    page.wait_for_function(FIGURES, arg=visible(path, "explore"))
    page.wait_for_function(PAINTED)
    expect(page.locator(".pl-exercise:visible")).to_have_count(len(core(path)))
    expect(page.locator(".pl-predict:not(.pl-exercise):visible")).to_have_count(visible(path, "predict"))
    exercise = answerable(path)
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
    question.get_by_role("button", name="2\u00d7").click()
    reveal.click()
    verdict = question.locator(".pl-verdict [role=status]")
    staged = peerlab.Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
    tcp, direct = (peerlab.simulate(staged.with_(path=path)).time_s for path in ("host-tcp", "peer-direct"))
    ratio = tcp / direct
    expect(verdict).to_contain_text(f"Simulated: {ratio:.3g}\u00d7.")
    expect(verdict).to_contain_text("You said 2\u00d7. The closest was 5\u00d7.")


def answer_in_the_page(page, exercise):
    """Be told what is wrong with a typical mistake, ask for a hint, and get it right."""
    wrong, says = exercise.wrong()[0]
    asked = page.locator(".pl-exercise", has_text=exercise.name).first
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
