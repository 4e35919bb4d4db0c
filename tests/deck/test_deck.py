"""A deck says what its runs say, in the words of its outline."""

import re
from html import unescape
from pathlib import Path

import pytest

import peerlab.deck
from peerlab.deck.compared_runs import ComparedRuns
from peerlab.deck.deck_page import page
from peerlab.deck.outline import REVIEW, Outline, SlidePlan, read_outline
from peerlab.deck.slides import slides
from peerlab.deck.training import Training
from peerlab.errors import ExportError

TRAINING = Training(gradient_bytes=2_000_000_000, step_time_s=0.35, overlap_share=0.5)


STILL = tuple(SlidePlan(kind) for kind in REVIEW if kind != "live")


def made(training=None, plans=STILL, **fields):
    """Return slides; a live one, which simulates many states, only where it is asked for."""
    outline = Outline(scenario={"nodes": 4, **fields}, training=training, slides=plans)
    return slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))


def run(**fields):
    return peerlab.simulate(peerlab.Scenario(nodes=4, **fields))


def test_the_review_has_every_slide_and_one_on_training_only_if_there_is_one():
    assert [plan.show for plan in Outline().slides] == list(REVIEW)
    assert len(made()) == len(STILL) - 1
    assert len(made(TRAINING)) == len(STILL)


def test_figures_of_the_slides_are_those_of_the_runs():
    detour, direct = run(path="host-rdma"), run(path="peer-direct")
    gain = f"{detour.time_s / direct.time_s:.2f}"
    cover, today, _, where, nodes, registration, *_ = made()
    assert gain in " ".join(cover.lines)
    assert f"{detour.busbw_GBps:.3g} GB/s" in today.pictures[0]
    assert f"NIC send, Peer Direct: {direct.busy['nic_tx']:.0%} busy" in where.notes[1]
    assert f"4 nodes: {gain}x" in nodes.notes[0]
    bare = run(path="peer-direct", registration="per-transfer")
    assert f"for each transfer: {bare.busbw_GBps:.3g} GB/s" in registration.notes[0]
    assert "slower than" in registration.title


def test_the_recommendation_holds_only_if_no_assumption_turns_it_round():
    plans = (SlidePlan("recommendation"),)
    known = made(plans=plans, cluster="p4d")[0]  # where its NICs hang is documented
    assert known.title == "Recommendation: use Peer Direct"
    assert "what the transport adds to a hop (library.hop)" in " ".join(known.lines)
    open_ = made(plans=plans)[0]
    assert open_.title == "Recommendation: measure before deciding"
    assert "times if each NIC has a root port of its own" in open_.lines[0]
    gain = ComparedRuns({"nodes": 4}, peerlab.simulate).gain_band
    below, apart = gain.wired
    most = f"where the NICs hang (wiring.nic): {below.gain:.2f} times if {below.says}; {apart.gain:.2f} times if {apart.says}"
    assert f"The gain depends most on {most}. Find that out first: `peerlab doctor`" in " ".join(open_.lines)
    far = made(plans=plans, nodes=1024, message_bytes="1 MiB")[0]
    assert far.title == "Recommendation: stay with the way through the host"


def test_every_slide_that_shows_the_range_of_a_gain_says_what_it_leaves_out():
    deck = made(TRAINING)
    gain = ComparedRuns({"nodes": 4}, peerlab.simulate).gain_band
    shown = [
        " ".join((slide.title, *slide.lines, *(cell for row in slide.rows for cell in row))) for slide in deck
    ]
    with_range = [text for text in shown if f"{gain.low:.2f} to {gain.high:.2f}" in text]
    assert len(with_range) == 3
    apart = f"{gain.wired[1].low:.2f} to {gain.wired[1].high:.2f}"
    assert all("root port" in text and apart in text for text in with_range)
    assert not [text for text in shown if f"{gain.least:.2f} to {gain.most:.2f}" in text]  # never merged
    (step,) = (text for text in shown if text.startswith("A training step"))
    training = ComparedRuns(
        {"nodes": 4, "message_bytes": TRAINING.gradient_bytes}, peerlab.simulate
    ).gain_band
    for case in training.wired:
        assert f"the exchange {case.low:.2f} to {case.high:.2f} times, the step then " in step
        assert case.says in step


OUTLINE = """---
title: A <b>review</b>
subtitle: team & friends
scenario:
  nodes: 16
  message_bytes: 16 MiB
training:
  gradient_bytes: 1 GB
  step_time_s: 1
  overlap_share: 0.25
---
## Why
> One
> paragraph.
>
> <script>alert(1)</script>

breathe
## detour: Today
"""


