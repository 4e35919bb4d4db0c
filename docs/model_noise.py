"""The laws of noise: what an AllReduce of many runs comes to, by formula and simulated."""

from math import exp

from documents import table
from model_laws import Law

from peerlab.base.units import MIB, say_time
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.labs.held_up_transfers import BLOCKING, PIPELINED, later_us
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.study.many_runs import many_runs

_RING = Scenario(cluster="ideal-100g", nodes=8, message_bytes="64 MiB", slice_bytes=None)
_LARGEST_OF_8 = 1.4236
"""Mean of the largest of eight normal numbers."""
_LARGEST_OF_32 = 2.0697
"""That of 32."""
_BLOCKING_8 = 1.039
"""Growth per step of a blocking ring of 8, in sigmas of a transfer's noise (simulated elsewhere: x' = largest of three neighbours + w)."""
_FAINT = 0.005
"""A jitter that is faint enough for its lognormal factors to be as good as normal."""

HEAD = """\
## Noise, and parts that are slow

Noise makes no run average: a step of a blocking ring waits for the latest of three nodes, 2(N-1) times over. So jitter of mean 1 makes every run
slower and hardly spreads them; a tail needs what lasts for a run (`spread`) or what is rare and long (`detours`). Latency absorbs noise: where
it is long against the noise of a transfer, a pipelined ring pays less of it. Every kind is drawn beforehand, from streams of its own
for each seed and node, and every engine meets the same draws. How much of each is assumed where nobody has measured it stands in
`data/noise.toml`.

A delay of one transfer delays the end by as much, in a blocking ring and in a pipelined one. Of two delays, D1 in step k1 at node i1 and D2 in a later step
k2 at node i2, both count where the second is within reach of the first, as light would be that goes a node a step; else the larger one does. In a
blocking ring a delay goes both ways, in a pipelined one downstream only, and latency takes L of it for each step that it need not have waited;
whole rounds count, so that a delay which has gone round to its own node has lost nothing.

A pipelined ring without latency, in which each transfer is held up for an exponential time of mean tau, is the exclusion process of N particles on 2N sites: each step is (2 - 1/N) tau later
than the one before. An AllReduce has too few steps to show that, so `tests/engine/test_exclusion_process.py` lets a ring go on for 600: within 2 % for 2, 4 and 8 nodes.
A blocking ring waits for the latest of three neighbours: 11/6 tau for 3 nodes, 2.171 tau for 8.

Rows of 256 nodes say what a step adds: an AllReduce less a reduce-scatter, over the N-1 steps between them. An AllReduce of 256 ends long before latency has absorbed
what it can: 510 steps with L = 8 s d add 84.8 s d, 37 of them because the latest of 256 nodes is so much later than their mean. A ring that goes on for 4,000 steps grows by
0.112 s d a step (the law for noise that is faint against L: s d/8). `tests/engine/test_exclusion_process.py` holds this, too.

Noise costs other algorithms less, since they have fewer steps. Recursive doubling exchanges whole messages six times among 64 nodes, and each waits for one other: 7.9 s d; where both
of a pair wait until both transfers are through, 9.6 s d. Noise adds 9.8 s d to a binary tree whose nodes receive from both children at once (64 leaves, six levels, 12 d). Here the 64 nodes are the
tree, and a NIC serves one transfer after the other: it takes 20 d, and noise makes that *less* (-4.3 s d). A NIC that receives from two children begins with whichever is ready
first, and the other is ready by the time it is through.

d: service time of a transfer, L: latency, K = 2(N-1) steps, q = K (d + L): the quiet time, s: sigma, f: share of its rate that a slow node has, e_N: mean of
the largest of N normal numbers (e_8 = 1.4236). Random ones are means of some hundred seeds and agree to their tolerance.

"""


def section() -> str:
    """Return the section."""
    rows = [
        [
            law.what,
            f"`{law.formula}`",
            law.example,
            law.say(law.by_hand),
            law.say(law.simulated),
            f"{100 * law.tolerance:g} %",
        ]
        for law in (
            one.check()
            for one in (
                *_slow_nodes(),
                *_light_cone(),
                _jitter(),
                _jitter_of_64(),
                *_without_latency(),
                *_other_algorithms(),
                _absorbed(),
                _absorbed_by_256(),
                _spread(),
                *_detours(),
            )
        )
    ]
    return HEAD + table(["what", "formula", "example", "by hand", "simulated", "agree to"], rows)


