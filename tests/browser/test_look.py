"""What a page shows first and what it keeps folded, without a kernel: the ratio, one line for what is idle, one band, tips."""

import re

import pytest
from blank import ratio_of, run
from contrasts import contrast
from page_that_plays import resize
from playwright.sync_api import expect

import peerlab
from peerlab.base.units import say_time
from peerlab.picture.drawing import WIDTH
from peerlab.picture.path_ratio import stands_in
from peerlab.picture.theme import palettes

INK, MUTED = "rgb(23, 32, 43)", "rgb(86, 98, 114)"


@pytest.fixture
def wide(shown):
    """The page as wide as in a window of 1280 pixels."""
    before = shown.page.viewport_size
    resize(shown.page, 1120, 640)
    yield shown
    shown.page.set_viewport_size(before)


def size(shown, part):
    return shown.page.locator(part).evaluate("one => parseFloat(getComputedStyle(one).fontSize)")


def test_the_range_is_the_largest_figure_with_one_condition_below_it(wide):
    wide.change(run(path="peer-direct"))
    band = run(path="peer-direct").gain_band(run())
    hero = wide.page.locator(".pl-hero")
    expect(hero.locator("[data-name=ratio]")).to_have_text(
        f"Peer Direct is{band.low:.2f} to {band.high:.2f}\u00d7"
    )
    expect(hero.locator(".pl-range")).to_have_text(
        f"as fast; this holds if {band.wired[0].says}", use_inner_text=True
    )  # as the file says
    simulated = f"{band.value:.2f}\u00d7"
    expect(hero.locator(".pl-bar-name")).to_have_text(["host 4.38 ms", f"you 2.54 ms, {simulated}"])
    expect(hero.locator(".pl-bar-you")).to_have_text(f"you 2.54 ms, {simulated}")  # what is shown
    expect(hero.get_by_title(f"{simulated} as simulated", exact=True)).to_have_count(1)
    expect(hero.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(f"^{simulated} as simulated, ")
    )
    tops = wide.page.locator("[data-name=ratio] .pl-label, [data-name=bottleneck] .pl-label").evaluate_all(
        "all => all.map((label) => label.getBoundingClientRect().top)"
    )
    assert tops[0] == pytest.approx(tops[1], abs=0.5), "labels stand in one line"
    largest = size(wide, ".pl-card[data-name=ratio] .pl-value")
    assert largest > 1.25 * max(
        size(wide, f".pl-card[data-name={name}] .pl-value") for name in ("busbw", "bottleneck", "copies")
    )


def test_on_the_detour_the_headline_is_a_promise_and_past_the_host_a_fact(wide):
    look = "one => [getComputedStyle(one).borderTopStyle, one.className]"
    hero = wide.page.locator(".pl-hero")
    expect(hero).to_contain_text("Peer Direct would be")
    expect(hero.locator(".pl-bar-name")).to_have_text(["you 4.38 ms", "then 2.54 ms, 1.72\u00d7"])
    expect(hero.locator(".pl-bar-you")).to_have_text("you 4.38 ms")
    assert hero.evaluate(look) == ["dashed", "pl-hero pl-promise pl-won"]
    wide.change(run(path="peer-direct"))
    expect(hero).to_contain_text("Peer Direct is")
    assert hero.evaluate(look) == ["solid", "pl-hero pl-fact-card pl-won"]
    one = ratio_of(run().scenario)
    wide.give("ratio", {**one, "low": 0.9})  # nobody knows the sign then: nothing is green
    assert hero.evaluate(look) == ["solid", "pl-hero pl-fact-card"]


def test_a_range_below_1_or_on_both_sides_of_it_says_so_in_words_and_is_the_largest_figure(wide):
    """Where the simulated ratio was below 1 it led the card, and the range stood beside it in small letters."""
    hero, knob = wide.page.locator(".pl-hero"), wide.page.locator(".pl-bar-here")
    wide.change(run(path="peer-direct"))
    green = knob.evaluate("one => getComputedStyle(one).backgroundColor")
    claim = hero.locator("[data-name=ratio] .pl-label")
    expect(claim).to_have_text("Peer Direct is")
    for share, high, says in (
        (1.1, 2.11, "may be slower than host:"),
        (0.7, 2.11, "may be slower than host:"),
        (0.7, 0.92, "is only"),
    ):
        ends = {"low": 0.6, "high": high, "range": f"0.60 to {high}\u00d7"}
        ratio = {**ratio_of(run().scenario), **ends, "value": share}
        wide.give("ratio", ratio)
        expect(claim).to_have_text(f"Peer Direct {says}")
        for part in (".pl-bar-name:not(.pl-bar-you)", "[data-name=ratio] .pl-label"):
            assert size(wide, part) == 12, "one figure leads the card"
            expect(hero.locator(part)).to_have_css("color", MUTED)  # orange is the bottleneck's
        expect(hero.locator(".pl-value")).to_have_text(f"0.60 to {high}\u00d7")
        expect(hero.locator(".pl-bar-you")).to_have_text(f"you 2.54 ms, {share:.2f}\u00d7")
        assert hero.locator(".pl-bar-mark").is_visible(), "once as fast is marked in every state"
        mark, circle = (hero.locator(part).bounding_box() for part in (".pl-bar-mark", ".pl-bar-here"))
        assert circle["y"] - mark["y"] >= 5, "it is seen above a knob that it lies on"
        slower = share < 1
        assert (knob.evaluate("one => getComputedStyle(one).backgroundColor") == green) is not slower


