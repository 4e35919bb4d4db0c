"""Exported pages in Chromium: they show what is simulated, ask for nothing, and play while they are seen."""

import itertools
import re
import time

import numpy as np
import pytest
from axe_faults import axe_faults
from exported import Exported, lanes
from fewer_points import fewer_points, shorten_curves
from overlaps import faults, settle, watch
from page_that_plays import resize
from playwright.sync_api import expect

import peerlab

STAGED = peerlab.Scenario(path="host-rdma")
SPANS = """page => { const found = {}, { spans } = page.timeline;
    spans.between(-1, Infinity, (i, shift) => {
      const [starts, ends] = (found[spans.lane[i]] ??= [[], []]);
      starts.push(spans.start[i] + shift);
      ends.push(spans.end[i] + shift);
    });
    return found }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages, each written once."""
    home = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        shorten_curves(patch.setitem)  # with their bands they would be most of what is simulated
        _write(home)
    return home


def _write(home):
    peerlab.export_html(STAGED, home / "explorer.html")
    peerlab.export_html(
        (STAGED, STAGED.with_(path="peer-direct")), home / "pair.html", controls="nodes=2:16", bands=False
    )
    for figure in ("datapath", "timeline", "curves"):
        options = {"mode": "figure", "figure": figure, "bands": figure == "curves"}
        peerlab.export_html(STAGED, home / f"{figure}.html", controls="host", **options)


@pytest.fixture
def open_(folder, browser):
    """Open a page from its file; afterwards nothing was asked of a network, and nothing went wrong."""
    opened = []

    def open_(name, link="", width=1280, height=720, **media):
        page = browser.new_page()
        watch(page)
        resize(page, width, height)
        page.emulate_media(**media)
        opened.append(Exported(page, f"file://{folder / name}.html{link}"))
        return opened[-1]

    yield open_
    for one in opened:
        assert one.outside() == []
        assert one.complaints == []
        one.page.close()


def check(shown, scenario):
    """Compare the headline and every span of the timeline with a simulation of the scenario."""
    run = peerlab.simulate(scenario)
    shown.painted()
    assert shown.ask("page => page.data.meta.code") == scenario.as_code()
    assert shown.ask("page => page.data.views.headline.cards[0].amount") == pytest.approx(
        run.busbw_GBps, rel=1e-9
    )
    assert f"{run.busbw_GBps:.3g} GB/s" in shown.card("busbw")
    assert run.bottleneck.label.lower() in shown.card("bottleneck").lower()
    rounding_us = shown.ask("page => page.data.rounding_ns") / 1e3
    drawn, simulated = shown.ask(SPANS), lanes(run)
    assert {int(lane) for lane in drawn} == set(simulated)
    for lane, sides in simulated.items():
        for times, expected in zip(drawn[str(lane)], sides, strict=True):
            assert np.abs(np.sort(times) - expected).max() <= 2 * rounding_us + 1e-6 * run.time_ps / 1e6, (
                scenario
            )


@pytest.mark.long("pages")
def test_every_state_of_a_page_is_what_is_simulated(open_, drawn):
    shown = open_("explorer")
    grid = itertools.product(("host-rdma", "peer-direct"), ("cached", "per-transfer"), (2, 4, 8, 16, 32, 64))
    for path, registration, nodes in drawn(grid, part=3):
        shown.choose(path=path, registration=registration, nodes=nodes)
        rests = {} if path == "host-rdma" else {"registration": registration}
        check(shown, STAGED.with_(path=path, nodes=nodes, **rests))


