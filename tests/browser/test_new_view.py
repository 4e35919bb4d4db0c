"""A new view is one module, one script and one line: what it says is in the page, from the first parcel to the end."""

from typing import TypedDict

import pytest
from blank import Blank, run
from bokeh.plotting import figure
from fewer_points import fewer_points
from playwright.sync_api import expect

import peerlab
from peerlab import page as sources
from peerlab.picture.plots import FIGURES
from peerlab.picture.views import VIEWS, View

SCRIPT = """import { View } from "./view.js";
import { sayTime } from "./words.js";

export class Memory extends View {
  static html = `<section class="memory"><output></output><p></p><div class="plot"></div></section>`;
  static figure = ".memory .plot";
  apply(part) { this.page.find(".memory output").textContent = `${part.regions} regions`; this.figures.fill("memory_dots", { x: [1], y: [part.regions] }); }
  draw(time) { this.page.find(".memory p").textContent = sayTime(time); }
  paint() { this.painted = this.figures.theme; }
  close() { globalThis.memoryClosed = true; }
}
"""


class MemoryParcel(TypedDict):
    """What the new view gets."""

    regions: int


def send(picture) -> MemoryParcel:
    return {"regions": picture.run.registration.misses}


def build():
    plot = figure(name="memory", height=80, width=200, toolbar_location=None)
    plot.scatter([], [], name="dots").data_source.name = "memory_dots"
    return plot


@pytest.fixture
def listed(monkeypatch):
    """The view is in the list."""
    read = sources._read
    monkeypatch.setattr(sources, "_read", lambda name: SCRIPT if name == "memory.js" else read(name))
    monkeypatch.setitem(VIEWS, "memory", View(send))
    monkeypatch.setitem(FIGURES, "memory", build)


@pytest.fixture
def page(browser, listed):  # noqa: ARG001  (a fixture)
    one = Blank(browser.new_page())
    uncached = run(path="peer-direct", registration="per-transfer")
    one.open(uncached)
    yield one
    assert one.complaints == []
    one.page.close()


@pytest.mark.long("pages")
def test_a_new_view_applies_parcels_draws_moments_paints_and_closes(page):
    misses = run(path="peer-direct", registration="per-transfer").registration.misses
    expect(page.page.locator(".pl-lower .memory output")).to_have_text(f"{misses} regions")
    assert page.column("memory_dots", "y") == [misses]
    expect(page.page.locator(".memory canvas").first).to_be_attached()
    page.still(0.5)
    expect(page.page.locator(".memory p")).to_have_text(
        page.page.locator(".pl-clock").inner_text().split(" of ")[0]
    )
    page.page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    page.page.wait_for_function("[...peerlabPages][0].memory.painted === 'dark'")
    page.change(run(path="peer-direct"))
    expect(page.page.locator(".memory output")).to_have_text("0 regions")
    page.page.evaluate("closePage()")
    assert page.page.evaluate("globalThis.memoryClosed")


@pytest.mark.usefixtures("listed")
def test_it_is_in_exported_pages_too(browser, tmp_path):
    file = tmp_path / "page.html"
    with fewer_points():
        peerlab.export_html(peerlab.Scenario(path="host-rdma"), file, controls="host", bands=False)
    other = browser.new_page()
    other.goto(file.as_uri())
    other.wait_for_selector("html[data-ready]")
    expect(other.locator(".memory output")).to_have_text("0 regions")
    other.close()
