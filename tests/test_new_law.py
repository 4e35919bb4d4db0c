"""A kind of library that nobody has heard of, whose law is in this file alone, is asked as every other one is."""

import pytest

import peerlab
from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.base.units import PS_PER_US
from peerlab.engine.arrays.side_by_side import times
from peerlab.library.library_files import read_library
from peerlab.library.library_law import LibraryLaw
from peerlab.library.library_laws import ALONE, KINDS, law_of
from peerlab.model.effective_machine import Change
from peerlab.question.used_figures import figures_used

FILE = """
name = "courier"
title = "Courier over pigeons"
kind = "courier"
versions = ["1.0", "2.0"]

[library]
message = { value = 3, unit = "us", basis = "per message", source = "a test" }

[[unsolved]]
says = "Pigeons sleep at night."
nodes = 4
"""
TURN = 7 * PS_PER_US


class CourierLaw(LibraryLaw):
    """It waits before an allreduce, and takes longer for each flight."""

    kind = "courier"
    collectives = ("allreduce",)
    needs = ("message",)
    cuts = True

    def schedule(self, question):
        return "ring"

    def changes(self, question, by):
        why = "pigeons are slow"
        more = Change(how="plus", amount=question.hardware.message_ps, by=by, why=why)
        return {"latency_ps": [*question.network.asked_flight(question.hardware), more]}

    def opening(self, question):
        return (("launch", TURN),)

    def figures(self, question):
        return ("library.message",)

    def does(self, question):
        return ("a ring",)


@pytest.fixture
def courier(monkeypatch):
    monkeypatch.setitem(KINDS, CourierLaw.kind, CourierLaw())
    return read_library(FILE, "courier.toml")


def asked(library, **fields):
    return peerlab.Scenario(
        nodes=4, message_bytes="1 MiB", library=library, **{"algorithm": "hierarchical", **fields}
    )


def test_its_file_is_read_and_what_it_needs_is_wanted(courier, tmp_path):
    assert law_of(courier).kind == "courier"
    lacking = tmp_path / "courier.toml"
    lacking.write_text(FILE.replace("message = ", "# "))
    with pytest.raises(HardwareError, match=r"Courier over pigeons lacks library\.message"):
        asked(lacking)


def test_the_simulation_asks_it(courier):
    with_it, without = asked(courier, algorithm="auto"), asked("none")
    assert with_it.schedule_name == without.schedule_name == "ring"
    assert with_it.cluster_for_message.latency_ps - without.cluster_for_message.latency_ps == 3 * PS_PER_US
    run = peerlab.simulate(with_it)
    spans = run.trace.last.unrolled
    launch = spans["stage"] == run.trace.stages.index("launch")
    assert set((spans["end"] - spans["start"])[launch].tolist()) == {TURN}
    assert times([with_it]) == [peerlab.simulate(with_it, engine="referee").time_ps]
    assert run.time_ps > peerlab.simulate(without).time_ps + TURN


def test_pictures_and_figures_ask_it(courier):
    scenario = asked(courier)
    assert scenario.library_says == "Courier over pigeons 2.0: a ring"
    assert scenario.library_unsolved == ("Pigeons sleep at night.",)
    assert "library.message" in figures_used(scenario)
    assert "pigeons are slow" in str(peerlab.why(scenario, "fabric.latency"))
    with pytest.raises(ScenarioError, match="Courier over pigeons has no protocols"):
        asked(courier, protocol="LL")


def test_what_it_does_not_serve_is_topology_alone(courier):
    scenario = asked(courier, collective="allgather")
    assert scenario.law is ALONE
    assert (
        scenario.library_says
        == "topology alone, because what Courier over pigeons adds to it is not modelled"
    )
    assert scenario.library_unsolved == ()
    assert peerlab.simulate(scenario).time_ps == peerlab.simulate(scenario.with_(library="none")).time_ps


@pytest.mark.parametrize("law", [ALONE, *KINDS.values()], ids=lambda law: law.kind)
def test_every_law_answers_whatever_is_asked(law):
    for collective in ("allreduce", "alltoall", "point-to-point", "broadcast"):
        question = peerlab.Scenario(nodes=2, collective=collective, library="none")
        assert law.serves(question) == (collective in law.collectives)
        if not law.chooses:
            assert "latency_ps" in law.changes(question, "somebody")
        assert all(lasts >= 0 for _, lasts in law.opening(question))
