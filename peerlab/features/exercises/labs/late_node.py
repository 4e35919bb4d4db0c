"""Exercises of lab 11: what noise costs a ring, what a ring forgives, and how a slow node is found."""

from collections.abc import Mapping
from functools import cache
from math import ceil, log2
from typing import Any

import peerlab
from peerlab.base.data_frames import pd
from peerlab.engine.arrays.many_seeds import times_of_seeds
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Bound, Choice, Mistake, Number
from peerlab.features.exercises.labs.held_up_transfers import BLOCKING, PIPELINED, RING, later_us
from peerlab.features.exercises.labs.search_game import NODES, NOISE, SEARCH, SHARE, SearchGame
from peerlab.features.exercises.labs.unseen import unseen_suspect
from peerlab.model.noise import assumed_noise
from peerlab.question.scenario import Scenario

MANY = RING.with_(nodes=64, dependency=BLOCKING)
RUNS = 1000
_JITTER, _SPREAD, _DETOURS = (assumed_noise()[kind].amount for kind in ("jitter", "spread", "detours"))
_EVERY, _NODES, _RARE, _ALWAYS = (
    f"each transfer varies by {100 * _JITTER:.0f} %",
    f"nodes differ by {100 * _SPREAD:.0f} % from each other, other ones every day",
    f"one slice in {1 / _DETOURS:,.0f} is held up, by 0.1 ms or longer",
    f"one node has {100 * SHARE:.0f} % of its rate, every day",
)
_WORLDS: Mapping[str, dict[str, Any]] = {
    _EVERY: {"jitter": _JITTER}, _NODES: {"spread": _SPREAD}, _RARE: {"detours": _DETOURS}, _ALWAYS: {"slow_nodes": {3: SHARE}},
}  # fmt: skip
"""What may disturb 64 nodes, with the fields of a scenario; amounts are those of data/noise.toml."""


@cache
def times_ps(world: str) -> tuple[int, ...]:
    """Return the times of a thousand runs of 64 nodes, ascending, picoseconds."""
    asked = MANY.with_(**_WORLDS[world])
    return (
        tuple(sorted(times_of_seeds(asked, range(RUNS))))
        if asked.noise
        else (simulate(asked).time_ps,) * RUNS
    )