def test_an_outline_brings_its_own_words_and_they_are_text(tmp_path):
    file = tmp_path / "outline.md"
    file.write_text(OUTLINE)
    outline = read_outline(file)
    assert outline.training == Training(gradient_bytes=10**9, step_time_s=1.0, overlap_share=0.25)
    cover, why, today = slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))
    assert (why.title, why.lines, why.notes) == (
        "Why",
        ("One paragraph.", "<script>alert(1)</script>"),
        ("breathe",),
    )
    assert today.title == "Today"
    assert "16 MiB" in today.pictures[0]
    html = page(outline.title, [cover, why, today])
    shown = html.partition("<div class='slides'>")[2].partition("<script>")[0]
    assert "<b>" not in shown
    assert "alert(1)</script>" not in shown
    assert "<script>alert(1)</script>" in unescape(shown)
    assert "team & friends" in unescape(shown)


ABOVE_A_TRAINING = "---\ntitle: A\ntraining:\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "  gradient_bytes: 1 GB\n",
            "training: step_time_s is missing; a step is its time, its overlap, and either its bytes of gradient or",
        ),
        (
            "  gradient_bytes: 1 GB/s\n  step_time_s: 1\n  overlap_share: 0\n",
            "training: gradient_bytes: '1 GB/s' is a rate",
        ),
        (
            "  gradient_bytes: 1\n  step_time_s: 1\n  overlap_share: 2\n",
            "training: overlap_share: 2 is not a share from 0 to 1",
        ),
        (
            "  gradient_bytes: 1\n  communication_share: 0.4\n  step_time_s: 1\n  overlap_share: 0\n",
            "training: gradient_bytes and communication_share are both given",
        ),
        (
            "  step_time_s: 1\n  overlap_share: 0\n",
            "training: gradient_bytes is missing",
        ),
        (
            "  communication_share: 140 %\n  step_time_s: 1\n  overlap_share: 0\n",
            "training: communication_share: '140 %' is not a share from 0 to 1, or 0 % to 100 %",
        ),
        (
            "  gradient_bytes: 1\n  step_time_s: nan\n  overlap_share: 0\n",
            "training: step_time_s: nan is not a time from",
        ),
    ],
)
def test_what_is_wrong_with_a_training_is_said_with_its_line(tmp_path, text, says):
    file = tmp_path / "outline.md"
    file.write_text(f"{ABOVE_A_TRAINING}{text}---\n")
    with pytest.raises(ExportError) as told:
        read_outline(file)
    assert str(told.value).startswith(f"outline.md, line 4: {says}")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"cluster": "ideal-100g"}, "scenario: cluster ideal-100g has no path host-rdma to compare: "),
        (
            {"cluster": "g4dn-metal"},
            "scenario: cluster g4dn-metal has no path peer-direct to compare: EFA on g4dn",
        ),
        ({"path": "host-tcp"}, "scenario: a deck compares data paths; leave path and registration out"),
        ({"jitter": 0.1}, "scenario: a deck compares paths between nodes that are alike; leave jitter out"),
        ({"nodes": 1}, "scenario: nodes: a deck compares paths between nodes"),
    ],
)
def test_what_cannot_be_compared_is_said(fields, says):
    with pytest.raises(ExportError, match=re.escape(says)):
        ComparedRuns(fields, peerlab.simulate)


def test_a_deck_that_cannot_be_made_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    much = Training(gradient_bytes=10**12, step_time_s=0.1, overlap_share=0)
    outline = Outline(scenario={"nodes": 2}, training=much, slides=(SlidePlan("training"),))
    with pytest.raises(ExportError, match="and a step takes 100 ms"):
        peerlab.write_deck(outline, "~/deck")
    assert list(tmp_path.iterdir()) == []
    kept = tmp_path / "kept"
    kept.mkdir()
    with pytest.raises(ExportError, match="and a step takes 100 ms"):
        peerlab.write_deck(outline, kept)
    assert list(tmp_path.iterdir()) == [kept]


def test_where_no_deck_can_be_is_said(tmp_path):
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    for place, says in (
        (tmp_path / "link", "it is a link that leads nowhere"),
        (tmp_path / "taken", "it is a file; a deck is a folder"),
        ("", "its folder has no name"),
    ):
        with pytest.raises(ExportError, match=says):
            peerlab.write_deck(Outline(), place)
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    "fields", [{"message_bytes": 1, "nodes": 2}, {"nodes": 4096, "message_bytes": "64 KiB"}]
)
def test_where_latency_is_all_no_part_is_busy_and_that_is_said(fields):
    (slide,) = made(plans=(SlidePlan("time"),), **fields)
    assert len(slide.pictures) == 1
    assert slide.lines == ("Latency alone: no part is busy for a twentieth of the time on either path.",)


def test_reveal_is_there_with_its_licence():
    vendor = Path(peerlab.deck.__file__).parent / "vendor"
    assert "Permission is hereby granted" in (vendor / "LICENSE").read_text()
    assert "revealjs.com" in (vendor / "reveal.js").read_text()[:100]
