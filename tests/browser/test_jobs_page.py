"""Several jobs on one fabric in a browser: uplinks divided as the trace has it, and who stood in whose way."""

import re

import pytest
from axe_faults import axe_faults
from contrasts import contrast
from overlaps import is_cut
from page_that_plays import resize, seek
from playwright.sync_api import expect

import peerlab
from peerlab.features.neighbours.jobs_page import jobs_page_html
from peerlab.picture.theme import palettes


@pytest.fixture(scope="module")
def shared():
    both = {"compute_ms": 6, "repeats": 4}
    jobs = [{"hosts": [0, 1, 4, 5], "flows": 2, **both}, {"hosts": [2, 3, 6, 7], **both}]
    return peerlab.shared_fabric(jobs, message_bytes="50 MB")


@pytest.fixture
def opened(open_page, shared):
    """Open the page of two jobs."""
    return lambda **options: open_page(jobs_page_html(shared, **options))


def test_an_uplink_is_divided_as_the_trace_has_it(opened, shared):
    page = opened()
    for moment_us in (1000, 10_500, 18_000):
        seek(page, moment_us)
        drawn = page.evaluate(
            "[...peerlabPages][0].scene.pipes.map(({ parts, wide }) => parts.map((part) => Number(part.getAttribute('width')) / wide))"
        )
        # two leaves, out of each and into it
        assert len(drawn) == 4
        now = [
            use
            for use in shared.trace.uses
            if use.link == ("leaf up", 0) and use.start * 10**6 <= moment_us < use.end * 10**6
        ]
        rates = dict(now[0].rates) if now else {}
        assert drawn[0] == pytest.approx([float(rates.get(job, 0)) for job in range(2)], abs=1e-6)


def test_a_host_that_sends_is_filled(opened, shared):
    page = opened()
    seek(page, 1000)
    sends = page.evaluate(
        "[...peerlabPages][0].scene.boxes.filter(({ fill }) => Number(fill.getAttribute('opacity')) > 0).map(({ number }) => number)"
    )
    now = {
        shared.trace.jobs[transfer.job].hosts[transfer.place]
        for transfer in shared.trace.transfers
        if transfer.start * 10**6 <= 1000 < transfer.end * 10**6
    }
    assert set(sends) == now != set()


def test_space_plays_and_arrows_step_to_where_a_collective_begins_or_ends(opened, shared):
    page = opened()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    moments = {
        float(moment * 10**6) for times in (*shared.trace.begins, *shared.trace.ends) for moment in times
    }
    assert page.evaluate("[...peerlabPages][0].player.time") in moments
    page.keyboard.press(" ")
    page.wait_for_function("time => [...peerlabPages][0].player.time > time", arg=0)


def test_a_slide_fills_its_window_and_says_what_it_comes_to(opened, shared):
    page = opened(layout="slide")
    resize(page, 1280, 720)
    expect(page.locator("h1")).to_have_text(shared.finding)
    assert page.evaluate("document.documentElement.scrollHeight") <= 721


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080), (900, 800)])
def test_a_page_fills_its_window(opened, size):
    page = opened()
    resize(page, *size)
    page.wait_for_function(
        """() => { const box = (part) => document.querySelector(part).getBoundingClientRect();
             return box('.ts-source').top - box('.np-strip').bottom < 0.1 * innerHeight }"""
    )
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight + 1")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everybody_can_read_of_jobs(opened, theme):
    page = opened(theme=theme)
    assert axe_faults(page) == []
    expect(page.locator(".np-scene")).to_have_attribute("aria-label", re.compile("Job 1 pays most"))
    for width in (1280, 900, 420):
        resize(page, width, 800)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 390])
def test_sixteen_leaves_have_room(open_page, width):
    jobs = [{"hosts": list(range(0, 64, 4))}, {"hosts": list(range(1, 64, 4))}]
    page = open_page(jobs_page_html(peerlab.shared_fabric(jobs, message_bytes="1 MiB", uplink="0.5")))
    resize(page, width, 800)
    seek(page, 20)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    widths = page.evaluate(
        "[...peerlabPages][0].scene.pipes.flatMap(({ parts, wide }) => [wide, ...parts.map((part) => Number(part.getAttribute('width')))])"
    )
    assert len(widths) == 3 * 32
    # the first leaf says which way its uplinks go: arrows at all of them would be all that one sees
    expect(page.locator('.np-scene path[fill="var(--pl-ink)"]')).to_have_count(2)
    assert min(widths) >= 0


