"""The curves: on every cluster what is compared fills the height, and each name stands at its line's end."""

from copy import deepcopy
from itertools import pairwise
from math import isfinite

import pytest
from blank import lines_of, run
from contrasts import contrast
from page_that_plays import resize
from playwright.sync_api import expect

import peerlab
from peerlab.picture.measured import overlay, points
from peerlab.picture.plots import curves_plot
from peerlab.picture.theme import palettes
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.records.library import measured_library


def channels(colour):
    """Return red, green and blue of a colour."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def document_edge():
    """Return how dense the edges of a range are."""
    (glyph,) = (one.glyph for one in curves_plot.build().renderers if one.data_source.name == "curves_edges")
    return glyph.line_alpha


DRAWN = """page => {
    const { frame } = page.figures.view("curves"), data = (name) => page.figures.model(`curves_${name}`).data, high = (y) => frame.y_scale.compute(y) - frame.bbox.top;
    const { text, y } = data("words"), leads = data("leads"), marks = data("marks");
    return { height: frame.bbox.height, zero: high(0), highest: Math.min(...["points", "measured", "marks"].flatMap((name) => data(name).y).filter(isFinite).map(high)),
      names: text.map((words, i) => [words, high(y[i])]), leads: leads.ys.map((ys, i) => ({ ends: ys.map(high), colour: leads.line[i], sample: leads.line[i + 1], thin: leads.width[i] === 1 && !leads.dash[i].length })).filter(({ thin }) => thin),
      brackets: leads.ys.flatMap((ys, i) => (leads.width[i] === 1.3 && leads.xs[i][0] === leads.xs[i][1] && leads.xs[i][0] > page.curves.after(5) ? [ys.map(high)] : [])),
      circles: marks.y.map((at, i) => [high(at), marks.size[i] / 2]), legend: page.curves.legend, tick: high(Math.max(...page.figures.model("curves_steps").ticks)),
      beside: frame.x_scale.compute(data("words").x[0]) + page.curves.find(".pl-figure").getBoundingClientRect().left - Math.max(...[...page.curves.find(".pl-bands").querySelectorAll("*")].map((part) => part.getBoundingClientRect().right)),
      chosen: page.curves.curves.lines.find(({ name }) => name === page.curves.mark.line).label };
}"""
"""What the curves draw, in pixels below the top of their frame."""


def shown_lines(shown, scenario, axis="nodes"):
    """Show a scenario with its curves; return what is drawn."""
    shown.change(run(**scenario), lines=False)
    shown.give("curves", lines_of(run(**scenario).scenario, axis))
    shown.settle()
    return shown.ask(DRAWN)


@pytest.mark.sample(4)
@pytest.mark.parametrize("axis", ["nodes", "message_bytes"])
@pytest.mark.parametrize("cluster", known_clusters())
def test_what_is_compared_fills_the_height_and_names_stand_in_order(shown, cluster, axis):
    for path in list(load_cluster(cluster).paths)[:2]:
        drawn = shown_lines(shown, {"cluster": cluster, "path": path}, axis)
        assert drawn["zero"] - drawn["highest"] >= 0.59 * drawn["height"]
        assert drawn["tick"] <= drawn["highest"] + 0.01, "nothing lies above the last line of the grid"
        for y, radius in drawn["circles"]:
            assert radius <= y <= drawn["height"] - radius, "a circle is whole"
        places = [y for _, y in drawn["names"]]
        assert places == sorted(places)
        assert all(b - a > 12 for a, b in pairwise(places))
        if drawn["names"][0][0].startswith("\u2191"):
            assert 6 <= places[0] + 0.01 <= drawn["tick"] + 0.01, (
                "whole, and above the axis, as what it names"
            )
            assert drawn["beside"] > 6, "clear of the legend"
        else:
            assert drawn["legend"] <= places[0]
        assert drawn["chosen"] in [name for name, _ in drawn["names"]]
        led = [min(places, key=lambda place: abs(place - lead["ends"][1])) for lead in drawn["leads"]]
        own = [y for name, y in drawn["names"] if not name.startswith("≈")]
        shared = [y for y in own if any(top <= y <= low for top, low in drawn["brackets"])]
        assert sorted(led + shared) == [y for name, y in drawn["names"] if not name.startswith(("↑", "≈"))], (
            "every line leads to its name, or a bracket to those of several"
        )
        for lead, place in zip(drawn["leads"], led, strict=True):
            assert lead["ends"][1] == pytest.approx(place, abs=0.01)
            assert lead["colour"] == lead["sample"]
        begins = [lead["ends"][0] for lead in drawn["leads"]]
        assert begins == sorted(begins), "no lead crosses another"


SMALL = {"cluster": "p5", "nodes": 16, "path": "peer-direct", "message_bytes": "1 MiB"}


def test_lines_of_the_scenario_before_are_pale_until_its_own_are_known_and_words_keep_their_contrast(shown):
    """All of the chart was pale, and its words hardly to be read."""
    drawn = """page => ({ figure: getComputedStyle(page.find(".pl-curves .pl-figure")).opacity, dark: [...new Set(page.figures.model("curves_lines").data.alpha)],
        dots: page.figures.model("curves_points").data.fill, words: page.figures.model("curves_words").data.ink, marks: page.figures.model("curves_marks").data.fill })"""
    new = shown.ask(drawn)
    old = shown.ask(
        f"page => {{ page.curves.showLines({{ ...page.curves.curves, state: 'old' }}, page.scale); return ({drawn})(page) }}"
    )
    assert (new["figure"], new["dark"], old["figure"]) == ("1", [1], "1")
    assert all(alpha < 0.5 for alpha in old["dark"])
    assert old["dots"] == [f"{colour}73" for colour in new["dots"]]
    assert old["words"] == new["words"]
    assert old["marks"] == new["marks"], "the mark is this scenario's"


def test_a_limit_far_above_the_lines_is_an_arrow_and_its_name_says_its_value(shown):
    """It was a line without a scale above a break of the axis."""
    names = [name for name, _ in shown_lines(shown, SMALL)["names"]]
    limit = lines_of(run(**SMALL).scenario, "nodes")["limits"]["nic"]["y"]
    assert names[0] == f"↑ wire limit {limit[-1]:.0f}"
    assert not any(map(isfinite, shown.column("curves_lines", "ys")[0]))
    assert shown.ask("page => page.curves.y.last") < 0.2 * limit[-1]
    shown.change(run())
    assert "wire limit" in shown.column("curves_words", "text"), "on the axis it has no need of it"


def test_lines_of_which_some_take_long_end_at_one_place_and_names_stand_in_their_order(shown):
    """A line that ended early led by dots through the others to its name."""
    scenario = run(path="peer-direct").scenario
    lines = {**deepcopy(lines_of(scenario, "nodes")), "simulated": 5}
    lines["lines"][0]["y"][5:] = [None] * 5
    shown.change(run(path="peer-direct"), lines=False)
    shown.give("curves", lines)
    drawn = "page => page.figures.model('curves_points').data.x"
    assert max(shown.ask(drawn)) == lines["values"][4] == 32
    ends = {line["label"]: line["y"][4] for line in lines["lines"]}
    names = [name for name in shown.column("curves_words", "text") if name in ends]
    assert [ends[name] for name in names] == sorted(ends.values(), reverse=True)
    shown.change(run(path="peer-direct", nodes=64), lines=False)
    shown.give("curves", {**lines, "key": shown.ask("page => page.curves.mark.of.nodes")})
    assert max(shown.ask(drawn)) == 64, "what is shown lies on its line"


def test_while_curves_are_computed_measured_points_have_their_key(shown):
    scenario = run(cluster="p4d", nodes=4, path="peer-direct").scenario
    known = [point for records in measured_library().values() for point in points(records)]
    shown.change(run(cluster="p4d", nodes=4, path="peer-direct"), lines=False)
    shown.give("measured", {**shown.ask("page => page.model.get('measured')"), **overlay(scenario, known)})
    legend = shown.page.locator(".pl-bands > span")
    whole = lines_of(scenario, "nodes")
    for state, says in (
        ("lines", "computing the curves"),
        ("old", "computing the curves"),
        ("ranges", "computing the range"),
    ):
        shown.give("curves", {**whole, "state": state})
        assert legend.all_inner_texts() == ["◇ measured", says]
    shown.give("curves", {**whole, "state": "whole"})
    assert legend.all_inner_texts() == ["◇ measured"]


def test_lines_of_one_colour_are_told_apart_by_dashes_and_of_lines_on_each_other_a_name_says_that_they_are_equal(
    shown,
):
    """In dashes of two colours, or as a core in the other, it looked like a third line; left out, its name pointed at nothing."""
    shown_lines(shown, {"cluster": "p4d", "nodes": 4, "path": "peer-direct"})
    leads = shown.ask("page => page.figures.model('curves_leads').data")
    samples = {
        (line, tuple(dash))
        for line, dash, width in zip(*(leads[name] for name in ("line", "dash", "width")), strict=True)
        if width > 1 and width != 1.3  # of a bracket
    }
    drawn = {
        (line, tuple(dash))
        for line, dash in zip(*(shown.column("curves_lines", name) for name in ("line", "dash")), strict=True)
    }
    assert len(drawn) == len(shown.column("curves_lines", "line")) >= 4
    assert drawn <= samples, "each line that is drawn has its own"
    lines = deepcopy(lines_of(run().scenario, "nodes"))
    lines["lines"][0]["y"] = lines["lines"][-2]["y"]
    shown.give("curves", lines)
    colours = shown.column("curves_lines", "line")
    assert not any(shown.column("curves_lines", "dash")[1:])
    assert len(colours) == len(lines["lines"]), "the limit, and all but the line below another"
    drawn = shown.ask(DRAWN)
    names = [name for name, _ in drawn["names"]]
    covered, seen = lines["lines"][0]["label"], lines["lines"][-2]["label"]
    assert names[names.index(seen) + 1] == f"≈ {covered}"
    assert not any(top <= dict(drawn["names"])[seen] <= low for top, low in drawn["brackets"])


def test_names_leave_the_lines_most_of_the_width(shown):
    """On a slide they took more than the lines."""
    share = """page => { const { frame } = page.figures.view("curves"), { values } = page.curves;
        return (frame.x_scale.compute(values.at(-1)) - frame.bbox.left) / frame.bbox.width }"""
    before = shown.page.viewport_size
    for width, name in ((1120, "through host"), (1700, "RDMA through host")):
        resize(shown.page, width, 800)
        shown.page.wait_for_function(
            "name => [...window.peerlabPages].at(-1).figures.model('curves_words').data.text.includes(name)",
            arg=name,
        )
        assert shown.ask(share) >= 0.59
    shown.page.set_viewport_size(before)


def test_a_limit_that_is_not_whole_on_the_axis_is_its_words(shown):
    """A dashed piece of it floated there with an arrow's head, at one height of the window, and words at another."""
    shown_lines(shown, {})
    lines = deepcopy(lines_of(run().scenario, "nodes"))
    limit = lines["limits"]["nic"]["y"]
    limit[0] *= 5
    shown.give("curves", lines)
    assert not any(map(isfinite, shown.column("curves_lines", "ys")[0]))
    assert {len(xs) for xs in shown.column("curves_leads", "xs")} == {2}, "nor is there an arrow's head"
    names = [name for name, _ in shown.ask(DRAWN)["names"]]
    assert names[0] == f"\u2191 wire limit {min(limit):.0f} to {max(limit):.0f}"


