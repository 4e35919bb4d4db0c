"""A training step in a browser: lanes, the bucket that is followed, and the data path below, on one clock."""

import itertools
import json
import re
from functools import cache
from html import escape

import pytest
from axe_faults import axe_faults
from page_that_plays import resize, seek
from PIL import Image
from playwright.sync_api import expect

import peerlab
from peerlab.base.units import say_time
from peerlab.features.export.video import frames
from peerlab.features.step.step_page import played_html, runs_frame, step_page_html
from peerlab.features.step.step_parcel import headline_of
from peerlab.training.step_band import step_gain
from peerlab.training.step_picture import lanes_of


@cache
def host():
    return peerlab.step(workload="resnet50", batch=32, path="host-tcp", library="none")


@cache
def peer():
    return host().answer(host().step.with_(path="peer-direct"))


def await_drawn(page, drawing):
    """Wait until a drawing is as wide as its place: it is drawn anew in the frames after a change of the window."""
    page.wait_for_function(
        "drawing => { const svg = document.querySelector(drawing); return svg.viewBox.baseVal.width === svg.clientWidth; }",
        arg=drawing,
    )


@pytest.fixture
def opened(open_page):
    """Open the page of two steps."""
    return lambda **options: open_page(step_page_html([host(), peer()], **options))


def test_the_road_below_is_that_of_the_bucket_under_way(opened):
    page = opened()
    for number, one in enumerate(host().trace.placed):
        seek(page, (one.begin_ps + one.end_ps) / 2e6)
        # list and outline are of one exchange
        expect(page.locator(".ts-bucket option:checked")).to_contain_text(f"Bucket {number + 1}, allreduce")
        box, outline = (
            page.locator(mark).first.bounding_box() for mark in (f"[data-exchange='{number}']", ".ts-chosen")
        )
        assert outline["x"] < box["x"] + 1 < outline["x"] + 6
    seek(page, 0)
    expect(page.locator(".ts-road p")).to_contain_text("waits for its gradients")


def test_on_one_clock_the_road_says_which_bucket_of_its_path_is_under_way_at_this_moment(opened):
    """The two paths are at different buckets then, and each says its own (N5), in the list of buckets, too."""
    page = opened()
    middle = 0.4 * max(host().time_ps, peer().time_ps) / 1e6
    seek(page, middle)
    for choice, run in zip(page.locator(".ts-path label").all(), (host(), peer()), strict=True):
        choice.click()
        ink = choice.evaluate("label => getComputedStyle(label).color")
        expect(page.locator(".ts-road p")).to_have_css("color", ink)  # its name stands at its lane
        number = sum(exchange.begin_ps <= 1e6 * middle for exchange in run.trace.placed)
        expect(page.locator(".ts-bucket")).to_have_value(str(max(1, number) - 1))
        assert page.locator(".ts-road svg").get_attribute("aria-label").startswith(choice.inner_text())
    page.locator("[data-exchange='3']").first.click()
    expect(page.locator(".ts-bucket option:checked")).to_contain_text(re.compile("^Bucket 4, "))


def test_the_path_whose_road_is_shown_is_chosen_at_its_lane(opened):
    """It was chosen by a second switch in the card of the bucket, beside that of the clock."""
    page = opened()
    names, road, outline = (
        page.locator(".ts-path input"),
        page.locator(".ts-road svg"),
        page.locator(".ts-chosen"),
    )
    lanes = page.locator(".ts-lanes rect[fill='var(--pl-panel)']").all()
    expect(outline).to_have_count(1)

    def is_shown(number, title):
        expect(names.nth(number)).to_be_checked()
        expect(road).to_have_attribute("aria-label", re.compile(f"^{title}: "))
        frame, lane = (one.bounding_box() for one in (outline, lanes[number]))
        assert lane["y"] < frame["y"] < frame["y"] + frame["height"] < lane["y"] + lane["height"]

    is_shown(0, "kernel TCP")
    names.first.focus()
    page.keyboard.press("ArrowDown")
    is_shown(1, "Peer Direct")
    lanes[0].click(position={"x": 5, "y": 5})
    expect(names.first).to_be_checked()
    page.locator("[data-side='1'][data-exchange='3']").click()
    is_shown(1, "Peer Direct")
    # each name stands above its lane, where words above lanes stand
    for name, lane in zip(page.locator(".ts-path label").all(), lanes, strict=True):
        words, box = name.bounding_box(), lane.bounding_box()
        assert words["x"] == pytest.approx(box["x"], abs=1)
        assert words["y"] + words["height"] == pytest.approx(box["y"], abs=1)


