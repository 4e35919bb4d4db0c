"""A deck as its audience and its speaker meet it: opened from a file, in a real Chromium."""

import re
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe

from peerlab.cli import main
from peerlab.deck.outline import REVIEW, Outline, Plan
from peerlab.deck.write import printed, write_deck
from peerlab.model.presets import known_clusters, load_cluster

TRAINING = ["--gradient", "2 GB", "--step-time", "0.35", "--overlap", "0.5"]
COMPARABLE = [
    name
    for name in known_clusters()
    if {"host-rdma", "host-tcp"} & set(load_cluster(name).paths) and "peer-direct" in load_cluster(name).paths
]


@pytest.fixture(scope="module")
def deck(tmp_path_factory):
    folder = tmp_path_factory.mktemp("deck") / "made" / "here"
    command = [sys.executable, "-m", "peerlab.cli", "deck", *TRAINING, "--output", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{folder / 'index.html'}: open it in any browser\n"
    return folder / "index.html"


@pytest.fixture
def page(browser, deck):
    one = browser.new_page()
    one.set_viewport_size({"width": 1280, "height": 720})
    requests, complaints = [], []
    one.on("request", lambda request: requests.append(request.url))
    one.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    one.on("pageerror", lambda error: complaints.append(str(error)))
    one.goto(deck.as_uri())
    one.wait_for_function("Reveal.isReady()")
    yield one
    assert [url for url in requests if url != deck.as_uri()] == []
    assert complaints == []
    one.close()


def test_every_page_turns_up_by_the_keyboard_and_fits(page):
    titles = []
    for number in range(len(REVIEW)):
        assert page.evaluate("Reveal.getSlidePastCount()") == number
        sheet = page.locator("section.present .sheet")
        titles.append(sheet.locator("h1, h2").inner_text())
        assert sheet.evaluate(
            "one => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth"
        )
        page.keyboard.press("ArrowRight")
    assert len(set(titles)) == len(REVIEW)
    assert "Recommendation: use Peer Direct" in titles


def test_nothing_serious_for_those_who_do_not_see_it(page):
    for _ in range(len(REVIEW)):
        found = Axe().run(page, context="section.present").response["violations"]
        grave = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
        assert grave == []
        for picture in page.locator("section.present svg").all():
            assert len(picture.get_attribute("aria-label")) > 20
        page.keyboard.press("ArrowRight")


def test_the_live_slide_plays_while_it_is_shown_and_its_switches_work(page):
    def playing():
        return frame.evaluate("[...window.peerlabPages][0].player.playing")

    frame = next(one for one in page.frames if one is not page.main_frame)
    frame.wait_for_function("document.documentElement.dataset.ready === 'yes'")
    assert not playing()
    while page.locator("section.present iframe").count() == 0:
        page.keyboard.press("ArrowRight")
    frame.wait_for_function("[...window.peerlabPages][0].player.playing")
    assert "30.2 GB/s" in frame.locator(".pl-card[data-name=busbw]").inner_text()
    frame.get_by_label("Host bottleneck").click()
    frame.wait_for_function(
        "document.querySelector('.pl-card[data-name=busbw]').innerText.includes('53.9 GB/s')"
    )
    page.evaluate("Reveal.next()")
    frame.wait_for_function("![...window.peerlabPages][0].player.playing")


def test_the_speaker_has_notes(page):
    page.keyboard.press("ArrowRight")
    notes = page.evaluate("Reveal.getSlideNotes()")
    assert "30.2 GB/s bus bandwidth in 4.37 ms" in notes


def test_it_prints_a_slide_a_page(deck):
    held = printed(deck)
    pages = [int(count) for count in re.findall(rb"/Count (\d+)", held)]
    assert max(pages) == len(REVIEW)
    assert set(re.findall(rb"/MediaBox \[([^]]+)\]", held)) == {b"0 0 960 540"}


@pytest.mark.parametrize("cluster", COMPARABLE)
def test_the_slides_of_every_cluster_fit(browser, tmp_path, cluster):
    plans = tuple(Plan(kind) for kind in REVIEW if kind != "live")
    deck = write_deck(Outline(scenario={"cluster": cluster, "nodes": 4}, slides=plans), tmp_path)
    page = browser.new_page()
    page.goto(deck.as_uri())
    page.wait_for_function("Reveal.isReady()")
    page.evaluate("Reveal.configure({ viewDistance: 99 })")
    over = page.evaluate(
        """[...document.querySelectorAll('.sheet')].map((one, i) => { Reveal.slide(i);
             return [one.querySelector('h1, h2').textContent, one.scrollHeight - one.clientHeight, one.scrollWidth - one.clientWidth] })
             .filter(([, down, right]) => down > 0 || right > 0)"""
    )
    assert over == []
    page.close()


def test_what_is_wrong_is_one_line(tmp_path, capsys):
    def says(*arguments):
        assert main(["deck", "--output", str(tmp_path / "deck"), *arguments]) == 1
        return capsys.readouterr().err

    assert (
        says("--overlap", "0.5")
        == "peerlab: training: gradient_bytes is missing; gradient, step time and overlap belong together\n"
    )
    assert says("--cluster", "p5").startswith(
        "peerlab: scenario: cluster p5 has no path host-rdma to compare"
    )
    assert says("nowhere.toml") == "peerlab: cannot read nowhere.toml: No such file or directory\n"
    (tmp_path / "deck").write_text("in the way")
    assert says() == f"peerlab: cannot write {tmp_path / 'deck'}: File exists\n"
