"""What the labs say in prose is what the simulation says now."""

import json
import re
from dataclasses import replace
from functools import cache
from math import ceil, exp, log2
from string import Formatter

import pytest
from comparing import comparisons, than

import peerlab
from peerlab.base.places import folder
from peerlab.collectives.ring_moves import RingLayout
from peerlab.collectives.walk import walk
from peerlab.engine.arrays.many_seeds import times_of_seeds
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.labs import (
    clean_fabrics,
    eight_bytes,
    late_node,
    own_machine,
    quoted_tables,
    review,
    search_game,
    training_gain,
    whose_fault,
    whose_figures,
)
from peerlab.features.exercises.labs.gain_by_cluster import ALONE, rule
from peerlab.features.exercises.labs.port_counters import answered, of_lost_tail
from peerlab.features.exercises.labs.unseen import unseen_log
from peerlab.features.exercises.logs import lab_log, times
from peerlab.model.noise import assumed_noise
from peerlab.model.registration import RegistrationCache
from peerlab.records.judge import LEAST_NOISE, SLOWER, compare
from peerlab.records.library import measured_library
from peerlab.study.fabric_comparison import compare_fabrics

H100 = peerlab.load_cluster("h100-ndr")
LABS = {path.stem: path for path in sorted(folder("labs").glob("*.ipynb"))}

TOUR = peerlab.Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
"""What the tour shows, with the library that DL1 has; the labs on topology have none."""
STAGED = TOUR.with_(library="none")
DIRECT = STAGED.with_(path="peer-direct")
WIRE = peerlab.Scenario(cluster="ideal-100g", nodes=8, message_bytes="64 MiB")
TCP = STAGED.with_(path="host-tcp")
UNCACHED = DIRECT.with_(registration="per-transfer")
DL1 = STAGED.hardware

run = cache(peerlab.simulate)


def gain(**changes):
    """Return how many times faster Peer Direct is than the detour."""
    return run(STAGED.with_(**changes)).time_s / run(DIRECT.with_(**changes)).time_s


def beyond_paper(scenario):
    """Return how many per cent longer a run takes than its bytes take at the rate of its path, in DL1's pairs."""
    rate = DL1.uplink_Bps / 2 if scenario.path == "host-rdma" else DL1.nic_Bps
    each = 2 * (scenario.nodes - 1) / scenario.nodes * scenario.nbytes / (DL1.node_wire_Bps / DL1.nic_Bps)
    return 100 * (run(scenario).time_s * rate / each - 1)


def tour(path="host-rdma", **changes):
    """Return a run of the tour."""
    return run(TOUR.with_(path=path, **changes))


def tour_gain():
    """Return how many times faster Peer Direct is than the detour in the tour."""
    return tour().time_s / tour("peer-direct").time_s


@cache
def tour_band():
    """Return how sure the tour's gain is."""
    return tour("peer-direct").gain_band(tour())


def uncached_share():
    """Return how much of the time registering and deregistering have without a cache."""
    slow = run(UNCACHED)
    parts = slow.breakdown()
    return (parts["register"] + parts["deregister"]) / slow.time_s


def page_us(seconds, nbytes):
    """Return the microseconds per page of 4 KiB, if it took so long to register so much."""
    return 1e6 * seconds * 4096 / nbytes


def registering(page):
    """Return the picoseconds that registering 256 MiB takes in pages of a size."""
    return DIRECT.with_(page_bytes=page).registration_cost.register_ps(256 << 20)


def as_slow_as(**changes):
    """Return with how many regions a cache without other limits is as slow as this."""
    slow = run(DIRECT.with_(**changes)).time_s
    return next(k for k in (4, 8, 16, 20) if run(DIRECT.with_(cache_regions=k)).time_s == slow)


def alike():
    """Return the first and the last size of a cache, of those in the lab, with the same counters as 8 regions."""
    counters = {
        k: replace(run(DIRECT.with_(cache_regions=k)).registration, registered_bytes=0, peak_bytes=0)
        for k in (4, 8, 12, 16)
    }
    same = [k for k, one in counters.items() if one == counters[8]]
    return same[0], same[-1]


def most_servers_without_latency():
    """Return the most servers, of powers of two up to 1024, with which the tour's bottleneck is not yet the latency: 64 MiB and 1 MiB."""

    def most(size):
        runs = {
            n: tour("peer-direct", nodes=n, message_bytes=size) for n in (2**power for power in range(1, 11))
        }
        return max(n for n, one in runs.items() if one.bottleneck.label != "latency")

    return most("64 MiB"), most("1 MiB")


def pairwise_steps():
    """Return how many steps of a pairwise exchange of eight add up, and how many it has in all."""
    exchange = walk("pairwise", TOUR.nodes)
    return sum(step.adds for step in exchange.steps), len(exchange.steps)


@cache
def diagnosed_a():
    """Return the diagnosis of lab 05's first log."""
    return peerlab.diagnose(peerlab.load(lab_log("A").text))


def explained(path):
    """Return how many times the bandwidth of a simulated path log A has, as its report says."""
    (found,) = (one["simulated"] for one in diagnosed_a().as_dict()["ranking"] if one["path"] == path)
    return found["measured_over_simulated"]


def sizes_explained():
    """Return at how many sizes paths were compared with log A."""
    (count,) = {len(one["simulated"]["message_bytes"]) for one in diagnosed_a().as_dict()["ranking"]}
    return count


def small_cache_hits():
    """Return what a cache of 2 regions finds in the second AllReduce of four ranks: measured, simulated."""
    registered = RegistrationCache(max_regions=2)
    for _ in range(2):
        before = registered.counters.hits
        for move in RingLayout(4, 1 << 20).moves(0):
            ends = [(move.source_at, move.source_bytes), (move.lands_at, move.lands_bytes)]
            leases = [registered.acquire(at, nbytes) for at, nbytes in ends]
            for lease in leases:
                registered.release(lease)
    ring = peerlab.Scenario(cluster="juliet", nodes=4, path="peer-direct", dependency="step", cache_regions=2)
    return registered.counters.hits - before, run(ring).registration.hits


