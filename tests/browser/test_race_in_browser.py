"""A race in a browser: one button, one clock, bytes counted, the finish marked."""

import re
from functools import cache
from html import unescape

import pytest
from axe_faults import axe_faults
from overlaps import settle_drawings
from page_that_plays import resize, seek_share
from PIL import Image
from playwright.sync_api import expect

import peerlab
from peerlab.answer.race import delivery
from peerlab.features.export.in_browser import sitting
from peerlab.features.export.video import frames
from peerlab.features.race.race_page import race_frame, race_html


@cache
def paths_race():
    return peerlab.race(peerlab.Scenario(path="host-rdma"), path="peer-direct")


@pytest.fixture
def page(browser):
    one = browser.new_page()
    resize(one, 1280, 800)
    yield one
    one.close()


@pytest.fixture
def opened(open_page):
    """Open a race."""
    return lambda race=None, **options: open_page(race_html(race or paths_race(), bands=False, **options))


def counted(page):
    return [float(text) for text in page.locator(".rc-count b").all_inner_texts()]


def test_what_is_counted_is_what_the_traces_deliver(opened):
    page = opened()
    for part in (0, 0.2, 0.5, 1):
        seek_share(page, part)
        moment = part * paths_race().end_ps
        told = [delivery(run).at(moment) / 2**20 for run in paths_race().runs]
        assert counted(page) == [pytest.approx(one, abs=0.51) for one in told]
    assert counted(page) == [112, 112]
    expect(page.locator(".rc-through")).to_have_count(2)


def test_it_opens_at_its_start(opened):
    page = opened()
    assert page.evaluate("[...peerlabPages][0].player.time") == 0
    assert counted(page) == [0, 0]
    page.get_by_role("button", name="Start").click()
    page.wait_for_function("() => [...peerlabPages][0].player.time > 0")


def test_a_race_starts_from_zero_and_the_answer_comes_when_the_first_is_through(opened):
    page = opened()
    signs = page.locator(".rc-sign")
    assert signs.count() > 0
    for sign in signs.all():  # nothing is busy before the start
        expect(sign).to_be_hidden()
    answer, running = page.locator(".rc-ratio"), page.locator(".rc-running")
    expect(answer).to_be_hidden()
    expect(running).to_have_text("Which delivers its 112 MiB first?", use_inner_text=True)
    about = page.locator(".rc-about")  # above the lanes, at every moment
    expect(about).to_have_text("AllReduce of 64 MiB, 8 nodes of Gaudi DL1, both on one clock")
    expect(about).to_be_visible()
    for line in page.locator(".rc-rest").all():  # nor does the chart tell how it ends
        expect(line).to_be_hidden()
    colour = "count => getComputedStyle(count).color"
    zero = page.locator(".rc-count b").first.evaluate(colour)
    seek_share(page, 0.5)
    assert page.locator(".rc-count b").first.evaluate(colour) != zero  # which is grey
    expect(signs.first).to_be_visible()
    expect(answer).to_be_hidden()
    expect(running).to_have_text(re.compile(r"Peer Direct\s*\d+ MiB ahead"))
    expect(about).to_be_visible()
    seek_share(page, 0.6)
    expect(answer).to_be_visible()
    expect(answer).to_contain_text("1.72\u00d7")
    expect(running).to_be_hidden()
    expect(page.locator(".rc-rest").first).to_be_visible()
    expect(page.locator(".rc-through")).to_contain_text("finished at 2.54 ms")
    expect(page.locator(".rc-clock")).to_have_text(re.compile(r"2\.6\d ms"))  # one still runs


