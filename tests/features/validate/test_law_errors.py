"""Bands that hold what happens: the error of a law comes from machines that were left out, and every band has it."""

import json
import math
from dataclasses import replace

import pytest

import peerlab
from peerlab.answer.metrics import wire_limit_GBps
from peerlab.answer.sensitivity import limit_band
from peerlab.base.errors import HardwareError
from peerlab.features.validate.held_out.floor_factors import floor_factors_of, written_floors
from peerlab.features.validate.held_out.law_errors import (
    correlations,
    coverage,
    law_errors_of,
    left_out,
    quantile,
    written,
)
from peerlab.features.validate.held_out.logged_machines import load_machines
from peerlab.features.validate.held_out.next_machine import factor, student_t
from peerlab.features.validate.held_out.unseen import unseen
from peerlab.library.library_files import read_library
from peerlab.question.floors import FILE as FLOORS
from peerlab.question.law_error import (
    FILE,
    SHARE,
    Reach,
    law_error,
    law_errors,
    reach,
    reach_of_ratio,
    unsolved,
)
from peerlab.training.answer_step import step
from peerlab.training.step_band import step_gain
from peerlab.training.training_step import Step


@pytest.fixture(scope="module")
def machines(sharing):
    with sharing():
        return list(unseen(load_machines()))


def test_the_errors_in_data_are_those_that_the_machines_left_out_give(machines, root):
    assert written(law_errors_of(left_out(machines))) == (root / "data" / FILE).read_text(encoding="utf-8")


def test_nine_of_ten_measured_times_lie_inside_where_accuracy_is_promised_with_each_machine_left_out(
    machines,
):
    found = {one.group: one for one in coverage(left_out(machines))}
    promised, everywhere = found["where accuracy is promised"], found["all machines"]
    assert promised.by_law / promised.times >= 0.85
    assert everywhere.by_law / everywhere.times >= 0.85
    # a log from which a range was taken lies inside by construction: it proves nothing, and is not counted
    counted = [point for one in machines if not one.own_range for point in one.points if not point.held_up]
    assert everywhere.times == len(counted) < len(left_out(machines))
    assert found["p4d.24xlarge with NCCL 2.9.9, 2 x 8 A100, range taken from this log"].times == 30
    assert promised.by_figures / promised.times < promised.by_law / promised.times
    for sizes in ("promised, 1 to 32 MiB", "promised, 64 MiB to 4 GiB"):
        assert found[sizes].by_law / found[sizes].times >= 0.85


def test_json_holds_every_machine(machines):
    """`peerlab validate --json` ended in a traceback: a time of pandas compared with another is no bool that JSON knows."""
    found = json.loads(json.dumps([one.as_dict() for one in machines], allow_nan=False))
    assert {point["counts_for_the_worst"] for one in found for point in one["points"]} == {True, False}


def test_sizes_of_which_nothing_is_promised_make_no_band_and_are_said(machines):
    (log,) = (one for one in machines if one.name == "g4dn.8xlarge, 2 x 1 T4")
    apart = [point.size for point in log.points if not point.promised]
    assert apart == [2**17, 2**18, 2**19, 2**20]
    assert all(one.point.size not in apart for one in left_out([log]) if one.promised)
    staged = peerlab.Scenario(cluster="g4dn-8xlarge", nodes=2, path="host-rdma", message_bytes="256 KiB")
    assert any(said.endswith("No accuracy is promised there.") for said in staged.library_unsolved)
    assert reach(staged).low < 0.5  # the band holds what was measured
    for other in (
        staged.with_(message_bytes="2 MiB"),
        staged.with_(message_bytes="64 KiB"),
        peerlab.Scenario(cluster="p5", nodes=2, path="peer-direct", message_bytes="256 KiB"),
    ):
        assert not any("No accuracy" in said for said in other.library_unsolved)


def test_a_share_that_is_expected_is_about_the_share_that_is_seen(machines):
    times = left_out(machines)
    for share in (0.5, 0.8, 0.95):
        (seen,) = (one for one in coverage(times, share) if one.group == "where accuracy is promised")
        assert seen.by_law / seen.times >= share - 0.06


def test_a_further_machine_misses_by_students_t_of_as_many_machines():
    from scipy import stats  # a second, which every process would take that only collects this

    for machines in (1, 2, 3, 6, 11):
        for share in (0.5, 0.9, 0.99):
            assert student_t(share, machines) == pytest.approx(stats.t.ppf((1 + share) / 2, machines))
    alike = {name: [1.1, 1.1] for name in "abcd"}
    assert math.log(factor(alike, 0.9)) == pytest.approx(math.log(1.1) * stats.t.ppf(0.95, 4))
    # a machine counts once, however many sizes its log has; one more like the others makes it surer
    assert factor({**alike, "a": [1.1] * 50}, 0.9) == pytest.approx(factor(alike, 0.9))
    assert factor({**alike, "e": [1.1]}, 0.9) < factor(alike, 0.9)
    assert factor({}, 0.9) == 1


def test_a_quantile_counts_the_next_one_and_never_narrows():
    assert quantile([1.0] * 8 + [1.5]) == 1.5  # 9 of 10, the tenth being the next machine's
    assert quantile([1.0] * 18 + [1.5]) == 1.0
    assert quantile([0.5] * 20) == 1.0


