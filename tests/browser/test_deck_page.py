"""A deck as its audience and its speaker meet it: opened from a file, in a real Chromium."""

import re
import subprocess
import sys

import pytest
from axe_faults import axe_faults
from fewer_points import fewer_points
from overlaps import SIZES, faults, settle, watch
from page_that_plays import resize
from playwright.sync_api import expect

import peerlab
from peerlab.cli import main
from peerlab.features.deck.reading.outline import REVIEW, Outline, SlidePlan
from peerlab.features.deck.write_deck import printed, write_deck
from peerlab.picture.theme import palettes
from peerlab.question.presets import known_clusters, load_cluster

TRAINING = ["--gradient", "2 GB", "--step-time", "0.35", "--overlap", "0.5"]
COMPARABLE = [
    name
    for name in known_clusters()
    if {"host-rdma", "host-tcp"} & set(load_cluster(name).paths) and "peer-direct" in load_cluster(name).paths
]

WORDS_MET = ("b200-ndr",)
"""There words lay on each other, or were cut."""


FITS = """one => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth
  && [...one.querySelectorAll('.card')].every(card => card.scrollHeight <= card.clientHeight + 1 && card.scrollWidth <= card.clientWidth + 1)
  && [...one.children].every(part => part.getBoundingClientRect().bottom <= one.parentElement.querySelector('footer').getBoundingClientRect().top + 1
     || getComputedStyle(part).display === 'none')"""
SHOWN = [kind for kind in REVIEW if kind not in ("log", "clusters")]
"""The slides of a deck without a log and without a second cluster."""
SMALL = """() => { const found = [], root = document.querySelector('section.present'), words = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const one = words.currentNode.parentElement, svg = one.closest('svg');
    if (!words.currentNode.textContent.trim() || one.closest('.notes, title') || !one.getClientRects().length) continue;
    const zoom = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    if (parseFloat(getComputedStyle(one).fontSize) * zoom < (one.closest('footer') ? 15.9 : 17.9)) found.push(words.currentNode.textContent);
  }
  return found }"""
"""Words below 18 pixels on a slide of 1280 by 720, at its foot below 16."""


SMALL_INSIDE = """least => { const found = [], words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const one = words.currentNode.parentElement, svg = one.closest('svg');
    if (!words.currentNode.textContent.trim() || !one.getClientRects().length || one.closest('script, style, title, .pl-hidden')) continue;
    let zoom = svg?.viewBox.baseVal.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    for (let up = svg ? null : one; up; up = up.parentElement) zoom *= parseFloat(getComputedStyle(up).zoom) || 1;
    if (parseFloat(getComputedStyle(one).fontSize) * zoom < least - 0.1) found.push(words.currentNode.textContent);
  }
  return found }"""
"""The same within a frame, whose parts grow with its window."""


