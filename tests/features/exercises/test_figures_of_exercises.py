"""What exercises say in figures is what the simulation says now: in questions, options, replies, hints and reasons.

Exercise 03-fresh once asked with times that were typed in; a law that changed would have made its own hint wrong.
"""

import re
from functools import cache

import pytest

import peerlab
from peerlab.features.exercises.catalogue import find, fixed
from peerlab.features.exercises.labs import (
    gain_by_cluster,
    quoted_tables,
    review,
    training_gain,
    whose_figures,
    working_sets,
)
from peerlab.features.exercises.labs.unseen.unseen_server import GEN_GBPS
from peerlab.records.judge import LEAST_NOISE

run = cache(peerlab.simulate)


def refuted():
    """Return the gain on the machine that lab 01's rule misses most: by the rule, and simulated."""
    server = peerlab.load_cluster(gain_by_cluster.ODD)
    slow, fast = (
        run(one.with_(cluster=server, message_bytes="1 GiB"))
        for one in (gain_by_cluster.STAGED, gain_by_cluster.DIRECT)
    )
    return gain_by_cluster.rule(server), slow.time_s / fast.time_s


def shares():
    """Return the two shares that exercise 03-busy holds against each other, in per cent."""
    return 100 * working_sets.registering_share(), 100 * run(working_sets.UNCACHED).wire_busy


def almost():
    """Return a cache one region short, how many times as fast as the detour it is, and one that fits: regions and times."""
    needed = working_sets.NEEDED
    return needed - 1, *(working_sets.times_as_fast(regions) for regions in (needed - 1, needed))


P5 = peerlab.Scenario(cluster="p5", path="peer-direct", message_bytes="256 MiB")


def fresh_ms():
    """Return what a step on p5 takes with a tensor used before, in ms."""
    return 1e3 * working_sets.new_tensor("p5")[1]


def region():
    """Return what registering a region on p5 takes (ms) and each of its pages (µs); two of 32 MiB are all that a new tensor adds."""
    cost = P5.registration_cost
    cold, warm = working_sets.new_tensor("p5")
    first = run(P5.with_(iterations=2)).iterations[0].registration
    assert (first.misses, first.registered_bytes) == (2, 2 * 32 << 20)
    assert cold - warm == pytest.approx(2 * cost.register_ps(32 << 20) / 1e12, rel=0.001)
    return cost.base_ps / 1e9, cost.page_ps / 1e6


def hop_percent():
    """Return by how many per cent what the transport adds to a hop moves the gain of lab 06, at most."""
    host = peerlab.Scenario(cluster=review.filled_in(), nodes=8, path="host-rdma", message_bytes="64 MiB")
    gain = run(host.with_(path="peer-direct")).gain_band(run(host))
    (hop,) = (one for one in gain.assumptions if one.figure.key == "library.hop")
    return 100 * hop.reach


def carried():
    """Return RoCE with small and large packets, and by how much InfiniBand is ahead with large ones, Gb/s."""
    small, large, other = (
        8 * quoted_tables.carried(*one) for one in (("roce", 1024), ("roce", 4096), ("infiniband", 4096))
    )
    return small, large, other - large


