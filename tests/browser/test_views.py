"""The pictures of a page, without a kernel: they show what was simulated, and move as the trace says."""

import io
import itertools
import re

import numpy as np
import pytest
from blank import lines_of, run
from overlaps import settle
from PIL import Image
from playwright.sync_api import expect

import peerlab
from peerlab.model.stages import STAGES
from peerlab.picture.moment import moment
from peerlab.picture.timeline import critical
from peerlab.picture.trains import beside_nics


def words(shown):
    return shown.column("scene_words", "text")


@pytest.mark.long("pages")
def test_a_slow_node_is_shown_and_named_in_every_view(shown):
    slow = peerlab.simulate(peerlab.Scenario(path="peer-direct", slow_nodes={0: 0.5}))
    shown.change(slow, lines=False)  # some take minutes
    shown.still()
    assert {"node 0", "NICs", "at 50 %"} <= set(words(shown))
    assert "50 Gb/s" in shown.column("scene_texts", "text")
    expect(shown.page.locator(".pl-title")).to_contain_text("node 0")
    expect(shown.page.locator(".pl-caption")).to_contain_text("shown: node 0")
    shown.ask("(page, path) => page.model.tell('msg:custom', { kind: 'critical', path })", critical(slow))
    # its NIC sends and receives at half speed: the path may go through either queue
    expect(shown.page.locator(".pl-path")).to_contain_text(re.compile(r"path: NIC (send|receive) 9\d %"))


def test_lanes_that_a_critical_path_opened_close_before_the_next_run_is_drawn(shown):
    """They closed behind it: Bokeh painted half of the new data, and the page stopped there with an error of its own."""
    slow = peerlab.simulate(peerlab.Scenario(path="peer-direct", slow_nodes={0: 0.5}))
    shown.change(slow, lines=False)
    shown.ask("(page, path) => page.model.tell('msg:custom', { kind: 'critical', path })", critical(slow))
    fold = shown.page.locator(".pl-fold")
    expect(fold).to_have_attribute("aria-expanded", "true")
    shown.ask(
        """({ figures }) => { const figure = figures.model("timeline"), spans = figures.model("timeline_spans"), order = (window.order = []);
             figure.properties.height.change.connect(() => order.push("height"));
             spans.properties.data.change.connect(() => order.push("spans")) }"""
    )
    shown.change(run())
    expect(fold).to_have_attribute("aria-expanded", "false")
    order = shown.page.evaluate("order")
    assert order.count("height") == 1, "they closed"
    assert order[0] == "height"
    assert "spans" in order


def test_what_a_run_takes_more_lies_on_no_bar_and_gives_way_to_the_clock(shown):
    shown.change(run(path="peer-direct"))
    slow = peerlab.simulate(peerlab.Scenario(path="peer-direct", slow_nodes={0: 0.5}))
    shown.change(slow, lines=False)
    said = shown.page.locator(".pl-saved")
    name = shown.page.locator(".pl-then-name")
    shown.still(0.2)
    expect(said).to_have_text(re.compile(r"\d ms more than without slow node$"))
    expect(name).to_have_text("")
    shown.still(0.75)
    expect(said).to_have_text(re.compile(r"\d ms more$"))
    expect(name).to_have_text("without slow node")  # the clock is where the longer words were
    lanes, places = shown.page.locator(".pl-then").bounding_box(), set()
    measure = shown.page.locator(".pl-measure").bounding_box()
    assert abs(measure["x"] - lanes["x"]) <= 2, "a line begins at the end of the run before"
    assert abs(measure["x"] + measure["width"] - lanes["x"] - lanes["width"]) <= 2, (
        "it ends at that of this one"
    )
    plot = shown.page.locator(
        ".pl-timeline .pl-plot"
    ).bounding_box()  # longer words begin before the difference
    for part in (0.2, 0.5, 0.6, 0.7, 0.75, 0.85, 0.99):
        shown.still(part)
        words, line = said.bounding_box(), shown.page.locator(".pl-cursor").bounding_box()
        assert words["y"] + words["height"] <= lanes["y"]
        assert plot["x"] <= words["x"] < words["x"] + words["width"] <= lanes["x"] + lanes["width"]
        knob, of_end = (line["x"] - 6, line["x"] + 6), name.bounding_box()
        assert of_end["x"] + of_end["width"] <= lanes["x"]
        assert not name.is_visible() or knob[1] < of_end["x"] or of_end["x"] + of_end["width"] < knob[0] + 6
        assert knob[1] < words["x"] or words["x"] + words["width"] < knob[0]
        places.add(round(words["x"]))
    assert len(places) > 2, "it stands in the middle where it may"


