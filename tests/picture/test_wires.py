"""A wire is drawn where something sends, and nowhere else: on every known path of every cluster, and on paths that tests alone know."""

from dataclasses import replace
from functools import partial

import pytest
from pool_path import POOL, pool_scenario

import peerlab
from peerlab.model.paths import PATHS, data_path, stages
from peerlab.model.resources import RESOURCES, resource_kind
from peerlab.model.stages import stage_kind
from peerlab.picture.drawing import WIDTH
from peerlab.picture.geometry import PORT, WIRE, passes
from peerlab.picture.payload import payload
from peerlab.picture.still import still_svg
from peerlab.picture.wire import say_wire, sends
from peerlab.picture.words import alt_text
from peerlab.question.presets import known_clusters, load_cluster

EVERY = [(name, path) for name in known_clusters() for path in load_cluster(name).paths]


def false_stages(cluster, path):
    """Return the stages whose slices are drawn on the wire though nothing of theirs sends, or the other way round."""
    native = data_path(path).uses_own_ports
    return [
        stage.name
        for stage in stages(cluster, path)
        if ("wire" in passes(stage_kind(stage.name).track, native=native))
        != any(resource_kind(use.kind).counts_as == "send" for use in stage.uses)
    ]


def wires(run):
    """Return the boxes of a picture that reach from one node to the other."""
    pipes = payload(run)["views"]["scene"]["pipes"]
    return [
        (left, right)
        for left, right in zip(pipes["left"], pipes["right"], strict=True)
        if left < WIDTH / 2 < right
    ]


@pytest.mark.parametrize(("name", "path"), EVERY)
def test_slices_are_drawn_on_the_wire_where_they_are_sent(name, path):
    assert false_stages(load_cluster(name), path) == []


@pytest.fixture
def pooled(monkeypatch):
    """Return a function from the tracks of its two stages to an AllReduce over memory that both nodes reach."""
    return partial(pool_scenario, monkeypatch)


def test_a_picture_with_a_wire_that_is_not_there_is_found_false(pooled):
    scenario = pooled("device to device", "host memory to device")
    assert false_stages(scenario.hardware, POOL) == ["to-pool"]


def test_memory_between_the_nodes_has_tracks_of_its_own_and_no_wire(pooled):
    scenario = pooled("device to shared memory", "shared memory to the other device")
    assert false_stages(scenario.hardware, POOL) == []
    assert not sends(scenario)
    run = peerlab.simulate(scenario)
    parcel = payload(run)["views"]["scene"]
    texts = parcel["texts"]["text"]
    assert "CXL pool" in texts
    assert any(text.startswith("CXL link") and text.endswith("% busy") for text in texts)
    assert not [text for text in texts if text.startswith("wire")]
    ways = [way[0][0] for way in list(parcel["ways"].values())[:2]]
    (begin, end), (again, last) = [(way[0], way[-1]) for way in ways]
    # into the box between the nodes on the left, and out of it on the right
    assert begin[0] < end[0] < WIDTH / 2 < again[0] < last[0]
    assert "<svg" in still_svg(run)


def test_where_nothing_sends_and_nothing_is_drawn_words_say_so(pooled):
    run = peerlab.simulate(pooled())
    assert wires(run) == []
    assert "CXL pool: no NIC, no wire" in payload(run)["views"]["scene"]["texts"]["text"]


@pytest.mark.sample(part=3)
@pytest.mark.parametrize(("name", "path"), EVERY)
def test_a_wire_is_drawn_where_the_path_sends(name, path):
    run = peerlab.simulate(peerlab.Scenario(cluster=name, path=path, nodes=4, message_bytes="1 MiB"))
    drawn = sends(run.scenario) and run.scenario.domains > 1
    # devices that have NICs of their own have a wire each, and the box says how many NICs it stands for
    own, machine = not data_path(path).uses_own_ports, load_cluster(name)
    assert len(wires(run)) == drawn * (machine.used_nics_per_switch if own else 1)
    nics = machine.nics_per_switch
    assert (f"{nics} NICs" in " ".join(payload(run)["views"]["scene"]["texts"]["text"])) == (nics > 1)


def test_the_picture_of_devices_with_several_nics_says_how_many_and_what_each_carries():
    run = peerlab.simulate(peerlab.Scenario(cluster="p5en"))
    parcel = payload(run)["views"]["scene"]
    assert {"4 NICs †", "200 Gb/s", "each", "27.07 of 50 GB/s a device"} <= set(parcel["texts"]["text"])
    titles = {tip["title"] for tip in parcel["tips"]}
    assert {"4 NICs, 2 of each H200", "wires, drawn as one for the 2 NICs of each H200"} <= titles
    assert alt_text(run).endswith("; each H200 sends over 2 NICs of its own.")
    # slices of two devices are on two wires
    heights = [{y for x, y in ways[0] if x == PORT} for ways in next(iter(parcel["ways"].values()))]
    assert max(heights[0]) < WIRE < max(heights[1])


def test_what_sends_without_a_nic_has_its_own_name_and_latency(monkeypatch, pooled):
    """A bridge from switch to switch was called a wire of the network, with the network's 14 µs."""
    scenario = pooled()
    bridge = RESOURCES["cxl_out"]
    monkeypatch.setitem(RESOURCES, "cxl_out", replace(bridge, counts_as="send"))
    out, into = PATHS[POOL].stages(scenario.hardware, "device")
    hop = replace(out, flight="scaleup_latency_ps")
    monkeypatch.setitem(PATHS, POOL, replace(PATHS[POOL], stages=lambda _cluster, _memory: (hop, into)))
    run = peerlab.simulate(scenario)
    texts = payload(run)["views"]["scene"]["texts"]["text"]
    assert {"CXL link out, 14.1 GB/s each way", "0.8 µs latency †"} <= set(texts)
    assert say_wire(run).startswith("CXL link out ")
