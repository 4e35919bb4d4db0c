"""The critical path follows what a span really waited for: the resource upstream, the slice ahead, or a latency."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import peerlab
from peerlab.answer import metrics
from peerlab.answer.critical_path import critical_path
from peerlab.answer.trace import SPAN_COLUMNS, Ran, Recording, Resource, Trace, freeze
from peerlab.model.registration import Counters
from peerlab.model.stages import stage_number
from peerlab.question.presets import known_clusters, load_cluster

TX, RX, UPLINK, WIRE = 0, 1, 2, 3
RESOURCES = (
    Resource("nic_tx", 0, 0, 10**9, shared=False),
    Resource("nic_rx", 0, 0, 10**9, shared=False),
    Resource("uplink_up", 0, 0, 10**9, shared=True),
    Resource("wire", 0, 0, 10**9, shared=False),
)


def recorded(*rows):
    """Return the trace of rows ``(slice, stage, resource, queued, start, end, work)`` of one device."""
    table = [
        (0, 0, 0, piece, stage_number(stage), on, *times, 1000, work)
        for piece, stage, on, *times, work in rows
    ]
    columns = dict(zip(SPAN_COLUMNS, np.array(table, np.int64).T, strict=True))
    end = int(columns["end"].max())
    recording = Recording(freeze(columns), (), freeze({}), (), end, Counters())
    return Trace(
        RESOURCES, recording, Ran(()), folded=True, one_switch=True, nodes=2, switches=1, devices_per_switch=1
    )


def path(trace):
    return [(one.stage, one.start_ps, one.end_ps) for one in critical_path(trace, trace.last)]


def test_a_receiver_that_is_held_passes_the_path_on_to_the_sender():
    trace = recorded(
        (0, "network", TX, 0, 0, 10, 10),
        (0, "flight", WIRE, 0, 0, 12, 2),
        (0, "network", RX, 2, 2, 12, 4),
        (1, "network", TX, 0, 10, 20, 10),
        (1, "flight", WIRE, 10, 10, 22, 2),
        (1, "network", RX, 12, 12, 22, 4),
    )
    assert path(trace) == [("network", 0, 10), ("network", 10, 20), ("flight", 20, 22)]


def test_a_slow_receiver_is_the_path_and_only_its_first_slice_waits_for_the_wire():
    trace = recorded(
        (0, "network", TX, 0, 0, 4, 4),
        (0, "flight", WIRE, 0, 0, 6, 2),
        (0, "network", RX, 2, 2, 12, 10),
        (1, "network", TX, 0, 4, 8, 4),
        (1, "flight", WIRE, 4, 4, 10, 2),
        (1, "network", RX, 6, 12, 22, 10),
    )
    assert path(trace) == [("flight", 0, 2), ("network", 2, 12), ("network", 12, 22)]


def test_a_span_that_came_because_its_upstream_began_goes_on_at_that_beginning():
    trace = recorded(
        (0, "d2h", UPLINK, 0, 0, 7, 7),
        (0, "network", TX, 7, 7, 9, 2),
        (0, "network", UPLINK, 7, 7, 27, 10),  # shared: it takes twice its work
    )
    assert path(trace) == [("d2h", 0, 7), ("network", 7, 27)]


def test_a_latency_behind_a_stage_is_flight_and_before_it_the_stage():
    trace = recorded(
        (0, "d2h", UPLINK, 0, 0, 7, 7), (0, "flight", WIRE, 7, 7, 10, 3), (0, "network", TX, 10, 10, 19, 9)
    )
    assert path(trace) == [("d2h", 0, 7), ("flight", 7, 10), ("network", 10, 19)]


def test_time_held_is_not_busy_and_the_bottleneck_is_who_works():
    trace = recorded(
        (0, "network", TX, 0, 0, 10, 10),
        (0, "flight", WIRE, 0, 0, 12, 2),
        (0, "network", RX, 2, 2, 12, 4),
        (1, "network", TX, 0, 10, 20, 10),
        (1, "network", RX, 12, 12, 22, 4),
    )
    shares = metrics.busy_shares(trace, trace.last)
    assert (shares["nic_tx"], shares["nic_rx"]) == (20 / 22, 8 / 22)  # the receiver has a slice for 20 of 22
    assert metrics.flight_share(trace.last) == 2 / 22  # the latency, though the slice is in flight for 12
    found = metrics.bottleneck(shares, metrics.flight_share(trace.last))
    assert (found.kind, found.share) == ("nic_tx", 20 / 22)


@pytest.mark.parametrize(("size", "waits_for"), [("64 MiB", "nic_tx"), ("64 KiB", metrics.LATENCY)])
def test_flights_that_overlap_cost_time_only_while_the_busiest_part_rests(size, waits_for):
    """In a pairwise exchange all steps fly at once: 254 flights of 14 us are more than the whole time, in which a NIC is 99 % busy."""
    run = peerlab.simulate(peerlab.Scenario(path="peer-direct", nodes=128, message_bytes=size))
    assert metrics.flight_share(run.recording) == 1
    assert run.bottleneck.kind == waits_for
    assert run.bottleneck.share + max(run.busy.values()) == pytest.approx(1) or waits_for in run.busy


MACHINES = [(name, path) for name in known_clusters() for path in load_cluster(name).paths]

questions = st.builds(
    lambda machine, **fields: peerlab.Scenario(cluster=machine[0], path=machine[1], **fields),
    machine=st.sampled_from(MACHINES),
    nodes=st.integers(2, 5),
    message_bytes=st.integers(1, 2**23),
    slice_bytes=st.sampled_from(["auto", 100_000]),
    window=st.sampled_from([None, 1, 4]),
    dependency=st.sampled_from(["auto", "step"]),
    slow_nodes=st.sampled_from([None, {1: 0.5}]),
    jitter=st.sampled_from([0.0, 0.1]),
)

PROXY_HOLDS_ALL = peerlab.Scenario(
    cluster="g4dn-8xlarge", path="host-rdma", nodes=2, message_bytes=32769, slow_nodes={1: 0.5}, jitter=0.1
)
"""The proxy of the slow node, its core, its uplink and its NIC have one message from one moment to another."""

UPLINK_BEFORE_DRAM = peerlab.Scenario(
    cluster="p5en", path="host-rdma", nodes=5, message_bytes=9, slice_bytes=100_000, jitter=0.1
)
"""A shared uplink takes a slice late, and DRAM begins with it, though DRAM's number is the smaller."""

