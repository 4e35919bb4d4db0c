"""The live page in a real Chromium, from a server of files and from a file: it simulates by itself, and asks nobody else."""

import random
import shutil
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from axe_faults import axe_faults
from drawing import SOAK, draw
from fewer_points import fewer_points
from firefox import find_firefox, firefox
from page_that_plays import resize
from playwright.sync_api import expect
from tool_logs import NCCL

import peerlab
from peerlab.base.errors import ExportError
from peerlab.base.places import folder
from peerlab.features.site import python_archive
from peerlab.features.site.live_page import live_page
from peerlab.features.site.pyodide_package import pyodide_files
from peerlab.features.site.python_archive import python_archives
from peerlab.features.site.recorded_pages import RECORDED
from peerlab.features.site.site_folder import write_site
from peerlab.picture.theme import palettes

FEWER_POINTS = b"""
for axis, values in tuple(AXES.items()):
    AXES[axis] = values[:3:2]
"""
"""As `shorten_curves`, in the tab: Python is ten times as slow there."""
AS_HIGH = """() => {
  const frame = document.querySelector("figure iframe"), least = parseFloat(getComputedStyle(frame).minHeight);
  const { height } = frame.contentDocument.querySelector(".pl-alone").getBoundingClientRect();
  return Math.abs(frame.clientHeight - Math.max(least, height)) <= 1;
}"""
"""Whether the live picture of a lab is as high as what it holds."""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory, run_seed):
    """A site as somebody publishes it, with two recorded pages, the first lab and another one (all in a long trial), and its one file."""
    if not shutil.which("npm"):
        pytest.skip("no npm client is here to get Pyodide: the live page is not tried")
    place = tmp_path_factory.mktemp("site")
    try:
        files = pyodide_files(None)
    except ExportError as problem:
        pytest.skip(f"Pyodide cannot be had, the live page is not tried: {problem}")
    sources = python_archive._named()
    sources["peerlab/picture/curve_scenarios.py"] += FEWER_POINTS
    labs = tmp_path_factory.mktemp("labs")
    _, first, *others = sorted(folder("labs").glob("[0-9][0-9]_*.ipynb"))
    chance = random.Random(f"{run_seed} labs of the site")  # noqa: S311  (repeatable)
    for lab in (first, *(others if SOAK else draw(others, chance, count=1))):
        shutil.copy(lab, labs)
    made = RECORDED if SOAK else draw(RECORDED, chance, count=2)
    pages = [page if page in made else replace(page, make=str) for page in RECORDED]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python_archive, "_named", lambda: sources)
        archives = python_archives(files)
        patch.setattr("peerlab.features.site.site_folder.pyodide_files", lambda _: files)
        patch.setattr("peerlab.features.site.site_folder.python_archives", lambda _: archives)
        patch.setattr("peerlab.features.site.lab_pages.folder", lambda _: labs)
        patch.setattr("peerlab.features.site.site_folder.RECORDED", pages)
        with fewer_points():
            write_site(place, peerlab.Scenario(nodes=2))
    (place / "one.html").write_text(live_page(peerlab.Scenario(nodes=2), files | archives, carried=True))
    return place


@pytest.fixture(scope="module")
def address(site):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def listening(browser):
    """Return a page that notes what it complains of, and what it asks for."""
    page = browser.new_page()
    page.complaints, page.asked = [], []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and page.complaints.append(message.text))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


@pytest.fixture
def page(browser):
    page = listening(browser)
    yield page
    page.close()


@pytest.fixture(scope="module")
def explorer(browser, address):
    """A live explorer for several tests, reached from the first page: Python takes six seconds of a processor to start in a tab."""
    page = listening(browser)
    page.goto(address)
    page.get_by_role("link", name="Open the live explorer").click()
    live(page, page.url)
    yield page
    page.close()


@pytest.fixture(scope="module")
def one_file(browser, site):
    """The same in one file, opened by a link."""
    page = listening(browser)
    live(page, f"{(site / 'one.html').as_uri()}#cluster=p5&nodes=4&slow_nodes=1:0.5")
    yield page
    page.close()


def follow(page, link):
    """Bring a page to the front and give it another scenario, as a link does."""
    page.bring_to_front()
    page.evaluate("link => { location.hash = link }", link)


def live(page, url):
    page.goto(url)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.wait_for_selector("html[data-live]", state="attached")


def busbw(page):
    return page.locator("[data-name=busbw]")


def switch_and_ask_for_24_nodes(page):
    """Switch the host bottleneck off and on, look at both answers, and ask for more nodes."""
    for path, host in (("peer-direct", False), ("host-rdma", True)):
        page.get_by_role("switch", name="Host bottleneck").set_checked(host)
        run = peerlab.simulate(peerlab.Scenario(nodes=2, path=path))
        expect(busbw(page)).to_contain_text(f"{run.busbw_GBps:.3g} GB/s")
    page.get_by_label("Nodes, as a number").fill("24")
    page.get_by_label("Nodes, as a number").press("Enter")


