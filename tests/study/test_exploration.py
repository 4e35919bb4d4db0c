"""What is shown, what it is compared with and the way back: notebook and tab drive the same exploration."""

import json
from itertools import count

import pytest

import peerlab
from peerlab.app.explorer import Explorer
from peerlab.features.site.tab import Tab
from peerlab.study import exploration
from peerlab.study.exploration import Exploration

FIELDS = {"cluster": "p4d", "nodes": 2, "message_bytes": 2**16, "path": "host-rdma"}
MOVES = (
    ("nodes", {"nodes": 3}),
    ("nodes", {"nodes": 4}),  # one drag
    ("other", {"path": "peer-direct"}),
    ("undo", None),
    ("undo", None),
    ("undo", None),  # nothing is left
    ("other", {"cluster": "dl1"}),
    ("other", {"collective": "point-to-point"}),
    ("reset", None),
    ("undo", None),
)


def run(**fields):
    return peerlab.simulate(peerlab.Scenario(**FIELDS | fields))


def test_a_drag_is_one_step_and_what_was_before_it_stays():
    found = Exploration(run())
    for nodes in (3, 4):
        found.begin("nodes")
        assert found.arrive(run(nodes=nodes))
    assert found.before.scenario == found.first
    assert found.undo() == found.first
    assert not found.can_undo
    assert found.undo() is None


def test_a_pause_ends_a_drag(monkeypatch):
    seconds = count(step=2)
    monkeypatch.setattr(exploration.time, "monotonic", lambda: next(seconds))
    found = Exploration(run())
    for nodes in (3, 4):
        found.begin("nodes")
        found.arrive(run(nodes=nodes))
    assert found.before.scenario.nodes == found.undo().nodes == 3


def test_back_at_the_start_nothing_came_before():
    found = Exploration(run())
    found.begin("other")
    found.arrive(run(path="peer-direct"))
    found.reset()
    found.arrive(run())
    assert found.before is None
    assert not found.arrive(run())


def test_what_a_log_brings_is_compared_with_no_other_cluster():
    """Its machine, path and size stood beside *before*: those of another cluster."""
    found = Exploration(run())
    found.begin("log")
    found.arrive(run(cluster="dl1", path="peer-direct", nodes=2))
    assert found.before is None
    found.begin("other")
    found.arrive(run(cluster="dl1", path="peer-direct", nodes=4))
    assert found.before.scenario.nodes == 2
    found.begin("log")
    found.arrive(run(cluster="dl1", path="peer-direct", nodes=3))
    assert found.before.scenario.nodes == 4, "the same machine"


def test_a_run_that_takes_long_does_not_end_a_drag(monkeypatch):
    seconds = iter([0, 9, 9, 20])
    monkeypatch.setattr(exploration.time, "monotonic", lambda: next(seconds))
    found = Exploration(run())
    for nodes in (3, 4):
        found.begin("nodes")
        found.arrive(run(nodes=nodes))
    assert found.before.scenario == found.first


def test_notebook_and_tab_go_the_same_way(monkeypatch):
    monkeypatch.setattr(
        exploration.time, "monotonic", lambda: 0.0
    )  # nobody pauses, however busy the machine is
    lab, tab, number = Explorer(peerlab.Scenario(**FIELDS)), Tab(**FIELDS), count(2)
    for control, changes in MOVES:
        if changes is None:
            lab._command(control)
            asked = {"kind": control}
        else:
            lab._changed(changes, control)
            asked = {"kind": "show", "control": control, "changes": changes}
        answer = json.loads(tab.answer(json.dumps({**asked, "number": next(number)}))[0])
        assert "error" not in answer
        there, here = lab.exploration, tab.exploration
        assert here.scenario == there.scenario, control
        assert (here.before and here.before.scenario) == (there.before and there.before.scenario), control
        assert here.can_undo == there.can_undo
    lab.close()


@pytest.mark.parametrize("changes", [{"nodes": 0}, {"path": "native"}])
def test_what_is_impossible_changes_nothing(changes):
    tab = Tab(**FIELDS)
    answer = tab.answer(json.dumps({"kind": "show", "number": 2, "control": "other", "changes": changes}))[0]
    assert json.loads(answer)["error"]
    assert not tab.exploration.can_undo
    assert tab.exploration.before is None
