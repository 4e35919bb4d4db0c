"""An exported page in a frame of a reveal.js deck that another server brings: whose keys are whose."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fewer_points import fewer_points
from page_that_plays import resize

import peerlab

DECK = """<!doctype html><html><head><meta charset="utf-8"><style>{style}</style></head><body><div class="reveal"><div class="slides">
<section>one</section><section><iframe src="{page}" style="width:960px;height:600px"></iframe></section><section>three</section><section>four</section>
</div></div><script>{reveal}</script><script>Reveal.initialize({{ width: 1280, height: 720, transition: "none" }});</script>{snippet}</body></html>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    """Serve a folder on a port of its own; return its address."""
    servers = []

    def start(folder):
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for one in servers:
        one.shutdown()
        one.server_close()


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """A folder with an exported page."""
    folder = tmp_path_factory.mktemp("ours")
    with fewer_points():
        peerlab.export_html(peerlab.Scenario(), folder / "slide.html", controls="host,nodes=2:8", bands=False)
    return folder


@pytest.fixture
def deck(serve, root, ours, tmp_path, browser):
    """The deck at its second slide, and the frame in it, which is of another origin."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    snippet = re.search(r"```html\n(<script>.*?)```", (root / "docs" / "using.md").read_text(), re.DOTALL)[1]
    vendor = root / "peerlab" / "features" / "deck" / "vendor"
    held = DECK.format(
        page=f"{serve(ours)}/slide.html",
        style=(vendor / "reveal.css").read_text(),
        reveal=(vendor / "reveal.js").read_text().replace("</script", "<\\/script"),
        snippet=snippet,
    )
    (theirs / "index.html").write_text(held)
    page = browser.new_page()
    resize(page, 1280, 720)
    page.goto(f"{serve(theirs)}/index.html#/1")
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    yield page, frame
    page.close()


def at(page, slide):
    page.wait_for_function("slide => Reveal.getIndices().h === slide", arg=slide)


def test_keys_that_the_page_does_not_use_turn_slides(deck):
    page, frame = deck
    there = next(one for one in page.frames if one is not page.main_frame)
    for key, then in (("PageDown", 2), ("PageUp", 0), ("End", 3), ("n", 2)):
        page.evaluate("Reveal.slide(1)")
        frame.locator(".pl-scene").click()
        page.keyboard.press(key)
        at(page, then)
    page.evaluate("Reveal.slide(1)")
    frame.get_by_label("Host bottleneck").click()
    frame.get_by_label("Host bottleneck").press("End")
    at(page, 3)
    page.evaluate("Reveal.slide(1)")
    before = there.evaluate("[...peerlabPages][0].player.wanted = false, [...peerlabPages][0].player.time")
    frame.locator(".pl-scene").click()
    page.keyboard.press("ArrowRight")  # the page steps
    page.keyboard.press("h")
    there.wait_for_function("[...peerlabPages][0].model.word('path') === 'host-rdma'")
    assert there.evaluate("[...peerlabPages][0].player.time") != before
    at(page, 1)


def test_keys_that_a_control_uses_are_its_own_but_page_keys_turn_slides(deck):
    page, frame = deck
    nodes = frame.get_by_role("slider", name="Nodes")
    nodes.press("Home")
    nodes.press("ArrowDown")
    at(page, 1)
    said = nodes.get_attribute("aria-valuetext")
    nodes.press("PageDown")
    at(page, 2)
    page.keyboard.press("ArrowLeft")  # the deck has the focus
    at(page, 1)
    assert nodes.get_attribute("aria-valuetext") == said
    nodes.press("Escape")
    page.keyboard.press("ArrowRight")
    at(page, 2)


def test_while_the_keys_are_listed_none_goes_to_the_deck(deck):
    page, frame = deck
    frame.locator(".pl-scene").click()
    page.keyboard.press("?")
    frame.locator("dialog[open]").wait_for()
    page.keyboard.press("End")
    page.keyboard.press("?")
    frame.locator(".pl-help:not([open])").wait_for(state="attached")
    at(page, 1)
