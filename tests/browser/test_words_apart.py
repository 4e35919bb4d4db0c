"""No word lies on another one or on a line, is cut off, or is too small: in every view, at three widths, for every cluster."""

from itertools import groupby, product
from operator import itemgetter

import pytest
from blank import ratio_of, run
from overlaps import SIZES, faults, settle, settle_drawings, watch, watched_explorer
from page_that_plays import resize, seek_share

import peerlab
from peerlab.base.units import PS_PER_MS
from peerlab.features.blame.blame_picture import blame_html
from peerlab.features.blame.blaming import Blame
from peerlab.features.fabrics.fabrics_page import fabrics_page_html
from peerlab.features.race.race_page import race_html
from peerlab.features.step.step_page import step_page_html
from peerlab.features.tails.tails import Tails
from peerlab.features.tails.tails_sheets import tails_html
from peerlab.features.tails.times import PathTimes
from peerlab.picture.curve_scenarios import lines
from peerlab.picture.curves import BAND, WHOLE, curves
from peerlab.picture.still import still_svg
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.records.library import measured_library
from peerlab.study.fabric_comparison import compare_fabrics

MOMENTS = (0.0, 0.1, 0.35, 0.8, 1.0)
RACE_MARKS = ".rc-road path:not([visibility=hidden]), .rc-cells i, .rc-lead svg path[stroke-width]"
FABRIC_MARKS = ".fb-road path:not([visibility=hidden]), .fb-bars .np-row rect"
STEP_MARKS = ".ts-road path:not([visibility=hidden]), .ts-gain path"
SMALLEST = 12.0
"""Pixels of the smallest word of the explorer and of a step."""
DRAWN_SMALLEST = 11.0
"""Of a still."""
FEW = {"nodes": 16, "message_bytes": 64 * 2**20}
"""The curves of a test end here: larger runs take long."""


@pytest.fixture(scope="module")
def watched(browser):
    """A page whose words are noted."""
    page = browser.new_page()
    watch(page)
    yield page
    page.close()


@pytest.fixture(scope="module")
def explorer(browser):
    """The explorer without a kernel, on a page whose words are noted."""
    with watched_explorer(browser) as lab:
        yield lab


def open_text(page, text, folder):
    """Open a page that was written as text."""
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")


@pytest.fixture
def through(drawn):
    """What says what is wrong in a page, at a third of the widths and moments."""

    def walk(page, **how):
        return list(faults_of(page, drawn(product(SIZES, MOMENTS), part=3), **how))

    return walk


def faults_of(page, cases, *, marks="", moving=False, least=12.0):
    """Yield what is wrong in windows of some sizes at some moments; `moving` pictures are painted a frame later."""
    for (width, height), moments in groupby(cases, itemgetter(0)):
        resize(page, width, height)
        settle_drawings(page)
        for _, part in moments:
            seek_share(page, part)
            if moving:
                settle(page)
            for one in faults(page, marks=marks, least=least):
                yield f"{width} wide at {part:.0%}: {one}"


def rivals(cluster):
    """Return the paths of a cluster, each against its first one."""
    first, *others = load_cluster(cluster).paths
    return [(first, other) for other in others]


RIVALS = [(cluster, *paths) for cluster in known_clusters() for paths in rivals(cluster)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("cluster", "path", "other"), RIVALS)
def test_words_of_a_race(watched, through, tmp_path, cluster, path, other):
    race = peerlab.race(peerlab.Scenario(cluster=cluster, path=path), path=other)
    page = race_html(race)
    slide = page.replace('data-mode="page"', 'data-mode="slide"').replace('"mode": "page"', '"mode": "slide"')
    for text in (page, slide):
        open_text(watched, text, tmp_path)
        assert through(watched, marks=RACE_MARKS) == []


