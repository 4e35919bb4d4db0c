"""A narrow window: words that can be read, one node below the other, and on a phone the answer, the data path and the player at once."""

import re

import pytest
from axe_faults import axe_faults
from blank import lines_of, ratio_of, run
from fewer_points import fewer_points
from overlaps import faults, settle, watch, watched_explorer
from page_that_plays import resize, seek_share
from playwright.sync_api import expect

import peerlab
from peerlab.question.presets import known_clusters, load_cluster

WINDOWS = ((900, 700), (600, 900), (390, 844))
"""A small window, half a screen, a phone held upright."""
MOMENTS = (0.0, 0.2, 0.45, 0.8)


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """An exported page, whose words are noted."""
    file = tmp_path_factory.mktemp("narrow") / "page.html"
    with fewer_points():
        peerlab.export_html(peerlab.Scenario(), file, controls="host,cache,nodes=2:8", bands=False)
    one = browser.new_page()
    watch(one)
    one.goto(file.as_uri())
    one.wait_for_selector("html[data-ready]", state="attached")
    yield one
    one.close()


@pytest.fixture(scope="module")
def explorer(browser):
    """The lab's page, without a kernel."""
    with watched_explorer(browser) as lab:
        lab.give("curves", {**lines_of(run().scenario, "nodes"), "state": "whole"})  # nobody computes them
        yield lab


def narrow(page, width, height):
    """Take a window of this size; return when its picture is painted."""
    resize(page, width, height)
    for _ in range(3):  # a figure is laid out, then its words are placed
        settle(page)