def test_all_lanes_have_the_colours_of_the_key_and_the_ground_of_the_bottleneck_ends_with_the_run(shown):
    """Lanes that were not the bottleneck were paler, as every other slice in the data path is: paler meant two things."""
    drawn = """({ timeline, figures }) => { const { y, fill, alpha } = figures.model("timeline_spans").data;
        const grounds = figures.model("timeline_grounds").data, wash = grounds.fill.indexOf(figures.colour("hot-wash"));
        return { rows: [...new Set(y.map(Math.round))], fill: [...new Set(fill)], key: timeline.data.roles.map((role) => figures.colour(role)), work: alpha.filter((part) => part === 1).length,
            until: grounds.right[wash] * timeline.unit, end: timeline.data.end_us } }"""
    for path, lanes in (("peer-direct", 2), ("host-rdma", 5)):
        shown.change(run(path=path), lines=False)
        seen = shown.ask(drawn)
        assert len(seen["rows"]) == lanes
        assert set(seen["fill"]) <= set(seen["key"])
        assert seen["work"]
        assert seen["until"] == pytest.approx(seen["end"])


def test_the_line_of_the_clock_ends_above_the_words_of_the_last_row(shown):
    """Behind them it came out again below, as a comma, and beside them it touched *others*."""
    for path in ("peer-direct", "host-rdma"):
        shown.change(run(path=path), lines=False)
        shown.still(0.3)
        line, words = (
            shown.page.locator(name).bounding_box() for name in (".pl-cursor", ".pl-more-lanes span")
        )
        assert line["y"] + line["height"] <= words["y"] + 1
        shown.page.locator(".pl-fold").click()
        settle(shown.page)
        line, lanes = (shown.page.locator(name).bounding_box() for name in (".pl-cursor", ".pl-more-lanes"))
        assert line["y"] + line["height"] <= lanes["y"] + 1
        shown.page.locator(".pl-fold").click()


def test_what_a_run_takes_less_has_a_line_from_its_end_to_that_of_the_run_before(shown):
    """A hatch over all lanes covered two fifths of the timeline."""
    shown.change(run(), lines=False)
    shown.change(run(path="peer-direct"), lines=False)
    said = shown.page.locator(".pl-saved")
    expect(said).to_have_text(re.compile(r"\d ms saved$"))
    lanes, measure = (shown.page.locator(name).bounding_box() for name in (".pl-then", ".pl-measure"))
    assert abs(measure["x"] - lanes["x"]) <= 2
    assert abs(measure["x"] + measure["width"] - lanes["x"] - lanes["width"]) <= 2
    for part in (0.2, 0.99):
        shown.still(part)
        words, line = said.bounding_box(), shown.page.locator(".pl-cursor").bounding_box()
        assert words["y"] + words["height"] <= lanes["y"]
        assert line["x"] + 6 < words["x"] < words["x"] + words["width"] <= lanes["x"] + lanes["width"]


def test_the_lane_of_the_bottleneck_has_a_bold_label_and_a_bar(shown):
    shown.change(run(path="peer-direct"), lines=False)
    label = shown.page.locator(".pl-hot-lane")
    for path, words in (("host-rdma", "PCIe to host"), ("peer-direct", "NIC send")):
        shown.change(run(path=path), lines=False)
        expect(label).to_have_text(words)
        row, top, pitch = shown.ask(
            "({ timeline }) => { const { top, height } = timeline.frame(); return [timeline.inRows.findIndex(({ hot }) => hot), top, height / timeline.rows] }"
        )
        box, plot = label.bounding_box(), shown.page.locator(".pl-timeline .pl-figure").bounding_box()
        assert abs(box["y"] + box["height"] / 2 - plot["y"] - top - pitch * (row + 0.5)) < 1
    shown.change(run(cluster="p5", nodes=4, path="peer-direct", message_bytes="64 KiB"), lines=False)
    expect(label).to_have_text("in flight")  # latency limits it