def eight(cluster):
    """Return a run of 8 bytes on two nodes of a cluster, over Peer Direct."""
    return run(eight_bytes.SMALLEST.with_(cluster=cluster))


def course(cluster):
    """Return what NCCL does with those 8 bytes, in its law's own terms."""
    return eight(cluster).scenario.choice.course


def own_both():
    """Return what leaving out both parts promises on the machine whose records come with peerlab."""
    return find("04-both").truth()


def turns_slow_from_kib():
    """Return from which size on, KiB, going direct is slower (and that word) beyond the noise where four ranks take turns on a GPU."""
    found = [
        one
        for one in compare(measured_library()["own/h200-turns"])
        if (one.ranks, one.path, one.registration) == (4, "direct", "none")
    ]
    slower = {one.size_bytes: one.verdict == SLOWER for one in found}
    return min(
        size for size in slower if all(slower[other] for other in slower if other >= size)
    ) / 1024, SLOWER


def faster(staged, direct, nbytes, column="time_s"):
    """Return how many times as fast the second of two logs is at a size."""
    tables = [measured_library()[name].table.set_index("size_bytes")[column] for name in (staged, direct)]
    ratio = float(tables[0][nbytes] / tables[1][nbytes])
    return ratio if column == "time_s" else 1 / ratio


def sends(scenario):
    """Return what one server sends, GB/s."""
    return run(scenario).wire_busy * DL1.node_wire_Bps / 1e9


def fastest(message):
    """Return what a rail can do on 32 servers, fastest first."""
    names = ["hierarchical", "pairwise", "halving-doubling", "recursive-doubling", "binary-tree"]
    asked = DIRECT.with_(nodes=32, message_bytes=message)
    return sorted(names, key=lambda name: run(asked.with_(algorithm=name)).time_s)


def single(path):
    """Return a run of 1 GiB with one accelerator behind each NIC."""
    return run(STAGED.with_(cluster=ALONE, path=path, message_bytes="1 GiB"))


def large(cluster):
    """Return the gain on another cluster with 1 GiB."""
    return gain(cluster=cluster, message_bytes="1 GiB")


def as_odd():
    """Return the other clusters whose rule and whose simulated gain are those of H100 on InfiniBand NDR, to two digits."""
    both = {name: peerlab.load_cluster(name) for name in peerlab.known_clusters()}
    both = {name: one for name, one in both.items() if {"host-rdma", "peer-direct"} <= set(one.paths)}
    says = {name: (f"{rule(one):.2f}", f"{large(name):.2f}") for name, one in both.items()}
    return [name for name in says if says[name] == says["h100-ndr"] and name != "h100-ndr"]


def three_paths():
    """Return the clusters that have kernel TCP, RDMA through host memory and Peer Direct."""
    known = {name: set(peerlab.load_cluster(name).paths) for name in peerlab.known_clusters()}
    return [name for name, paths in known.items() if {"host-tcp", "host-rdma", "peer-direct"} <= paths]


def over_tcp():
    """Return how many times as fast as kernel TCP Peer Direct is, for 1 GiB, on each cluster with all three paths."""
    return [large_tcp(name) for name in three_paths()]


def large_tcp(cluster):
    asked = {"cluster": cluster, "message_bytes": "1 GiB"}
    return run(TCP.with_(**asked)).time_s / run(DIRECT.with_(**asked)).time_s


def apart():
    """Return how many times the gain over kernel TCP is the gain over RDMA through host memory, by cluster."""
    return {name: large_tcp(name) / large(name) for name in three_paths()}


def least_apart(cluster):
    assert min(apart(), key=apart().get) == cluster
    return apart()[cluster]


def most_apart(cluster):
    assert max(apart(), key=apart().get) == cluster
    return apart()[cluster]


def kept_regions(regions, **changes):
    """Return how many times as fast as the detour a cache of so many regions is."""
    return run(STAGED).time_s / run(DIRECT.with_(cache_regions=regions, **changes)).time_s


def log_d_over(path):
    """Return how many times as fast as lab 05's log D two p4d should be on a path."""
    asked = peerlab.Scenario(cluster="p4d", nodes=2, path=path, message_bytes="1 GiB")
    return run(asked).algbw_GBps / lab_log("D").measured.table["algbw_GBps"].max()


def second_nic(path):
    """Return how many times as fast a path of lab 06 is with a second NIC behind each switch."""
    one = peerlab.Scenario(cluster=review.filled_in(), nodes=8, path=path, message_bytes="1 GiB")
    two = one.hardware.with_figure("node.nics_per_switch", 2)
    return run(one).time_s / run(one.with_(cluster=two)).time_s


@cache
def review_band():
    """Return how sure the gain on the filled-in file of lab 06 is."""
    asked = peerlab.Scenario(cluster=review.filled_in(), nodes=8, path="host-rdma", message_bytes="64 MiB")
    return run(asked.with_(path="peer-direct")).gain_band(run(asked))


IB, ROCE = (peerlab.load_cluster(name) for name in ("infiniband-hdr-a100", "roce-100g-a100"))
P5 = peerlab.load_cluster("p5")
P5_BUSBW = lab_log("C").measured.table.query("variant == 'out-of-place'")["busbw_GBps"].max()
STAGED_TIMES = times("juliet/osu-latency-staged")
SLOW = [size for size, time_s in STAGED_TIMES.items() if size < 2**20 and time_s > STAGED_TIMES[2**20]]
SLOW_KIB = (SLOW[0] >> 10, SLOW[-1] >> 10)
"""Sizes below 1 MiB that took longer than 1 MiB did: the first and the last."""