@pytest.mark.parametrize("width", [390, 712])
def test_on_a_narrow_page_the_question_stands_beside_its_button_until_it_runs(opened, page, width):
    """It was the last card, 850 pixels below the button and cut by the fold."""
    resize(page, width, 900)
    page = opened()
    resize(page, width, 900)
    question, button = (page.locator(name).bounding_box() for name in (".rc-running", ".rc-go"))
    assert question["x"] > button["x"] + button["width"]
    assert abs(question["y"] - button["y"]) < button["height"]
    lanes = [lane.bounding_box()["height"] for lane in page.locator(".rc-lane").all()]
    assert max(lanes) < (330 if width < 560 else 220)
    seek_share(page, 0.4)
    expect(page.locator(".rc-running")).not_to_contain_text("Which")
    expect(page.locator(".rc-running")).to_contain_text("MiB")


@pytest.mark.parametrize("width", [600, 836, 1280])
def test_the_question_stands_beside_its_button_and_nothing_moves_when_it_runs(opened, page, width):
    """It was at the lower right, beside an empty chart, and two large zeros had the lead."""
    resize(page, width, 720)
    page = opened()
    resize(page, width, 720)
    question, button = (page.locator(name).bounding_box() for name in (".rc-running span", ".rc-go"))
    assert 0 < question["x"] - button["x"] - button["width"] < 30
    assert abs(question["y"] + question["height"] / 2 - button["y"] - button["height"] / 2) < 3
    zero = page.locator(".rc-count b").first
    assert zero.evaluate("zero => parseFloat(getComputedStyle(zero).fontSize)") <= 18

    def tops():
        return [
            page.locator(name).first.bounding_box()["y"]
            for name in (".rc-lanes", ".rc-road", ".rc-lead", ".pl-scrub")
        ]

    before = tops()
    seek_share(page, 0.4)
    assert tops() == pytest.approx(before, abs=0.5)
    assert (
        page.locator(".rc-count b").first.evaluate("count => parseFloat(getComputedStyle(count).fontSize)")
        > 28
    )


def test_on_the_narrowest_page_who_leads_stands_clear_of_the_clock(opened, page):
    """The lead ran below it; and the place was lower once it ran."""
    resize(page, 320, 900)
    page = opened()
    resize(page, 320, 900)
    top = page.locator(".rc-lanes").bounding_box()["y"]
    seek_share(page, 0.45)
    assert page.locator(".rc-lanes").bounding_box()["y"] == top
    lead = page.locator(".rc-running b").bounding_box()
    assert lead["x"] + lead["width"] < page.locator(".rc-clock b").bounding_box()["x"]


def test_the_lab_says_which_was_before_and_that_one_simulation_has_no_range(open_page):
    frame = race_frame(paths_race(), when=("before", "now"))
    page = open_page(unescape(re.search("srcdoc='(.*?)'", frame, re.DOTALL).group(1)))
    expect(page.locator(".rc-lane h2")).to_have_text(["before RDMA through host", "now Peer Direct"])
    seek_share(page, 1)
    expect(page.locator(".rc-note")).to_have_text(
        "One simulation, so no range: each assumed figure has one value."
    )


@pytest.mark.parametrize("layout", ["page", "slide"])
def test_a_race_says_each_thing_once_at_every_moment(open_page, layout):
    """The lead stood three times on a slide, and the clock beside the end that it told."""
    page = open_page(race_html(paths_race(), layout=layout))
    finish = paths_race().runs[1].time_ps / paths_race().end_ps
    for part in (0, 0.3, finish, 0.7, 1):
        seek_share(page, part)
        title, _, *others = page.locator(".rc-root > *").all_inner_texts()
        clock = page.locator(".rc-clock").inner_text()
        text = "\n".join(
            ([title] if layout == "slide" else []) + [clock, *others]
        )  # a page's title is for those who hear it
        assert text.count(" ahead") + text.count("\nahead") == (0 < part < 1)
        assert text.count("2.54 ms") == (part >= finish)
        # on a slide the range says where in it the title's figure lies
        assert text.count("1.72\u00d7") == (part >= finish) * (1 if layout == "page" else 2)
        at_its_lane_and_column = 2 if layout == "page" else 1  # and where it leads or has won
        assert "\n".join(others).count("Peer Direct") <= at_its_lane_and_column + 1
        resting = (finish, 1) if layout == "slide" else (0,)  # at a page's 0 there is the question
        assert page.locator(".rc-clock").is_visible() == (part not in resting)
        if layout == "page" and part in (finish, 1):  # a lane has the time, and no hole is beside the button
            assert clock == ("Both finished" if part == 1 else "First finished")
    assert "4.38 ms" in text