def test_marks_that_lie_on_each_other_are_one_with_the_time_of_both(wide):
    """The circle of Peer Direct lay on the host's line, with *host 4.91 ms* and *you 4.89 ms* below, in a bar of which half was empty."""
    wide.change(run(path="peer-direct"))
    near = {
        "value": 1.004,
        "low": 0.88,
        "high": 1.26,
        "range": "0.88 to 1.26\u00d7",
        "times": ["4.91 ms", "4.89 ms"],
    }
    wide.give("ratio", {**ratio_of(run().scenario), **near})
    expect(wide.page.locator(".pl-bar-name")).to_have_text(["host 4.91, you 4.89 ms"])
    expect(wide.page.locator(".pl-bar-mark")).to_have_count(0)
    bar, name, mark = (
        wide.page.locator(part).bounding_box() for part in (".pl-ratio-bar", ".pl-bar-name", ".pl-bar-here")
    )
    middle = max(mark["x"] + mark["width"] / 2, bar["x"] + name["width"] / 2)  # at the mark, or the bar's end
    assert name["x"] + name["width"] / 2 == pytest.approx(middle, abs=2)
    wide.give("ratio", {**ratio_of(run().scenario), **near, "times": ["4.9 ms", "4.9 ms"]})
    expect(wide.page.locator(".pl-bar-name")).to_have_text(["both 4.9 ms"])
    bar, span, mark = (
        wide.page.locator(part).bounding_box() for part in (".pl-ratio-bar", ".pl-bar-range", ".pl-bar-here")
    )
    assert span["width"] > 0.65 * bar["width"], "the scale is as long as what it shows"
    assert span["x"] < mark["x"] + mark["width"] / 2 < span["x"] + span["width"]
    wide.give("ratio", {**ratio_of(run().scenario), **near, "value": 1.06})
    expect(wide.page.locator(".pl-bar-name")).to_have_count(2)
    expect(wide.page.locator(".pl-bar-mark")).to_have_count(1)


def test_below_a_range_stands_what_ends_its_sentence(wide):
    one = ratio_of(run().scenario)
    for kind, condition, says in (
        ("on", "depending most on channels", "as fast, depending most on channels"),
        ("if", "if it is so", "as fast; this holds if it is so"),
        ("note", "(its range follows)", "as fast (its range follows)"),
    ):
        wide.give("ratio", {**one, "kind": kind, "condition": condition})
        expect(wide.page.locator(".pl-range")).to_have_text(says, use_inner_text=True)


EDGES = """page => { const side = (part, name) => page.root.querySelector(part).getBoundingClientRect()[name], { panels } = { panels: page.figures.model('scene_panels').data };
    const scene = page.root.querySelector('.pl-scene').getBoundingClientRect(), node = scene.left + Math.max(...panels.left) * scene.width / 1060;
    return { begin: [side('[data-name=busbw]', 'left'), node, side('.pl-curves', 'left'), side('.pl-busbw', 'left')], end: [side('[data-name=bottleneck]', 'right'), side('.pl-timeline', 'right')],
      before: node - side('[data-name=bottleneck]', 'right'), zoom: page.figures.zoom, near: [side('.pl-hero', 'right'), scene.left + Math.min(...panels.right) * scene.width / 1060], sizes: [...page.root.querySelectorAll('.pl-swatch, .pl-cards .pl-note, .pl-tab')].map(part => part.currentCSSZoom * parseFloat(getComputedStyle(part).fontSize)) } }"""


@pytest.mark.parametrize(("width", "zoom"), [(1112, 1), (1400, 1.06), (1752, 1.3)])
def test_cards_data_path_and_charts_share_the_edge_of_the_right_node(shown, width, zoom):
    """Cards ended at 463, 686 and 917 pixels, the nodes at 420 and 681, the timeline at 690 and the curves began at 705: three rows, three grids. In a wide window the words of charts and legend stayed at 12 to 15 pixels."""
    before = shown.page.viewport_size
    resize(shown.page, width, 900)
    shown.change(run(path="peer-direct"), lines=False)
    shown.ask("page => { page.root.parentElement.className = 'pl-explorer'; page.repaint() }")
    edges = shown.ask(EDGES)
    assert edges["begin"] == pytest.approx([edges["begin"][1]] * 4, abs=1)
    assert edges["end"] == pytest.approx([edges["end"][0]] * 2, abs=1)
    assert edges["before"] == pytest.approx(10 * zoom, abs=1)
    assert edges["zoom"] == pytest.approx(zoom, abs=0.05)
    assert min(edges["sizes"]) >= 12 * edges["zoom"] - 0.1
    assert edges["near"] == pytest.approx([edges["near"][0]] * 2, abs=1), "at every width"
    shown.page.set_viewport_size(before)


