"""What a machine should reach: floor, band, ceiling and what limits, size by size."""

import json
from itertools import pairwise

import pytest
from command_line import peerlab_command

import peerlab
from peerlab.base.errors import PeerlabError, ScenarioError
from peerlab.base.units import GIB, MIB
from peerlab.question.floors import floor_factor
from peerlab.question.size_list import LARGEST, SMALLEST, parse_sizes

CLUSTERS = ("p5", "p4d", "azure-nd-a100-v4", "h100-ndr", "g4dn-metal", "alps-gh200", "mi250x-slingshot")


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("nodes", [2, 16])
def test_floor_band_and_ceiling_are_in_order_at_every_size(cluster, nodes):
    found = peerlab.expect(cluster, nodes=nodes, sizes=["8B", "64KiB", "8MiB", "1GiB", "16GiB"])
    for row in found.rows:
        assert 0 < row.floor <= row.low <= row.expected <= row.high <= row.ceiling, row
        assert row.limits


def test_without_sizes_it_answers_those_of_nccl_tests():
    sizes = [one.size for one in peerlab.expect("g4dn-metal").rows]
    assert (sizes[0], sizes[-1], len(sizes)) == (SMALLEST, LARGEST, 32)
    assert all(after == 2 * before for before, after in pairwise(sizes))


def test_expected_is_what_is_simulated():
    row = peerlab.expect("p4d", nodes=4, sizes=[64 * MIB]).rows[0]
    asked = peerlab.Scenario(
        cluster="p4d", nodes=4, path="peer-direct", message_bytes=64 * MIB, registration="pool"
    )
    run = peerlab.simulate(asked)
    assert (row.expected, row.time_s) == (run.busbw_GBps, run.time_s)


def test_the_ceiling_of_two_nodes_counts_a_byte_on_the_wire_nearly_twice():
    found = peerlab.expect("p4d", nodes=2, sizes="1GiB").ceiling
    assert found.busbw_GBps == pytest.approx(50 * 2 * 15 / 16)
    assert "50 GB/s of wire" in found.says
    assert peerlab.expect("ideal-100g", sizes="1GiB").ceiling.says.endswith(
        "of which busbw counts each byte once"
    )


def test_the_ceiling_of_an_h100_on_two_nodes_is_its_nvlink():
    found = peerlab.expect("p5", nodes=2, sizes="1GiB").ceiling
    assert 487.3 < found.busbw_GBps < 600  # what p5's public log reaches at 16 GiB
    assert "inside a node" in found.says


def test_switches_that_add_up_raise_the_ceiling_of_infiniband_alone():
    verbs = peerlab.expect("h100-ndr", nodes=16, sizes="1GiB").ceiling
    efa = peerlab.expect("p5", nodes=16, sizes="1GiB").ceiling
    assert verbs.busbw_GBps > 1.2 * efa.busbw_GBps
    assert efa.busbw_GBps == pytest.approx(400 / (2 * 15 / 16) * 2 * 127 / 128)


def test_where_no_log_says_how_far_a_run_may_be_off_there_is_no_floor():
    found = peerlab.expect("dl1", sizes="64MiB")
    assert found.rows[0].floor is None
    assert "No floor" in " ".join(found.notes)
    assert floor_factor(peerlab.Scenario(cluster="p5", collective="allgather")) is None


def test_one_rank_a_node_is_held_to_its_own_nic():
    row = peerlab.expect("h100-ndr", nodes=2, ranks_per_node=1, sizes="1GiB").rows[0]
    assert 40 < row.expected <= row.ceiling <= 50


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("8MiB,1GiB", [8 * MIB, GIB]),
        (["1 GiB", 8], [8, GIB]),
        ("1MiB:4MiB", [MIB, 2 * MIB, 4 * MIB]),
        ("2MiB:7MiB,2MiB", [2 * MIB, 4 * MIB]),
    ],
)
def test_sizes_are_read(given, found):
    assert parse_sizes(given) == found