def test_a_click_on_a_bucket_gives_it_the_clock(opened):
    page = opened()
    page.locator("[data-exchange='3']").first.click()
    expect(page.locator(".ts-root")).to_have_attribute("data-zoom", "bucket")
    length = page.evaluate("[...peerlabPages][0].player.length")
    assert length == pytest.approx(host().trace.placed[3].run.time_ps / 1e6)
    seek(page, length)
    expect(page.locator(".ts-bucket option:checked")).to_have_text("Bucket 4, allreduce of 25.3 MiB")
    expect(page.locator(".ts-road p")).to_contain_text("done after")
    page.keyboard.press("n")
    expect(page.locator(".ts-bucket")).to_have_value("4")
    page.keyboard.press("s")
    assert page.evaluate("[...peerlabPages][0].player.length") == pytest.approx(host().time_ps / 1e6)


def test_overlap_off_shows_the_detour(opened):
    page = opened()
    lanes, apart = page.locator(".ts-lanes"), host().answer(host().step.with_(overlap=False))
    expect(lanes).to_contain_text(f"devices wait {1e3 * host().exposed_s:.3g} ms")
    expect(page.locator(".ts-key-pause")).to_have_text("devices wait (exposed)")
    page.get_by_label("overlap").select_option("off")
    expect(lanes).to_contain_text(f"devices wait {1e3 * apart.exposed_s:.3g} ms")


def test_it_begins_with_what_the_step_gains_at_the_exposed_exchange(opened):
    page = opened()
    expect(page.locator(".ts-hero")).to_contain_text(f"{peer().gain(host()):.2f}\u00d7 as fast")
    last = peer().trace.placed[-1]
    here = page.evaluate("[...peerlabPages][0].player.time")
    assert here == pytest.approx((last.begin_ps + last.end_ps) / 2e6)
    curve = page.locator(".ts-gain svg")
    at_16 = peer().answer(peer().step.with_(batch=16)).gain(host().answer(host().step.with_(batch=16)))
    expect(curve).to_have_attribute("aria-label", re.compile(rf"16: {at_16:.2f} times"))
    expect(curve.get_by_text("you are here", exact=True)).to_be_visible()  # the headline has the figure
    page.get_by_role("button", name="Play or pause").click()
    page.wait_for_function("time => [...peerlabPages][0].player.time < time", arg=here)


def test_a_still_and_a_video_show_a_step_on_two_paths(tmp_path):
    still = peerlab.export_still([host(), peer()], tmp_path / "pair.png")
    assert Image.open(still).size == (1280, 720)
    assert Image.open(peerlab.export_still(peer(), tmp_path / "one.png")).size == (1280, 512)
    assert peerlab.export_still([host(), peer()], tmp_path / "pair.pdf").read_bytes().startswith(b"%PDF")
    several = [frame for _, frame in zip(range(3), frames([host(), peer()], 50), strict=False)]
    assert len(set(several)) == 3
    with pytest.raises(peerlab.PeerlabError, match="'curves' does not show a training step"):
        peerlab.export_still(peer(), tmp_path / "x.png", view="curves")