@pytest.mark.long("pages")
def test_a_sample_of_a_large_page_is_what_is_simulated(folder, browser, drawn):
    sizes = ":".join(f"{size}MiB" for size in (2, 8, 14, 20))
    words = f"host,cache,nodes=2:64,message={sizes}"
    with fewer_points():  # nobody looks at its curves, which would be three quarters of the simulations
        peerlab.export_html(STAGED, folder / "large.html", controls=words, bands=False)
    assert (folder / "large.html").stat().st_size < 1.9e6
    page = browser.new_page()
    shown = Exported(page, f"file://{folder / 'large.html'}")
    assert shown.ask("page => page.model.pack.document.states[0].length") == 96
    for number in drawn(range(96), count=5):
        choices = shown.ask("page => page.model.choices.map(({ field, words }) => [field, words])")
        words, rest = {}, number
        for field, values in choices:
            rest, at = divmod(rest, len(values))
            words[field] = values[at]
        shown.choose(**words)
        words["nodes"] = int(words["nodes"])
        if words["path"] == "host-rdma":
            del words["registration"]
        check(shown, STAGED.with_(**words))
    assert shown.outside() == []
    page.close()


def test_each_control_changes_headline_scene_and_timeline_together(open_):
    shown = open_("explorer")
    shown.still()
    before = shown.page.screenshot()
    shown.page.get_by_role("switch", name="Host bottleneck").click()
    check(shown, STAGED.with_(path="peer-direct"))
    gain = peerlab.simulate(STAGED.with_(path="peer-direct")).busbw_GBps / peerlab.simulate(STAGED).busbw_GBps
    assert f"you 2.54 ms, {gain:.2f}\u00d7" in shown.page.locator(".pl-hero").inner_text()
    assert "30.2 \u2192 52 GB/s" in shown.card("busbw").replace("\n", " ")
    assert "through host" not in shown.card("busbw") + shown.card("bottleneck"), (
        "the switch has just shown it"
    )
    assert shown.page.get_by_title("through host: PCIe to host").inner_text() == "NIC send"
    assert shown.page.screenshot() != before
    shown.page.get_by_role("switch", name="Registration cache").click()
    check(shown, STAGED.with_(path="peer-direct", registration="per-transfer"))
    shown.page.get_by_role("slider", name="Nodes").press("ArrowRight")
    check(shown, STAGED.with_(path="peer-direct", registration="per-transfer", nodes=16))
    assert shown.page.get_by_role("slider", name="Nodes").get_attribute("aria-valuetext") == "16 nodes"


def test_a_link_opens_a_state_and_follows_what_is_chosen(open_):
    shown = open_("explorer", "#nodes=64&path=peer-direct&colour=<b>")
    check(shown, STAGED.with_(path="peer-direct", nodes=64))
    assert "was" not in shown.card("busbw")  # nothing was shown before
    shown.page.get_by_role("switch", name="Registration cache").click()
    shown.page.wait_for_function(
        "() => location.hash === '#path=peer-direct&registration=per-transfer&nodes=64'"
    )


def test_a_link_to_what_the_page_does_not_hold_says_so(open_):
    shown = open_("explorer", "#nodes=77&path=peer-direct&cluster=<b>p4d</b>")
    check(shown, STAGED.with_(path="peer-direct"))
    note = shown.page.get_by_text("which this page does not hold")
    expect(note).to_have_text(
        "The link asks for cluster=<b>p4d</b>, nodes=77, which this page does not hold."
    )
    shown.page.get_by_role("switch", name="Host bottleneck").click()
    note.wait_for(state="hidden")


def test_the_figures_of_a_pair_stand_in_one_row_and_none_is_cut(open_):
    shown = open_("pair")
    for width, height in ((1280, 720), (1920, 1080)):
        resize(shown.page, width, height)
        shown.painted()
        tops, scenes, cut = shown.page.evaluate(
            """() => {
                 const all = (part) => [...document.querySelectorAll(part)], top = (one) => Math.round(one.getBoundingClientRect().top);
                 const words = all(".pl-cards :is(.pl-value, .pl-label > span)").filter((one) => one.offsetWidth);
                 return [all(".pl-cards > :not(.pl-facts)").map(top), all(".pl-scene").map(top),
                         words.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)] }"""
        )
        assert len(tops) == 6
        assert len(set(tops)) == len(set(scenes)) == 1
        assert cut == []