def test_each_name_of_the_bar_is_at_its_own_mark_or_at_the_bars_end(wide):
    """Two times in one row stood beside their marks where these were near each other, and had signs that said which mark they meant."""
    boxes = "all => all.map(part => part.getBoundingClientRect()).map(({ left, right, top, bottom }) => [left, right, top, bottom])"
    for path in ("host-rdma", "peer-direct"):
        wide.change(run(path=path))
        once, simulated = (".pl-bar-here", ".pl-bar-mark")[:: 1 if path == "host-rdma" else -1]
        for value, high in ((1.72, 2.11), (1.02, 2.11), (0.74, 2.11), (4.6, 5.8)):
            low = 1.16 if value == 1.72 else 0.7
            wide.give("ratio", {**ratio_of(run().scenario), "low": low, "value": value, "high": high})
            [bar], names = (
                wide.page.locator(part).evaluate_all(boxes) for part in (".pl-ratio-bar", ".pl-bar-name")
            )
            marks = [wide.page.locator(part).evaluate_all(boxes)[0] for part in (once, simulated)]
            for (left, right, *_), mark in zip(names, marks, strict=True):
                middle = min(
                    max((mark[0] + mark[1]) / 2, bar[0] + (right - left) / 2), bar[1] - (right - left) / 2
                )
                assert (left + right) / 2 == pytest.approx(middle, abs=2.5), (path, value)
                assert bar[0] - 0.5 <= left < right <= bar[1] + 0.5, (path, value)
            above, below = names
            assert bar[2] <= above[2] < below[3] <= bar[3]
            for _, _, top, bottom in marks:
                assert above[3] <= top <= bottom <= below[2], "a mark touches no name"
            if value == 1.72:
                offsets = [sum(name[:2]) - sum(mark[:2]) for name, mark in zip(names, marks, strict=True)]
                assert offsets == pytest.approx([0, 0], abs=3)  # of two edges
        ends = wide.page.locator(".pl-hero [data-name=ratio] .pl-value").evaluate(
            "value => { const words = document.createRange(); words.selectNodeContents(value); return words.getBoundingClientRect().right }"
        )
        assert ends <= bar[0] - 8, "the range is no part of the bar beside it"
        kinds = wide.page.locator(".pl-ratio-bar > i").evaluate_all(
            "all => all.map((mark) => mark.className.trim().split(' ')[0])"
        )
        assert kinds.index("pl-bar-mark") > kinds.index("pl-bar-here"), "the line lies on the circle"


def test_the_small_figures_repeat_no_table_and_share_their_cards_height(wide):
    """*Registration 100 % hits* stood there and, with each region, in the table below it."""
    before = wide.page.viewport_size
    wide.change(run(path="peer-direct"), lines=False)
    rows = wide.page.locator(".pl-fact:visible")
    expect(rows.locator(".pl-label")).to_have_text(["Copies per byte", "DRAM per byte", "CPU cores busy"])
    first, second, third = (row.bounding_box()["y"] for row in rows.all())
    assert second - first == pytest.approx(third - second, abs=1)
    resize(wide.page, 500, 900)  # its data path has no table
    expect(rows.locator(".pl-label").last).to_have_text("Registration")
    wide.page.set_viewport_size(before)


def test_a_small_bandwidth_and_what_it_was_share_a_unit_that_fits(wide):
    """0.000524 -> 0.000507 GB/s broke into two lines."""
    small = {"message_bytes": 256, "nodes": 64}
    wide.change(run(**small), lines=False)
    wide.change(run(**small, path="peer-direct"), lines=False)
    shown = wide.page.locator("[data-name=busbw] .pl-value")
    expect(shown).to_have_text(re.compile(r"^[\d.]{1,4} \u2192 [\d.]{1,4} [Mk]B/s$"))
    assert shown.bounding_box()["height"] < 35
    wide.change(run(path="peer-direct"), lines=False)
    expect(shown).to_contain_text("52 GB/s")


def test_a_ratio_without_noise_says_so_and_gives_the_time_of_what_is_shown(wide):
    noisy = run(path="peer-direct", nodes=2, spread=0.1)
    ratio = stands_in(ratio_of(run(nodes=2).scenario), [noisy.scenario])
    wide.change(noisy, lines=False)
    wide.give("ratio", ratio)
    hero = wide.page.locator(".pl-hero")
    expect(hero.locator(".pl-bar-name").last).to_have_text(
        f"without noise {ratio['times'][1]}, {ratio['value']:.2f}\u00d7"
    )
    expect(hero.locator(".pl-range")).to_contain_text(f"this run, with noise: {say_time(noisy.time_ps)}")
    expect(hero.locator(".pl-bar-you")).to_have_count(0)  # the two times are those without


@pytest.mark.parametrize("theme", palettes())
def test_the_names_of_a_green_headlines_bar_are_legible_on_its_ground(theme):
    colours = palettes()[theme]
    for ink in ("muted", "good-ink"):  # *host* and *you*
        assert contrast(colours[ink], colours["good-wash"]) >= 4.5


def test_where_a_ratio_is_green_the_slower_paths_time_is_not(wide):
    wide.change(run(path="peer-direct"))
    you, host = (
        wide.page.locator(f".pl-bar-name{part}").evaluate("one => getComputedStyle(one).color")
        for part in (".pl-bar-you", ":not(.pl-bar-you)")
    )
    good = "rgb({}, {}, {})".format(*bytes.fromhex(palettes()["light"]["good-ink"][1:]))
    assert (you, host) == (good, MUTED)


