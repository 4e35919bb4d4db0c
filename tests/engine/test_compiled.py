"""The compiled loop: it gives every span that the loop gives, or refuses in words; and nobody needs it."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from drawing import SOAK, examples
from hypothesis import assume, given
from hypothesis import strategies as st
from noise_scenes import noises

import peerlab
from peerlab.answer.trace import REGISTRATION_COLUMNS, SPAN_COLUMNS
from peerlab.base.errors import Cancelled, ScenarioError
from peerlab.engine import recording
from peerlab.engine.compiled import machine_code, refusals
from peerlab.engine.expected_duration import forecast_s
from peerlab.engine.simulate import fastest
from peerlab.engine.system import System, least
from peerlab.model import stages
from peerlab.question.presets import known_clusters

of_topology = partial(peerlab.Scenario, library="none")
"""Topology alone: what the engines do with it does not depend on who asks."""

CLUSTERS = [name for name in known_clusters() if not peerlab.Scenario(cluster=name).fabric.contended]
SLOW = {"path": "peer-direct", "slow_nodes": {1: 0.5}}
"""On DL1, where two devices share a NIC."""
LARGE = {"path": "host-rdma", "jitter": 0.1, "nodes": 8, "message_bytes": "64 MiB"}


MOST = 6000 if SOAK else 2000
"""Slices of an example: those of a long trial are larger, not only more."""


@st.composite
def scenarios(draw, most=MOST):
    """Make a ring on which nodes differ, of so many slices at most."""
    cluster = draw(st.sampled_from(CLUSTERS))
    nodes = draw(st.integers(2, 6))
    fields = {
        "cluster": cluster,
        "path": draw(st.sampled_from(peerlab.load_cluster(cluster).paths)),
        "nodes": nodes,
        "collective": draw(st.sampled_from(["allreduce", "allgather", "reduce-scatter"])),
        "message_bytes": draw(st.sampled_from([1, 1000, 10**6 + 3, 2**22 + 5, 2**25])),
        "slice_bytes": draw(st.sampled_from(["auto", "auto", None, 50_000, 2**18 + 1])),
        "window": draw(st.sampled_from([None, None, 1, 2, 5])),
        "dependency": draw(st.sampled_from(["auto", "slice"])),
        "registration": draw(st.sampled_from(["cached", "pool"])),
        "prefetch": draw(st.booleans()),
        "buffers": draw(st.integers(1, 2)),
    }
    if draw(st.integers(0, 3)):
        share = st.sampled_from([0.13, 0.5, 0.9])
        fields["slow_nodes"] = draw(st.dictionaries(st.integers(0, nodes - 1), share, min_size=1, max_size=2))
    if draw(st.booleans()):
        fields |= draw(noises())
    scenario = of_topology(**fields)
    assume(not refusals.refuses(least(scenario)))
    system = System(scenario, folded=False)
    assume(len(system.lanes) * system.pieces * system.plan.schedule.steps < most)
    return scenario


def rows(trace, columns=None, names=SPAN_COLUMNS, nodes=None):
    """Return the rows of a trace, sorted, with resources by kind and place; of some nodes, or of all."""
    columns = trace.last.spans if columns is None else columns
    table = [columns[name].tolist() for name in names]
    where = names.index("resource") if "resource" in names else names.index("nic")
    keys = [(one.kind, one.node, one.index) for one in trace.resources]
    table[where] = [keys[index] for index in table[where]]
    return sorted(row for row in zip(*table, strict=True) if nodes is None or row[0] in nodes)


def same(one, other, nodes=None):
    """Compare every span of two traces, and every request for memory."""
    assert one.last.end_ps == other.last.end_ps
    assert one.last.counters == other.last.counters
    assert rows(one, nodes=nodes) == rows(other, nodes=nodes)
    asked = [
        rows(trace, trace.last.registrations, REGISTRATION_COLUMNS, nodes=nodes) for trace in (one, other)
    ]
    assert asked[0] == asked[1]


@examples(part=2)
@given(scenarios(), st.booleans())
def test_it_gives_every_span_of_the_loop(scenario, every_node):
    compiled, loop = (
        peerlab.simulate(scenario, engine=engine, every_node=every_node).trace
        for engine in ("compiled", "loop")
    )
    if not scenario.jitter and not scenario.slow_nodes and not every_node:
        return  # the loop folds what is alike
    assert compiled.one_switch == loop.one_switch
    same(compiled, loop)
    for name in ("served_ps", "nbytes"):  # resources that do nothing may be missing
        totals = [np.trim_zeros(np.sort(getattr(one.last.totals, name))) for one in (compiled, loop)]
        assert np.array_equal(*totals), name


@examples(part=2)
@given(scenarios(most=800))
def test_it_gives_every_span_of_the_referee(scenario):
    same(
        *(
            peerlab.simulate(scenario, engine=engine, every_node=True).trace
            for engine in ("compiled", "referee")
        )
    )


@st.composite
def exchanges(draw):
    """Make a pairwise exchange with noise, on which a node is slow, whose slices stand in line."""
    nodes, cluster = draw(st.integers(2, 7)), draw(st.sampled_from(["dl1", "gaudi2", "gaudi3"]))
    scenario = peerlab.Scenario(
        cluster=cluster,
        path=draw(st.sampled_from([p for p in peerlab.load_cluster(cluster).paths if p != "ports"])),
        nodes=nodes,
        algorithm="pairwise",
        collective=draw(st.sampled_from(["allreduce", "allgather", "reduce-scatter"])),
        message_bytes=draw(st.sampled_from([1, 1000, 10**6 + 3, 2**22 + 5])),
        slice_bytes=None,
        window=draw(st.sampled_from([None, 1, 2, 5])),
        slow_nodes={draw(st.integers(0, nodes - 1)): draw(st.sampled_from([0.13, 0.5, 0.9]))},
        buffers=draw(st.integers(1, 2)),
        **draw(noises()),
    ).with_(ticks=0)
    assume(not refusals.refuses(least(scenario)))
    return scenario


@given(exchanges())
def test_of_a_pairwise_exchange_it_gives_every_span_of_loop_and_referee(scenario):
    compiled = peerlab.simulate(scenario, engine="compiled").trace
    same(compiled, peerlab.simulate(scenario, engine="loop").trace)
    if scenario.nbytes < 10**6:
        same(
            *(
                peerlab.simulate(scenario, engine=engine, every_node=True).trace
                for engine in ("compiled", "referee")
            )
        )


def test_a_slow_node_whose_exchanges_wait_while_others_have_their_sums_is_that_of_the_referee():
    scenario = peerlab.Scenario(
        path="peer-direct", nodes=6, message_bytes="1 MiB", slow_nodes={1: 0.05}, window=1
    )
    same(*(peerlab.simulate(scenario, engine=engine).trace for engine in ("compiled", "referee")))


@pytest.mark.parametrize("window", [1, 3, 65_536])
def test_an_all_to_all_of_nodes_with_one_device_is_that_of_loop_and_referee(window):
    scenario = peerlab.Scenario(
        cluster="ideal-100g",
        collective="alltoall",
        nodes=5,
        message_bytes="1 MiB",
        slow_nodes={0: 0.3, 4: 0.1},
        window=window,
    )
    compiled = peerlab.simulate(scenario, engine="compiled").trace
    for engine in ("loop", "referee"):
        same(compiled, peerlab.simulate(scenario, engine=engine).trace)


def test_one_slow_node_of_many_is_simulated_by_it_where_the_loop_would_take_minutes(monkeypatch):
    monkeypatch.setattr(refusals, "on_disk", lambda: True)
    slow = peerlab.Scenario(path="peer-direct", nodes=512, slow_nodes={4: 0.8})
    assert fastest(least(slow)) == "compiled"
    assert forecast_s(slow) < 10
    # all nodes are neighbours, so that every span is kept: more than memory may hold are refused as in the loop
    assert fastest(least(slow.with_(nodes=1024))) == "loop"
    with pytest.raises(ScenarioError, match=r"million can be kept; .* leave out what makes nodes differ$"):
        peerlab.simulate(slow.with_(nodes=1024), engine="compiled")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"ticks": 300}, "nodes of a pairwise exchange stand still"),
        ({"slow_links": {"0>1": 0.5}}, "a link between two nodes is slow"),
        (
            {"slow_nodes": {1: 0.5}, "slice_bytes": 1000},
            "slices of a pairwise exchange wait for more than a place",
        ),
    ],
)
def test_of_pairwise_exchanges_it_refuses_those_that_do_not_stand_in_line(fields, reason):
    with pytest.raises(ScenarioError, match=f"'compiled' cannot run this: {reason}"):
        peerlab.simulate(peerlab.Scenario(path="peer-direct", **fields), engine="compiled")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"algorithm": "binary-tree"}, "it is no ring"),
        ({"dependency": "step"}, "its steps block"),
        ({"path": "peer-direct", "registration": "per-transfer"}, "transfers queue for registration"),
        (
            {"cluster": "ideal-100g-backbone", "dependency": "slice"},
            "transfers contend for links of the fabric",
        ),
    ],
)
def test_what_it_does_not_take_it_refuses_in_words(fields, reason):
    with pytest.raises(ScenarioError, match=f"'compiled' cannot run this: {reason}; use 'auto'"):
        peerlab.simulate(of_topology(jitter=0.1, **fields), engine="compiled")
    with pytest.raises(ScenarioError, match="the hops of the library's ring or tree are one flight"):
        peerlab.simulate(
            peerlab.Scenario(cluster="p5", nodes=2, jitter=0.1, algorithm="ring"), engine="compiled"
        )
    assert fastest(least(of_topology(jitter=0.1, nodes=64, **fields))) == "loop"


def test_auto_takes_it_where_it_pays_and_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(machine_code, "__file__", str(tmp_path / "machine_code.py"))
    python = "py{}{}".format(*sys.version_info)
    kept = tmp_path / "__pycache__" / f"compiled_loop.{machine_code.name()}-1.{python}.nbi"
    kept.parent.mkdir()
    kept.touch()  # its machine code is on disk
    large, small = (of_topology(**{**LARGE, "nodes": nodes}) for nodes in (8, 3))
    assert [fastest(least(one)) for one in (large, small)] == ["compiled", "loop"]
    assert fastest(least(large.with_(jitter=0))) == "loop"  # one switch of one node stands for all
    assert fastest(least(large.with_(cluster="p5", path="peer-direct"))) == "arrays"
    os.utime(kept, (0, 0))  # a package's files may be of any time
    assert fastest(least(large)) == "compiled"
    earlier = kept.rename(kept.with_name(f"compiled_loop.run_0-1.{python}.nbi"))  # and numba's outlive it
    assert fastest(least(large)) == "loop"
    earlier.rename(kept.with_name(f"compiled_loop.{machine_code.name()}-1.py27.nbi"))  # of another Python
    assert [fastest(least(one)) for one in (large, large.with_(nodes=64))] == ["loop", "compiled"]
    monkeypatch.setattr(refusals, "find_spec", lambda _: None)
    assert fastest(least(large.with_(nodes=64))) == fastest(least(large)) == "loop"
    assert peerlab.simulate(small).engine == "loop"
    with pytest.raises(ScenarioError, match=r"'compiled' needs numba: pip install 'peerlab\[compiled\]'"):
        peerlab.simulate(small, engine="compiled")


def test_its_machine_code_is_found_on_disk_afterwards():
    peerlab.simulate(of_topology(**SLOW, nodes=3, message_bytes=1), engine="compiled")
    assert refusals.pays(100_000)
    assert not refusals.pays(99_999)
    few = least(peerlab.Scenario(path="peer-direct", message_bytes="8 MiB", jitter=0.1))
    # many small runs load it together
    assert [fastest(few, alike) for alike in (1, 1000)] == ["loop", "compiled"]


def test_a_run_without_it_loads_no_compiler():
    script = """