@pytest.mark.sample(3)
@pytest.mark.parametrize(("cluster", "path", "other"), RIVALS)
def test_words_of_a_race_in_half_a_window_and_on_a_phone(watched, tmp_path, cluster, path, other):
    """On a road of 330 pixels a count of waiting slices has a place of its own, too."""
    open_text(
        watched, race_html(peerlab.race(peerlab.Scenario(cluster=cluster, path=path), path=other)), tmp_path
    )
    cases = list(product(((740, 800), (600, 900), (390, 844)), MOMENTS))
    # narrow, the chart makes room for the answer, and is painted anew in that frame
    assert list(faults_of(watched, cases, marks=RACE_MARKS, moving=True)) == []


def short_curves(scenario, axis):
    """Return the curves of a scenario as far as they are quick to simulate, with bands that nobody computed."""
    found = [
        (
            line,
            [
                peerlab.simulate(one) if one and getattr(one, axis) <= FEW[axis] else None
                for one in line.scenarios
            ],
        )
        for line in lines(scenario, axis)
    ]
    drawn = curves(scenario, axis, found)
    for line in drawn["lines"]:
        line["low"], line["high"] = ([y and share * y for y in line["y"]] for share in (0.9, 1.1))
    return {**drawn, "bands": BAND, "state": WHOLE}


@pytest.mark.sample(2)
@pytest.mark.parametrize("cluster", known_clusters())
def test_words_of_the_explorer(explorer, through, cluster):
    """One path after another, so that each says what was before."""
    explorer.last, found = None, []
    for number, path in enumerate(list(load_cluster(cluster).paths)[:2]):
        one = run(cluster=cluster, path=path)
        explorer.change(one, lines=False)
        explorer.give("ratio", ratio_of(one.scenario))
        explorer.give("curves", short_curves(one.scenario, "nodes" if number else "message_bytes"))
        explorer.settle()
        found += [f"{path}: {one}" for one in through(explorer.page, moving=True, least=SMALLEST)]
    assert found == []


BEYOND_THE_CURVES = """page => {
    const { frame } = page.figures.view("curves"), { x, text } = page.figures.model("curves_words").data, pen = document.createElement("canvas").getContext("2d");
    pen.font = `650 ${12 * page.figures.zoom}px ${getComputedStyle(document.body).fontFamily}`;
    return x.map((at, i) => frame.x_scale.compute(at) + pen.measureText(text[i]).width - frame.bbox.right);
}"""
"""How many pixels of each curve's name are cut off."""


@pytest.mark.parametrize("width", [1120, 848])
def test_words_of_an_axis_of_sizes_in_a_notebook(explorer, width):
    """JupyterLab's bars leave an explorer of 1120 pixels in a window of 1280, and its list of files one of 848."""
    resize(explorer.page, width, 640)
    explorer.change(run(), lines=False)
    explorer.still()  # what plays behind another page slows it down
    explorer.give("curves", short_curves(run().scenario, "message_bytes"))
    explorer.settle()
    settle(explorer.page)
    assert faults(explorer.page, ".pl-curves", least=SMALLEST) == []
    assert max(explorer.ask(BEYOND_THE_CURVES)) <= 0


def test_words_of_a_registration_table_beside_a_list_of_files(explorer):
    """Whose memory it is, and what registering it took, are left out where the words have no room."""
    resize(explorer.page, 848, 900)
    explorer.change(run(path="peer-direct", registration="per-transfer"), lines=False)
    for part in (0.2, 0.5, 0.8):
        explorer.still(part)
        settle(explorer.page)
        texts = explorer.column("scene_words", "text")
        assert any(text.startswith(("registering", "registered", "released")) for text in texts)
        assert faults(explorer.page, ".pl-scene", least=SMALLEST) == []