def test_the_partner_of_an_exchange_changes_from_step_to_step(shown):
    shown.change(run(path="peer-direct", algorithm="halving-doubling"))
    partners = []
    for part in (0.1, 0.45, 0.98):
        shown.still(part)
        partners += [word for word in words(shown) if word.startswith("node ") and word != "node 0"]
    assert len(set(partners)) > 1
    assert not any(word.startswith(("from node", "to node")) for word in words(shown))


def test_the_mark_waits_for_the_lines_of_its_scenario(shown):
    before, without, after = shown.ask(  # at once: the bands of this scenario may come at any time
        """page => {
             const { curves, scale } = page.curves;
             const marks = shown => {
               page.curves.showLines(shown, scale);
               return page.figures.model('curves_marks').data.x.length };
             return [curves, { ...curves, key: "of another cluster" }, curves].map(marks) }"""
    )
    assert without == 0
    assert before == after > 0


def test_what_is_slow_or_lost_is_marked_at_its_node_and_by_no_ring_where_a_chip_says_it(shown):
    """A chip at the upper right said it alone: nobody saw at which node. Before, a ring of orange pieces said it a third time."""
    chip = "there => there ? document.querySelector('.pl-explorer').append(Object.assign(document.createElement('i'), { className: 'pl-fault' })) : document.querySelector('i.pl-fault').remove()"
    shown.page.evaluate(chip, True)
    for fields, words_there, told in (
        ({"slow_nics": {(3, 2): 0}}, {"NIC\u00a03.2", "lost"}, True),
        ({"slow_nodes": {3: 0.5}}, {"NICs", "at 50 %"}, True),
        ({"slow_nics": {(3, 2): 0}, "slow_nodes": {1: 0.5}}, {"NICs", "at 50 %"}, False),
    ):
        asked = peerlab.Scenario(cluster="p4d", nodes=4, path="peer-direct", **fields)
        shown.change(peerlab.simulate(asked), lines=False)
        shown.still()
        said = shown.ask(
            "({ figures }) => { const { text, style } = figures.model('scene_words').data; return [...text.keys()].filter((i) => style[i] === 'bold').map((i) => text[i]) }"
        )
        assert {word for word in said if re.match(r"NICs?(\u00a0|$)|lost|at ", word)} == words_there
        assert shown.ask("({ scene }) => scene.isToldByChip") == told
    shown.page.evaluate(chip, False)


def trains_are_alike(shown, part, one):
    """Compare what fills links, and what waits in front of them, with the still's."""
    shown.still(part)
    drawn = shown.ask(
        """page => { const { xs, ys, line, width } = page.figures.model('scene_trains').data;
             const rim = i => Object.values(page.scene.rims).includes(line[i]) && width[i] > 11 * page.scene.scale;
             return [...xs.keys()].filter(i => line[i] !== page.scene.edge && !rim(i))  // what hides dots is no slice, nor is its dark edge on the wire
               .map(i => [xs[i][0], ys[i][0], xs[i].at(-1), ys[i].at(-1)]) }"""
    )
    expected = [
        (*points[0], *points[-1], train)
        for train in moment(one, int(part * one.time_ps)).trains
        for points in beside_nics(train.points)
    ]
    assert len(drawn) == len(expected)  # what other nodes send is one thin line
    for *ends, train in expected:
        nearest = min(drawn, key=lambda other: sum(abs(a - b) for a, b in zip(ends, other, strict=True)))
        assert nearest == pytest.approx(ends, abs=0.5), (part, train)
    assert expected


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct", "host-tcp"])
def test_slices_are_where_the_still_has_them_at_five_times(shown, path):
    """The still is compared with the trace in tests/picture/test_still.py."""
    one = run(path=path)
    shown.change(one)
    for part in (0.13, 0.31, 0.5, 0.72, 0.9):
        trains_are_alike(shown, part, one)
        shown.still(part)
        drawn = shown.ask(
            """page => { const { x, y, fill } = page.figures.model('scene_slices').data;
                 return [...x.keys()].filter(i => !Number.isNaN(x[i])).map(i => [x[i], y[i], fill[i] !== page.scene.edge]) }"""
        )
        expected = [(*slice_.at, not slice_.hollow) for slice_ in moment(one, int(part * one.time_ps)).slices]
        assert len(drawn) == len(expected)
        for x, y, solid in expected:
            assert min(abs(x - a) + abs(y - b) for a, b, fill in drawn if fill == solid) < 0.2, (part, x, y)