def test_an_exported_page_begins_with_the_range_of_the_gain_and_the_simulated_gain_below_it(
    browser, tmp_path
):
    page = browser.new_page()
    page.goto(peerlab.export_html([host(), peer()], tmp_path / "step.html").as_uri())
    sure = step_gain(peer(), host())
    card = page.locator(".ts-hero")
    expect(card.locator("b")).to_have_text(f"{sure.low:.2f} to {sure.high:.2f}\u00d7")
    expect(card.locator(".ts-note")).to_contain_text(f"Simulated: {peer().gain(host()):.2f}\u00d7")
    page.get_by_label("overlap").select_option("off")
    expect(card.locator("b")).not_to_contain_text(" to ")
    page.close()


def test_in_the_lab_the_range_comes_into_the_card_and_the_page_plays_on(browser, tmp_path):
    page = browser.new_page()
    file = tmp_path / "lab.html"
    file.write_text(
        f"<!doctype html><meta charset='utf-8'><div class='pl-explorer'>{runs_frame([host(), peer()])}<div class='pl-step-sure'></div></div>",
        encoding="utf-8",
    )
    page.goto(file.as_uri())
    inner = page.frame_locator("iframe")
    expect(inner.locator(".ts-value b")).to_have_text(f"{peer().gain(host()):.2f}\u00d7")
    inner.locator("html").evaluate("() => { peerlabPages.values().next().value.player.seek(7); }")
    sure = step_gain(peer(), host())
    headline = escape(json.dumps(headline_of([host(), peer()], sure)), quote=True)
    page.evaluate(
        "text => { document.querySelector('.pl-step-sure').innerHTML = text }",
        f"<p hidden data-headline='{headline}'></p>",
    )
    expect(inner.locator(".ts-value b")).to_have_text(f"{sure.low:.2f} to {sure.high:.2f}\u00d7")
    assert inner.locator("html").evaluate("() => peerlabPages.values().next().value.player.time") == 7
    inner.locator(".ts-more summary").click()
    expect(inner.locator(".ts-rests")).to_contain_text("by what is assumed about computing")
    page.close()


def test_a_wait_that_is_too_narrow_is_enlarged_at_the_end_of_the_step(open_page):
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    expect(page.locator(".ts-lanes")).to_contain_text(re.compile(r"end of the step, \d+\u00d7"))
    # the last bucket of each path, in the whole step and in its end
    boxes = [box.bounding_box()["width"] for box in page.locator("[data-exchange='4']").all()]
    assert len(boxes) == 4
    assert min(boxes[2:]) > 10 * max(boxes[:2])
    ratio = runs[0].trace.placed[-1].lasts_ps / runs[1].trace.placed[-1].lasts_ps
    assert boxes[2] / boxes[3] == pytest.approx(ratio, rel=0.02)


@pytest.mark.parametrize("width", [600, 1280])
def test_the_number_of_slices_that_wait_stands_over_them(open_page, width):
    """On a hill, too: beside its mark the number was far from it, and the mark stood before the hill's name like a cursor."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    resize(page, width, 900)
    await_drawn(page, ".ts-road svg")
    numbers = page.locator(".ts-road svg g text", has_text="wait").all()
    assert len(numbers) == 2
    for number in numbers:
        words, marks = number.bounding_box(), number.locator("xpath=..").locator("rect").all()
        last = max((mark.bounding_box() for mark in marks), key=lambda box: box["x"])
        assert words["y"] + words["height"] <= last["y"] + 2
        assert words["x"] + words["width"] == pytest.approx(last["x"] + last["width"], abs=4)


@pytest.mark.parametrize("width", [524, 720, 1280])
def test_words_of_the_road_stand_at_what_they_are_about(open_page, width):
    """On a narrow page those of a hill stood below its foot, and those of the wire below the names of its ends."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    resize(page, width, 1100)
    await_drawn(page, ".ts-road svg")
    road = page.locator(".ts-road svg")
    ends = [name.bounding_box() for name in road.get_by_text("NIC", exact=True).all()]
    wire, busy, hill = (
        road.locator("text", has_text=words).last.bounding_box()
        for words in ("wire 50 %", "89 % busy", "host memory")
    )
    assert wire["y"] == pytest.approx(ends[0]["y"], abs=2)
    gaps = wire["x"] - ends[0]["x"] - ends[0]["width"], ends[1]["x"] - wire["x"] - wire["width"]
    assert min(gaps) > 7  # 14 px without the edges of both; at 8 they read as one line
    larger = page.locator(".ts-lanes text", has_text=re.compile(r"end of (the )?step, \d+\u00d7"))
    assert larger.count() == 1  # what is enlarged has a name
    assert busy["x"] + busy["width"] / 2 == pytest.approx(hill["x"] + hill["width"] / 2, abs=2)
    assert busy["y"] + busy["height"] < ends[0]["y"]