@pytest.mark.parametrize("width", [1280, 960])
def test_words_in_the_box_of_a_nic_are_clear_of_slices_which_end_at_its_edge(explorer, width):
    """At 960 pixels "NIC 0.0 †" lay under them, and they crossed the orange edge of a bottleneck."""
    resize(explorer.page, width, 900)
    slow = peerlab.Scenario(path="peer-direct", slow_nodes={0: 0.5})
    explorer.change(peerlab.simulate(slow), lines=False)
    explorer.still(0.43)
    settle(explorer.page)
    inside, drawn = explorer.ask(
        """({ scene, figures }) => { const [left, top, right, bottom] = scene.data.nic, { xs, ys } = figures.model('scene_trains').data;
             const within = (x, y) => [x, 1060 - x].some((at) => left + 0.01 < at && at < right - 0.01) && top + 0.01 < y && y < bottom - 0.01;
             return [xs.flatMap((line, i) => line.slice(1).filter((x, k) => within((x + line[k]) / 2, (ys[i][k] + ys[i][k + 1]) / 2))), xs.length] }"""
    )
    assert drawn
    assert inside == []
    names = explorer.ask(
        "({ scene }) => scene.standing().filter(([, , text]) => /^NIC .*†/.test(text)).map(([, y]) => y)"
    )
    assert len(names) == 2
    assert len(set(names)) == 1, "the names of both NICs are at one height"


def test_a_data_path_of_720_pixels_says_how_many_wait_and_how_busy_links_are(explorer):
    """It had names only, though much of it was blank."""
    resize(explorer.page, 720, 900)
    explorer.change(run(path="host-rdma"), lines=False)
    explorer.still(0.43)
    settle(explorer.page)
    words = explorer.column("scene_texts", "text") + explorer.column("scene_words", "text")
    assert {"PCIe switch", "24 % busy", "6 wait"} <= set(words)
    busy, down = explorer.ask(
        "({ scene, figures }) => { const { text, y } = figures.model('scene_texts').data; return [y[text.indexOf('24 % busy')], scene.down] }"
    )
    assert (158 - busy) * down - 0.6 * 12 >= 1.9, "its y touched the box of the NIC"
    assert faults(explorer.page, ".pl-scene", least=SMALLEST) == []


def test_a_slow_nodes_nic_says_its_rate_where_there_are_names_only_and_no_number_stands_alone(explorer):
    """The figure that the view is about was left out, and "2 slices wait" was a "2" between two boxes."""
    resize(explorer.page, 720, 900)
    explorer.change(peerlab.simulate(peerlab.Scenario(path="peer-direct", slow_nodes={0: 0.5})), lines=False)
    explorer.still(0.43)
    settle(explorer.page)
    assert {"50 Gb/s", "100 Gb/s"} <= set(explorer.column("scene_texts", "text"))
    assert {text for text in explorer.column("scene_words", "text") if text.isdecimal()} == {"8"}
    assert faults(explorer.page, ".pl-scene", least=SMALLEST) == []


def test_how_many_wait_at_both_nodes_is_said_once(explorer):
    """Below a picture of two nodes that are alike stood "2 slices wait" twice; of another number the second has its words."""
    resize(explorer.page, 1280, 720)
    explorer.change(run(path="host-rdma"), lines=False)
    explorer.still(0.43)
    settle(explorer.page)
    assert explorer.column("scene_words", "text").count("6 slices wait") == 1
    said = explorer.ask(
        """({ scene }) => { scene.queues = { first: { count: 2, places: [[110, 107]] }, second: { count: 2, places: [[950, 107]] } };
             return [[2, [[950, 107]]], [3, [[950, 107]]], [2, [[110, 107]]], [2, [[950, 60]]]].map((queue) => scene.isSaidAtFirst(...queue)) }"""
    )
    assert said == [True, False, False, False]


def test_a_queue_that_is_longer_than_its_places_has_the_sign_of_more(explorer):
    """36 slices that wait were drawn as six."""
    explorer.change(run(cluster="p4d", nodes=4, path="peer-direct"), lines=False)
    explorer.still(0.43)
    queues = explorer.ask(
        "({ scene }) => Object.values(scene.queues).map(({ count, places }) => [count, places.length])"
    )
    longer = sum(count > places for count, places in queues)
    assert longer
    assert explorer.column("scene_words", "text").count("\u22ee") == longer