def rates(sizes):
    """Return the bytes a second of messages of lab 05's log B, which is staged."""
    return [size / STAGED_TIMES[size] for size in sizes]


def ahead_us(other="InfiniBand with GPUDirect"):
    """Return by how many microseconds 8 bytes are there sooner in another row than by RoCE with GPUDirect; below 0: later."""
    sent = quoted_tables.latencies()["with gdrcopy"]
    return sent["RDMA with GPUDirect"] - sent[other]


def rate_on(transport):
    """Return how many of lab 08's rings of 8 KiB a transport makes a second."""
    table = compare_fabrics(clean_fabrics.RING.with_(message_bytes="8 KiB")).table
    return 1 / table.set_index("transport")["time_s"][transport]


def switched(nodes, size, algorithm):
    """Return how many times as long an algorithm takes as switches that add up."""
    asked = clean_fabrics.RING.with_(nodes=nodes, message_bytes=size, algorithm=algorithm)
    return run(asked).time_s / quoted_tables.added_up(nodes, size)


def stored():
    times = quoted_tables.storage()["times as fast"]
    return times["copy engine, uplink its own"], times["uplink shared both ways"]


def samples(one, other):
    quoted = quoted_tables.gpt3()["quoted: samples a second"]
    return quoted[one] / quoted[other]


def new_tensor(cluster, steps=3):
    """Return how many times as long a step takes that has a buffer nobody has seen, each of `steps` of them."""
    asked = peerlab.Scenario(cluster=cluster, path="peer-direct", message_bytes="256 MiB", buffers=steps)
    times = run(asked.with_(iterations=2 * steps)).as_dict(iteration_times=True)["iteration_times_s"]
    cold, warm = set(times[:steps]), set(times[steps:])
    assert (len(cold), len(warm)) == (
        1,
        1,
    )  # every buffer costs as much as the first, and none of them costs it again
    return cold.pop() / warm.pop()


def p99(**fields):
    """Return how many times the median p99 of a thousand runs of lab 11 is."""
    times = sorted(times_of_seeds(late_node.MANY.with_(**fields), range(1000)))
    return times[989] / times[499]


def sent_in_vain():
    """Return how many packets are sent in vain after a loss, where a gap is told after a round trip."""
    asked = {"fabric": "roce-lossy", "neighbour": "senders(1)", "loss": 1e-3, "until_ms": 20}
    answer = answered(figures=(("recovery", 0),), **asked)
    return answer.packets("discard") / answer.packets("loss")


