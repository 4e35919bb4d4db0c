"""The slide on a training step that is simulated, instead of shares that somebody gives."""

import re
from html import unescape
from pathlib import Path

import pytest

import peerlab
from peerlab.base.errors import ExportError, WorkloadError
from peerlab.cli import main
from peerlab.features.deck import deck_command as deck
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.charting import training
from peerlab.features.deck.reading.front_matter import read_front_matter
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.trained_step import TrainedStep, read_training
from peerlab.training.step_band import step_gain

RESNET = {"workload": "resnet50", "batch": 32}


def both(**more):
    host = peerlab.step(path="host-rdma", **RESNET, **more)
    return host, peerlab.step(host.step.with_(path="peer-direct"))


def test_the_slide_says_what_the_steps_are():
    compared = ComparedRuns(
        {"message_bytes": "1 GiB"}, peerlab.simulate
    )  # the deck's message is not the step's
    said = training(Outline(training=TrainedStep(RESNET)), compared)
    host, peer = both()
    sure = step_gain(peer, host)
    words = unescape(re.sub("<[^>]+>", " ", said.body))
    assert f"becomes {sure.low:.2f} to {sure.high:.2f}\u00d7 as fast" in said.title
    assert "ResNet-50, 32 images a device" in said.subtitle
    assert "Example" not in said.subtitle
    assert re.search(rf"exposed wait\s+{1e6 * host.exposed_s:.0f}\s+→\s+{1e6 * peer.exposed_s:.0f} µs", words)
    words = " ".join(said.notes)
    assert f"all at their ends: {sure.cluster.low:.3f} to {sure.cluster.high:.3f}\u00d7" in words
    apart = sure.cluster.wired[1]
    assert f"if each NIC has a root port of its own: {apart.low:.3f} to {apart.high:.3f}\u00d7" in words
    assert "assumed; mlcommons" in said.source


def test_a_band_has_the_answer_and_what_moves_it():
    host, peer = both()
    sure = step_gain(peer, host)
    assert sure.low <= sure.cluster.low <= sure.value == peer.gain(host) <= sure.cluster.high <= sure.high
    assert sure.training_low < sure.value < sure.training_high + 1e-12
    bare = [peerlab.step(one.step.with_(library="none")) for one in (host, peer)]
    assert sure.cluster.alone == pytest.approx(bare[1].gain(bare[0])) != sure.value
    slow = 0.15
    slower = [
        one.answer(one.step.with_(slowdown=slow, compute_ms=one.step.compute.high_ps / 1e9))
        for one in (host, peer)
    ]
    assert sure.training_low <= slower[1].gain(slower[0]) <= sure.training_high
    with pytest.raises(WorkloadError, match="two trainings"):
        step_gain(peer, peerlab.step(path="host-rdma", workload="resnet50", batch=64))


def test_prices_and_watts_are_on_it_only_if_given():
    compared = ComparedRuns({}, peerlab.simulate)
    given = {**RESNET, "price_per_node_hour": 13.1, "busy_W": 3000, "wait_W": 1800}
    said = training(Outline(training=TrainedStep(given)), compared)
    host, peer = both(price_per_node_hour=13.1, busy_W=3000, wait_W=1800)
    cost, less = (one.as_dict()["cost_per_epoch"] for one in (host, peer))
    assert f"{cost:.4g} and {less:.4g} USD an epoch; " in said.body


def test_an_outline_names_a_workload():
    held = read_front_matter("training:\n  workload: bert-large\n  batch: 8\n  overlap: no", "mine.md")
    assert held["training"] == TrainedStep({"workload": "bert-large", "batch": 8, "overlap": False})
    with pytest.raises(ExportError, match="'gradient_bytes' does not go with a workload"):
        read_training({"workload": "resnet50", "gradient_bytes": "7 GB"})
    with pytest.raises(ExportError, match="training: unknown workload 'resnet5'"):
        training(Outline(training=TrainedStep({"workload": "resnet5"})), ComparedRuns({}, peerlab.simulate))


def test_the_command_asks_for_the_slide(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(
        deck, "write_deck", lambda outline, folder, **_: asked.append(outline) or Path(folder)
    )
    options = ["deck", "--workload", "resnet50", "--batch", "32", "--output", str(tmp_path)]
    assert main(options) == 0
    assert asked[0].training == TrainedStep(RESNET)
    assert "training" in [plan.show for plan in asked[0].slides]
    assert main([*options, "--overlap", "0.5"]) == 1
    assert "does not go with a workload" in capsys.readouterr().err