@pytest.mark.parametrize("width", [600, 1280])
def test_a_moment_stands_at_one_place_on_the_slider_and_in_the_lanes(open_page, width):
    """They had two scales, one directly above the other."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    resize(page, width, 900)
    await_drawn(page, ".ts-lanes")
    length = page.evaluate("[...peerlabPages][0].player.length")
    bar = page.locator(".pl-scrub").bounding_box()
    track = [bar["x"] + 7, bar["x"] + bar["width"] - 7]
    for number, exchange in enumerate(runs[0].trace.placed):
        thumb = bar["x"] + 7 + exchange.begin_ps / 1e6 / length * (bar["width"] - 14)
        begins = page.locator(f".ts-lanes > [data-exchange='{number}']").first.bounding_box()["x"]
        assert thumb == pytest.approx(begins, abs=1.5)
    lane = page.locator(".ts-lanes > rect[fill='var(--pl-panel)']").first.bounding_box()
    computing = page.locator(".ts-lanes > rect").first.bounding_box()
    ends = [lane["x"], lane["x"] + lane["width"]]
    assert ends == pytest.approx(track, abs=0.5)
    assert computing["x"] == pytest.approx(lane["x"], abs=0.5)
    if width > 760:
        road, gain = (page.locator(card).bounding_box() for card in (".ts-road", ".ts-gain"))
        assert [road["x"], road["x"] + road["width"]] == pytest.approx(ends, abs=1)
        assert [gain["y"], gain["height"]] == pytest.approx([road["y"], road["height"]], abs=0.5)


@pytest.mark.parametrize("width", [524, 900, 1280])
def test_the_frame_of_the_last_bucket_lies_within_its_lane_and_words_begin_where_the_end_does(
    open_page, width
):
    """The frame hung over the lane's end, and in a narrow window the words began 33 px before the end that they name."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    resize(page, width, 1000)
    await_drawn(page, ".ts-lanes")
    lane, frame, end = (
        page.locator(part).first.bounding_box()
        for part in (".ts-lanes > [data-side]", ".ts-chosen", ".ts-end > [data-side]")
    )
    assert frame["x"] + frame["width"] <= lane["x"] + lane["width"] + 0.1
    waits = re.compile(r"^(devices )?wait \d+ \Ss$")
    words = [text.bounding_box() for text in page.locator(".ts-lanes > text", has_text=waits).all()]
    assert len(words) == 2
    for box in words:
        assert box["x"] == pytest.approx(end["x"], abs=1)
        assert box["x"] + box["width"] <= end["x"] + end["width"] + 1