def test_lines_that_end_as_one_are_named_from_the_chosen_one_on(shown):
    """Through host stood above Peer Direct, which is faster and ends where it does."""
    shown_lines(shown, {"path": "peer-direct"})
    lines = deepcopy(lines_of(run().scenario, "nodes"))
    direct = next(line for line in lines["lines"] if line["name"] == "peer-direct")
    others = [line for line in lines["lines"] if line is not direct]
    for more, line in enumerate(others):
        line["y"][-1] = direct["y"][-1] * (1 + 0.004 * more)
    shown.give("curves", lines)
    drawn = shown.ask(DRAWN)
    names = [name for name, _ in drawn["names"] if name != "wire limit"]
    assert names == [line["label"] for line in (direct, *others)]
    (lead,) = drawn["leads"]
    ((top, low),) = drawn["brackets"]
    places = dict(drawn["names"])
    assert lead["ends"][1] == pytest.approx(places.pop("wire limit"), abs=0.01)
    assert all(top <= place <= low for place in places.values()), "one bracket instead of a fan"


def test_the_range_is_seen_at_a_glance(shown):
    """Its edges were 1.4 : 1 against the paper, and its filling 1.1 : 1, later large: the edges say it. At 2.8 : 1 on white and 4.5 in the dark they read as two more lines."""
    shown_lines(shown, {})
    lines = deepcopy(lines_of(run().scenario, "nodes"))
    for line in lines["lines"]:
        line["low"], line["high"] = ([0.7 * y for y in line["y"]], [1.3 * y for y in line["y"]])
    shown.give("curves", {**lines, "bands": "range"})
    assert shown.column("curves_bands", "alpha") == [pytest.approx(0.09)]
    edge = document_edge()
    for theme, inks in palettes().items():
        for ink in ("copy-ink", "direct-ink", "register-ink", "cpu-ink"):
            parts = zip(channels(inks[ink]), channels(inks["paper"]), strict=True)
            mixed = "#" + "".join(f"{round(edge * a + (1 - edge) * b):02x}" for a, b in parts)
            assert 1.7 <= contrast(mixed, inks["paper"]) <= 3, (theme, ink)