def through(page):
    """Return what is wrong with the words at some moments."""
    found = []
    for part in MOMENTS:
        seek_share(page, part)
        settle(page)
        found += [f"at {part:.0%}: {fault}" for fault in faults(page)]
    return found


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_words_of_an_exported_page_can_be_read_and_lie_on_nothing(page, width, height):
    narrow(page, width, height)
    host = page.get_by_label("Host bottleneck")
    for staged in (True, False):
        host.set_checked(staged)
        narrow(page, width, height)
        assert through(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    host.set_checked(True)


def test_a_phone_held_upright_shows_the_answer_the_data_path_and_the_player(page):
    narrow(page, 390, 844)
    page.evaluate("scrollTo(0, 0)")
    for part in (".pl-hero", ".pl-scene", ".pl-play"):
        box = page.locator(part).first.bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= 844, part
    assert page.locator(".pl-hero [data-name=ratio]").is_visible()


def test_on_a_phone_words_have_air_to_boxes_and_lines_in_a_box_lie_around_its_middle(page):
    """ "24 % busy" touched the box below it, "PCIe uplink" the one above, and where a second line was left out, the name stood high."""
    narrow(page, 390, 844)
    seek_share(page, 0.43)
    settle(page)
    words, boxes, down = page.evaluate(
        """() => { const [{ figures, scene }] = peerlabPages, rows = ({ data }, ...names) => data[names[0]].map((_, i) => names.map((name) => data[name][i]));
             return [rows(figures.model("scene_texts"), "text", "x", "y"), rows(figures.model("scene_boxes"), "left", "top", "right", "bottom"), scene.down] }"""
    )
    assert "24 % busy" not in [text for text, *_ in words], "above the devices is no room"
    _, _, uplink = next(word for word in words if word[0] == "PCIe to host")
    assert (uplink - 67) * down >= 0.4 * 12 + 1.9, (
        "host memory ends at 67, and letters begin so far above their middle"
    )
    cpu = next(word for word in words if word[0].startswith("CPU"))
    left, top, right, bottom = next(
        box for box in boxes if box[0] < cpu[1] < box[2] and box[1] < cpu[2] < box[3]
    )
    inside = [y for _, x, y in words if left < x < right and top < y < bottom]
    assert sum(inside) / len(inside) == pytest.approx((top + bottom) / 2)
    player, plot = (
        page.locator(f".pl-timeline {part}").first.bounding_box() for part in (".pl-player", ".pl-figure")
    )
    assert plot["y"] - player["y"] - player["height"] < 10, "no empty row between them"


def test_in_a_narrow_window_the_second_node_stands_below_the_first(page):
    narrow(page, 390, 844)
    names = page.evaluate(
        "() => { const { x, y, text } = [...peerlabPages][0].figures.model('scene_words').data; return text.map((one, i) => [one, x[i], y[i]]) }"
    )
    first, second = ([x, y] for text, x, y in names if text.startswith("node "))
    assert second[0] < 40
    assert first[0] < 40
    assert second[1] > first[1] + 228
    narrow(page, 900, 700)
    assert page.locator(".pl-root").first.get_attribute("data-narrow") is None


def test_nodes_below_each_other_end_where_the_cards_do(page):
    """They ended 39 pixels before: beside them came the wire."""
    narrow(page, 480, 1000)
    ends = page.evaluate(
        """() => { const [one] = peerlabPages, { frame } = one.figures.view("scene"), { right } = one.figures.model("scene_panels").data;
             const from = one.root.querySelector(".pl-scene").getBoundingClientRect().left; return right.map((x) => from + frame.x_scale.compute(x)) }"""
    )
    card = page.locator(".pl-card[data-name=busbw]").first.bounding_box()
    assert len(ends) == 2
    assert all(abs(end - card["x"] - card["width"]) < 2 for end in ends)


def test_the_wire_to_the_node_below_is_one_pipe_without_seams(page):
    """Three capsules, each with an edge of its own, met at the corners."""
    narrow(page, 390, 844)
    pipes = page.evaluate(
        "() => { const { left, right, top, bottom, line } = [...peerlabPages][0].figures.model('scene_pipes').data; "
        "return left.map((one, i) => ({ left: one, right: right[i], top: top[i], bottom: bottom[i], line: line[i] })) }"
    )
    down, leaves, comes = sorted(
        (pipe for pipe in pipes if pipe["line"] == "rgba(0,0,0,0)"),
        key=lambda pipe: pipe["top"] - pipe["bottom"],
    )
    assert leaves["right"] == comes["right"] == down["right"], "both reach the outer edge of what comes down"
    assert down["top"] == leaves["top"]
    assert down["bottom"] == comes["bottom"]
    panels = page.evaluate("() => [...peerlabPages][0].figures.model('scene_panels').data.right")
    assert all(edge - down["right"] > 12 for edge in panels), "it ran along their edges"


def test_settings_beside_the_host_switch_are_shown_by_a_button_that_the_keyboard_reaches(page):
    narrow(page, 390, 844)
    button, cache = page.get_by_role("button", name="Settings"), page.get_by_label("Registration cache")
    expect(cache).to_be_hidden()
    page.get_by_label("Host bottleneck").focus()
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(cache).to_be_visible()
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Enter")
    expect(cache).to_be_hidden()
    narrow(page, 900, 700)
    expect(button).to_be_hidden()
    expect(cache).to_be_visible()


def test_a_switch_keeps_the_height_of_the_timeline_in_a_narrow_page(page):
    """It was as high as its lanes, so each switch laid the page out anew."""
    narrow(page, 390, 844)
    rows, timeline = "() => [...peerlabPages][0].timeline.rows", page.locator(".pl-timeline").first
    host, counts, heights = page.get_by_label("Host bottleneck"), [], []
    for staged in (True, False):
        host.set_checked(staged)
        narrow(page, 390, 844)
        counts.append(page.evaluate(rows))
        heights.append(timeline.bounding_box()["height"])
    host.set_checked(True)
    assert counts[1] < counts[0], "fewer lanes have something to do"
    assert heights[0] == heights[1]


def test_lanes_of_another_cluster_get_the_height_they_need(explorer):
    narrow(explorer.page, 900, 700)
    height = "page => page.figures.model('timeline').height"
    explorer.change(run(path="host-tcp"))
    explorer.page.locator(".pl-fold").click()
    high = explorer.ask(height)
    explorer.change(run(path="peer-direct"))
    assert explorer.ask(height) == high, "a switch"
    explorer.change(run(cluster="ideal-100g", path=None))
    assert explorer.ask(height) < high, "it has three lanes"
    explorer.change(run())
    explorer.page.locator(".pl-fold").click()


def test_what_is_under_the_pointer_is_told_in_a_folded_picture_too(page):
    narrow(page, 390, 844)
    scene = page.locator(".pl-scene").first
    seek_share(page, 0)
    box = scene.bounding_box()
    for down in (188, 188 + 268):  # both NICs
        page.mouse.move(box["x"] + box["width"] * 330 / 442, box["y"] + box["height"] * down / 496)
        expect(page.locator(".pl-tip b").first).to_have_text("NIC")
    page.mouse.move(2, 2)


@pytest.mark.parametrize(("width", "height"), WINDOWS[1:])
def test_nothing_serious_for_those_who_do_not_see_it(page, width, height):
    narrow(page, width, height)
    assert axe_faults(page, grave=True) == []


@pytest.mark.sample(2)
@pytest.mark.parametrize("cluster", known_clusters())
def test_words_of_the_lab_in_a_narrow_notebook(explorer, cluster):
    """JupyterLab leaves 780 of a window of 900 pixels, and 480 of one of 600."""
    found = []
    for path in list(load_cluster(cluster).paths)[:2]:
        one = run(cluster=cluster, path=path)
        explorer.change(one, lines=False)
        explorer.give("ratio", ratio_of(one.scenario))
        for width, height in ((780, 900), (480, 900)):
            narrow(explorer.page, width, height)
            found += [f"{path}, {width}: {fault}" for fault in through(explorer.page)]
    assert found == []


@pytest.mark.parametrize("width", [720, 480])
def test_in_a_narrow_window_the_signs_of_the_legend_share_a_second_line(page, width):
    """Hollow and grey squares and dots stood there without a key; earlier *dotted: the way* stood alone in a line."""
    narrow(page, width, 1000)
    key = page.locator(".pl-key").first
    shown = "marks => marks.filter(mark => mark.checkVisibility()).map(mark => [mark.textContent, mark.getBoundingClientRect().top])"
    swatches, signs = (key.locator(part).evaluate_all(shown) for part in (".pl-swatch", ".pl-signs > span"))
    assert [text for text, _ in swatches][2:] == ["add up on the device"]
    assert [text.split(":")[0] for text, _ in signs] == ["thin or hollow", "dotted"]
    assert len({top for _, top in signs}) == 1
    assert len({top for _, top in swatches + signs}) == 2
    expect(key).to_have_attribute("title", re.compile("^thin or hollow: .*\ndotted: "))


def test_what_fills_a_wire_that_turns_is_one_path(page):
    """Three pieces that are seen through lay on each other: darker squares stood at both corners."""
    narrow(page, 480, 1000)
    fills = page.evaluate(
        "[...peerlabPages].map(({ scene, figures }) => [scene.narrow, figures.model('scene_loads').data.fill])[0]"
    )
    assert fills[0]
    assert fills[1]
    assert [fill for fill in fills[1] if not re.fullmatch("#[0-9a-fA-F]{6}", fill)] == []


@pytest.mark.parametrize(("width", "high"), [(720, 900), (560, 900)])
def test_how_busy_an_uplink_is_stands_below_its_name_where_its_rate_has_no_room(explorer, width, high):
    """A line was left free between them."""
    narrow(explorer.page, width, high)
    explorer.change(run(path="host-tcp"), lines=False)
    settle(explorer.page)
    words, heights = (explorer.column("scene_texts", name) for name in ("text", "y"))
    assert "14.1 GB/s each way" not in words
    assert 0 < heights[words.index("30 % busy")] - heights[words.index("PCIe uplink")] <= 18
