"""The lab in the dark theme: whatever is opened is dark; and Escape closes it."""

import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

TILE = 40
"""Pixels of a square: what is light by design, such as the button that plays, is smaller."""
PANELS = {
    "log": ".pl-log-panel",
    "more": ".pl-more",
    "race": ".pl-race",
    "export": ".pl-export-panel",
}
"""Name of the button to what it opens."""


def light_squares(png):
    """Return where squares of a picture are light: most of their pixels have more than two thirds of full light."""
    seen = np.asarray(Image.open(io.BytesIO(png)).convert("L"))
    high, wide = (side // TILE for side in seen.shape)
    squares = seen[: high * TILE, : wide * TILE].reshape(high, TILE, wide, TILE)
    return [tuple(map(int, at)) for at in np.argwhere((squares > 170).mean(axis=(1, 3)) > 0.8)]


@pytest.fixture(scope="module")
def dark(explorer):
    """The explorer in JupyterLab's dark theme, in a window in which all of it is seen."""
    before = explorer.page.viewport_size
    wear(explorer, "dark")
    explorer.page.set_viewport_size({"width": 1280, "height": 1500})
    explorer.settle(curves=True)
    yield explorer
    explorer.page.set_viewport_size(before)
    wear(explorer, "light")


def wear(explorer, theme):
    """Give JupyterLab a theme, and wait until the explorer has it."""
    explorer.page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
        f"JupyterLab {theme.title()}",
    )
    explorer.page.wait_for_selector(f".pl-root[data-theme={theme}]")


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


def test_how_sure_keys_and_sources_are_dark(dark):
    dark.page.get_by_role("button", name="How sure?").last.click()
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
    dark.select("cluster", "your machine ...")
    panel = dark.page.locator(".pl-machine-panel").last
    expect(panel).to_be_visible()
    assert light_squares(panel.screenshot()) == []
    panel.locator("textarea").press("Escape")
    expect(panel).to_be_hidden()