def test_the_legend_names_the_ring_of_what_was_before(shown):
    legend = shown.page.locator(".pl-bands > [data-sign=ring]")
    assert legend.count() == 0
    shown.change(run(path="peer-direct"))
    assert legend.count() == 0, "the card of its bandwidth says what it was"
    shown.last = run(path="peer-direct")
    shown.change(run(path="peer-direct", nodes=4), lines=False)
    assert legend.inner_text() == "before"
    slow = peerlab.simulate(peerlab.Scenario(path="peer-direct", slow_nodes={0: 0.5}))
    shown.change(slow, lines=False)
    assert legend.count() == 0, "its card says what it was"


def test_the_edge_of_a_range_keeps_off_the_axis(shown):
    """That of Peer Direct without its cache lay on it."""
    shown_lines(shown, {"path": "peer-direct"})
    lines = deepcopy(lines_of(run(path="peer-direct").scenario, "nodes"))
    for line in lines["lines"]:
        line["low"], line["high"] = [0.01 for _ in line["x"]], [y and 1.2 * y for y in line["y"]]
    shown.give("curves", {**lines, "bands": "range"})
    edges = shown.ask(
        "page => page.figures.model('curves_edges').data.ys.map(ys => ys.filter(isFinite).length)"
    )
    assert edges[0] == 0
    assert edges[1] > 0