def test_a_figure_names_the_setting_that_it_is_compared_with(wide):
    wide.change(run(path="peer-direct"))
    wide.change(run(path="peer-direct", registration="per-transfer"))
    more = wide.page.locator("[data-name=busbw] .pl-value")
    expect(more).to_have_attribute("title", "0.43\u00d7 that with the cache")
    assert "0.43" not in wide.card("busbw"), "both figures say it"
    assert "52 \u2192 22.3 GB/s" in wide.card("busbw").replace("\n", " ")
    assert wide.card("busbw").count("52") == 1, "the former value is said once"
    now = wide.page.locator("[data-name=bottleneck] .pl-value")
    expect(now).to_have_attribute("title", "with the cache: NIC send")
    assert "NIC send" not in wide.card("bottleneck"), "a card has one quiet line"
    wide.change(run(path="peer-direct", nodes=4))  # two settings
    expect(more).to_have_attribute("title", re.compile("\u00d7 that before"))
    assert "22.3 \u2192" in wide.card("busbw")
    assert wide.page.locator(".pl-before").first.evaluate("one => getComputedStyle(one).color") == MUTED, (
        "a former value warns of nothing"
    )
    slow = run(path="peer-direct", nodes=4).scenario.with_(slow_nodes={0: 0.5})
    wide.change(peerlab.simulate(slow), lines=False)
    expect(wide.page.locator("[data-name=busbw] .pl-was")).to_have_text("58.9 GB/s without slow node")
    assert "\u2192" not in wide.card("busbw"), "an arrow did not say from what"


def test_words_below_the_figures_of_two_cards_stand_on_one_line(wide):
    """What stood before an arrow moved those below it down by 2 pixels."""
    wide.change(run())
    wide.change(run(path="peer-direct"))
    assert "\u2192" in wide.card("busbw")
    heights = [
        wide.page.locator(f"[data-name={name}] .pl-value").evaluate(
            "value => value.getBoundingClientRect().bottom"
        )
        for name in ("bottleneck", "busbw")
    ]
    assert heights[0] == pytest.approx(heights[1], abs=0.5)


def test_where_registrations_are_what_a_run_waits_for_their_table_alone_is_marked(wide):
    wide.change(run(path="peer-direct"))
    assert wide.column("scene_boxes", "width").count(2.5) == 1, "the NIC"
    wide.change(run(path="peer-direct", registration="per-transfer"))
    assert wide.ask("page => page.data.meta.hot") == "registration"
    assert wide.column("scene_boxes", "width").count(2.5) == 0


def test_until_its_range_is_there_a_ratio_is_about_a_figure(wide):
    one, stands = (
        ratio_of(run().scenario),
        "page => [...page.root.querySelectorAll('.pl-ratio-bar, .pl-range, .pl-bar-here')].map(e => e.getBoundingClientRect()).map(({ x, y, height }) => [x, y, height])",
    )
    then, names = wide.ask(stands), wide.page.locator(".pl-bar-name").all_inner_texts()
    wide.give("ratio", {**one, "of": ["of another scenario"]})
    assert wide.ask(stands) == then[:1] + then[-1:], "nothing moves while it is computed"
    wide.give(
        "ratio",
        {
            **one,
            "low": None,
            "high": None,
            "sure": "",
            "condition": "(its range follows)",
            "kind": "note",
            "pending": True,
        },
    )
    assert wide.ask(stands) == then, "nor when its range comes"
    expect(wide.page.locator(".pl-bar-name")).to_have_text(names)
    expect(wide.page.locator(".pl-hero")).to_contain_text("about 1.7\u00d7")
    expect(wide.page.locator(".pl-range")).to_contain_text("(its range follows)")


def test_how_sure_the_ratio_is_opens_as_a_picture(wide):
    wide.change(run(path="peer-direct"))
    wide.page.get_by_role("button", name="how sure?").click()
    dialog = wide.page.get_by_role("dialog", name="How sure are we?")
    expect(dialog).to_contain_text(f"Simulated: {run(path='peer-direct').scenario.library_says}.")
    expect(dialog).to_contain_text("How sure are we? Peer Direct against")
    picture = dialog.locator("img")
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") >= 600
    words = run(path="peer-direct").gain_band(run()).range_in_words()
    assert picture.get_attribute("alt") == words.replace("`", "")
    expect(dialog.locator("code").first).to_have_text(words.split("`")[1])  # a command, without backticks
    assert "`" not in dialog.inner_text()
    dialog.press("h")  # a key of the page, which rests
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_a_ratio_of_another_scenario_is_not_shown(wide):
    wide.give("ratio", ratio_of(run(nodes=4).scenario))
    expect(wide.page.locator(".pl-card[data-name=ratio]")).to_have_count(0)
    assert "4.38 ms" in wide.card("time")
    wide.give("ratio", ratio_of(run().scenario))
    assert "1.16 to 2.11\u00d7" in wide.card("ratio")


