"""Several jobs on one fabric: rows of exact fractions, laws, and who is to blame."""

import json
from fractions import Fraction
from itertools import pairwise

import pytest
from command_line import peerlab_command
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.features.neighbours.jobs_parcel import jobs_parcel
from peerlab.features.neighbours.jobs_report import ROLES, row
from peerlab.study.jobs_in_the_way import held
from peerlab.study.shared_jobs import LeafFabric, SharedJob, fair_shares, run_jobs

FABRIC = LeafFabric(4, Fraction(1))
PLAIN_A, PLAIN_B, CROSSING_A, CROSSING_B = (0, 1, 4, 5), (2, 3, 6, 7), (0, 4, 1, 5), (2, 6, 3, 7)


def job(hosts, **more):
    exact = {
        name: Fraction(value) if name in ("offset", "compute", "weight") else value
        for name, value in more.items()
    }
    return SharedJob(hosts=hosts, work=Fraction(1), **exact)


def texts(values):
    return [str(one) for one in values]


@pytest.mark.parametrize(
    ("jobs", "uplink", "times"),
    [
        ([PLAIN_A], 1, ["6"]),
        ([PLAIN_A, PLAIN_B], 1, ["12", "12"]),
        ([CROSSING_A], 1, ["12"]),
        ([CROSSING_A, CROSSING_B], 1, ["24", "24"]),
        ([CROSSING_A, PLAIN_B], 1, ["18", "18"]),
        ([CROSSING_A, PLAIN_B], 2, ["9", "9"]),
    ],
)
def test_jobs_side_by_side(jobs, uplink, times):
    trace = run_jobs(list(map(job, jobs)), LeafFabric(4, Fraction(uplink)))
    assert [str(trace.lasts(number)[0]) for number in range(len(jobs))] == times


@pytest.mark.parametrize(("offset", "period"), [(0, 18), (2, 16), (6, 12)])
def test_fair_shares_keep_an_offset_for_ever(offset, period):
    both = {"compute": 6, "repeats": 8}
    trace = run_jobs([job(PLAIN_A, **both), job(PLAIN_B, **both, offset=offset)], FABRIC)
    assert set(trace.periods(0)) == set(trace.periods(1)) == {period}
    assert set(trace.offsets(1)) == {offset}


@pytest.mark.parametrize("more", [{"weight": 2}, {"flows": 2}])
def test_unfair_shares_halve_the_overlap_each_time(more):
    both = {"compute": 6, "repeats": 5}
    trace = run_jobs([job(PLAIN_A, **both, **more), job(PLAIN_B, **both)], FABRIC)
    assert texts(trace.offsets(1)) == ["0", "3", "9/2", "21/4", "45/8"]


def test_three_quarters_take_two_thirds_of_the_overlap():
    both = {"compute": 6, "repeats": 4}
    trace = run_jobs([job(PLAIN_A, **both, weight=3), job(PLAIN_B, **both)], FABRIC)
    overlaps = [6 - offset for offset in trace.offsets(1)]
    assert all(then == Fraction(one, 3) for one, then in pairwise(overlaps))


def test_a_full_link_gives_both_as_much_time():
    both = {"compute": 3, "repeats": 5}
    trace = run_jobs([job(PLAIN_A, **both), job(PLAIN_B, **both, offset=6)], FABRIC)
    assert texts(trace.offsets(1)) == ["6", "9", "9", "9", "9"]
    assert texts(trace.periods(0)) == ["9", "12", "12", "12"]


@st.composite
def shared(draw):
    hosts = draw(st.permutations(range(8)))
    cuts = draw(st.sampled_from([(2, 4, 8), (3, 5, 8), (4, 8, 8), (2, 8, 8)]))
    parts = [hosts[: cuts[0]], hosts[cuts[0] : cuts[1]], hosts[cuts[1] : cuts[2]]]
    jobs = [
        job(
            tuple(part),
            compute=draw(st.integers(0, 5)),
            offset=draw(st.integers(0, 5)),
            repeats=draw(st.integers(1, 2)),
            flows=draw(st.integers(1, 3)),
        )
        for part in parts
        if len(part) > 1
    ]
    return jobs, LeafFabric(4, draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 3), Fraction(8)])))