def _time(ps: float) -> str:
    return say_time(round(ps))


def _times(value: float) -> str:
    return f"{value:.4g}"


def _service(scenario: Scenario) -> int:
    cluster = scenario.cluster_for_message
    return -(-(scenario.nbytes // scenario.nodes) * 10**12 // cluster.nic_Bps)


def _slow_nodes() -> list[Law]:
    found = []
    for dependency, formula in (
        ("step", "K (L + d/f)"),
        ("slice", "K d/f + 2 L, for L <= (1 - 2/N)(d/f - d)"),
    ):
        slow = _RING.with_(message_bytes=MIB, slow_nodes={2: 0.5}, dependency=dependency)
        steps, latency, d = 2 * (slow.nodes - 1), slow.cluster_for_message.latency_ps, 2 * _service(slow)
        by_hand = steps * (latency + d) if dependency == "step" else steps * d + 2 * latency
        name = "blocking" if dependency == "step" else "pipelined"
        found.append(
            Law(
                f"one slow node, {name} ring",
                formula,
                "8 nodes, 1 MiB, one at 50 %",
                by_hand,
                simulate(slow).time_ps,
                _time,
            )
        )
    return found


def _light_cone() -> list[Law]:
    first, second = 400.0, 300.0
    latency = (_RING.cluster_for_message.latency_ps or 0) / 1e6
    blocking, pipelined = (
        "D1 + D2 where i1 and i2 are k2 - k1 apart or less",
        "D1 + D2 - L (k2 - k1 - m) for the largest m = i2 - i1 (mod N) <= k2 - k1",
    )
    cases = (
        ("blocking", BLOCKING, blocking, (4, 1), "two nodes upstream, two steps later", first + second),
        ("blocking", BLOCKING, "max(D1, D2) else", (2, 5), "in the same step", first),
        ("pipelined", PIPELINED, pipelined, (5, 3), "at the same node, three steps later", first + second - 3 * latency),
        ("pipelined", PIPELINED, "max(D1, D2) else", (4, 1), "two nodes upstream, two steps later", first),
    )  # fmt: skip
    return [
        Law(
            f"two delays, {name} ring: how much later it ends", formula, f"8 nodes, 400 µs and 300 µs, {where}",
            1e6 * by_hand, 1e6 * later_us({(2, 3): first, place: second}, dependency, _RING), _time,
        )
        for name, dependency, formula, place, where, by_hand in cases
    ]  # fmt: skip


def _jitter() -> Law:
    runs = many_runs(_RING.with_(jitter=0.05, dependency="step"), 1000)
    d, steps = _service(_RING), 2 * (_RING.nodes - 1)
    by_hand = 1 + _BLOCKING_8 * 0.05 * d * steps / runs.quiet_ps
    return Law(
        "jitter, blocking ring: mean time over q", "1 + 1.039 s K d / q (N = 8)", "8 nodes, 64 MiB, jitter 5 %",
        by_hand, runs.mean_ps / runs.quiet_ps, _times, tolerance=5e-3,
    )  # fmt: skip


def _jitter_of_64() -> Law:
    """Return what jitter adds to a blocking ring of 64, in sigmas of a transfer (145.3 simulated elsewhere, as the growth of a ring of 8)."""
    noisy = _RING.with_(nodes=64, message_bytes=64 * 125_000, jitter=0.02, dependency="step")
    return Law(
        "jitter, blocking ring: what it adds", "145.3 s d (N = 64)", "64 nodes, 8 MB, jitter 2 %",
        145.3 * 0.02 * _service(noisy), _added_ps(noisy, 400), _time, tolerance=1e-2,
    )  # fmt: skip


def _without_latency() -> list[Law]:
    """Return what jitter adds to rings that have no latency: to a pipelined one of 64, and to each step of both kinds of 256."""
    plain = _RING.with_(cluster=load_cluster("ideal-100g").with_figure("fabric.latency", 0), jitter=_FAINT)
    ring, large = (plain.with_(nodes=n, message_bytes=n * 125_000) for n in (64, 256))
    laws = [
        Law(
            "jitter, pipelined ring without latency: what it adds", "112.9 s d (N = 64)", "64 nodes, 8 MB, jitter 0.5 %",
            112.9 * _FAINT * _service(ring), _added_ps(ring.with_(dependency="slice"), 400), _time, tolerance=1e-2,
        )
    ]  # fmt: skip
    for dependency, name, growth in (("slice", "pipelined", 0.869), ("step", "blocking", 1.139)):
        asked = large.with_(dependency=dependency)
        whole, half = (
            _added_ps(asked.with_(collective=collective), 200)
            for collective in ("allreduce", "reduce-scatter")
        )
        laws.append(
            Law(
                f"jitter, {name} ring without latency: what a step adds", f"{growth} s d (N = 256)", "256 nodes, 32 MB, jitter 0.5 %",
                growth * _FAINT * _service(large), (whole - half) / (large.nodes - 1), _time, tolerance=1.5e-2,
            )
        )  # fmt: skip
    return laws


def _other_algorithms() -> list[Law]:
    """Return what jitter adds to algorithms of few steps; by hand: recursions of some thousand draws, as of a ring."""
    faint = _RING.with_(nodes=64, message_bytes=64 * 125_000, jitter=0.02)
    whole_ps = 64 * _service(faint)  # a transfer has the whole message
    rows = (
        ("recursive-doubling", "slice", "7.93 s d (N = 64)", 7.93, 0.05),
        ("recursive-doubling", "step", "9.57 s d (N = 64)", 9.57, 0.05),
        ("binary-tree", "slice", "-4.3 s d (N = 64)", -4.31, 0.15),
    )
    names = {"slice": "whole messages", "step": "whole messages, blocking"}
    return [
        Law(
            f"jitter, {algorithm}, {names[dependency]}: what it adds", formula, "64 nodes, 8 MB, jitter 2 %",
            growth * 0.02 * whole_ps, _added_ps(faint.with_(algorithm=algorithm, dependency=dependency), 60), _time, tolerance=tolerance,
        )
        for algorithm, dependency, formula, growth, tolerance in rows
    ]  # fmt: skip


def _added_ps(noisy: Scenario, seeds: int) -> float:
    """Return what noise adds in the mean of so many seeds."""
    runs = many_runs(noisy, seeds)
    return runs.mean_ps - runs.quiet_ps


def _absorbed() -> Law:
    """Return what is left of jitter in a pipelined ring whose latency is long against it."""
    noisy = _RING.with_(nodes=32, message_bytes=32 * 125_000, jitter=0.05, dependency="slice")
    steps = 2 * (noisy.nodes - 1)
    return Law(
        "jitter, pipelined ring: what it adds", "s d sqrt(K) e_N, for L >= s d sqrt(K)", "32 nodes, 4 MB, jitter 5 %: L = 10 s d",
        0.05 * _service(noisy) * steps**0.5 * _LARGEST_OF_32, _added_ps(noisy, 2000), _time, tolerance=2e-2,
    )  # fmt: skip


def _absorbed_by_256() -> Law:
    """Return what is left in a ring of 256 with a latency of eight sigmas of a transfer."""
    noisy = _RING.with_(nodes=256, message_bytes=256 * 125_000, jitter=0.0625, dependency="slice")
    return Law(
        "jitter, pipelined ring: what it adds", "84.8 s d (N = 256)", "256 nodes, 32 MB, jitter 6.25 %: L = 8 s d",
        84.8 * 0.0625 * _service(noisy), _added_ps(noisy, 200), _time, tolerance=2e-2,
    )  # fmt: skip


def _spread() -> Law:
    runs = many_runs(_RING.with_(spread=0.1, dependency="step", message_bytes="1 GiB"), 1000)
    return Law(
        "spread of nodes: mean time over q", "e^(s e_N)", "8 nodes, 1 GiB, spread 10 %",
        exp(0.1 * _LARGEST_OF_8), runs.mean_ps / runs.quiet_ps, _times, tolerance=1e-2,
    )  # fmt: skip


def _detours() -> list[Law]:
    rare = {"detours": 7e-4, "detour_us": 100.0, "detour_tail": 1.5}
    runs = many_runs(_RING.with_(message_bytes="64 KiB", dependency="step", **rare), 4000)
    transfers = 8 * 14 * 7e-4
    share = sum(time_ps > runs.quiet_ps for time_ps in runs.ordered_ps) / len(runs.ordered_ps)
    return [
        Law(
            "rare detours: share of runs that one holds up", "1 - e^(-N K p), for N K p <= 0.1", "8 nodes, 64 KiB, p = 7e-4",
            1 - exp(-transfers), share, _times, tolerance=0.15,
        )
    ]  # fmt: skip