def test_undo_of_a_pair_is_of_both(open_):
    shown = open_("pair")
    codes = "() => [...window.peerlabPages].map(page => page.model.get('data').meta.code)"
    slider = shown.page.get_by_role("slider", name="Nodes")
    begun, before = shown.page.evaluate(codes), slider.input_value()
    slider.press("ArrowRight")
    assert all(one not in begun for one in shown.page.evaluate(codes))
    slider.blur()
    shown.page.keyboard.press("u")
    assert shown.page.evaluate(codes) == begun
    assert slider.input_value() == before


@pytest.mark.parametrize(("width", "height"), [(1000, 250), (900, 505), (1280, 500)])
def test_what_is_too_low_for_a_slide_is_a_column(open_, width, height):
    shown = open_("explorer", width=width, height=height)
    shown.painted()
    places = [
        shown.page.locator(part).bounding_box()
        for part in (".pl-cards", ".pl-scene", ".pl-lower", ".pl-footer")
    ]
    assert all(above["y"] + above["height"] <= below["y"] + 1 for above, below in itertools.pairwise(places))
    assert places[1]["height"] > 120


def test_every_source_can_be_scrolled_to(open_):
    shown = open_("explorer")
    shown.page.locator(".pl-rests summary").click()
    for width, height in ((480, 800), (1280, 720), (1920, 1080)):
        resize(shown.page, width, height)
        shown.page.wait_for_function(
            """() => { const one = document.querySelector('.pl-rests .pl-sources');
                 return one.clientHeight > 100 && one.scrollWidth <= one.clientWidth }"""
        )


def test_the_keys_are_those_of_the_lab(open_):
    shown = open_("explorer")
    shown.still(0.4)
    press = shown.page.keyboard.press
    at = "page => page.player.time"
    before = shown.ask(at)
    press("ArrowRight")
    assert shown.ask(at) > before
    press("Home")
    assert shown.ask(at) == 0
    press(" ")
    assert shown.ask("page => page.player.wanted") is True
    press(" ")
    press("h")
    check(shown, STAGED.with_(path="peer-direct"))
    press("c")
    check(shown, STAGED.with_(path="peer-direct", registration="per-transfer"))
    press("u")
    press("u")
    check(shown, STAGED)
    press("p")
    expect(shown.page.locator(".pl-path")).to_contain_text("On the critical path: PCIe to host")
    press("?")
    expect(shown.page.locator("dialog.pl-help")).to_be_visible()
    press("?")
    expect(shown.page.locator("dialog.pl-help")).to_be_hidden()


@pytest.mark.long("pages")
def test_everything_is_reached_by_tab_and_axe_finds_nothing_serious(open_):
    for name in ("explorer", "pair", "timeline"):
        shown = open_(name)
        for summary in shown.page.locator("summary").all():
            summary.click()
        unreachable = shown.page.evaluate(
            """() => [...document.querySelectorAll('button, input, select, summary')]
                 .filter(e => e.offsetParent && !e.disabled && e.tabIndex < 0).map(e => e.outerHTML.slice(0, 120))"""
        )
        assert unreachable == []
        for theme in ("light", "dark"):
            shown.page.emulate_media(color_scheme=theme)
            shown.page.wait_for_selector(f".pl-root[data-theme={theme}]")
            assert axe_faults(shown.page, grave=True) == [], (name, theme)


def test_with_reduced_motion_a_page_stands_still_and_steps(open_):
    shown = open_("explorer", reduced_motion="reduce")
    at = "page => [page.player.time, page.player.frames]"
    first = shown.ask(at)
    shown.page.wait_for_timeout(300)
    assert shown.ask(at) == first == [0, 0]
    shown.page.get_by_role("button", name="Step to the next event").click()
    time, frames = shown.ask(at)
    assert time > 0
    assert frames == 0
    shown.page.get_by_role("button", name="Step back to the event before").click()
    assert shown.ask(at)[0] < time


