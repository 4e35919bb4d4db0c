"""Options that slow a part of the machine down may be given several times."""

import json

import pytest
from command_line import peerlab_command

import peerlab

ASKED = ("simulate", "--cluster", "ideal-100g", "--nodes", "4", "--path", "wire", "--json")


@pytest.mark.parametrize(
    ("option", "parts", "fields"),
    [
        ("--slow-node", ("1:0.5", "2:0.25"), {"slow_nodes": {1: 0.5, 2: 0.25}}),
        ("--slow-link", ("0>1:0.5", "2>3:0.25"), {"slow_links": {"0>1": 0.5, "2>3": 0.25}}),
    ],
)
def test_each_part_that_is_named_is_slow(option, parts, fields):
    status, out, problem = peerlab_command(*ASKED, option, parts[0], option, parts[1])
    assert (status, problem) == (0, "")
    run = peerlab.simulate(peerlab.Scenario(cluster="ideal-100g", nodes=4, path="wire", **fields))
    assert json.loads(out)["runs"][0]["time_s"] == pytest.approx(run.time_s)


def test_a_part_that_is_named_twice_is_refused():
    status, _, problem = peerlab_command(*ASKED, "--slow-node", "1:0.5", "--slow-node", "1:0.8")
    assert status == 2
    assert problem.splitlines()[-1].endswith("argument --slow-node: 1 is named twice")


@pytest.mark.parametrize(
    ("option", "part", "example"),
    [("--slow-node", "4", "4:0.5"), ("--slow-nic", "4.1", "'4.1:0.5'"), ("--slow-link", "3>4", "'3>4:0.5'")],
)
def test_a_part_without_a_share_is_answered_with_what_an_option_looks_like(option, part, example):
    status, _, problem = peerlab_command("simulate", option, part)
    assert status == 1
    assert problem.endswith(f"or {example} as an option\n")