@pytest.mark.parametrize("given", ["", "many", "8MiB:1MiB", "0", "2TiB", [], [None], "1GB/s"])
def test_what_is_no_size_is_refused_in_words(given):
    with pytest.raises(ScenarioError, match=r"^sizes"):
        parse_sizes(given)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"cluster": "p9"}, "unknown cluster"),
        ({"cluster": "p5", "nodes": 1}, "nodes"),
        ({"cluster": "p5", "nodes": 0}, "nodes"),
        ({"cluster": "p5", "ranks_per_node": 3}, "ranks_per_node"),
        ({"cluster": "p5", "ranks_per_node": 0}, "ranks_per_node"),
        ({"cluster": "p5", "path": "host-tcp"}, "path"),
        ({"cluster": "p5", "collective": "allred"}, "collective"),
        ({"cluster": "p5", "library_version": "1.0"}, "library_version"),
    ],
)
def test_an_impossible_question_is_refused_in_a_line(asked, says):
    with pytest.raises(PeerlabError, match=says) as problem:
        peerlab.expect(**asked)
    assert "\n" not in str(problem.value)


def test_the_command_prints_a_row_for_each_size_and_the_same_as_json():
    asked = ("expect", "--cluster", "p5", "--nodes", "16", "--sizes", "8MiB,1GiB")
    status, text, problem = peerlab_command(*asked)
    assert (status, problem) == (0, "")
    assert all(word in text for word in ("8 MiB", "1 GiB", "floor", "ceiling"))
    told = json.loads(peerlab_command(*asked, "--json")[1])
    assert [one["size"] for one in told["rows"]] == [8 * MIB, GIB]
    assert set(told["rows"][0]) == {
        "size", "time_s", "floor", "low", "expected", "high", "ceiling", "limits"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--cluster", "p5", "--perftest", "nic.log"], "--log"),
        (["--cluster", "p5", "--log", "run.log", "--write", "x.sh"], "leave out --log"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused_in_a_line(words, says):
    status, _, problem = peerlab_command("expect", *words)
    assert (status, problem.count("\n"), says in problem) == (1, 1, True)


def test_a_message_of_a_byte_has_an_expectation():
    assert peerlab.expect("p5", sizes=[1]).rows[0].expected > 0


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("dgx-h100", "h100-ndr"),
        ("H200", "h200-roce"),
        ("our-b200-roce", "b200-roce"),
        ("mi300x", "mi300x-roce"),
        ("gb200", "gb200-nvl72"),
    ],
)
def test_a_machine_without_a_file_is_answered_as_the_closest_known_one_and_its_first_line_says_so(
    name, known
):
    found = peerlab.expect(name, nodes=2, sizes="1GiB")
    assert found.scenario.hardware.name == known
    status, text, _ = peerlab_command("expect", "--cluster", name, "--sizes", "1GiB")
    first = " ".join(text.splitlines()[:3])
    assert (status, first.startswith(f"What if: no file describes {name}"), known in first) == (0, True, True)
    assert "clusters draft" in " ".join(text.split())


def test_no_floors_are_written_for_a_what_if(own_folder):
    status, _, problem = peerlab_command(
        "expect", "--cluster", "dgx-h100", "--sizes", "1GiB", "--write", own_folder / "x.sh"
    )
    assert (status, "what-if" in problem, list(own_folder.glob("*.sh"))) == (1, True, [])


def test_inside_one_nvlink_domain_no_nic_is_named_and_figures_are_written_out():
    status, text, _ = peerlab_command(
        "expect", "--cluster", "gb200-nvl72", "--nodes", "18", "--sizes", "1GiB"
    )
    assert (status, "past every NIC" in text, "e+03" in text) == (0, True, False)
    assert "Peer Direct" in peerlab.expect("gb200-nvl72", nodes=32, sizes="1GiB").says


def test_what_takes_minutes_is_refused_before_it_begins_with_what_fits():
    asked = ("expect", "--cluster", "ideal-100g-leafspine-2to1", "--nodes", "1020")
    status, text, problem = peerlab_command(*asked)
    assert (status, text) == (1, "")
    assert problem.count("\n") == 1
    assert "32 sizes would take about 18 min" in problem
    assert (
        "give 1016 nodes, which fill their leaf switches (about 2 s) or give 3 sizes (about 2 min)" in problem
    )
    assert "or give 255 nodes (about 69 s)" in problem
    assert "--anyway" in problem
    few = peerlab.expect("ideal-100g-leafspine-2to1", nodes=16, sizes="8B,1GiB", anyway=True)
    assert few.rows == peerlab.expect("ideal-100g-leafspine-2to1", nodes=16, sizes="8B,1GiB").rows
