"""An exchange that nodes begin apart: what must hold of it as an operator on begins, and the loop against the referee, span by span."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from noise_scenes import noises

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.base.places import folder
from peerlab.engine.arrays.lanes_apart import LanesApart
from peerlab.engine.arrays.ring_arrays import refuses
from peerlab.engine.arrays.service_order import OrderUnknownError
from peerlab.engine.arrays.service_times import kinds_of_lanes, spread
from peerlab.engine.begins import Begins
from peerlab.engine.compiled import refusals
from peerlab.engine.exchange_apart import by_arrays, by_compiled, by_compiled_ring, by_loop, refuses_together
from peerlab.engine.loop.loop_resources import BEGUN
from peerlab.engine.loop.nodes_apart import NodesApart
from peerlab.engine.loop.windows import Windows
from peerlab.engine.referee.apart import by_referee
from peerlab.engine.registration_queue import RegistrationQueue
from peerlab.engine.system import System, least
from peerlab.question.presets import read_cluster

LATENCY = 5_000_000
COUNT = 'unit = "1", basis = "per leaf", source = "test" }'
LEAVES = [
    read_cluster(
        (folder("data") / "hardware" / f"{name}.toml")
        .read_text()
        .replace(
            "[fabric]",
            "[fabric]\nhosts_per_leaf = { value = 2, " + COUNT + "\noversubscription = { value = 2, " + COUNT,
        ),
        f"{name}-leaves",
    )
    for name in ("ideal-100g", "dl1")
]
"""Machines whose nodes share links."""
ENGINES = {"loop": by_loop, "referee": by_referee, "arrays": by_arrays, "compiled": by_compiled_ring}


def ended(engine, scenario, at, opens=None, held=(), *, warm=False):
    system = least(scenario).of_every_node()
    queue = RegistrationQueue(system, warm=warm)
    queue.begin(0)
    return ENGINES[engine](system, queue, Begins(tuple(at), tuple(opens or at), held))


def ideal(nodes, dependency="slice", **more):
    """Make a ring of one slice a transfer: 10 us of service, 5 us of latency."""
    return peerlab.Scenario(
        cluster="ideal-100g", nodes=nodes, message_bytes=nodes * 125_000, slice_bytes=None, dependency=dependency, **more
    )  # fmt: skip


def begins_of(nodes):
    """Draw when nodes begin: some together, the first of them at 0."""
    times = st.lists(st.integers(0, 90), min_size=nodes, max_size=nodes)
    return times.map(lambda found: [(one - min(found)) * 1_000_000 for one in found])


@given(
    st.sampled_from(["loop", "referee", "arrays"]),
    st.integers(2, 7).flatmap(lambda n: st.tuples(st.just(n), begins_of(n))),
)
def test_on_equal_nodes_the_ends_are_closed_forms_of_the_begins(engine, asked):
    nodes, b = asked
    q = peerlab.simulate(ideal(nodes)).time_ps

    def after(first, second):
        """Return when node r is done: in the pipeline a late node s delays r by L less for each node between."""
        back = [
            [min((s - k - r) % nodes for k in (first, second)) for s in range(nodes)] for r in range(nodes)
        ]
        return tuple(max(b[s] + q - LATENCY * back[r][s] for s in range(nodes)) for r in range(nodes))

    assert ended(engine, ideal(nodes), b).done == after(2, 3)
    assert ended(engine, ideal(nodes), b, [0] * nodes).done == after(2, 2)
    blocking = ideal(nodes, "step")
    assert set(ended(engine, blocking, b).done) == {max(b) + peerlab.simulate(blocking).time_ps}


def test_the_row_by_hand():
    """Buckets of section C: N = 3, d = 2, L = 1, in units of 5 us; the second begins when its node is ready and done."""
    asked, unit = ideal(3), LATENCY
    first = ended("loop", asked, [0, 0, 3 * unit])
    assert [t / unit + 10 for t in first.done] == [25, 24, 25]
    assert ended("referee", asked, [0, 0, 3 * unit]).done == first.done
    second = ended("loop", asked, [unit, 0, unit], held=first.held)
    assert [t / unit + 24 for t in second.done] == [37, 37, 37]
    slowed = ended("loop", asked, [0, 0, 2 * unit])
    assert [t / unit + 26 for t in slowed.done] == [40, 39, 40]


@pytest.mark.parametrize("engine", ["referee", "arrays", "compiled"])
@pytest.mark.parametrize(("late_us", "message_bytes"), [(30, 1000), (153, 4), (153, 65536)])
def test_what_comes_to_a_node_before_it_begins_is_handed_out_before_its_own(engine, late_us, message_bytes):
    """Engines took a node's own slices for the first that its scale-up links hand out."""
    asked = peerlab.Scenario(
        cluster="dl1", nodes=3, path="peer-direct", library="none", collective="allgather", message_bytes=message_bytes
    )  # fmt: skip
    at, opens = [0, 0, late_us * 1_000_000], [0, 0, 0]
    assert ended(engine, asked, at, opens, warm=True).done == ended("loop", asked, at, opens, warm=True).done