@pytest.mark.parametrize(("width", "share"), [(1100, 0.25), (1740, 0.34)])
def test_the_chart_of_the_gain_is_as_wide_as_the_enlarged_end_and_in_a_wide_window_a_third(
    open_page, width, share
):
    """It stayed 280 px wide beside a road of 1400."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}, layout="frame"))
    resize(page, width, 1000)
    await_drawn(page, ".ts-lanes")
    gain, road, lane = (
        page.locator(part).first.bounding_box()
        for part in (".ts-gain", ".ts-road", ".ts-end > rect[fill='var(--pl-panel)']")
    )
    assert [gain["x"], gain["width"]] == pytest.approx([lane["x"], lane["width"]], abs=0.5)
    whole = gain["x"] + gain["width"] - road["x"]
    assert gain["width"] / whole == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("width", [524, 900, 1740])
def test_figures_stand_with_the_headline_and_the_switch_with_the_player(open_page, width):
    """They stood above the enlarged end, in a wide window a thousand pixels from what they are about; the time stood behind the switch, which nothing named."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}, layout="frame"))
    resize(page, width, 1000)
    switch, play, pace, clock, value, note = (
        page.locator(name)
        for name in (".ts-zoom", ".pl-play", ".pl-speed", ".pl-clock", ".ts-value", ".ts-note")
    )
    expect(page.get_by_role("group", name="Play", exact=True)).to_have_count(1)
    assert (
        page.locator(".ts-zoom b").bounding_box()["x"] < switch.locator("label").first.bounding_box()["x"]
    ) == (width > 540)
    beside, below = value.bounding_box(), note.bounding_box()
    if width < 860:
        assert beside["x"] > below["x"] == page.locator(".ts-label").bounding_box()["x"]
        assert below["y"] == pytest.approx(beside["y"] + beside["height"], abs=2)
    else:
        assert below["x"] == pytest.approx(beside["x"] + beside["width"] + 24, abs=2)

    def lefts():
        boxes = [part.bounding_box() for part in (switch, play, pace, clock)]
        gaps = [right["x"] - left["x"] - left["width"] for left, right in (boxes[:2], boxes[2:])]
        assert gaps == pytest.approx([16, 16], abs=1)
        return [box["x"] for box in boxes]

    before = lefts()
    page.locator("[name=ts-zoom][value=bucket]").check(force=True)  # with another pace
    assert lefts() == pytest.approx(before, abs=0.5)  # the bold name of the chosen one is another one


def test_what_is_seen_in_the_enlarged_end_is_not_drawn_in_the_whole_step_too(open_page):
    """A bucket, its frame, its wait and the mark of the moment shared twelve pixels."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    whole, end = ".ts-lanes > .ts-now", ".ts-end .ts-now"
    assert [page.locator(marks).count() for marks in (whole, end)] == [2, 2]
    assert not any(mark.is_visible() for mark in page.locator(whole).all())
    assert all(mark.is_visible() for mark in page.locator(end).all())
    # slanted or filled, a wait is none of the pointer's
    assert page.locator(".ts-lanes > path[pointer-events=none]").count() == 0
    assert page.locator(".ts-end path[pointer-events=none]").count() == 2
    # all of the end is the last bucket: it needs no frame
    assert page.locator(".ts-end .ts-chosen").count() == 0
    page.locator("[name=ts-zoom][value=bucket]").check(force=True)
    assert all(mark.is_visible() for mark in page.locator(whole).all())


def test_the_hatch_lies_right_below_the_words_that_say_how_long_devices_wait_and_the_key_has_it(open_page):
    """Two readers looked for its key."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    for number, run in enumerate(runs):
        words = page.locator(".ts-lanes text", has_text=say_time(run.trace.exposed_ps)).bounding_box()
        hatch = page.locator(".ts-end path[pointer-events=none]").nth(number).bounding_box()
        assert 0 < hatch["y"] - words["y"] - words["height"] < 10
    expect(page.locator(".ts-key-pause")).to_have_text("devices wait (exposed)")
    alone = open_page(step_page_html(runs[:1], controls={}))
    expect(alone.locator(".ts-key-pause")).to_have_text("devices wait (exposed)")


def test_the_grid_of_the_gain_reaches_above_its_curve(open_page):
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    first, *_ = (mark.bounding_box()["y"] for mark in page.locator(".ts-gain circle").all())
    lines = [line.bounding_box()["y"] for line in page.locator(".ts-gain path[d*='H']").all()]
    assert min(lines) <= first + 3


