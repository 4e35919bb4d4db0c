"""Expected figures: what a file may say, and what the files that come with peerlab do say."""

import re

import pytest

import peerlab
from peerlab.base.errors import ExpectationError
from peerlab.features.validate.expected_figures import load_expected, read_expected, scenario
from peerlab.library.library_files import known_libraries, load_library

ROW = """
group = "logs"

[[row]]
name = "gaudi2"
what = "one box"
scenario = { cluster = "gaudi2", nodes = 1 }
points = [{ message_bytes = "32 MiB", expected = 147.6 }, { message_bytes = "1 GiB", expected = 147.5 }]
compare = "algbw"
unit = "GB/s"
tolerance = 0.05
fitted = false
source = "hccl_demo"
"""


def refused(text):
    with pytest.raises(ExpectationError) as caught:
        read_expected(text, "mine.toml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_row_with_points_names_each_by_what_is_particular_about_it():
    (row,) = read_expected(ROW, "mine.toml").rows
    assert (row.group, row.cluster, row.judged, row.note) == ("logs", "gaudi2", "each", "")
    assert [(point.label, point.expected) for point in row.points] == [("32 MiB", 147.6), ("1 GiB", 147.5)]
    assert row.points[1].scenario == {"cluster": "gaudi2", "nodes": 1, "message_bytes": "1 GiB"}


def test_a_grid_asks_for_every_combination():
    grid = re.sub(
        "points = .*", 'each = { nodes = [2, 4], message_bytes = ["1 MiB"] }\nexpected = [1, 2]', ROW
    )
    (row,) = read_expected(grid, "mine.toml").rows
    assert [(point.label, point.expected) for point in row.points] == [
        ("2 nodes, 1 MiB", (1.0, 2.0)),
        ("4 nodes, 1 MiB", (1.0, 2.0)),
    ]


def test_toml_has_no_none_and_no_numbers_as_keys():
    fields = {
        "cluster": "ideal-100g",
        "nodes": 4,
        "slice_bytes": "none",
        "slow_nodes": {"2": 0.5},
        "placement": [0, 2, 1, 3],
    }
    expected = peerlab.Scenario(
        cluster="ideal-100g", nodes=4, slice_bytes=None, slow_nodes={2: 0.5}, placement=(0, 2, 1, 3)
    )
    assert scenario(fields) == expected


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("group =", "grup ="), "group is missing"),
        (("group", "[["), "mine.toml is not a TOML file"),
        (("source =", "sauce ="), "unknown entry 'sauce'; did you mean 'source'?"),
        (('source = "hccl_demo"', ""), "row 'gaudi2': source is missing"),
        (("algbw", "albw"), "unknown compare 'albw'; did you mean 'algbw'?"),
        (('"GB/s"', '"GiB/s"'), "unit 'GiB/s' is not possible; known: GB/s"),
        (("tolerance = 0.05", ""), "tolerance is missing"),
        (("tolerance = 0.05", 'tolerance = "small"'), "tolerance = 'small' is not possible"),
        (('cluster = "gaudi2", ', ""), "scenario has no cluster"),
        (("expected = 147.6", "expected = [2, 1]"), "expected = [2, 1] is not [low, high]"),
        ((", expected = 147.6", ""), "expected is missing"),
        (("fitted", 'over = { path = "native" }\nfitted'), "'over' belongs to ratios"),
        (("tolerance = 0.05", 'tolerance = 0.05\njudged = "mean"'), "unknown judged 'mean'"),
    ],
)
def test_what_a_file_says_wrong_is_refused_with_its_row(change, says):
    assert says in refused(ROW.replace(*change))


def test_two_rows_of_one_name_are_refused(tmp_path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text(ROW)
    with pytest.raises(ExpectationError, match="two rows are called 'gaudi2'"):
        load_expected(tmp_path)


def test_every_row_has_a_source_and_every_median_names_its_outliers():
    for row in load_expected().rows:
        assert row.source.strip()
        assert row.judged == "each" or row.note


def test_every_requirement_of_the_model_has_its_row():
    """MODEL, section 6, top to bottom; the engines' equality is a test."""
    names = {row.name for row in load_expected().rows} | {one.name for one in load_expected().elsewhere}
    assert names >= {
        "ring-closed-form", "pipeline-closed-form", "engines-agree",
        "simgrid-ring", "simgrid-halving-doubling", "simgrid-recursive-doubling",
        "loggopsim-ring", "loggopsim-halving-doubling", "loggopsim-recursive-doubling",
        "backbone-ring", "backbone-halving-doubling", "leafspine-ring", "straggler-ring",
        "staged-duplex", "staged-shared",
        "dl1-detour", "dl1-no-cache", "dl1-warm-cache", "lru-thrashes-hits", "lru-thrashes-time",
        "juliet-staging-ratio", "juliet-staging-times",
        "alps-osu-bw-host-rdma", "alps-osu-bw-host-tcp", "alps-osu-bw-device-rdma", "alps-osu-bw-device-tcp",
        "alps-nccl-tcp", "gaudi2-one-box", "g4dn-plateau", "nvlink-sharp-simulated",
    }  # fmt: skip


def test_what_was_fitted_says_so_on_both_sides():
    """A fitted constant names rows that are marked as fitted, and every such row has a constant that names it."""
    marked = {row.name for row in load_expected().rows if row.fitted}
    named = set()
    for cluster in map(peerlab.load_cluster, peerlab.known_clusters()):
        for figure in cluster.assumptions:
            for names in re.findall(r"fitted on (?!the )([\w-]+(?: and [\w-]+)*)", figure.assumption):
                named |= set(names.split(" and "))
    for library in filter(
        None, map(load_library, known_libraries())
    ):  # whose constants are fitted on machines' logs, too
        said = " ".join(figure.assumption for figure in library.figures.values())
        named |= {name for name in re.findall(r"fitted on ([\w-]+)", said) if name in marked}
    assert named == marked


def test_the_tests_that_rows_point_to_exist(root):
    for one in load_expected().elsewhere:
        assert (root / one.where).is_file()


def test_the_figures_typed_from_logs_are_those_in_the_logs(reference_dir):
    typed = {row.name: [point.expected for point in row.points] for row in load_expected().rows}
    for name, file in (("alps-nccl-tcp", "nccl_cscs_gh200_2n8r_tcp.log"),):
        lines = (reference_dir / "logs" / file).read_text().splitlines()
        rows = [re.match(r"(?:0:)? +(\d+) +\d+ +float +sum +-1 +([\d.]+)", line) for line in lines]
        times = [float(row[2]) for row in rows if row]
        assert typed[name] == times[-len(typed[name]) :]


@pytest.mark.parametrize(
    ("scenario_", "says"),
    [
        ('{ cluster = "ideal-100g", neighbour = "victim(2)" }', "a neighbour belongs to figures of queues"),
        ('{ cluster = "ideal-100g", seeds = 20 }', "seeds belong to figures of many runs"),
        ('{ cluster = "ideal-100g", jobs = [{ hosts = [0, 1] }] }', "jobs belong to figures of several jobs"),
    ],
)
def test_a_question_of_another_kind_is_refused(scenario_, says):
    row = f'group = "a"\n[[row]]\nname = "a"\nwhat = "a"\nscenario = {scenario_}\ncompare = "time"\nunit = "s"\nexpected = 1\ntolerance = 1\nfitted = false\nsource = "a"\n'
    with pytest.raises(ExpectationError, match=says):
        read_expected(row, "a.toml")