def test_where_there_is_one_path_the_time_stands_in_its_place(wide):
    alone = peerlab.simulate(peerlab.Scenario(cluster="ideal-100g"))
    wide.change(alone, lines=False)
    expect(wide.page.locator(".pl-card[data-name=ratio]")).to_have_count(0)
    assert wide.card("time").startswith("Time for 64 MiB")


def test_the_page_leaves_room_for_the_controls_in_640_pixels(wide):
    for path in ("host-rdma", "peer-direct"):
        wide.change(run(path=path))
        assert wide.page.locator(".pl-root").bounding_box()["height"] <= 640 - 62  # two rows of controls
        assert wide.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


HEIGHT = "page => page.figures.model('timeline').height"


def test_lanes_follow_the_height_of_the_window(wide):
    wide.change(run())
    wide.page.locator(".pl-fold").click()
    low = wide.ask(HEIGHT)
    resize(wide.page, 1120, 900)
    wide.page.wait_for_function(f"low => ({HEIGHT})([...window.peerlabPages].at(-1)) > low", arg=low)
    resize(wide.page, 1120, 640)
    wide.page.wait_for_function(f"low => ({HEIGHT})([...window.peerlabPages].at(-1)) === low", arg=low)
    wide.page.locator(".pl-fold").click()


def test_charts_take_the_room_that_a_slide_has_below_them_and_their_words_grow(wide):
    wide.change(run(path="peer-direct"))
    low = wide.ask(HEIGHT)
    fill = """(page, [name, height]) => { const holder = page.root.parentElement;
         holder.className = name; holder.style.height = height; page.repaint() }"""
    holder, before = "page => page.root.parentElement", wide.ask("page => page.root.parentElement.className")
    wide.ask(fill, ["pl-explorer", "860px"])
    wide.page.wait_for_timeout(200)
    assert wide.ask(HEIGHT) > 1.2 * low
    assert wide.ask("page => page.figures.model('timeline_lanes').major_label_text_font_size") == "14.4px"
    ends = wide.ask(f"page => [page.root, ({holder})(page)].map(one => one.getBoundingClientRect().bottom)")
    assert ends[0] <= ends[1]
    wide.ask(fill, [before, ""])
    assert wide.ask(HEIGHT) == low
    assert wide.ask("page => page.figures.model('timeline_lanes').major_label_text_font_size") == "12.0px"


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct"])
def test_what_stands_between_the_nodes_has_one_pair_of_edges_and_one_middle(wide, path):
    """The table was 5 pixels narrower on the detour, its title began beside it, and ring and words were centred on nothing."""
    wide.change(run(path=path))
    wide.still(0.43)
    rows, title, ring, words = wide.ask(
        """({ scene, figures }) => { const at = (name) => figures.model(name).data, { x, text, align } = at('scene_words'), { steps } = scene.meta;
             const place = (pattern) => [...text.keys()].filter((i) => pattern.test(text[i])).map((i) => [x[i], align[i]])[0], begin = place(/^step /)[0];
             return [[at('scene_rows').left, at('scene_rows').right], place(/^Registered/), Math.min(...at('scene_ring').x) - 4, [begin, begin + scene.across(`step ${steps} of ${steps}`, 13, 'bold')]] }"""
    )
    assert set(zip(*rows, strict=True)) == {(414, 646)}
    assert title == [414, "left"]
    assert (ring + words[1]) / 2 == pytest.approx(WIDTH / 2, abs=1)


def test_places_of_a_row_in_host_memory_are_one_shelf(wide):
    """64 empty squares outshone the slices; in a narrow lab they were rings of 7 pixels that touched."""
    places = """({ scene, figures }) => { const { left, right, top } = figures.model('scene_slots').data, { scale, squeeze } = scene;
                 return left.map((x, i) => [x * scale, right[i] * scale, top[i] * scale / squeeze]).filter(([, , y]) => y < 70 * scale / squeeze) }"""
    wide.change(run(path="host-rdma"))
    for width, sparse in ((1120, False), (720, True)):
        resize(wide.page, width, 900)
        wide.page.wait_for_function(
            "sparse => [...window.peerlabPages].at(-1).figures.sparse === sparse", arg=sparse
        )
        drawn = wide.ask(places)
        assert len(drawn) == 4
        assert all(right - left > 100 for left, right, _ in drawn)


def test_all_hits_are_one_line_and_rows_come_back_with_a_region_that_is_registered(wide):
    """Four rows said "hit"."""
    words = "page => page.figures.model('scene_words').data.text"
    wide.change(run(path="peer-direct"))
    wide.still(0.5)
    assert {"regions looked up", "all hits"} <= set(wide.ask(words))
    assert "hit" not in wide.ask(words)
    ring = wide.ask("page => page.figures.model('scene_ring').data.y")
    wide.change(run(path="peer-direct", registration="per-transfer"))
    wide.still(0.5)
    assert "all hits" not in wide.ask(words)
    assert len([text for text in wide.ask(words) if text.startswith("Gaudi ") and "," in text]) == 4
    assert wide.ask("page => page.figures.model('scene_ring').data.y") == ring, "the middle stays"


