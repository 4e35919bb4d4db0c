"""A deck says what its runs say, in the words of its outline."""

import os
import re
from dataclasses import replace
from html import unescape
from itertools import chain
from pathlib import Path

import pytest
from tool_logs import NCCL

import peerlab.features.deck
from peerlab.base.errors import ExportError
from peerlab.base.units import say_time
from peerlab.features.deck.compared_runs import SURELY, ComparedRuns
from peerlab.features.deck.deck_page import page
from peerlab.features.deck.gains_elsewhere import gains_elsewhere
from peerlab.features.deck.reading.outline import REVIEW, Outline, SlidePlan, read_outline
from peerlab.features.deck.slide import Slide
from peerlab.features.deck.slides import slides
from peerlab.features.deck.trained_step import EXAMPLE
from peerlab.features.deck.training import Training
from peerlab.features.exercises.logs import lab_log
from peerlab.model.paths import PATHS
from peerlab.question.presets import load_cluster
from peerlab.study.planned import plan_trial
from peerlab.training.step_headline import gain_at_batches

TRAINING = Training(gradient_bytes=2_000_000_000, step_time_s=0.35, overlap_share=0.5)


TONED = (
    "title",
    "wiring",
    "training",
    "elsewhere",
    "scale",
    "limits",
    "registration",
    "assumptions",
    "sources",
)
"""Kinds of slides whose cards have marks."""
STILL = tuple(SlidePlan(kind) for kind in REVIEW if kind not in ("live", "log", "clusters"))


def told(slide):
    """Return a slide's words, without its markup."""
    shown = " ".join(
        (slide.title, slide.subtitle, slide.body, *slide.lines, *slide.notes, *chain(*slide.rows))
    )
    return unescape(re.sub(r"<[^>]+>", " ", shown))


def one(kind, training=None, **fields):
    (slide,) = made(training, (SlidePlan(kind),), **fields)
    return slide


def made(training=None, plans=STILL, **fields):
    """Return slides; a live one, which simulates many states, only where it is asked for."""
    outline = Outline(scenario={"nodes": 4, **fields}, training=training, slides=plans)
    return slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))


def run(**fields):
    return peerlab.simulate(peerlab.Scenario(**{"nodes": 4, **fields}))


def test_the_review_has_every_slide_and_an_example_of_a_training_if_none_is_given():
    assert [plan.show for plan in Outline().slides] == list(REVIEW)
    shown = [slide.title for slide in made()]
    assert len(shown) == len(made(TRAINING)) == len(STILL)
    assert len(set(shown)) == len(shown)


def test_figures_of_the_slides_are_those_of_the_runs():
    detour, direct = run(path="host-rdma"), run(path="peer-direct")
    gain = direct.gain_band(detour)
    ends = f"{gain.low:.2f} to {gain.high:.2f}\u00d7"
    assert ends in told(one("title"))
    compared = told(one("compare"))
    assert f"{100 * detour.bottleneck.share:.0f} % → 0 %" in " ".join(compared.split())
    assert f"NIC send, Peer Direct: {100 * direct.busy['nic_tx']:.0f} % busy" in one("time").notes[1]
    assert f"4 nodes: {gain.value:.2f}\u00d7" in one("nodes").notes[0]
    bare = run(path="peer-direct", registration="per-transfer")
    registration = one("registration")
    assert f"Peer Direct, no cache: {bare.busbw_GBps:.3g} GB/s" in registration.notes[0]
    # The title has how much slower, the card below only what to do.
    ratio = f"{detour.time_s / bare.time_s:.2f}\u00d7"
    assert ratio in registration.title
    assert told(registration).count(ratio) == registration.title.count(ratio)
    assert "Keep the registration cache on, with room for all buffers." in told(registration)
    measured = told(one("elsewhere"))
    assert f"This run says {ends}." in measured
    outside = [
        known.title.partition(",")[0]
        for known in gains_elsewhere()
        if known.ends[0] < gain.low or known.ends[1] > gain.high
    ]
    assert (f"Outside of that: {', '.join(outside)}." if outside else "All lie in it.") in measured