def test_what_hosts_do_at_a_moment_is_told_right_above_the_leaves(opened):
    page = opened()
    key, scene, lanes = (page.locator(part).bounding_box() for part in (".np-key", ".np-scene", ".np-strip"))
    assert key["y"] + key["height"] <= scene["y"]
    assert scene["y"] + scene["height"] <= lanes["y"]
    pairs = page.locator(".np-key .np-pair")
    expect(pairs).to_have_text(["sends", "computes", "waits"])
    # each with a sample: hosts that send have an edge as well as those that wait
    samples = page.locator(".np-key .jb-sample").evaluate_all(
        "all => all.map((one) => getComputedStyle(one)).map(({ borderStyle, backgroundColor }) => [borderStyle, backgroundColor === 'rgba(0, 0, 0, 0)'])"
    )
    assert samples == [["solid", False], ["dashed", True], ["solid", True]]
    shown = "all => all.filter((pair) => pair.checkVisibility({ visibilityProperty: true })).map(({ textContent }) => textContent)"
    for moment_us in (1000, 10_500, 18_000):
        seek(page, moment_us)
        acts = set(
            page.evaluate(
                "[...peerlabPages][0].scene.boxes.map(({ fill, frame }) => Number(fill.getAttribute('opacity')) > 0 ? 'sends' : frame.getAttribute('stroke-dasharray') === 'none' ? 'waits' : 'computes')"
            )
        )
        assert set(pairs.evaluate_all(shown)) == acts, moment_us


@pytest.fixture(scope="module")
def alike():
    both = {"compute_ms": 3, "repeats": 2}
    jobs = [{"hosts": [0, 1, 4, 5], **both}, {"hosts": [2, 3, 6, 7], "offset_ms": 1, **both}]
    return peerlab.shared_fabric(jobs, message_bytes="50 MB")


@pytest.mark.parametrize("width", [1280, 600, 390])
def test_what_holds_for_all_jobs_is_said_once(open_page, alike, width):
    page = open_page(jobs_page_html(alike))
    resize(page, width, 900)
    seek(page, 5000)
    rows = page.locator(".jb-jobs tr")  # of times, not of jobs: they have the same
    time = r"[\d.]+ ms$"
    expect(rows).to_have_text(
        [re.compile(f"^{words}{time}") for words in ("alone", "together", "one begins every")]
    )
    expect(page.locator(".ts-note")).to_have_text("")
    assert page.locator("body").inner_text().count("\u00d7") == 1
    expect(page.locator(".np-key .np-pair", has_text="compute")).to_be_hidden()
    # once, right beside the first leaf's, and no line that looks like a link
    said = page.locator(".jb-cause text").all_text_contents()
    assert " ".join(said) == "bottleneck: all uplinks full"
    assert len(said) == (1 if width == 1280 else 2)
    words = page.locator(".np-scene text").all_text_contents()
    assert len([word for word in words if "full" in word]) == 1
    expect(page.locator(".jb-cause path")).to_have_count(0)
    links = page.evaluate(
        "[...peerlabPages][0].scene.pipes.map(({ frame }) => { const { left, right } = frame.getBoundingClientRect(); return [frame.getAttribute('visibility'), left, right] })"
    )
    assert {visibility for visibility, _, _ in links} == {"visible"}
    for box in (text.bounding_box() for text in page.locator(".jb-cause text").all()):
        assert 0 < box["x"] - links[1][2] < 40  # it floated 180 px from what it names
        assert not [left for _, left, right in links if box["x"] < right and left < box["x"] + box["width"]]


def test_where_the_use_of_the_uplinks_tells_when_each_job_exchanges_no_lanes_say_it_again(open_page, alike):
    page = open_page(jobs_page_html(alike))
    resize(page, 1280, 800)
    expect(page.locator(".np-strip text", has_text="job ")).to_have_text(
        "use of each uplink, by job: all 4 are alike"
    )
    expect(page.locator("text", has_text=re.compile(r"^job \d$"))).to_have_count(
        0
    )  # the key has their names, once
    full = page.locator(".np-strip text", has_text="100 %").bounding_box()
    assert full["x"] + full["width"] < 12 + 48, "no room is kept for names of lanes"


def test_jobs_whose_exchanges_are_slim_in_the_use_of_the_uplinks_have_lanes_with_their_names(open_page):
    jobs = [{"hosts": hosts, "compute_ms": 1, "repeats": 60} for hosts in ([0, 4], [1, 5])]
    page = open_page(jobs_page_html(peerlab.shared_fabric(jobs, message_bytes="50 MB")))
    resize(page, 1280, 800)
    for title in ("job 0", "job 1"):
        expect(page.locator(".np-strip text", has_text=re.compile(f"^{title}"))).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 600, 390])