@st.composite
def scenes(draw):
    """Draw an exchange of a step: paths, algorithms, noise, slow parts, fabrics; small enough for the referee."""
    nodes = draw(st.integers(2, 5))
    fields = {
        "nodes": nodes,
        "message_bytes": draw(st.sampled_from([1000, 65536, 10**6 + 3, 2**21])),
        "slice_bytes": draw(st.sampled_from(["auto", None, 50_000])),
        "window": draw(st.sampled_from([None, 1, 2, 16])),
        "dependency": draw(st.sampled_from(["auto", "slice", "step"])),
        "collective": draw(st.sampled_from(["allreduce", "allreduce", "reduce-scatter", "allgather"])),
        "cluster": draw(st.sampled_from(["ideal-100g", "dl1", "p4d", "g4dn-metal", "juliet", *LEAVES])),
        "library": draw(st.sampled_from([None, "none", "none"])),
    }
    fields["path"] = draw(st.sampled_from(peerlab.Scenario(cluster=fields["cluster"]).hardware.paths))
    fields["registration"] = draw(st.sampled_from(["cached", "cached", "per-transfer"]))
    fields["prefetch"] = draw(st.booleans())
    fields["algorithm"] = draw(
        st.sampled_from(["auto", "ring", "hierarchical", "binary-tree", "halving-doubling"])
    )
    if draw(st.booleans()):
        fields["slow_nodes"] = {draw(st.integers(0, nodes - 1)): draw(st.sampled_from([0.5, 0.9, 0.13]))}
    fields |= draw(noises())
    try:
        scenario = peerlab.Scenario(**fields)
        system = least(scenario).of_every_node()
    except ScenarioError:
        scenario = peerlab.Scenario(
            **{**fields, "algorithm": "auto", "library": "none", "registration": "cached", "prefetch": False}
        )
        system = least(scenario).of_every_node()
    assume(len(system.lanes) * system.pieces * system.plan.schedule.steps < 1000)
    return scenario


def rows(found):
    columns = found.recording.spans
    return sorted(zip(*(columns[name].tolist() for name in columns if name != "resource"), strict=True))


