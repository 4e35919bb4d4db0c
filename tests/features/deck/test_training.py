"""A training step on a slide: only what is possible, and both readings of what is hidden."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.metrics import least_time_s
from peerlab.base.errors import ExportError
from peerlab.base.units import PS_PER_S, say_time
from peerlab.cli import main
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.charting import training
from peerlab.features.deck.reading.outline import Outline, SlidePlan
from peerlab.features.deck.training import Training

COMPARED = ComparedRuns({}, peerlab.simulate)


def slide(**given):
    return training(Outline(training=Training.read(given)), COMPARED)


def test_the_gradient_itself_is_simulated():
    asked = Training(gradient_bytes=2 * 10**9, step_time_s=0.35, overlap_share=0.5)
    host, peer = (
        peerlab.simulate(peerlab.Scenario(path=path, message_bytes=2 * 10**9)).time_s
        for path in ("host-rdma", "peer-direct")
    )
    assert COMPARED.exchanges(asked) == (host, peer)
    step = asked.today(host)
    assert step.time_s == pytest.approx(0.35)
    assert step.same_share(peer).time_s == pytest.approx(0.35 - 0.5 * (host - peer))
    assert step.same_time(peer).time_s == pytest.approx(0.35 - min(host - peer, 0.5 * host))


def test_a_share_of_the_step_gains_less_if_the_share_stays_hidden_and_more_if_the_time_does():
    said = slide(communication_share="40 %", step_time_s=0.3, overlap_share="60 %")
    assert said.title == ("A training step becomes 1.07 to 1.19\u00d7 as fast")
    assert "72 ms" in said.body
    assert "252 ms" in said.body
    assert "60 % hidden: 280 ms" in said.notes[0]
    assert "72 ms hidden: 252 ms" in said.notes[0]


def test_more_hidden_than_there_is_computing_is_refused_with_the_figures():
    with pytest.raises(ExportError) as told:
        slide(gradient_bytes="7 GB", step_time_s=0.35, overlap_share=0.5)
    exchange = least_time_s(peerlab.Scenario(path="host-rdma", message_bytes=7 * 10**9))
    hidden = 0.5 * exchange
    assert f"takes {1e3 * exchange:.0f} ms through the host at the least, and a step takes 350 ms" in str(
        told.value
    )
    assert (
        f"{1e3 * hidden:.0f} ms of it would hide behind {1e3 * (0.35 - hidden):.0f} ms of computing"
        in str(told.value)
    )
    with pytest.raises(ExportError, match="would be seen, which leaves no computing"):
        slide(gradient_bytes="7 GB", step_time_s=0.35, overlap_share=0)


def test_a_gradient_that_fits_into_no_step_is_refused_before_it_is_simulated():
    base = peerlab.Scenario(path="host-rdma", message_bytes=10**12)
    least = say_time(least_time_s(base) * PS_PER_S)
    with pytest.raises(
        ExportError,
        match=f"1000 GB of gradient takes {least} through the host at the least, and a step takes 350 ms",
    ):
        COMPARED.exchanges(Training(gradient_bytes=10**12, step_time_s=0.35, overlap_share=0.5))


shares = st.floats(0, 1)


@given(shares, shares, st.floats(1e-3, 1e3), st.floats(0.2, 5))
def test_both_readings_stay_between_computing_alone_and_a_step_that_sees_all(share, overlap, time, gain):
    today = Training(communication_share=share, step_time_s=time, overlap_share=overlap).today(share * time)
    assert today.time_s == pytest.approx(time)
    assert today.hidden_s <= today.computing_s * (1 + 1e-9)
    faster = share * time / gain
    for then in (today.same_share(faster), today.same_time(faster)):
        assert today.computing_s - 1e-9 * time <= then.time_s <= (today.computing_s + faster) * (1 + 1e-9)
    if gain >= 1:
        assert today.same_time(faster).time_s <= today.same_share(faster).time_s * (1 + 1e-9)


@pytest.mark.long("decks")
def test_the_examples_of_the_help_can_be_believed(capsys):
    with pytest.raises(SystemExit):
        main(["deck", "--help"])
    told = capsys.readouterr().out
    gradient, time, overlap = re.search(
        r'--gradient "([^"]+)" --step-time (\S+) --overlap (\S+)', told
    ).groups()
    slide(gradient_bytes=gradient, step_time_s=float(time), overlap_share=float(overlap))
    share, time, overlap = re.search(
        r"--communication (\S+) --step-time (\S+) --overlap (\S+)", told
    ).groups()
    slide(communication_share=share, step_time_s=float(time), overlap_share=overlap)


@pytest.mark.parametrize("share", [0, 1e-320])
def test_a_step_without_an_exchange_has_a_slide_too(share):
    said = slide(communication_share=share, step_time_s=0.3, overlap_share=1)
    assert said.title.startswith("A training step becomes 1.00\u00d7 as fast")
    assert f"{COMPARED.gain:.2f}\u00d7 as fast by Peer Direct" in said.body


@given(st.integers(0, 100), st.integers(1, 100_000))
def test_a_step_that_is_all_exchange_hides_no_more_than_there_is(overlap, milliseconds):
    time = milliseconds / 1000
    asked = Training.read({"communication_share": 1, "step_time_s": time, "overlap_share": f"{overlap}%"})
    today = asked.today(time)
    assert 0 <= today.hidden_s <= today.computing_s
    assert today.time_s == pytest.approx(time)


def test_a_small_share_is_not_said_to_be_none():
    said = slide(communication_share="0.4%", step_time_s=0.35, overlap_share="0.4%")
    assert "Exchange: 0.4 % of the step, 1.4 ms" in said.body
    assert "0.4 % of the exchange" in said.body
    almost = slide(communication_share=0.5, step_time_s=0.35, overlap_share=0.999)
    assert "over 99 % of the exchange" in almost.body


@pytest.mark.parametrize("written", [0.35, "0.35", "0.35 s", "350ms"])
def test_a_steps_time_may_carry_its_unit(written):
    given = {"communication_share": 0.4, "step_time_s": written, "overlap_share": 0.5}
    assert Training.read(given).step_time_s == 0.35


@pytest.mark.parametrize("written", [1e-7, 1e7, "1e-7", "soon", "3 GB", True])
def test_a_time_that_is_none_of_a_step_is_told_between_which_it_lies(written):
    given = {"communication_share": 0.4, "step_time_s": written, "overlap_share": 0.5}
    with pytest.raises(ExportError) as told:
        Training.read(given)
    assert str(told.value) == (
        f"training: step_time_s: {written!r} is not a time from 0.000001 to 1000000 seconds, such as 0.35"
    )


@pytest.mark.parametrize(
    ("option", "becomes"),
    [
        (["--overlap", "0.2"], Training(communication_share=0.4, step_time_s=0.3, overlap_share=0.2)),
        (["--step-time", "0.5"], Training(communication_share=0.4, step_time_s=0.5, overlap_share=0.6)),
        (["--gradient", "1 GB"], Training(gradient_bytes=10**9, step_time_s=0.3, overlap_share=0.6)),
    ],
)
def test_an_option_changes_one_field_of_the_outlines_step(tmp_path, monkeypatch, option, becomes):
    outlined = Training(communication_share=0.4, step_time_s=0.3, overlap_share=0.6)
    monkeypatch.setattr(
        "peerlab.features.deck.deck_command.read_outline",
        lambda _: Outline(training=outlined, slides=(SlidePlan("training"),)),
    )
    assert main(["deck", "mine.md", *option, "--output", str(tmp_path)]) == 0
    html = unescape((tmp_path / "index.html").read_text())
    assert training(Outline(training=becomes), COMPARED).body.replace("&#x27;", "'") in html