def test_each_alternative_is_simulated_and_has_a_box_for_its_cost():
    slide, today = one("alternatives"), run(path="host-rdma").time_s
    machine = run().scenario.hardware
    twice = run(
        path="host-rdma", cluster=machine.with_figure("nic.rate", 2 * machine.figures["nic.rate"].value)
    )
    row = next(row for row in re.findall(r"<tr.*?</tr>", slide.body) if "A faster network" in row)
    assert f"{today / twice.time_s:.2f}\u00d7" in row
    other = run(
        cluster=replace(machine, transports=("infiniband",)), transport="infiniband", path="host-rdma"
    )
    row = next(row for row in re.findall(r"<tr.*?</tr>", slide.body) if "Another fabric" in row)
    assert "InfiniBand" in row
    assert f"{today / other.time_s:.2f}\u00d7" in row
    assert slide.body.count("role='textbox'") == slide.body.count("<tr") - 1 >= 5


def test_where_the_library_would_choose_otherwise_an_alternative_says_so():
    asked = {"cluster": "p4d", "nodes": 2, "message_bytes": "64 MiB"}
    notes = dict(note.split(": ", 1) for note in one("alternatives", **asked).notes)
    machine, today = peerlab.load_cluster("p4d"), run(path="peer-direct", **asked).scenario.choice
    faster = machine.with_figure("nic.rate", 2 * machine.figures["nic.rate"].value)
    then = run(path="peer-direct", **{**asked, "cluster": faster}).scenario.choice
    assert then.does != today.does
    chosen = ", ".join(then.does)
    assert f"the library would choose {chosen} then, by Peer Direct" in notes["A faster network"]
    assert "would choose" not in notes["Nothing changes"]


def test_where_latency_is_the_bottleneck_no_resource_is_said_to_be():
    found = run(cluster="p4d", message_bytes="1 MiB", path="host-rdma").bottleneck
    assert (found.kind, found.resource) == ("latency", None)
    assert "latency, busy" not in told(one("compare", cluster="p4d", message_bytes="1 MiB"))


@pytest.mark.parametrize("cluster", ["dl1", "p4d", "mi250x-slingshot"])
def test_words_beside_the_alternatives_follow_from_their_figures(cluster):
    slide = one("alternatives", cluster=cluster)
    found = re.search(
        r"the most of this table is ([\d.]+)\u00d7: .*? Peer Direct alone is ([\d.]+)\u00d7, (.*?) that",
        told(slide),
    )
    best, own = float(found[1]), float(found[2])
    near = max(best, own) <= 1.02 * min(best, own)
    assert found[3] == ("about as much as" if near else "more than" if own > best else "less than")
    others = [
        float(gain)
        for gain in re.findall(
            r"<td(?: class=first)?>([\d.]+)\u00d7</td><td(?: class=first)?>(?:[\d.]+\u00d7|no)", slide.body
        )
    ]
    assert max(others) == best
    marked = [float(gain) for gain in re.findall(r"<td class=first>([\d.]+)\u00d7", slide.body)]
    assert sorted(marked) == sorted([best, own]), "what the title compares is seen first"
    said = "about as much as" if near else "more than" if best > own else "less than"
    assert f"brings {said} Peer Direct" in slide.title


def test_a_step_says_at_which_batches_it_is_not_worth_it():
    slide = one("training")
    words = told(slide)
    assert "Example: BERT-large" in words
    assert "From 16 sequences a device on it gains less than 2 %" in words
    steps = EXAMPLE.runs(ComparedRuns({"nodes": 4}, peerlab.simulate).base)
    smallest = gain_at_batches(steps)["points"][0]
    assert f"{smallest[1]:.2f}\u00d7" in words


def test_where_the_nics_hang_is_a_slide_where_nobody_knows_it():
    slide, band = one("wiring"), run(path="peer-direct").gain_band(run(path="host-rdma"))
    words = told(slide)
    for case in band.wired[:2]:
        assert case.says in words
        assert f"{case.low:.2f} to {case.high:.2f}\u00d7" in words
    other = [run(path=path, wiring="root-port") for path in ("host-rdma", "peer-direct")]
    assert all(say_time(found.time_ps) in words for found in other)
    known = ComparedRuns({"cluster": "p4d", "nodes": 4}, peerlab.simulate)
    assert not known.gain_band.wired
    with pytest.raises(ExportError, match="no slide is left"):
        slides(Outline(slides=(SlidePlan("wiring"),)), known)