import sys, peerlab
peerlab.simulate(peerlab.Scenario(library="none"))
peerlab.simulate(peerlab.Scenario(library="none", nodes=3, jitter=0.1, message_bytes="1 MiB"))
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_of_many_spans_those_of_the_slow_node_and_its_neighbours_are_kept(monkeypatch):
    monkeypatch.setattr(recording, "_MOST_SPANS", 1000)
    for fields in (SLOW, {**LARGE, "message_bytes": "1 MiB", "seed": 2}):
        scenario = of_topology(**{**fields, "nodes": 7})
        compiled, whole, loop = (
            peerlab.simulate(scenario, engine=engine, every_node=every_node)
            for engine, every_node in (("compiled", False), ("compiled", True), ("loop", True))
        )
        near = {0, 1, 2} if fields is SLOW else {0, 1, 6}
        assert set(compiled.trace.last.spans["node"].tolist()) == near
        assert set(whole.trace.last.spans["node"].tolist()) == set(range(7))
        same(whole.trace, loop.trace)
        if fields is SLOW:  # one switch of each node stands for its others
            loop = peerlab.simulate(scenario, engine="loop")
        same(compiled.trace, loop.trace, near)


def test_the_runs_before_the_last_one_are_those_of_the_loop():
    scenario = of_topology(**SLOW, nodes=4, message_bytes="1 MiB")
    compiled, loop = (
        peerlab.simulate(scenario, engine=engine).trace.iterations for engine in ("compiled", "loop")
    )
    assert [one.time_ps for one in compiled] == [one.time_ps for one in loop]
    assert compiled[0].time_ps > compiled[-1].time_ps  # the first one registers


