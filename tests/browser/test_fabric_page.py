"""The page of transports side by side, as its reader meets it: its clock plays once, can be held, and veils no word."""

import pytest

from peerlab.cli import main

SWEEP = "() => getComputedStyle(document.querySelector('.pl-sweep')).transform"
"""Where the clock is: the last but one figure of the matrix is how far it is to the right, pixels of the picture."""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("fabrics") / "fabrics.html"
    assert main(["fabrics", "--cluster", "ideal-100g", "--only", "roce,tcp", "--output", str(file)]) == 0
    return file


@pytest.fixture
def read(browser, page_file):
    pages = []

    def open_(width=1280, **media):
        page = browser.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(**{"reduced_motion": "no-preference"} | media)
        pages.append(page)
        page.goto(page_file.as_uri())
        return page

    yield open_
    for page in pages:
        page.close()


def _at(page):
    return float(page.evaluate(SWEEP).split(",")[4])


def test_the_clock_is_held_by_space_and_by_a_click_on_the_picture_and_goes_on(read):
    page = read()
    page.wait_for_function(f"() => Number(({SWEEP})().split(',')[4]) < 200")  # it has begun at the left
    page.locator(".pl-pause").focus()
    page.keyboard.press("Space")
    page.wait_for_function(  # a pause that is pending takes hold with the next frame
        "() => document.getAnimations().every(one => one.playState === 'paused' && !one.pending)"
    )
    held = _at(page)
    page.wait_for_timeout(100)
    assert _at(page) == held
    page.locator(".pl-clock svg[role=img]").click()
    page.wait_for_function(f"at => Number(({SWEEP})().split(',')[4]) > at", arg=held)
    page.wait_for_function("() => document.getAnimations().every(one => one.playState === 'finished')")
    whole = _at(page)
    assert whole > 450  # beyond the axis: nothing is veiled
    page.locator(".pl-again").focus()
    page.keyboard.press("Space")
    page.wait_for_function(f"whole => Number(({SWEEP})().split(',')[4]) < whole", arg=whole)


def test_nothing_moves_for_who_asks_for_less_motion_and_the_whole_is_shown(read):
    page = read(reduced_motion="reduce")
    assert page.evaluate("() => document.getAnimations().length") == 0
    assert _at(page) > 450
    assert not page.locator(".pl-pause").is_visible()


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_page_uses_the_window_and_breaks_no_figure(read, width):
    page = read(width, color_scheme="dark")
    assert page.locator(".pl-fabrics").bounding_box()["width"] > 0.8 * width
    heights = page.locator("tbody :is(th, td)").evaluate_all("all => all.map(one => one.clientHeight)")
    assert max(heights) < 40