@pytest.mark.parametrize("width", [900, 1280])
def test_the_words_at_the_gain_of_this_step_are_near_its_point(open_page, width):
    """Beside a steep curve they stood 140 pixels above it."""
    runs = [peerlab.step(workload="resnet50", batch=128, path=path) for path in ("host-rdma", "peer-direct")]
    page = open_page(step_page_html(runs, controls={}))
    resize(page, width, 1100)
    near = "() => { const [words, point] = [[...document.querySelectorAll('.ts-gain text')].at(-1), document.querySelector('.ts-gain circle[r=\"6\"]')].map((one) => one.getBoundingClientRect()); return Math.abs(point.top - words.bottom) < 20 && words.left < point.left && point.right < words.right; }"
    page.wait_for_function(near)
    own, point = (
        page.locator(".ts-gain text[font-weight='650']").first,
        page.locator(".ts-gain circle[r='6']"),
    )
    expect(own).to_have_text("128")
    tick, circle = own.bounding_box(), point.bounding_box()
    assert tick["x"] + tick["width"] / 2 == pytest.approx(circle["x"] + circle["width"] / 2, abs=1)


def test_how_long_a_step_or_a_bucket_takes_is_said_once(opened):
    """The player, the lane and the card each had it."""
    page = opened()
    expect(page.locator(".pl-clock span")).to_be_hidden()
    expect(page.locator(".ts-road p")).to_have_text(re.compile(r"^under way for [\d.]+ .?s$"))
    page.locator("[name=ts-zoom][value=bucket]").check(force=True)
    seek(page, 1)
    expect(page.locator(".pl-clock span")).to_be_visible()
    expect(page.locator(".ts-road p")).to_have_text("under way")


def test_the_end_begins_where_nearly_all_waiting_lies_behind_it(open_page):
    """Of BERT's 38 buckets the last makes 80 % of the waiting, and the one before it the rest."""
    runs = [
        peerlab.step(workload="bert-large", batch=128, path=path) for path in ("host-rdma", "peer-direct")
    ]
    page = open_page(step_page_html(runs, controls={}))
    begin = page.evaluate("[...peerlabPages][0].views[1].from")
    waits = lanes_of(runs[0]).exposed
    inside = sum(
        min(1, max(0, (end / 1e6 - begin) / ((end - start) / 1e6))) * (end - start) for start, end in waits
    )
    assert inside > 0.9 * sum(end - start for start, end in waits)
    expect(page.locator(".ts-key-waits")).to_be_visible()  # a bucket that waits is seen there alone


def test_a_wait_that_can_be_seen_is_not_enlarged(opened):
    page = opened()
    expect(page.locator(".ts-lanes")).to_be_visible()
    expect(page.locator(".ts-end")).to_have_count(0)


@pytest.mark.parametrize("size", [(1280, 640), (1280, 800), (1920, 1080)])
def test_a_step_on_two_paths_fits_a_window_640_high(opened, size):
    page = opened()
    resize(page, size[0], size[1])
    page.wait_for_function("height => document.documentElement.scrollHeight <= height", arg=size[1])


def framed_page(browser, folder, frame, size):
    """Open a page that holds a frame, as a notebook does; return it, and what is in the frame."""
    page, file = browser.new_page(), folder / "notebook.html"
    resize(page, *size)
    file.write_text(f"<!doctype html><meta charset='utf-8'><body style='margin:0'>{frame}", encoding="utf-8")
    page.goto(file.as_uri())
    inner = page.frame_locator("iframe")
    expect(inner.locator("html[data-ready]")).to_be_attached()
    return page, inner


