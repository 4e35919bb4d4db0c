"""Transports side by side in a browser: bars on one clock, the slices of those that somebody chose, and the state in the address."""

import re
from itertools import pairwise

import pytest
from axe_faults import axe_faults
from page_that_plays import resize, seek_ps
from playwright.sync_api import expect

import peerlab
from peerlab.answer.race import delivery
from peerlab.base.units import say_time
from peerlab.features.fabrics.fabrics_page import fabrics_page_html
from peerlab.study.fabric_comparison import compare_fabrics


@pytest.fixture(scope="module")
def comparison():
    return compare_fabrics(peerlab.Scenario(cluster="ideal-100g", message_bytes="1 MiB"))


@pytest.fixture
def opened(open_page, comparison):
    """Open the page of all transports."""
    return lambda **options: open_page(fabrics_page_html(comparison, **options))


def test_bars_are_played_up_to_the_clock_and_shares_are_those_of_the_runs(opened, comparison):
    page = opened()
    moment = comparison.transports[0].run.time_ps * 0.6
    seek_ps(page, moment)
    played, whole = page.evaluate(
        "[...peerlabPages].map((one) => [Number(one.reached.getAttribute('width')), one.x(one.data.end_us) - one.x(0)])[0]"
    )
    assert played == pytest.approx(whole * moment / comparison.transports[-1].run.time_ps, abs=0.01)
    shares = page.evaluate("[...peerlabPages][0].bars.map(({ share }) => share.textContent)")
    for one, says in zip(comparison.transports, shares, strict=True):
        delivered = delivery(one.run)
        assert int(says[:-2]) == pytest.approx(100 * delivered.at(moment) / delivered.total, abs=1.01), (
            one.name
        )
    for done in page.locator(".fb-done").all():
        expect(done).to_be_hidden()  # the share stands at the bar
    seek_ps(page, comparison.transports[-1].run.time_ps)
    assert set(page.evaluate("[...peerlabPages][0].bars.map(({ share }) => share.textContent)")) == {"100 %"}


def test_the_fastest_and_the_slowest_show_their_slices_and_others_do_when_they_are_ticked(opened, comparison):
    page = opened()
    titles = [one.title for one in comparison.transports]
    expect(page.locator(".fb-road h2")).to_have_text([titles[0], titles[-1]])
    for title in titles[1:3]:
        page.get_by_role("checkbox", name=title).check()
    expect(page.locator(".fb-road h2")).to_have_text([*titles[:3], titles[-1]])
    expect(page.get_by_role("checkbox", name=titles[3])).to_be_disabled()  # four are shown
    for title in titles[:3]:
        page.get_by_role("checkbox", name=title).uncheck()
    expect(page.get_by_role("checkbox", name=titles[-1])).to_be_disabled()  # the last one stays
    expect(page.locator(".fb-road h2")).to_have_text([titles[-1]])


def test_the_gap_is_what_the_faster_one_has_delivered_more(opened, comparison):
    page, (fast, *_, slow) = opened(), comparison.transports
    moment = slow.run.time_ps * 0.7
    seek_ps(page, moment)
    first, last = delivery(fast.run), delivery(slow.run)
    gap = first.at(moment) / first.total * last.total - last.at(moment)
    words = page.locator(".fb-gap").last.text_content()
    assert words.endswith(f"behind {fast.title}")
    amount, unit = words.split()[:2]
    assert float(amount) * {"KiB": 2**10, "MiB": 2**20}[unit] == pytest.approx(gap, rel=0.01)
    seek_ps(page, slow.run.time_ps)
    expect(page.locator(".fb-gap").last).to_have_text(re.compile("^through after "))


def test_space_plays_and_arrows_step_to_where_bytes_arrive(opened):
    page = opened()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[...peerlabPages][0].player.time") > 0
    page.keyboard.press(" ")
    page.wait_for_function("time => [...peerlabPages][0].player.time > time", arg=0)


def test_the_address_has_what_was_chosen_and_a_link_shows_it_again(opened):
    page = opened()
    assert page.evaluate("location.hash") == ""
    page.get_by_role("checkbox", name="RoCE v2").check()
    seek_ps(page, 50e6)
    page.wait_for_function("() => location.hash.includes('show=')")
    page.get_by_role("button", name="Step to the next event").click()
    page.wait_for_function(
        "() => Math.abs(new URLSearchParams(location.hash.slice(1)).get('at') - [...peerlabPages][0].player.time) < 1e-3"
    )
    link, time = page.evaluate("[location.hash, [...peerlabPages][0].player.time]")
    page.goto(page.url.split("#")[0])
    page.goto(page.url.split("#")[0] + link)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    expect(page.get_by_role("checkbox", name="RoCE v2")).to_be_checked()
    assert page.evaluate("[...peerlabPages][0].player.time") == pytest.approx(time, abs=1e-3)
    page.evaluate("location.hash = 'show=roce,tcp&at=never&colour=red'")
    expect(page.get_by_role("status")).to_have_text(
        "The link asks for at=never, colour=red, which this page does not hold."
    )
    expect(page.locator(".fb-road h2")).to_have_count(2)