def test_leaves_begin_where_the_card_and_the_lanes_do_and_end_where_the_page_does(open_page, alike, width):
    page = open_page(jobs_page_html(alike))
    resize(page, width, 900)
    card = page.locator(".np-hero").bounding_box()
    spine, lanes = (page.locator(part).bounding_box() for part in (".np-scene rect >> nth=0", ".np-strip"))
    hosts = page.evaluate(
        "[...peerlabPages][0].scene.boxes.map(({ frame }) => frame.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    )
    assert [spine["x"], lanes["x"]] == pytest.approx([card["x"]] * 2, abs=1)
    ends, page_end = [box["x"] + box["width"] for box in (spine, lanes)], width - card["x"]
    assert ends == pytest.approx([page_end] * 2, abs=1)
    assert min(left for left, _ in hosts) >= card["x"]
    assert max(right for _, right in hosts) <= page_end
    # as on the pages of neighbours and transports: a card, and beside it or below it a table as long as the page
    table = page.locator(".np-scroll").bounding_box()
    assert table["x"] + table["width"] == pytest.approx(page_end, abs=1)
    beside = width == 1280
    assert table["x"] == pytest.approx(card["x"] + (card["width"] + 14 if beside else 0), abs=1)
    assert card["width"] == pytest.approx(
        0.27 * (page_end - card["x"]) - 14 if beside else page_end - card["x"], abs=1
    )


def test_bars_of_times_are_as_long_as_they_say(open_page, alike):
    page = open_page(jobs_page_html(alike))
    resize(page, 1280, 900)
    times = [float(words.split()[0]) for words in page.locator(".jb-jobs td").all_text_contents()]
    bars = [bar.bounding_box()["width"] for bar in page.locator(".jb-jobs .np-bar i").all()]
    assert [bar / max(bars) for bar in bars] == pytest.approx([time / max(times) for time in times], rel=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_job_has_one_tint_in_the_whole_page(opened, theme):
    """In the dark hosts, on a leaf, were another blue than uplinks, on the page."""
    page = opened(theme=theme)
    seek(page, 1000)
    tints = page.evaluate(
        """() => { const { data: { jobs: [{ role }] } } = [...peerlabPages][0], parts = [...document.querySelectorAll('.jb-root svg rect')];
             return parts.filter((part) => part.getAttribute('fill').includes(`(--pl-${role})`) && Number(part.getAttribute('height')) > 10)
               .map((part) => [getComputedStyle(part).fill, getComputedStyle(part).fillOpacity, part.getAttribute('stroke')].join(' ')) }"""
    )
    assert len(tints) > 8
    assert len(set(tints)) == 1


@pytest.mark.parametrize("width", [1280, 600])
def test_moments_of_the_axis_stand_at_their_ticks_and_end_where_the_lanes_do(opened, width):
    page = opened()
    resize(page, width, 900)
    ticks = page.locator('.np-strip path[stroke="var(--pl-edge)"]').evaluate_all(
        "all => all.map((tick) => tick.getBoundingClientRect().left)"
    )
    names = page.locator(".np-strip text", has_text=re.compile("^0$|ms$"))
    boxes = [name.bounding_box() for name in names.all()]
    strip = page.locator(".np-strip").bounding_box()
    right = strip["x"] + strip["width"]
    for tick, box in zip(ticks, boxes, strict=True):
        assert box["x"] + box["width"] / 2 == pytest.approx(min(tick, right - box["width"] / 2), abs=1.5)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_jobs_have_hues_that_stand_out_from_their_ground_and_words_on_them_are_read(opened, theme):
    """Two greys told them apart, the pale one at 1.66 to 1."""
    page = opened(theme=theme)
    seek(page, 1000)
    colours = palettes()[theme]
    first, second = page.evaluate("[...peerlabPages][0].data.jobs.map(({ role }) => role)")[:2]
    parts = page.evaluate(
        "[...peerlabPages][0].scene.pipes.map(({ parts }) => parts.slice(0, 2).map((part) => [getComputedStyle(part).fill, part.getAttribute('stroke')]))"
    )
    assert all(edge is None for uplink in parts for _, edge in uplink)  # orange is the one edge there
    tints = [_hex(fill) for fill, _ in parts[0]]
    assert contrast(*tints) > 1.1  # where they meet they differ in more than their hue
    assert contrast(colours[first], colours[second]) > 1.5
    assert min(contrast(colours[role], colours["paper"]) for role in (first, second)) >= 3  # of key and feet
    boxes = page.evaluate(
        """[...peerlabPages][0].scene.boxes.map(({ frame, fill, words }) => [Number(fill.getAttribute('opacity')),
             ...[frame, fill, words].map((part, i) => getComputedStyle(part)[i ? 'fill' : 'stroke'])])"""
    )
    told = [
        (_hex(frame), _hex(fill) if filled else colours["box"], _hex(words))
        for filled, frame, fill, words in boxes
    ]
    assert {fill for _, fill, _ in told} > {colours["box"]}
    # an area is pale: four of full colour, a slab 1200 px wide and six hosts outshone the headline
    assert all(contrast(colours["ink"], fill) >= 5 for _, fill, _ in told)
    for frame, fill, words in told:
        assert contrast(frame, colours["panel"]) >= 3  # of a leaf
        assert contrast(words, fill) >= 4.5


def test_words_on_each_of_eight_jobs_are_read(open_page):
    jobs = [{"hosts": [number, 8 + number]} for number in range(8)]
    for theme in ("light", "dark"):
        page = open_page(
            jobs_page_html(peerlab.shared_fabric(jobs, message_bytes="1 MiB", leaf=8), theme=theme)
        )
        seek(page, 1)
        drawn = page.evaluate(
            """[...peerlabPages][0].scene.boxes.filter(({ fill }) => fill.getAttribute('opacity') === '1').map(({ frame, fill, words }) =>
                 [getComputedStyle(frame).stroke, getComputedStyle(fill).fill, getComputedStyle(words).fill])"""
        )
        assert len({fill for _, fill, _ in drawn}) == 8
        for frame, fill, words in drawn:
            assert contrast(_hex(frame), palettes()[theme]["panel"]) >= 3
            assert contrast(_hex(fill), _hex(words)) >= 4.5


def _hex(colour):
    """Return a colour that a browser computed, as the palette has it."""
    most = 255 if colour.startswith("color(") else 1  # of colours that are mixed parts of 1
    return "#" + "".join(f"{round(most * float(part)):02X}" for part in re.findall(r"[\d.]+", colour)[:3])


def test_whose_a_host_is_its_colour_says_at_every_moment_and_the_axis_has_moments(opened):
    """Names stood below the first leaf alone, and the other one had an empty strip."""
    page = opened()
    names = page.locator("text", has_text=re.compile("^job [01]$"))
    expect(page.locator(".np-scene").locator(names)).to_have_count(0)
    expect(page.locator(".np-key", has_text="job")).to_have_count(0)  # the table is their key
    roles = page.evaluate("[...peerlabPages][0].scene.boxes.map(({ role }) => `var(--pl-${role})`)")
    for moment_us in (1000, 10_500):
        seek(page, moment_us)
        feet = page.locator(".np-scene .jb-foot")
        assert feet.evaluate_all("all => all.map((one) => one.getAttribute('fill'))") == roles
    assert page.locator(".np-strip text", has_text=re.compile("^0$|ms$")).count() >= 3


@pytest.mark.parametrize("width", [1280, 600, 390])
def test_without_a_table_the_key_above_the_leaves_has_the_jobs_and_no_blank_row(open_page, alike, width):
    page = open_page(jobs_page_html(alike))
    resize(page, width, 900)
    pairs = page.locator(".np-key .np-pair")
    assert pairs.all_text_contents()[:2] == ["job 0", "job 1"]
    feet = page.locator(".jb-foot").evaluate_all("all => all.map((foot) => getComputedStyle(foot).fill)")
    signs = page.locator(".np-key .jb-job").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).borderTopColor)"
    )
    assert signs == list(dict.fromkeys(feet))
    shown = page.locator(".np-key .np-pair").evaluate_all(
        "all => all.filter((one) => one.checkVisibility({ visibilityProperty: true })).map((one) => one.getBoundingClientRect().bottom)"
    )
    key = page.locator(".np-key").bounding_box()
    assert key["y"] + key["height"] - max(shown) < 4
    sizes = page.locator(".np-scene text").evaluate_all(
        "all => all.map((one) => [one.textContent, parseFloat(getComputedStyle(one).fontSize)])"
    )
    assert min(size for _, size in sizes) >= (14 if width == 1280 else 13)
    assert {size for words, size in sizes if words.isdigit()} == {14}