@pytest.mark.parametrize("width", [848, 700, 1100])
def test_a_frame_in_a_notebook_is_as_high_as_its_page(browser, tmp_path, width):
    """In a notebook beside the list of files the page is narrow: it reflows, and nothing of it is below an inner scroll bar."""
    page, inner = framed_page(browser, tmp_path, runs_frame([host(), peer()]), (width, 700))
    for unfolded in (False, True):
        if unfolded:
            inner.locator(".ts-more summary").click()
            expect(inner.locator(".ts-source")).to_be_visible()
        page.wait_for_function(
            "() => { const [frame] = document.querySelectorAll('iframe'); return frame.contentDocument.documentElement.scrollHeight <= frame.clientHeight; }"
        )
        lowest, frame = (one.bounding_box() for one in (inner.locator(".ts-more"), page.locator("iframe")))
        assert lowest["y"] + lowest["height"] <= frame["y"] + frame["height"] + 1
    page.close()


@pytest.mark.parametrize("width", [1100, 700])
def test_in_a_report_the_thumb_of_the_slider_stands_above_the_moment_in_the_lanes(browser, tmp_path, width):
    """One time stood at two places right above each other, and what is folded was in two groups."""
    page, inner = framed_page(browser, tmp_path, played_html(host()), (width, 900))
    for number in (0, 2):
        thumb, begins = inner.locator("html").evaluate(
            """(_, number) => { const [page] = peerlabPages; page.player.seek(page.state.sides[0].flight[number][0]);
                 const bar = page.player.bar, { left, width } = bar.getBoundingClientRect();
                 return [left + 7 + (width - 14) * bar.value / bar.max, document.querySelector(`.ts-lanes > [data-exchange='${number}']`).getBoundingClientRect().left]; }""",
            number,
        )
        assert abs(thumb - begins) < 2
    own = page.locator("iframe").bounding_box()["y"] + inner.locator(".ts-more summary").evaluate(
        "one => one.getBoundingClientRect().top"
    )
    below = [one.bounding_box()["y"] for one in page.locator(".pl-step summary").all()]
    steps = [after - before for before, after in itertools.pairwise([own, *below])]
    assert max(steps) - min(steps) < 4
    page.close()


def test_paths_that_compute_alike_share_their_lane_of_computing(opened):
    page = opened()
    expect(page.locator(".ts-lanes text", has_text="backward")).to_have_count(1)


def test_paths_whose_exchanges_slow_computing_down_have_a_lane_of_computing_each(browser, tmp_path):
    page = browser.new_page()
    runs = [host().answer(run.step.with_(slowdown=0.2)) for run in (host(), peer())]
    page.goto(peerlab.export_html(runs, tmp_path / "slowed.html", controls={}).as_uri())
    expect(page.locator(".ts-lanes text", has_text="backward")).to_have_count(2)
    page.close()


@pytest.mark.parametrize("width", [640, 524, 501])
def test_on_a_narrow_page_the_speed_can_be_chosen_and_the_controls_have_one_row(opened, width):
    """At 640 pixels and below there was no speed to choose."""
    page = opened()
    resize(page, width, 1100)
    speed, play, zoom = (
        page.locator(f".ts-bar {name}").first for name in (".pl-speed", ".pl-play", ".ts-zoom")
    )
    expect(speed).to_be_visible()
    speed.select_option("2")
    assert page.evaluate("[...peerlabPages][0].player.factor") == 2
    middles = [box["y"] + box["height"] / 2 for box in (part.bounding_box() for part in (play, speed, zoom))]
    assert max(middles) - min(middles) < 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # what has room is there, and keys do the same as what has none
    steps = page.locator(".ts-bar :is(.pl-home, .pl-back, .pl-next)")
    assert all(step.is_visible() == (width >= 620) for step in steps.all())
    page.keyboard.press("Home")
    assert page.evaluate("[...peerlabPages][0].player.time") == 0
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[...peerlabPages][0].player.time") > 0


def test_keys_play_and_step(opened):
    page = opened()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[...peerlabPages][0].player.time") > 0
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    expect(page.locator(".pl-clock b")).not_to_have_text("0 s")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_read_by_everybody(opened, theme):
    page = opened(theme=theme)
    assert axe_faults(page) == []
    expect(page.locator(".ts-lanes")).to_have_attribute("aria-label", re.compile("A step of ResNet-50"))
    for width in (1280, 420):
        resize(page, width, 800)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [640, 1280])
