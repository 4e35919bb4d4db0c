"""The explorer's pictures in Chromium: they show what was simulated, and move as the trace says."""

import io
import re

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

import peerlab
from peerlab.model.stages import STAGES, stage_kind
from peerlab.view.geometry import Geometry, place


def words(explorer):
    return explorer.ask("page => page.figures.model('scene_words').data.text")


def test_a_slow_node_is_shown_and_named_in_every_view(fresh):
    fresh.change(lambda: fresh.switch("host"))
    with fresh.unfolded("more", ".pl-more"):
        fresh.change(lambda: fresh.select("slow", "node 0 at 50 %"))
    fresh.still()
    assert "node 0, NICs at 50 %" in words(fresh)
    assert "50 Gb/s" in fresh.ask("page => page.figures.model('scene_texts').data.text")
    expect(fresh.page.locator(".pl-title").last).to_contain_text("the slow one")
    expect(fresh.page.locator(".pl-caption").last).to_contain_text("shown: node 0")
    fresh.page.locator(".pl-critical").last.click()
    expect(fresh.page.locator(".pl-path").last).to_contain_text("NIC send")


def test_the_partner_of_an_exchange_changes_from_step_to_step(fresh):
    fresh.change(lambda: fresh.switch("host"))
    with fresh.unfolded("more", ".pl-more"):
        fresh.change(lambda: fresh.select("algorithm", "halving-doubling"))
    partners = []
    for part in (0.1, 0.45, 0.98):
        fresh.still(part)
        partners += [word for word in words(fresh) if word.startswith("node ") and word != "node 0"]
    assert len(set(partners)) > 1
    assert not any(word.startswith(("from node", "to node")) for word in words(fresh))


def test_the_mark_waits_for_the_lines_of_its_scenario(fresh):
    before, without, after = fresh.ask(  # at once: the bands of this scenario may come at any time
        """page => {
             const { curves, scale } = page.curves;
             const marks = shown => {
               page.curves.showLines(shown, scale);
               return page.figures.model('curves_marks').data.x.length };
             return [curves, { ...curves, key: "of another cluster" }, curves].map(marks) }"""
    )
    assert without == 0
    assert before == after > 0


def test_bands_come_after_the_lines_and_say_what_they_are(fresh):
    fresh.page.wait_for_function(
        "() => [...window.peerlabPages].at(-1).curves.curves.bands.startsWith('band: ranges')",
        timeout=60_000,
    )
    legend = fresh.page.locator(".pl-bands").last
    expect(legend).to_contain_text("band: ranges of assumed figures (†)")
    bands, curves = fresh.ask("page => [page.figures.model('curves_bands').data, page.curves.curves]")
    assert len(bands["xs"]) == len(curves["lines"]) == 4
    for line in curves["lines"]:
        points = [one for one in zip(line["low"], line["y"], line["high"], strict=True) if one[0] is not None]
        assert len(points) > 5
        assert all(low <= y <= high for low, y, high in points)
    assert "that have a range lie at its ends" in curves["lines"][0]["note"][0]
    expected = peerlab.simulate(peerlab.Scenario(path="host-rdma")).sensitivity_band()
    at = curves["values"].index(8)
    (host,) = (line for line in curves["lines"] if line["name"] == "host-rdma")
    assert [host["low"][at], host["high"][at]] == pytest.approx([expected.low_GBps, expected.high_GBps])
    fresh.page.get_by_role("button", name="Show gigabits per second").last.click()
    in_bits = fresh.ask("page => page.figures.model('curves_bands').data.ys[0][0]")
    assert in_bits == pytest.approx(8 * bands["ys"][0][0])
    fresh.page.get_by_role("button", name="Show gigabytes per second").last.click()


