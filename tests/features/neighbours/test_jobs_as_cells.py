"""Several jobs as cells in ports: forms of max-min rates that they keep, what only ports do, and what is refused."""

import json
from itertools import pairwise

import pytest
from command_line import peerlab_command

import peerlab
from peerlab.base.document import document_lines
from peerlab.base.errors import ScenarioError
from peerlab.engine.ports.scene_checks import hops
from peerlab.features.neighbours.jobs_parcel import jobs_parcel
from peerlab.features.neighbours.jobs_report import jobs_document

PLAIN_A, PLAIN_B, CROSSING_A = [0, 1, 4, 5], [2, 3, 6, 7], [0, 4, 1, 5]
SMALL = {"message_bytes": "4 MiB"}


def test_both_engines_give_the_same_jobs():
    jobs = [
        {"hosts": CROSSING_A, "flows": 2},
        {"hosts": PLAIN_B, "offset_ms": 0.1, "compute_ms": 0.2, "repeats": 2, "lane": 1},
    ]
    for fabric in ("infiniband", "roce-dcqcn"):
        found = [
            peerlab.shared_fabric(jobs, message_bytes="256 KiB", fabric=fabric, engine=engine)
            for engine in ("loop", "referee")
        ]
        assert found[0].cells.ports == found[1].cells.ports
        assert found[0].as_dict() == found[1].as_dict()


@pytest.mark.parametrize("fabric", ["infiniband", "roce-pfc"])
def test_who_crosses_less_is_the_victim_of_cells_too(fabric):
    large = {"message_bytes": "16 MiB", "cell": "16 KiB"}
    found = peerlab.shared_fabric([{"hosts": CROSSING_A}, {"hosts": PLAIN_B}], fabric=fabric, **large)
    assert (found.victim, found.culprit) == (1, 0)
    # each alone, as it is where it is the only one
    alone = [
        peerlab.shared_fabric([{"hosts": hosts}], fabric=fabric, **large) for hosts in (CROSSING_A, PLAIN_B)
    ]
    assert [found.alone] == [tuple(one.trace.lasts(0)[0] for one in alone)]
    # less what latency has of a transfer, which no uplink makes longer
    assert [float(lost) for lost in found.lost] == pytest.approx([1.5, 3.0], rel=0.05)


def test_more_than_two_leaves_hang_below_a_spine():
    """Rings over three leaves: the first crosses twice as often as the second, as above on two."""
    crossing = [{"hosts": [0, 4, 8, 1, 5, 9]}, {"hosts": [2, 3, 6, 7, 10, 11]}]
    found = peerlab.shared_fabric(crossing, fabric="roce-pfc", message_bytes="16 MiB", cell="64 KiB")
    # the second has its uplinks to itself until the first's transfers of the first step have come to them
    assert [float(lost) for lost in found.lost] == pytest.approx([1.5, 3.0], rel=0.07)
    assert len(found.links) == 6
    scene = found.cells.ports.scene
    assert [link.name for link in scene.links[-6:]] == [
        *(f"leaf {leaf} to spine 0" for leaf in range(3)),
        *(f"spine 0 to leaf {leaf}" for leaf in range(3)),
    ]
    # four links lead to a host below another leaf
    for flow, ways in ((0, 4), (6, 2)):
        links = {cell.link for cell in found.cells.ports.cells if cell.flow == flow}
        assert len(links) == ways == hops(scene, scene.flows[flow])
    # who shares nothing with others is as fast as alone: with the same spines, trunks and losses
    apart = [{"hosts": [4, 5]}, {"hosts": [0, 1, 2, 3]}]
    for more in ({"trunks": 2, "seed": 3}, {"loss": 0.02}):
        found = peerlab.shared_fabric(apart, leaf=2, fabric="roce-lossy", message_bytes="64 KiB", **more)
        assert found.lost == (1, 1)


def test_cells_that_take_any_spine_fill_all_of_them():
    """Three transfers leave leaf 0 over three spines, each as fast as a host: a hash puts some together, sprayed cells none."""
    jobs = [{"hosts": [place, 4 + place, 8 + place]} for place in range(3)]
    lost = {
        spread: max(map(float, peerlab.shared_fabric(jobs, fabric="roce-pfc", uplink=3, trunks=3, spread=spread, cell="32 KiB", **SMALL).lost))
        for spread in ("ecmp", "spray")
    }  # fmt: skip
    assert lost["spray"] < 1.1
    assert lost["ecmp"] > 1.5


def test_a_lane_of_its_own_has_half_of_an_uplink():
    jobs = [{"hosts": CROSSING_A}, {"hosts": PLAIN_B, "lane": 1}]
    found = peerlab.shared_fabric(jobs, fabric="infiniband", **SMALL)
    # one flow in its lane beside two in the other has half of the uplink, not a third: at most twice as long as alone
    assert 1.7 < found.lost[1] < 2.05


def test_two_flows_are_two_shares_only_where_each_is_slowed_down_by_itself():
    """A port serves cells as they come, whoever's flow they are of; DCQCN gives each flow a rate."""
    both = {"compute_ms": 0.55, "repeats": 4}
    jobs = [{"hosts": PLAIN_A, "flows": 2, **both}, {"hosts": PLAIN_B, **both}]
    offsets = {
        fabric: [
            float(one) * 1e3 for one in peerlab.shared_fabric(jobs, fabric=fabric, **SMALL).trace.offsets(1)
        ]
        for fabric in ("roce-pfc", "roce-dcqcn")
    }
    assert max(map(abs, offsets["roce-pfc"])) < 0.02
    assert all(one < then for one, then in pairwise(offsets["roce-dcqcn"]))
    assert offsets["roce-dcqcn"][-1] > 0.5