def test_the_edge_of_a_slice_on_the_wire_is_level(shown):
    """A sum of lengths left a hair of height, whose sign became 1.5 px at both ends: the dark edge was a wedge."""
    shown.change(run(path="host-rdma"))
    heights = shown.ask(
        """({ scene, figures }) => { const stage = Object.keys(scene.rims)[0];
             scene.drawTrains([{ stage, odd: false, hollow: false, crosses: true, variant: 0, points: [[400, 181], [640, 181 + 7e-11]] }], []);
             return figures.model('scene_trains').data.ys }"""
    )
    assert heights == [[pytest.approx(181, abs=1e-6)] * 2] * 2  # the edge, and what lies on it


def test_slices_that_go_the_other_way_on_the_wire_pass_below(shown):
    """In the dark one was mint on mint, and where its end lay near another's both looked like a fault of one."""
    shown.change(run(path="peer-direct"))
    begins = shown.ask(
        """({ scene, figures }) => { const stage = Object.keys(scene.rims)[0];
             scene.drawTrains([[0, 400, 640], [3, 500, 660]].map(([variant, from, to]) => ({ stage, odd: false, hollow: variant > 0, crosses: true, variant, points: [[from, 181], [to, 181]] })), []);
             return figures.model('scene_trains').data.xs.map(([x]) => x) }"""
    )
    below, *above = begins
    assert below == 500
    assert len(above) >= 1
    assert max(above) == 400


def test_the_dots_of_a_way_in_a_switch_are_hidden_where_a_slice_is(shown):
    """A slice goes beside them: the two looked like two ways."""
    for path in ("host-rdma", "peer-direct"):
        shown.change(run(path=path))
        shown.still(0.31)
        hidden, across = shown.ask(
            """({ scene, figures }) => { const { xs, ys, line } = figures.model('scene_trains').data, rows = [...xs.keys()];
                 const length = (i) => Math.abs(xs[i].at(-1) - xs[i][0]), near = (y) => Math.abs(y - scene.data.bus) < 8.6;
                 const legs = rows.filter((i) => line[i] !== scene.edge).flatMap((i) => xs[i].slice(1).map((x, k) => near(ys[i][k]) && near(ys[i][k + 1]) ? Math.abs(x - xs[i][k]) : 0));
                 return [rows.filter((i) => line[i] === scene.edge && near(ys[i][0])).map(length), legs.filter(Boolean)] }"""
        )
        assert len(hidden) == len(across) > 0
        assert sum(hidden) == pytest.approx(sum(across), rel=0.2)


def test_play_moves_slices_and_pause_stops_them(shown):
    places = "page => JSON.stringify([page.player.time, page.figures.model('scene_trains').data.xs])"
    button = shown.page.locator(".pl-play")
    shown.still(0.2)
    before = shown.ask(places)
    button.click()
    shown.page.wait_for_function(
        f"before => ({places})([...window.peerlabPages].at(-1)) !== before", arg=before
    )
    button.click()
    shown.page.wait_for_function("() => ![...window.peerlabPages].at(-1).player.playing")
    stopped = shown.ask(places)
    shown.page.wait_for_timeout(300)
    assert shown.ask(places) == stopped


