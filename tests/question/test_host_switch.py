"""The host switch: one pair of paths for every cluster, wherever it is switched."""

import pytest

from peerlab.app.controls import Controls
from peerlab.app.explorer import Explorer
from peerlab.features.export.choices import choices
from peerlab.features.site.tab import Tab
from peerlab.question.host_switch import detour_and_direct, through_and_past
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario

BOTH = [name for name in known_clusters() if all(through_and_past(load_cluster(name)))]


def test_the_whole_way_past_the_host_goes_before_half_of_it():
    assert through_and_past(load_cluster("p4d")) == (
        ["host-rdma", "host-tcp"],
        ["peer-direct", "receive-direct"],
    )
    assert through_and_past(load_cluster("ideal-100g")) == ([], [])


@pytest.mark.parametrize("cluster", ["p4d", "roce-100g-a100", "infiniband-hdr-a100"])
def test_the_path_that_is_shown_is_one_of_the_two(cluster):
    for path, other in (
        ("host-rdma", "peer-direct"),
        ("receive-direct", "host-rdma"),
        ("host-tcp", "peer-direct"),
    ):
        pair = detour_and_direct(Scenario(cluster=cluster, path=path))
        assert {scenario.path for scenario in pair} == {path, other}
        assert [scenario.staged for scenario in pair] == [True, False]


def test_what_somebody_chose_goes_before_the_first():
    slow, _ = detour_and_direct(Scenario(cluster="p4d", path="peer-direct"), "host-tcp")
    _, fast = detour_and_direct(Scenario(cluster="p4d", path="host-rdma"), direct="receive-direct")
    assert (slow.path, fast.path) == ("host-tcp", "receive-direct")


@pytest.mark.parametrize("cluster", BOTH)
def test_notebook_exported_page_and_tab_switch_between_the_same_two_paths(cluster):
    through, past = through_and_past(load_cluster(cluster))
    scenario = Scenario(cluster=cluster, nodes=2, message_bytes=2**16, path=through[0])
    exported = choices(scenario, "host")[0].values
    tab = next(Tab(cluster=cluster, nodes=2, message_bytes=2**16, path=through[0])._pieces())["ratio"]
    assert exported == (through[0], past[0])
    slow, fast = detour_and_direct(scenario)
    assert (tab["slow"], tab["fast"]) == (slow.data_path.title, fast.data_path.title)
    assert (slow.path, fast.path) == exported


def test_the_notebook_takes_the_detour_that_was_chosen():
    lab = Explorer(Scenario(cluster="p4d", nodes=2, path="host-tcp"))
    assert isinstance(lab.controls, Controls)
    lab.controls.host.value = False
    assert [scenario.path for scenario in lab.controls.pair(lab.scenario)] == ["host-tcp", "peer-direct"]
    lab.close()
