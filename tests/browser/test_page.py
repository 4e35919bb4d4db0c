"""What a page does by itself, without a kernel: its clock, its units, its sources, and what it says when the kernel goes."""

import pytest
from blank import Blank, run
from page_that_plays import resize
from playwright.sync_api import expect

import peerlab

GONE = "The kernel has gone; reload the page."


@pytest.fixture
def opened(browser):
    """A blank page of the test's own."""
    one = Blank(browser.new_page())
    yield one
    assert one.complaints == []
    one.page.close()


def test_a_page_off_screen_rests(opened):
    opened.page.emulate_media(reduced_motion="no-preference")
    resize(opened.page, 1280, 720)
    opened.open(run())
    opened.open(run(nodes=4))
    opened.page.locator(".pl-root").first.scroll_into_view_if_needed()
    opened.page.wait_for_function(
        """async () => {
             const frames = () => [...window.peerlabPages].map(page => page.player.frames), before = frames();
             for (let i = 0; i < 20; i++) await new Promise(requestAnimationFrame);
             const [first, second] = frames().map((now, i) => now - before[i]);
             return first > 5 && second === 0 }"""
    )


def test_with_reduced_motion_a_page_stands_still_and_steps(opened):
    opened.page.emulate_media(reduced_motion="reduce")
    opened.open(run())
    assert opened.ask("page => [page.player.wanted, page.player.frames]") == [False, 0]
    before = opened.page.locator(".pl-scene").screenshot()
    opened.page.locator(".pl-next").click(click_count=3)
    assert opened.ask("page => page.player.time") > 0
    assert opened.ask("page => page.player.frames") == 0
    clock = opened.page.locator(".pl-clock")
    expect(clock).not_to_have_text("0 s of 4.38 ms")
    expect(clock).to_contain_text("of 4.38 ms")
    assert opened.page.locator(".pl-scene").screenshot() != before


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct"])
def test_the_step_that_is_told_never_goes_back(opened, path):
    """Slices of several steps are on their way at once; the caption told whichever had begun last: 12, 14, 13."""
    opened.open(run(path=path))
    steps = opened.ask(
        """page => Array.from({ length: 101 }, (_, i) => {
             page.player.seek((i / 100) * page.player.length);
             return page.figures.model("scene_words").data.text.map(word => /^step (\\d+) of 14$/.exec(word)?.[1]).find(Boolean) })"""
    )
    numbers = [int(step) for step in steps]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (1, 14)
    assert len(set(numbers)) > 9


WAYS = {
    **{
        status: f"tellKernel('statusChanged', '{status}')"
        for status in ("restarting", "autorestarting", "dead")
    },
    "another kernel": "tellKernel('disposed')",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_page_whose_kernel_has_gone_says_so_and_its_controls_rest(opened, way):
    opened.open(run())
    opened.page.evaluate("tellKernel('statusChanged', 'busy')")
    expect(opened.page.get_by_text(GONE)).to_have_count(0)
    opened.page.evaluate(WAYS[way])
    expect(opened.page.get_by_role("status").filter(has_text=GONE)).to_be_visible()
    expect(opened.page.locator(".pl-cancel")).to_be_hidden()
    for name in ("Critical path", "size", "this machine"):
        expect(opened.page.get_by_role("button", name=name)).to_be_disabled()
    asked = opened.ask("page => page.model.sent.length")
    opened.page.locator(".pl-root").press("h")
    assert opened.ask("page => page.model.sent.length") == asked
    opened.still(0.3)
    at, before = opened.ask("page => page.player.time"), opened.column("scene_trains", "xs")
    opened.page.locator(".pl-next").click()
    assert opened.ask("page => page.player.time") > at
    assert opened.column("scene_trains", "xs") != before  # slices have moved


def test_a_page_that_closes_hears_its_kernel_no_more(opened):
    opened.open(run())
    opened.page.evaluate("closePage()")
    opened.page.evaluate("tellKernel('statusChanged', 'dead')")
    assert opened.page.evaluate("[window.peerlabPages.size, window.Bokeh.documents.length]") == [0, 0]
    expect(opened.page.locator(".pl-root")).to_have_count(0)


def test_units_change_at_a_click(shown):
    shown.page.get_by_role("button", name="Show gigabits per second").click()
    assert "241 Gb/s" in shown.card("busbw")
    focused = "() => document.activeElement.getAttribute('aria-label')"
    assert shown.page.evaluate(focused) == "Show gigabytes per second"  # the keyboard stays where it was
    assert shown.page.locator(".pl-busbw").inner_text() == "Bus bandwidth, Gb/s"
    shown.page.get_by_role("button", name="Show per device").click()
    assert "30.2 Gb/s" in shown.card("busbw")
    shown.page.get_by_role("button", name="Show gigabytes per second").click()
    shown.page.get_by_role("button", name="Show per node").click()
    assert "30.2 GB/s" in shown.card("busbw")


def test_assumed_figures_are_marked_and_listed(shown):
    texts = shown.column("scene_texts", "text")
    assert "HBM †" in texts
    assert any(text.startswith("DRAM †") for text in texts)
    shown.page.locator(".pl-rests summary").click()
    lines = shown.page.locator(".pl-rests li").all_inner_texts()
    assumed = len(peerlab.Scenario().hardware.assumptions)  # with those of its library
    assert sum(line.startswith("†") for line in lines) == assumed
    assert any("PCIe uplink (switch.uplink): 14.1 GB/s" in line and "Source: AWS" in line for line in lines)
    shown.page.locator(".pl-rests summary").click()