def test_a_site_of_files_simulates_in_the_tab(explorer, address):
    page = explorer
    page.bring_to_front()
    switch_and_ask_for_24_nodes(page)
    expect(busbw(page)).to_contain_text(
        f"{peerlab.simulate(peerlab.Scenario(nodes=24, path='host-rdma')).busbw_GBps:.3g} GB/s"
    )
    assert "nodes=24" in page.url
    page.get_by_label("Message").fill("<b>nonsense")
    page.get_by_label("Message").press("Enter")
    expect(page.get_by_role("status").filter(has_text="nonsense")).to_be_visible()
    expect(page.get_by_label("Message")).to_have_value("64 MiB")
    page.wait_for_selector("html[data-done]", state="attached")
    assert axe_faults(page) == []
    assert page.complaints == []
    assert {url.split("/")[2] for url in page.asked if url.startswith("http")} == {address.split("/")[2]}


@pytest.mark.long("the live page")
def test_one_file_simulates_without_a_server_and_a_link_holds_its_scenario(one_file):
    page = one_file
    page.bring_to_front()
    expect(
        page.get_by_role("status").filter(has_text="slow_nodes=1:0.5, which a browser tab does not have")
    ).to_be_visible()
    expect(page.get_by_label("Cluster")).to_have_value("p5")
    expect(busbw(page)).to_contain_text(
        f"{peerlab.simulate(peerlab.Scenario(cluster='p5', nodes=4, path='peer-direct')).busbw_GBps:.3g} GB/s"
    )
    assert page.complaints == []
    assert [url for url in page.asked if not url.startswith(("file:", "blob:", "data:"))] == []


@pytest.mark.long("the live page")
def test_the_host_switch_goes_past_the_host_on_the_whole_way(explorer):
    page = explorer
    follow(page, "cluster=p4d&nodes=2&path=host-rdma")
    expect(page.get_by_label("Cluster")).to_have_value("p4d")
    for path in ("peer-direct", "host-rdma"):
        page.get_by_role("switch", name="Host bottleneck").click()
        expect(page.get_by_label("Data path", exact=True)).to_have_value(path)
        page.wait_for_selector("html[data-done]", state="attached")
        expect(page.locator(".pl-hero")).to_contain_text("Peer Direct")