COMPUTED = {
    "03_registration_and_the_cache": [
        ("plans with | {:.0f} µs + 0.06 ns/B", lambda: DL1.register_base_ps / 1e6),
        ("+ {:.2f} ns/B", lambda: DL1.register_page_ps / 4096 / 1e3),
        ("ns/B | {:.2f} µs |", lambda: DL1.register_page_ps / 1e6),
        ("more than 20 s | {:.2f} µs", lambda: page_us(20, 256e9)),
        ("49.2 s | {:.2f} µs", lambda: page_us(49.2, 500e9)),
        ("some {:.1f} ms per NIC", lambda: 70 / 32),
        (
            "14 \u00d7 2 = {} requests",
            lambda: run(UNCACHED).registration.misses,
        ),
        (
            "the same memory is {} times {} pages, and registering it is many times {}",
            lambda: (
                2**21 // 4096,
                than("more", "fewer", 2**28 // 2**21, 2**28 // 4096),
                than("dearer", "cheaper", *(registering("2 MiB"), registering("4 KiB"))),
            ),
        ),
        ("the rows of {} and of {} regions have the same figures", alike),
        ("as slow as with a cache of {} regions", lambda: as_slow_as(memlock_bytes="8 MiB")),
        (
            "### Further: {:.1f} % beside {:.0f} %",
            lambda: (100 * uncached_share(), 100 * run(UNCACHED).wire_busy),
        ),
        (
            "takes {:.0f} µs, and {:.3f} µs for each page of 4 KiB; deregistering takes {:.3f} µs for each page",
            lambda: (DL1.register_base_ps / 1e6, DL1.register_page_ps / 1e6, DL1.deregister_page_ps / 1e6),
        ),
        (
            "one region short is {:.2f} times as fast as the detour, and one that fits {:.2f} times",
            lambda: (kept_regions(17), kept_regions(18)),
        ),
        ("one of 8 regions is worth {:.2f} times", lambda: kept_regions(8)),
        (
            "on DL1 it is {:.2f} times as fast as the detour with 8 regions, {:.2f} with 17, and {:.2f} with the {} that are needed",
            lambda: (kept_regions(8), kept_regions(17), kept_regions(18), find("03-fits").truth()),
        ),
        ("On DL1 it is {:.2f} times as long.", lambda: new_tensor("dl1")),
        ("On p5 it is {:.2f} times as long", lambda: new_tensor("p5")),
    ],
    "04_measure_your_machine": [
        ("from {:.0f} KiB on `direct` is {}", turns_slow_from_kib),
        (
            "(two processors, four ranks, 8 MiB), leaving out the bounce buffers brought {:.2f} times and leaving out TCP {:.2f}. ",
            lambda: (own_machine.largest()["tcp"].ratio, own_machine.largest()["staged-shm"].ratio),
        ),
        (
            "Together that would be {:.2f} times, and `direct` reached {:.2f}.",
            lambda: (own_both(), own_machine.largest()["direct"].ratio),
        ),
        ("at least to a factor of {:.2f}", lambda: LEAST_NOISE),
        ("leaving out one part brings {:.1f} times", lambda: 1.5),
        ("the second 1/2, and 1/6 remains: that would be {:.0f} times", lambda: 1 / (1 / 1.5 + 1 / 2 - 1)),
        ("1 - 1/{:.1f} = 1/3 of it", lambda: 1 / (1 - 1 / 3)),
        ("{} hits measured, {} simulated", small_cache_hits),
        (
            "a message of 1 MiB arrived {:.2f} times as fast",
            lambda: faster("juliet/osu-latency-staged", "juliet/osu-latency-direct", 1 << 20),
        ),
        (
            "one of 4 MiB {:.2f} times (osu_latency)",
            lambda: faster("juliet/osu-latency-staged", "juliet/osu-latency-direct", 4 << 20),
        ),
        (
            "4 MiB were {:.1f} times as fast (osu_bw",
            lambda: faster("alps/osu-bw-device-tcp", "alps/osu-bw-device-rdma", 4 << 20, "algbw_GBps"),
        ),
    ],
    "00_tour": [
        ("The uplink carries {:.1f} GB/s in each direction", lambda: DL1.uplink_Bps / 1e9),
        ("The NIC could send {:.1f} GB/s", lambda: DL1.nic_Bps / 1e9),
        ("Half of 14.1 is {:.2f} GB/s", lambda: DL1.uplink_Bps / 2e9),
        (
            "payload: {:.0f} % of what the NIC",
            lambda: 100 * tour(message_bytes="1 GiB").wire_busy,
        ),
        (
            "At 64 MiB it is a little {}, because",
            lambda: than("more", "less", tour().wire_busy, tour(message_bytes="1 GiB").wire_busy),
        ),
        (
            "On paper the gain is {:.1f} / {:.2f} = {:.2f}, the NIC's rate",
            lambda: (DL1.nic_Bps / 1e9, DL1.uplink_Bps / 2e9, DL1.nic_Bps / (DL1.uplink_Bps / 2)),
        ),
        ("The simulation says {:.2f}, since at 64 MiB", tour_gain),
        ("exceed the {:.0f} GB/s of a server's NICs", lambda: DL1.node_wire_Bps / 1e9),
        (
            "**{:.2f} to {:.2f} times as fast** with Peer Direct, {:.2f} as simulated.",
            lambda: (tour_band().low, tour_band().high, tour_band().value),
        ),
        (
            "If it does not, it is {:.2f} to {:.2f} times, so it may be {}.",
            lambda: (
                tour_band().wired[1].low,
                tour_band().wired[1].high,
                than("faster", "slower", tour_band().wired[1].low, 1),
            ),
        ),
        ("condition: {:.2f} to {:.2f} times on DL1", lambda: (tour_band().low, tour_band().high)),
        ("allows {:,} ranks, that is {} servers", lambda: (DL1.max_ranks, DL1.max_ranks // DL1.devices)),
        (
            "The wire is busy for {:.0f} % of the time.",
            lambda: 100 * tour("peer-direct").wire_busy,
        ),
        (
            "Peer Direct is {:.2f} times as fast as RDMA through host, and {:.2f} times as fast as kernel TCP",
            lambda: (tour_gain(), tour("host-tcp").time_s / tour("peer-direct").time_s),
        ),
        (
            "The wire is now busy for {:.0f} % of the time only",
            lambda: 100 * tour("peer-direct", registration="per-transfer").wire_busy,
        ),
        (
            "Peer Direct takes {:.2f} times as long as the detour",
            lambda: tour("peer-direct", registration="per-transfer").time_s / tour().time_s,
        ),
        ("With 64 MiB the wire is the limit up to {} servers", lambda: most_servers_without_latency()[0]),
        ("there the wire is the limit up to {} servers", lambda: most_servers_without_latency()[1]),
        (
            "{:.0f} GB/s with 2 servers, {:.0f} GB/s with 8, and {:.0f} GB/s with 128",
            lambda: tuple(tour("peer-direct", nodes=nodes).wire_limit_GBps for nodes in (2, 8, 128)),
        ),
        ("there are {} steps. In the steps 1 to", lambda: pairwise_steps()[1]),
        ("In the steps 1 to {} node 0 sends", lambda: pairwise_steps()[0]),
        (
            "In the steps {} to {} it sends each of them the part that it has added up itself",
            lambda: (pairwise_steps()[0] + 1, pairwise_steps()[1]),
        ),
    ],
    "01_the_long_detour": [
        ("is slow: {:.2f} on DL1, and none where", lambda: gain(message_bytes="1 GiB")),
        ("With TCP a server sends {:.1f} GB/s", lambda: sends(TCP)),
        ("{:.2f} core-seconds for each GB", lambda: run(TCP).cores_busy / sends(TCP)),
        (
            "the four NICs ({:.0f} GB/s) would take {:.0f} cores",
            lambda: (
                DL1.node_wire_Bps / 1e9,
                run(TCP).cores_busy / sends(TCP) * DL1.node_wire_Bps / 1e9,
            ),
        ),
        ("carries {:.1f} GB/s in each direction", lambda: DL1.uplink_Bps / 1e9),
        ("the NIC {:.1f} GB/s ({:.0f} Gbit/s)", lambda: (DL1.nic_Bps / 1e9, DL1.nic_Bps / 125e6)),
        ("Host memory is no limit: {:.1f} GB/s", lambda: DL1.dram_Bps / 1e9),
        (
            "Four accesses per byte leave {:.1f} GB/s of that for each of two NICs",
            lambda: DL1.dram_Bps / run(STAGED).dram_bytes_per_byte / DL1.switches_per_numa / 1e9,
        ),
        (
            "At 64 MiB that adds {:.1f} % to the time of the detour and {:.1f} % to that of Peer Direct, whose run is {}",
            lambda: (
                beyond_paper(STAGED),
                beyond_paper(DIRECT),
                than("longer", "shorter", run(DIRECT).time_s, run(STAGED).time_s),
            ),
        ),
        (
            "So the gain is a little {}: {:.2f}. With 1 GiB",
            lambda: (than("larger", "smaller", gain(), DL1.nic_Bps / (DL1.uplink_Bps / 2)), gain()),
        ),
        ("the simulation says {:.2f} as well", lambda: gain(message_bytes="1 GiB")),
        ("the simulation says {:.2f} as well", lambda: DL1.nic_Bps / (DL1.uplink_Bps / 2)),
        (
            "The NIC keeps its {:.1f} GB/s and the uplink its {:.1f} GB/s",
            lambda: (ALONE.nic_Bps / 1e9, ALONE.uplink_Bps / 1e9),
        ),
        ("so on paper the gain is {:.2f} again", lambda: ALONE.nic_Bps / (ALONE.uplink_Bps / 2)),
        ("which is {:.2f} with N = 8 servers", lambda: 2 * 7 / 8),
        ("carries 2 / {:.2f} = {:.2f} bytes", lambda: (2 * 7 / 8, 8 / 7)),
        (
            "have {:.2f} GB/s of it each. A link inside then has to carry {:.2f} GB/s. It can carry {:.1f} GB/s",
            lambda: (DL1.nic_Bps / 2e9, DL1.nic_Bps / 2e9 * 8 / 7, DL1.scaleup_Bps / 1e9),
        ),
        (
            "has all {:.1f} GB/s. A link inside would have to carry {:.2f} GB/s, and it can carry {:.1f} GB/s",
            lambda: (ALONE.nic_Bps / 1e9, ALONE.nic_Bps / 1e9 * 8 / 7, ALONE.scaleup_Bps / 1e9),
        ),
        (
            "the NIC is busy for {:.0f} % of the time, and the gain is",
            lambda: 100 * single("peer-direct").wire_busy,
        ),
        ("the gain is {:.2f} in place of", lambda: single("host-rdma").time_s / single("peer-direct").time_s),
        ("(With 64 MiB it is {:.2f}: the first", lambda: gain(cluster=ALONE)),
        ("in place of {:.2f}.", lambda: gain(message_bytes="1 GiB")),
        ("**The detour** sends at most {:.2f} GB/s per NIC in both cases", lambda: DL1.uplink_Bps / 2e9),
        ("a link inside has to carry only {:.2f} GB/s", lambda: DL1.uplink_Bps / 2e9 * 8 / 7),
        ("There the links inside carry {:.2f} bytes", lambda: 64 / 63),
        ("the gain on paper is {:.2f}.", lambda: rule(ALONE, 64)),
        ("DL1, p4d and Gaudi 3 have the same gain, {:.2f}", lambda: large("p4d")),
        ("DL1, p4d and Gaudi 3 have the same gain, {:.2f}", lambda: large("gaudi3")),
        (
            "peerlab knows {} machines with all three paths",
            lambda: len(three_paths()),
        ),
        (
            "Peer Direct is {:.2f} to {:.1f} times as fast as kernel TCP.",
            lambda: (min(over_tcp()), max(over_tcp())),
        ),
        (
            "It is {:.2f} to {:.1f} times as fast as RDMA through host memory.",
            lambda: (min(map(large, three_paths())), max(map(large, three_paths()))),
        ),
        (
            "The first gain is {:.1f} times the second on Alps, and {:.1f} times on Gaudi 3.",
            lambda: (least_apart("alps-gh200"), most_apart("gaudi3")),
        ),
        (
            "*H100 on InfiniBand NDR* and {} others gain {:.2f}, where the rule says {:.2f}.",
            lambda: (
                ("no", "one", "two", "three", "four", "five", "six")[len(as_odd())],
                large("h100-ndr"),
                rule(H100),
            ),
        ),
        (
            "*p5* gains {:.2f}, where the rule says {:.2f}.",
            lambda: (large("p5"), rule(peerlab.load_cluster("p5"))),
        ),
        (
            "NCCL, in the simulation p5 gains {:.2f}",
            lambda: gain(cluster="p5", message_bytes="1 GiB", library=None),
        ),
        (
            "gains {:.2f}, and *A100 on RoCE 100G* gains nothing ({:.2f})",
            lambda: (large("infiniband-hdr-a100"), large("roce-100g-a100")),
        ),
        (
            "the same uplink of {:.1f} GB/s. Behind it the first has NICs for {:.0f} GB/s",
            lambda: (IB.uplink_Bps / 1e9, IB.nics_per_switch * IB.nic_Bps / 1e9),
        ),
        (
            "the same uplink of {:.1f} GB/s. Behind it the first has NICs for 50 GB/s, which the detour cannot fill; the second has a NIC of {:.1f} GB/s",
            lambda: (ROCE.uplink_Bps / 1e9, ROCE.nics_per_switch * ROCE.nic_Bps / 1e9),
        ),
    ],
    "02_allreduce_and_nodes": [
        (
            "one device a node, {:.1f} GB/s and {:.0f} µs",
            lambda: (WIRE.hardware.nic_Bps / 1e9, WIRE.hardware.latency_ps / 1e6),
        ),
        (
            "12.5 GB/s = {:.0f} kB. A smaller message",
            lambda: 8 * WIRE.hardware.latency_ps * WIRE.hardware.nic_Bps / 1e12 / 1e3,
        ),
        (
            "2^30 bytes ({:.0f} % {})",
            lambda: (100 * (2**30 / 1e9 - 1), than("more", "less", 2**30, 1e9)),
        ),
        (
            "a busbw of {:.0f} GB/s would be a full wire of {:.0f} GB/s",
            lambda: (run(DIRECT.with_(nodes=2)).wire_limit_GBps, DL1.node_wire_Bps / 1e9),
        ),
        (
            "busbw falls by {} than a third, though the wire is {}",
            lambda: (
                than(
                    "more", "less", 1 - run(DIRECT).busbw_GBps / run(DIRECT.with_(nodes=2)).busbw_GBps, 1 / 3
                ),
                than("busier", "idler", run(DIRECT).wire_busy, run(DIRECT.with_(nodes=2)).wire_busy),
            ),
        ),
        (
            "{} servers; beyond, the lab extrapolates and says so. The latency of {:.0f} µs is assumed; it may be from {} to {} µs",
            lambda: (
                DL1.max_ranks // DL1.devices,
                DL1.latency_ps / 1e6,
                *DL1.figures["fabric.latency"].range,
            ),
        ),
        (
            "the wire is {} again at 512 servers",
            lambda: (
                "full" if run(DIRECT.with_(nodes=512, message_bytes="1 GiB")).wire_busy > 0.95 else "busy"
            ),
        ),
        ("With small messages it is {}: none of its messages", lambda: fastest("4 KiB")[0]),
        ("With middle sizes (4 MiB) it is {}: few steps", lambda: fastest("4 MiB")[0]),
        ("rings (*{}*) and {} both fill the wire", lambda: tuple(fastest("64 MiB")[:2])),
    ],
    "05_read_a_log": [
        (
            "Is a busbw of {:.0f} GB/s over NICs of {:.0f} GB/s a mistake",
            lambda: (P5_BUSBW, P5.node_wire_Bps / 1e9),
        ),
        (
            "{:.0f} times at the largest message, far {} than in any other lab",
            lambda: (
                diagnosed_a().forecast.ratio[-1],
                than("more", "less", diagnosed_a().forecast.ratio[-1], 2 * large("p5")),
            ),
        ),
        (
            "{:.3f} times the bandwidth of *RDMA through host*. So that path is 1 / {:.3f} = {:.1f} times",
            lambda: (explained("host-rdma"), explained("host-rdma"), 1 / explained("host-rdma")),
        ),
        (
            "{:.3f} times that of *Peer Direct*, which is 1 / {:.3f} = {:.1f} times",
            lambda: (explained("peer-direct"), explained("peer-direct"), 1 / explained("peer-direct")),
        ),
        ("the median of {} message sizes", sizes_explained),
        (
            "leaving TCP gains a factor of {:.1f}, and leaving host memory another factor of {:.1f}",
            lambda: (1 / explained("host-rdma"), explained("host-rdma") / explained("peer-direct")),
        ),
        ("The {:.1f} is simulated over simulated", lambda: explained("host-rdma") / explained("peer-direct")),
        ("The {:.1f} is simulated over measured", lambda: 1 / explained("host-rdma")),
        (
            "PCIe Gen4 x16 for them, {:.1f} GB/s in each direction. If each byte crossed an uplink twice, a node could send {:.0f} GB/s",
            lambda: (P5.uplink_Bps / 1e9, unseen_log.detour_limit(P5)),
        ),
        ("A node has {} uplinks", lambda: P5.numa_domains * P5.switches_per_numa),
        (
            "Peer Direct should have been {:.2f} times as fast as this, and RDMA through host memory {:.2f} times.",
            lambda: (log_d_over("peer-direct"), log_d_over("host-rdma")),
        ),
        ("8 bytes took {:.1f} µs", eight_bytes.measured_us),
        ("**launch**: {:.1f} µs, once", lambda: course("p4d").launch),
        (
            "**hops inside the nodes**: {:.1f} µs each",
            lambda: course("p4d").inside / 14,
        ),
        (
            "Together {:.0f} µs, {:.0f} % {} than the log says",
            lambda: (
                1e6 * eight("p4d").time_s,
                abs(100 - 1e8 * eight("p4d").time_s / eight_bytes.measured_us()),
                than("more", "less", 1e6 * eight("p4d").time_s, eight_bytes.measured_us()),
            ),
        ),
        (
            "assumed to lie between {:g} and {:g} µs",
            lambda: eight("p4d").scenario.hardware.figures["library.hop"].range,
        ),
        (
            "On InfiniBand it is {:g} µs",
            lambda: eight("azure-nd-a100-v4").scenario.hardware.figures["library.hop"].value,
        ),
        ("needs no flush: {:.0f} µs on two servers of Azure", lambda: 1e6 * eight("azure-nd-a100-v4").time_s),
        ("A node has NICs for {:.0f} GB/s together", lambda: P5.node_wire_Bps / 1e9),
        (
            "from {} KiB to {} KiB this run chose a protocol that was many times {} than at the sizes around them",
            lambda: (
                *SLOW_KIB,
                than("faster", "slower", max(rates(SLOW)), min(rates((SLOW[0] // 2, 2 * SLOW[-1])))),
            ),
        ),
    ],
    "06_design_review": [
        ("one PCIe Gen4 x16 link, {:.1f} GB/s", lambda: review.RAW_GEN4_GBPS),
        ("{:.1f} GB/s is what the link carries before", lambda: review.RAW_GEN4_GBPS),
        ("Four adapters of {:g} Gbit/s", lambda: review.SHEET["nic.rate"]),
        (
            "Why {:.1f} here, where other labs say {:.2f}?",
            lambda: (review_band().value, gain(message_bytes="1 GiB")),
        ),
        (
            "a second NIC makes Peer Direct {:.2f} times as fast, and the detour {:.2f} times.",
            lambda: (second_nic("peer-direct"), second_nic("host-rdma")),
        ),
        (
            "a second NIC makes the detour {:.2f} times as fast, and Peer Direct {:.2f} times.",
            lambda: (second_nic("host-rdma"), second_nic("peer-direct")),
        ),
        (
            "the file assumes: {:.2f} where `gain.low` is {:.2f}",
            lambda: (find("06-worst").truth(), review_band().low),
        ),
        ("where `gain.least` is {:.2f}", lambda: review_band().least),
    ],
    "07_what_does_a_training_gain": [
        ("All exchanges of a step together are {:.1f} times as fast", training_gain.exchange_gain),
        ("large messages go {:.2f} times as fast", lambda: gain(message_bytes="1 GiB")),
        (
            "draws {} than one that computes: about {:.1f} of it (worked out",
            lambda: (than("more", "less", training_gain.WAITS, 1), training_gain.WAITS),
        ),
    ],
    "08_fabrics_side_by_side": [
        ("one core sends {:.1f} Gb/s", quoted_tables.one_core),
        ("it is ahead of RoCE by {:.1f} µs", ahead_us),
        (
            "(Peer Direct is {:.2f} µs {} here",
            lambda: (
                abs(ahead_us("RDMA without GPUDirect")),
                than("longer", "shorter", ahead_us("RDMA without GPUDirect"), 0),
            ),
        ),
        (
            "*Ideal* is {} here than InfiniBand",
            lambda: than("faster", "slower", rate_on("ideal"), rate_on("infiniband")),
        ),
        (
            "one alone is {} |",
            lambda: than("faster", "slower", quoted_tables.initiated()["times as fast"][1], 1),
        ),
        (
            "and {} on two nodes |",
            lambda: than(
                "faster", "slower", quoted_tables.sharp_table().loc[(2, "8 KiB"), "times as fast"], 1
            ),
        ),
        (
            "(each thread block adds {:.1f} million)",
            lambda: quoted_tables.puts()["from the GPU, by the law"].iloc[0],
        ),
        ("One rate, {:.1f} GB/s, meets all four points", lambda: peerlab.load_cluster("p5").sharp_Bps / 1e9),
        (
            "Against a ring it would be {:.1f} times; against recursive doubling it is {:.1f}",
            lambda: (switched(64, "8 KiB", "ring"), switched(64, "8 KiB", "recursive-doubling")),
        ),
        (
            "**With two nodes SHARP loses**: {:.1f} µs against {:.1f}",
            lambda: tuple(quoted_tables.sharp_table().loc[(2, "8 KiB"), ["SHARP, µs", "its time, µs"]]),
        ),
        (
            "a ring takes {:.2f} times as long, {} than twice",
            lambda: (
                switched(64, "64 MiB", "ring"),
                than("more", "less", switched(64, "64 MiB", "ring"), 2),
            ),
        ),
        (
            "packets of 1024 bytes give {:.1f} and {:.1f}; with 4096 RoCE has {:.1f}",
            lambda: tuple(
                8 * quoted_tables.carried(*one)
                for one in (("roce", 1024), ("infiniband", 1024), ("roce", 4096))
            ),
        ),
    ],
    "09_is_my_cluster_well": [
        (
            "A NIC carries {:.0f} GB/s, so a server has {:.0f}",
            lambda: (H100.nic_Bps / 1e9, H100.node_wire_Bps / 1e9),
        ),
    ],
    "10_whose_fault_is_the_network": [
        (
            "A textbook says {:.0f}: a round trip is some {:.0f} packets",
            lambda: (100 * whose_fault.counted(1e-3, 0), sent_in_vain()),
        ),
        (
            "In that time a link of 100 Gb/s sends some {:.0f} packets",
            lambda: round(180 / whose_fault._packet_us(), -1),
        ),
        (
            "With 1 in 1,000 lost, {:.0f} of 100 Gb/s are left if a gap takes {:.2f} ms",
            lambda: (100 * whose_fault.counted(1e-3, 180), 0.18),
        ),
        (
            "so it takes {:.0f} ms instead of {:.1f} ms",
            lambda: (of_lost_tail().time_ps / 1e9, of_lost_tail().alone_ps / 1e9),
        ),
    ],
    "11_one_node_is_late": [
        ("predict what {:.0f} % of noise does", lambda: 100 * assumed_noise()["jitter"].amount),
        ("with a NIC of {:.1f} GB/s each", lambda: late_node.MANY.hardware.nic_Bps / 1e9),
        (
            "A step waits for the latest of three, and {} steps add that up. So noise whose mean is zero still costs {:.1f} %.",
            lambda: (2 * (late_node.MANY.nodes - 1), late_node.mean_more("step")),
        ),
        ("only {:.2f} % above the median", lambda: late_node.beyond_median(next(iter(late_node._WORLDS)))),
        ("With one slice in 1,000 held up, p99 is {:.1f} times the median", lambda: p99(detours=1e-3)),
        ("with {:.0f} % of its rate?", lambda: 100 * search_game.SHARE),
        (
            "A node at {:.0f} % of its rate, and runs that differ by 5 %",
            lambda: 100 * exp(-2.1 * assumed_noise()["jitter"].amount),
        ),
        (
            "{:.0f} % of noise is {:.1f} % of time on 64 nodes",
            lambda: (100 * assumed_noise()["jitter"].amount, late_node.mean_more("step")),
        ),
        (
            "{} runs for eight nodes, {} if perhaps none is slow, and then {} for 64",
            lambda: tuple(
                {3: "three", 4: "four", 7: "seven"}[ceil(log2(one))]
                for one in (search_game.NODES, search_game.NODES + 1, 64 + 1)
            ),
        ),
    ],
    "12_whose_figures_are_these": [
        ("about {:.1f} of what it draws busy (worked out", lambda: training_gain.WAITS),
        (
            "With a copy engine it is {:.1f} times, with an uplink that carries the other way too {:.1f}",
            stored,
        ),
        (
            "even its TCP row is {:.1f} times what is published",
            lambda: samples("TCP/IP", "published (Megatron-LM)"),
        ),
        ("nearly four times the samples at {:.1f} times the", lambda: 82 / 45),
        ("the gain ends at {:.2f}", lambda: whose_figures.halo_gain(1000, whose_figures.COPY_START_US)),
    ],
}
"""Per lab: a piece of its prose with a field for each figure, and what computes them (one figure, or a tuple)."""

SOURCED = {
    "10_whose_fault_is_the_network": [
        "On one link 0.18 ms for each loss were measured (capetron/gb10-cluster-guide)",
        '"Nearly zero above 1 %", says an article (*Error Recovery of RDMA Packets in Data Center Networks*)',
    ],
    "11_one_node_is_late": [
        "None of the four makes 1.5 times.",  # as above
        "A p99 that is 1.5 to 3 times the median, as shared clouds are said to have (OptiReduce's benchmarking guide)",
    ],
    "08_fabrics_side_by_side": [
        "measured 98.04 Gb/s of 100 on each half of a RoCE link of 200",  # capetron/gb10-cluster-guide
        "*InfiniBand, 0.5 to 2*",
        "*80 per cent of the CPU against less than 1*",  # the overview
    ],
    "12_whose_figures_are_these": [
        '"4.5 times the training throughput"',  # RDMA and GPUDirect: Enabling Zero-Copy Communication
        "4.5 times the training throughput. This lab holds",
        "three times faster data loading, 4.5 times",
        "*Two to three times faster data loading*",
        "native 2.22 GB/s, plain files 2.21 (NVIDIA/DALI issue 3972)",
        "On an old host (NVIDIA forum 55564), whose CPU forwards between cards slower than it copies",
        "| 2 to 3 times faster data loading |",  # the overview
    ],
    "07_what_does_a_training_gain": [
        '"4.5 times the training throughput"'
    ],  # RDMA and GPUDirect: Enabling Zero-Copy Communication
    "03_registration_and_the_cache": [
        "256 GB of host memory, verbs | more than 20 s | 0.32 µs | ofiwg/libfabric issue 4738",
        "500 GB of host memory, one thread | 49.2 s | 0.40 µs | kvcache-ai/Mooncake PR 855",
        "2.79 MB of GPU memory, on 32 EFA NICs in turn | 70 ms | | kvcache-ai/Mooncake PR 3210",
        "There 256 MiB took 4.26 ms in small pages and 0.137 ms in huge ones",
        "Somebody who registered 1.5 TB for a GPU measured 242.4 s with small pages and 98.2 s with huge ones (ROCm/mori PR 679)",
        "(HabanaAI/HCL, versions 1.19 to 1.21: one registration of HCL's own pool per device.)",
        "up to 1.18 it had a list that forgot nothing",
    ],
    "04_measure_your_machine": [
        "`mlock` for each transfer left 0.23 to 0.49 of the throughput. A cache of 64 regions left 0.91 to 1.03, and one of 2 regions 0.42 to 0.73",
        "On a busy virtual machine with two processors that missed the measured time by 28 to 78 %",
    ],
    "00_tour": ["1.5 to 2 times on collectives and up to 1.76 on large messages (summaries of an article"],
    "05_read_a_log": [
        "The NCCL of this log is 2.9.9.",
        "Such old versions move large messages far slower than the law says, and peerlab promises nothing below 2.12",
    ],
    "01_the_long_detour": [
        "1.5 to 2 times, up to 1.76 on large messages (summaries of an article in *Towards Data Science*",
        "Without the stop in host memory it was 2.25, 1.84 and 1.57 times faster, at 1, 2 and 4 MiB (osu_latency",
        "It was 23,990 MB/s with RDMA, and 1,803 MB/s through host memory and TCP, 13.3 times less (CSCS",
    ],
}
"""Per lab: pieces of prose with figures that are somebody else's, with the source that the prose names."""

_FIGURE = re.compile(r"\d+\.\d+|\d+(?= %)")
"""What could only come from a computation: figures with a decimal point, and percentages."""


def prose(name):
    cells = json.loads(LABS[name].read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def pieces(template, compute):
    """Return a template piece by piece: its own words, and what is computed."""
    figures = compute()
    figures = iter(figures if isinstance(figures, tuple) else (figures,))
    for words, field, spec, _ in Formatter().parse(template):
        yield words, False
        if field is not None:
            yield format(next(figures), spec), True


def say(template, compute):
    return "".join(words for words, _ in pieces(template, compute))


def covered(name):
    """Return the places in a lab's prose, from and to, that are computed or somebody else's."""
    text = prose(name)
    for piece in SOURCED.get(name, []):
        yield text.index(piece), text.index(piece) + len(piece)
    for template, compute in COMPUTED[name]:
        at = text.index(say(template, compute))
        for words, computed in pieces(template, compute):
            if computed:
                yield at, at + len(words)
            at += len(words)


def rows():
    return [(name, template, compute) for name, of in COMPUTED.items() for template, compute in of]


@pytest.mark.parametrize(("name", "template", "compute"), rows(), ids=lambda one: one if one in LABS else "")
def test_a_figure_in_the_prose_is_what_the_simulation_says(name, template, compute):
    assert say(template, compute) in prose(name)


@pytest.mark.parametrize("name", COMPUTED)
def test_every_figure_in_the_prose_is_computed_here_or_has_a_source(name):
    text = prose(name)
    known = SOURCED.get(name, []) + [say(template, compute) for template, compute in COMPUTED[name]]
    for piece in known:
        assert piece in text
    known = {figure for piece in known for figure in _FIGURE.findall(piece)}
    assert set(_FIGURE.findall(text)) <= known


@pytest.mark.parametrize("name", COMPUTED)
def test_every_comparison_beside_a_figure_is_computed_here_or_has_a_source(name):
    """Lab 01 once said that a gain of 1.76, after one of 1.77, was a little larger."""
    places = list(covered(name))
    text = prose(name)
    loose = [
        text[max(0, word.start() - 40) : word.end() + 40]
        for word in comparisons(text)
        if not any(start <= word.start() and word.end() <= end for start, end in places)
    ]
    assert loose == []


def test_the_share_that_lab_03_lets_predict_is_nearly_all():
    assert min((10, 50, 99), key=lambda offered: abs(offered - 100 * uncached_share())) == 99


def test_every_lab_has_its_figures_here():
    assert set(LABS) == set(COMPUTED)
