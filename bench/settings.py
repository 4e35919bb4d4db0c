"""How long an answer takes for what the explorer's controls can reach: 500 settings drawn at random, with a seed."""

import random
import time

from side_by_side import quantile, say, table

import peerlab
from peerlab.app.controls import NODES, SIZES
from peerlab.engine.system import foldable
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario

SETTINGS = 500
FOLDED = ("allreduce", "allgather", "reduce-scatter")
REGISTRATIONS = ("cached", "per-transfer", "pool")
SLOWEST = 8
Taken = tuple[float, float, Scenario]
"""CPU seconds of the simulation, with all its figures, and of what."""


def section() -> str:
    """Measure the settings."""
    draw = random.Random(500)  # noqa: S311  (settings, not secrets)
    peerlab.simulate(Scenario()).breakdown()  # loads what is loaded once
    taken = [answer(setting(draw)) for _ in range(SETTINGS)]
    machines = [one for one in taken if one[2].path != "wire"]
    rows = [
        spread("the simulation", [one[0] for one in taken], "p95 under 50 ms"),
        spread(f"the {len(machines)} that are not on a bare fabric", [one[0] for one in machines], ""),
        spread(
            "the simulation with every figure of its run, the critical path included",
            [one[1] for one in taken],
            "",
        ),
    ]
    slow = sorted(taken, key=lambda one: -one[0])[:SLOWEST]
    late = sum(one[0] > 0.05 for one in taken)
    return f"""## What the controls can reach

{SETTINGS} settings at random: any known cluster on which all nodes do the same (a contended fabric is simulated node by node, which
takes longer), a path of it, registration, operation, 2 to 1024 nodes and 64 KiB to 1 GiB, half of them where the sliders stop and
half typed. {late} took longer than 50 ms.

{table(("an answer to a setting", "median", "p95", "slowest", "wanted"), rows)}

The slowest:

{table(("simulation", "with figures", "setting"), [(say(a), say(b), f"`{s.as_code()}`") for a, b, s in slow])}
"""


def setting(draw: random.Random) -> Scenario:
    """Return a scenario that the controls reach and that folds."""
    while not foldable(found := any_setting(draw)):
        pass
    return found


def any_setting(draw: random.Random) -> Scenario:
    """Return a scenario that the controls reach."""
    cluster = draw.choice(known_clusters())
    typed = draw.random() < 0.5
    return Scenario(
        cluster=cluster,
        path=draw.choice(load_cluster(cluster).paths),
        registration=draw.choice(REGISTRATIONS),
        collective=draw.choice(FOLDED),
        nodes=draw.randint(2, max(NODES)) if typed else draw.choice(NODES),
        message_bytes=round(min(SIZES) * (max(SIZES) / min(SIZES)) ** draw.random())
        if typed
        else draw.choice(SIZES),
    )


def answer(scenario: Scenario) -> Taken:
    """Simulate, then draw every figure."""
    begin = time.process_time()
    run = peerlab.simulate(scenario)
    simulated = time.process_time() - begin
    run.as_dict()
    run.breakdown()
    return simulated, time.process_time() - begin, scenario


def spread(what: str, taken: list[float], wanted: str) -> tuple[str, ...]:
    """Return a row about seconds."""
    return what, say(quantile(taken, 0.5)), say(quantile(taken, 0.95)), say(max(taken)), wanted
