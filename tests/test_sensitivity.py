"""What an answer owes to assumptions."""

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.sensitivity import COLUMNS, changed
from peerlab.cli import main
from peerlab.question.used_figures import assumed, better_end, figures_used

DL1 = peerlab.load_cluster("dl1")
PATHS = ("host-rdma", "peer-direct", "host-tcp")

scenarios = st.builds(
    peerlab.Scenario,
    path=st.sampled_from(PATHS),
    registration=st.sampled_from(["cached", "per-transfer", "pool"]),
    collective=st.sampled_from(["allreduce", "allgather", "reduce-scatter", "point-to-point"]),
    nodes=st.integers(2, 12),
    message_bytes=st.integers(1, 2**26),
)


def busbw(scenario):
    return peerlab.simulate(scenario).busbw_GBps


def test_every_assumed_figure_that_the_path_meets_has_a_row_and_the_strongest_comes_first():
    run = peerlab.simulate(peerlab.Scenario(path="peer-direct", registration="per-transfer"))
    table = run.sensitivity()
    assert list(table.columns) == list(COLUMNS)
    assert table["figure"].head(2).tolist() == ["registration.base", "registration.per_page"]
    assert set(table["figure"]) == {one.key for one in assumed(run.scenario)}
    strengths = table[["change_at_low_percent", "change_at_high_percent"]].abs().max(axis=1)
    assert strengths.is_monotonic_decreasing
    base = table.iloc[0]
    dear = run.scenario.with_(cluster=DL1.with_figure("registration.base", 2200))
    assert (base["low"], base["value"], base["high"], base["unit"]) == (7, 16, 2200, "us")
    assert base["busbw_at_high_GBps"] == busbw(dear)
    assert base["change_at_high_percent"] == pytest.approx(100 * (busbw(dear) / run.busbw_GBps - 1))


@given(scenarios)
def test_the_band_contains_the_answer_and_what_each_figure_does_alone(scenario):
    run = peerlab.simulate(scenario)
    band = run.sensitivity_band()
    assert band.low_GBps <= band.value_GBps == run.busbw_GBps <= band.high_GBps
    table = run.sensitivity()
    ends = table[["busbw_at_low_GBps", "busbw_at_high_GBps"]]
    # a schedule may turn a little faster by a slower part; more than that would be a wrong direction
    assert ends.min().min() >= band.low_GBps * 0.99
    assert ends.max().max() <= band.high_GBps * 1.02


@given(st.sampled_from(peerlab.known_clusters()), st.integers(2, 4), st.integers(1, 2**24), st.data())
def test_a_figure_that_the_path_does_not_meet_changes_nothing(name, nodes, size, data):
    cluster = peerlab.load_cluster(name)
    scenario = peerlab.Scenario(
        cluster=name,
        nodes=nodes,
        message_bytes=size,
        path=data.draw(st.sampled_from(cluster.paths)),
        registration=data.draw(st.sampled_from(["cached", "per-transfer", "pool"])),
        collective=data.draw(st.sampled_from(["allreduce", "point-to-point"])),
    )
    others = sorted(key for key in cluster.figures if key not in figures_used(scenario))
    if not others:
        return
    figure = cluster.figures[data.draw(st.sampled_from(others))]
    for value in figure.range or (figure.value * 2,):
        other = peerlab.simulate(changed(scenario, [(figure.key, value)]))
        assert other.time_ps == peerlab.simulate(scenario).time_ps


@pytest.mark.parametrize("path", PATHS)
def test_faster_rates_and_shorter_times_are_the_better_end(path):
    scenario = peerlab.Scenario(path=path, registration="per-transfer", message_bytes="4 MiB")
    for figure in assumed(scenario):
        if better_end(figure) is None:
            continue
        low, high = (busbw(changed(scenario, [(figure.key, value)])) for value in figure.range)
        better, worse = (high, low) if better_end(figure) else (low, high)
        assert better >= worse * 0.999, figure.key


def test_without_assumptions_the_band_is_the_answer_and_the_table_is_empty():
    run = peerlab.simulate(peerlab.Scenario(cluster="ideal-100g"))
    assert run.sensitivity().empty
    assert list(run.sensitivity().columns) == list(COLUMNS)
    band = run.sensitivity_band()
    assert band.low_GBps == band.value_GBps == band.high_GBps == run.busbw_GBps