def test_a_slide_fills_its_window_and_says_what_it_comes_to(opened):
    page = opened(layout="slide")
    resize(page, 1280, 720)
    expect(page.locator("h1")).to_have_text(re.compile(r"takes \d\.\d\d times as long as"))
    assert page.evaluate("document.documentElement.scrollHeight") <= 721
    foot = page.evaluate("document.querySelector('.ts-source').getBoundingClientRect().bottom")
    assert foot > 680  # nothing is left empty below, and no words are small for it
    assert page.evaluate("Number(getComputedStyle(peerlabPages.values().next().value.root).zoom)") >= 1


def test_nothing_rolls_for_who_asks_for_less_motion(opened):
    page = opened()
    assert page.evaluate(
        "[...peerlabPages][0].calm && !document.getAnimations().length && ![...peerlabPages][0].player.wanted"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_of_transports(opened, theme):
    page = opened(theme=theme)
    assert axe_faults(page) == []
    expect(page.locator(".fb-bars")).to_have_attribute("aria-label", re.compile("The slowest takes"))
    for width in (1920, 1280, 900, 600, 420):
        resize(page, width, 800)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 960, 740, 320])
def test_a_transports_name_and_figures_have_room_in_the_table(open_page, width):
    """Columns alike cut the last heading, and a name lay on its latency."""
    page = open_page(fabrics_page_html(compare_fabrics(peerlab.Scenario(cluster="dl1", nodes=2))))
    resize(page, width, 800)
    cut = page.locator(".np-head .np-fabrics :is(th, td)").evaluate_all(
        "all => all.filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.textContent)"
    )
    assert cut == []


def test_colours_of_the_data_path_have_their_key_and_time_has_none_of_them(open_page):
    scenario = peerlab.Scenario(cluster="dl1", path="host-rdma", message_bytes="1 MiB", nodes=2)
    page = open_page(fabrics_page_html(compare_fabrics(scenario)))
    expect(page.locator(".fb-path .np-pair")).to_have_text(
        ["copy to host memory or back", "NIC to NIC, through host memory"]
    )
    in_key = set(page.locator(".fb-path i").evaluate_all("all => all.map(({ style }) => style.background)"))
    in_bars = page.locator(".fb-bars rect").evaluate_all("all => all.map((one) => one.getAttribute('fill'))")
    assert in_key == {"var(--pl-copy)", "var(--pl-network)"}
    assert not in_key & set(in_bars)


def test_transports_that_are_alike_have_the_player_alone_and_the_table_has_what_they_differ_in(open_page):
    scenario = peerlab.Scenario(cluster="dl1", path="host-rdma", nodes=8)
    page = open_page(fabrics_page_html(compare_fabrics(scenario)))
    expect(page.locator(".np-hero h2")).to_have_text("Both transports take")
    # bars would be the player's once more, and a line said with it the same time twice
    expect(page.locator(".fb-bars")).to_be_hidden()
    expect(page.locator(".fb-bars > *")).to_have_count(0)
    # in the order of the pages beside it: what plays, what it comes to, the path
    tops = [page.locator(part).bounding_box()["y"] for part in ("h1", ".ts-bar", ".np-head", ".fb-roads")]
    assert tops == sorted(tops)
    expect(page.locator(".fb-time").first).to_be_hidden()
    expect(page.locator(".fb-road h2")).to_have_text("EFA (SRD) and ideal")
    # time and limit stand in the headline, and once
    expect(page.locator(".np-head thead th")).to_have_text(
        ["transport", "latency", "MTU", "goodput", "messages of a NIC"]
    )
    expect(page.locator(".np-head")).to_have_text(re.compile("^(?!.*PCIe to host.*PCIe to host)"))
    # there is one road, so nothing is chosen, and a third row says how far the two are apart
    expect(page.get_by_role("checkbox")).to_have_count(0)
    expect(page.locator(".np-head caption")).to_be_hidden()
    efa, ideal, apart = (
        row.locator("td").all_text_contents() for row in page.locator(".np-head tbody tr").all()
    )
    number = [
        [float(figure.split()[0].replace(",", "")) for figure in row[::2]] for row in (efa, ideal, apart)
    ]
    assert number[2] == pytest.approx(
        [abs(one - other) for one, other in zip(*number[:2], strict=True)], abs=0.01
    )
    assert [figure.split()[-1] for figure in apart] == ["µs", "-", "%", "/s"]