@pytest.fixture(scope="module")
def deck(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deck") / "made" / "here"
    command = [sys.executable, "-m", "peerlab.cli", "deck", *TRAINING, "--output", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{folder / 'index.html'}: open it in any browser\n"
    return folder / "index.html"


@pytest.fixture(scope="module")
def opened(browser, deck):
    """The deck, opened once: its frames take a second of a processor to start."""
    one = browser.new_page()
    one.emulate_media(reduced_motion="no-preference")
    requests, complaints = [], []
    one.on("request", lambda request: requests.append(request.url))
    one.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    one.on("pageerror", lambda error: complaints.append(str(error)))
    one.goto(deck.as_uri())
    one.wait_for_function("Reveal.isReady()")
    yield one, requests, complaints
    one.close()


@pytest.fixture
def page(opened, deck):
    """The deck at its first slide, in front; its live slide as its tests before left it."""
    one, requests, complaints = opened
    resize(one, 1280, 720)
    one.bring_to_front()
    # who clicked into the live slide would turn no page by a key
    one.evaluate("document.activeElement.blur(), Reveal.layout(), Reveal.slide(0)")
    yield one
    assert [url for url in requests if url != deck.as_uri()] == []
    assert complaints == []


def until(frame, condition):
    """Wait until a condition holds. It is asked from here: where the page asked it later, its policy would forbid to evaluate text."""
    for _ in range(1200):
        if frame.evaluate(condition):
            return
        frame.page.wait_for_timeout(50)
    raise AssertionError(f"never: {condition}")


def explorer_of(page):
    """Return the frame of the live slide."""
    return page.locator("iframe[title^=Try]").element_handle().content_frame()


def test_every_page_turns_up_by_the_keyboard_and_fits(page):
    titles = []
    for number in range(len(SHOWN)):
        assert page.evaluate("Reveal.getSlidePastCount()") == number
        sheet = page.locator("section.present .sheet")
        titles.append(sheet.locator("h1, h2").inner_text())
        assert sheet.evaluate(FITS), titles[-1]
        assert page.evaluate(SMALL) == []
        page.keyboard.press("ArrowRight")
    assert len(set(titles)) == len(SHOWN)
    assert (
        "Recommendation: measure before deciding" in titles
    )  # with a NIC on a root port of its own it gains 1.03


def words_at_fault(page, titles):
    """Return what is wrong with the words of the slides that are called so, at three widths."""
    found = []
    for width, height in SIZES:
        resize(page, width, height)
        page.evaluate("Reveal.layout()")  # else a moment later
        for number, title in enumerate(titles):
            page.evaluate("number => Reveal.slide(number)", number)
            settle(page)
            found += [f"{title}, {width} wide: {one}" for one in faults(page, "section.present", least=0)]
    return found


def test_no_word_of_a_slide_lies_on_another_one_or_is_cut_off(page):
    watch(page)
    assert words_at_fault(page, SHOWN) == []


FILLED = """sheet => {
  let all = 0, filled = 0;
  for (const card of sheet.querySelectorAll('.card')) {
    const { top, width, height } = card.getBoundingClientRect(), range = document.createRange();
    range.selectNodeContents(card);
    const low = Math.max(...[...range.getClientRects()].map(({ bottom }) => bottom)); // of words and pictures
    all += width * height;
    filled += width * (low - top);
  }
  return all ? filled / all : 1 }"""
"""How much of a slide's cards is above the end of what they hold."""


def test_no_slide_is_half_empty(page):
    for kind in SHOWN:
        sheet = page.locator("section.present .sheet")
        assert sheet.evaluate(FILLED) > 0.75, kind
        page.keyboard.press("ArrowRight")


EMPTIEST = """sheet => Math.min(1, ...[...sheet.querySelectorAll('.card')].map((card) => {
  const { top, height } = card.getBoundingClientRect(), range = document.createRange();
  range.selectNodeContents(card);
  return (Math.max(...[...range.getClientRects()].map(({ bottom }) => bottom)) - top) / height; }))"""
"""How much of the emptiest card of a slide is above the end of what it holds."""


@pytest.mark.long("decks")
def test_no_card_of_a_simulated_step_or_of_the_assumptions_is_half_empty(browser, tmp_path):
    deck = write_deck(
        Outline(slides=(SlidePlan("training"), SlidePlan("assumptions"), SlidePlan("sure"))),
        tmp_path / "deck",
    )
    page = browser.new_page()
    resize(page, 1280, 720)
    page.goto(deck.as_uri())
    page.wait_for_function("Reveal.isReady()")
    for kind in ("training", "assumptions", "sure"):
        sheet = page.locator("section.present .sheet")
        assert sheet.evaluate(EMPTIEST) > 0.55, kind
        page.keyboard.press("ArrowRight")
    page.close()


def test_parts_of_two_cards_that_are_compared_begin_at_the_same_heights(page):
    page.evaluate("number => Reveal.slide(number)", SHOWN.index("wiring"))
    parts = page.locator("section.present .aligned").evaluate_all(
        "cards => cards.map(card => [...card.children].filter(one => one.innerHTML).map(one => Math.round(one.getBoundingClientRect().top)))"
    )
    assert len(parts) == 2
    assert parts[0] == parts[1]
    assert len(parts[0]) == 3  # name, picture, facts


def test_the_arrows_end_at_the_margin_in_the_row_of_the_page_s_number(page):
    """They stood outside of the margin, five pixels below the number."""
    page.evaluate("number => Reveal.slide(number)", SHOWN.index("wiring"))
    foot, number, back, on = (
        page.locator(f"{name}:visible").last.bounding_box()
        for name in (
            "section.present footer",
            "section.present footer span",
            ".controls .navigate-left",
            ".controls .navigate-right",
        )
    )
    assert on["x"] + on["width"] == pytest.approx(foot["x"] + foot["width"], abs=2)
    assert number["x"] + number["width"] < back["x"] < back["x"] + back["width"] < on["x"]
    words = page.locator("section.present footer span").last.evaluate(
        "span => { const range = document.createRange(); range.selectNodeContents(span); const { top, bottom } = range.getBoundingClientRect(); return (top + bottom) / 2 }"
    )
    assert on["y"] + on["height"] / 2 == pytest.approx(words, abs=2)


def test_a_card_ends_with_its_picture_and_the_figures_below_have_the_rest(page):
    """A card went on for 45 pixels below the frame in it."""
    page.evaluate("number => Reveal.slide(number)", SHOWN.index("compare"))
    gaps = page.locator("section.present .aligned").evaluate_all(
        "cards => cards.map(card => card.getBoundingClientRect().bottom - card.querySelector('svg').getBoundingClientRect().bottom)"
    )
    assert all(8 <= gap <= 24 for gap in gaps), gaps


def test_words_and_rules_of_a_table_begin_and_end_where_those_of_other_cards_do(page):
    """Rules began four pixels left of them, words six to their right."""
    edges = set()
    for number in range(len(SHOWN)):
        page.evaluate("number => Reveal.slide(number)", number)
        edges |= set(
            map(
                tuple,
                page.evaluate(
                    """() => [...document.querySelectorAll('section.present .wide')].map(card => {
                         const range = document.createRange(), box = card.getBoundingClientRect(), table = card.querySelector('table').getBoundingClientRect();
                         range.selectNodeContents(card.querySelector('tbody th'));
                         return [range.getBoundingClientRect().left - box.left, table.left - box.left, box.right - table.right].map(Math.round) })"""
                ),
            )
        )
    assert edges == {(20, 20, 20)}


def test_the_controls_of_the_live_slide_are_one_row(page):
    page.evaluate("number => Reveal.slide(number)", SHOWN.index("live"))
    frame = explorer_of(page)
    until(frame, "document.documentElement.dataset.ready === 'yes'")
    middles = frame.evaluate(
        "[...document.querySelectorAll('.pl-choices > *')].filter(one => one.offsetHeight).map(one => { const { top, bottom } = one.getBoundingClientRect(); return (top + bottom) / 2 })"
    )
    assert len(middles) >= 2
    assert max(middles) - min(middles) < 6


def test_no_word_of_a_race_is_below_18_pixels_and_none_of_the_explorer_below_14(page):
    for kind, least in (("race", 18), ("live", 14)):
        page.evaluate("number => Reveal.slide(number)", SHOWN.index(kind))
        frame = page.locator("section.present iframe").element_handle().content_frame()
        until(frame, "document.documentElement.dataset.ready === 'yes'")
        assert frame.evaluate(SMALL_INSIDE, least) == [], kind


@pytest.mark.long("decks")
def test_nothing_serious_for_those_who_do_not_see_it(page):
    for _ in range(len(SHOWN)):
        assert axe_faults(page, "section.present", grave=True) == []
        for picture in page.locator("section.present svg").all():
            assert len(picture.get_attribute("aria-label")) > 20
        page.keyboard.press("ArrowRight")


def test_the_live_slide_plays_while_it_is_shown_and_its_switches_work(page):
    frame = explorer_of(page)
    until(frame, "document.documentElement.dataset.ready === 'yes'")
    until(frame, "![...window.peerlabPages][0].player.playing")
    for _ in SHOWN[: SHOWN.index("live")]:
        page.keyboard.press("ArrowRight")
    expect(page.locator("section.present iframe[title^=Try]")).to_have_count(1)
    until(frame, "[...window.peerlabPages][0].player.playing")
    expect(frame.locator(".pl-card[data-name=busbw]")).to_contain_text("30.2 GB/s")
    frame.get_by_label("Host bottleneck").click()
    until(frame, "document.querySelector('.pl-card[data-name=busbw]').innerText.includes('52 GB/s')")
    page.evaluate("Reveal.next()")
    until(frame, "![...window.peerlabPages][0].player.playing")


def test_the_live_slide_keeps_to_the_slices_from_one_node_to_the_other(page):
    page.evaluate("number => Reveal.slide(number)", SHOWN.index("live"))
    frame = explorer_of(page)
    until(frame, "document.documentElement.dataset.ready === 'yes'")
    drawn = frame.evaluate(
        """() => { const [page] = peerlabPages, { scene, figures } = page, shown = [];
             for (let i = 0; i < 40; i++) shown.push(...scene.slices((i / 40) * page.player.length).trains);
             return { slices: shown.length, others: shown.filter(({ hollow }) => hollow).length,
               cells: figures.model('scene_slots').data.left.filter((left, i) => figures.model('scene_slots').data.right[i] - left < 10).length,
               words: figures.model('scene_words').data.text.filter((text) => /^(from|to) node/.test(text)) } }"""
    )
    assert drawn.pop("slices") > 0
    assert drawn == {"others": 0, "cells": 0, "words": []}
    hero = frame.locator(".pl-hero")
    expect(hero.locator(".pl-bar-name")).to_have_text(
        [re.compile("^(you|host) 1\u00d7$"), "simulated 1.72\u00d7"]
    )
    expect(hero).not_to_contain_text("ms")  # the player has the time
    lines = frame.evaluate(
        "['.pl-hero .pl-label', '[data-name=bottleneck] .pl-label', '.pl-hero .pl-range', '[data-name=bottleneck] > :last-child'].map((part) => document.querySelector(part).getBoundingClientRect().bottom)"
    )
    assert abs(lines[0] - lines[1]) < 2
    assert abs(lines[2] - lines[3]) < 2


def test_between_the_nodes_of_the_live_slide_stands_the_ring_with_its_step_below(page):
    """Two thirds of the middle were empty above a small ring, and names of nodes began left of the boxes below them."""
    page.evaluate("number => Reveal.slide(number)", SHOWN.index("live"))
    frame = explorer_of(page)
    until(frame, "document.documentElement.dataset.ready === 'yes'")
    ring, words, boxes = frame.evaluate(
        "['scene_ring', 'scene_words', 'scene_boxes'].map((name) => peerlabPages.values().next().value.figures.model(name).data).map((data) => Object.fromEntries(Object.entries(data).map(([key, values]) => [key, [...values]])))"
    )
    at = dict(zip(words["text"], zip(words["x"], words["y"], strict=True), strict=True))
    step = next(word for word in at if word.startswith("step "))
    assert min(ring["y"]) < 25
    assert max(ring["y"]) + 12 < at[step][1] < 140
    assert at[step][0] == at["8"][0] == at["nodes"][0] == 530
    assert at["node 0"][0] == min(boxes["left"])


def test_who_clicked_into_the_live_slide_turns_pages_from_there(page):
    frame = explorer_of(page)
    until(frame, "document.documentElement.dataset.ready === 'yes'")
    live = SHOWN.index("live")
    at = "number => Reveal.getSlidePastCount() === number"
    for key, then in (("PageDown", live + 1), ("PageUp", live - 1)):
        page.evaluate("number => Reveal.slide(number)", live)
        until(frame, "[...window.peerlabPages][0].player.onSlide")
        frame.get_by_role("slider", name="Nodes").focus()
        page.keyboard.press(key)
        page.wait_for_function(at, arg=then)
    page.evaluate("number => Reveal.slide(number)", live)
    frame.get_by_label("Host bottleneck").click()
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.hasFocus() && !document.activeElement.matches('iframe')")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(at, arg=live + 1)


def test_the_speaker_has_notes_and_sees_what_comes(page):
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    speaker = opened.value
    speaker.locator("iframe").nth(1).wait_for()
    page.keyboard.press("ArrowRight")
    notes = speaker.locator(".speaker-controls-notes")
    notes.get_by_text("Peer Direct, registrations cached").first.wait_for()
    for frame, heading in ((0, "Peer Direct stays below host memory"), (1, "Race")):
        speaker.frame_locator("iframe").nth(frame).locator("section.present h2", has_text=heading).wait_for()
    speaker.close()


def test_it_prints_a_slide_a_page(deck):
    held = printed(deck)
    pages = [int(count) for count in re.findall(rb"/Count (\d+)", held)]
    assert max(pages) == len(SHOWN)
    assert set(re.findall(rb"/MediaBox \[([^]]+)\]", held)) == {b"0 0 960 540"}


@pytest.mark.long("decks")
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "cluster",
    [pytest.param(name, marks=[pytest.mark.always] * (name in WORDS_MET)) for name in COMPARABLE],
)
def test_the_slides_of_every_cluster_fit(browser, tmp_path, cluster):
    plans = tuple(SlidePlan(kind) for kind in REVIEW if kind not in ("live", "log"))
    other = "p4d" if cluster == "dl1" else "dl1"
    scenario = {"cluster": cluster, "nodes": 4, "message_bytes": "8 MiB"}  # words are as long as of 64 MiB
    deck = write_deck(Outline(beside=other, scenario=scenario, slides=plans), tmp_path)
    page = browser.new_page()
    page.goto(deck.as_uri())
    page.wait_for_function("Reveal.isReady()")
    page.evaluate("Reveal.configure({ viewDistance: 99 })")
    over = page.evaluate(
        f"""[...document.querySelectorAll('.sheet')].map((one, i) => {{ Reveal.slide(i);
             return ({FITS})(one) || one.querySelector('h1, h2').textContent }}).filter(text => text !== true)"""
    )
    assert over == []
    watch(page)
    assert words_at_fault(page, [plan.show for plan in plans]) == []
    page.close()


def test_words_of_ones_own_fit_on_every_slide_with_a_picture(browser, tmp_path):
    """Pictures make room for them."""
    words = "Our image ships without DMA-BUF. " * 4
    shown = ("detour", "direct", "time", "nodes", "registration", "compare")
    deck = write_deck(Outline(slides=tuple(SlidePlan(kind, text=words) for kind in shown)), tmp_path)
    page = browser.new_page()
    page.goto(deck.as_uri())
    page.wait_for_function("Reveal.isReady()")
    for kind in shown:
        sheet = page.locator("section.present .sheet")
        assert words.strip() in sheet.inner_text()
        assert sheet.evaluate(FITS), kind
        page.keyboard.press("ArrowRight")
    page.close()


def test_what_is_wrong_is_one_line(tmp_path, capsys):
    def says(*arguments):
        assert main(["deck", "--output", str(tmp_path / "deck"), *arguments]) == 1
        return capsys.readouterr().err

    assert (
        says("--overlap", "0.5")
        == "peerlab: training: step_time_s is missing; a step is its time, its overlap, and either its bytes of gradient or the share of it that is communication\n"
    )
    assert says("--cluster", "ideal-100g").startswith(
        "peerlab: scenario: cluster ideal-100g has no path host-rdma to compare"
    )
    assert says("nowhere.md") == "peerlab: cannot read nowhere.md: No such file or directory\n"
    (tmp_path / "deck").write_text("in the way")
    assert says() == f"peerlab: cannot write {tmp_path / 'deck'}: it is a file; give a folder\n"


def test_a_page_plays_in_a_frame_that_may_run_scripts(browser, tmp_path):
    """As a wiki or another deck embeds it."""
    with fewer_points():
        peerlab.export_html(peerlab.Scenario(nodes=2), tmp_path / "slide.html", controls="host", bands=False)
    frames = "".join(
        f"<iframe {how} src='slide.html' width='900' height='506'></iframe>"
        for how in ("", "sandbox='allow-scripts'", "sandbox")
    )
    (tmp_path / "host.html").write_text(frames)
    page = browser.new_page()
    page.goto((tmp_path / "host.html").as_uri())
    plain, allowed, bare = page.main_frame.child_frames
    for one in (plain, allowed):
        one.wait_for_selector("html[data-ready]", state="attached")  # the page allows no functions in text
        expect(one.locator(".pl-card[data-name=busbw]")).to_contain_text("GB/s")
    assert bare.locator("html[data-ready]").count() == 0
    page.close()


@pytest.mark.long("decks")
def test_dark_slides_are_dark_and_their_print_is_light(browser, tmp_path):
    plans = tuple(SlidePlan(kind) for kind in ("title", "race", "live"))
    deck = write_deck(Outline(theme="dark", slides=plans), tmp_path)
    page = browser.new_page()
    page.goto(deck.as_uri())
    page.wait_for_function("Reveal.isReady()")
    ground = "getComputedStyle(document.querySelector('section')).backgroundColor"
    assert page.evaluate(ground) == "rgb(17, 17, 17)"
    page.goto(f"{deck.as_uri()}?print-pdf")
    page.wait_for_selector(".pdf-page")
    expect(page.locator("iframe[data-stands=yes]")).to_have_count(2)
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    expect(page.frame_locator("iframe[title^=Race]").locator(".rc-lane").last).to_contain_text(
        "finished at 2.54 ms"
    )
    for frame in page.locator("iframe[data-stands=yes]").all():
        inside = frame.element_handle().content_frame()
        assert inside.evaluate("document.documentElement.style.colorScheme") == "light"
        paper = inside.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--pl-paper')")
        assert paper.strip() == palettes()["light"]["paper"]
    page.close()