def test_your_point_left_of_the_lines_stands_above_a_tick_and_one_of_others_takes_no_width(shown):
    scenario = run(cluster="p4d", nodes=4, path="peer-direct").scenario
    known = [point for records in measured_library().values() for point in points(records)]
    measured = {**shown.ask("page => page.model.get('measured')"), **overlay(scenario, known)}
    measured["nodes"] = {**measured["nodes"], "x": [2], "y": [20.0], "line": ["direct-ink"], "own": [True], "label": [""], "note": [""]}  # fmt: skip
    lines = deepcopy(lines_of(scenario, "nodes"))
    for line in lines["lines"]:
        line["y"][0] = None
    shown.change(run(cluster="p4d", nodes=4, path="peer-direct"), lines=False)
    shown.give("measured", measured)
    shown.give("curves", lines)
    assert shown.column("curves_measured", "x") == [2]
    ticks, others = shown.ask(
        "page => [page.figures.model('curves_ticks')].flatMap(({ ticks, minor_ticks }) => [ticks, minor_ticks])"
    )
    assert 4 in ticks, "the chosen count has its words"
    assert 2 in ticks + others
    measured["nodes"]["own"] = [False]
    shown.give("measured", measured)
    assert shown.column("curves_measured", "x") == []
    assert shown.ask("page => page.curves.values[0]") == 4
    expect(shown.page.locator(".pl-bands")).not_to_contain_text("measured")


def test_the_axis_names_the_chosen_count_of_nodes_and_the_last(shown):
    """It ended at a tick without a figure."""
    scenario = peerlab.Scenario()
    for nodes in (8, 64):
        run = peerlab.simulate(scenario.with_(nodes=nodes))
        shown.change(run, lines=False)
        shown.give("curves", lines_of(run.scenario, "nodes"))
        ticks = shown.ask("page => page.figures.model('curves_ticks').ticks")
        assert nodes in ticks
        assert len(ticks) >= 4
        assert ticks[-1] == 1024
        assert len({after / before for before, after in pairwise(ticks[:-1])}) == 1, "they are evenly apart"


def test_the_axis_says_what_it_counts(shown):
    words = shown.page.locator(".pl-along")
    assert words.inner_text() == "nodes"
    shown.give("curves", lines_of(run().scenario, "message_bytes"))
    assert words.inner_text() == "size"


def test_in_the_dark_a_blue_line_has_the_lighter_blue_of_its_name(shown):
    shown_lines(shown, {"path": "peer-direct"})
    colours = {theme: shown.ask(f"page => (page.figures.theme = '{theme}', page.curves.styleOf(page.curves.curves.lines.find(({{ role }}) => role === 'register')).line)") for theme in ("dark", "light")}  # fmt: skip
    assert colours == {"dark": "register-ink", "light": "register"}


def test_the_name_of_a_line_that_lies_on_another_stands_below_that_ones(shown):
    """With a third name between them it was that of no line: neither drawn, nor said to be another's."""
    shown_lines(shown, {"path": "peer-direct"})
    lines = deepcopy(lines_of(run().scenario, "nodes"))
    first, middle, *_, last = lines["lines"]
    drawn = next(line for line in lines["lines"] if line["name"] == "peer-direct")
    for line, more in ((first, 0.001), (middle, 0.02), (last, 0.002)):
        if line is not drawn:
            line["y"] = [y and y * (1 + more) for y in drawn["y"]]
    shown.give("curves", lines)
    names = [name for name, _ in shown.ask(DRAWN)["names"]]
    covered = [line["label"] for line in (first, last) if line is not drawn]
    at = names.index(drawn["label"])
    assert {f"≈ {label}" for label in covered} <= set(names[at + 1 : at + 4])
    assert len(shown.column("curves_lines", "line")) == 1 + sum(
        not name.startswith(("≈", "wire limit")) for name in names
    )