def moving(run, now_ps):
    """Return (stage, device, fraction) of every slice that is on its way, from the trace's spans alone."""
    frame = run.trace.frame()
    frame = frame[frame["slice"] >= 0]
    stages = [stage.name for stage in run.scenario.stages] + ["reduce"]
    flights = frame[frame["stage"] == "flight"].set_index(["device", "step", "slice"])["end_ps"]
    found = []
    for (stage, *key), spans in frame[frame["stage"].isin(stages)].groupby(
        ["stage", "device", "step", "slice"]
    ):
        last = spans.sort_values(["end_ps", "start_ps"]).iloc[-1]
        start, end = last["start_ps"], last["end_ps"]
        if stage in ("network", "direct"):
            end = flights[tuple(key)]
        if start <= now_ps < end:
            found.append((stage, key[0], (now_ps - start) / (end - start)))
    return found


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct", "host-tcp"])
def test_slices_are_where_the_trace_says_at_five_times(fresh, path):
    if path == "peer-direct":
        fresh.change(lambda: fresh.switch("host"))
    if path == "host-tcp":
        fresh.change(lambda: fresh.select("baseline", "kernel TCP"))
    run = peerlab.simulate(peerlab.Scenario(path=path))
    geometry = Geometry(run.scenario.hardware)
    seen = 0
    for part in (0.13, 0.31, 0.5, 0.72, 0.9):
        now_ps = part * run.time_ps
        fresh.still(part)
        drawn = fresh.ask(
            """page => { const { x, y, fill } = page.figures.model('scene_slices').data;
                 return [...x.keys()].filter(i => !Number.isNaN(x[i])).map(i => [x[i], y[i], fill[i] !== page.scene.edge]) }"""
        )
        filled = [(x, y) for x, y, solid in drawn if solid]
        expected = [place(geometry, stage_kind(stage).track, *rest) for stage, *rest in moving(run, now_ps)]
        for x, y in expected:
            assert min(abs(x - a) + abs(y - b) for a, b in filled) < 0.1, (part, x, y)
        waiting = fresh.ask(
            "(page, t) => Object.values(page.scene.slices(page.player.time).counts).reduce((a, b) => a + b, 0)"
        )
        assert len(filled) >= len(expected)
        assert len(filled) - len(expected) <= waiting + 40  # others rest between stages or wait
        seen += len(expected)
    assert seen >= 5


def test_play_moves_slices_and_pause_stops_them(fresh):
    places = "page => JSON.stringify([page.player.time, ...page.figures.model('scene_slices').data.x.map(x => Number.isNaN(x) ? null : x)])"
    button = fresh.page.locator(".pl-play").last
    fresh.still(0.2)
    before = fresh.ask(places)
    button.click()
    fresh.page.wait_for_function(
        f"before => ({places})([...window.peerlabPages].at(-1)) !== before", arg=before
    )
    button.click()
    fresh.page.wait_for_function("() => ![...window.peerlabPages].at(-1).player.playing")
    stopped = fresh.ask(places)
    fresh.page.wait_for_timeout(300)
    assert fresh.ask(places) == stopped


def test_step_goes_to_the_next_event_of_the_trace(fresh):
    run = peerlab.simulate(peerlab.Scenario(path="host-rdma"))
    frame = run.trace.frame()
    frame = frame[(frame["slice"] >= 0) & ~frame["stage"].isin(["gather", "gather-reduce", "broadcast"])]
    moments = set(frame["start_ps"]) | set(frame["end_ps"])
    fresh.still(0.3)
    before = fresh.ask("page => page.player.time")
    fresh.page.locator(".pl-next").last.click()
    after = fresh.ask("page => page.player.time")
    assert after > before
    assert min(abs(after * 1e6 - moment) for moment in moments) < 2000
    fresh.page.locator(".pl-back").last.click()
    assert fresh.ask("page => page.player.time") <= before + 1e-3


def test_scrubbing_moves_every_view_with_one_clock(fresh):
    bar = fresh.page.locator(".pl-scrub").last
    bar.evaluate("bar => { bar.value = 500; bar.dispatchEvent(new Event('input')); }")
    time, length = fresh.ask("page => [page.player.time, page.player.length]")
    assert time == pytest.approx(length / 2, rel=1e-3)
    left = fresh.ask("page => page.timeline.cursor.getBoundingClientRect().left")
    bar.evaluate("bar => { bar.value = 900; bar.dispatchEvent(new Event('input')); }")
    assert fresh.ask("page => page.timeline.cursor.getBoundingClientRect().left") > left + 50
    assert re.match(r"3\.9\d ms of 4\.37 ms", fresh.page.locator(".pl-clock").last.inner_text())