SAID = {
    "01-uplink": [("It has {:.1f} GB/s already", lambda: gain_by_cluster.STAGED.hardware.uplink_Bps / 1e9)],
    "01-refuted": [("the rule says {:.2f}, the simulation {:.2f}.", refuted)],
    "03-busy": [
        ("deregistering for {:.1f} %, by `breakdown()`. The NIC sends for {:.0f} %", shares),
        ("A stage of {:.1f} % leaves room for a NIC that is busy for {:.0f} %", shares),
        ("only in the {:.1f} % that are left", lambda: 100 - shares()[0]),
        ("{:.0f} % of the bytes need no registration", lambda: shares()[1]),
    ],
    "03-almost": [
        ("A cache of {} is {:.2f} times as fast as the detour; one of 72 is {:.2f} times", almost),
        ("in turn need {} regions", lambda: working_sets.NEEDED),
    ],
    "03-fresh": [
        ("takes {:.2f} ms when its tensor", fresh_ms),
        ("registering takes {:.1f} ms, and {:.3f} µs for each page of 4 KiB", region),
        ("A region takes {:.1f} ms and 8,192 times {:.3f} µs", region),
    ],
    "04-noise": [("and {:.2f} at least", lambda: LEAST_NOISE)],
    "04-verdict": [("A factor of {0:.2f} is {0:.2f} on one side of 1, and 1/{0:.2f} on", lambda: LEAST_NOISE)],
    "06-today": [("The uplink carries {:.1f} GB/s in each direction", lambda: review.filled_in().uplink_Bps / 1e9)],
    "06-matters": [("It moves the gain by about {:.0f} %", hop_percent)],
    "07-halves": [("half becomes {:.2f} times as fast", lambda: training_gain.R)],
    "07-energy": [
        ("becomes {:.2f} times as fast. A node that waits draws {:.1f} of", lambda: (training_gain.R, training_gain.WAITS)),
        ("0.8 busy and 0.2 / {:.2f} waiting", lambda: training_gain.R),
        ("exposed, 1, 1, {:.1f})`", lambda: training_gain.WAITS),
    ],
    "08-gap": [("from {:.1f} to {:.1f} Gb/s with its packets; at 4096 bytes InfiniBand is {:.1f} ahead", carried)],
    "12-storage": [("an uplink carries {:.1f} GB/s", lambda: GEN_GBPS[4])],
    "12-year": [("{:.2f} kW x 64", lambda: whose_figures.WATTS / 1e3)],
}  # fmt: skip
"""Per exercise: a piece of what it says, and what computes its figures."""

GIVEN = {
    "02-half": ["the first below 0.5"],  # half
    "04-verdict": ["quantile([0.25, 0.75])"],  # quartiles
    "07-batch": ["at least 1.2 times", "is 1.2 or more", "first reaches 1.2"],  # the question's own bound
    "07-energy": ["Before: 0.8 busy and 0.2 waiting."],  # a fifth
    "10-loss": ["A packet takes 0.334 µs on the wire."],  # 4,174 bytes at 100 Gb/s
    "11-runs": [
        "a run tells at most 0.52 bits",
        "How often does 0.52 go",
    ],  # the question's own, of noise at half of the fault
    "11-tail": ["varies by 5 %", "differ by 5 %", "held up, by 0.1 ms", "has 80 % of its rate"],  # options
    "12-storage": ["two drives of 3.5 GB/s"],  # an option that is not so
}
"""Per exercise: pieces whose figures it gives itself."""

_FIGURE = re.compile(r"\d+\.\d+|\d+(?= %)")


def words(one):
    """Return all that an exercise says."""
    options = getattr(one, "options", {})
    replies = [says for _, says in one.wrong()] if not hasattr(one, "attempts") else []
    bounds = [bound.says for bound in getattr(one, "bounds", ())]
    return "\n".join([one.question, one.why, *one.hints, *options, *options.values(), *replies, *bounds])


def of_one_piece(templates):
    found = []
    for template, compute in templates:
        figures = compute()
        found.append(template.format(*(figures if isinstance(figures, tuple) else (figures,))))
    return found


FIXED = fixed()


@pytest.mark.parametrize("one", FIXED, ids=lambda one: one.name)
def test_every_figure_that_an_exercise_says_is_computed_here_or_given(one):
    told = words(one)
    known = of_one_piece(SAID.get(one.name, [])) + GIVEN.get(one.name, [])
    assert [piece for piece in known if piece not in told] == []
    for piece in sorted(known, key=len, reverse=True):
        told = told.replace(piece, " ")
    assert _FIGURE.findall(told) == []


def test_all_that_is_computed_here_is_an_exercise():
    assert {*SAID, *GIVEN} <= {one.name for one in FIXED}
    assert find("03-fresh").judge(f"{working_sets.new_to_used('p5'):.3g}").right
