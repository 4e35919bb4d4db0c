"""The map of choices: what is taken, what would be faster, its picture, its tuner file, and NCCL's own lines beside it."""

import json
import re

import pytest
from command_line import peerlab_command
from contrasts import contrast, mixed

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.base.units import MIB
from peerlab.features.choices.choice_report import choices_html
from peerlab.features.choices.mapping import choices
from peerlab.features.choices.tuner_file import write_tuner
from peerlab.features.choices.tuning_lines import nodes_in, tuning_lines
from peerlab.picture.theme import DARK, LIGHT, STAGE_COLOURS
from peerlab.records.text import log_of

ASK = ("choices", "--cluster", "p5", "--nodes", "2,4", "--sizes", "4MiB:64MiB")
OLD = "host0:1:1 [0] NCCL INFO {} Bytes -> Algo {} proto {} time 12.5\n"
NEW = "host0:1:1 [0] NCCL INFO AllReduce: {} Bytes -> Algo {} proto {} channel{{Lo..Hi}}={{0..15}}\n"


@pytest.fixture(scope="module")
def found():
    return choices("p5", nodes=[2, 4], sizes="4MiB:64MiB")


def test_a_cell_takes_what_the_scenario_takes_and_as_long(found):
    for cell in (found.cells[0], found.cells[-1]):
        run = peerlab.simulate(
            peerlab.Scenario(
                cluster="p5",
                nodes=cell.nodes,
                path="peer-direct",
                message_bytes=cell.size,
                registration="pool",
            )
        )
        assert (cell.algorithm, cell.protocol) == run.scenario.choice.does
        assert cell.time_s == pytest.approx(run.time_s, rel=1e-6)


def test_the_headline_says_on_how_many_nodes(found):
    """It spoke of sizes alone, as if it held for all rows of the map."""
    nodes = {cell.nodes for cell in found.faster}
    on = re.search(r" is taken on ([0-9]+)(?: to ([0-9]+))? nodes (?:from|at) ", found.headline)
    assert {int(number) for number in on.groups() if number} <= nodes
    shown = re.search("<h3>(.*?)</h3>", found._repr_html_())[1]
    assert not re.search(r"\d [KMG]iB|from \d|\S to \d", shown), "no line ends within a value"


def test_what_would_be_faster_is_simulated_faster(found):
    cell = next(cell for cell in found.cells if cell.beyond_error)
    other = peerlab.Scenario(
        cluster="p5", nodes=cell.nodes, path="peer-direct", message_bytes=cell.size, registration="pool",
        algorithm={"NVLSTree": "nvls-tree"}.get(cell.faster[0], cell.faster[0]), protocol=cell.faster[1],
    )  # fmt: skip
    assert cell.time_s / peerlab.simulate(other).time_s == pytest.approx(cell.gain, rel=1e-6)
    assert 1 < cell.least < cell.gain


def test_a_dot_is_filled_only_beyond_the_errors_of_the_laws(found):
    for cell in found.cells:
        assert cell.beyond_error == (cell.least > 1)
        assert cell.least <= cell.gain
        assert (cell.faster is None) == (cell.gain == 1)


def test_the_picture_has_a_cell_for_each_and_a_dot_for_what_is_faster(found):
    page = choices_html(found)
    assert page.count("<title>") == len(found.cells)
    dots = sum(cell.faster is not None for cell in found.cells)
    assert page.count("<g pointer-events='none'>") == dots
    assert "tree, LL128" in page
    assert "='var(--pl-direct" not in page  # green is Peer Direct, and no algorithm


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_cell_stands_out_from_the_page_and_its_words_from_the_cell(found, theme):
    """In the dark *tree, LL* had nearly the page's colour."""
    fills = {
        mixed(STAGE_COLOURS[role], theme["paper"], float(thick))
        for role, thick in re.findall(
            r"fill='var\(--pl-(\w+)\)' fill-opacity='([\d.]+)'",
            choices_html(found) + choices_html(choices("p5", nodes=[2, 4], sizes="1KiB:64KiB")),
        )
    }
    assert len(fills) > 2
    for fill in fills:
        assert contrast(fill, theme["paper"]) >= 1.3
        assert contrast(fill, theme["ink"]) >= 4.5