def test_words_of_both_wires_stand_alike(opened, page):
    """At 600 px one stood above its wire and the other below the names."""
    for width in (600, 900, 1280):
        resize(page, width, 900)
        page = opened()
        settle_drawings(page)
        below = page.locator(".rc-road").evaluate_all(
            """roads => roads.map(road => { const top = text => [...road.querySelectorAll('text')].find(one => one.textContent.startsWith(text)).getBoundingClientRect().top;
                return top('wire') - top('NIC') })"""
        )
        assert below[0] == pytest.approx(below[1], abs=1)


def test_slices_that_wait_at_a_nic_stand_above_both_paths(opened, page):
    """At 600 px they stood above one path and below the other."""
    for width in (600, 700, 900, 1280):
        resize(page, width, 900)
        page = opened()
        settle_drawings(page)
        seek_share(page, 0.43)
        for lane in page.locator(".rc-lane").all():
            number = lane.locator("g text", has_text="wait").first.bounding_box()
            stop = lane.locator("circle").last.bounding_box()
            assert number["y"] + number["height"] < stop["y"], width


def test_the_row_of_what_is_delivered_begins_and_ends_with_its_path(opened):
    page = opened()
    rows = [row.bounding_box() for row in page.locator(".rc-cells").all()]
    for lane, row in zip(page.locator(".rc-road").all(), rows, strict=True):
        stops = [stop.bounding_box() for stop in lane.locator("circle").all()]
        first, last = (stop["x"] + stop["width"] / 2 for stop in (stops[0], stops[-1]))
        assert (row["x"], row["x"] + row["width"]) == (
            pytest.approx(first, abs=1),
            pytest.approx(last, abs=1),
        )
    assert rows[0]["x"] == pytest.approx(rows[1]["x"])


def test_of_two_dots_in_one_place_each_is_half(opened):
    """At the start the one lay wholly under the other."""
    page = opened()
    shapes = (
        "dots => dots.map(dot => dot.getBBox()).map(({ x, width }) => [x, x + width])"  # without their edges
    )
    (left, middle), (begin, right) = page.locator(".rc-dot").evaluate_all(shapes)
    assert middle == pytest.approx(begin)
    assert middle - left == pytest.approx(right - begin)


def test_the_scale_begins_with_the_words_above_it_and_its_ends_have_numbers(open_page):
    page = open_page(race_html(paths_race()))
    seek_share(page, 1)
    numbers = page.locator(".rc-scale span:not(.rc-name)")
    assert numbers.all_inner_texts() == ["1\u00d7", "3\u00d7"]
    scale, words = (page.locator(name).bounding_box() for name in (".rc-scale", ".rc-ratio"))
    assert scale["x"] == pytest.approx(words["x"], abs=0.5)
    assert numbers.first.bounding_box()["x"] == pytest.approx(words["x"], abs=0.5)


def test_a_range_in_a_race_is_one_bar_in_the_colour_of_who_wins_and_its_condition_words(open_page):
    """Dark green, white and pale orange lay on one axis, and their key was a chip of 17 px."""
    page = open_page(race_html(paths_race()))
    seek_share(page, 1)
    (bar,) = page.locator(".rc-scale > i:not(.rc-here)").all()
    colours = "bar => [bar, [...document.querySelectorAll('.rc-cells')].at(-1).firstChild].map(one => getComputedStyle(one).backgroundImage.match(/rgb\\([^)]*\\)/g).at(-1))"
    assert len(set(bar.evaluate(colours))) == 1
    note = page.locator(".rc-note")
    expect(note).to_have_text("0.95\u00d7 if each NIC has a root port of its own")
    assert not note.locator("*").count()