def test_two_leaves_leave_no_third_of_the_page_empty_between_them(opened):
    page = opened()
    left, right = page.evaluate(
        "[...peerlabPages][0].scene.boxes.map(({ frame }) => frame.getBoundingClientRect()).reduce(([left, right], box, i) => [i === 3 ? box.right : left, i === 4 ? box.left : right], [0, 0])"
    )
    assert right - left < 1280 / 5


def test_hosts_of_a_leaf_stand_in_rows_of_one_length(open_page):
    jobs = [{"hosts": [0, 1, 6, 7]}, {"hosts": [2, 3, 8, 9]}, {"hosts": [4, 5, 10, 11]}]
    page = open_page(jobs_page_html(peerlab.shared_fabric(jobs, message_bytes="1 MiB")))
    resize(page, 600, 1000)
    rows = page.evaluate(
        "Object.values(Object.groupBy([...peerlabPages][0].scene.boxes, ({ frame }) => frame.getAttribute('y'))).map(({ length }) => length)"
    )
    assert len(set(rows)) == 1


@pytest.mark.parametrize("width", [1280, 900, 600])
def test_a_table_of_jobs_is_not_cut(opened, width):
    page = opened()
    resize(page, width, 900)
    assert not is_cut(page, ".np-scroll")


@pytest.mark.parametrize("width", [1280, 600, 390])
def test_the_moment_crosses_no_words(opened, shared, width):
    page = opened()
    resize(page, width, 900)
    seek(page, float(shared.trace.end) * 10**6 * 0.1)
    crossed = page.evaluate(
        """() => { const line = [...document.querySelectorAll('.np-strip line')].at(-1).getBoundingClientRect();
             return [...document.querySelectorAll('.np-strip text')].filter((text) => { const box = text.getBoundingClientRect();
               return box.left < line.left && line.left < box.right && box.bottom > line.top + 2 && box.top < line.bottom }).map(({ textContent }) => textContent) }"""
    )
    assert crossed == []