def test_what_to_do_has_the_threshold_of_the_plan_and_the_way_back():
    trial = plan_trial("dl1", 4)
    slide = one("recommendation")
    words, size = " ".join(told(slide).split()), trial.size_bytes  # the trial measures at a size of its own
    band = run(path="peer-direct", message_bytes=size).gain_band(run(path="host-rdma", message_bytes=size))
    # Above the bar from where on it is kept; below it stand the ends of what is expected only if the card above does not have them.
    assert f">{trial.threshold:.2f}\u00d7</text>" in slide.body
    above = run(path="peer-direct").gain_band(run(path="host-rdma"))
    again = (band.low, band.high) != (above.low, above.high)
    expected = f": expect {band.low:.2f} to {band.high:.2f}\u00d7</text>"
    assert (expected in slide.body) == again
    assert words.count("HCCL_GAUDI_DIRECT=0") == 1  # the way back names the step that has it
    assert "As Log before" in words
    assert "HCCL_GAUDI_DIRECT=0" in words
    assert (
        words.index("peerlab doctor")
        < words.index("peerlab plan --cluster dl1 --nodes 4")
        < words.index("Log before")
        < words.index("HCCL_GAUDI_DIRECT=1")
        < words.index("peerlab plan --read trial")
        < words.index("Go back")
    )


def test_measured_gains_have_their_figures_and_sources():
    slide = one("elsewhere")
    known = {gain.title: gain for gain in gains_elsewhere()}
    assert known["GH200, reported"].ends == (96.07 / 79.72, 96.07 / 79.72)
    for gain in known.values():
        assert gain.source
        assert any(gain.source in note for note in slide.notes)
        assert all(label in slide.body for _, label in gain.marks)


@pytest.mark.long("decks")
def test_what_is_surely_faster_has_more_than_a_rounding_error_below_it():
    fields = {"cluster": "p4d", "message_bytes": "47 MiB"}
    weak = one("sure", **fields)
    gain = ComparedRuns({"nodes": 4, **fields}, peerlab.simulate).gain_band
    assert 1 < gain.low < SURELY
    assert weak.title == "Not sure: Peer Direct may gain nothing"
    assert "Not sure that it is faster" in told(one("title", **fields))


def test_sources_and_assumptions_are_those_of_the_cluster():
    slide, machine = one("sources"), run().scenario.hardware
    words = told(slide)
    assert f"{len(machine.assumptions)} assumed" in words
    assert [figure.label for figure in machine.assumptions if figure.label not in words] == []


def test_no_key_of_a_file_reaches_a_reader():
    keys = [*load_cluster("dl1").figures, *(path for path in PATHS if "-" in path)]
    for slide in made():
        assert [key for key in keys if key in told(slide)] == [], slide.title


def test_only_chooses_slides_in_the_order_of_the_deck():
    outline = Outline().only(["sure", "title", "time"])
    assert [plan.show for plan in outline.slides] == ["title", "sure", "time"]
    with pytest.raises(ExportError, match="did you mean 'title'"):
        Outline().only(["titel"])
    with pytest.raises(ExportError, match="only: name a kind of slide"):
        Outline().only([])


def test_two_clusters_are_asked_the_same():
    plans = (SlidePlan("clusters"),)
    outline = Outline(scenario={"nodes": 4}, beside="p4d", slides=plans)
    (slide,) = slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))
    for cluster in ("dl1", "p4d"):
        gain = run(path="peer-direct", cluster=cluster).gain_band(run(path="host-rdma", cluster=cluster))
        assert f"{gain.low:.2f} to {gain.high:.2f}\u00d7" in told(slide)
    for beside, says in (("dl1", "is the deck's own cluster"), ("p44d", "did you mean 'p4d'")):
        outline = Outline(scenario={"nodes": 4}, beside=beside, slides=plans)
        with pytest.raises(ExportError, match=f"beside: .*{says}"):
            slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))