NIC_HELD_BY_UPLINK = peerlab.Scenario(
    cluster="p4d", path="host-tcp", nodes=2, message_bytes=5430065, window=4
)
"""A NIC has a slice from one moment to another with the uplink that holds it, whose number is the larger."""


@given(questions)
@example(NIC_HELD_BY_UPLINK)
@example(UPLINK_BEFORE_DRAM)
@example(PROXY_HOLDS_ALL)
def test_whatever_is_simulated_every_segment_is_work_or_latency_and_there_is_no_gap(scenario):
    run = peerlab.simulate(scenario, engine="loop")
    found, spans = run.critical_path, run.recording.unrolled
    assert (found[0].start_ps, found[-1].end_ps) == (0, run.time_ps)
    assert all(a.end_ps == b.start_ps for a, b in itertools.pairwise(found))
    assert sum(run.breakdown().values()) == pytest.approx(run.time_s, rel=1e-12)
    for one in found:
        assert one.start_ps < one.end_ps
        if one.row < 0:
            continue
        queued, start, end, work = (int(spans[name][one.row]) for name in ("queued", "start", "end", "work"))
        if one.stage in ("flight", "flush", "launch", "inside"):
            assert one.end_ps - one.start_ps == work
            assert start <= one.start_ps
            assert one.end_ps <= end
        elif run.trace.resources[spans["resource"][one.row]].kind == "proxy":
            assert (one.start_ps, one.end_ps) == (start, end)  # it has a message until its NIC has sent it
        elif not run.trace.resources[spans["resource"][one.row]].shared:
            # an exclusive resource is on the path with its own work alone, never while it is held
            assert (one.start_ps, one.end_ps, end) == (start, end, start + work)
        else:
            assert queued <= one.start_ps <= start
            assert one.end_ps in (start, end)


@given(questions)
def test_only_a_lookup_or_a_latency_inside_a_node_is_a_wait(scenario):
    run = peerlab.simulate(scenario, engine="loop")
    cluster = scenario.cluster_for_message
    longest = max(cluster.scaleup_latency_ps or 0, cluster.lookup_ps or 0)
    waits = [one.end_ps - one.start_ps for one in run.critical_path if one.row < 0]
    assert max(waits, default=0) <= longest
