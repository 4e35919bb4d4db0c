"""Sentences of the labs that compare without a figure stand beside what computes them, over every cluster that they speak of.

Lab 01 once said *several times* of a gain that is 2.4 times another one on Alps, and lab 06 called a bound too wide that was too narrow.
"""

import json
import re
from functools import cache

import pandas as pd
import pytest

import peerlab
from peerlab.answer.lateness import source
from peerlab.base.places import folder
from peerlab.collectives.walk import walk
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.labs import (
    clean_fabrics,
    is_it_well,
    late_node,
    quoted_tables,
    review,
    training_gain,
    whose_fault,
)
from peerlab.features.exercises.labs.advice import MEASURE, USE, advice
from peerlab.features.exercises.labs.gain_by_cluster import ALONE, rule
from peerlab.features.exercises.labs.held_up_transfers import later_us
from peerlab.features.exercises.labs.other_wirings import SETTINGS
from peerlab.features.exercises.labs.port_counters import CAUSES, IDLEST, answered, counters, of_cause
from peerlab.features.exercises.labs.unseen.unseen_log import detour_limit
from peerlab.features.exercises.logs import lab_log, times
from peerlab.features.exercises.verdict import judge as verdict_on
from peerlab.records.judge import NOISE
from peerlab.study.port_question import OWN

