"""What a simulation is made of is made once and passed on: its plan, its system, and whether one node stands for all."""

import sys
from collections import Counter
from pathlib import Path

import pytest

import peerlab
from peerlab.engine.noise_draws import pauses_of
from peerlab.engine.simulate import simulate

PACKAGE = Path(peerlab.__file__).parent
STORY = ("engine/", "collectives/choose", "answer/")
"""The modules that hand a question on; model and schedules answer them what they ask."""
TAKES_OVER = {"by_loop", "by_arrays", "by_compiled", "by_referee"}
"""Where an engine begins."""
MOST_STAYS = 30
SCENARIOS = {
    "the default": {},
    "registering": {"path": "peer-direct"},
    "cold": {"path": "peer-direct", "iterations": 1},
    "one slow node": {"slow_nodes": {1: 0.5}},
    "on arrays": {"cluster": "p5", "path": "peer-direct", "jitter": 0.1, "nodes": 2, "library": "none"},
    "a library that chooses": {"cluster": "p4d", "nodes": 4},
    "an all-to-all": {"collective": "alltoall"},
}


def walk(scenario, **asked):
    """Return how often each function is called while a scenario is simulated, and the modules that one stays in before an engine takes over."""
    calls, stays, inside, over = Counter(), [], [], []

    def see(frame, event, _):
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(str(PACKAGE)):
            return
        module = Path(code.co_filename).relative_to(PACKAGE).with_suffix("").as_posix()
        if event == "call":
            calls[f"{module}:{code.co_qualname}"] += 1
            over.extend([True] * (code.co_name in TAKES_OVER))
        if over or not module.startswith(STORY):
            return
        if event == "call":
            inside.append(module)
        else:
            inside.pop()
        if inside and (not stays or stays[-1] != inside[-1]):
            stays.append(inside[-1])

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        simulate(scenario, **asked)
    finally:
        sys.setprofile(before)
    return calls, without_loops(stays)


def without_loops(stays):
    """Return stays of which a loop's turns, each the same as the one before it, count as one turn."""
    told = []
    for stay in stays:
        told.append(stay)
        for turn in range(1, len(told) // 2 + 1):
            if told[-turn:] == told[-2 * turn : -turn]:
                del told[-turn:]
                break
    return told


def test_turns_of_a_loop_count_as_one():
    assert without_loops("abababac") == list("abac")
    assert without_loops("abcabcab") == list("abcab")
    assert without_loops("abcd") == list("abcd")


@pytest.mark.sample(3)
@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("fields", SCENARIOS.values(), ids=SCENARIOS)
def test_plan_and_system_are_made_once_and_the_way_to_the_engine_is_short(fields):
    calls, stays = walk(peerlab.Scenario(message_bytes="1 MiB", **fields))
    assert calls["collectives/choose:plan"] == 1
    assert calls["engine/system:_alike"] <= 2  # a folded system makes sure that it may be one
    assert calls["question/node_exchange:node_exchange"] <= 1
    assert calls["engine/system:System.__post_init__"] == 1
    assert 3 < len(stays) <= MOST_STAYS, stays


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("engine", ["referee", "loop", "auto"])
def test_every_node_is_simulated_of_one_plan(engine):
    scenario = peerlab.Scenario(nodes=2, message_bytes="64 KiB")
    calls, _ = walk(scenario, engine=engine, every_node=True)
    assert calls["collectives/choose:plan"] == calls["engine/system:System.__post_init__"] == 1


@pytest.mark.usefixtures("anew")
def test_pauses_of_nodes_are_made_once_for_all_visits():
    pauses_of.cache_clear()
    calls, _ = walk(peerlab.Scenario(nodes=2, message_bytes="64 KiB", ticks=100), engine="loop")
    assert calls["engine/pipeline:Pipeline._pauses"] > calls["engine/noise_draws:pauses_of"] == 1


@pytest.mark.usefixtures("anew")
def test_slices_that_no_rare_delay_meets_share_their_legs():
    """Each of the hundred thousand slices of a run had legs of its own, though a delay meets one in a thousand."""
    scenario = peerlab.Scenario(
        cluster="p4d", nodes=2, path="peer-direct", message_bytes="32 MiB", detours=0.001, spread=0.1
    )
    calls, _ = walk(scenario, engine="loop")
    assert calls["engine/pipeline:Pipeline._legs"] < calls["engine/pipeline:Pipeline.legs"] / 5