def test_where_a_cpu_has_no_room_beside_slices_for_its_name_it_has_a_short_one(explorer):
    """At 900 pixels the slices of kernel TCP crossed "CPU cores", which was as wide as its box."""
    names = []
    for width in (1280, 720):  # the lab has that in a window of 900
        resize(explorer.page, width, 900)
        explorer.change(run(path="host-tcp"), lines=False)
        settle(explorer.page)
        names += [text for text in explorer.column("scene_texts", "text") if text.startswith("CPU")]
    assert names == ["CPU cores", "CPU cores", "CPU", "CPU"]


def test_how_many_wait_stands_left_of_slices_that_wait_for_something_else(explorer):
    """Kernel TCP: "13 slices wait" lay over the slices beside the foot of the uplink."""
    ends = explorer.ask(
        """({ scene }) => { scene.queues = { foot: { count: 2, places: [[110, 107], [110, 101], [110, 60]] } };
             return [[115, 107, "right"], [115, 60, "right"], [115, 107, "left"]].map((place) => scene.besideQueue(...place)) }"""
    )
    assert ends == [102, 115, 115]


def test_words_of_a_run_that_comes_in_the_same_instant_as_another_size(explorer):
    """The browser says that the size has changed when the run is painted: its words are fitted by then."""
    resize(explorer.page, 1280, 720)
    explorer.change(run(), lines=False)
    settle(explorer.page)
    explorer.ask("page => { page.root.style.width = '700px'; page.apply(page.data) }")
    settle(explorer.page)
    assert faults(explorer.page, ".pl-scene", least=SMALLEST) == []
    explorer.ask("page => { page.root.style.width = '' }")