def test_a_what_if_is_the_same_whatever_engine_made_the_run_and_can_be_sent_to_another_process():
    run = peerlab.simulate(peerlab.Scenario(nodes=2, message_bytes="1 MiB"), engine="referee")
    assert run.sensitivity().equals(peerlab.simulate(run.scenario).sensitivity())
    assert pickle.loads(pickle.dumps(run.simulate)) is peerlab.simulate  # noqa: S301  (our own)


def test_a_run_that_nobody_can_simulate_again_says_so():
    run = replace(peerlab.simulate(peerlab.Scenario(nodes=2)), simulate=None)
    with pytest.raises(peerlab.PeerlabError, match=r"a run that peerlab\.simulate has made"):
        run.sensitivity()


def test_the_command_line_prints_a_table_for_each_path(capsys):
    assert main(["simulate", "--nodes", "2", "--sensitivity"]) == 0
    out = capsys.readouterr().out
    assert "peer-direct, no cache: " in out
    assert "if all assumed figures lie at the ends of their ranges" in out
    assert "registration.base" in out.partition("peer-direct, no cache: ")[2]
    assert "outside that band: where the NICs hang (wiring.nic), each NIC hangs below" in out
    apart = busbw(peerlab.Scenario(nodes=2, path="host-rdma", wiring="root-port"))
    assert f"{apart:.3g} GB/s if each NIC has a root port of its own" in out
    assert (
        "Find that out first: `peerlab doctor` on one node tells (on EFA it reads what `fi_info -p efa` prints"
        in out
    )
    staged, direct = (
        peerlab.simulate(peerlab.Scenario(nodes=2, path=path)) for path in ("host-rdma", "peer-direct")
    )
    assert f"Peer Direct over RDMA through host: {direct.gain_band(staged)}" in out


def test_a_what_if_in_which_the_library_chooses_otherwise_says_so(capsys):
    """A faster part may then be slower, which nobody would understand."""
    asked = ["simulate", "--cluster", "mi250x-slingshot", "--nodes", "2", "--path", "peer-direct"]
    for message, told in (("96KiB", ["the library would choose ring, LL"]), ("256KiB", [])):
        assert main([*asked, "--message", message, "--registration", "cached", "--sensitivity"]) == 0
        said = [line for line in capsys.readouterr().out.splitlines() if "would choose" in line]
        assert [line.partition("; ")[2] for line in said] == told


def test_before_nccl_2_12_tree_or_ring_stands_beside_the_band(capsys):
    """The one log is of 2 nodes; on 8 of them NCCL 2.12 runs a tree where 2.9 is taken to run a ring."""
    asked = [
        "simulate",
        "--cluster",
        "p4d",
        "--path",
        "peer-direct",
        "--registration",
        "cached",
        "--sensitivity",
    ]
    for version, nodes, told in (("2.9", 8, True), ("2.9", 2, False), ("2.12", 8, False)):
        of = ["--library-version", version, "--nodes", str(nodes), "--message", "256MiB"]
        assert main([*asked, *of]) == 0
        assert ("tree or ring: which of them" in (out := capsys.readouterr().out)) == told
        if told:
            tree = peerlab.simulate(
                peerlab.Scenario(
                    cluster="p4d",
                    nodes=8,
                    path="peer-direct",
                    message_bytes="256 MiB",
                    library_version="2.9",
                    algorithm="tree",
                )
            )
            assert f"{tree.busbw_GBps:.3g} GB/s if it runs a tree" in out
            assert "a tree or a ring may run" in out


def test_the_command_line_gives_the_same_as_json(capsys):
    assert main(["simulate", "--nodes", "2", "--path", "host-tcp", "--sensitivity", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    expected = peerlab.simulate(peerlab.Scenario(nodes=2, path="host-tcp"))
    band = expected.sensitivity_band()
    assert run["sensitivity"]["band_GBps"] == [band.low_GBps, band.high_GBps]
    assert run["sensitivity"]["figures"] == expected.sensitivity().to_dict("records")
    assert "wiring.nic" in run["sensitivity"]["not_varied"]
    (figure, others), *_ = expected.alternatives().items()
    told = [one for one in run["sensitivity"]["alternatives"] if one["figure"] == figure.key]
    assert [(one["if"], one["busbw_GBps"]) for one in told] == [(one.says, value) for one, value in others]
