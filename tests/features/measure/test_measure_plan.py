"""What a user asks to be measured, read or refused in words."""

import json
from dataclasses import asdict
from itertools import pairwise

import pytest

from peerlab.base.errors import MeasurementError
from peerlab.features.measure.measured_rows import shuffled
from peerlab.features.measure.schedule import CONTROL, Measurement, Registration, say_command


def test_by_default_two_and_four_ranks_measure_four_arms_and_four_registrations_with_a_control():
    plan = Measurement.of()
    assert plan.ranks == (2, 4)
    assert (plan.sizes[0], plan.sizes[-1]) == (64 << 10, 8 << 20)
    assert [str(case) for case in plan.cases] == [
        *("staged", "tcp", "staged-shm", "direct", "direct (per-transfer)", "direct (lru:64)"),
        *("direct (lru:2)", "direct (null)", "staged (A/A)"),
    ]
    assert not plan.insist


def test_a_plan_travels_as_json():
    plan = Measurement.of(ranks=3, sizes=["1 MiB", 12], registrations=["lru:4"], pins="io_uring")
    assert plan.insist
    assert Measurement.from_plain(json.loads(json.dumps(asdict(plan)))) == plan


def test_the_command_in_the_manifest_measures_the_same():
    from peerlab.cli.commands import _read

    plan = Measurement.of(ranks=[2, 3], sizes=[1000, "1.5 MiB"], registrations="lru:4", repetitions=3)
    options = vars(_read(say_command(plan).split()[1:]))
    del options["run"]
    assert Measurement.of(**options) == plan


def test_without_staged_the_first_arm_is_the_baseline_and_its_own_control():
    plan = Measurement.of(arms=["direct", "tcp"], registrations="none")
    assert plan.baseline == "direct"
    assert plan.cases[-1].variant == CONTROL
    assert [case.arm for case in plan.cases] == ["direct", "tcp", "direct"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"ranks": 1}, "ranks: 1 is not a whole number from 2 to 32"),
        ({"ranks": [2, 33]}, "ranks: 33 is not a whole number from 2 to 32"),
        ({"ranks": "two"}, "ranks: 'two' is not a whole number from 2 to 32"),
        ({"ranks": []}, "ranks: give at least one"),
        ({"sizes": "1 Mb"}, "sizes: '1 Mb' is in bits; a size is in bytes, such as '64 MiB' or '64 MB'"),
        ({"sizes": 6}, "sizes: 6: the numbers are float32, so a multiple of 4 B above 0"),
        ({"sizes": ["0"]}, "sizes: '0': the numbers are float32, so a multiple of 4 B above 0"),
        ({"slice_bytes": "2 B"}, "slice_bytes: '2 B': the numbers are float32, so a multiple of 4 B above 0"),
        ({"repetitions": 0}, "repetitions: 0 is not a whole number from 1 to 1000"),
        ({"repetitions": True}, "repetitions: True is not a whole number from 1 to 1000"),
        (
            {"arms": "stagd"},
            "arms: 'stagd' is unknown; did you mean 'staged'? known: staged, tcp, staged-shm, direct, cma",
        ),
        (
            {"registrations": "lur"},
            "registrations: 'lur' is unknown; did you mean 'lru'? known: none, per-transfer, lru, null, lru:2",
        ),
        (
            {"registrations": "lru:0"},
            "registrations: 'lru:0': an LRU keeps 1 to 1000000 regions, as in 'lru:2'",
        ),
        (
            {"registrations": "lru", "arms": "tcp"},
            "registrations: only the arm 'direct' registers memory; add it to arms",
        ),
        ({"pins": "verbs"}, "pins: 'verbs' is unknown; known: mlock, io_uring"),
    ],
)
def test_what_cannot_be_is_refused_in_the_users_words(fields, says):
    with pytest.raises(MeasurementError) as told:
        Measurement.of(**fields)
    assert str(told.value) == says


def test_a_cache_keeps_what_it_is_told_to():
    assert [
        Registration.read(text).capacity for text in ("none", "per-transfer", "lru", "lru:2", "null")
    ] == [*(None, 0, 64, 2, 64)]


@pytest.mark.parametrize("cases", [3, 5, 9])
def test_in_seven_repetitions_no_case_always_follows_the_same_one(cases):
    orders = [shuffled(range(cases), repetition) for repetition in range(7)]
    assert all(sorted(order) == list(range(cases)) for order in orders)
    followed = {(after, before) for order in orders for before, after in pairwise(order)}
    assert all(sum(after == case for after, _ in followed) > 1 for case in range(cases))
