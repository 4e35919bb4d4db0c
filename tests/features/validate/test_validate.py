"""The model is held to its expected figures. No tolerance is loosened to pass."""

import json
import math
import re

import pytest

from peerlab.features.validate.expected_figures import load_expected, read_expected
from peerlab.features.validate.table_cells import cells, say_score
from peerlab.features.validate.validation import validate

ROWS = {row.name: row for row in load_expected().rows}


def result_of(row):
    (found,) = validate([row])
    return found


def made(**more):
    text = """
group = "mine"
[[row]]
name = "mine"
what = "ring"
scenario = { cluster = "ideal-100g", nodes = 2, algorithm = "ring", message_bytes = "16 MiB", slice_bytes = "none" }
compare = "time"
fitted = false
source = "2 x (5 us + 8 MiB / 12.5 GB/s) = 1352.17728 us"
"""
    entries = {"unit": "us", "tolerance": 0.01, "expected": 1352.17728} | more
    text += "\n".join(
        f"{name} = {value if name == 'points' else json.dumps(value)}" for name, value in entries.items()
    )
    return result_of(read_expected(text, "mine.toml").rows[0])


@pytest.mark.parametrize("name", ROWS)
def test_every_expected_figure_is_met(name):
    result = result_of(ROWS[name])
    assert result.passed, (result.error, result.problems)


def test_a_time_is_compared_in_the_unit_it_is_given_in():
    for unit, expected in (("us", 1352.17728), ("ms", 1.35217728), ("s", 0.00135217728)):
        assert made(unit=unit, expected=expected, tolerance=1e-12).passed


def test_a_figure_beyond_its_tolerance_is_not_met():
    assert made(expected=1340).passed
    result = made(expected=1300)
    assert not result.passed
    assert result.error == pytest.approx(0.0401, rel=0.01)
    assert cells(result) == ("mine", "1300 µs", "1352 µs", "4 %", "1 %", "NOT MET")


def test_a_range_is_met_inside_and_the_error_is_the_distance_from_it():
    assert made(expected=[1352, 1353], tolerance=0).passed
    outside = made(expected=[1000, 1300], tolerance=0)
    assert not outside.passed
    assert outside.error == pytest.approx(1352.17728 / 1300 - 1)


def test_a_median_forgives_what_the_largest_error_does_not():
    points = "[{ nodes = 2, expected = 1352 }, { nodes = 4, expected = 2043 }, { nodes = 8, expected = 1 }]"
    assert made(points=points, judged="median").passed
    assert not made(points=points).passed


def test_a_median_says_what_it_forgives():
    points = (
        "[{ nodes = 2, expected = 1352 }, { nodes = 4, expected = 2043 }, { nodes = 8, expected = 2700 }]"
    )
    result = made(points=points, judged="median")
    said = cells(result)[3]
    assert re.fullmatch(r"median \S+ %, worst -10 %, 1 of 3 beyond 1 %", said), said


def test_rows_that_were_fitted_are_no_predictions_and_the_others_are_counted_by_group():
    assert (
        say_score([made()])
        == "1 of 1 rows met; 0 of them fitted: those are no predictions; the others: 1 mine"
    )


def test_a_scenario_that_is_impossible_is_no_answer_and_the_others_are_given():
    points = "[{ nodes = 2, expected = 1352 }, { nodes = 0, expected = 1 }]"
    result = made(points=points)
    assert not result.passed
    assert [math.isnan(answer.simulated) for answer in result.answers] == [False, True]
    assert "nodes: 0 is out of range" in result.problems[0]
    assert json.loads(json.dumps(result.as_dict(), allow_nan=False))["points"][1]["simulated"] is None


def test_an_impossible_scenario_never_passes_as_the_minority_of_a_median():
    points = "[{ nodes = 2, expected = 1352 }, { nodes = 4, expected = 2043 }, { nodes = 0, expected = 1 }]"
    assert not made(points=points, judged="median").passed