def test_two_scenarios_have_one_clock_and_one_control(open_):
    shown = open_("pair")
    shown.page.get_by_role("slider", name="Nodes").press("ArrowRight")
    shown.painted()
    staged, direct = (
        peerlab.simulate(STAGED.with_(path=path, nodes=16)) for path in ("host-rdma", "peer-direct")
    )
    assert shown.ask("page => page.data.views.headline.cards[0].amount", side=0) == pytest.approx(
        staged.busbw_GBps
    )
    assert shown.ask("page => page.data.views.headline.cards[0].amount", side=1) == pytest.approx(
        direct.busbw_GBps
    )
    gain = f"{direct.busbw_GBps / staged.busbw_GBps:.2f}"
    assert f"{gain}\u00d7" in shown.card("busbw", side=1)  # no headline has it here
    assert f"against {staged.busbw_GBps:.3g} GB/s" in shown.card("busbw", side=1)
    shown.still(0.5)
    edges = [shown.ask("page => page.timeline.cursor.style.transform", side=side) for side in (0, 1)]
    assert edges[0] == edges[1]  # both at the same time of the same axis
    expect(shown.page.locator(".pl-player:visible")).to_have_count(1)
    assert shown.ask("page => page.player.length") == pytest.approx(staged.time_ps / 1e6)


FRAME = """<!doctype html><style>body { margin: 0 } section { height: 720px } .away { display: none } iframe { width: 1280px; height: 720px; border: 0 }</style>
<section class="away">other</section><section><iframe src="explorer.html"></iframe></section>"""


def test_in_a_frame_it_plays_only_while_its_slide_is_seen(folder, browser):
    (folder / "deck.html").write_text(FRAME)
    page = browser.new_page()
    page.emulate_media(reduced_motion="no-preference")
    resize(page, 1280, 720)
    page.goto(f"file://{folder / 'deck.html'}")
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]")
    playing, frames = (
        "[...window.peerlabPages][0].player.playing",
        "[...window.peerlabPages][0].player.frames",
    )
    frame.wait_for_function(playing)

    def stands():
        before = frame.evaluate(frames)
        page.wait_for_timeout(250)
        return frame.evaluate(frames) - before <= 1

    tell = "message => document.querySelector('iframe').contentWindow.postMessage(message, '*')"
    page.evaluate(tell, "slide:stop")
    frame.wait_for_function(f"!{playing}")
    assert stands()
    page.evaluate(tell, "slide:start")
    frame.wait_for_function(playing)
    away = "display => document.querySelector('.away').style.display = display"
    page.evaluate(away, "block")  # its slide is pushed off the screen
    end = time.monotonic() + 60
    while not stands():  # the browser may take a while to let a frame rest that nobody sees
        assert time.monotonic() < end
    before = frame.evaluate(frames)
    page.evaluate(away, "none")
    frame.wait_for_function("before => [...window.peerlabPages][0].player.frames > before + 3", arg=before)
    page.close()


OVERLAPS = """() => {
    const boxes = [...document.querySelectorAll('.pl-choices > *, .pl-card, .pl-scene, .pl-timeline, .pl-curves, .pl-player > *, .pl-key > *, .pl-side-title')]
      .filter(e => e.offsetParent).map(e => [e.className, e.getBoundingClientRect(), e]);
    const across = ([, p], [, q]) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1;
    const found = boxes.flatMap((one, i) => boxes.slice(i + 1).filter(other => !one[2].contains(other[2]) && across(one, other)).map(other => `${one[0]} on ${other[0]}`));
    const outside = boxes.filter(([, box]) => box.right > innerWidth + 1).map(([name]) => `${name} beyond the page`);
    return [...found, ...outside, ...(document.documentElement.scrollWidth > innerWidth ? ['wider than the page'] : [])] }"""


@pytest.mark.sample(part=3)
@pytest.mark.parametrize("name", ["explorer", "pair", "datapath", "timeline", "curves"])
@pytest.mark.parametrize(
    ("width", "height"), [(480, 800), (900, 700), (1024, 768), (1280, 720), (1920, 1080)]
)
def test_nothing_overlaps_at_any_width(open_, name, width, height):
    shown = open_(name, width=width, height=height)
    assert shown.page.evaluate(OVERLAPS) == []
    settle(shown.page)
    assert faults(shown.page, least=11.0 if width > 900 else 12.0) == []
    if shown.page.evaluate("() => document.documentElement.dataset.layout") == "slide":
        room = "page => page.timeline.frame().height / page.timeline.data.lanes.length / (12 * page.figures.zoom)"
        assert name in ("datapath", "curves") or shown.ask(room) > 0.9  # lanes are as high as their names
        assert shown.page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")