def test_step_goes_to_the_next_event_of_the_trace(shown):
    frame = run().trace.frame()
    frame = frame[(frame["slice"] >= 0) & ~frame["stage"].isin(["gather", "gather-reduce", "broadcast"])]
    moments = set(frame["start_ps"]) | set(frame["end_ps"])
    shown.still(0.3)
    before = shown.ask("page => page.player.time")
    shown.page.locator(".pl-next").click()
    after = shown.ask("page => page.player.time")
    assert after > before
    assert min(abs(after * 1e6 - moment) for moment in moments) < 2000
    shown.page.locator(".pl-back").click()
    assert shown.ask("page => page.player.time") <= before + 1e-3


def test_scrubbing_moves_every_view_with_one_clock(shown):
    bar = shown.page.locator(".pl-scrub")
    bar.evaluate("bar => { bar.value = 500; bar.dispatchEvent(new Event('input')); }")
    time, length = shown.ask("page => [page.player.time, page.player.length]")
    assert time == pytest.approx(length / 2, rel=1e-3)
    left = shown.ask("page => page.timeline.cursor.getBoundingClientRect().left")
    bar.evaluate("bar => { bar.value = 900; bar.dispatchEvent(new Event('input')); }")
    assert shown.ask("page => page.timeline.cursor.getBoundingClientRect().left") > left + 50
    assert re.match(r"3\.9\d ms of 4\.38 ms", shown.page.locator(".pl-clock").inner_text())


@pytest.mark.long("pages")
def test_the_timeline_merges_what_cannot_be_told_apart_and_zooms_to_single_spans(shown):
    shown.change(run(nodes=1024))
    total, drawn = shown.ask("page => [page.timeline.spans.total, page.timeline.count]")
    assert total > 50_000
    assert 10 < drawn < total / 10  # neighbours that look the same are one mark
    expect(shown.page.locator(".pl-merged")).to_contain_text("spans in one mark")
    shown.ask(
        """page => { page.whole = page.figures.model('timeline_spans').data;
             page.timeline.range.setv({ start: 2.0, end: 2.02 }) }"""
    )
    shown.page.wait_for_function(
        "() => (page => page.figures.model('timeline_spans').data !== page.whole)([...window.peerlabPages].at(-1))"
    )
    spans = shown.ask("page => page.figures.model('timeline_spans').data")
    single = [what for what in spans["what"] if "step" in what]
    assert len(single) > 20
    frame = run(nodes=1024).trace.frame()
    sends = frame[
        (frame["resource"] == "NIC send") & (frame["start_ps"] >= 2.002e9) & (frame["end_ps"] <= 2.018e9)
    ]
    marks = [
        (1e9 * left, 1e9 * right)
        for left, right, stage in zip(spans["left"], spans["right"], spans["stage"], strict=True)
        if stage == STAGES["network"].says
    ]
    assert len(sends) > 5
    for start in sends["start_ps"]:  # within 0.2 us, of a window of 20 us
        assert any(left - 2e5 < start < right + 2e5 for left, right in marks)
    shown.page.locator(".pl-whole").click()


def test_a_span_shows_its_work_and_paler_the_time_in_which_it_is_held(shown):
    """NIC receive has a slice for longer than its work takes, until NIC send is through with it."""
    zoomed = """page => { const { timeline } = page;
         timeline.range.setv({ start: 1.0, end: 1.1 }); timeline.drawSpans();
         const { y, left, right, alpha, wait } = page.figures.model('timeline_spans').data, lanes = timeline.inRows;
         return [...y.keys()].filter(i => lanes[Math.round(y[i])].label === 'NIC receive')
           .map(i => ({ left: left[i], right: right[i], pale: alpha[i] < 0.3, wait: wait[i] })) }"""
    spans = shown.ask(zoomed)
    held = [(work, rest) for work, rest in itertools.pairwise(spans) if rest["pale"]]
    assert held
    for work, rest in held:
        assert not work["pale"]
        assert (rest["left"], rest["wait"]) == (work["right"], work["wait"])
        assert re.match(r"41\.9 µs of work, held for [\d.]+ µs until NIC send was through; ", work["wait"])
    shown.page.locator(".pl-whole").click()


