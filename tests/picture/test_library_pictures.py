"""Pictures of a run with a communication library: launch, further hops and flush are lanes, and no way that a slice goes."""

import itertools

import pytest

import peerlab
from peerlab.model.stages import STAGES
from peerlab.picture.curve_scenarios import lines
from peerlab.picture.curves import curves
from peerlab.picture.datapath import scene
from peerlab.picture.frames import moves
from peerlab.picture.library_switches import SWITCHES
from peerlab.picture.picture import Picture
from peerlab.picture.road import road
from peerlab.picture.words import caption

MACHINES = (
    {"cluster": "p5", "nodes": 2, "path": "peer-direct"},
    {"cluster": "p4d", "nodes": 4, "path": "peer-direct"},
    {"cluster": "g4dn-8xlarge", "path": "host-rdma"},
    {"cluster": "mi250x-slingshot", "path": "peer-direct"},
)


@pytest.mark.parametrize("fields", MACHINES, ids=str)
def test_every_stage_of_a_slice_has_a_way_in_the_picture(fields):
    run = peerlab.simulate(peerlab.Scenario(**fields))
    known = set(scene(Picture(run))["ways"])
    stages = set(moves(run.trace).rows["stage"].tolist())
    assert stages
    assert {list(STAGES)[stage] for stage in stages - known} == set()


@pytest.mark.parametrize("fields", MACHINES, ids=str)
def test_the_road_has_a_stop_for_every_place_and_none_without_a_name_but_where_slices_are_added_up(fields):
    run = peerlab.simulate(peerlab.Scenario(**fields))
    found = road(run)
    assert len(found["stretches"]) == len(found["stops"]) - 1
    assert all(stop["name"] for stop in found["stops"])


def test_a_point_at_which_the_library_switches_is_marked_and_says_from_what_to_what():
    asked = peerlab.Scenario(cluster="p5", path="peer-direct", nodes=2)
    computed = [
        (line, [peerlab.simulate(one) if one else None for one in line.scenarios])
        for line in lines(asked, "message_bytes")
        if line.name == "peer-direct"
    ]
    parcel = curves(asked, "message_bytes", computed)
    (drawn,) = parcel["lines"]
    keys = [run.scenario.choice.course.key for run in computed[0][1]]
    changed = [before != key for before, key in itertools.pairwise(keys)]
    assert any(changed)
    for switched, note, marked in zip(changed, drawn["note"][1:], drawn["switch"][1:], strict=True):
        assert marked >= switched
        assert ("the library's own switch: " in note) == marked
    assert parcel["switches"] == SWITCHES
    assert curves(asked, "nodes", [])["switches"] == ""


def test_what_the_law_does_not_meet_is_said_below_the_pictures_where_it_applies():
    def told(**fields):
        return caption(peerlab.simulate(peerlab.Scenario(**fields)))

    p5 = {"cluster": "p5", "path": "peer-direct", "message_bytes": "64 KiB"}
    assert "More than 2 nodes were checked on one machine only." in told(nodes=4, **p5)
    assert "More than 2 nodes" not in told(nodes=2, **p5)
    assert "8 to 512 KiB are simulated about 15 % too fast" in told(nodes=2, **p5)
    assert "too fast" not in told(nodes=2, library="none", **p5)
    assert "No public log of HCL over host NICs exists" in told()
    assert "cloud's network decides" in told(cluster="p4d", path="host-tcp")


def test_the_title_of_a_library_of_ones_own_is_text_beside_a_point(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('name = "own"\ntitle = "<img src=x> & Co"\nextends = "nccl-efa"\n')
    run = peerlab.simulate(peerlab.Scenario(cluster="p4d", nodes=2, path="peer-direct", library=str(file)))
    drawn = [(line, [run] * len(line.scenarios)) for line in lines(run.scenario, "nodes")]
    notes = curves(run.scenario, "nodes", drawn)["lines"][0]["note"]
    assert "&lt;img src=x&gt; &amp; Co" in notes[0]
    assert "<img" not in notes[0]