def test_the_timeline_merges_what_cannot_be_told_apart_and_zooms_to_single_spans(fresh):
    fresh.change(lambda: fresh.fill("nodes-text", "1024"))
    total, drawn = fresh.ask("page => [page.timeline.spans.total, page.timeline.count]")
    assert total > 100_000
    assert 10 < drawn < 2000  # neighbours that look the same are one mark
    expect(fresh.page.locator(".pl-merged").last).to_contain_text("spans in one mark")
    fresh.ask(
        """page => { page.whole = page.figures.model('timeline_spans').data;
             page.timeline.range.setv({ start: 5.0, end: 5.2 }) }"""
    )
    fresh.page.wait_for_function(
        "() => (page => page.figures.model('timeline_spans').data !== page.whole)([...window.peerlabPages].at(-1))"
    )
    spans = fresh.ask("page => page.figures.model('timeline_spans').data")
    single = [what for what in spans["what"] if "step" in what]
    assert len(single) > 20
    run = peerlab.simulate(peerlab.Scenario(nodes=1024, path="host-rdma"))
    frame = run.trace.frame()
    sends = frame[
        (frame["resource"] == "NIC send") & (frame["start_ps"] >= 5.02e9) & (frame["end_ps"] <= 5.18e9)
    ]
    lefts = [
        left
        for left, stage in zip(spans["left"], spans["stage"], strict=True)
        if stage == STAGES["network"].says
    ]
    for start in sends["start_ps"]:
        assert min(abs(left * 1e9 - start) for left in lefts) < 5e6  # 5 us, of a window of 200 us
    fresh.page.locator(".pl-whole").last.click()


LANE = """({ timeline, figures, root }, label) => {
  const { left, top, width, height } = timeline.frame(), { lanes, stages, roles, end_us } = timeline.data, { lane, stage } = timeline.spans;
  const row = lanes.findIndex((one) => one.label === label), box = root.querySelector(".pl-timeline .pl-figure").getBoundingClientRect();
  return { x: box.left + left, width: (width * end_us) / timeline.unit / timeline.range.end,
    y: box.top + top + (height * row) / lanes.length, height: height / lanes.length,
    ground: figures.colour(lanes[row].hot ? "hot-wash" : "panel"), ink: figures.colour(roles[stage[lane.indexOf(row)]]) };
}"""
"""Where a lane of the timeline is drawn, up to the end of the run, on which ground and in which colour."""


def inked(explorer, lane):
    """Return the share of a lane that is painted, 0 to 1, as the screen shows it."""
    explorer.page.add_style_tag(content=".pl-cursor { visibility: hidden }")
    clip = explorer.ask(LANE, lane)
    ground, ink = (
        np.array([int(clip[name][i : i + 2], 16) for i in (1, 3, 5)], float) for name in ("ground", "ink")
    )
    explorer.page.wait_for_timeout(120)
    around = {
        "x": int(clip["x"]),
        "y": int(clip["y"]),
        "width": int(clip["width"]),
        "height": int(clip["height"]) + 1,
    }
    seen = np.asarray(Image.open(io.BytesIO(explorer.page.screenshot(clip=around))).convert("RGB"), float)
    cover = (seen - ground) @ (ink - ground) / ((ink - ground) @ (ink - ground))
    whole = np.where(cover > 0.55, 1, np.maximum(0, cover))  # every other span is paler, to be told apart
    return whole.sum() / (around["width"] * 0.74 * clip["height"])  # between lanes nothing is painted


@pytest.mark.parametrize(("nodes", "direct"), [(1024, False), (8, False), (8, True), (64, True)])
def test_a_lane_of_the_timeline_is_as_full_as_its_resource_is_busy(fresh, nodes, direct):
    if direct:
        fresh.change(lambda: fresh.switch("host"))
    if nodes != 8:
        fresh.change(lambda: fresh.fill("nodes-text", str(nodes)))
    fresh.page.locator(".pl-timeline").last.scroll_into_view_if_needed()
    run = peerlab.simulate(peerlab.Scenario(nodes=nodes, path="peer-direct" if direct else "host-rdma"))
    assert inked(fresh, "NIC send") == pytest.approx(run.busy["nic_tx"], abs=0.05)


INK = """({ timeline, figures }) => {
  const { y, left, right, height, alpha } = figures.model("timeline_spans").data, { lanes, end_us } = timeline.data;
  const ink = lanes.map(() => 0);
  y.forEach((at, i) => (ink[Math.round(at)] += (height[i] / 0.74) * alpha[i] * (right[i] - left[i]) * timeline.unit / end_us));
  return Object.fromEntries(lanes.map(({ label }, i) => [label, ink[i]]));
}"""
"""How full each lane is drawn."""