@pytest.mark.long("the live page")
def test_a_log_is_read_in_the_tab_and_leaves_it_never(one_file):
    page = one_file
    follow(page, "cluster=alps-gh200&nodes=8")
    expect(page.get_by_label("Nodes, as a number")).to_have_value("8")
    page.wait_for_selector("html[data-done]", state="attached")
    asked = len(page.asked)
    page.get_by_role("button", name="Your log").click()
    expect(page.get_by_text("Nothing of it leaves this machine")).to_be_visible()
    expect(page.locator(".pl-sides")).to_be_hidden()
    page.locator("textarea").fill("no log\nat all")
    page.get_by_role("button", name="Is it well?").click()
    expect(page.get_by_role("status").filter(has_text="not the output of nccl-tests")).to_be_visible()
    page.locator("textarea").fill(NCCL)
    page.get_by_role("button", name="Is it well?").click()
    expect(page.get_by_text("Which data path is your log from?")).to_be_visible()
    assert axe_faults(page) == []
    page.locator(".pl-live-log").get_by_role("button", name="2 nodes").click()
    expect(page.locator(".pl-sides")).to_be_visible()
    expect(page.get_by_label("Nodes, as a number")).to_have_value("2")
    assert page.complaints == []
    assert [url for url in page.asked[asked:] if not url.startswith(("blob:", "data:"))] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_page_has_both_ways_in_its_readers_theme(page, address, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(f"{address}/index.html")
    # of the drawings for wide and narrow windows one is shown, of each way
    expect(page.locator("figure svg:visible")).to_have_count(2)
    ink = tuple(int(palettes()[theme]["ink"][at : at + 2], 16) for at in (1, 3, 5))
    expect(page.locator("figure svg:visible text").first).to_have_css("fill", f"rgb{ink}")
    page.emulate_media(color_scheme="light")


def test_on_a_phone_the_first_pages_drawing_has_words_of_12_px(page, address):
    resize(page, 390, 844)
    page.goto(f"{address}/index.html")
    sizes = page.locator("figure text:visible").evaluate_all(
        "texts => texts.map(one => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
    )
    assert sizes
    assert min(sizes) >= 11.9
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.long("the live page")
def test_a_lab_is_judged_in_the_tab_and_its_progress_stays(page, address):
    page.goto(address)
    page.get_by_role("link", name="01 The long detour").click()
    page.wait_for_selector("html[data-ready]", state="attached")
    expect(page.locator(".pl-progress")).to_contain_text("0 of ")
    card = page.locator("[data-card]").filter(has_text="01-gain")
    for answer, reply in (("0.56", "turn the ratio round"), ("1.78", "Right.")):
        card.get_by_role("textbox").fill(answer)
        card.get_by_role("button", name="Check").click()
        expect(card.locator(".pl-told")).to_contain_text(reply)
    expect(page.locator(".pl-progress")).to_contain_text("1 of ")
    predicted = page.locator("[data-card]").filter(has_text="Predict").first
    predicted.get_by_role("radio").first.check()
    predicted.get_by_role("button", name="Reveal").click()
    expect(predicted.get_by_role("status")).to_contain_text("Simulated: ")
    task = page.locator("[data-card]").filter(has_text="01-transfer")
    task.get_by_role("button", name="Draw my own task").click()
    expect(task).to_contain_text("drawn with your number")
    assert axe_faults(page) == []
    assert {url.split("/")[2] for url in page.asked if url.startswith("http")} == {address.split("/")[2]}
    page.reload()
    expect(page.locator(".pl-progress")).to_contain_text("1 of ")
    link = page.get_by_role("link", name="Open it live").first
    assert "library=none" in link.get_attribute("href")
    page.get_by_role("button", name="Play it here").first.click()
    frame = page.frame_locator("figure iframe")
    frame.locator("html[data-live]").wait_for(state="attached")
    chip = frame.get_by_role("button", name="Library: none")
    expect(chip).to_be_visible()
    chip.click()
    expect(chip).to_have_count(0)
    heights = []
    for width in (480, 1280):  # a frame grows and shrinks with what it holds
        resize(page, width, 720)
        page.wait_for_function(AS_HIGH)
        heights.append(page.locator("figure iframe").bounding_box()["height"])
    assert heights[0] > heights[1]
    assert page.complaints == []


def test_a_cluster_file_of_ones_own_is_dropped_into_the_explorer(explorer, tmp_path):
    page = explorer
    follow(page, "cluster=p4d&nodes=2&path=host-rdma")
    expect(page.get_by_label("Cluster")).to_have_value("p4d")
    text = (folder("data") / "hardware" / "dl1.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace('title = "Gaudi DL1"', 'title = "My <b>machine"'))
    page.locator("input[type=file][accept='.toml']").set_input_files(tmp_path / "mine.toml")
    expect(page.get_by_label("Cluster")).to_have_value("mine.toml")
    expect(page.get_by_label("Cluster").locator("option:checked")).to_have_text("My <b>machine")
    (tmp_path / "broken.toml").write_text("no = [")
    page.locator("input[type=file][accept='.toml']").set_input_files(tmp_path / "broken.toml")
    expect(page.get_by_role("status").filter(has_text="broken.toml")).to_be_visible()
    assert page.complaints == []


def test_where_no_python_starts_the_host_switch_shows_what_is_recorded_and_the_page_says_so(
    page, site, tmp_path
):
    (tmp_path / "explorer.html").write_text((site / "explorer.html").read_text())
    page.goto((tmp_path / "explorer.html").as_uri())  # nothing lies beside it
    page.wait_for_selector("html[data-ready]", state="attached")
    expect(page.get_by_role("status").filter(has_text="Opened as a file")).to_be_visible()
    expect(page.locator(".pl-hero")).to_contain_text("as fast")
    switch_and_ask_for_24_nodes(page)
    expect(page.get_by_role("status").filter(has_text="This is not recorded.")).to_be_visible()
    expect(page.get_by_label("Nodes, as a number")).to_have_value("2")


@pytest.mark.long("the live page")
@pytest.mark.sample(1)
@pytest.mark.skipif(
    find_firefox() is None, reason="no Firefox is here: the live page is tried in Chromium alone"
)
@pytest.mark.parametrize("place", ["server", "file"])
def test_firefox_simulates_in_the_tab_as_chromium_does(place, site, address):
    one = f"{(site / 'one.html').as_uri()}" if place == "file" else f"{address}/explorer.html"
    with firefox() as tab:
        tab.open(f"{one}#cluster=p4d&nodes=4")
        tab.until("'live' in document.documentElement.dataset")
        for path in ("peer-direct", "host-rdma"):
            role = "document.querySelector('[role=switch][aria-label=\"Host bottleneck\"], [role=switch]')"
            if tab.ask(f"{role}.checked ?? {role}.ariaChecked === 'true'") != (path == "host-rdma"):
                tab.ask(f"{role}.click() ?? 1")
            run = peerlab.simulate(peerlab.Scenario(cluster="p4d", nodes=4, path=path))
            shown = f"{run.busbw_GBps:.3g} GB/s"
            tab.until(f"document.querySelector('[data-name=busbw]').textContent.includes('{shown}')")
        assert tab.complaints == []
        outside = [url for url in tab.asked if url.startswith("http") and not url.startswith(address)]
        assert outside == []