def test_a_picture_of_less_width_names_registrations_and_keeps_ring_and_nodes_apart_from_words(wide):
    wide.change(run(path="peer-direct"))
    resize(wide.page, 720, 900)
    wide.page.wait_for_function("() => [...window.peerlabPages].at(-1).figures.sparse")
    wide.still(0.43)
    words = wide.ask("page => page.figures.model('scene_words').data")
    at = dict(zip(words["text"], zip(words["x"], words["y"], words["style"], strict=True), strict=True))
    assert {"Registered (MR)", "all hits"} <= set(at)
    assert at["node 0"][1] > 204, "below the boxes, where they leave no room beside them"
    ring, scale = wide.ask("page => [Math.max(...page.figures.model('scene_ring').data.x), page.scene.scale]")
    assert (at["step 6 of 14"][0] - ring) * scale > 12


def test_a_switch_folds_what_it_empties_and_keeps_the_height(wide):
    """Lanes that a slice passes on the data path have a row; Peer Direct leaves two of five."""
    rows = "({ timeline }) => timeline.inRows.map(lane => lane.label)"
    frame = "({ timeline }) => timeline.frame().height"
    host, high = wide.ask(rows), wide.ask(frame)
    assert host == ["PCIe to host", "PCIe from host", "DRAM", "NIC send", "NIC receive"]
    wide.change(run(path="peer-direct"))
    wide.settle()
    direct = wide.ask(rows)
    assert direct == ["NIC send", "NIC receive"]
    assert direct[0] == wide.page.locator(".pl-hot-lane").inner_text() == "NIC send"
    assert wide.ask(frame) == high


def test_lanes_beside_the_data_path_share_one_row_that_opens(wide):
    wide.change(run(path="peer-direct"))
    line, button, rows = (
        wide.page.locator(".pl-more-lanes span"),
        wide.page.locator(".pl-fold"),
        "page => page.timeline.inRows.map(lane => lane.label)",
    )
    expect(line).to_have_text("in flight, reduce (HBM), scale-up, others")
    assert wide.page.locator(".pl-more-lanes span").inner_text().count(",") <= 3, (
        "three names and how many more"
    )
    expect(wide.page.locator(".pl-more-lanes")).to_have_attribute(
        "title",
        "Beside the data path: in flight, reduce (HBM), scale-up; Idle: PCIe to host, PCIe from host, DRAM, CPU cores, registration",
    )
    expect(button).to_have_attribute("aria-expanded", "false")
    folded = wide.ask(rows)
    assert "PCIe to host" not in folded
    drawn = set(wide.column("timeline_spans", "y"))
    assert {round(y) for y in drawn} == set(range(len(folded)))
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    assert wide.ask(rows) == wide.ask("page => page.timeline.data.lanes.map(lane => lane.label)")
    button.click()
    assert wide.ask(rows) == folded


def test_the_names_of_folded_lanes_end_before_the_run_and_leave_the_axis_free(wide):
    """They crossed the line of the run's end and hid the axis below them."""
    wide.change(run(path="peer-direct"))
    wide.ask(
        "page => { page.timeline.showRun(page.timeline.data, 2.5 * page.timeline.data.end_us); page.player.draw() }"
    )
    line, end = (wide.page.locator(name).bounding_box() for name in (".pl-more-lanes span", ".pl-end"))
    expect(wide.page.locator(".pl-more-lanes span")).to_have_text(re.compile(r"^in flight, (.*, )?others$"))
    assert line["x"] + line["width"] < end["x"]
    assert line["y"] + line["height"] < end["y"] + end["height"]


def test_lanes_end_where_the_cards_above_do_in_a_narrow_window_and_the_names_of_curves_go_no_further(shown):
    before = shown.page.viewport_size
    resize(shown.page, 480, 1100)
    cards, lanes, curves = shown.ask(
        """page => { const right = (name) => page.root.querySelector(name).getBoundingClientRect().right, box = (name) => page.figures.view(name).frame.bbox, left = (name) => page.root.querySelector(name).getBoundingClientRect().left;
            return [right(".pl-cards"), left(".pl-plot") + box("timeline").right, left(".pl-curves .pl-figure") + box("curves").right] }"""
    )
    shown.page.set_viewport_size(before)
    assert lanes == pytest.approx(cards, abs=1)
    assert curves == pytest.approx(cards, abs=1)


def test_the_hint_at_merged_spans_is_there_for_a_pointer_or_the_keyboard(wide):
    hint = wide.page.locator(".pl-merged")
    wide.page.mouse.move(0, 0)
    wide.page.evaluate("document.activeElement.blur()")
    expect(hint).to_have_css("opacity", "0")
    wide.page.locator(".pl-plot").hover()
    expect(hint).to_have_css("opacity", "1")
    wide.page.mouse.move(0, 0)