def _rank(world: str, per_cent: int) -> int:
    return times_ps(world)[RUNS * per_cent // 100 - 1]


def beyond_median(world: str) -> float:
    """Return by how many per cent the p99 of 64 nodes lies above their median."""
    return 100 * (_rank(world, 99) / _rank(world, 50) - 1)


def worlds() -> pd.DataFrame:
    """Return for each kind of disturbance by how many per cent median and p99 of 64 nodes are above a quiet run, and p99 above the median."""
    quiet = simulate(MANY).time_ps
    rows = {
        world: {
            "median, % above quiet": 100 * (_rank(world, 50) / quiet - 1),
            "p99, % above quiet": 100 * (_rank(world, 99) / quiet - 1),
            "p99, % above the median": beyond_median(world),
        }
        for world in _WORLDS
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("what disturbs")


def mean_more(dependency: str, scenario: Scenario = MANY) -> float:
    """Return by how many per cent 64 nodes take longer with the jitter of the lab, in the mean of a hundred runs."""
    asked = scenario.with_(dependency=dependency)
    times = times_of_seeds(asked.with_(jitter=_JITTER), range(100))
    return 100 * (sum(times) / len(times) / simulate(asked).time_ps - 1)


def slow_more(dependency: str) -> float:
    """Return by how many per cent 64 nodes take longer if one has 80 % of its rate."""
    asked = MANY.with_(dependency=dependency)
    return 100 * (simulate(asked.with_(slow_nodes={3: SHARE})).time_ps / simulate(asked).time_ps - 1)


def forgiven() -> pd.DataFrame:
    """Return by how many per cent either ring of 64 nodes takes longer, with jitter and with a node that is slow all the time."""
    rows = {
        says: {"blocking, % longer": more(BLOCKING), "slice by slice, % longer": more(PIPELINED)}
        for says, more in ((_EVERY, mean_more), (_ALWAYS, slow_more))
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("what disturbs")


def one_held_up_ms(milliseconds: float = 1.0) -> float:
    """Return how much later a blocking ring of 64 nodes ends, milliseconds, in which one transfer is held up for so long."""
    return later_us({(7, 3): 1e3 * milliseconds}, BLOCKING, MANY) / 1e3


def fewest_runs(nodes: int = NODES) -> float:
    """Return how many runs tell one of so many nodes at least, in the mean: each answers yes or no."""
    return log2(nodes)


def suspected(game: SearchGame) -> pd.DataFrame:
    """Return what `peerlab.suspects` says of the runs of a game: the likeliest suspects first, per cent."""
    names = [f"node {number}" for number in range(NODES)]
    runs = [(tuple(names[node] for node in some), took) for some, took in game.runs]
    likely = peerlab.suspects(runs, hosts=names, sigma=NOISE, expected_s=1.0).suspects[:NODES]
    return pd.DataFrame(
        {"probability, %": {suspect.in_words: 100 * suspect.probability for suspect in likely}}
    ).rename_axis("suspect")


_FIRST, _SECOND = ((2, 3), 400.0), ((4, 5), 300.0)
"""Step and sending node of two transfers, and by how many microseconds each is held up."""


def _two(dependency: str) -> float:
    return later_us(dict((_FIRST, _SECOND)), dependency)


def _service_us() -> float:
    return 1e6 * RING.nbytes / RING.nodes / (RING.hardware.nic_Bps or 1)


_BEGAN_MS = {0: 0.4, 1: 0.0, 2: 0.7, 3: 0.2, 4: 0.1, 5: 3.9, 6: 0.5, 7: 0.3}
"""When each rank began, beyond the first; milliseconds. No rank knows it of another."""
LASTS_MS = {rank: 12.0 - began for rank, began in _BEGAN_MS.items()}
"""What each rank measured of the same AllReduce: it ends together everywhere."""


def _lateness_ms() -> float:
    return max(LASTS_MS.values()) - min(LASTS_MS.values())


def lasted() -> pd.DataFrame:
    """Return how long each rank says that the same AllReduce took, milliseconds."""
    return pd.DataFrame({f"rank {rank}": {"took, ms": lasts} for rank, lasts in LASTS_MS.items()})


_SUSPECTS = ((3,), (4,), (3, 4), (4, 3))
"""A pair was slow: its two nodes, and the ways from one to the other."""
_TRIED: Mapping[str, tuple[tuple[int, ...], ...]] = {
    "3 and 4 once more": ((3, 4),),
    "3 with 5, and 4 with 6": ((3, 5), (4, 6)),
    "0 with 1": ((0, 1),),
    "3, 4 and 5 together": ((3, 4, 5),),
}  # fmt: skip


def _told_apart(runs: tuple[tuple[int, ...], ...]) -> int:
    """Return how many kinds of suspects some runs tell apart: each is slow in other ones of them."""

    def slow(suspect: tuple[int, ...], run: tuple[int, ...]) -> bool:
        ways = set(zip(run, (*run[1:], run[0]), strict=True))
        return suspect in ways if len(suspect) > 1 else suspect[0] in run

    return len({tuple(slow(suspect, run) for run in runs) for suspect in _SUSPECTS})


SEARCHED, BIT_OF_A_RUN = 64, 0.52
"""Nodes to search among, and what a run tells where a fault is 2.1 times the noise, in bits."""


def _runs(nodes: int = SEARCHED, bits: float = BIT_OF_A_RUN) -> float:
    """Return how many runs tell one of so many nodes, or none of them, at least."""
    return log2(2 * nodes) / bits


EXERCISES = (
    Choice(
        name="11-tail",
        question=f"The same AllReduce runs every day on {MANY.nodes} nodes, a blocking ring. Four things may disturb it. With which of them does p99 lie furthest above the median?",
        options={
            _EVERY: f"All runs are longer then, and all about equally so: {2 * (MANY.nodes - 1)} steps average it out.",
            _NODES: "",
            _RARE: "That makes a tail, too. But most of its long delays are short beside a whole run. How slow is the slowest of 64 nodes on a bad day?",
            _ALWAYS: "Then each run is as long as the other: slow, and without a tail.",
        },
        called={_EVERY: ("jitter",), _NODES: ("spread", "nodes differ"), _RARE: ("detours", "rare"), _ALWAYS: ("slow node", "one node")},
        truth=lambda: max(_WORLDS, key=beyond_median),
        hints=(
            "What differs from step to step averages out over many steps. What lasts for a whole run does not.",
            "A ring is as slow as its slowest node. On which days is that node slower than on others?",
        ),
        why="What lasts for a run decides it: the ring is as slow as its slowest node of that day. Noise of single transfers moves all runs alike.",
        solution=f'"{_NODES}"',
    ),
    Number(
        name="11-forgives",
        question=(
            f"Eight nodes, {_service_us():.0f} µs a transfer. In step 2 node 3 is held up for {_FIRST[1]:.0f} µs. In step 4 node 5, two places further on, is held up for {_SECOND[1]:.0f} µs. "
            f"A blocking ring ends {_two(BLOCKING):.0f} µs later. How much later does a ring end that passes on slice by slice, eight slices a transfer?"
        ),
        unit="µs",
        truth=lambda: _two(PIPELINED),
        mistakes=(
            Mistake(lambda: _two(BLOCKING), "So it is if everybody waits. When does node 5 need the first slice that comes late, and what does its NIC do until then?"),
            Mistake(lambda: _SECOND[1], "That is the shorter one. Does any NIC make good for what the other one has lost?"),
            Mistake(lambda: 0.0, "Some NIC has stood still for a while. Each sends all the time, so none makes good for that."),
            Mistake(lambda: _FIRST[1] - _SECOND[1], "They do not make up for one another. Which NIC is behind, and by how much?"),
            Mistake(lambda: _two(BLOCKING) / 2, "That is their mean. Which NIC is through last?"),
            Mistake(lambda: _two(BLOCKING) / RING.nodes, "A ring does not share a delay out. The slowest NIC decides."),
        ),
        bounds=(Bound(lambda: _two(BLOCKING), "That is longer than both delays together.", above=True),),
        hints=(
            "A node gets the first slice early: its NIC is still busy with the chunk before. How much time is left until it needs that slice?",
            f"About seven eighths of {_service_us():.0f} µs are left. A delay that is shorter reaches no other NIC. So which NIC is through last?",
        ),
        why="Each NIC lost only its own delay. What comes late is needed later still, so the longer delay decides.",
        solution=f"{_FIRST[1]:.0f}",
    ),
    SEARCH,
    Choice(
        name="11-pair",
        further=True,
        question="Nodes 3 and 4 were slow together, and all others are fast. Which run tells most next?",
        options={
            "3 and 4 once more": "That tells whether it was chance, and nothing else.",
            "3 with 5, and 4 with 6": "",
            "0 with 1": "Neither of the suspects takes part.",
            "3, 4 and 5 together": "Node 3, node 4 and the way from one to the other are slow in it alike.",
        },
        truth=lambda: max(_TRIED, key=lambda option: _told_apart(_TRIED[option])),
        called={"3 with 5, and 4 with 6": ("3 with 5", "other partners")},
        hints=(
            "Node 3, node 4, or the way between them: which result would each of them give?",
            "Each of the two needs another partner, one that is known to be fast.",
        ),
        why="If one of them is slow with another partner, it is that node. If neither is, it is the way between them: a port, a cable.",
        solution='"3 with 5, and 4 with 6"',
    ),
    Number(
        name="11-shortest",
        further=True,
        question="The table has how long each rank says that the same AllReduce took. How many milliseconds after the first rank did the last one begin?",
        unit="ms",
        truth=_lateness_ms,
        mistakes=(
            Mistake(lambda: min(LASTS_MS.values()), "That is how long the last one took. How much earlier did the first one begin, if all end together?"),
            Mistake(lambda: max(LASTS_MS.values()), "That is the rank that waited longest. It began first."),
            Mistake(lambda: sorted(LASTS_MS.values())[1] - min(LASTS_MS.values()), "That is what all would win if it began with the last but one. Asked is how late it was."),
        ),
        bounds=(Bound(lambda: max(LASTS_MS.values()), "Nobody can be later than the whole took.", above=True),),
        hints=(
            "An AllReduce ends nearly together everywhere. So who took longest began first.",
            "Subtract the shortest time from the longest one.",
        ),
        why="It ends together, so a rank's time holds its wait for the last one. Who took shortest waited for nobody. No common clock is needed.",
        solution="max(late_node.LASTS_MS.values()) - min(late_node.LASTS_MS.values())",
    ),
    Number(
        name="11-runs",
        further=True,
        question=f"One of {SEARCHED} nodes may be slow; with a probability of one half none is. The fault is about twice the noise of a run, so a run tells at most {BIT_OF_A_RUN} bits. How many runs are needed at least to name a slow node?",
        unit="runs",
        tolerance=0.06,
        truth=_runs,
        mistakes=(
            Mistake(lambda: _runs(bits=1), "So it is without noise, where a run tells a whole bit."),
            Mistake(lambda: 6.0, "That is log2(64), without noise and where one is slow for sure. Here none is slow with a probability of one half."),
            Mistake(lambda: _runs(SEARCHED // 2), "That takes 64 answers as equally likely. With a probability of one half no node is slow: how likely is each node?"),
            Mistake(lambda: 64.0, "That is one run for each node. Half of them can run together."),
            Mistake(lambda: _runs(bits=1) * BIT_OF_A_RUN, "Divide: each run tells less than a bit, so more of them are needed."),
        ),
        hints=(
            "Before any run nothing is slow with a probability of one half, and each node with an equal part of the other half.",
            "That are log2(2 x 64) bits. How often does 0.52 go into them?",
        ),
        why=f"That makes {ceil(_runs())}; say so beforehand. Longer runs are less noisy: four times as many iterations halve the noise.",
        solution="7 / 0.52",
    ),
)  # fmt: skip
TRANSFER = unseen_suspect.TRANSFER