def test_the_only_transport_that_is_shown_stays_and_does_not_look_as_if_it_were_not(opened, comparison):
    page = opened()
    page.get_by_role("checkbox", name=comparison.transports[-1].title).uncheck()
    shown = page.get_by_role("checkbox", name=comparison.transports[0].title)
    expect(shown).to_have_attribute("aria-disabled", "true")
    assert shown.evaluate("box => !box.disabled")
    shown.click(force=True)
    expect(shown).to_be_checked()


def test_words_of_a_path_by_itself_are_larger(open_page):
    """What limits was a word of 12 px on a page that had room."""
    scenario = peerlab.Scenario(cluster="dl1", path="host-rdma", nodes=8)
    page = open_page(fabrics_page_html(compare_fabrics(scenario)))
    resize(page, 1280, 800)
    words = page.locator(".fb-road text", has_text="PCIe to host")
    assert float(words.first.get_attribute("font-size") or 0) >= 14
    sizes = page.locator(".fb-alike :is(h2, p, td, th, summary)").evaluate_all(
        "all => all.filter((one) => one.checkVisibility()).map((one) => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 13


@pytest.mark.parametrize("width", [1280, 600])
def test_the_name_of_a_place_is_no_part_of_what_was_delivered(open_page, width):
    """With 8 pixels between them one read "32 % delivered host memory"."""
    scenario = peerlab.Scenario(cluster="dl1", path="host-rdma", nodes=8)
    page = open_page(fabrics_page_html(compare_fabrics(scenario)))
    resize(page, width, 800)
    done, name = (
        page.locator(part).first.bounding_box()
        for part in (".fb-done", ".fb-road text:text-is('host memory')")
    )
    assert name["y"] - done["y"] - done["height"] >= 12 - 1


@pytest.mark.parametrize("height", [640, 800, 1400])
def test_a_path_by_itself_takes_what_its_window_has_and_its_hills_are_no_mountains(open_page, height):
    """Of a window of 800 pixels a third was blank below a path of 270."""
    scenario = peerlab.Scenario(cluster="dl1", path="host-rdma", nodes=8)
    page = open_page(fabrics_page_html(compare_fabrics(scenario)))
    resize(page, 1280, height)
    first, top, foot = page.evaluate(
        "[...peerlabPages].map(({ roads }) => roads.get(0).road).map((road) => [road.host.getBoundingClientRect().left + road.x(0), road.y(1), road.y(0)])[0]"
    )
    assert first < 120
    assert 90 < foot - top < 200
    assert page.locator(".fb-road").bounding_box()["height"] == pytest.approx(
        {640: 290}.get(height, 359.2), abs=1
    )
    assert page.evaluate("document.documentElement.scrollHeight") <= height


@pytest.mark.parametrize("width", [1280, 390])
def test_each_hill_on_which_the_bottleneck_works_is_named_where_there_is_room(open_page, width):
    """The first one had an orange frame without a word."""
    page = open_page(
        fabrics_page_html(compare_fabrics(peerlab.Scenario(cluster="dl1", path="host-rdma", nodes=8)))
    )
    resize(page, width, 800)
    words = page.locator(".fb-road text", has_text="PCIe to host")
    expect(words).to_have_count(2 if width == 1280 else 1)
    expect(page.locator(".fb-road text", has_text="95 % busy")).to_have_count(1)


def test_figures_of_transports_that_are_alike_stand_near_their_names(open_page):
    """Columns were 200 pixels apart."""
    page = open_page(
        fabrics_page_html(compare_fabrics(peerlab.Scenario(cluster="dl1", path="host-rdma", nodes=8)))
    )
    resize(page, 1280, 800)
    words = page.locator(".np-head thead th").evaluate_all(
        "all => all.map((cell) => { const range = document.createRange(); range.selectNodeContents(cell); const { left, right } = range.getBoundingClientRect(); return [left, right] })"
    )
    assert len(words) == 5
    assert max(later - right for (_, right), (later, _) in pairwise(words)) < 80


def test_the_card_says_once_how_far_apart_transports_are(opened, comparison):
    page = opened()
    assert comparison.finding.startswith("The slowest takes")
    expect(page.locator(".np-hero .ts-note")).to_have_text("By header bytes and latency alone.")
    # seven lines of it stood in the card
    why = page.locator(".fb-why")
    expect(why.locator("p")).to_be_hidden()
    why.locator("summary").click()
    expect(why.locator("p")).to_have_text(
        re.compile(r"^Every port has one sender.* acts\. Ideal has no headers")
    )


@pytest.mark.parametrize("width", [1280, 900])
def test_ways_are_as_high_as_they_need_and_begin_and_end_where_bars_may(opened, width):
    """At 900 pixels they floated in cards of 200 px, and one had its words above, the other below."""
    page = opened()
    resize(page, width, 1000)
    assert all(card.bounding_box()["height"] <= 112 for card in page.locator(".fb-road").all())
    bars, ways = page.evaluate(
        """[...peerlabPages].map((one) => { const [[first], ends] = [one.find('.fb-bars').getBoundingClientRect(), [one.x(0), one.x(one.data.end_us)]].map((part) => part.length ? part : [part.left]);
             return [ends.map((x) => first + x), [...one.roads.values()].map(({ road }) => [0, 1].map((part) => road.host.getBoundingClientRect().left + road.x(part)))] })[0]"""
    )
    for way in ways:
        assert way == pytest.approx(bars, abs=1)
    for card in page.locator(".fb-road").all():
        stop = card.locator("circle").first.bounding_box()
        assert all(
            sign.bounding_box()["y"] > stop["y"] + stop["height"] for sign in card.locator(".rc-sign").all()
        )


def test_what_limits_has_one_name_in_the_table_and_at_the_way_and_shares_have_a_heading(opened):
    """The table said *NIC send*, the way *wire 93 % busy*, and a column of other per cents stood above it."""
    page = opened()
    for title in ("InfiniBand", "EFA (SRD)"):
        limit = page.locator(".np-head tbody tr", has_text=title).locator("td").last.text_content()
        card = page.locator(".fb-road", has=page.get_by_role("heading", name=title))
        expect(card.locator(".rc-sign").first).to_have_text(limit or "")
    expect(page.locator(".fb-bars text:text-is('delivered')")).to_have_count(1)


def test_what_is_delivered_fills_a_bar_and_headers_are_a_solid_end(opened):
    """A line in a bar had an axis that nothing named, and a hatch of 3 pixels was not seen."""
    page = opened()
    resize(page, 1280, 800)
    bars, filled, headers = (
        [box.bounding_box() for box in page.locator(f".np-row {part}").all()]
        for part in ("rect:first-child", 'path[fill="var(--fb-filled)"]', ".fb-header")
    )
    for bar, full in zip(bars, filled, strict=False):
        assert [full["x"], full["y"] + full["height"]] == pytest.approx(
            [bar["x"], bar["y"] + bar["height"]], abs=1
        )
        assert full["y"] == pytest.approx(bar["y"], abs=3)
    fills = page.locator(".fb-header").evaluate_all("all => all.map((one) => getComputedStyle(one).fill)")
    assert len(set(fills)) == 1
    assert fills[0].startswith("rgb")
    assert max(box["width"] for box in headers) > 3


def test_at_900_pixels_the_card_and_the_table_have_a_row_each(opened):
    """The card took half the row, and the table was squeezed beside it; as beside neighbours and of jobs."""
    page = opened()
    resize(page, 900, 1000)
    card, table = (page.locator(part).bounding_box() for part in (".np-hero", ".np-scroll"))
    assert table["y"] >= card["y"] + card["height"]
    assert [card["width"], table["width"]] == pytest.approx([876, 876], abs=1)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_transports_time_stands_at_the_end_of_its_bar_and_nowhere_else(opened, comparison, width):
    """A column of the table said all bars again, right above them and in their order."""
    page = opened()
    resize(page, width, 900)
    expect(page.locator(".np-head thead th")).to_have_text(["transport", "latency", "goodput", "limited by"])
    expect(page.locator(".fb-took")).to_have_text(
        [say_time(one.run.time_ps) for one in comparison.transports]
    )
    rows = [page.locator(part).all() for part in (".fb-took", ".np-row > g:first-child rect")]
    shares = page.evaluate("[...peerlabPages][0].bars.map(({ share }) => share.getBoundingClientRect().left)")
    for time, bar, share in zip(*rows, shares, strict=True):
        [left, wide], end = (time.bounding_box()[part] for part in ("x", "width")), bar.bounding_box()
        assert 2 < left - end["x"] - end["width"] < 8  # with the edge of its letters
        assert left + wide < share - 4


def test_a_slice_that_has_just_left_a_nic_is_seen_beside_its_circle(opened):
    """At 900 pixels it lay below the circle, and the way of the slower transport was empty."""
    page = opened()
    resize(page, 900, 1000)
    page.evaluate("[...peerlabPages].forEach(({ player }) => player.seek(0.43 * player.length))")
    train = page.locator(".fb-road").last.locator("path[stroke-width='9']:not([visibility=hidden])")
    expect(train).to_have_count(1)
    assert train.get_attribute("stroke-dashoffset") == "-8"
