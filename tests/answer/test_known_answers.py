"""Scenarios that are said to have one answer have one, and it is simulated once."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.known_answers import answer, same_answer
from peerlab.answer.sensitivity import changed


@st.composite
def moved(draw):
    """Return a scenario, and the same on a cluster of which a figure has another value."""
    cluster = peerlab.load_cluster(draw(st.sampled_from(peerlab.known_clusters())))
    asked = peerlab.Scenario(
        cluster=cluster,
        nodes=draw(st.integers(2, 6)),
        message_bytes=draw(st.integers(1, 2**22)),
        path=draw(st.sampled_from(cluster.paths)),
        registration=draw(st.sampled_from(["cached", "per-transfer", "pool"])),
        collective=draw(st.sampled_from(["allreduce", "alltoall", "point-to-point"])),
    )
    sizes = [key for key in cluster.figures if key.startswith("slices.")]
    figure = cluster.figures[draw(st.sampled_from(sizes) | st.sampled_from(sorted(cluster.figures)))]
    try:
        return asked, changed(
            asked, [(figure.key, draw(st.sampled_from(figure.range or (2 * figure.value,))))]
        )
    except peerlab.PeerlabError:  # such a machine cannot be
        return asked, asked


@given(moved())
def test_what_is_said_to_have_one_answer_takes_equally_long(both):
    one, other = both
    if same_answer(one) == same_answer(other):
        here, there = peerlab.simulate(one), peerlab.simulate(other)
        assert here.time_ps == there.time_ps
        assert here.busy == there.busy
        spans = (run.recording.unrolled for run in (here, there))
        assert all(np.array_equal(a, b) for a, b in zip(*(one.values() for one in spans), strict=True))


def test_a_figure_that_a_path_does_not_meet_or_that_cuts_no_slice_is_not_simulated_again():
    machine = peerlab.load_cluster("dl1")
    base = peerlab.Scenario(cluster=machine, nodes=4, path="peer-direct", message_bytes="48 KiB")
    same = [("device.copy_engine", 12), ("slices.direct", 16), ("slices.least", 2)]
    others = [("fabric.latency", 25), ("nic.rate", 200), ("scaleup.latency", 3.4)]
    asked = Counter()

    def simulate(scenario, progress):
        asked[scenario] += 1
        return peerlab.simulate(scenario, progress=progress)

    times = [answer(changed(base, [move]), simulate).time_ps for move in (*same, *others, *same, *others)]
    assert sum(asked.values()) == 1 + len(others)
    assert times[: len(same)] == [peerlab.simulate(base).time_ps] * len(same)
    cut = answer(
        base.with_(message_bytes="64 MiB", cluster=machine.with_figure("slices.direct", 16)), simulate
    )
    assert cut.time_ps != peerlab.simulate(base.with_(message_bytes="64 MiB")).time_ps
