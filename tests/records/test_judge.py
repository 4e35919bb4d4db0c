"""Verdicts on made-up records."""

import pytest

from peerlab.collectives.conditions import CONTROL
from peerlab.records import Records, judge
from peerlab.records.judge import compare, control_ratios, gist


def rows(path, times, *, variant="", registration="none", capacity=None, correct=True):
    return [
        {
            "kind": "measured",
            "collective": "allreduce",
            "variant": variant,
            "size_bytes": 1 << 20,
            "ranks": 2,
            "path": path,
            "registration": registration,
            "capacity": capacity,
            "repetition": repetition,
            "rank": rank,
            "time_s": time,
            "correct": correct,
        }
        for repetition, time in enumerate(times)
        for rank in (0, 1)
    ]


def verdicts(*several, path="staged"):
    records = Records.of([row for some in several for row in some])
    return {(one.path, one.variant): one for one in compare(records, path)}


STAGED = [1.0, 1.1, 0.9, 1.0, 1.05]
QUIET = rows("staged", [1.02, 1.08, 0.9, 0.99, 1.05], variant=CONTROL)
LOUD = rows("staged", [0.5, 2.0, 0.4, 1.9, 1.0], variant=CONTROL)


def test_a_ratio_is_that_of_pairs_of_repetitions():
    found = verdicts(rows("staged", [1.0, 2.0, 4.0]), rows("direct", [0.5, 1.0, 2.0]), QUIET)["direct", ""]
    assert (found.ratio, found.low, found.high, found.time_s) == (2, 2, 2, 1.0)


def test_twice_as_fast_is_faster_than_a_quiet_control():
    found = verdicts(rows("staged", STAGED), rows("direct", [t / 2 for t in STAGED]), QUIET)
    assert found["direct", ""].verdict == judge.FASTER
    assert found["direct", ""].noise == judge.LEAST_NOISE
    assert found["staged", CONTROL].verdict == judge.NOISE


def test_the_same_ratio_is_refused_where_equal_things_differ_as_much():
    found = verdicts(rows("staged", STAGED), rows("direct", [t / 2 for t in STAGED]), LOUD)
    assert found["direct", ""].ratio == pytest.approx(2)
    assert found["direct", ""].noise >= 2
    assert found["direct", ""].verdict == "within the noise"


def test_twice_as_slow_is_slower():
    found = verdicts(rows("staged", STAGED), rows("direct", [t * 2 for t in STAGED]), QUIET)
    assert found["direct", ""].verdict == judge.SLOWER


def test_a_tenth_is_nothing_even_beside_the_quietest_control():
    same = rows("staged", STAGED, variant=CONTROL)
    assert (
        verdicts(rows("staged", STAGED), rows("tcp", [t / 1.1 for t in STAGED]), same)["tcp", ""].verdict
        == judge.NOISE
    )


def test_without_a_control_or_with_two_repetitions_nothing_is_said():
    fast = [t / 2 for t in STAGED]
    assert verdicts(rows("staged", STAGED), rows("direct", fast))["direct", ""].verdict == judge.NO_CONTROL
    few = verdicts(rows("staged", STAGED[:2]), rows("direct", fast[:2]), QUIET[:4])
    assert few["direct", ""].verdict == judge.TOO_FEW


def test_wrong_sums_are_no_result_however_fast():
    wrong = rows("direct", [0.1] * 5, correct=False)
    assert verdicts(rows("staged", STAGED), wrong, QUIET)["direct", ""].verdict == judge.WRONG


def test_registrations_are_compared_with_direct_without_and_judged_by_the_same_control():
    found = verdicts(
        rows("staged", STAGED),
        rows("direct", [t / 3 for t in STAGED]),
        rows("direct", STAGED, registration="per-transfer", capacity=0),
        QUIET,
        path="direct",
    )
    records = [one for one in found.values() if one.registration == "per-transfer"]
    assert [(round(one.ratio, 3), one.verdict, one.capacity) for one in records] == [(0.333, judge.SLOWER, 0)]


def test_the_control_of_each_size_is_told_in_words():
    records = Records.of([*rows("staged", STAGED), *QUIET])
    assert control_ratios(records) == {"2 ranks, 1 MiB": 1.0}
    assert compare(records, "direct") == []


def said(*several):
    return gist(compare(Records.of([row for some in several for row in some])))


HALF, THIRD = ([t / by for t in STAGED] for by in (2, 3))
UNPINNED = rows("direct", THIRD)


def test_the_arm_that_a_nic_could_take_speaks_and_says_which_it_is():
    kept = rows("direct", HALF, registration="lru", capacity=64)
    small = rows("direct", STAGED, registration="lru", capacity=2)
    each = rows("direct", STAGED, registration="per-transfer", capacity=0)
    measured = [rows("staged", STAGED), UNPINNED, each, kept, small, QUIET]
    assert said(*measured) == "direct, cache of 64 regions: 2.0\u00d7 staged at 1 MiB, 2 ranks (noise 1.15)"
    assert (
        said(rows("staged", STAGED), UNPINNED, QUIET)
        == "direct, unpinned, as no NIC can: 3.0\u00d7 staged at 1 MiB, 2 ranks (noise 1.15)"
    )
    assert said(rows("staged", STAGED), rows("tcp", HALF), QUIET) == ""
    alike = rows("direct", STAGED, registration="lru", capacity=64)
    assert (
        said(rows("staged", STAGED), UNPINNED, alike, QUIET)
        == "direct, cache of 64 regions: no faster than staged beyond the noise at 1 MiB, 2 ranks"
    )


def test_what_could_not_be_registered_is_said():
    larger = [{**row, "size_bytes": 1 << 23} for row in (*rows("staged", STAGED), *UNPINNED)]
    kept = rows("direct", HALF, registration="lru", capacity=64)
    told = said(rows("staged", STAGED), kept, QUIET, larger)
    assert told.endswith("at 1 MiB, 2 ranks (noise 1.15); more could not be registered (locked-memory limit)")