def test_four_to_three_fills_such_a_window_and_no_more(folder, open_):
    peerlab.export_html(STAGED, folder / "old.html", controls="host", ratio="4:3", bands=False)
    for width, height in ((1024, 768), (1600, 900)):
        shown = open_("old", width=width, height=height)
        box = shown.page.locator(".pl-alone").bounding_box()
        assert (box["width"], box["height"]) == pytest.approx((height * 4 / 3, height), abs=1)
        assert box["x"] == pytest.approx((width - box["width"]) / 2, abs=1)
        assert shown.page.evaluate(OVERLAPS) == []


def test_the_curves_that_a_page_begins_with_have_bands(open_):
    shown = open_("explorer")
    lines = shown.ask(
        "page => page.curves.curves.lines.map(({ name, low, y, high }) => [name, low, y, high])"
    )
    found = {name: rows for name, *rows in lines}
    low, busbw, high = (rows[1] for rows in found["host-rdma"])  # on 8 nodes
    band = peerlab.simulate(STAGED).sensitivity_band()
    assert (low, busbw, high) == pytest.approx((band.low_GBps, band.value_GBps, band.high_GBps), rel=1e-9)
    for rows in found.values():
        there = [one for one in zip(*rows, strict=True) if one[0] is not None]
        assert len(there) == 2
        assert all(low <= y <= high for low, y, high in there)
    assert shown.page.locator(".pl-bands").inner_text() == "range"


def test_words_of_a_single_figure_can_be_read_from_the_last_row(open_):
    smallest = """() => Math.min(...[...document.querySelectorAll('.pl-alone *')].filter(e => e.offsetParent && [...e.childNodes]
        .some(n => n.nodeType === 3 && n.data.trim())).map(e => parseFloat(getComputedStyle(e).fontSize) * (e.currentCSSZoom ?? 1)))"""
    for name in ("datapath", "timeline", "curves"):
        shown = open_(name)
        assert shown.page.evaluate(smallest) >= 17.99, name
        texts = shown.ask("page => page.figures.model('scene_texts').data.size")
        axes = shown.ask("page => page.figures.model('timeline_lanes').major_label_text_font_size")
        assert min(float(size[:-2]) for size in [*texts, axes]) >= 18


def test_a_cluster_with_a_wicked_name_shows_it_as_text(folder, open_, root):
    wicked = "<img src=x onerror=alert(1)>"
    text = (root / "data" / "hardware" / "dl1.toml").read_text()
    (folder / "wicked.toml").write_text(
        re.sub(r"^title = .*$", f"title = '{wicked}'", text, count=1, flags=re.MULTILINE)
    )
    scenario = STAGED.with_(cluster=str(folder / "wicked.toml"))
    peerlab.export_html(scenario, folder / "wicked.html", controls="host", bands=False)
    shown = open_("wicked")
    assert wicked in shown.page.locator(".pl-caption").text_content()
    assert wicked in shown.page.title()
    assert shown.page.locator("img").count() == 0


def test_nothing_from_outside_is_allowed(open_):
    shown = open_("explorer")
    tried = shown.page.evaluate(
        """async () => {
             const refused = [];
             addEventListener('securitypolicyviolation', event => refused.push(event.effectiveDirective));
             await fetch('data:text/plain,a').catch(() => 0);
             const script = document.createElement('script');
             script.textContent = 'window.taken = true';
             document.body.append(script);
             for (let i = 0; i < 100 && refused.length < 2; i++) await new Promise(resolve => setTimeout(resolve, 50));
             return [Boolean(window.taken), refused.some(name => name.startsWith('connect')), refused.some(name => name.startsWith('script'))];
           }"""
    )
    assert tried == [False, True, True]
    shown.complaints.clear()  # of what was refused