def log_slide(log, **fields):
    outline = Outline(scenario=fields, log=str(log), slides=(SlidePlan("log"),))
    (slide,) = slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))
    return slide


def test_a_log_says_its_path_and_what_peer_direct_would_bring(tmp_path):
    log = tmp_path / "run.log"
    log.write_text(lab_log("B").text)
    slide = log_slide(log, cluster="juliet", nodes=2)
    found = peerlab.diagnose(peerlab.load(log), "juliet")
    assert found.path == "host-rdma"
    ahead = found.forecast
    ends = f"{ahead.gain.low:.2f} to {ahead.gain.high:.2f}\u00d7"
    assert f"RDMA through host; Peer Direct would be {ends} as fast" in slide.title
    assert f"{ahead.low_GBps[-1]:.3g} to {ahead.high_GBps[-1]:.3g}" in told(slide)
    assert [key for key in PATHS if key in told(slide).lower()] == []


def test_a_log_whose_path_cannot_be_told_says_so_and_shows_what_was_measured(tmp_path):
    log = tmp_path / "run.log"
    log.write_text(NCCL)
    slide = log_slide(log)
    assert slide.title == "Your log: which path it took cannot be told"
    assert "The path is not known, so nobody can say what another one would bring." in told(slide)
    assert "32 MiB 20 GB/s" in slide.body


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"log": "run.log"}, r"^log: run\.log: not the output of"),
        ({"log": "nowhere.log"}, r"^log: cannot read nowhere\.log: No such file"),
        (
            {"log": "run.log", "slides": (SlidePlan("title"),)},
            r"^log: no slide shows run\.log; add ## log to the outline, or log to --only$",
        ),
        ({"beside": "p44d"}, r"^beside: unknown cluster 'p44d'; did you mean 'p4d'"),
        ({"logo": "logo.svg"}, r"^logo logo\.svg: an SVG may hold scripts; save it as PNG$"),
    ],
)
def test_what_is_wrong_is_one_line_and_the_deck_of_before_stays(given, says):
    Path("run.log").write_text("nothing that a benchmark prints\n")
    Path("logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    Path("deck").mkdir()
    Path("deck/index.html").write_text("of before")
    plans = {"slides": (SlidePlan("log"), SlidePlan("clusters"))} | given
    with pytest.raises(ExportError, match=says) as problem:
        peerlab.write_deck(Outline(scenario={"nodes": 2}, **plans), "deck")
    assert "\n" not in str(problem.value)
    assert [one.name for one in Path("deck").iterdir()] == ["index.html"]
    assert Path("deck/index.html").read_text() == "of before"


PNG = b"\x89PNG\r\n\x1a\n"


def test_a_logo_is_in_the_page_and_a_bad_one_is_refused_in_words(tmp_path):
    logo = tmp_path / "logo.png"
    logo.write_bytes(PNG + b"drawn")
    lead = Outline(logo=str(logo), author="<A>").lead
    html = page("Deck", [Slide("Deck", cover=True)], lead=lead)
    assert "data:image/png;base64," in html
    assert "&lt;A&gt;" in html
    for held, says in (
        (PNG + bytes(50 * 2**20), "is larger than 1 MiB; that is too much for a page"),
        (b"<svg><script>alert(1)</script></svg>", "an SVG may hold scripts; save it as PNG"),
        (b"GIF8", "a logo is a PNG, JPEG, GIF or WebP"),
    ):
        logo.write_bytes(held)
        with pytest.raises(ExportError, match=says):
            peerlab.write_deck(Outline(logo=str(logo)), tmp_path / "deck")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")  # would wait for its writer
        with pytest.raises(ExportError, match=r"pipe\.png: not a file"):
            peerlab.write_deck(Outline(logo=str(tmp_path / "pipe.png")), tmp_path / "deck")
    with pytest.raises(ExportError, match=r"logo: cannot read nowhere\.png: No such file"):
        peerlab.write_deck(Outline(logo="nowhere.png"), tmp_path / "deck")
    assert not (tmp_path / "deck").exists()


@pytest.mark.long("decks")
def test_the_recommendation_holds_only_if_no_assumption_turns_it_round():
    known = one("recommendation", cluster="infiniband-hdr-a100")  # where its NICs hang is documented
    assert known.title == "Recommendation: use Peer Direct"
    open_ = one("recommendation")
    assert open_.title == "Recommendation: measure before deciding"
    gain = ComparedRuns({"nodes": 4}, peerlab.simulate).gain_band
    below, apart = gain.wired
    most = (
        f"where the NICs hang: {below.gain:.2f}\u00d7 if {below.says}; {apart.gain:.2f}\u00d7 if {apart.says}"
    )
    assert f"The gain depends most on {most}. Find that out first: " in open_.notes[0]
    assert f"if {apart.says} {apart.low:.2f} to {apart.high:.2f}\u00d7" in " ".join(told(open_).split())
    slow = one("recommendation", cluster="p4d", nodes=64, message_bytes="64 KiB")
    assert slow.title == "Recommendation: stay with the way through the host"


def test_what_is_expected_beside_the_threshold_is_of_the_size_that_the_trial_measures():
    trial = plan_trial("gaudi2", 4)
    assert trial.size_bytes == 2**20  # the deck's message is 64 MiB
    band = ComparedRuns({"cluster": "gaudi2", "nodes": 4}, peerlab.simulate).band_of(message_bytes="1 MiB")
    words = told(one("recommendation", cluster="gaudi2"))
    assert f"expected at 1 MiB: {band.low:.2f} to {band.high:.2f}" in words


def test_a_deck_in_which_nothing_is_left_is_refused(tmp_path):
    for kind in ("log", "clusters"):
        with pytest.raises(ExportError, match="no slide is left: log needs --log FILE"):
            peerlab.write_deck(Outline().only([kind]), tmp_path / "deck")
    with pytest.raises(ExportError, match="there is no kind of slide 'titel'; did you mean 'title'"):
        Outline().only(["titel"])
    review = tmp_path / "review.md"
    review.write_text("---\nlogo: ~nobody-of-this-name/x.png\n---\n")
    with pytest.raises(ExportError, match=r"review\.md: logo: ~nobody-of-this-name/x\.png"):
        read_outline(review)
    assert not (tmp_path / "deck").exists()


def test_no_slide_merges_what_two_wirings_say():
    gain = ComparedRuns({"nodes": 4}, peerlab.simulate).gain_band
    merged = f"{gain.least:.2f} to {gain.most:.2f}"
    assert merged != f"{gain.low:.2f} to {gain.high:.2f}"
    assert [slide.title for slide in made() if merged in told(slide)] == []


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
        (tmp_path / "taken", "it is a file; give a folder"),
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
    assert slide.body.count("<svg") == 1
    assert "Latency alone: no part is busy for a twentieth of the time on either path." in slide.body


@pytest.mark.long("decks")
def test_orange_means_a_bottleneck_or_a_warning():
    """It was an ornament of a card, and pale where something is slower, beside the amber of the host and the bottleneck: that is grey."""
    for kind in TONED:
        assert "--tone:var(--pl-hot)" not in one(kind).body
        assert "fill='var(--pl-hot)'" not in one(kind).body
    for kind in ("sure", "registration", "recommendation"):
        assert "hot-fill" not in one(kind).body
        assert "fill='var(--pl-gather)' stroke='var(--pl-muted)'" in one(kind).body
    assert "--pl-hot" not in page("Deck", ()).partition("td.loss {")[2].partition("}")[0]


@pytest.mark.long("decks")
def test_percentiles_of_a_slide_are_those_of_tails(monkeypatch):
    monkeypatch.setattr("peerlab.features.deck.kinds.tail_slide.SEEDS", 20)
    asked = {"cluster": "dl1", "message_bytes": "1 MiB"}
    slide, found = (
        one("tails", **asked),
        peerlab.tails(run(path="peer-direct", **asked).scenario, seeds=20, progress=False),
    )
    assert slide.title == f"{found.gain(500):.2f}\u00d7 as fast at p50: one run of 2 is slower"
    assert "p90: 80 more runs are needed." in told(slide)
    assert say_time(found.paths[0].percentiles[0].value_ps) in told(slide)
    assert f"{found.quiet_gain:.2f}\u00d7" in told(slide)


def test_the_slide_at_p99_draws_the_run_at_the_last_percentile_that_has_enough(monkeypatch):
    monkeypatch.setattr("peerlab.features.deck.kinds.tail_slide.SEEDS", 20)
    asked = {"cluster": "dl1", "message_bytes": "64 KiB", "nodes": 2}
    slide = one("p99", **asked)
    assert slide.title.startswith("In the run at p50 node ")
    assert any("against the run without noise and slow parts" in note for note in slide.notes)
    assert "p99: 980 more runs are needed." in slide.notes


def test_a_slide_on_neighbours_says_what_each_fabric_keeps():
    slide = one("neighbours")
    found = peerlab.neighbours("neighbour(4)", nodes=4, message_bytes="4 MiB")
    for answer in found.answers:
        assert f"{answer.title} {100 * answer.share:.0f} %" in told(slide)
    assert found.finding in told(slide)


def test_a_slide_on_two_jobs_says_what_an_exchange_takes_together_and_apart():
    slide = one("jobs")
    alone = peerlab.shared_fabric([{"hosts": [0, 1, 4, 5]}], fabric="roce-pfc", message_bytes="4 MiB").alone[
        0
    ]
    both = {"repeats": 3, "compute_ms": f"{float(alone * 1000):.6f}"}
    found = peerlab.shared_fabric(
        [{"hosts": [0, 1, 4, 5], **both}, {"hosts": [2, 3, 6, 7], **both}],
        fabric="roce-pfc",
        message_bytes="4 MiB",
    )
    assert (
        f"begun together take {float(max(found.slowdowns(0)[-1], found.slowdowns(1)[-1])):.2f}\u00d7 as long"
        in slide.title
    )
    assert slide.title.endswith("apart 1.00\u00d7")
    assert found.finding in slide.notes
    for time in found.trace.lasts(0):
        assert say_time(float(time) * 1e12) in told(slide)


def test_reveal_is_there_with_its_licence():
    vendor = Path(peerlab.features.deck.__file__).parent / "vendor"
    assert "Permission is hereby granted" in (vendor / "LICENSE").read_text()
    assert "revealjs.com" in (vendor / "reveal.js").read_text()[:100]


def test_every_colour_of_the_ways_beside_each_other_is_in_the_key():
    slide = one("compare")
    slices = set(re.findall(r"--pl-(copy|cpu|network|direct|register)\)", slide.body))
    named = dict(slide.key)
    assert slices <= set(named)
    assert len(set(named.values())) == len(named)
    assert named["hot"] == "bottleneck"
    assert named["network"] == "NIC to NIC, through host memory"  # the card's heading is amber


def test_the_line_that_registrations_are_compared_with_is_whole():
    """It was broken where a number stood."""
    body = one("registration").body
    assert len(re.findall("<polyline[^>]*stroke-dasharray", body)) == 1


def test_where_a_gain_is_as_simulated_its_end_is_seen():
    """A circle covered the low end of a bar."""
    body = one("sure").body
    assert "rx='10'" not in body
    marks = re.findall(r"<polyline points='([\d.]+),[\d.]+ ([\d.]+),[\d.]+'[^>]*stroke-width='4'", body)
    assert len(marks) >= 2
    assert all(left == right for left, right in marks)


def test_slices_beside_each_other_have_one_tint_and_memory_no_empty_cells():
    """Pale and full green beside a dotted one had no name, and 32 cells of a memory were empty."""
    body = one("compare").body
    assert "<polyline" in body
    assert all("stroke-dasharray" in pale for pale in re.findall("<[^<>]*stroke-opacity[^<>]*>", body))
    empty = re.findall(r"width='([\d.]+)' height='[\d.]+' rx='2' fill='var\(--pl-panel\)'", body)
    assert min(map(float, empty)) > 60  # where a device's slices wait, as wide as the device; no cell


def test_two_clusters_have_bars_of_their_times_on_one_scale():
    outline = Outline(scenario={"nodes": 4}, beside="p4d", slides=(SlidePlan("clusters"),))
    (slide,) = slides(outline, ComparedRuns(outline.scenario, peerlab.simulate))
    detours = [run(cluster=cluster, path="host-rdma") for cluster in ("dl1", "p4d")]
    # Each bar has its name in its colour, so that there is no key.
    for role, name in (("copy", "through the host"), ("direct", "Peer Direct")):
        assert len(re.findall(rf"--pl-{role}-ink\)[^>]*>{name}<", slide.body)) == 2
    wide = [
        float(bar) for bar in re.findall(r"<rect x='0'[^>]*? width='([\d.]+)'[^>]*--pl-copy\)", slide.body)
    ]
    assert wide[0] / wide[1] == pytest.approx(detours[0].time_s / detours[1].time_s, rel=1e-3)
    assert all(say_time(detour.time_ps) in told(slide) for detour in detours)


def test_the_other_wiring_that_is_shown_makes_a_difference():
    """Of three wirings the two that were shown gained the same, so that both cards said one thing."""
    fields = {"cluster": "b200-ndr", "nodes": 8}
    assumed, same, apart = ComparedRuns(fields, peerlab.simulate).gain_band.wired
    assert abs(same.gain / assumed.gain - 1) < 0.02
    cards = one("wiring", **fields).body.split("<div class='card")[1:]
    assert [
        f"{case.gain:.2f}\u00d7<small>" in card for case, card in zip((assumed, apart), cards, strict=True)
    ] == [True] * 2


def test_a_range_that_may_be_slower_is_not_on_a_green_card():
    """Green means faster: 0.92 to 7.30 times as fast stood in it, beside the words that nobody is sure."""
    fields = {"cluster": "p5en", "nodes": 8}
    assert ComparedRuns(fields, peerlab.simulate).gain_band.low < 1
    for kind in ("title", "recommendation"):
        assert " good'" not in one(kind, **fields).body
        assert " good'" in one(kind).body


def test_a_wiring_with_which_peer_direct_loses_warns():
    cards = one("wiring").body.split("<div class='card")[1:]
    band = run(path="peer-direct").gain_band(run(path="host-rdma"))
    for case, card in zip(band.wired[:2], cards, strict=True):
        assert f"{case.gain:.2f}\u00d7<small>as fast</small>" in card
        assert ("head big loss" in card) == (case.gain < 1)


def test_what_all_assumptions_do_together_stands_at_the_foot_of_their_table():
    slide, band = one("assumptions"), run(path="peer-direct").gain_band(run(path="host-rdma"))
    single, together = slide.body.split("<tfoot>")
    assert f"{band.low:.2f} to {band.high:.2f}\u00d7" in together
    assert f"{band.low:.2f} to {band.high:.2f}\u00d7" not in single
    assert "<td></td>" not in slide.body


def test_a_share_is_said_in_percent():
    """*overlap that the library loses* was 0, and instead 1, of nothing."""
    cells = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", one("assumptions").body)))
    assert "overlap that the library loses 0 % 100 % " in cells
    listed = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", one("sources").body)))
    assert "overlap that the library loses 0 % 0 to 100 % " in listed
    assert "slice through the host 512 KiB 512 KiB to 16 MiB " in listed, "512 to 16384 of nothing"
    assert "where the NICs hang: below the devices' switch value range" in listed, "words lie over no column"


def test_where_little_room_is_left_the_figures_that_move_the_gain_most_are_shown():
    words = unescape(re.sub(r"<[^>]+>", " ", one("sources").body))
    band = run(path="peer-direct").gain_band(run(path="host-rdma"))
    assert all(assumption.figure.label in words for assumption in band.assumptions[:5])
    assert re.search(r"\d more\b", words)
    assert one("sources").source.endswith("peerlab clusters dl1")