def test_progress_is_told_and_can_stop_it(monkeypatch):
    from peerlab.engine.compiled import compiled_ring as ring

    monkeypatch.setattr(ring, "_EVENTS", 1000)
    told = []

    def stop(done, total):
        told.append((done, total))
        if len(told) == 5:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        peerlab.simulate(of_topology(**LARGE), engine="compiled", progress=stop)
    assert told == sorted(told)
    assert 0 <= told[0][0] < told[-1][0] < told[-1][1] == 14


def test_times_that_may_not_fit_are_refused_in_words(monkeypatch):
    from peerlab.engine.compiled import compiled_ring as ring

    machine = peerlab.load_cluster("dl1").with_figure("nic.rate", 0.01)
    fields = {"path": "host-rdma", "message_bytes": "1 TiB", "slice_bytes": None, "nodes": 4, "seed": 1}
    scenario = of_topology(cluster=machine, jitter=0.1, **fields)
    times = [peerlab.simulate(scenario, engine=engine).time_ps for engine in ("compiled", "loop")]
    assert times[0] == times[1] > 2**55
    with pytest.raises(
        ScenarioError, match="'compiled' counts in 64 bits, and these times may need more; use 'loop'"
    ):
        peerlab.simulate(scenario.with_(jitter=2), engine="compiled")
    monkeypatch.setattr(refusals, "pays", lambda _: True)
    assert fastest(least(scenario.with_(jitter=2))) == "compiled"
    assert peerlab.simulate(scenario.with_(jitter=2)).engine == "loop"
    monkeypatch.setattr(ring, "LAST_PS", 2**50)
    monkeypatch.setattr(ring, "_EVENTS", 100)
    with pytest.raises(ScenarioError, match="longer than the simulation can count"):
        peerlab.simulate(scenario, engine="compiled")