@pytest.mark.parametrize("nodes", [256, 1024])
def test_where_spans_cannot_be_told_apart_every_lane_is_as_full_as_it_is_busy(fresh, nodes):
    fresh.change(lambda: fresh.fill("nodes-text", str(nodes)))
    run, ink = peerlab.simulate(peerlab.Scenario(nodes=nodes, path="host-rdma")), fresh.ask(INK)
    for lane, kind in (("PCIe uplink up", "uplink_up"), ("PCIe uplink down", "uplink_down"), ("DRAM", "dram"), ("NIC receive", "nic_rx")):  # fmt: skip
        assert ink[lane] == pytest.approx(run.busy[kind], abs=0.05), lane


def test_the_critical_path_is_lit_and_broken_down(fresh):
    fresh.page.locator(".pl-critical").last.click()
    expect(fresh.page.locator(".pl-path").last).to_contain_text("On the critical path: PCIe uplink")
    lit = fresh.ask(
        "page => page.figures.model('timeline_critical').data.y.map(lane => page.timeline.data.lanes[lane].label)"
    )
    assert {"scale-up", "PCIe uplink up"} <= set(lit)
    fresh.page.locator(".pl-critical").last.click()
    assert fresh.ask("page => page.figures.model('timeline_critical').data.y") == []


def test_the_curves_show_every_path_and_the_simulated_values(fresh):
    curves = fresh.ask("page => page.curves.curves")
    assert [line["label"] for line in curves["lines"]] == [
        "RDMA through host",
        "no cache",
        "Peer Direct",
        "kernel TCP",
    ]
    for line in curves["lines"]:
        assert line["x"] == [2**k for k in range(1, 11)]
    at_eight = dict(zip(curves["lines"][0]["x"], curves["lines"][0]["y"], strict=True))[8]
    assert at_eight == pytest.approx(fresh.figure("amount"))
    assert curves["limits"]["nic"]["y"][0] == pytest.approx(93.75)
    fresh.page.locator(".pl-tab[data-axis=message_bytes]").last.click()
    fresh.page.wait_for_function(
        "() => [...window.peerlabPages].at(-1).curves.curves.axis === 'message_bytes'"
    )
    sizes = fresh.ask("page => page.curves.curves.names")
    assert (sizes[0], sizes[-1]) == ("64 KiB", "1 GiB")
    fresh.page.locator(".pl-tab[data-axis=nodes]").last.click()
    fresh.page.wait_for_function("() => [...window.peerlabPages].at(-1).curves.curves.axis === 'nodes'")


def test_units_change_at_a_click(fresh):
    fresh.page.get_by_role("button", name="Show gigabits per second").last.click()
    assert "242 Gb/s" in fresh.card("busbw")
    focused = "() => document.activeElement.getAttribute('aria-label')"
    assert fresh.page.evaluate(focused) == "Show gigabytes per second"  # the keyboard stays where it was
    assert fresh.page.locator(".pl-busbw").last.inner_text() == "Bus bandwidth, Gb/s"
    fresh.page.get_by_role("button", name="Show per device").last.click()
    assert "30.2 Gb/s" in fresh.card("busbw")
    fresh.page.get_by_role("button", name="Show gigabytes per second").last.click()
    fresh.page.get_by_role("button", name="Show per node").last.click()
    assert "30.2 GB/s" in fresh.card("busbw")


def test_assumed_figures_are_marked_and_listed(fresh):
    texts = fresh.ask("page => page.figures.model('scene_texts').data.text")
    assert "HBM †" in texts
    assert any(text.startswith("DRAM †") for text in texts)
    fresh.page.locator(".pl-caption summary").last.click()
    lines = fresh.page.locator(".pl-sources li").all_inner_texts()
    assumed = len(peerlab.load_cluster("dl1").assumptions)
    assert sum(line.startswith("†") for line in lines) == assumed
    assert any("PCIe uplink (switch.uplink): 14.1 GB/s" in line and "Source: AWS" in line for line in lines)
    fresh.page.locator(".pl-caption summary").last.click()


def test_both_themes_follow_the_notebook(fresh):
    light = fresh.pixels()
    fresh.page.evaluate(
        "() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })"
    )
    fresh.page.wait_for_selector(".pl-root[data-theme=dark]")
    fresh.page.wait_for_timeout(500)
    fresh.still()
    assert fresh.pixels() != light
    ink = fresh.ask("page => page.figures.model('scene_words').data.ink[0]")  # the name of the left node
    assert ink == fresh.ask("page => page.figures.palettes.dark.ink")
    fresh.page.evaluate(
        "() => window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Light' })"
    )
    fresh.page.wait_for_selector(".pl-root[data-theme=light]")