def test_the_moment_is_a_line_through_the_lanes_and_each_colour_means_one_thing(open_page, width):
    """The moment was a knob above the lanes, pink both kernel TCP and what a CPU does, and a short wait a solid square without a key."""
    page = open_page(step_page_html([host(), peer()], controls={}))
    resize(page, width, 1000)
    await_drawn(page, ".ts-lanes")
    line, knob = page.locator(".ts-clock").bounding_box(), page.locator(".pl-scrub").bounding_box()
    share = page.evaluate("[...peerlabPages][0].player.time / [...peerlabPages][0].player.length")
    assert line["x"] + 0.75 == pytest.approx(knob["x"] + 7 + share * (knob["width"] - 14), abs=1.5)
    for lane in page.locator(".ts-lanes > [data-side]:not([data-exchange])").all():
        box = lane.bounding_box()
        assert line["y"] < box["y"] < box["y"] + box["height"] < line["y"] + line["height"]
    # on the road slices have the colour of their path, whatever is done with them
    for number, role in enumerate(("cpu", "direct")):
        page.evaluate("number => [...peerlabPages][0].showPath(number)", number)
        trains = page.locator(".ts-road svg path[stroke-width='9']").all()
        assert len(trains) > 2
        assert all(f"var(--pl-{role})" in train.get_attribute("stroke") for train in trains)
    # a wait is slanted lines however short it is
    assert (
        page.locator(".ts-lanes rect[pointer-events=none]:not(.ts-now, .ts-clock, .ts-chosen)").count() == 0
    )
    page.locator("[name=ts-zoom][value=bucket]").check(force=True)
    assert not page.locator(".ts-clock").is_visible()


@pytest.mark.parametrize("width", [1280, 640])
def test_all_slices_that_wait_are_drawn_apart_from_the_name_beside_them(open_page, width):
    """Ten had eight bars, 8 pixels before *host memory*."""
    answer = peerlab.step(workload="resnet50", batch=32, path="host-tcp", library="none")
    page = open_page(step_page_html([answer, answer.answer(answer.step.with_(path="peer-direct"))]))
    resize(page, width, 800)
    page.evaluate("[...peerlabPages].map(({ player }) => player.seek(0.6 * player.length))")
    await_drawn(page, ".ts-road svg")
    names = [name.bounding_box() for name in page.locator(".ts-road svg").get_by_text("host memory").all()]
    counts = []
    for number in page.locator(".ts-road svg g text", has_text="wait").all():
        marks = [mark.bounding_box() for mark in number.locator("xpath=..").locator("rect").all()]
        counts.append(int(number.text_content().split()[0]))
        assert len(marks) == counts[-1]
        right = max(mark["x"] + mark["width"] for mark in marks)
        assert (
            min(name["x"] - right for name in names if name["x"] > right) > 10
        )  # with the edge of its words
    assert max(counts) > 8


def test_buckets_have_their_numbers_and_each_that_waits_a_line_that_no_other_covers(opened):
    """The list's *Bucket 3* was nowhere in the lanes, and waits that overlap were one long line."""
    page = opened()
    numbers = page.locator(".ts-lanes .ts-number").all_text_contents()
    assert numbers[:5] == ["1", "2", "3", "4", "5"]
    lines = page.locator(".ts-wait")
    boxes = [line.bounding_box() for line in lines.all()]
    assert len(boxes) == len(lanes_of(host()).waiting)
    for one, other in itertools.combinations(boxes, 2):
        apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        assert apart or abs(one["y"] - other["y"]) > one["height"]
    third = page.locator("[data-exchange='2']").first.bounding_box()
    assert boxes[0]["x"] + boxes[0]["width"] == pytest.approx(third["x"], abs=2)
    expect(lines.first.locator("title")).to_have_text(re.compile(r"^Bucket 3 waits [\d.]+ ms$"))