def test_the_tuner_file_holds_what_the_plugin_reads(found, own_folder):
    text = write_tuner(found, own_folder / "tuner.csv").read_text()
    assert "*nChannels = 0" in text  # plugin.c sets 1, and NCCL takes what is not 0 for a limit
    assert all(len(line) < 255 for line in text.splitlines())
    assert "peerlab plan" in text
    assert max(map(len, text.splitlines())) < 256  # the plugin's buffer
    rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    assert rows
    for collective, low, high, algorithm, protocol, channels, nodes, ranks in rows:
        assert (collective, channels) == ("allreduce", "-1")
        assert algorithm in {"tree", "ring", "nvls_tree"}
        assert protocol in {"ll", "ll128", "simple"}
        assert 0 < int(low) < int(high)
        assert int(ranks) == 8 * int(nodes)
    for cell in found.cells:
        lines = [row for row in rows if int(row[6]) == cell.nodes and int(row[1]) <= cell.size <= int(row[2])]
        assert len(lines) == cell.beyond_error


def test_without_anything_faster_there_is_no_tuner_file(own_folder):
    with pytest.raises(PeerlabError, match="nothing to tune"):
        write_tuner(choices("p5", nodes=[2], sizes="1KiB:4KiB"), own_folder / "tuner.csv")
    with pytest.raises(PeerlabError, match=r"\.csv"):
        write_tuner(choices("p5", nodes=[2], sizes="1KiB"), own_folder / "tuner.txt")


@pytest.mark.parametrize(
    ("line", "names"),
    [(OLD, [("0", "1"), ("1", "2"), ("5", "2")]), (NEW, [("TREE", "LL128"), ("RING", "SIMPLE"), ("NVLS_TREE", "SIMPLE")])],
)  # fmt: skip
def test_both_forms_of_nccls_lines_are_read(line, names):
    text = "".join(
        line.format(size, *name) for size, name in zip((4 * MIB, 8 * MIB, 16 * MIB), names, strict=True)
    )
    assert list(tuning_lines(log_of(text, "a.log")).values()) == [
        ("tree", "LL128"),
        ("ring", "Simple"),
        ("NVLSTree", "Simple"),
    ]


def test_a_log_is_set_beside_the_map(own_folder):
    log = own_folder / "run.log"
    log.write_text(
        "host0:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 16 cudaDev 0\n"
        + NEW.format(4 * MIB, "TREE", "LL128")
        + NEW.format(16 * MIB, "RING", "SIMPLE")
    )
    assert nodes_in(log_of(log.read_text(), "a.log"), 8) == 2
    status, text, _ = peerlab_command("choices", "--cluster", "p5", "--log", log)
    assert (status, text.splitlines()[0][:7]) == (0, "1 of 2 ")
    told = json.loads(peerlab_command("choices", "--cluster", "p5", "--log", log, "--json")[1])["log"]
    assert [each["alike"] for each in told] == [True, False]


def test_a_log_without_such_lines_says_how_to_get_them(own_folder):
    (own_folder / "run.log").write_text("# no line of NCCL\n")
    status, _, problem = peerlab_command("choices", "--cluster", "p5", "--log", own_folder / "run.log")
    assert (status, "TUNING" in problem, problem.count("\n")) == (1, True, 1)


def test_a_number_that_is_no_decimal_names_no_algorithm():
    assert tuning_lines(log_of("8 Bytes -> Algo \u00b2 proto 0 time 1.0", "a.log")) == {8: ("\u00b2", "LL")}


def test_beside_a_log_no_file_is_left_out_silently(own_folder):
    status, _, problem = peerlab_command(*ASK, "--log", "run.log", "--plot", own_folder / "map.html")
    assert (status, problem.count("\n"), "--plot" in problem) == (1, 1, True)


def test_the_command_prints_the_map_and_writes_its_files(own_folder):
    status, text, _ = peerlab_command(
        *ASK, "--write", own_folder / "tuner.csv", "--plot", own_folder / "map.html"
    )
    assert (status, "beyond the model's error" in text) == (0, True)
    assert (own_folder / "map.html").read_text().startswith("<!doctype html>")
    told = json.loads(peerlab_command(*ASK, "--json")[1])
    assert len(told["cells"]) == 10


@pytest.mark.parametrize(
    "asked",
    [
        {"cluster": "dl1"},
        {"cluster": "p5", "nodes": "1,2"},
        {"cluster": "p5", "nodes": "two"},
        {"cluster": "p5", "nodes": []},
    ],
)
def test_an_impossible_map_is_refused_in_a_line(asked):
    with pytest.raises(PeerlabError) as problem:
        choices(**asked)
    assert re.fullmatch("[^\n]+", str(problem.value))