@pytest.mark.parametrize("size", [(1280, 720), (900, 700)])
def test_how_many_wait_before_a_nic_lies_on_no_other_word(watched, tmp_path, size):
    """In the film at the head of README "5 wait" lay on "from node 1", and beside a slow node stood a lone "2"."""
    peerlab.export_html(
        peerlab.Scenario(path="peer-direct"), tmp_path / "film.html", mode="figure", bands=False
    )
    open_text(watched, (tmp_path / "film.html").read_text(encoding="utf-8"), tmp_path)
    watched.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    settle(watched)
    wrong, texts = [], set()
    for part in (0.3, 0.35, 0.4, 0.5, 0.55, 0.6, 0.62):
        seek_share(watched, part)
        settle(watched)
        wrong += [f"at {part:.0%}: {fault}" for fault in faults(watched, ".pl-scene", least=DRAWN_SMALLEST)]
        texts |= set(watched.evaluate("[...peerlabPages][0].figures.model('scene_words').data.text"))
    assert wrong == []
    assert {text for text in texts if text.isdecimal()} <= {"8"}, (
        "the nodes, in the ring; how many wait is left out where it has no room"
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("size", [(1280, 720), (1120, 640), (848, 900)])
@pytest.mark.parametrize("cluster", ["p5en", "b200-roce", "mi300x-roce", "p6-b200", "alps-gh200"])
def test_words_of_a_scene_in_which_slices_wait_for_the_network(explorer, cluster, size):
    """How many wait stands beside them, and so does whom they come from."""
    explorer.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    found = []
    for path in load_cluster(cluster).paths:
        explorer.change(run(cluster=cluster, path=path, message_bytes="1 GiB"), lines=False)
        for part in (0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95):
            explorer.still(part)
            settle(explorer.page)
            found += [
                f"{path} at {part:.0%}: {one}" for one in faults(explorer.page, ".pl-scene", least=SMALLEST)
            ]
    assert found == []


@pytest.mark.parametrize(("workload", "options"), [("resnet50", {"batch": 32}), ("bert-large", {})])
def test_words_of_a_step(watched, through, tmp_path, workload, options):
    host = peerlab.step(workload=workload, path="host-rdma", **options)
    steps = [host, host.answer(host.step.with_(path="peer-direct"))]
    for layout in ("page", "slide"):
        open_text(watched, step_page_html(steps, layout=layout), tmp_path)
        for bucket in (False, True):
            watched.evaluate(
                "bucket => { const [page] = peerlabPages; page.follow(bucket ? page.chosen : null) }", bucket
            )
            assert through(watched, marks=STEP_MARKS, least=SMALLEST) == [], layout


@pytest.mark.parametrize("cluster", ["ideal-100g", "dl1"])
def test_words_of_the_fabrics(watched, through, tmp_path, cluster):
    comparison = compare_fabrics(peerlab.Scenario(cluster=cluster))
    for layout in ("page", "slide"):
        open_text(watched, fabrics_page_html(comparison, layout=layout), tmp_path)
        assert through(watched, marks=FABRIC_MARKS, least=SMALLEST) == [], layout


OVER_AN_EDGE = """() => {
    const place = (shape) => shape.getBoundingClientRect(), boxes = [...document.querySelectorAll("svg rect[rx='7']")].map(place);
    const over = (word, box) => word.top < box.bottom - 1 && box.top + 1 < word.bottom && [box.left, box.right].some((edge) => word.left < edge && edge < word.right);
    return [...document.querySelectorAll("svg text")].filter((text) => boxes.some((box) => over(place(text), box))).map((text) => text.textContent);
}"""
"""Words that lie on the side of a box: host memory, CPU, device, NIC."""


@pytest.mark.sample(4)
@pytest.mark.parametrize("cluster", known_clusters())
def test_words_of_a_still(watched, cluster):
    resize(watched, 1280, 720)
    for path in load_cluster(cluster).paths:
        for large in (False, True):
            watched.set_content(still_svg(run(cluster=cluster, path=path), large=large))
            assert faults(watched, "svg", least=DRAWN_SMALLEST) == [], f"{path}, large: {large}"
            assert watched.evaluate(OVER_AN_EDGE) == [], f"{path}, large: {large}"


def test_words_of_pictures_that_have_a_drawing_for_each_width(watched):
    """Many runs, who is to blame, a log's band and what was measured here: JupyterLab leaves 480 of a window of 600 pixels, a phone has 390."""
    own = measured_library()["own/xeon-2-processors"]
    noisy = peerlab.Scenario(nodes=2, jitter=0.1)
    begins = {"peer-direct": 10**9, "host-rdma": 2 * 10**9}
    two = (
        PathTimes(noisy.with_(path=path), tuple(range(t, t + 400 * 10**6, 10**6)), t - 9)
        for path, t in begins.items()
    )
    late = [10**9 * (4 + 0.001 * run) for run in range(200)] + [47 * 10**9, 110 * 10**9]
    rare = (PathTimes(noisy.with_(path=path), tuple(map(round, late)), 4 * 10**9) for path in begins)
    slow_way, slow_node = (
        Blame(
            noisy.with_(nodes=8),
            100,
            50,
            60,
            (0.0,) * 7 + (won,),
            (((6, 7), 1 - won), ((7, 0), 0.1)),
            ((0,) * 14,) * 7 + ((0, *(50 * PS_PER_MS,) * 13),),
        )
        for won in (0.0, 1.0)
    )
    found = []
    for shown in (
        tails_html(Tails(tuple(two), ())),
        tails_html(Tails(tuple(rare), ())),
        f"<div style='margin:0 16px'>{blame_html(slow_way)}</div>",
        f"<div style='margin:0 16px'>{blame_html(slow_node)}</div>",
        *(one._repr_html_() for one in (peerlab.expect("p4d", sizes="8 MiB"), peerlab.ratios(own), own)),
    ):
        for width in (1280, 900, 600, 480, *((390,) if "pl-tails" in shown or "pl-blame" in shown else ())):
            resize(watched, width, 900)
            watched.set_content(shown)
            settle(watched)
            found += [f"{width}: {fault}" for fault in faults(watched)]
    assert found == []