@pytest.mark.parametrize(
    ("fields", "transport"),
    [
        ({"cluster": "p5"}, ""),
        ({"cluster": "p5", "nodes": 1}, ""),
        ({"cluster": "gaudi2", "path": "native"}, ""),
        ({"cluster": "alps-gh200"}, "cxi"),
        ({"cluster": "dl1", "path": "host-tcp"}, "sockets"),
        ({"cluster": "dl1", "path": "host-rdma"}, ""),
        ({"cluster": "p5", "collective": "alltoall"}, ""),
    ],
)
def test_no_band_is_narrower_than_the_error_of_its_law_and_none_has_no_width(fields, transport):
    run = peerlab.simulate(peerlab.Scenario(**{"nodes": 2, "message_bytes": "64 MiB", **fields}))
    error = law_error(run.scenario)
    assert (error.transport, error.algorithm) == (transport, "")
    band = run.sensitivity_band()
    assert band.low_GBps * error.times <= band.value_GBps * 1.0000001
    wire = limit_band(run.scenario, wire_limit_GBps).high_GBps
    assert band.high_GBps >= min(band.value_GBps * error.times, wire if wire > 0 else math.inf) * 0.9999999
    assert error.times > 1.01


def test_what_is_no_machine_has_no_error_of_a_law():
    for fields in (
        {"cluster": "ideal-100g"},
        {"cluster": "ideal-100g-staged"},
        {"cluster": "p5", "library": "none"},
    ):
        asked = peerlab.Scenario(nodes=2, **fields)
        assert law_error(asked) is None
        assert reach(asked) == Reach()


def test_errors_of_two_paths_are_taken_as_independent():
    direct, staged = (peerlab.Scenario(path=path) for path in ("peer-direct", "host-rdma"))
    far = reach_of_ratio(direct, staged)
    assert far.high == pytest.approx(math.exp(math.sqrt(2) * math.log(law_error(direct).times)))
    assert far.low == pytest.approx(1 / far.high)
    gain = peerlab.simulate(direct).gain_band(peerlab.simulate(staged))
    assert gain.low < gain.value / far.high
    assert far.error.in_words in gain.range_in_words()


def test_errors_of_two_paths_of_one_machine_are_no_less_alike_than_independent_ones(machines):
    found = [value for _, value in correlations(machines)]
    assert len(found) == 2
    assert all(0 <= value < 1 for value in found)  # so that a gain's band is rather too wide than too narrow


def test_what_is_not_solved_enters_the_band_in_figures():
    inside, above = (
        peerlab.Scenario(cluster="p5", nodes=2, message_bytes=size) for size in ("512 KiB", "1 MiB")
    )
    assert [one.takes for one in unsolved(inside)] == [(1, 1.2)]
    assert reach(inside).low == pytest.approx(reach(above).low / 1.2)
    assert reach(inside).high == reach(above).high
    # both paths of a gain have it
    assert reach_of_ratio(inside, inside.with_(path="host-rdma")).low == pytest.approx(
        reach_of_ratio(above, above.with_(path="host-rdma")).low
    )


def test_a_damaged_promise_of_what_is_not_solved_is_refused():
    for entry, said in (('promised = "no"', "true or false"), ('when = "always"', "staged")):
        with pytest.raises(HardwareError, match=said):
            read_library(
                f'name = "a"\ntitle = "A"\nextends = "nccl-efa"\n[[unsolved]]\nsays = "b"\n{entry}\n',
                "a.toml",
            )


@pytest.mark.parametrize("takes", ["[1]", "[1, 0.5]", "[2, 3]", '["a", 2]', "[1, true]", "3"])
def test_a_damaged_range_of_what_is_not_solved_is_refused(takes):
    with pytest.raises(HardwareError, match=r"\[\[unsolved\]\] takes"):
        read_library(
            f'name = "a"\ntitle = "A"\nextends = "nccl-efa"\n[[unsolved]]\nsays = "b"\ntakes = {takes}\n',
            "a.toml",
        )


def test_a_step_is_as_sure_as_its_exchanges_matter():
    training = Step(workload="resnet50", batch=128, scenario=peerlab.Scenario(path="peer-direct"))
    runs = [
        step(replace(training, scenario=training.scenario.with_(path=path)))
        for path in ("peer-direct", "host-rdma")
    ]
    gain = step_gain(*runs)
    far = reach_of_ratio(*(run.step.scenario for run in runs))
    assert 1 < gain.cluster.reach.high < far.high  # what computing hides is no part of a step
    assert far.low < gain.cluster.reach.low <= 1


def test_the_command_writes_what_it_derives(tmp_path, capsys, monkeypatch, machines, root):
    import peerlab.features.validate.held_out.validate_machines as command
    from peerlab.cli import main

    monkeypatch.setattr(command, "unseen", lambda _: machines)
    assert main(["validate", "--law-errors", str(tmp_path / "errors.toml")]) == 0
    assert (tmp_path / "errors.toml").read_text() == (root / "data" / FILE).read_text()
    out = capsys.readouterr().out
    for one in law_errors():
        assert f"{one.times:.3f} times; {one.in_words}" in out
    assert SHARE == 0.9


def test_the_floors_in_data_are_those_that_the_machines_left_out_give(machines, root):
    floors = floor_factors_of(left_out(machines))
    assert written_floors(floors) == (root / "data" / FLOORS).read_text(encoding="utf-8")


def test_no_time_of_a_machine_left_out_lies_below_its_floor_but_one_in_a_hundred(machines):
    for floor in floor_factors_of(left_out(machines)):
        times = [
            one
            for one in left_out(machines)
            if one.machine.transport in floor.transports and (one.promised or not floor.promised)
        ]
        below = [one for one in times if one.point.measured_s > one.point.ends_s[1] * floor.times]
        assert all(one.point.held_up for one in below)