def test_a_slide_opens_at_the_winners_finish_and_one_button_plays_it_from_the_start(opened):
    page = opened(layout="slide")
    expect(page.locator("h1")).to_have_text("Peer Direct finished first")
    expect(page.locator(".rc-lead")).to_contain_text("52 MiB ahead")
    expect(page.locator(".rc-through h2")).to_have_text("Peer Direct")
    expect(page.locator(".rc-through .rc-road path[visibility=visible]")).to_have_count(
        0
    )  # nothing is under way any more
    button = page.get_by_role("button", name="Start")
    button.click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_function(
        "() => { const { time, length } = [...peerlabPages][0].player; return time > 0 && time < 0.5 * length }"
    )
    expect(page.locator("h1")).to_have_text("RDMA through host against Peer Direct")
    expect(page.locator(".rc-running")).to_contain_text("MiB ahead")
    page.evaluate("() => { const { player } = [...peerlabPages][0]; player.seek(0.999 * player.length) }")
    expect(page.locator("h1")).to_have_text("Peer Direct finished first")
    expect(page.locator(".rc-ratio")).to_contain_text("1.72\u00d7")
    expect(page.get_by_role("button", name="Again")).to_be_visible()  # it ends by itself
    seek_share(page, 0.5)
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    strokes = page.locator(".rc-road path[visibility=visible]").evaluate_all(
        "all => all.map(one => one.getAttribute('stroke'))"
    )
    assert "var(--pl-network)" in strokes, "as on the slides beside it"
    expect(page.locator(".rc-key")).to_have_text("NIC to NIC")


def test_the_card_of_a_slide_holds_its_words_with_the_range_in_one_line(opened):
    page = opened(layout="slide")
    card, ratio = page.locator(".rc-answer"), page.locator(".rc-ratio")
    assert card.evaluate("card => card.scrollHeight - card.clientHeight") <= 0
    value, noun = ratio.bounding_box(), ratio.locator("small").bounding_box()
    assert noun["y"] > value["y"]
    assert noun["y"] + noun["height"] <= value["y"] + value["height"]
    assert value["height"] < 60


def test_the_keyboard_plays_steps_and_goes_back(opened):
    page = opened()
    page.keyboard.press("Home")
    assert counted(page) == [0, 0]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert sum(counted(page)) > 0
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_a_train_on_the_wire_is_where_its_slice_is(opened):
    page = opened()
    run = paths_race().runs[1]
    frame = run.trace.frame()
    wire = frame[(frame["resource"] == "NIC send") & (frame["step"] == 5)].iloc[0]
    moment = (wire["start_ps"] + 7_000_000) / paths_race().end_ps  # half of the 14 us to the other NIC
    seek_share(page, moment)
    nose = page.evaluate(
        """time => { const { road } = [...peerlabPages][0].lanes[1], found = road.slices(time).trains[1];
             return Math.max(...found.map(({ to }) => to < 1 ? to : 0)) }""",
        (wire["start_ps"] + 7_000_000) / 1e6,
    )
    assert nose == pytest.approx(0.5, abs=0.02)


def test_two_races_of_unlike_size_tell_shares(opened):
    page = opened(peerlab.race(peerlab.Scenario(path="peer-direct"), nodes=64, message_bytes="16 MiB"))
    expect(page.locator(".rc-lead h2")).to_have_text("Delivered per node, % of all")
    seek_share(page, 0.2)
    expect(page.locator(".rc-running")).to_contain_text(re.compile(r"\d % ahead"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (600, 900)])
