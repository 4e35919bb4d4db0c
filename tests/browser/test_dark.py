"""The lab in the dark theme: whatever is opened or shown as a result is dark; and Escape closes it."""

import io

import machines
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from page_that_plays import resize
from PIL import Image
from playwright.sync_api import expect
from results_shown import shown_results
from tool_logs import ALPS

TILE = 40
"""Pixels of a square: what is light by design, such as the button that plays, is smaller."""
PANELS = {
    "log": ".pl-log-panel",
    "more": ".pl-more",
    "race": ".pl-race",
}
"""Name of the button to what it opens."""


def light_squares(png):
    """Return where squares of a picture are light: most of their pixels have more than two thirds of full light."""
    seen = np.asarray(Image.open(io.BytesIO(png)).convert("L"))
    high, wide = (side // TILE for side in seen.shape)
    squares = seen[: high * TILE, : wide * TILE].reshape(high, TILE, wide, TILE)
    return [tuple(map(int, at)) for at in np.argwhere((squares > 170).mean(axis=(1, 3)) > 0.8)]


@pytest.fixture(scope="module")
def darkened(explorer):
    """The explorer in JupyterLab's dark theme, in a window in which all of it is seen."""
    before = explorer.page.viewport_size
    wear(explorer, "dark")
    resize(explorer.page, 1280, 1500)
    explorer.settle(curves=True)
    yield explorer
    explorer.page.set_viewport_size(before)
    wear(explorer, "light")


@pytest.fixture
def dark(darkened):
    """The same, in front: behind another page it would be painted once a second."""
    darkened.page.bring_to_front()
    return darkened


THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"


def wear(explorer, theme):
    """Give JupyterLab a theme, and wait until the explorer has it."""
    explorer.page.evaluate(THEME, f"JupyterLab {theme.title()}")
    explorer.page.wait_for_selector(f".pl-root[data-theme={theme}]")


IN_A_NOTEBOOK = """html => {
    const output = document.createElement("div"), last = window.notebookUnderTest.content.node.querySelector(".jp-OutputArea-output:last-child");
    output.className = "jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output pl-under-test";
    output.innerHTML = html;
    last.after(output);
    return Promise.all([...output.querySelectorAll("img")].map(one => one.decode()));
}"""
"""Put HTML where JupyterLab puts that of a cell, with its own rules for tables."""


def shot(dark):
    dark.page.mouse.move(0, 0)
    return dark.page.locator(".pl-explorer").last.screenshot()


def test_a_light_square_is_found():
    light = Image.new("RGB", (200, 120), "#111111")
    light.paste("#FFFFFF", (40, 40, 120, 80))
    held = io.BytesIO()
    light.save(held, "png")
    assert light_squares(held.getvalue()) == [(1, 1), (1, 2)]


def test_the_page_is_dark(dark):
    assert light_squares(shot(dark)) == []


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_is_dark_and_escape_closes_it(dark, name):
    button, panel = dark.page.locator(f".pl-{name}-button").last, dark.page.locator(PANELS[name]).last
    button.click()
    expect(panel).to_be_visible()
    if name == "race":
        frame = panel.frame_locator("iframe")
        expect(frame.locator("html[data-ready][data-theme=dark]")).to_be_attached()
        assert frame.locator("html").evaluate("one => one.scrollHeight <= one.clientHeight"), (
            "a scroll bar inside the notebook's"
        )
    assert light_squares(panel.screenshot()) == []
    where = (
        frame.locator("body") if name == "race" else panel.locator("button, select, input, textarea").first
    )
    where.press("Escape")
    expect(panel).to_be_hidden()
    expect(button).to_be_focused()


def test_what_a_log_says_is_dark(dark):
    """The verdict is longer than its panel was before a log."""
    dark.page.locator(".pl-log-button").last.click()
    panel = dark.page.locator(".pl-log-panel").last
    panel.locator("textarea").fill(ALPS)
    dark.change(panel.locator(".pl-log-read").click)
    verdict = dark.page.locator(".pl-log-verdict").last
    expect(verdict.locator("h3").last).to_be_visible()
    for part in (panel, verdict):
        assert light_squares(part.screenshot()) == []
    panel.locator(".pl-log-away").click()
    panel.locator("textarea").press("Escape")
    dark.change(dark.page.locator(".pl-reset").last.click)


@pytest.mark.long("notebooks")
def test_every_result_is_dark_and_its_words_are_read(dark, drawn, tmp_path):
    """A result brings its own style, and JupyterLab its rules for tables."""
    light, faint = [], []
    for result in drawn(shown_results(tmp_path), part=3):
        dark.page.evaluate(IN_A_NOTEBOOK, result._repr_html_())
        output = dark.page.locator(".pl-under-test")
        light += [(type(result).__name__, at) for at in light_squares(output.screenshot())]
        found = Axe().run(dark.page, context=".pl-under-test", options={"runOnly": ["color-contrast"]})
        faint += [
            (type(result).__name__, node["html"][:120])
            for one in found.response["violations"]
            for node in one["nodes"]
        ]
        output.evaluate("one => one.remove()")
    assert light == []
    assert faint == []


@pytest.mark.parametrize("axis", ["nodes", "message_bytes", "here"])
def test_every_tab_of_the_curves_is_dark(dark, axis):
    dark.page.locator(f".pl-tab[data-axis={axis}]").last.click()
    dark.settle(curves=axis != "here")
    assert light_squares(shot(dark)) == []
    dark.page.locator(".pl-tab[data-axis=nodes]").last.click()  # as the tests after it expect it
    dark.settle(curves=True)


@pytest.mark.long("notebooks")
def test_the_step_explorer_and_what_asks_are_dark(open_notebook):
    """They stand in notebooks without the explorer."""
    cells = (
        "import peerlab\npeerlab.explore_step(workload='resnet50')",
        "peerlab.exercise('01-gain')",
        "peerlab.predict('How many times faster?', [1.2, 1.7], lambda: 1.72)",
    )
    notebook = open_notebook("dark_step.ipynb", *cells)
    page = notebook.page
    resize(page, 1280, 1500)
    page.evaluate(THEME, "JupyterLab Dark")
    notebook.run_all()
    expect(page.locator("body[data-jp-theme-light=false]")).to_be_attached()
    frame = page.locator(".pl-explorer").frame_locator("iframe")
    expect(frame.locator("html[data-ready][data-theme=dark]")).to_be_attached()
    for part in (".pl-explorer", ".pl-exercise", ".pl-predict"):
        shown = page.locator(part).last
        expect(shown).to_be_visible()
        assert light_squares(shown.screenshot()) == [], part
    page.evaluate(THEME, "JupyterLab Light")  # as the notebooks after it expect it


def test_how_sure_keys_and_sources_are_dark(dark):
    dark.page.get_by_role("button", name="how sure?").last.click()
    sure = dark.page.get_by_role("dialog", name="How sure are we?")
    sure.locator("img").evaluate("one => one.decode()")
    assert light_squares(sure.screenshot()) == []
    dark.page.keyboard.press("Escape")
    expect(sure).to_be_hidden()
    dark.page.locator(".pl-root").last.press("?")
    keys = dark.page.locator("dialog.pl-help").last
    assert light_squares(keys.screenshot()) == []
    dark.page.keyboard.press("Escape")
    dark.page.locator(".pl-rests summary").last.click()
    assert light_squares(shot(dark)) == []
    dark.page.locator(".pl-rests summary").last.click()


def test_your_machine_is_dark(dark):
    dark.select("cluster", "your machine")
    panel = dark.page.locator(".pl-machine-panel").last
    expect(panel).to_be_visible()
    assert light_squares(panel.screenshot()) == []
    panel.locator("textarea").fill(machines.h20_mixed())
    dark.change(panel.locator(".pl-machine-read").click)
    assert light_squares(panel.screenshot()) == []
    dark.change(dark.page.locator(".pl-undo").last.click)
    panel.locator("textarea").press("Escape")
    expect(panel).to_be_hidden()