@given(shared())
def test_every_byte_goes_once_and_no_link_has_more_than_its_rate(asked):
    jobs, fabric = asked
    trace = run_jobs(jobs, fabric)
    for use in trace.uses:
        assert 0 < sum(rate for _, rate in use.rates) <= fabric.uplink
    for number, one in enumerate(jobs):
        mine = [transfer for transfer in trace.transfers if transfer.job == number]
        assert len(mine) == one.repeats * one.steps * len(one.hosts)
        crossing = sum(
            (one.hosts[t.place] // 4, one.hosts[(t.place + 1) % len(one.hosts)] // 4) == (0, 1) for t in mine
        )
        assert trace.work(("leaf up", 0)).get(number, 0) == crossing
        assert all(transfer.end - transfer.start >= 1 for transfer in mine)


@given(shared())
def test_a_job_is_never_faster_beside_others_than_its_links_allow(asked):
    jobs, fabric = asked
    trace = run_jobs(jobs, fabric)
    for number in range(len(jobs)):
        assert all(time >= jobs[number].steps for time in trace.lasts(number))
    wide = run_jobs(jobs, LeafFabric(4, Fraction(64)))
    for number in range(len(jobs)):
        assert all(time == jobs[number].steps for time in wide.lasts(number))


@given(shared())
def test_who_had_less_of_a_full_uplink_was_held_and_nobody_else(asked):
    """A job is held only while it exchanges, and whoever was slower than alone was; a job alone never is."""
    jobs, fabric = asked
    trace = run_jobs(jobs, fabric)
    for number, pieces in enumerate(held(trace, fabric)):
        begins, ends = trace.begins[number], trace.ends[number]
        # a job that computes for no time has no rest between two of its collectives
        rests = [
            (end, begin) for end, begin in zip((Fraction(0), *ends), begins, strict=False) if end < begin
        ]
        assert all(number not in piece.by and piece.start < piece.end for piece in pieces)
        assert not any(piece.start < end and begin < piece.end for piece in pieces for begin, end in rests)
        assert all(piece.end <= trace.ends[number][-1] for piece in pieces)
        alone = run_jobs([SharedJob(hosts=jobs[number].hosts, work=jobs[number].work)], fabric)
        slower = any(time > alone.lasts(0)[0] for time in trace.lasts(number))
        assert pieces or not slower
        assert held(alone, fabric) == ((),)


def test_shares_are_max_min():
    routes = [
        (FABRIC.route(0, 4), Fraction(1)),
        (FABRIC.route(1, 4), Fraction(1)),
        (FABRIC.route(2, 3), Fraction(1)),
    ]
    assert texts(fair_shares(routes, FABRIC)) == ["1/2", "1/2", "1"]


def test_who_crosses_less_is_the_victim_and_the_other_is_named():
    found = peerlab.shared_fabric([{"hosts": CROSSING_A}, {"hosts": PLAIN_B}])
    assert (texts(found.lost), found.victim, found.culprit) == (["3/2", "3"], 1, 0)
    assert "Job 1 pays most" in found.finding
    alike = peerlab.shared_fabric([{"hosts": PLAIN_A}, {"hosts": PLAIN_B}])
    assert alike.victim is None
    assert "alike" in alike.finding
    apart = peerlab.shared_fabric([{"hosts": [0, 1]}, {"hosts": [4, 5]}])
    assert "nobody" in apart.finding.lower()


def test_where_two_share_the_blame_none_is_named():
    found = peerlab.shared_fabric(
        [
            {"hosts": [0, 8, 1, 9], "flows": 2},
            {"hosts": [2, 10, 3, 11], "flows": 2},
            {"hosts": [4, 5, 12, 13]},
        ],
        leaf=8,
    )
    assert (found.victim, found.culprit) == (2, None)
    assert "no single" in found.finding


def test_a_scene_that_is_cut_before_a_collective_ends_names_nobody():
    asked = [{"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}]
    found = peerlab.shared_fabric(asked, until_ms=5)
    assert (found.unended, found.victim, found.culprit) == ((0, 1), None, None)
    assert "not known" in found.finding
    assert [job["slowdown"] for job in found.as_dict()["jobs"]] == [None, None]
    assert row(found, 0)[3:] == ("-", "-", "-")
    parcel = jobs_parcel(found)
    assert parcel["end_us"] <= 5000
    assert [job["exchanges"] for job in parcel["jobs"]] == [[[0, parcel["end_us"]]]] * 2


@pytest.mark.parametrize(
    ("jobs", "more", "says"),
    [
        ([{"hosts": [0, 1]}, {"hosts": [1, 2]}], {}, "both have host 1"),
        ([{"hosts": [0, 1, 0]}], {}, "job 0 has host 0 twice"),
        ([{"hosts": [0]}], {}, "job 0 needs at least two hosts, such as 0,1$"),
        ([{"hosts": [0, 1], "weight": 0}], {}, "job 0 needs a weight above 0$"),
        ([{"hosts": [0, 1]}], {"message_bytes": 0}, "job 0 sends nothing"),
        ([{"hosts": [0, 99]}], {}, "numbered 0 to 63"),
        ([{"hosts": ["a", "b"]}], {}, "not numbers"),
        ([{"hosts": [2 * n, 2 * n + 1]} for n in range(9)], {}, "1 to 8"),
        ([{"hosts": [0, 1], "speed": 2}], {}, "has no 'speed'"),
        ([{"hosts": [0, 1], "repeats": 1001}], {}, "1 to 1000"),
        ([{"hosts": list(range(64)), "repeats": 900}], {}, "20000 transfers"),
        ([{"hosts": [0, 1], "compute_ms": "soon"}], {}, "not a number"),
        ([{"hosts": [0, 1]}], {"uplink": 0}, "^uplink: .* above 0"),
        ([{"hosts": [0, 1]}], {"leaf": 0}, "^leaf: 0 is out of range; a leaf has 1 to 64 hosts"),
        ([{"hosts": [0, 1]}], {"leaf": 10**22}, "^leaf"),
        ([{"hosts": [0, 1]}], {"message_bytes": "1e30"}, "possible are 1 B to 1 TiB"),
        ([{"hosts": [0, 1], "message_bytes": 10**30}], {}, "possible are 1 B to 1 TiB"),
        ([{"hosts": [0, 1]}], {"message_bytes": "large"}, "message_bytes"),
    ],
)
def test_what_is_impossible_is_told_in_a_line(jobs, more, says):
    with pytest.raises(ScenarioError, match=says):
        peerlab.shared_fabric(jobs, **more)


def test_the_command_prints_jobs_and_writes_a_still(own_folder):
    line = ["jobs", "--job", "0,4,1,5", "--job", "2,3,6,7 offset=0.1 repeats=2", "--output", "jobs.svg"]
    status, out, problem = peerlab_command(*line)
    assert (status, problem) == (0, "")
    assert "Job 1 pays most" in out.partition("slow-down")[0]  # what it comes to stands before its table
    assert (own_folder / "jobs.svg").read_text().startswith("<svg")
    assert "in the way of job 1" in (own_folder / "jobs.svg").read_text()
    assert peerlab_command(*line[:-1], "jobs.html")[0] == 0
    assert "Job 1 pays most" in (own_folder / "jobs.html").read_text()
    status, out, _ = peerlab_command(*line[:-2], "--json")
    assert json.loads(out)["victim"] == 1


@pytest.mark.parametrize("wrong", ["a,b", "0,1 speed=2", "0,1 repeats=x", "0,1 offset=x", ","])
def test_the_command_refuses_in_a_line(wrong):
    status, out, problem = peerlab_command("jobs", "--job", wrong)
    assert (status, out) == (1, "")
    assert problem.count("\n") == 1


def test_no_job_has_the_colours_of_what_limits_or_warns():
    assert len(set(ROLES)) == 8
    assert not {"hot", "copy", "direct"} & set(ROLES)