def test_machine_code_is_made_anew_when_what_it_calls_has_changed(tmp_path):
    """Numba looks at the file of the function whose code it keeps, and at no other."""
    (tmp_path / "kept_here.py").write_text(
        "from called import called\nfrom peerlab.engine.compiled.compiling import compiled, kept\n"
        "inner = compiled(called)\n"
        "def make(name):\n    def outer(x):\n        return inner(x)\n    outer.__qualname__ = name\n    return kept(outer)\n"
    )
    script = "import sys, kept_here; print(kept_here.make(sys.argv[1])(1))"
    for version in (1, 2):
        (tmp_path / "called.py").write_text(f"def called(x):\n    return x + {version}\n")
        command = [sys.executable, "-B", "-c", script, f"run_{version}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == f"{1 + version}\n"
    assert list(tmp_path.rglob("*.nbc"))


def test_machine_code_is_made_anew_when_a_stage_is_added(monkeypatch, tmp_path):
    """The numbers of stages are constants in it."""
    before, own = machine_code.name(), tmp_path / "stages.py"
    own.write_text(Path(stages.__file__).read_text() + "# one more\n")
    changed = tuple(own if file == Path(stages.__file__) else file for file in machine_code.SOURCES)
    monkeypatch.setattr(machine_code, "SOURCES", changed)
    assert machine_code.name() != before


@pytest.mark.parametrize(("lacks", "problem"), [("cache", RuntimeError), ("_nrt", KeyError)])
def test_without_a_place_to_keep_it_or_an_option_it_is_compiled_all_the_same(monkeypatch, lacks, problem):
    from peerlab.engine.compiled import compiling

    njit, refused = compiling.numba.njit, []

    def less(function, **options):
        if options.get(lacks) is not None:
            refused.append(lacks)
            raise problem(lacks)
        return njit(function, **options)

    monkeypatch.setattr(compiling.numba, "njit", less)
    assert compiling.kept(lambda x: x + 1)(1) == 2
    assert refused


def asked_of(monkeypatch, **variables):
    """Return which engine answers a run that pays, and why the compiled one does not, in a process with these variables."""
    code = (
        "import peerlab; from peerlab.engine.simulate import fastest; from peerlab.engine.compiled import refusals\n"
        "refusals.pays = lambda spans: True\n"
        f"asked = peerlab.Scenario(**{SLOW | {'nodes': 3, 'message_bytes': 1000, 'path': 'host-rdma'}})\n"
        "print(peerlab.simulate(asked).engine)\n"
        "try:\n    peerlab.simulate(asked, engine='compiled')\n"
        "except peerlab.PeerlabError as error:\n    print(error)"
    )
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return said.splitlines()


def test_a_numba_that_cannot_be_loaded_is_left_out_and_said_in_words(monkeypatch, tmp_path):
    """As one that does not fit the NumPy beside it."""
    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 2.2 or less')")
    assert asked_of(monkeypatch, PYTHONPATH=str(tmp_path)) == [
        "loop",
        "engine: 'compiled' needs numba, which cannot be used: Numba needs NumPy 2.2 or less; use 'auto'",
    ]


def test_a_numba_that_makes_no_machine_code_is_left_out_too(monkeypatch):
    assert asked_of(monkeypatch, NUMBA_DISABLE_JIT="1") == [
        "loop",
        "engine: 'compiled' needs numba, which cannot be used: NUMBA_DISABLE_JIT is set; use 'auto'",
    ]
