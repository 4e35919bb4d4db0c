"""Exercises and the steps of a collective, in a notebook that has no explorer."""

import pytest
from axe_faults import axe_faults
from playwright.sync_api import expect

CELLS = (
    "import peerlab\npeerlab.exercise('01-gain')",
    "peerlab.exercise('01-upgrade')",
    "peerlab.steps('ring', ranks=4)",
    "peerlab.steps('halving-doubling', ranks=8)",
)


@pytest.fixture
def page(open_notebook):
    notebook = open_notebook("lessons.ipynb", *CELLS)
    notebook.run_all()
    notebook.page.locator(".pl-steps").nth(1).wait_for()
    yield notebook.page
    assert notebook.outside_requests() == []
    assert notebook.complaints == []


@pytest.mark.long("pages")
def test_exercises_are_answered_and_steps_are_walked_through_with_the_keyboard(page):
    number, choice = page.locator(".pl-exercise").nth(0), page.locator(".pl-exercise").nth(1)
    expect(number).to_contain_text("Exercise 3 of 3")  # its style and words come without an explorer
    expect(number).to_have_css("border-left-width", "4px")
    field = number.locator("input")
    field.fill("0.56")
    field.press("Enter")
    number.get_by_role("alert").get_by_text("turn the ratio round").wait_for()
    number.get_by_role("button", name="Hint 1 of 2").click()
    number.locator(".pl-hints li").wait_for()
    field.fill("1.77")
    field.press("Enter")
    number.get_by_role("status").get_by_text("Right.").wait_for()

    choice.get_by_label("PCIe Gen4").check()
    choice.get_by_role("button", name="Check").click()
    choice.get_by_role("status").get_by_text("Right.").wait_for()

    steps, other = page.locator(".pl-steps").nth(0), page.locator(".pl-steps").nth(1)
    shown = steps.locator(".pl-pane:visible")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("Start.")
    steps.locator("input").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(shown).to_contain_text("Step 3 of 6")
    expect(shown.locator("td.pl-full")).to_have_count(4)
    shown.get_by_text("Next").click()
    expect(shown).to_contain_text("Step 4 of 6")
    expect(other.locator(".pl-pane:visible")).to_contain_text("Start.")  # its buttons are its own
    boxes = other.locator("tbody td").evaluate_all(
        "cells => cells.map(one => one.scrollWidth - one.clientWidth)"
    )
    assert max(boxes) <= 0  # eight digits fit into their box
    assert other.evaluate("one => one.querySelector('.pl-pane').scrollWidth <= one.clientWidth")

    for theme, light in (("Dark", "false"), ("Light", "true")):
        page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
            f"JupyterLab {theme}",
        )
        page.wait_for_function("light => document.body.dataset.jpThemeLight === light", arg=light)
        for part in (".pl-steps", ".pl-exercise"):
            assert axe_faults(page, part) == []


@pytest.mark.long("pages")
def test_steps_play_by_themselves_on_request_until_one_is_chosen(page):
    steps = page.locator(".pl-steps").nth(0)
    shown = steps.locator(".pl-pane:visible")
    steps.get_by_text("Play").click()
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("Start.")
    expect(shown.filter(has_text="Step 1 of 6")).to_have_count(1)
    expect(shown.locator("td.pl-came")).to_have_count(4)
    steps.locator("label", has_text="3").first.click()
    expect(shown).to_contain_text("Step 3 of 6")
    expect(shown.get_by_text("Next")).to_be_visible()
