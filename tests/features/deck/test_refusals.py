"""What cannot be is refused before a deck simulates anything; what is simulated says how far it is."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import peerlab_command
from hypothesis import given
from hypothesis import strategies as st

import peerlab
import peerlab.engine.simulate
from peerlab.answer.metrics import least_time_s
from peerlab.base.errors import Cancelled
from peerlab.features.deck import write_deck as writing
from peerlab.features.deck.reading.outline import Outline, SlidePlan
from peerlab.features.deck.training import Training
from peerlab.features.deck.write_deck import forecast_s
from peerlab.model.paths import PATHS, PEER_DIRECT
from peerlab.question.presets import known_clusters


@pytest.fixture
def simulated(monkeypatch):
    """Count simulations, those of steps too."""
    counted = []
    before = peerlab.engine.simulate._simulate

    def counting(scenario, *given, **more):
        counted.append(scenario)
        return before(scenario, *given, **more)

    monkeypatch.setattr(peerlab.engine.simulate, "_simulate", counting)
    monkeypatch.setattr("peerlab.features.deck.trained_step.step", counted.append)
    return counted


def test_what_counts_simulations_sees_those_of_a_deck(simulated, tmp_path):
    peerlab.write_deck(Outline(scenario={"nodes": 2}).only(["detour"]), tmp_path, progress=lambda *_: None)
    assert simulated


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--gradient 7GB --step-time 0.35 --overlap 0.5", "7 GB of gradient takes"),
        ("--gradient 7GB --step-time 0.35 --overlap 0.5 --only title", "7 GB of gradient takes"),
        ("--workload resnet5", "did you mean"),
        ("--workload bert-large --batch 0", "batch"),
        ("--only title,titel", "there is no kind of slide 'titel'; did you mean 'title'"),
        ("--cluster p4d --only wiring", "no slide is left"),
        ("--logo logo.svg", "an SVG may hold scripts"),
        ("--log run.log", "log: run.log: not the output of"),
        ("--log nowhere.log", "log: cannot read nowhere.log"),
        ("--beside p44d", "beside: unknown cluster 'p44d'"),
        ("--beside dl1", "is the deck's own cluster"),
        ("--output file", "it is a file; give a folder"),
        ("--output taken", "cannot write taken/index.html: it is a folder"),
        ("--output printed --pdf", "cannot write printed/deck.pdf: it is a folder"),
        ("--pdf", "PEERLAB_CHROMIUM: 'nowhere' is no program"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_simulated(simulated, words, says):
    Path("run.log").write_text("nothing that a benchmark prints\n")
    Path("logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    Path("file").touch()
    Path("taken/index.html").mkdir(parents=True)
    Path("printed/deck.pdf").mkdir(parents=True)
    chromium = "nowhere" if words == "--pdf" else sys.executable
    output = [] if "--output" in words else ["--output", "deck"]
    status, _, told = peerlab_command("deck", *words.split(), *output, PEERLAB_CHROMIUM=chromium)
    assert (status, told.count("\n")) == (1, 1), told
    assert says in told
    assert not simulated
    assert not Path("deck").exists()


@pytest.mark.usefixtures("own_folder")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="to root nothing is read-only")
def test_a_folder_that_may_only_be_read_is_refused_before_anything_is_simulated(simulated):
    Path("mine").mkdir()
    Path("mine").chmod(0o555)
    status, _, told = peerlab_command("deck", "--output", "mine")
    assert (status, told) == (1, "peerlab: cannot write mine/index.html: Permission denied\n")
    assert not simulated


def test_an_exchange_that_might_fit_is_simulated_before_all_else(simulated, tmp_path):
    exchange = peerlab.Scenario(path="host-rdma", message_bytes=7 * 10**9)
    step_s = (least_time_s(exchange) + peerlab.simulate(exchange).time_s) / 2
    simulated.clear()
    words = f"--gradient 7GB --step-time {step_s} --overlap 0.5 --output {tmp_path / 'deck'}"
    status, _, told = peerlab_command("deck", *words.split())
    assert status == 1
    assert "through the host as simulated" in told
    assert {one.nbytes for one in simulated} == {7 * 10**9}


asked = st.builds(
    lambda cluster, nodes, size: {"cluster": cluster, "nodes": nodes, "message_bytes": size},
    st.sampled_from(known_clusters()),
    st.integers(2, 9),
    st.sampled_from([2**10, 2**20, 2**26, 2**28]),
)


@given(asked)
def test_no_simulation_is_faster_than_the_least_that_a_path_takes(fields):
    for path in peerlab.load_cluster(fields["cluster"]).paths:
        if PATHS[path].is_staged or path == PEER_DIRECT:
            question = peerlab.Scenario(path=path, **fields)
            assert least_time_s(question) <= peerlab.simulate(question).time_s * (1 + 1e-9), question


def test_whoever_asks_hears_every_part_and_may_stop(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "printed", lambda _: b"%PDF")
    monkeypatch.setattr(writing, "find_chromium", lambda: "chromium")
    heard = []
    outline = Outline(scenario={"nodes": 2}, slides=(SlidePlan("detour"), SlidePlan("limits")))
    peerlab.write_deck(outline, tmp_path / "deck", pdf=True, progress=lambda *far: heard.append(far))
    assert heard == [(1, 3), (2, 3), (3, 3)]

    def stop(_done, _total):
        raise Cancelled

    with pytest.raises(Cancelled):
        peerlab.write_deck(outline, tmp_path / "stopped", progress=stop)
    assert not (tmp_path / "stopped").exists()


def test_a_deck_says_beforehand_what_it_will_take(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(writing, "slides", lambda *_: [])
    monkeypatch.setattr(writing, "page", lambda *_, **__: "")
    peerlab.write_deck(Outline(), tmp_path)
    assert f"peerlab: deck, about {forecast_s(Outline()):.0f} s\n" == capsys.readouterr().err
    more = Outline(beside="p4d")
    assert forecast_s(Outline()) < forecast_s(more) < forecast_s(more, pdf=True)
    assert forecast_s(Outline().only(["title"])) < forecast_s(Outline()) / 4
    small, large = (
        replace(Outline(), training=Training(gradient_bytes=size, step_time_s=1, overlap_share=0))
        for size in (10**9, 10**10)
    )
    assert forecast_s(small) < forecast_s(large)