def test_lanes_whose_tracks_are_too_low_show_how_busy_they_are_until_somebody_zooms_in(wide):
    single = """page => { const { timeline } = page, { y, what } = page.figures.model('timeline_spans').data;
        return [...new Set([...y.keys()].filter(i => what[i].includes('step')).map(i => timeline.inRows[Math.round(y[i])].label))] }"""
    low = {"PCIe to host", "PCIe from host", "DRAM"}
    for width, height in ((1760, 800), (1900, 1060)):
        resize(wide.page, width, height)
        wide.settle()
        assert not low & set(wide.ask(single)), "in a wide window they were dashes of two pixels, or one was"
    resize(wide.page, 1120, 640)
    assert not low & set(wide.ask(single))
    heights = wide.ask(
        """page => { const { timeline } = page, { y, height } = page.figures.model('timeline_spans').data, row = timeline.inRows.findIndex(lane => lane.label === 'PCIe to host');
            return [...y.keys()].filter(i => Math.round(y[i]) === row).map(i => height[i] * timeline.frame().height / timeline.rows) }"""
    )
    assert max(heights) > 5, "what one resource does all the time is an area"
    wide.ask("page => { page.timeline.range.setv({ start: 1.0, end: 1.4 }); page.timeline.drawSpans() }")
    assert low <= set(wide.ask(single))
    wide.page.locator(".pl-whole").click()


def test_an_area_shows_every_stage_from_its_first_span_on_and_is_no_hairline(wide):
    """Two stages on one track: the first bytes of a device's ring were missing."""
    wide.page.locator(".pl-fold").click()
    first, drawn, heights = wide.ask(
        """page => { const { timeline } = page, { spans, data: { lanes } } = timeline, lane = lanes.findIndex(({ label }) => label === 'scale-up');
            timeline.stacked = () => new Set([lane]); timeline.drawSpans(); delete timeline.stacked;
            const marks = page.figures.model('timeline_spans').data, rows = [...marks.y.keys()].filter(i => Math.round(marks.y[i]) === timeline.row[lane]), { pixel } = timeline.shown();
            const starts = [...spans.lane.keys()].filter(i => spans.lane[i] === lane).map(i => spans.start[i]);
            return [Math.min(...starts) / pixel, Math.min(...rows.map(i => marks.left[i] * timeline.unit)) / pixel, rows.map(i => marks.height[i] * timeline.frame().height / timeline.rows)] }"""
    )
    assert first - 6 <= drawn <= first + 1
    assert max(heights) >= 2.9
    wide.page.locator(".pl-fold").click()


def test_marks_thinner_than_a_pixel_are_seen(wide):
    """What adds up in a device was 1.3 : 1 against its row."""
    wide.page.locator(".pl-fold").click()
    alphas = wide.ask(
        """page => { const { timeline } = page, { y, alpha } = page.figures.model('timeline_spans').data, row = timeline.inRows.findIndex(lane => lane.label === 'reduce (HBM)');
            return [...y.keys()].filter(i => Math.round(y[i]) === row).map(i => alpha[i]) }"""
    )
    wide.page.locator(".pl-fold").click()
    assert set(alphas) == {1}
    for theme in palettes().values():
        assert contrast(theme["inside"], theme["panel"]) >= 3


def test_the_knob_above_the_timeline_is_the_cursor(wide):
    for part in (0.0, 0.31, 0.8, 1.0):
        wide.still(part)
        off = wide.ask(
            """page => { const bar = page.player.bar, box = bar.getBoundingClientRect(), knob = 12;
                 return box.left + knob / 2 + (box.width - knob) * bar.value / 1000 - page.timeline.cursor.getBoundingClientRect().left }"""
        )
        assert abs(off) < 2


def test_one_band_is_shown_that_of_this_path_or_of_the_line_under_the_pointer(wide):
    lines = wide.ask("page => page.curves.curves")
    for line in lines["lines"]:  # as Python sends them
        line["low"], line["high"] = ([0.9 * y for y in line["y"]], [1.1 * y for y in line["y"]])
    wide.give("curves", lines)
    fills = lambda: wide.column("curves_bands", "fill")  # noqa: E731
    role = lambda name: wide.ask("(page, role) => page.figures.colour(role)", name)  # noqa: E731
    assert fills() == [role("copy")]
    x, y = wide.ask(
        """page => { const { frame } = page.figures.view("curves"), box = page.find(".pl-curves .pl-figure").getBoundingClientRect();
             const line = page.curves.curves.lines.find(one => one.name === "peer-direct"), i = page.curves.curves.values.indexOf(16);
             return [box.left + frame.x_scale.compute(16), box.top + frame.y_scale.compute(line.y[i])] }"""
    )
    wide.page.mouse.move(x, y)
    assert fills() == [role("direct")]
    wide.page.mouse.move(5, 5)
    assert fills() == [role("copy")]


def test_names_of_curves_stand_at_the_ends_of_their_lines_and_the_band_has_two_edges_of_their_dark_hue(wide):
    for path in ("host-rdma", "peer-direct"):
        wide.change(run(path=path))
        assert all(x > 1024 for x in wide.column("curves_words", "x"))
        assert {*wide.column("curves_words", "text")} >= {"Peer Direct", "through host", "wire limit"}
    lines = wide.ask("page => page.curves.curves")
    for line in lines["lines"]:
        line["low"], line["high"] = ([0.9 * y for y in line["y"]], [1.1 * y for y in line["y"]])
    wide.give("curves", lines)
    assert wide.column("curves_edges", "line") == 2 * [wide.ask("page => page.figures.colour('direct-ink')")]