def test_narrow_spans_that_follow_each_other_are_one_area(shown):
    """Without the cache registrations get short where many are in a row: in two shades that would be a bar code."""
    shown.change(run(path="peer-direct", registration="per-transfer"), lines=False)
    marks, pixel = shown.ask(
        """({ figures, timeline }) => { const { y, left, right, what } = figures.model("timeline_spans").data;
             const row = timeline.inRows.findIndex(({ hot }) => hot), here = [...y.keys()].filter(i => Math.round(y[i]) === row).sort((a, b) => left[a] - left[b]);
             return [here.map(i => ({ left: left[i], right: right[i], what: what[i] })), timeline.shown().pixel / timeline.unit]; }"""
    )
    assert any(re.match(r"\d+ spans, too short to tell apart here", mark["what"]) for mark in marks)
    narrow = [mark["right"] - mark["left"] < 2.4 * pixel for mark in marks]  # and a seam
    near = [after["left"] - before["right"] < pixel for before, after in itertools.pairwise(marks)]
    rows = [all(three) for three in zip(narrow, narrow[1:], near, strict=False)]
    assert not any(rows)


LANE = """({ timeline, figures, root }, label) => {
  const { left, top, width, height } = timeline.frame(), { stages, roles, end_us } = timeline.data, { lane, stage } = timeline.spans, lanes = timeline.inRows;
  const row = lanes.findIndex((one) => one.label === label), box = root.querySelector(".pl-timeline .pl-figure").getBoundingClientRect();
  return { x: box.left + left, width: (width * end_us) / timeline.unit / timeline.range.end,
    y: box.top + top + (height * row) / timeline.rows, height: height / timeline.rows,
    ground: figures.colour(lanes[row].hot ? "hot-wash" : "panel"), ink: figures.colour(roles[stage[lane.indexOf(timeline.row.indexOf(row))]]) };
}"""
"""Where a lane of the timeline is drawn, up to the end of the run, on which ground and in which colour."""


def inked(shown, lane):
    """Return the share of a lane that is painted, 0 to 1, as the screen shows it."""
    shown.page.add_style_tag(content=".pl-cursor, .pl-then, .pl-end { visibility: hidden !important }")
    shown.page.wait_for_function(
        """() => { const { timeline, figures } = [...window.peerlabPages].at(-1), { width, height } = timeline.frame(), { drawnFor } = timeline;
             return !timeline.waiting && figures.view("timeline").bbox.height === figures.model("timeline").height && drawnFor.width === width && drawnFor.height === height }"""
    )
    settle(shown.page)
    clip = shown.ask(LANE, lane)
    ground, ink = (
        np.array([int(clip[name][i : i + 2], 16) for i in (1, 3, 5)], float) for name in ("ground", "ink")
    )
    around = {
        "x": int(clip["x"]),
        "y": int(clip["y"]),
        "width": int(clip["width"]),
        "height": int(clip["height"]) + 1,
    }
    seen = np.asarray(Image.open(io.BytesIO(shown.page.screenshot(clip=around))).convert("RGB"), float)
    cover = (seen - ground) @ (ink - ground) / ((ink - ground) @ (ink - ground))
    # every other span is paler (0.72), to be told apart; time held, which is paler still, is no work. Edges cover a part of a pixel.
    whole = np.where(cover < 0.3, 0, np.minimum(cover / 0.72, 1))
    # between lanes nothing is painted, and Bokeh draws a bar in whole pixels: of a low row a part of one is much
    return whole.sum() / (around["width"] * round(0.74 * clip["height"]))


@pytest.mark.parametrize("unfolded", [False, True])
@pytest.mark.parametrize(("nodes", "direct"), [(1024, False), (8, False), (8, True), (64, True)])
def test_a_lane_of_the_timeline_is_as_full_as_its_resource_is_busy(shown, nodes, direct, unfolded):
    """In rows of 18 pixels bars of 13 were measured as if they could be 13.3 high."""
    one = run(nodes=nodes, path="peer-direct" if direct else "host-rdma")
    shown.change(one)
    if unfolded:
        shown.page.locator(".pl-fold").click()
    shown.page.locator(".pl-timeline").scroll_into_view_if_needed()
    full = inked(shown, "NIC send")
    if unfolded:
        shown.page.locator(".pl-fold").click()
    assert full == pytest.approx(one.busy["nic_tx"], abs=0.05)