def test_it_is_readable_for_all(opened, page, theme, size):
    resize(page, size[0], size[1])
    page = opened(theme=theme)
    assert axe_faults(page) == []
    seek_share(page, 1)
    assert axe_faults(page) == []  # the table on the ground of the answer
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    "size", [(1120, 640), (836, 600)]
)  # JupyterLab in a window of 1280 x 800, with its files beside it
def test_it_fits_into_the_window_of_a_small_laptop(opened, page, size):
    resize(page, size[0], size[1])
    page = opened()
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")
    over = page.evaluate(
        "() => [...document.querySelectorAll('.rc-answer, .rc-lane')].filter(one => one.scrollHeight > one.clientHeight + 1).length"
    )
    assert over == 0


@pytest.mark.parametrize("width", [1100, 720, 480])
def test_in_a_notebook_a_race_has_no_inner_scroll_bar(page, tmp_path, width):
    file = tmp_path / "notebook.html"
    file.write_text(
        f"<!doctype html><meta charset='utf-8'><body style='margin:0'>{race_frame(paths_race())}",
        encoding="utf-8",
    )
    resize(page, width, 900)
    page.goto(file.as_uri())
    for now in (width, 1100, width):  # also where the notebook's width changes while it is open
        resize(page, now, 900)
        # the frame may still have the height of the width before, and is given the new one
        page.wait_for_function(
            """() => { const { contentDocument, clientHeight } = document.querySelector('iframe');
                const lowest = contentDocument.querySelector('.rc-source').getBoundingClientRect().bottom;
                return contentDocument.documentElement.scrollHeight <= clientHeight && lowest <= clientHeight + 1 }"""
        )


@pytest.mark.parametrize("width", [1100, 836, 712, 600, 500])
def test_the_card_beside_the_chart_compares_both_paths_at_every_moment_and_keeps_its_place(
    opened, page, width
):
    """It said what the controls say, and 70 pixels of it were blank; the two lanes said half of the comparison each."""
    page = opened()
    resize(page, width, 1100 if width < 740 else 640)
    names = (".rc-lead", ".rc-answer", ".rc-source")
    places = []
    for share in (0, 0.2, 1):
        seek_share(page, share)
        rows = page.locator(".rc-facts tr").all()
        assert [row.locator("th, td").all_inner_texts() for row in rows] == [
            ["", "RDMA through host", "Peer Direct"],
            ["copies per byte", "2", "0"],
            ["DRAM per byte", "4 B", "0 B"],
        ]
        chart, card, note = (page.locator(name).bounding_box() for name in names)
        table = page.locator(".rc-facts table").bounding_box()
        assert card["y"] < table["y"]
        assert table["y"] + table["height"] <= card["y"] + card["height"]
        if share == 1:
            answer = page.locator(".rc-note").bounding_box()
            beside = answer["x"] + answer["width"] <= table["x"]
            assert beside or answer["y"] + answer["height"] <= table["y"]
        elif share == 0:
            assert table["height"] > 0.8 * card["height"]
        assert page.locator(".rc-result").is_visible() == (share == 1)
        if width < 740:
            assert 0 < card["y"] - chart["y"] - chart["height"] <= 16
        assert 0 < note["y"] - card["y"] - card["height"] <= 16
        places.append([chart["y"], card["y"], note["y"]])
    assert places[1:] == [pytest.approx(places[0], abs=0.5)] * 2


def test_a_lane_counts_and_says_no_total_that_all_have_in_common(opened):
    """112 MiB stood five times on one page."""
    page = opened()
    assert page.locator(".rc-count").all_inner_texts() == ["0 MiB", "0 MiB"]
    assert page.locator(".rc-root").inner_text().count("112") == 3  # question, axis, note


def test_controls_around_a_race_say_what_is_exchanged_and_it_does_not(open_page):
    def in_frame(**options):
        frame = race_frame(paths_race(), **options)
        page = open_page(unescape(re.search("srcdoc='(.*?)'", frame, re.DOTALL).group(1)))
        return page.locator(".rc-lanes .rc-about")

    expect(in_frame()).to_be_visible()  # of a cell of its own
    expect(in_frame(controls=True)).to_have_count(0)


