"""The explorer in JupyterLab in Chromium: what a user does, and what is seen."""

import re
from itertools import pairwise

import pytest
from axe_faults import axe_faults
from page_that_plays import resize
from playwright.sync_api import expect

import peerlab
from peerlab.app.controls import host_states
from peerlab.app.more_settings import Rare
from peerlab.base.units import say_time
from peerlab.picture.payload import payload
from peerlab.picture.words import alt_text
from peerlab.question.presets import known_clusters, load_cluster

SWITCHES = {
    "host": (lambda e: e.switch("host"), {"path": "peer-direct"}),
    "nodes slider": (lambda e: e.slide("nodes", "ArrowRight"), {"nodes": 16}),
    "nodes as a number": (lambda e: e.fill("nodes-text", "12"), {"nodes": 12}),
    "message slider": (lambda e: e.slide("size", "ArrowRight"), {"message_bytes": 128 * 2**20}),
    "message as text": (lambda e: e.fill("size-text", "100 MB"), {"message_bytes": 10**8}),
    "cluster": (lambda e: e.select("cluster", "Ideal 100G crossbar"), {"cluster": "ideal-100g"}),
}
"""Control to what is done with it, and the fields that the scenario shown then has."""


def check(explorer, fields):
    """Compare what is seen with a simulation of the scenario, which has these fields."""
    code = explorer.ask("page => page.data.meta.code")
    scenario = eval(code, {"peerlab": peerlab})  # noqa: S307  (what "Copy as Python" gives)
    assert {name: getattr(scenario, name) for name in fields} == fields
    run = peerlab.simulate(scenario)
    assert f"{run.busbw_GBps:.3g} GB/s" in explorer.card("busbw")
    # with noise runs without it are compared first, and on a busy machine for good: this run's time stands below them then
    expect(explorer.page.locator(".pl-hero").last).to_contain_text(say_time(run.time_ps))
    expect(explorer.page.locator(".pl-scene").last).to_have_attribute(
        "aria-label",
        re.compile("^" + re.escape(alt_text(run))),  # who is late may follow
    )
    views = payload(run)["views"]
    assert explorer.column("scene_texts", "text") == views["scene"]["texts"]["text"]
    lanes = explorer.ask(
        "page => [...page.figures.model('timeline_lanes').major_label_overrides.values()].map((label) => label.trim() || page.timeline.find('.pl-hot-lane').textContent)"
    )
    rows = [
        lane["label"]
        for lane in views["timeline"]["lanes"]
        if lane["hot"] or (lane["used"] and lane["on_path"])
    ]
    assert [label for label in lanes if not label.endswith(" more")] in (
        rows,
        [lane["label"] for lane in views["timeline"]["lanes"]],
    )
    assert max(explorer.column("timeline_spans", "right")) == pytest.approx(
        run.time_ps / 1e6 / explorer.ask("page => page.timeline.unit"),
        rel=0.05,  # with jitter, the node that is shown is not the last
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("control", SWITCHES)
def test_each_control_shows_what_it_asks_for(fresh, control):
    act, fields = SWITCHES[control]
    pixels = fresh.pixels()
    fresh.change(lambda: act(fresh))
    check(fresh, fields)
    fresh.still()
    assert fresh.pixels() != pixels


def test_the_host_switch_shows_the_gain_of_peer_direct(fresh):
    staged = fresh.figure("amount")
    fresh.change(lambda: fresh.switch("host"))
    direct = fresh.figure("amount")
    expected = [
        peerlab.simulate(peerlab.Scenario(path=path)).busbw_GBps for path in ("host-rdma", "peer-direct")
    ]
    assert [staged, direct] == pytest.approx(expected)
    assert "1.72" not in fresh.card("busbw"), "the headline says it"
    expect(fresh.page.locator(".pl-bar-you").last).to_have_text("you 2.54 ms, 1.72\u00d7")
    assert "30.2 \u2192 52 GB/s" in fresh.card("busbw").replace("\n", " ")
    assert "through host" not in fresh.card("busbw"), "the card beside it says it"
    assert "PCIe to host" not in fresh.card("bottleneck"), "the switch has just shown it"
    assert fresh.page.get_by_title("through host: PCIe to host").last.inner_text() == "NIC send"
    assert fresh.card("copies").endswith("0")


@pytest.mark.parametrize("name", ["host", "cache"])
def test_a_switch_is_answered_from_what_was_computed_ahead_and_python_says_the_same(fresh, name):
    if name == "cache":
        fresh.change(lambda: fresh.switch("host"))
    number = fresh.ask("page => page.applied")
    fresh.page.wait_for_function(
        "([name, next]) => [...window.peerlabPages].at(-1).ahead?.[name]?.meta.number === next",
        arg=[name, number + 1],
    )
    shown = """page => [page.data.views.headline, page.data.meta, page.data.views.scene.texts, page.data.views.timeline.lanes, page.data.views.scene.moves.segments]"""
    at_once = fresh.ask(
        f"(page, name) => {{ document.querySelectorAll(`.pl-${{name}} input`)[0].click(); return [page.applied, ...({shown})(page)] }}",
        name,
    )
    assert at_once[0] == number + 1
    fresh.page.wait_for_function(
        "next => [...window.peerlabPages].at(-1).model.get('data').meta.number === next", arg=number + 1
    )
    fresh.settle()
    assert fresh.ask(shown.replace("page.data.", "page.model.get('data').")) == at_once[1:]


def test_the_cache_switch_rests_on_a_host_path_and_says_why(fresh):
    expect(fresh.page.locator(".pl-cache input").last).to_be_disabled()
    expect(fresh.page.locator(".pl-cache-rests").last).to_contain_text(
        "The registration cache changes nothing here"
    )


def test_the_cache_switch_changes_everything_on_peer_direct(fresh):
    fresh.change(lambda: fresh.switch("host"))
    expect(fresh.page.locator(".pl-cache input").last).to_be_enabled()
    fresh.change(lambda: fresh.switch("cache"))
    check(fresh, {"path": "peer-direct", "registration": "per-transfer"})
    fresh.still()
    assert "Registration" in fresh.card("bottleneck")
    words = fresh.ask("page => page.figures.model('scene_words').data.text.join(' ')")
    assert "0 hits, 56 misses" in words


RARE = {
    "detour": (lambda e: e.select("baseline", "kernel TCP"), {"path": "host-tcp"}),
    "operation": (lambda e: e.select("collective", "point to point"), {"collective": "point-to-point"}),
    "regions": (lambda e: e.fill("regions", "2"), {"cache_regions": 2}),
    "page": (lambda e: e.select("page", "2 MiB"), {"page_bytes": 2**21}),
    "call": (lambda e: e.select("call", "first call, cold"), {"iterations": 1}),
    "policy": (lambda e: e.select("policy", "one static pool"), {"registration": "pool"}),
    "slice": (lambda e: e.fill("slice", "128 KiB"), {"slice_bytes": 2**17}),
    "window": (lambda e: e.fill("window", "1"), {"window": 1}),
    "dependency": (lambda e: e.select("dependency", "step by step"), {"dependency": "step"}),
    "algorithm": (lambda e: e.select("algorithm", "halving-doubling"), {"algorithm": "halving-doubling"}),
    "jitter": (lambda e: e.select("jitter", "10 %"), {"jitter": 0.1}),
    "slow": (lambda e: e.select("slow", "node 0 at 50 %"), {"slow_nodes": {0: 0.5}}),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("control", RARE)
def test_each_rare_setting_shows_what_it_asks_for(fresh, control):
    act, fields = RARE[control]
    fresh.change(lambda: fresh.switch("host"))
    if control == "page":
        fresh.change(lambda: fresh.switch("cache"))
    with fresh.unfolded("more", ".pl-more"):
        fresh.change(lambda: act(fresh))
        check(fresh, fields)


def test_an_algorithm_that_the_machine_cannot_have_is_not_offered(fresh):
    with fresh.unfolded("more", ".pl-more"):
        offered = fresh.page.locator(".pl-algorithm option").all_inner_texts()
        assert "hierarchical" in offered
        assert "ring" not in offered
        expect(fresh.page.locator(".pl-placement select").last).to_be_disabled()
    more, ring = fresh.page.locator(".pl-more-button").last, "button => getComputedStyle(button).outlineStyle"
    assert more.evaluate(ring) == "none", "the mouse closed it"
    more.press("Enter")
    assert more.evaluate(ring) == "solid"
    more.press("Enter")  # closed again
    expect(fresh.page.locator(".pl-more").last).to_be_hidden()


def test_what_a_setting_under_more_changes_is_seen_in_the_cards_above_it(fresh):
    """The panel covered the cards: a setting was chosen blindly. What it covers takes no clicks and no keys."""
    fresh.change(lambda: fresh.switch("host"))
    before = fresh.page.viewport_size
    for width in (1280, 900):
        resize(fresh.page, width, 1300)
        with fresh.unfolded("more", ".pl-more"):
            panel, cards, scene = (
                fresh.page.locator(name).last for name in (".pl-more", ".pl-cards", ".pl-scene")
            )
            end = cards.bounding_box()["y"] + cards.bounding_box()["height"]
            search = fresh.page.locator(".pl-more-search input").last.bounding_box()
            assert panel.bounding_box()["y"] == pytest.approx(end + 8, abs=4)
            assert search["y"] == pytest.approx(end + 16, abs=2)  # space, and no rule
            expect(panel).to_have_css("border-top-width", "0px")
            expect(scene).to_be_hidden()
            fresh.change(lambda: fresh.select("slow", "node 0 at 50 %"))
            expect(cards).to_contain_text("0.88 to 1.26\u00d7")
            # its chip and its node say it, and the card of the bottleneck that it makes
            expect(cards.locator(".pl-hero")).not_to_contain_text("50 %")
            expect(cards.locator("[data-name=bottleneck]")).to_contain_text("node 0 at 50\u00a0%")
            fresh.change(lambda: fresh.select("slow", "none"))
        expect(scene).to_be_visible()
    fresh.page.set_viewport_size(before)


def test_a_changed_setting_is_a_chip_that_takes_it_back(fresh):
    with fresh.unfolded("more", ".pl-more"):
        fresh.change(lambda: fresh.select("slow", "node 0 at 50 %"))
    fresh.change(fresh.page.get_by_role("button", name="Slow node: node 0 at 50 %").click)
    check(fresh, {"slow_nodes": None})
    expect(fresh.page.locator(".pl-chip")).to_have_count(0)


def test_what_changes_nothing_is_there_where_it_is_searched_and_says_so_without_a_box(fresh):
    """A grey box was heavier than that of a setting that can be changed; without one, its value stood beside those of others."""
    with fresh.unfolded("more", ".pl-more"):
        field = fresh.page.locator(".pl-more .pl-hops").last
        rests, label = field.locator("input"), field.locator(".widget-label")
        expect(field).to_be_hidden()
        fresh.page.get_by_label("Find a setting").fill("switches from")
        expect(field).to_be_visible()
        said = label.evaluate("label => getComputedStyle(label, '::after').content")
        assert said == '"not used"'
        expect(fresh.page.locator(".pl-more .pl-regions").last).to_be_hidden()  # no path registers here
        whole = fresh.page.locator(".pl-more-registration").last
        expect(whole).to_have_class(re.compile("pl-rests-all"))
        expect(rests).to_be_disabled()
        expect(rests).to_have_css("border-top-color", "rgba(0, 0, 0, 0)")
        expect(rests).to_have_css("background-color", "rgba(0, 0, 0, 0)")
        assert rests.get_attribute("placeholder") == "\u2013"
        left = "field => field.getBoundingClientRect().left + parseFloat(getComputedStyle(field).paddingLeft)"
        fresh.page.get_by_label("Find a setting").fill("fabric")
        assert rests.evaluate(left) > field.evaluate(left)  # as a value in a box
        fresh.page.get_by_label("Find a setting").fill("")


@pytest.mark.parametrize(
    ("width", "places"), [(1100, [0, 1, 2, 3, 4]), (1000, [0, 0, 1, 1, 2]), (740, [0, 0, 1, 1, 2])]
)
def test_more_has_columns_of_whole_groups_from_edge_to_edge_of_the_row_of_controls(fresh, width, places):
    """Rows of 4, 5, 3, 5 and 4 fields had a ragged right side; of three columns the last was half empty. Keys go down each column."""
    box = "one => { const { left, right, top } = one.getBoundingClientRect(); return [left, right, top] }"
    fresh.change(lambda: fresh.switch("host"))  # registration counts
    with fresh.unfolded("more", ".pl-more"):
        fresh.page.locator(".pl-explorer").last.evaluate(
            "(one, width) => { one.style.width = `${width}px` }", width
        )
        row, panel = (fresh.page.locator(name).last.evaluate(box) for name in (".pl-primary", ".pl-more"))
        groups, runs = fresh.page.locator(
            ".pl-more-group"
        ).evaluate_all(  # at one moment: bands that arrive move them
            f"""groups => [groups.map(group => [...group.querySelectorAll('select, input')].filter(one => one.offsetParent).map({box})),
                ({box})(groups[0].closest('.pl-more').querySelector('.pl-tails-button'))]"""
        )
        heads, ends = fresh.page.locator(".pl-more-group").evaluate_all(
            "groups => ['top', 'bottom'].map(edge => groups.map(group => group.getBoundingClientRect()[edge]))"
        )
        search = fresh.page.get_by_label("Find a setting").evaluate(box)
        export, save = (
            fresh.page.locator(name).last.evaluate(box)
            for name in (".pl-export-kind select", ".pl-export-write")
        )
        fresh.page.locator(".pl-explorer").last.evaluate("one => { one.style.width = '' }")
    assert panel[:2] == pytest.approx(row[:2], abs=1)
    assert search[0] == pytest.approx(panel[0], abs=1)
    assert [len(fields) for fields in groups] == [4, 4, 5, 3, 5]
    columns = [(fields[0][0], fields[0][1]) for fields in groups]
    for fields, edges in zip(groups, columns, strict=True):
        assert all(field[:2] == pytest.approx(edges, abs=1) for field in fields)
        assert all(below - above >= 40 for (*_, above), (*_, below) in pairwise(fields))
    columns_apart = [columns[places.index(place)] for place in sorted(set(places))]
    assert all(
        columns_apart[place] == pytest.approx(edges, abs=1)
        for place, edges in zip(places, columns, strict=True)
    )
    assert [columns_apart[0][0], columns_apart[-1][1]] == pytest.approx(panel[:2], abs=1)
    assert [left - right for (_, right), (left, _) in pairwise(columns_apart)] == pytest.approx(
        [16] * (len(columns_apart) - 1), abs=1
    )
    sizes = [right - left for left, right in columns_apart]
    assert sizes == pytest.approx([sizes[0]] * len(sizes), abs=1)
    tops = [fields[0][2] for fields in groups]
    gaps = [
        heads[below] - ends[above]
        for above, below in pairwise(range(len(places)))
        if places[above] == places[below]
    ]
    assert gaps == pytest.approx([18] * len(gaps), abs=1)  # each group right below the one above it
    assert [tops[places.index(place)] for place in set(places)] == pytest.approx(
        [tops[0]] * len(set(places)), abs=1
    )
    assert (*export[:2], save[0]) == pytest.approx(
        (columns_apart[0][0], columns_apart[1][1], columns_apart[2][0]), abs=1
    )
    assert export[2] > max(ends), "the last"
    assert runs[0] == pytest.approx(columns[1][0], abs=1)
    assert runs[2] > groups[1][-1][2] + 26


def test_a_narrow_lab_is_as_high_as_more_and_nothing_moves_when_that_opens(fresh):
    """The last field of it was cut at the lower edge."""
    fresh.page.locator(".pl-explorer").last.evaluate("one => { one.style.width = '484px' }")
    ends = """one => [one, one.querySelector('.pl-more')].map(part => part.getBoundingClientRect().bottom)
        .concat(one.querySelector('.pl-cards').getBoundingClientRect().top - one.getBoundingClientRect().top)"""
    (_, _, before) = fresh.page.locator(".pl-explorer").last.evaluate(ends)
    with fresh.unfolded("more", ".pl-more"):
        lab, panel, after = fresh.page.locator(".pl-explorer").last.evaluate(ends)
        gaps = fresh.page.locator(".pl-more").last.evaluate(
            """one => { const boxes = [...one.querySelectorAll('.pl-more-group, .pl-export-panel')].map(part => part.getBoundingClientRect());
                 return boxes.slice(1).map(({ top }, i) => top - boxes[i].bottom) }"""
        )
    fresh.page.locator(".pl-explorer").last.evaluate("one => { one.style.width = '' }")
    assert panel <= lab
    assert after == pytest.approx(before, abs=0.5)
    assert gaps == pytest.approx([18] * len(gaps), abs=1)


@pytest.mark.parametrize("width", [1096, 700, 480])
def test_no_value_in_more_is_cut_in_any_cluster(fresh, width):
    """As the widest value of a column: a changed one is bold."""
    rare, words = Rare(), set()
    for name in known_clusters():
        rare.show(peerlab.Scenario(cluster=name))
        for setting in (rare.library, rare.wiring.place, rare.wiring.acs, rare.transport.transport):
            style = setting._dom_classes[1]
            words |= {(style, text, place > 0) for place, (text, _) in enumerate(setting.options)}
    with fresh.unfolded("more", ".pl-more"):
        cut = fresh.page.locator(".pl-more").last.evaluate(
            """(more, [width, words]) => { const explorer = more.closest('.pl-explorer'), pen = document.createElement('canvas').getContext('2d');
                 explorer.style.width = `${width}px`;
                 const own = [...more.querySelectorAll('.pl-more-group select')].flatMap(field => [...field.options].map(one => [field, one.text, true]));
                 const offered = words.map(([style, ...rest]) => [more.querySelector(`.${style} select`), ...rest]);
                 const cut = [...own.filter(([field]) => !offered.some(([one]) => one === field)), ...offered].filter(([field, text, bold]) => {
                   const { fontSize, fontFamily, paddingLeft, paddingRight } = getComputedStyle(field);
                   pen.font = `${bold ? 650 : 400} ${fontSize} ${fontFamily}`;
                   return field.offsetParent && pen.measureText(text).width > field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
                 }).map(([_, text]) => text);
                 explorer.style.width = '';
                 return cut }""",
            [width, sorted(words)],
        )
    assert cut == []


@pytest.mark.parametrize("width", [1096, 720, 480])
def test_a_slider_is_long_enough_to_be_read(fresh, width):
    """It was 40 pixels long below a knob of 18."""
    sizes = fresh.page.locator(".pl-primary").last.evaluate(
        """(row, width) => { const explorer = row.closest('.pl-explorer');
             explorer.style.width = `${width}px`;
             const sizes = [...row.querySelectorAll('.pl-slider')].map(one => [one.querySelector('.noUi-target').offsetWidth, one.querySelector('.noUi-handle').offsetWidth + 2]);
             explorer.style.width = '';
             return sizes }""",
        width,
    )
    assert sizes == [[72, 16], [72, 16]]


def test_a_setting_that_was_changed_has_a_dark_edge_and_one_as_usual_a_pale_edge_on_the_same_ground(fresh):
    """All settings had one weight: the changed one differed by an edge two pixels thicker."""
    seen = """one => { const { fontWeight, borderTopColor, backgroundColor, color, outlineStyle } = getComputedStyle(one);
        return { bold: fontWeight === '650', edge: borderTopColor, fill: backgroundColor, ink: color, ring: outlineStyle } }"""
    with fresh.unfolded("more", ".pl-more"):
        field, other = (fresh.page.locator(f".pl-{name} select").last for name in ("slow", "jitter"))
        name = fresh.page.locator(".pl-slow .widget-label").last
        usual = field.evaluate(seen)
        other.hover()
        assert other.evaluate(seen)["edge"] != usual["edge"]
        fresh.change(lambda: fresh.select("slow", "node 0 at 50 %"))
        field.evaluate("one => one.blur()")
        changed, quiet = (
            field.evaluate(seen),
            field.evaluate("one => getComputedStyle(one.closest('.pl-more')).backgroundColor"),
        )
        other.focus()
        other.press("Shift+Tab")
        ring = field.evaluate(seen)["ring"]
        expect(field).to_have_css("outline-offset", "-1px")  # beside the letters of its name
        expect(name).to_have_css("font-weight", "400")  # its value says it
    assert (usual["bold"], usual["ring"]) == (False, "none")
    assert usual["edge"] != changed["edge"]
    assert usual["edge"] != quiet  # still seen as a field
    assert (changed["bold"], changed["edge"]) == (True, changed["ink"])
    assert usual["fill"] == changed["fill"] == quiet  # a grey ground looked disabled
    assert ring == "solid"


def test_a_word_finds_a_setting_or_its_group(fresh):
    with fresh.unfolded("more", ".pl-more"):
        search, groups = (
            fresh.page.get_by_label("Find a setting"),
            fresh.page.locator(".pl-more-group h3:visible"),
        )
        expect(groups).to_have_text(
            ["Often changed", "Noise", "Software", "Hardware and network", "Registration"]
        )
        search.fill("ulimit")
        expect(groups).to_have_text(["Registration"])
        expect(fresh.page.locator(".pl-scene").last).to_be_hidden()  # no half of it below
        expect(
            fresh.page.locator(".pl-more-group select:visible, .pl-more-group input:visible")
        ).to_have_count(1)
        search.fill("noise")
        expect(groups).to_have_text(["Often changed", "Noise"])  # a slow node stands with the first
        search.fill("")
        expect(groups).to_have_count(5)


def test_where_one_row_has_no_room_the_figures_of_the_scenario_share_the_second(fresh):
    """In a window of 900 pixels the cluster stood alone in it, with the buttons."""
    tops = fresh.page.locator(".pl-primary").last.evaluate(
        """row => { const explorer = row.closest('.pl-explorer');
             explorer.style.width = '720px';
             const tops = ['.pl-host', '.pl-cache', '.pl-buttons', '.pl-nodes', '.pl-size', '.pl-cluster'].map(one => Math.round(row.querySelector(one).getBoundingClientRect().bottom));
             explorer.style.width = '';
             return tops }"""
    )
    first, second = tops[:3], tops[3:]
    assert len(set(second)) == 1
    assert max(first) < second[0] - 40


@pytest.mark.parametrize("width", [1100, 1260, 1740])
def test_the_controls_stand_in_one_row_and_no_word_is_cut_in_any_cluster(fresh, width):
    """So wide is the explorer in windows of 1280, 1440 and 1920. The row is filled in with each cluster's words; nothing is simulated."""
    rows = [
        (load_cluster(name).title, *(text for text, _ in host_states(peerlab.Scenario(cluster=name))))
        for name in known_clusters()
    ]
    wrong = fresh.page.locator(".pl-primary").last.evaluate(
        """(row, [width, rows]) => { const list = row.querySelector('.pl-cluster select'), states = [...row.querySelectorAll('.pl-segments span > :not(b)')];
             const sized = [row, row.closest('.pl-explorer')];  // what is in the row follows the explorer's width
             sized.forEach((one, i) => (one.style.width = `${width + 4 * i}px`));
             const zoom = Number(getComputedStyle(row).zoom);
             row.style.width = `${width / zoom}px`;
             const kept = [list.selectedIndex, ...states.map(one => one.textContent)];
             const wrong = rows.filter(([title, ...names]) => {
               list.selectedIndex = [...list.options].findIndex(one => one.text === title);
               names.forEach((name, i) => (states[i].textContent = name));
               const cut = [...row.querySelectorAll('select, button, label, b, i, em')].some(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline');
               return cut || row.getBoundingClientRect().height > 44 * zoom;
             });
             sized.forEach(one => (one.style.width = ""));
             list.selectedIndex = kept[0];
             states.forEach((one, i) => (one.textContent = kept[i + 1]));
             return wrong }""",
        [width - 4, rows],
    )
    assert wrong == []


@pytest.mark.parametrize("width", [1100, 720])
def test_a_chip_stands_above_the_buttons_and_moves_nothing_down(fresh, width):
    """It had a row of its own, and everything below it went down by 28 pixels."""
    tops = fresh.page.locator(".pl-primary").last.evaluate(
        """(row, width) => { const explorer = row.closest('.pl-explorer'), chips = row.querySelector('.pl-chips');
             explorer.style.width = `${width}px`;
             const heights = [row.offsetHeight];
             chips.innerHTML = '<button class="jupyter-button pl-chip pl-fault">Slow node: node 0 at 50 % x</button>';
             heights.push(row.offsetHeight);
             const edges = [chips.firstChild, row.querySelector('.pl-actions'), row.querySelector('.pl-more-button')].map(part => part.getBoundingClientRect()).map(({ top, bottom, right }) => [top, bottom, right]);
             chips.innerHTML = ['Operation', 'Jitter', 'Slow node'].map(name => `<button class="jupyter-button pl-chip">${name} x</button>`).join('');
             heights.push(row.offsetHeight);
             chips.replaceChildren();
             explorer.style.width = '';
             return [heights, edges] }""",
        width,
    )
    (before, after, of_three), (chip, actions, more) = tops
    assert after == of_three == before
    assert more[0] - chip[1] >= 4, "a pressed button has a ground, which touched it"
    assert more[1] <= actions[1] + 0.5
    assert chip[2] == pytest.approx(actions[2], abs=1)


def test_undo_goes_back_one_change_and_reset_to_the_start(fresh):
    fresh.change(lambda: fresh.switch("host"))
    fresh.change(lambda: fresh.fill("nodes-text", "16"))
    fresh.change(fresh.page.locator(".pl-undo").last.click)
    assert fresh.ask("page => page.model.get('data').meta.code") == "peerlab.Scenario(path='peer-direct')"
    expect(fresh.page.locator(".pl-nodes-text input").last).to_have_value("8")
    fresh.change(fresh.page.locator(".pl-reset").last.click)
    assert fresh.ask("page => page.model.get('data').meta.code") == "peerlab.Scenario(path='host-rdma')"


def test_keys_do_what_the_list_says(fresh):
    fresh.still(0.4)
    root = fresh.page.locator(".pl-root").last
    root.focus()
    before = fresh.ask("page => page.player.time")
    root.press("ArrowRight")
    assert fresh.ask("page => page.player.time") > before
    root.press("Home")
    assert fresh.ask("page => page.player.time") == 0
    root.press(" ")
    assert fresh.ask("page => page.player.wanted") is True
    root.press(" ")
    assert fresh.ask("page => page.player.wanted") is False
    fresh.change(lambda: root.press("h"))
    assert "peer-direct" in fresh.ask("page => page.model.get('data').meta.code")
    fresh.change(lambda: root.press("u"))
    root.press("?")
    keys = fresh.page.locator("dialog.pl-help").last
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("every other slice")  # signs in the drawings
    fresh.page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    root.press("?")
    expect(keys).to_be_visible()
    fresh.page.keyboard.press("?")
    expect(keys).to_be_hidden()


def test_reset_brings_back_the_speed_too(fresh):
    speed = fresh.page.get_by_label("Speed").last
    speed.select_option("4")
    assert fresh.ask("page => page.player.factor") == 4
    fresh.page.locator(".pl-reset").last.click()
    expect(speed).to_have_value("1")
    assert fresh.ask("page => page.player.factor") == 1


BAD = [
    ("nodes-text", "0", "nodes: 0 is out of range"),
    ("nodes-text", "-3", "nodes: -3 is out of range"),
    ("nodes-text", "2.5", "nodes: '2.5' is not a whole number from 1 to 16384"),
    ("size-text", "64 MB/s", "message_bytes: '64 MB/s' is a rate"),
    ("size-text", "<img src=x onerror=alert(1)>", "is not a number with a unit"),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("field", "text", "says"), BAD)
def test_bad_input_is_explained_in_place_and_the_last_picture_stays(fresh, field, text, says):
    data = fresh.data()
    fresh.fill(field, text)
    alert = fresh.page.locator(".pl-error [role=alert]").last
    expect(alert).to_contain_text(says)
    assert "\n" not in alert.inner_text()
    assert fresh.data() == data
    expect(fresh.page.locator(f".pl-{field}.pl-bad")).to_have_count(1)
    assert fresh.page.locator("img[src=x]").count() == 0
    fresh.change(lambda: fresh.switch("host"))
    alert.wait_for(state="detached")


def test_a_cluster_file_that_is_not_there_is_explained(fresh):
    fresh.select("cluster", "your own file")
    fresh.fill("file", "dl2")
    alert = fresh.page.locator(".pl-error [role=alert]").last
    expect(alert).to_contain_text("unknown cluster 'dl2'; did you mean 'dl1'?")
    fresh.select("cluster", "Gaudi DL1")
    expect(alert).to_have_count(0)


def test_a_locked_memory_limit_that_is_too_low_is_explained(fresh):
    fresh.change(lambda: fresh.switch("host"))
    with fresh.unfolded("more", ".pl-more"):
        fresh.fill("memlock", "1 MiB")
        alert = fresh.page.locator(".pl-error [role=alert]").last
        expect(alert).to_contain_text("the locked-memory limit is 1 MiB")


def test_axe_finds_nothing_serious(fresh):
    with fresh.unfolded("more", ".pl-more"):
        assert axe_faults(fresh.page, ".pl-explorer", grave=True) == []


def test_every_control_can_be_reached_with_the_keyboard(fresh):
    names = fresh.page.locator(".pl-explorer").last.evaluate(
        """root => [...root.querySelectorAll('button, input, select, [role=slider], summary')]
             .filter(e => e.offsetParent && !e.disabled && e.tabIndex < 0).map(e => e.outerHTML.slice(0, 120))"""
    )
    assert names == []


def test_export_writes_what_was_before_beside_what_is_now(fresh, lab):
    fresh.change(lambda: fresh.switch("host"))
    with fresh.unfolded("more", ".pl-export-panel"):
        fresh.page.locator(".pl-export-kind select").last.select_option(label="page, before beside now")
        fresh.page.locator(".pl-export-write").last.click()
        said = fresh.page.locator(".pl-exported p", has_text="Saved as").last
        said.wait_for()
        (page,) = lab.root.glob("peerlab-*.html")
        assert page.name in said.inner_text()
        assert "RDMA through host against Peer Direct" in page.read_text()


def test_bands_come_after_the_lines_and_say_what_they_are(fresh):
    fresh.page.wait_for_function(
        "() => [...window.peerlabPages].at(-1).curves.curves.state === 'whole'",
    )
    legend = fresh.page.locator(".pl-bands").last
    expect(legend).to_have_text("range")
    expect(legend).to_have_attribute("title", re.compile("assumed figures"))
    bands, curves = fresh.ask("page => [page.figures.model('curves_bands').data, page.curves.curves]")
    assert (len(bands["xs"]), len(curves["lines"])) == (1, 4)  # one at a time
    assert curves["values"] == [
        2,
        8,
    ]  # of ten: kernels hear of `fewer_points.py`, which nothing else would tell
    for line in curves["lines"]:
        points = [one for one in zip(line["low"], line["y"], line["high"], strict=True) if one[0] is not None]
        assert len(points) == 2
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


def test_a_tab_brings_the_other_axis(fresh):
    for tab, axis in (("size", "message_bytes"), ("nodes", "nodes")):
        fresh.page.get_by_role("button", name=tab, exact=True).last.click()
        fresh.page.wait_for_function(
            "axis => [...window.peerlabPages].at(-1).curves.curves.axis === axis", arg=axis
        )


def test_the_critical_path_comes_when_it_is_asked_for(fresh):
    fresh.page.locator(".pl-critical").last.click()
    expect(fresh.page.locator(".pl-path").last).to_contain_text("On the critical path: PCIe to host")
    fresh.page.locator(".pl-critical").last.click()
    expect(fresh.page.locator(".pl-path").last).to_be_hidden()


def test_a_race_is_a_place_in_the_notebooks_theme_that_escape_and_an_arrow_leave(fresh):
    fresh.page.locator(".pl-race-button").click()
    frame = fresh.page.frame_locator(".pl-race iframe")
    expect(frame.locator("html[data-ready][data-theme=light]")).to_be_attached()
    expect(frame.locator(".rc-lane h2").first).to_have_text("RDMA through host")
    expect(fresh.page.locator(".pl-host").last).to_be_hidden()  # the race shows both of its sides
    expect(fresh.page.locator(".pl-cache").last).to_be_hidden()  # it acts on nothing here
    left = "one => one.getBoundingClientRect().left"
    race, row = (fresh.page.locator(name).last for name in (".pl-race iframe", ".pl-primary"))
    assert race.evaluate(left) == row.evaluate(left)  # 2 pixels lay between them
    scrolled = """one => { const notebook = one.closest(".jp-WindowedPanel-outer"); notebook.scrollTop = notebook.scrollHeight;
        return one.getBoundingClientRect().bottom; }"""
    assert race.evaluate(scrolled) > 300  # End led past the last cell, to an empty page
    fresh.page.evaluate("() => { document.body.dataset.jpThemeLight = 'false' }")
    expect(frame.locator("html[data-theme=dark]")).to_be_attached()
    fresh.page.evaluate("() => { document.body.dataset.jpThemeLight = 'true' }")
    frame.get_by_role("button", name="Start").click()
    expect(frame.get_by_role("button", name="Pause")).to_be_visible()
    frame.get_by_role("button", name="Pause").press("Escape")
    expect(fresh.page.locator(".pl-race iframe")).to_have_count(0)
    expect(fresh.page.locator(".pl-scene").last).to_be_visible()
    fresh.page.locator(".pl-race-button").click()
    fresh.page.locator(".pl-race").get_by_role("button", name="Explorer").click()
    expect(fresh.page.locator(".pl-race iframe")).to_have_count(0)
    fresh.page.locator(".pl-more-button").click()
    fresh.page.get_by_role("button", name="Many runs").click()
    expect(fresh.page.locator(".pl-tails-panel .pl-falls").first).to_be_attached()
    fresh.page.locator(".pl-tails-panel .pl-back").press(
        "Escape"
    )  # it has the focus, as its own button is hidden
    expect(fresh.page.locator(".pl-scene").last).to_be_visible()
    expect(fresh.page.locator(".pl-more-button").last).to_be_focused()
