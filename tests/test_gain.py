"""How sure a gain is: its band, and what the band leaves out."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_sensitivity import PATHS, busbw, scenarios

import peerlab
from peerlab.answer.gain import COLUMNS, GainBand, gain_band
from peerlab.answer.sensitivity import changed
from peerlab.base.units import TIMES_SIGN
from peerlab.model.hardware import Figure
from peerlab.picture.how_sure import how_sure_svg
from peerlab.question.alternatives import alternatives
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.used_figures import assumed, ends

DL1 = peerlab.load_cluster("dl1")


def pair(**fields):
    """Return a run by Peer Direct and one through the host."""
    staged = peerlab.Scenario(**{"nodes": 8, "path": "host-rdma", **fields})
    return peerlab.simulate(staged.with_(path="peer-direct")), peerlab.simulate(staged)


def test_two_paths_of_one_machine_share_its_figures_so_their_ratio_is_surer_than_either():
    staged = peerlab.simulate(peerlab.Scenario(cluster="gaudi3", nodes=4, path="host-rdma"))
    direct = peerlab.simulate(staged.scenario.with_(path="peer-direct"))
    gain, (host, peer) = direct.gain_band(staged), (run.sensitivity_band() for run in (staged, direct))
    assert gain.low <= gain.value == direct.busbw_GBps / staged.busbw_GBps <= gain.high
    assert gain.low / gain.reach.low > 0.95  # one NIC is not slow on one path and quick on the other
    assert peer.low_GBps / host.high_GBps < 0.5
    assert gain.high < peer.high_GBps / host.low_GBps
    other = peerlab.simulate(peerlab.Scenario(path="host-rdma"))
    with pytest.raises(peerlab.PeerlabError, match="two runs on one cluster"):
        direct.gain_band(other)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"collective": "point-to-point"}, "one run is of allreduce, the other of point-to-point"),
        ({"message_bytes": 1}, "one run is of 67108864 bytes per rank, the other of 1 bytes per rank"),
        ({"nodes": 4}, "one run is of 8 nodes, the other of 4 nodes"),
    ],
)
def test_only_two_data_paths_of_one_exchange_have_a_gain(fields, says):
    run, other = (
        peerlab.simulate(peerlab.Scenario(**more)) for more in ({"nodes": 8}, {"nodes": 8} | fields)
    )
    with pytest.raises(peerlab.PeerlabError, match=says):
        run.gain_band(other)


@pytest.mark.parametrize("other", [None, 3, "a run", peerlab.Scenario()])
def test_what_is_no_run_has_no_gain(other):
    run = peerlab.simulate(peerlab.Scenario())
    with pytest.raises(
        peerlab.PeerlabError, match=r"compares with a run that peerlab\.simulate has made, not"
    ):
        run.gain_band(other)


def test_a_small_gain_is_not_said_to_be_none():
    assert str(GainBand(0.00225, 0.01, 0.0999, ())).startswith("0.01 times: 0.00225 to 0.0999 times if")
    assert str(GainBand(0.996, 1.78, 12.3, ())).startswith("1.78 times: 1.0 to 12 times if")


@pytest.mark.parametrize(
    ("version", "nodes", "doubted"), [("2.9", 8, True), ("2.9", 2, False), ("2.12", 8, False)]
)
def test_before_nccl_2_12_the_gain_with_a_tree_stands_beside_the_band(version, nodes, doubted):
    """Nobody knows which version began to run trees on large messages between more than two nodes."""
    staged, direct = (
        peerlab.Scenario(
            cluster="p4d", nodes=nodes, path=path, message_bytes="256 MiB", library_version=version
        )
        for path in ("host-rdma", "peer-direct")
    )

    def busbw(one):
        return (3 if one.algorithm == "tree" else 2) if one.path == "peer-direct" else 1

    found = gain_band(direct, staged, busbw, 2)
    if not doubted:
        assert found.old_library is None
        return
    old = found.old_library
    assert (found.value, old.gain, found.most) == (2, 3, old.high)
    assert old.low < 3 < old.high
    told = f"{old.low:.2f} to {old.high:.2f} times if NCCL 2.9 over EFA runs a tree"
    assert told in found.range_in_words()
    assert told.replace(" times", TIMES_SIGN) in found._repr_html_()
    assert told in how_sure_svg(found)


def test_a_figure_without_a_range_ends_where_it_stands():
    ranged, known = DL1.figures["fabric.latency"], DL1.figures["node.nics_per_switch"]
    assert ends(ranged) == ranged.range != ends(known) == (known.value, known.value)


@given(scenarios, st.sampled_from(PATHS))
def test_the_gains_band_holds_what_any_figure_moved_on_both_paths_gives(scenario, path):
    run, over = peerlab.simulate(scenario), peerlab.simulate(scenario.with_(path=path))
    gain = run.gain_band(over)
    for figure in {one.key: one for run_ in (run, over) for one in assumed(run_.scenario)}.values():
        for end in figure.range:
            moved = [changed(one.scenario, [(figure.key, end)]) for one in (run, over)]
            assert gain.low <= busbw(moved[0]) / busbw(moved[1]) <= gain.high


def test_each_row_of_a_report_has_its_range():
    direct, staged = pair()
    shown = direct.gain_band(staged)._repr_html_()
    ranges = re.findall(r"<p><b>([^<]*)</b></p><p class='pl-span'>", shown)
    assert len(ranges) >= 2
    assert all(re.fullmatch(f"[0-9.]+ to [0-9.]+{TIMES_SIGN}", words) for words in ranges)


def test_each_possible_wiring_is_simulated_and_said_as_an_alternative_with_a_band_of_its_own():
    direct, staged = pair()
    gain = direct.gain_band(staged)
    (wiring,) = gain.left_out
    assert wiring.figure is DL1.wiring
    (root_port,) = (
        wiring.cases
    )  # the file says why one switch per socket and the other socket are not possible
    apart = [busbw(run.scenario.with_(wiring="root-port")) for run in (direct, staged)]
    assert root_port.gain == apart[0] / apart[1]
    assert root_port.low < root_port.gain < 1.05 < gain.low
    assert [case.says for case in gain.wired] == [
        "each NIC hangs below the devices' switch",
        "each NIC has a root port of its own",
    ]
    assert (gain.wired[0].low, gain.wired[0].gain, gain.wired[0].high) == (gain.low, gain.value, gain.high)
    assert (gain.least, gain.most) == (root_port.low, gain.high)
    assert gain.in_words == (
        f"{gain.value:.2f} times: {gain.low:.2f} to {gain.high:.2f} times if each NIC hangs below the devices' switch,"
        f" which p4d's bus numbering suggests; {root_port.low:.2f} to {root_port.high:.2f} times if each NIC has a root port of its own;"
        f" {DL1.wiring.check}; each band: the assumed figures that have a range lie at its ends;"
        f" of the first band the machine's figures make {gain.topology[0]:.2f} to {gain.topology[1]:.2f}, the library's and the model's error the rest;"
        f" without a library it is {gain.alone:.2f}; {gain.reach.in_words}"
    )
    assert f"{gain.least:.2f} to {gain.most:.2f}" not in gain.in_words
    assert gain.low <= gain.topology[0] <= gain.topology[1] <= gain.high
    alone = [one.scenario.with_(library="none") for one in (direct, staged)]
    assert gain.alone == pytest.approx(busbw(alone[0]) / busbw(alone[1]))


def test_the_band_of_another_wiring_holds_what_only_that_wiring_needs():
    direct, staged = pair(nodes=4, message_bytes="16 MiB")
    (root_port,) = direct.gain_band(staged).left_out[0].cases
    wired = direct.scenario.with_(wiring="root-port").hardware
    for key in ("host.peer_read", "host.peer_write"):
        for end in wired.figures[key].range:
            moved = wired.with_figure(key, end)
            ratio = busbw(direct.scenario.with_(cluster=moved)) / busbw(staged.scenario.with_(cluster=moved))
            assert root_port.low <= ratio <= root_port.high


def test_what_a_gain_depends_on_most_is_what_moves_it_most_with_a_range_or_without():
    direct, staged = pair()
    gain = direct.gain_band(staged)
    assert gain.decisive.figure.named == "where the NICs hang (wiring.nic)"
    latency = next(one for one in gain.assumptions if one.figure.key == "fabric.latency")
    assert latency.in_band
    assert latency.reach < 0.01 < gain.decisive.reach
    table = gain.table()
    assert list(table.columns) == list(COLUMNS)
    assert list(table["figure"])[:1] == ["wiring.nic"]
    assert table["change_percent"].abs()[0] > table["change_percent"].abs()[1:].max()
    hdr, over = pair(cluster="infiniband-hdr-a100")
    assert hdr.gain_band(over).decisive.figure.key == "switch.uplink"


def test_wiring_that_a_document_tells_has_no_alternative_and_one_that_cannot_be_simulated_is_named():
    direct, staged = pair(cluster="p4d")
    assert direct.gain_band(staged).left_out == ()
    direct, staged = pair(cluster="juliet")
    said = direct.gain_band(staged).range_in_words()
    assert "; where the NICs hang: no alternative can be simulated" in said
    assert "; slices in flight: others move the gain by less than 1 %" in said


def test_a_run_that_takes_no_time_has_no_gain():
    one = peerlab.simulate(peerlab.Scenario(cluster="juliet", nodes=1, path="host-rdma"))
    with pytest.raises(peerlab.PeerlabError, match="one rank exchanges nothing"):
        one.gain_band(one)


@given(st.sampled_from(peerlab.known_clusters()), st.integers(2, 8))
def test_alternatives_keep_the_ranks_and_each_stands_for_an_assumption_without_a_range(name, nodes):
    cluster = peerlab.load_cluster(name)
    for path in cluster.paths:
        scenario = peerlab.Scenario(cluster=name, nodes=nodes, path=path)
        for figure, others in alternatives(scenario).items():
            assert figure.assumption
            assert figure.range is None
            for one in others:
                assert scenario.with_(cluster=one.cluster).ranks == scenario.ranks
                assert one.cluster != cluster


def test_an_alternative_that_no_cluster_may_have_is_left_out():
    figure = replace(DL1.figures["slices.window"], value=2**20, assumption="as many as fit", source="")
    cluster = DL1.with_figure("slices.window", 2**20, assumption=figure.assumption)
    found = alternatives(peerlab.Scenario(cluster=cluster))
    (window,) = (others for one, others in found.items() if one.key == "slices.window")
    assert [one.says for one in window] == ["slices in flight are 524288"]


def test_the_documents_quote_the_sentence_as_it_is(root):
    direct, staged = pair()
    quoted = " ".join((root / "docs" / "using.md").read_text().replace("\n>", "\n").split())
    assert str(direct.gain_band(staged)) in quoted


def test_an_alternative_agrees_with_what_it_counts():
    says = {
        one.says
        for name in known_clusters()
        for figure, others in alternatives(
            peerlab.Scenario(cluster=name, path=next(iter(load_cluster(name).paths)))
        ).items()
        if isinstance(figure, Figure)
        for one in others
    }
    assert "generation of the accelerator is 4" in says
    assert "CPU cores per accelerator are 2" in says
    wrong = [one for one in says if ("generation" in one) != (" is " in one)]
    assert wrong == []