INK = """({ timeline, figures }) => {
  const { y, left, right, height, alpha } = figures.model("timeline_spans").data, { end_us } = timeline.data, lanes = timeline.inRows;
  const ink = lanes.map(() => 0);
  y.forEach((at, i) => (ink[Math.round(at)] += (height[i] / 0.74) * alpha[i] * (right[i] - left[i]) * timeline.unit / end_us));
  return Object.fromEntries(lanes.map(({ label }, i) => [label, ink[i]]));
}"""
"""How full each lane is drawn."""


OUTLINE = """({ timeline, figures }, label) => {
  const { y, left, right, height, what, when } = figures.model("timeline_spans").data, row = timeline.inRows.findIndex((lane) => lane.label === label), tops = new Map();
  y.forEach((at, i) => { if (Math.round(at) === row) tops.set(left[i], (tops.get(left[i]) ?? 0) + height[i] / timeline.least) });
  const high = [...tops].sort(([a], [b]) => a - b).map(([, pixels]) => pixels), of = [...y.keys()].filter((i) => Math.round(y[i]) === row);
  return { teeth: high.filter((at, i) => i && Math.abs(at - high[i - 1]) > 2).length, low: Math.min(...high), says: of.map((i) => `${what[i]}; ${when[i]}`) };
}"""
"""How often the outline of a lane steps by more than two pixels, how low it is in pixels, and what its tips say."""


def test_the_outline_of_a_lane_that_is_not_the_bottleneck_is_smooth_and_low_shares_are_seen(shown):
    """PCIe from host and DRAM were combs of a hundred teeth, reduce (HBM) a thread."""
    shown.change(run(), lines=False)
    shown.page.locator(".pl-fold").click()
    for lane in ("PCIe from host", "DRAM"):
        outline = shown.ask(OUTLINE, lane)
        assert outline["teeth"] < 6, lane
        assert all("averaged over" in says for says in outline["says"])
    low = shown.ask(OUTLINE, "reduce (HBM)")
    assert low["low"] >= 3.99
    assert any("drawn higher, to be seen" in says for says in low["says"])
    assert all("averaged over" not in says for says in shown.ask(OUTLINE, "PCIe to host")["says"])
    shown.page.locator(".pl-fold").click()


@pytest.mark.parametrize("nodes", [256, 1024])
def test_where_spans_cannot_be_told_apart_every_lane_is_as_full_as_it_is_busy(shown, nodes):
    shown.change(run(nodes=nodes))
    ink = shown.ask(INK)
    for lane, kind in (("PCIe to host", "uplink_up"), ("PCIe from host", "uplink_down"), ("DRAM", "dram"), ("NIC receive", "nic_rx")):  # fmt: skip
        assert ink[lane] == pytest.approx(run(nodes=nodes).busy[kind], abs=0.05), lane


def test_the_critical_path_is_lit_and_broken_down(shown):
    shown.page.get_by_role("button", name="Critical path").click()
    assert shown.ask("page => page.model.sent.at(-1).command") == "critical"
    shown.ask("(page, path) => page.model.tell('msg:custom', { kind: 'critical', path })", critical(run()))
    expect(shown.page.locator(".pl-path")).to_contain_text("On the critical path: PCIe to host")
    lit = shown.ask(
        "page => page.figures.model('timeline_critical').data.y.map(lane => page.timeline.inRows[lane].label)"
    )
    assert {"scale-up", "PCIe to host"} <= set(lit)
    line, lane = (shown.page.locator(name).bounding_box() for name in (".pl-path", ".pl-more-lanes"))
    assert line["x"] <= lane["x"] - 5, "half of the axis's first number stands beside the words"
    rows = "page => page.timeline.inRows.map(({ label }) => label)"
    assert "scale-up" in shown.ask(rows), "the path passes it, so its row is open as long as the path is lit"
    shown.page.locator(".pl-fold").click()
    assert min(shown.column("timeline_critical", "y")) >= 0, "of a folded lane nothing is lit"
    shown.page.locator(".pl-fold").click()
    shown.change(run())
    assert "scale-up" in shown.ask(rows), "a row that was opened by hand stays open"
    shown.page.locator(".pl-fold").click()
    shown.ask("(page, path) => page.model.tell('msg:custom', { kind: 'critical', path })", critical(run()))
    shown.page.get_by_role("button", name="Critical path").click()
    assert shown.column("timeline_critical", "y") == []
    expect(shown.page.locator(".pl-path")).to_be_hidden()
    assert "scale-up" not in shown.ask(rows)


