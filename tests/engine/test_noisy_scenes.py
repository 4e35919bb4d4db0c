"""Engines are equal under all kinds of noise: `make soak` draws a thousand scenes, `make test` a few of them."""

from collections import Counter

from drawing import SOAK
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from noise_scenes import noises

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.engine.arrays.many_seeds import side_by_side, times_of_seeds
from peerlab.engine.arrays.ring_arrays import refuses
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.engine.compiled import refusals as compiled
from peerlab.engine.system import System, least

SCENES = 1000 if SOAK else 10
CLUSTERS = ("ideal-100g", "ideal-100g", "ideal-100g-staged", "dl1", "p4d", "p5", "alps-gh200", "juliet")
MOST = 1500
"""Slices of a scene: the referee takes some 50 us for each stage of one."""
COMPARED = Counter()
"""How many scenes each engine was compared with the referee on."""


@st.composite
def scenes(draw):
    """Draw a question with one kind of noise at least, on bare rings and on staged paths, with slow parts now and then."""
    cluster = draw(st.sampled_from(CLUSTERS))
    nodes = draw(st.integers(2, 8))
    fields = {
        "cluster": cluster,
        "path": draw(st.sampled_from(peerlab.load_cluster(cluster).paths)),
        "nodes": nodes,
        "collective": draw(
            st.sampled_from(["allreduce", "allreduce", "allgather", "reduce-scatter", "alltoall"])
        ),
        "message_bytes": draw(st.sampled_from([1000, 65536, 10**6 + 3, 2**22 + 5])),
        "slice_bytes": draw(st.sampled_from(["auto", None, 50_000])),
        "window": draw(st.sampled_from([None, 1, 2, 16])),
        "dependency": draw(st.sampled_from(["auto", "slice", "step"])),
        "registration": draw(st.sampled_from(["cached", "cached", "per-transfer", "pool"])),
        "library": draw(st.sampled_from([None, "none"])),
        **draw(noises().filter(bool)),
    }
    if draw(st.integers(0, 3)) == 0:
        fields["slow_nodes"] = {draw(st.integers(0, nodes - 1)): draw(st.sampled_from([0.5, 0.9]))}
    if fields["collective"] == "allreduce" and fields["library"] == "none":
        fields["algorithm"] = draw(st.sampled_from(["auto", "auto", "binary-tree", "halving-doubling"]))
    try:
        system = System(peerlab.Scenario(**fields), folded=False)
    except ScenarioError:  # a path or an algorithm that this machine or number of nodes cannot have
        assume(False)
    assume(len(system.lanes) * system.pieces * max(1, system.plan.schedule.steps) < MOST)
    return system.scenario


def rows(run):
    """Return every span and every request for memory, with the resource that served it."""
    names = [(one.kind, one.node, one.index) for one in run.trace.resources]
    found = [run.time_ps]
    for columns, served in (
        (run.recording.unrolled, "resource"),
        (run.recording.unrolled_registrations, "nic"),
    ):
        table = zip(*(columns[name].tolist() for name in columns if name != served), strict=True)
        found.append(sorted(zip(table, (names[index] for index in columns[served]), strict=True)))
    return found


@settings(max_examples=SCENES)
@given(scenes())
def test_every_engine_is_the_referee_under_all_kinds_of_noise(scenario):
    referee = rows(peerlab.simulate(scenario, engine="referee", every_node=True))
    engines = ["loop"]
    engines += [] if refuses(least(scenario)) else ["arrays"]
    engines += ["compiled"] if compiled.installed() and not compiled.refuses(least(scenario)) else []
    for engine in engines:
        try:
            assert rows(peerlab.simulate(scenario, engine=engine, every_node=True)) == referee, engine
        except OrderUnknownError:  # known only when it has run: no answer, so no wrong one
            COMPARED[f"{engine}: order unknown"] += 1
        else:
            COMPARED[engine] += 1
    if side_by_side(scenario):
        assert times_of_seeds(scenario, range(scenario.seed, scenario.seed + 1)) == [referee[0]]
        COMPARED["side by side"] += 1
    COMPARED["scenes"] += 1