LABS = {path.stem: path for path in sorted(folder("labs").glob("*.ipynb"))}
STAGED = peerlab.Scenario(cluster="dl1", library="none", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = STAGED.with_(path="peer-direct")
UNCACHED = DIRECT.with_(registration="per-transfer")
TOUR = STAGED.with_(library=None)
"""What the tour shows, with the library that DL1 has."""
COST = DIRECT.registration_cost
run = cache(peerlab.simulate)


def with_both():
    """Return the clusters that lab 01's table has: those with RDMA through host memory and Peer Direct."""
    known = {name: peerlab.load_cluster(name) for name in peerlab.known_clusters()}
    return {name: one for name, one in known.items() if {"host-rdma", "peer-direct"} <= set(one.paths)}


def gain(**changes):
    return run(STAGED.with_(**changes)).time_s / run(DIRECT.with_(**changes)).time_s


def where_the_rule_holds():
    """Tell whether the rule is the gain wherever the detour waits for no host memory, and below it wherever it does."""
    for name, server in with_both().items():
        if server.uplink_Bps is None:
            continue
        slow = run(STAGED.with_(cluster=name, message_bytes="1 GiB"))
        found, told = gain(cluster=name, message_bytes="1 GiB"), rule(server)
        if slow.bottleneck.label == "DRAM" and found < 1.02 * told:
            return False
        if slow.bottleneck.label != "DRAM" and abs(found / told - 1) > 0.02:
            return False
    return True


def as_fast(regions, other):
    """Tell whether four buffers in turn are as fast in a cache of so many regions as in another one."""
    times = [
        run(DIRECT.with_(buffers=4, iterations=9, cache_regions=one)).iterations[-1].time_s
        for one in (regions, other)
    ]
    return times[0] == times[1]


def steps_of_a_cache():
    """Tell whether a larger cache is never slower, up to the working set, and none beyond."""
    times = [run(DIRECT.with_(cache_regions=regions)).time_s for regions in (0, 8, 12, 16, 17, 18, 20)]
    return times == sorted(times, reverse=True) and times[-1] == times[-2] < times[-3]


@cache
def reviewed(place=""):
    """Return the gain on lab 06's machine, as its file is or as somebody saw it."""
    cluster = review.looked_at(review.filled_in(), place) if place else review.filled_in()
    host = peerlab.Scenario(cluster=cluster, nodes=8, path="host-rdma", message_bytes="64 MiB")
    return run(host.with_(path="peer-direct")).gain_band(run(host))


def recommended(place=""):
    """Return what the rule of lab 06 says of its machine, as its file is or as somebody saw it."""
    return advice(reviewed(place).least, reviewed(place).most)


def uncached_to_detour(staged):
    """Return how many times as long Peer Direct takes without a cache as the detour."""
    return run(staged.with_(path="peer-direct", registration="per-transfer")).time_s / run(staged).time_s


def acs_is_the_detour():
    """Tell whether Peer Direct with ACS redirect is as fast as the detour, and no other setting of lab 01 is."""
    off = {
        name: abs(run(STAGED).time_s / run(DIRECT.with_(**fields)).time_s - 1)
        for name, fields in SETTINGS.items()
    }
    return off.pop("ACS redirect") < 0.02 < min(off.values())


def no_gain_without_need():
    """Tell whether the gain is 1 on every cluster whose uplinks carry twice what its NICs send, and on some cluster they do."""
    enough = [
        name
        for name, server in with_both().items()
        if server.uplink_Bps and server.uplink_Bps >= 2 * server.nics_per_switch * server.nic_Bps
    ]
    return bool(enough) and all(gain(cluster=name, message_bytes="1 GiB") < 1.01 for name in enough)


def one_law_of_puts():
    """Tell whether the law of puts is within 5 per cent at two numbers of thread blocks below the knee, and a fifth too high at four."""
    table = quoted_tables.puts()
    off = table["from the GPU, by the law"] / table["from the GPU, measured"] - 1
    return abs(off[1]) < 0.05 and abs(off[2]) < 0.05 and 0.15 < off[4] < 0.25


def gains_fall():
    """Tell whether each doubling makes the gain smaller from where latency takes over, and the two curves meet."""
    first = next(
        nodes
        for nodes in (8, 16, 32, 64, 128)
        if run(DIRECT.with_(nodes=nodes)).bottleneck.label == "latency"
    )
    gains = [gain(nodes=nodes) for nodes in (first // 2, first, 2 * first, 4 * first, 8 * first)]
    return gains == sorted(gains, reverse=True) and gains[-1] < 1.05


def both_ways_ps(nbytes):
    return COST.register_ps(nbytes) + COST.deregister_ps(nbytes)


def algorithms():
    """Return what goes between the nodes in lab 03, and in the tour."""
    return UNCACHED.schedule_name, TOUR.schedule_name


def names_tcp_without_a_line():
    """Tell whether log A is told to be of TCP by figures alone, and an RDMA path that is held up stays possible."""
    ranking = {
        one["path"]: one for one in peerlab.diagnose(peerlab.load(lab_log("A").text)).as_dict()["ranking"]
    }
    return next(iter(ranking)) == "host-tcp" and ranking["host-rdma"]["odds"] > 0


def as_many_bytes_in_fewer_steps():
    """Tell whether halving-doubling sends as many bytes as a ring of 8, in half of its steps or fewer."""
    ring, halving = (walk(name, 8).steps for name in ("ring", "halving-doubling"))
    boxes = [
        sum(len(move.boxes) for step in steps for move in step.moves) / len(steps[0].before[0])
        for steps in (ring, halving)
    ]
    return boxes[0] == boxes[1] and 2 * len(halving) <= len(ring)


def small_batches_gain():
    """Tell whether a smaller batch gains more, once its backward is shorter than the exchange."""
    gains = [training_gain.gain(batch=batch) for batch in training_gain.BATCHES]
    return gains == sorted(gains) and gains[0] < 1.05 < gains[-1]


def largest(log):
    """Return the bus bandwidth of a log's largest message."""
    return is_it_well.rows_of(log)["measured"].iloc[-1]


def slow_rows_are_over_and_none_is_below_its_floor():
    """Tell whether log I has rows that were held up, and none of its last ones was; and whether all are above their floors."""
    rows = is_it_well.verdict_of("I").rows
    last = max(at for at, row in enumerate(rows) if row.disturbed)
    return last < len(rows) - 5 and all(row.measured >= row.expected.floor for row in rows)


def across_sockets_is_slower():
    sent = quoted_tables.places()["peerlab, GB/s"]
    return 0 < sent["across sockets"] < sent["below one CPU"] <= sent["below one switch"]


def hashed(**fields):
    """Return lab 10's AllReduce whose trunk others have as well."""
    return answered(fabric="roce-pfc", neighbour="collide(3)", message_bytes="1 MiB", seed=5, **fields)


def every_transfer():
    """Return what lab 11 calls noise of each transfer."""
    return next(iter(late_node._WORLDS))


def tails_of_what_lasts_and_what_is_rare():
    """Tell whether a spread of nodes and rare detours have a tail on 64 nodes, and what is the same in every run or every transfer has none."""
    every, lasts, rare, always = map(late_node.beyond_median, late_node._WORLDS)
    return min(lasts, rare) > 3 > 10 * max(every, always) / 2


def one_delay_goes_round():
    rare = {"jitter": 0.05, "detours": 0.0003, "detour_us": 2000, "detour_tail": 50, "seed": 82}
    ring = {"cluster": "ideal-100g", "nodes": 8, "message_bytes": "8 MiB", "slice_bytes": None}
    found = peerlab.blame(**ring, dependency="step", **rare)
    node, step = source(found.late_ps, found.scenario)
    reached = [
        next(k for k, late in enumerate(row) if late > 0.5 * found.late_ps[node][step]) - step
        for row in found.late_ps
    ]
    ring_of = [min((other - node) % 8, (node - other) % 8) for other in range(8)]
    return len(found.named) == 2 and reached == ring_of


def order_of_tails():
    """Tell whether what lasts has a longer tail than what is rare, that one than the others, and none 1.5 times the median."""
    every, lasts, rare, always = map(late_node.beyond_median, late_node._WORLDS)
    return 50 > lasts > rare > max(every, always)


def most_drops_are_of_others():
    """Tell whether most packets that the full queue of lab 10 drops are none of the AllReduce."""
    trace = of_cause(next(cause for cause in CAUSES if "overflows" in cause)).trace
    drops = [event for event in trace.packets if event.kind == "drop"]
    own = sum(event.packets for event in drops if trace.scene.flows[event.flow].job == OWN)
    return 0 < own < sum(event.packets for event in drops) / 2


CLAIMS = {
    "00_tour": [
        ("Registering memory can cost more than the detour did.", lambda: uncached_to_detour(TOUR) > 1),
    ],
    "01_the_long_detour": [
        ("The NICs rest for nearly half of the time.", lambda: 0.4 < 1 - run(STAGED).wire_busy < 0.5),
        (
            "Nearly all the time is in one stage, *NIC to NIC, through host memory*.",
            lambda: max(run(STAGED).breakdown().values()) > 0.9 * run(STAGED).time_s,
        ),
        ("On 64 servers it hardly matters.", lambda: 0.97 < rule(ALONE, 64) / rule(STAGED.hardware, 64) < 1),
        ("**Which of these settings turns Peer Direct into the detour**, as fast as", acs_is_the_detour),
        ("If the detour can send as fast as the NICs, there is no gain in bandwidth.", no_gain_without_need),
        ("Then the detour is about as fast as Peer Direct.", lambda: 0.9 < gain(wiring="root-port", message_bytes="1 GiB") < 1.1),
        ("The gain on large messages is the NICs' rate over half the uplink's, where nothing else is slow", where_the_rule_holds),
        (
            "Slow host memory makes the gain larger, slow links inside a server make it smaller.",
            lambda: gain(cluster="h100-ndr") > rule(peerlab.load_cluster("h100-ndr"))
            and gain(cluster=STAGED.hardware.with_figure("node.devices_per_switch", 1)) < gain(),
        ),
        ("So the detour is as fast as before.", lambda: abs(alone() / run(STAGED).time_s - 1) < 0.01),
    ],
    "02_allreduce_and_nodes": [
        ("From there on each doubling of the servers makes the gain smaller, until the curves", gains_fall),
        ("Your result is more than four NICs carry.", lambda: find("02-busbw").truth() > DIRECT.hardware.node_wire_Bps / 1e9),
        ("That is as many bytes as a ring sends, in far fewer steps.", as_many_bytes_in_fewer_steps),
    ],
    "03_registration_and_the_cache": [
        ("registering it is many times cheaper", lambda: cheaper_pages() > 10),
        ("A cache of 64 regions finds as much as one of 32", lambda: as_fast(64, 32)),
        ("One that is too small works in steps", steps_of_a_cache),
        ("and is slower than the detour.", lambda: uncached_to_detour(STAGED) > 1),
        ("With Peer Direct this can take longer than the detour", lambda: uncached_to_detour(STAGED) > 1),
        (
            "For a small region the fixed part is nearly all of the cost, and copying it into memory that is registered already is cheaper.",
            lambda: COST.base_ps > 0.9 * both_ways_ps(4096)
            and 4096 / STAGED.hardware.copy_engine_Bps < both_ways_ps(4096) / 1e12,
        ),
        (
            "Registering and deregistering a large region takes longer than sending it.",
            lambda: all(both_ways_ps(size) / 1e12 > size / STAGED.hardware.nic_Bps for size in (1 << 24, 1 << 27)),
        ),
        ("the lane *NIC send* is empty more than half of the time", lambda: run(UNCACHED).wire_busy < 0.5),
        ("It is a ring without a library here, where the tour has Habana's pairwise exchange.", lambda: algorithms() == ("ring", "pairwise")),
    ],
    "04_measure_your_machine": [],
    "05_read_a_log": [
        ("the others would have been much faster", lambda: min(others_than_tcp()) > 2),
        ("Even this lower figure is too high for the detour.", lambda: find("05-wire").truth() > detour_limit(peerlab.load_cluster("p5"))),
        ("A slow run makes a slow path likely, and does not exclude a fast one", names_tcp_without_a_line),
        ("this run chose a protocol that was many times slower", lambda: slow_sizes() > 2),
        ('A report that says "Peer Direct: twenty times faster" is not wrong here', lambda: 19.5 < max(others_than_tcp()) < 21.5),
    ],
    "06_design_review": [
        (
            "It is too wide for the one question, and too narrow for the other.",
            lambda: reviewed().least < find("06-worst").truth() < reviewed().low,
        ),
        ("What moves it most comes first.", lambda: sorted(moves(), reverse=True) == moves()),
        ("even the least gain is clear", lambda: reviewed("switch").least > 1.05),
        ("One look at a server can turn *measure first* into an answer.", lambda: recommended() == MEASURE and {recommended("switch"), recommended("root-port")} == {USE, MEASURE}),
        ("Then the detour is about as fast as Peer Direct, and what is left open must be measured.", lambda: abs(reviewed("root-port").value - 1) < 0.1 and reviewed("root-port").least < 1.05 < reviewed("root-port").most),
    ],
    "07_what_does_a_training_gain": [
        ("At some batch backward becomes shorter than the exchange, and the detour comes out.", small_batches_gain),
        (
            "A wrong bucket costs more than the wrong path.",
            lambda: training_gain.bucket_cost() > training_gain.steps()[0].time_s / training_gain.steps()[1].time_s,
        ),
        ("At the batches that people use that is little; at tiny batches and under full sharding it is much.", lambda: training_gain.gain(batch=64) < 1.05 and training_gain.gain(batch=1) > 1.2),
    ],
    "08_fabrics_side_by_side": [
        ("For small messages latency is nearly all there is.", lambda: run(clean_fabrics.RING.with_(message_bytes="8 KiB")).bottleneck.share > 0.95),
        ("holds for two of them and is a fifth too high at four", one_law_of_puts),
        ("its wire would carry more than the table says", lambda: 8 * quoted_tables.carried("tcp", 1500) > 70),
    ],
    "09_is_my_cluster_well": [
        ("Its large messages are slower than those of log F, and that is no fault", lambda: largest("G") < largest("F") and is_it_well.verdict_of("G").verdict == "healthy"),
        ("Here every size is above its floor, the slow rows too.", slow_rows_are_over_and_none_is_below_its_floor),
        ("Three NICs of four would leave more than this log has", lambda: find("09-missing").truth() > 1.1 * largest("H")),
        ("so it may be above what the NICs carry", lambda: peerlab.expect("h100-ndr", nodes=2, sizes="1 GiB").rows[0].expected > 8 * 50),
    ],
    "10_whose_fault_is_the_network": [
        ("So the victim has what each of the four has: a quarter.", lambda: all(abs(whose_fault.share(fabric) - 0.25) < 0.02 for fabric in ("infiniband", "roce-pfc"))),
        ("**InfiniBand with one virtual lane has the same victim as pauses.**", lambda: abs(whose_fault.share("infiniband") - whose_fault.share("roce-pfc")) < 0.02),
        ("Or senders that slow down when a queue marks their packets (DCQCN)", lambda: answered(fabric="roce-dcqcn", start="fair", neighbour="victim(4)").share > 0.9),
        ("One that sends again only what was lost hardly notices.", lambda: whose_fault.counted(1e-2, 0, "selective") > 0.98),
        ("**This holds for a NIC that hears of a gap late, and is no law of loss.**", lambda: whose_fault.counted(1e-2, 500) < 0.07 < whose_fault.counted(1e-2, 180) < 0.2),
        ("The job that is slowed down most need not be the one that sends most. Each bar", lambda: whose_fault.two_jobs().victim == 1),
        ("most of those that the full queue drops are of others", most_drops_are_of_others),
        ("## Further: XOFF too low", lambda: find("10-xoff").truth() == "the port that all wait for idles between pauses"),
        ("it keeps three quarters of its speed, while a trunk idles", lambda: 0.7 < hashed().share < 0.8 and counters(hashed())[IDLEST] == 0),
        ("each cell takes the trunk where least waits, and nobody is slowed down", lambda: hashed(spread="spray").share > 0.99),
    ],
    "11_one_node_is_late": [
        ("No run is as fast as one without noise.", lambda: late_node.times_ps(every_transfer())[0] > simulate(late_node.MANY).time_ps),
        ("**What lasts for a run makes the longest tail here: the slowest node of the day.** Rare delays come next. None of the four makes 1.5 times.", order_of_tails),
        ("And all runs pay alike", lambda: late_node.beyond_median(every_transfer()) < 0.5 < late_node.mean_more("step")),
        ("**A blocking ring forgets nothing.**", lambda: late_node.one_held_up_ms() == 1),
        ("the delay goes round both ways", lambda: later_us({(2, 3): 500, (4, 1): 300}) == later_us({(2, 3): 500, (4, 5): 300}) == 800),
        (
            "**It forgives what passes, and not what lasts.**",
            lambda: late_node.mean_more("slice") < 0.1 * late_node.mean_more("step") and late_node.slow_more("slice") > late_node.slow_more("step"),
        ),
        ("A tail comes from what lasts for a run, or from what is rare and long.", tails_of_what_lasts_and_what_is_rare),
        ("It accuses a pair, and its delay goes round both ways, a node a step", one_delay_goes_round),
    ],
    "12_whose_figures_are_these": [
        ("Across sockets it works, at the rate of the link between them.", across_sockets_is_slower),
        ("a detour loses only where the detour is that part", lambda: quoted_tables.storage()["times as fast"]["two drives of 3.5 GB/s"] == 1),
    ],
}  # fmt: skip
"""Per lab: a piece of a sentence, and what tells whether it is so."""

_COMPARES = re.compile(
    r"several times|many times|order of (?:two|ten)|too (?:wide|narrow)\b|moves \w+(?: \w+)? most|nearly twice|hardly faster|"
    r"about as fast|as fast as before|a good deal faster|much faster|turns? \*measure first\*|nearly (?:half|all) |hardly matters|hardly anything|"
    r"more than half|far fewer|more than four|shorter than|slower than those|costs more than|faster than|times faster\" is|too (?:high|low)\b|(?:longer|slower) than (?:the detour|sending)|cost more than|makes? the gain",
    re.IGNORECASE,
)
"""What compares without a figure."""


def alone():
    return run(STAGED.with_(cluster=STAGED.hardware.with_figure("node.devices_per_switch", 1))).time_s


def cheaper_pages():
    small, huge = (
        DIRECT.with_(page_bytes=size).registration_cost.register_ps(1 << 28) for size in ("4 KiB", "2 MiB")
    )
    return small / huge


def slow_sizes():
    """Return how many times slower log B is at 32 to 256 KiB than at the sizes around them."""
    staged = times("juliet/osu-latency-staged")
    rates = {
        size: size / staged[size] for size in (16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10)
    }
    inside = [rates[size] for size in rates if 32 << 10 <= size <= 256 << 10]
    return min(rates[16 << 10], rates[512 << 10]) / max(inside)


@cache
def others_than_tcp():
    """Return how many times as fast as log A the paths are that do not explain it."""
    ranking = peerlab.diagnose(peerlab.load(lab_log("A").text)).as_dict()["ranking"]
    return [1 / one["simulated"]["measured_over_simulated"] for one in ranking if one["path"] != "host-tcp"]


def moves():
    """Return how far each assumption moves lab 06's gain, in the order of its table."""
    return [one.reach for one in reviewed().assumptions]


def prose(name):
    cells = json.loads(LABS[name].read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def claims():
    return [(name, says, holds) for name, of in CLAIMS.items() for says, holds in of]


@pytest.mark.parametrize(
    ("name", "says", "holds"), claims(), ids=lambda one: one[:40] if isinstance(one, str) else ""
)
def test_what_a_sentence_claims_is_so(name, says, holds):
    assert says in prose(name)
    assert holds()


@pytest.mark.parametrize("name", LABS)
def test_every_sentence_that_compares_without_a_figure_is_computed_here(name):
    text = prose(name)
    places = [(text.index(says), text.index(says) + len(says)) for says, _ in CLAIMS[name]]
    loose = [
        text[max(0, one.start() - 60) : one.end() + 40]
        for one in _COMPARES.finditer(text)
        if "|" not in text[text.rfind("\n", 0, one.start()) + 1 :][:2]
        and not any(low <= one.start() < high or abs(low - one.start()) < 120 for low, high in places)
    ]
    assert loose == []


def test_a_healthy_log_lies_in_its_band_as_its_exercise_says():
    """It said that some rows lie outside."""
    assert find("09-first").why == "Every row lies above its floor, and in the band, too."
    rows = is_it_well.rows_of("F")
    assert rows["measured"].between(rows["low"], rows["high"]).all()


def test_over_kernel_tcp_a_gain_is_larger_on_every_machine_with_all_three_paths(root):
    """The deck said *several times larger*: on p4d it is 1.88 beside 1.18."""
    said = (root / "peerlab" / "features" / "deck" / "kinds" / "evidence_slides.py").read_text()
    assert "Against kernel TCP a gain is another, larger one" in said
    for name in with_both():
        asked = peerlab.Scenario(cluster=name, nodes=8, path="host-rdma", message_bytes="64 MiB")
        if "host-tcp" in asked.hardware.paths:
            assert run(asked.with_(path="host-tcp")).time_s > 1.3 * run(asked).time_s


def test_the_course_says_one_thing_of_the_vendors_cache(root):
    """Lab 03 said that Gaudi's library needed a cache of its own, and that no public version of it has one."""
    texts = {**{name: prose(name) for name in LABS}, "workshop": (root / "docs" / "workshop.md").read_text()}
    assert "No public version of HCL has such a cache" in texts["03_registration_and_the_cache"]
    assert "the vendor's public code today registers one pool at start" in texts["workshop"]
    for text in texts.values():
        assert not re.search(
            r"(?:HCL|Gaudi's library|vendor's library)[^.]*\b(?:needed|has|had) a cache\b", text
        )


def test_what_lab_04_asks_of_the_caches_can_be_answered_with_yes():
    """It asked whether a cache is as fast as direct, for ratios outside of the band only: as fast means inside."""
    text = prose("04_measure_your_machine")
    assert (
        "Does the line of the large cache lie within the grey band, so that it is as fast as `direct`" in text
    )
    assert "outside the grey band only" not in text
    lies_within = [1.02, 1.05, 0.97, 0.99, 1.01]
    assert (
        verdict_on(pd.Series(lies_within), 1.15) == NOISE
    )  # within the band a verdict is possible, and is: as fast