TIPS = [
    ((140, 95), "PCIe uplink", "PCIe to host: 14.1 GB/s, 95 % busy"),
    ((330, 165), "NIC", "NIC send: "),
    ((530, 188), "wire", "network latency 14 µs, assumed (†)"),
    ((120, 30), "host memory (DRAM)", "DRAM: "),
]


@pytest.mark.parametrize(("place", "title", "line"), TIPS)
def test_parts_say_their_figure_how_busy_they_are_and_the_source(wide, place, title, line):
    wide.still(0.0)  # no slice in the way
    box = wide.page.locator(".pl-scene").bounding_box()
    scale = box["width"] / 1060
    wide.page.mouse.move(box["x"] + place[0] * scale, box["y"] + place[1] * scale)
    tip = wide.page.locator(".pl-tip")
    expect(tip).to_be_visible()
    expect(tip.locator("b")).to_have_text(title)
    expect(tip).to_contain_text(line)
    assert "source: " in tip.inner_text() or "assumed (†): " in tip.inner_text()
    wide.page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_a_slice_says_what_it_does_and_when(wide):
    wide.still(0.22)
    x, y = wide.ask(
        """page => { const train = page.scene.shown.trains.find(one => one.crosses && one.points.length > 1), [a, b] = train.points;
             return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] }"""
    )
    box = wide.page.locator(".pl-scene").bounding_box()
    scale = box["width"] / 1060
    wide.page.mouse.move(box["x"] + x * scale, box["y"] + y * scale)
    tip = wide.page.locator(".pl-tip")
    expect(tip).to_contain_text("NIC to NIC, through host memory")
    expect(tip).to_contain_text(re.compile(r"step \d, slice "))


def test_on_a_slide_the_last_row_reads_each_word_and_nothing_needs_a_mouse(shown):
    """*Zoom in* stood on a slide, and words were of 18 pixels on a projector."""
    before, page = shown.page.viewport_size, shown.page
    resize(page, 1536, 864)
    shown.ask(
        """page => { const holder = document.createElement('div'); holder.className = 'pl-explorer';
            holder.style.cssText = 'position: fixed; inset: 0; z-index: 9; background: #fff'; page.root.before(holder); holder.append(page.root); page.repaint() }"""
    )
    roomy = "page => page.root.hasAttribute('data-roomy')"
    assert shown.ask(roomy)
    shown.ask("page => page.repaint()")
    assert shown.ask(roomy), "larger words do not take the room that made them so"
    for hidden in (".pl-merged", ".pl-player .pl-keys", ".pl-caption", ".pl-facts"):
        expect(page.locator(hidden).first).to_be_hidden()
    labels = page.locator(
        ".pl-hero [data-name=ratio] .pl-label, .pl-cards > [data-name=bottleneck] .pl-label"
    )
    looks = labels.evaluate_all(
        "all => all.map(getComputedStyle).map(({ fontSize, fontWeight }) => [fontSize, fontWeight])"
    )
    assert looks == looks[:1] * 2, "labels of cards are alike"
    expect(page.locator(".pl-dagger")).to_have_text("† assumed")
    expect(page.locator(".pl-dagger")).to_be_visible()
    sizes = """page => ['.pl-cards > .pl-card .pl-label', '.pl-cards > .pl-card .pl-note', '.pl-swatch', '.pl-tab'].map(name => {
        const one = page.root.querySelector(name); return Math.round(10 * one.currentCSSZoom * parseFloat(getComputedStyle(one).fontSize)) / 10 })"""
    smallest = 22 / 1080 * 864  # of the lines of a projector, in a window of 864
    assert min(shown.ask(sizes)) >= smallest
    assert (
        shown.ask("page => parseFloat(page.figures.model('timeline_lanes').major_label_text_font_size)")
        >= smallest
    )
    assert min(shown.ask("page => page.figures.model('scene_words').data.size.map(parseFloat)")) >= smallest
    words = shown.ask(
        """({ figures, scene }) => { const { text, x, y, size } = figures.model('scene_texts').data;
            return text.map((word, i) => [word, x[i], y[i] * scene.down, parseFloat(size[i])]) }"""
    )
    below = [(x, y, letters) for word, x, y, letters in words if word.startswith("HBM")]
    assert len(below) == 4, "of two devices of each node"
    for x, y, letters in below:
        above = max(top for _, at, top, _ in words if at == x and top < y)
        assert y - above >= 1.24 * letters, "the line below almost touched the name"
    bottom = "page => page.root.parentElement.getBoundingClientRect().bottom - page.root.getBoundingClientRect().bottom"
    assert shown.ask(bottom) >= 0, "all of it is on the slide"
    units = page.locator(".pl-units").first
    page.mouse.move(700, 400)
    expect(units).to_have_css("opacity", "1")
    expect(units).to_have_css("opacity", "0")  # the pointer rests
    page.keyboard.press("Tab")
    page.locator(".pl-unit-button").first.focus()
    expect(units).to_have_css("opacity", "1")
    page.locator(".pl-unit-button").first.evaluate("one => one.blur()")
    shown.ask("page => page.root.parentElement.replaceWith(page.root)")
    page.set_viewport_size(before)
    shown.ask("page => page.repaint()")
    expect(page.locator(".pl-dagger")).to_be_hidden()