@pytest.mark.parametrize("width", [1280, 600])
def test_where_jobs_fill_an_uplink_its_use_says_so_and_names_of_its_ends_stand_at_them(
    open_page, alike, width
):
    """Blocks of 190 px were the loudest of the page, and nothing in them was the bottleneck."""
    page = open_page(jobs_page_html(alike))
    resize(page, width, 900)
    expect(page.locator(".np-strip text", has_text="full and shared")).to_have_count(1)
    expect(page.locator("text", has_text="bottleneck")).to_have_count(1)  # at the uplinks
    full = page.locator('.np-strip rect[fill="var(--pl-hot)"][shape-rendering]')  # not that of its name
    link = alike.trace.uses[0].link
    uses = [use for use in alike.trace.uses if use.link == link]
    both = sum(use.end - use.start for use in uses if len(dict(use.rates)) > 1)
    ground = page.locator(".jb-ground").last.bounding_box()
    marked = sum(mark.bounding_box()["width"] for mark in full.all())
    assert marked / ground["width"] == pytest.approx(
        float(both / max(use.end for use in alike.trace.uses)), abs=0.01
    )
    assert ground["height"] < 900 / 5
    for words, end in (("100 %", ground["y"]), ("0 %", ground["y"] + ground["height"])):
        name = page.locator(f".np-strip text:text-is('{words}')").bounding_box()
        assert name["y"] + name["height"] / 2 == pytest.approx(end, abs=2)


@pytest.mark.parametrize("width", [1280, 600])
def test_an_arrow_beside_each_uplink_says_which_way_it_goes(open_page, alike, width):
    """Heads at its ends lay upon the seam of two colours, and looked like a part of what is sent."""
    page = open_page(jobs_page_html(alike))
    resize(page, width, 900)
    arrows = page.locator('.np-scene path[fill="var(--pl-ink)"]').evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    )
    links = page.evaluate(
        "[...peerlabPages][0].scene.pipes.map(({ out, frame }) => { const { left, right } = frame.getBoundingClientRect(); return [out, left, right] })"
    )
    for (left, right), (out, from_, to) in zip(arrows, links, strict=True):
        assert right < from_ if out else left > to
    expect(page.locator(".np-scene text:text-is('uplinks')")).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 900, 600])
def test_the_name_of_a_leaf_keeps_away_from_the_edges_of_uplinks_and_a_chart_begins_with_the_page(
    opened, width
):
    """The edges touched the name, and the chart's words stood right of those of its axis."""
    page = opened()
    resize(page, width, 900)
    foot = page.evaluate(
        "Math.max(...[...peerlabPages][0].scene.pipes.map(({ frame }) => frame.getBoundingClientRect().bottom))"
    )
    assert page.locator("text:text-is('leaf 0')").bounding_box()["y"] - foot >= 4
    left = page.locator(".np-hero").bounding_box()["x"]
    words = page.locator(".np-strip text").first.bounding_box()["x"]
    assert words == pytest.approx(left, abs=1)
