"""Small multiples: one picture of many runs, the fastest first."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

import peerlab
from peerlab.cli import main
from peerlab.features.wall.wall_chart import runs_over
from peerlab.picture.theme import palettes

SVG = "{http://www.w3.org/2000/svg}"


def words(file):
    return ["".join(one.itertext()) for one in ET.parse(file).iter(f"{SVG}text")]  # noqa: S314  (our own)


def test_all_paths_of_a_cluster_stand_in_one_picture_the_fastest_first(tmp_path):
    said = words(peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.svg"))
    assert [word for word in said if word in ("Peer Direct", "RDMA through host", "kernel TCP")] == [
        "Peer Direct",
        "RDMA through host",
        "kernel TCP",
    ]
    assert said[0] == "Peer Direct: 5.39\N{MULTIPLICATION SIGN} the bus bandwidth of kernel TCP"
    assert "PCIe to host, 95 % busy" in said


def test_one_path_is_drawn_on_every_cluster_that_has_it():
    runs, left_out = runs_over(peerlab.Scenario(path="peer-direct"), "clusters")
    having = [name for name in peerlab.known_clusters() if "peer-direct" in peerlab.load_cluster(name).paths]
    assert [run.scenario.hardware.name for run in runs] == having
    others = [name for name in peerlab.known_clusters() if name not in having]
    assert left_out == [peerlab.load_cluster(name).title for name in others]


def test_a_cluster_of_ones_own_is_among_them_and_what_cannot_do_it_is_named(tmp_path):
    mine = replace(peerlab.load_cluster("dl1"), name="mine", title="My machine")
    chart = peerlab.wall_chart(
        peerlab.Scenario(cluster=mine, path="peer-direct"), tmp_path / "wall.svg", over="clusters"
    ).read_text(encoding="utf-8")
    assert "My machine" in chart
    assert "Not shown, because they cannot do this: " in chart
    assert "Ideal 100G crossbar" in chart


def test_a_cluster_of_ones_own_with_the_title_of_a_known_one_is_among_them():
    mine = replace(peerlab.load_cluster("dl1"), name="mine")
    runs, _ = runs_over(peerlab.Scenario(cluster=mine, path="peer-direct"), "clusters")
    assert [run.scenario.hardware.name for run in runs if run.scenario.hardware.title == mine.title] == [
        "mine",
        "dl1",
    ]


def test_a_page_of_it_has_no_script_and_says_it_in_words(tmp_path):
    page = peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.html", theme="dark").read_text()
    assert "<script" not in page
    assert "Peer Direct: 52 GB/s in 2.54 ms, waits for NIC send, 92 % busy" in page


def test_what_each_path_waits_for_is_marked_on_its_road(tmp_path):
    tree = ET.parse(peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.svg"))  # noqa: S314  (our own)
    hot = palettes()["light"]["hot"]
    pictures = [picture for picture in tree.iter(f"{SVG}g") if picture.get("transform")]
    marked = [
        [line.get("points") for line in picture.iter(f"{SVG}polyline") if line.get("stroke") == hot]
        for picture in pictures
    ]
    # Of Peer Direct the wire, of the detours twice the way up to host memory, and twice the CPU.
    # Between a frame and the slices is room: it lay on amber ones.
    assert [len(lines) for lines in marked] == [1, 2, 2]


def test_in_a_list_those_that_the_title_compares_are_bold_and_dark_and_the_ratio_comes_first(tmp_path):
    chart = peerlab.wall_chart(peerlab.Scenario(path="peer-direct"), tmp_path / "wall.svg", over="clusters")
    tree = ET.parse(chart)  # noqa: S314  (our own)
    fills = [bar.get("fill") for bar in tree.iter(f"{SVG}rect") if bar.get("height") == "20"]
    colour = palettes()["light"]
    # GB200 and GB300 are equal at three digits. All are on one path, so that its colour would tell nothing.
    assert fills == [colour["muted"]] * 2 + [colour["gather"]] * (len(fills) - 3) + [colour["muted"]]
    bold = [one.text for one in tree.iter(f"{SVG}text") if one.get("font-weight") == "650"]
    title, *named = bold
    ratio, _, rest = title.partition("\u00d7 ")
    assert float(ratio) > 1
    assert rest == f"between the fastest and the slowest of {len(fills)} clusters"
    assert next(tree.iter(f"{SVG}text")).get("font-size") == "30"
    assert named[0:4:2] == ["GB200 NVL72", "GB300 NVL72"]
    assert named[1] == named[3]
    assert "52.0" in words(chart)


def test_every_colour_of_a_road_is_explained_and_bars_begin_and_end_where_roads_do(tmp_path):
    tree = ET.parse(peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.svg"))  # noqa: S314  (our own)
    slices = {line.get("stroke") for line in tree.iter(f"{SVG}polyline") if line.get("stroke-dasharray")}
    key = [span for span in tree.iter(f"{SVG}tspan") if span.get("fill")]
    assert slices == {span.get("fill") for span in key}
    assert len(key) == len(slices) == 4
    stops = [float(stop.get("cx")) for stop in tree.iter(f"{SVG}circle")]
    longest = next(bar for bar in tree.iter(f"{SVG}rect") if bar.get("y") == "150")
    left, wide = (float(longest.get(name)) for name in ("x", "width"))
    assert (left, left + wide) == (min(stops), max(stops))


def test_in_a_list_all_that_share_the_lowest_figure_are_bold(tmp_path):
    """Of two rows with 3.10 one was bold."""
    chart = peerlab.wall_chart(
        peerlab.Scenario(path="host-rdma", cluster="dl1"), tmp_path / "wall.svg", over="clusters"
    )
    tree = ET.parse(chart)  # noqa: S314  (our own)
    bold = [text.text for text in tree.iter(f"{SVG}text") if text.get("font-weight") == "650"]
    *_, first, figure, second, same = bold
    assert figure == same == "3.10"
    assert {first, second} == {"g4dn.metal (EFA, no GPUDirect)", "g4dn.8xlarge (EFA, no GPUDirect)"}


def test_colours_of_paths_are_those_of_roads_alone_and_bars_are_named_once(tmp_path):
    """Amber was a path and a copy, and *bus bandwidth* stood below three bars."""
    chart = peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.svg")
    bars = [bar for bar in ET.parse(chart).iter(f"{SVG}rect") if bar.get("y") == "150"]  # noqa: S314  (our own)
    assert [bar.get("fill") for bar in bars[1::2]] == [palettes()["light"]["muted"]] * 3
    assert sum("bus bandwidth." in line for line in words(chart)) == 1
    tree = ET.parse(chart)  # noqa: S314  (our own)
    names = [text for text in tree.iter(f"{SVG}text") if text.text in ("Peer Direct", "kernel TCP")]
    assert {text.get("fill") for text in names} == {palettes()["light"]["ink"]}


def test_no_name_of_what_is_left_out_goes_over_two_lines(tmp_path):
    """*Ideal* ended a line and *100G, one backbone* began the next."""
    chart = peerlab.wall_chart(peerlab.Scenario(path="host-rdma"), tmp_path / "wall.svg", over="clusters")
    lines = [line.replace("\u00a0", " ") for line in words(chart)]
    *_, last, first = lines  # the foot is written from below
    assert first.startswith("Not shown")
    names = runs_over(peerlab.Scenario(path="host-rdma"), "clusters")[1]
    assert [name for name in names if name not in first and name not in last] == []


@pytest.mark.parametrize("over", ["clusters", "paths"])
def test_a_long_title_ends_inside_the_chart(tmp_path, over):
    chart = peerlab.wall_chart(peerlab.Scenario(path="peer-direct"), tmp_path / "wall.svg", over=over)
    title = next(ET.parse(chart).iter(f"{SVG}text"))  # noqa: S314  (our own)
    # A bold letter is about 0.61 of its height wide.
    wide = 0.61 * float(title.get("font-size")) * len(title.text)
    assert wide < 1216


def test_the_words_below_a_list_are_as_wide_as_the_list(tmp_path):
    """They were broken at four fifths of its width."""
    chart = peerlab.wall_chart(peerlab.Scenario(path="peer-direct"), tmp_path / "wall.svg", over="clusters")
    *_, second, first = words(chart)
    # A letter is about 0.52 of its height wide, which is 16; a line ends where the next name has no room.
    letter = 0.52 * 16
    assert letter * len(first) < 1216 < letter * (len(first) + 1 + len(second.partition("; ")[0])) * 1.04


def test_bars_have_one_scale(tmp_path):
    tree = ET.parse(peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.svg"))  # noqa: S314  (our own)
    bars = [
        float(one.get("width"))
        for one in tree.iter(f"{SVG}rect")
        if one.get("y") == "150" and one.get("stroke") == "none"
    ]
    runs = sorted(run.busbw_GBps for run in runs_over(peerlab.Scenario(), "paths")[0])[::-1]
    assert [bar / bars[0] for bar in bars] == pytest.approx([one / runs[0] for one in runs], rel=1e-3)


def test_all_pictures_stand_in_one_column_so_that_words_have_room_beside_the_roads(tmp_path):
    file = peerlab.wall_chart(peerlab.Scenario(cluster="gaudi3", nodes=4), tmp_path / "wall.svg")
    places = [
        one.get("transform")
        for one in ET.parse(file).iter(f"{SVG}g")  # noqa: S314  (our own)
        if (one.get("transform") or "").startswith("translate")
    ]
    assert len(places) == len(peerlab.load_cluster("gaudi3").paths) == 4
    assert len({place.split(" ")[0] for place in places}) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"over": "path"}, "over: unknown 'path'; did you mean 'paths'"),
        ({"theme": "auto"}, "theme: 'auto' is unknown"),
        ({"scale": 9}, "scale: 9 is none of 1, 2, 3, 4"),
    ],
)
def test_what_is_unknown_is_refused_in_words(tmp_path, options, said):
    with pytest.raises(peerlab.PeerlabError, match=said):
        peerlab.wall_chart(peerlab.Scenario(), tmp_path / "wall.svg", **options)


def test_one_node_has_nothing_to_show(tmp_path):
    with pytest.raises(peerlab.PeerlabError, match="has nothing to show"):
        peerlab.wall_chart(peerlab.Scenario(cluster="ideal-100g", nodes=1), tmp_path / "wall.svg")


def test_the_command_writes_it_and_refuses_options_of_others(tmp_path, capsys):
    file = tmp_path / "wall.svg"
    assert main(["export", "--over", "paths", "--output", str(file)]) == 0
    assert file.exists()
    assert main(["export", "--over", "paths", "--mode", "race", "--output", str(file)]) == 1
    assert "--mode: not of a wall chart" in capsys.readouterr().err