@given(scenes(), st.data())
def test_the_loop_is_the_referee_whoever_begins_when(scenario, data):
    nodes = scenario.nodes
    b = [t // data.draw(st.sampled_from([1, 1000])) for t in data.draw(begins_of(nodes))]
    opens = [t - data.draw(st.integers(0, t)) for t in b] if data.draw(st.booleans()) else b
    loop, referee = (ended(engine, scenario, b, opens) for engine in ("loop", "referee"))
    assert loop.done == referee.done
    assert rows(loop) == rows(referee)


@given(scenes(), st.data())
def test_the_arrays_are_the_loop_whoever_begins_when(scenario, data):
    scenario = scenario.with_(iterations="auto", registration="cached", algorithm="auto", library="none")
    assume(not refuses(least(scenario)))
    b = [t // data.draw(st.sampled_from([1, 1000])) for t in data.draw(begins_of(scenario.nodes))]
    opens = [t - data.draw(st.integers(0, t)) for t in b] if data.draw(st.booleans()) else b
    loop = ended("loop", scenario, b, opens, warm=True)
    after = [t + data.draw(st.integers(0, 1000)) for t in loop.done]
    try:
        arrays = ended("arrays", scenario, b, opens, warm=True)
        assert (arrays.done, arrays.held) == (loop.done, loop.held)
        assert rows(arrays) == rows(loop)
        further = ended("arrays", scenario, after, held=loop.held, warm=True)
        assert further.done == ended("loop", scenario, after, held=loop.held, warm=True).done
    except OrderUnknownError:
        return


@given(scenes(), st.data())
def test_the_compiled_loop_is_the_loop_whoever_begins_when(scenario, data):
    pytest.importorskip("numba")
    more = {"iterations": "auto", "registration": "cached", "algorithm": "auto", "library": "none"}
    scenario = scenario.with_(**more, dependency="slice")
    system = least(scenario).of_every_node()
    assume(refusals.keeps_few(system) and not refusals.refuses(system))
    b = [t // data.draw(st.sampled_from([1, 1000])) for t in data.draw(begins_of(scenario.nodes))]
    opens = [t - data.draw(st.integers(0, t)) for t in b] if data.draw(st.booleans()) else b
    loop, machine = (ended(engine, scenario, b, opens, warm=True) for engine in ("loop", "compiled"))
    assert (machine.done, machine.held) == (loop.done, loop.held)
    assert rows(machine) == rows(loop)
    after = [t + data.draw(st.integers(0, 1000)) for t in loop.done]
    ahead = [t - data.draw(st.integers(0, 10**6)) for t in after]
    further = [ended(engine, scenario, after, ahead, loop.held, warm=True) for engine in ("loop", "compiled")]
    assert (further[0].done, further[0].held) == (further[1].done, further[1].held)
    assert rows(further[0]) == rows(further[1])


@st.composite
def rings(draw):
    """Draw a ring on which nodes differ, and how it is coded."""
    nodes = draw(st.integers(2, 6))
    fields = {
        "dependency": draw(st.sampled_from(["slice", "step"])),
        "window": draw(st.sampled_from([None, 1])),
    }
    fields |= {
        "jitter": draw(st.sampled_from([0, 0.3])),
        "spread": draw(st.sampled_from([0, 0.2])),
        "seed": 3,
    }
    if draw(st.booleans()):
        fields["slow_nodes"] = {draw(st.integers(0, nodes - 1)): 0.4}
    return ideal(nodes, **fields)


@given(st.sampled_from(["loop", "referee", "arrays"]), rings(), st.booleans(), st.data())
def test_an_exchange_is_an_operator_on_begins(engine, scenario, posted, data):
    """Monotone; moved with its begins; of the later of two it is the later; nobody ends before the last has begun."""
    nodes = scenario.nodes

    def e(b):
        return ended(engine, scenario, b, [0] * nodes if posted else b).done

    one, two = (data.draw(begins_of(nodes)) for _ in range(2))
    both = [max(pair) for pair in zip(one, two, strict=True)]
    assert e(both) == tuple(max(pair) for pair in zip(e(one), e(two), strict=True))
    assert all(x <= y for x, y in zip(e(one), e(both), strict=True))
    assert min(e(one)) >= max(one)
    assert max(e(one)) <= max(one) + max(e([0] * nodes))
    if not posted:
        c = data.draw(st.integers(0, 10**9))
        assert e([t + c for t in one]) == tuple(t + c for t in e(one))


@given(st.sampled_from(["slice", "step"]), st.integers(2, 6).flatmap(begins_of))
def test_begins_are_factors_of_the_first_step(dependency, b):
    """A transfer of step 0 that begins at max(b_r, b_r+1) ends as one that takes so much longer."""
    nodes, d = len(b), 10_000_000
    scenario = ideal(nodes, dependency, jitter=0.1)
    longer = np.ones((2 * (nodes - 1), 1, 1, nodes))
    longer[0, 0, 0] = [(d + max(b[r], b[(r + 1) % nodes])) / d for r in range(nodes)]
    with patch.object(System, "factors", longer):
        late = ended("loop", scenario, [0] * nodes).done
    assert max(ended("loop", scenario.with_(jitter=0), b).done) == max(late)


def test_together_they_are_what_a_collective_alone_is():
    for scenario in (
        ideal(4),
        peerlab.Scenario(nodes=3, message_bytes="1 MiB", path="host-rdma", library="none"),
    ):
        alone = peerlab.simulate(scenario, engine="loop", every_node=True)
        assert max(ended("loop", scenario, [0] * scenario.nodes).done) == alone.time_ps


@pytest.mark.parametrize("engine", [one for one in ENGINES if one != "compiled"])
def test_a_window_that_is_held_delays_the_first_slices(engine):
    asked = ideal(3, window=1)
    free = ended(engine, asked, [0, 0, 0]).done
    held = ended(engine, asked, [0, 0, 0], held=((("source", 0, 0), (7_000_000,)),)).done
    assert max(held) == max(free) + 7_000_000


def test_a_begin_comes_last_in_its_instant_and_held_places_are_given_back():
    system = least(ideal(3, window=2)).of_every_node()
    windows, heap = Windows(), []
    held = ((("source", 0, 0), (4, 9)),)
    apart = NodesApart(system, Begins((0, 0, 7), (0, 0, 7), held), windows, heap)
    slice_id = 1  # of lane 1, to node 2
    assert not apart.wait(8, slice_id)
    assert apart.wait(7, slice_id)
    assert apart.wait(0, slice_id)
    apart.come(BEGUN, slice_id)
    assert apart.begin(7) == [(slice_id, False)]
    assert not apart.wait(7, slice_id)  # what comes now has missed nothing
    assert sorted(one[0] for one in heap) == [4, 7, 7, 9]
    assert apart.held_after({0: 4, 1: 0, 2: 0}) == ((("source", 0, 0), (9,)),)


def test_an_array_run_gives_every_lane_the_places_that_it_still_holds():
    system = least(ideal(3, window=2, jitter=0.1)).of_every_node()
    begins = Begins((0, 0, 7), (0, 0, 7), ((("source", 1, 0), (9, 4)),))
    lanes = LanesApart(system, begins)
    assert lanes.gate.tolist() == [0, 7, 7]
    (places,) = lanes.held().values()
    assert [one[0].tolist() for one in places] == [[0, 4, 0], [0, 9, 0]]
    lanes.arrive(np.array([[20, 5, 6]]), np.array([[0, 0, 0]]))
    assert lanes.done(np.zeros(3, np.int64)) == [20, 5, 7]
    assert lanes.held_after([20, 5, 7], lanes.held()) == ((("source", 1, 0), (9,)),)


def test_lanes_that_send_alike_share_their_service_times():
    system = least(ideal(5, slow_nodes={2: 0.5})).of_every_node()
    kinds = kinds_of_lanes(system)
    assert len(set(kinds)) == 3  # from a slow node, to one, and between others
    legs = {lane: system.legs(lane, 0)[0] for lane in range(5)}
    (sent, received) = spread(legs, np.arange(5), 0)
    assert sent.tolist() == [10_000_000, 10_000_000, 20_000_000, 10_000_000, 10_000_000]
    assert received.tolist() == [10_000_000, 20_000_000, 10_000_000, 10_000_000, 10_000_000]


@st.composite
def exchanges_of_pairs(draw):
    """Draw a pairwise exchange on which nodes differ and memory is registered."""
    nodes = draw(st.integers(2, 6))
    fields = {
        "cluster": "dl1",
        "nodes": nodes,
        "path": draw(st.sampled_from(["peer-direct", "host-rdma", "host-tcp"])),
        "message_bytes": draw(st.sampled_from([1000, 65536, 10**6 + 3, 2**22])),
        "slice_bytes": draw(st.sampled_from(["auto", None, 50_000])),
        "window": draw(st.sampled_from([None, 1, 5])),
        "collective": draw(st.sampled_from(["allreduce", "reduce-scatter", "allgather"])),
    }
    if draw(st.booleans()):
        fields["slow_nodes"] = {draw(st.integers(0, nodes - 1)): draw(st.sampled_from([0.5, 0.9, 0.13]))}
    scenario = peerlab.Scenario(**fields)
    assume(not refuses_together(least(scenario).of_every_node()))
    return scenario


@pytest.mark.skipif(not refusals.installed(), reason="needs numba")
@given(exchanges_of_pairs())
def test_the_compiled_loop_is_the_loop_where_all_nodes_begin_together(scenario):
    """Every span, when each node is done, and which places are held then."""
    system = least(scenario).of_every_node()
    queue = RegistrationQueue(system, warm=True)
    queue.begin(0)
    compiled, loop = (
        by_compiled(system, queue),
        ended("loop", scenario, [0] * scenario.nodes, warm=True),
    )
    assert compiled.done == loop.done
    assert [(pool, sorted(until)) for pool, until in loop.held] == [
        (pool, list(until)) for pool, until in compiled.held
    ]
    assert rows(compiled) == rows(loop)
    assert compiled.recording.end_ps == loop.recording.end_ps