def test_cells_have_all_that_max_min_rates_have():
    jobs = [{"hosts": PLAIN_A, "compute_ms": 0.3, "repeats": 2}, {"hosts": PLAIN_B, "offset_ms": 0.2}]
    found = peerlab.shared_fabric(jobs, fabric="roce-pfc", **SMALL)
    trace = found.trace
    for number, job in enumerate(trace.jobs):
        mine = [transfer for transfer in trace.transfers if transfer.job == number]
        assert len(mine) == job.repeats * job.steps * 4
        assert all(end >= begin for begin, end in zip(trace.begins[number], trace.ends[number], strict=True))
        # what left a leaf comes to its transfers, headers included: one of four crosses each way
        moved = trace.work(("leaf up", 0))[number]
        assert float(moved) == pytest.approx(
            float(job.repeats * job.steps * job.work) * 4178 / 4096, rel=1e-3
        )
    for use in trace.uses:
        assert 0 < sum(rate for _, rate in use.rates) <= found.fabric.uplink
    # what leaves a leaf enters the other one
    assert found.links == [("leaf down", 0), ("leaf down", 1), ("leaf up", 0), ("leaf up", 1)]
    assert trace.work(("leaf up", 0)) == trace.work(("leaf down", 1))
    # who stood in whose way while both exchanged, and nobody while only one did
    first, second = found.in_the_way
    assert {piece.by for piece in first} == {(1,)}
    assert {piece.by for piece in second} == {(0,)}
    assert all(trace.begins[1][0] <= piece.start and piece.end <= trace.ends[1][0] for piece in first)
    parcel = jobs_parcel(found)
    assert "cell by cell" in parcel["about"]
    assert [len(job["exchanges"]) for job in parcel["jobs"]] == [2, 1]
    assert "What the network did" in "\n".join(document_lines(jobs_document(found)))
    assert found.as_dict()["ports"]["paused_s"] > 0
    alone = peerlab.shared_fabric(jobs[:1], fabric="roce-pfc", **SMALL)
    assert alone.in_the_way == ((),)
    assert alone.finding == "Nobody is slowed down."


def test_a_scene_of_cells_that_is_cut_names_nobody():
    found = peerlab.shared_fabric(
        [{"hosts": CROSSING_A}, {"hosts": PLAIN_B}], fabric="roce-pfc", until_ms=0.3, **SMALL
    )
    assert (found.unended, found.victim) == ((0, 1), None)
    assert "not known" in found.finding
    assert jobs_parcel(found)["end_us"] <= 300


@pytest.mark.parametrize(
    ("jobs", "more", "words"),
    [
        ([{"hosts": [0, 1], "weight": 2}], {"fabric": "roce-pfc"}, "ports know none"),
        ([{"hosts": [0, 1], "lane": 4}], {"fabric": "roce-pfc"}, "0 to 3"),
        ([{"hosts": [0, 1], "lane": 1}], {}, "max-min rates know no lane"),
        ([{"hosts": [0, 1]}], {"loss": 0.1}, "max-min rates know no loss"),
        ([{"hosts": [0, 1]}], {"engine": "referee"}, "max-min rates know no engine"),
        ([{"hosts": [0, 1]}], {"fabric": "roce-pfc", "nodes": 4}, "no such field"),
        ([{"hosts": [0, 1]}], {"fabric": "srd"}, "AWS has not published"),
        ([{"hosts": [0, 1]}], {"fabric": "token ring"}, "there is no fabric 'token ring'"),
        ([{"hosts": [0, 1]}, {"hosts": [1, 2]}], {"fabric": "roce-pfc"}, "both have host 1"),
        ([{"hosts": list(range(64))}], {"fabric": "roce-pfc", "leaf": 32, "cell": "4 KiB", "message_bytes": "4 GiB"}, "events"),
        ([{"hosts": [0, 4]}], {"fabric": "roce-lossy", "recovery": "none", "uplink": 0.5, "message_bytes": "4 MiB"}, "does not end alone"),
    ],
)  # fmt: skip
def test_what_is_no_scene_of_cells_is_refused_in_a_line(jobs, more, words):
    with pytest.raises(ScenarioError, match=words):
        peerlab.shared_fabric(jobs, **more)


def test_the_command_simulates_cells_and_writes_a_page(own_folder):
    line = [
        "jobs",
        "--job",
        "0,4,1,5",
        "--job",
        "2,3,6,7 lane=0",
        "--message",
        "1 MiB",
        "--fabric",
        "roce-pfc",
        "--figure",
        "xon=90000",
    ]
    status, out, problem = peerlab_command(*line, "--output", "jobs.html")
    assert (status, problem) == (0, "")
    assert "What the network did" in out
    assert "cell by cell" in (own_folder / "jobs.html").read_text()
    assert peerlab_command(*line, "--output", "jobs.svg")[0] == 0
    status, out, _ = peerlab_command(*line, "--json")
    assert json.loads(out)["ports"]["fabric"] == "roce-pfc"
    for wrong in (
        ("--loss", "x"),
        ("--figure", "xon"),
        ("--fabric", "srd"),
        ("--start", "warm"),
        ("--trunks", "x"),
        ("--trunks", "0"),
        ("--spread", "all"),
    ):
        status, _, problem = peerlab_command(*line, *wrong)
        assert (status, problem.count("\n")) == (1, 1)