def test_the_curves_show_every_path_and_the_simulated_values(shown):
    drawn = shown.ask("page => page.figures.model('curves_points').data")
    by_path = {}
    for label, x, y in zip(drawn["label"], drawn["x"], drawn["y"], strict=True):
        by_path.setdefault(label, {})[x] = y
    assert set(by_path) == {"RDMA through host", "no cache", "Peer Direct", "kernel TCP"}
    assert all(sorted(points) == [2**k for k in range(1, 11)] for points in by_path.values())
    assert by_path["RDMA through host"][8] == pytest.approx(run().busbw_GBps)
    assert by_path["Peer Direct"][8] == pytest.approx(run(path="peer-direct").busbw_GBps)
    limit = shown.ask("page => page.figures.model('curves_lines').data.ys[0][0]")
    assert limit == pytest.approx(93.75)
    assert {"RDMA through host", "no cache", "Peer Direct", "kernel TCP", "wire limit"} == set(
        shown.column("curves_words", "text")
    )


def test_a_tab_asks_for_the_other_axis_and_shows_what_comes(shown):
    shown.page.get_by_role("button", name="size", exact=True).click()
    assert shown.ask("page => page.model.sent.at(-1)") == {"kind": "command", "command": "axis", "value": "message_bytes"}  # fmt: skip
    shown.give("curves", lines_of(run().scenario, "message_bytes"))
    expect(shown.page.get_by_role("button", name="size", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    ticks = shown.ask("page => [...page.figures.model('curves_values').major_label_overrides.values()]")
    assert ticks[-1] == "1 GiB"  # the others as far as they stand apart: test_words_apart
    assert len(ticks) >= 3
    assert shown.column("curves_marks", "x") == [2**26]


def test_both_themes_follow_the_notebook(shown):
    """JupyterLab says on the body of its page which theme holds."""
    said = {}
    for theme, light in (("dark", "false"), ("light", "true")):
        shown.page.evaluate("light => { document.body.dataset.jpThemeLight = light }", light)
        shown.page.wait_for_selector(f".pl-root[data-theme={theme}]")
        shown.still()
        ink, paper = shown.ask(
            "(page, theme) => [page.figures.palettes[theme].ink, page.figures.palettes[theme].panel]", theme
        )
        inks = zip(shown.column("scene_words", "text"), shown.column("scene_words", "ink"), strict=True)
        assert dict(inks)["node 0"] == ink
        assert shown.column("scene_panels", "fill")[0] == paper
        assert shown.column("timeline_grounds", "fill")[-1] == paper
        said[theme] = ink
    assert said["dark"] != said["light"]
    # VS Code says that it is dark, and may paint what is behind a widget white all the same.
    for behind, theme in (("#1f1f1f", "dark"), ("white", "light")):
        shown.page.evaluate(
            "behind => { const { body } = document; body.style.background = behind; delete body.dataset.jpThemeLight; body.className = behind === 'white' ? 'vscode-dark ' : 'vscode-dark' }",
            behind,
        )
        shown.page.wait_for_selector(f".pl-root[data-theme={theme}]")
    shown.page.evaluate(
        "() => { const { body } = document; body.removeAttribute('class'); body.style.background = ''; body.dataset.jpThemeLight = 'true' }"
    )