def test_the_question_is_the_largest_of_a_pages_words_and_has_one_line(opened, page):
    """Before the start no words had the lead."""
    page = opened()
    resize(page, 1100, 720)
    sizes = page.locator(".rc-root :is(h2, p, b, span, dt, dd, button, text)").evaluate_all(
        "all => Object.fromEntries(all.filter(one => one.checkVisibility({ visibilityProperty: true }) && one.textContent.trim()).map(one => [one.textContent, parseFloat(getComputedStyle(one).fontSize)]))"
    )
    question = "Which delivers its 112 MiB first?"
    assert sizes[question] >= 20
    assert max(size for words, size in sizes.items() if words != question) < sizes[question]
    words = page.locator(".rc-running span")
    assert words.evaluate("one => one.scrollWidth <= one.clientWidth + 1 && one.clientHeight < 30")
    right = words.bounding_box()["x"] + words.bounding_box()["width"]
    assert right < page.locator(".rc-bar .pl-button:visible").first.bounding_box()["x"]


def test_at_the_side_of_a_notebook_a_count_stands_on_the_line_of_its_path(opened, page):
    page = opened()
    resize(page, 712, 1000)
    boxes = [count.bounding_box() for count in page.locator(".rc-count").all()]
    assert (
        len({round(box["x"] + box["width"]) for box in boxes}) == 1
    )  # one below the other, at the flags' edge
    flag = page.locator(".rc-flag").first.bounding_box()
    assert boxes[0]["x"] + boxes[0]["width"] == pytest.approx(flag["x"] + flag["width"], abs=1)
    for lane in page.locator(".rc-lane").all():
        name, count = (lane.locator(part).bounding_box() for part in ("h2", ".rc-count"))
        assert name["x"] + name["width"] < count["x"]
        assert name["y"] < count["y"] + count["height"]
        assert count["y"] < name["y"] + name["height"]


def test_a_wall_chart_is_readable_for_all(page, tmp_path):
    for over in ("paths", "clusters"):
        page.goto(peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.html", over=over).as_uri())
        assert axe_faults(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_wall_chart_stands_whole_in_a_window_that_has_its_ground(page, tmp_path, theme):
    """In the dark a white strip followed it, and in a wide window its foot lay below the window."""
    file = peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.html", theme=theme)
    ground = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 17, 17)"}[theme]
    for width, height in ((1280, 800), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollHeight") == height
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == ground


def test_a_still_shows_the_moment_at_which_the_first_is_through_and_a_video_moves(tmp_path):
    still = peerlab.export_still(paths_race().runs, tmp_path / "race.png", view="race-slide")
    assert Image.open(still).size == (1280, 720)
    with sitting(paths_race().runs, view="race-slide", theme="light") as one:
        one.show(paths_race().runs[1].time_ps)
        said = "document.querySelector('h1').textContent"
        assert one.window.evaluate(said) == "Peer Direct is 1.72\u00d7 as fast"
    several = [frame for _, frame in zip(range(3), frames(paths_race().runs, 50, view="race"), strict=False)]
    assert len(set(several)) == 3
    with pytest.raises(peerlab.PeerlabError, match="'race' shows two runs, and there is one"):
        peerlab.export_still(paths_race().runs[0], tmp_path / "one.png", view="race")


def test_a_window_made_wider_looks_as_if_it_had_been_opened_so(opened):
    """The chart was as high as its last drawing asked for, and left the lanes no room."""
    page = opened()

    def lanes():
        settle_drawings(page)
        return [box["height"] for box in (lane.bounding_box() for lane in page.locator(".rc-lane").all())]

    resize(page, 1280, 720)
    before = lanes()
    resize(page, 730, 700)
    settle_drawings(page)
    resize(page, 1280, 720)
    assert lanes() == pytest.approx(before, abs=1)
