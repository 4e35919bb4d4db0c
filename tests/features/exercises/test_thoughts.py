"""Honest wrong thoughts: each exercise knows some and names them; other figures are told the method; nothing wrong is right."""

import re
from contextlib import chdir

import pytest
from computed_once import ByName, names_of
from drawing import examples
from hypothesis import assume, given
from hypothesis import strategies as st

from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.exercise import Number
from peerlab.features.exercises.labs import design_review

ALL = ByName()
NUMBERS = names_of(Number)


@pytest.fixture(autouse=True, scope="module")
def own_folder(tmp_path_factory):
    with chdir(tmp_path_factory.mktemp("learner")):
        yield


@pytest.mark.parametrize("name", ALL)
def test_an_exercise_knows_three_wrong_thoughts(name):
    """A choice of three verdicts has two that are wrong."""
    bounds = getattr(ALL[name], "bounds", ())
    assert len([*ALL[name].wrong(), *bounds]) >= min(3, len(getattr(ALL[name], "options", "many")) - 1)


@pytest.mark.parametrize(
    ("name", "answer", "named"),
    [
        ("01-copies", "zero", "zero copy"),
        ("01-dram", 8, "in one direction"),
        ("01-dram", "55.8 GB/s", "one direction"),
        ("01-dram", 7.0, "one NIC"),
        ("01-dram", 50, "could send"),
        ("01-dram", 100, "send and receive"),
        ("01-gain", 2, "one crossing"),
        ("01-gain", "78 %", "exceeds 1"),
        ("01-gain", "0.56", "turn the ratio round"),
        ("01-gain", "44 %", "time that is saved"),
        ("01-uplink", 28.2, "more than enough"),
        ("01-uplink", 10, "already"),
        ("02-steps", 3, "log2"),
        ("02-busbw", 12.5, "rate of one NIC"),
        ("02-busbw", "12.5 GB/s", "rate of one NIC"),
        ("02-busbw", 100, "one NIC in Gbit/s"),
        ("02-busbw", 400, "in Gbit/s"),
        ("02-busbw", 56.2, "2(n-1)/n"),
        ("02-busbw", 20, "cannot be below algbw"),
        ("02-busbw", "443 MB/s", "cannot be below algbw"),
        ("02-busbw", "55.4 Gbit/s", "Mind the unit"),
        ("02-busbw", 442.9, "Gbit/s"),
        ("02-half", 1024, "not for the first time"),
        ("03-cost", 0.104, "That is in ms"),
        ("03-fits", 20, "first size without an eviction"),
        ("03-fits", 2, "whole buffer"),
        ("03-fits", 1, "share of requests"),
        ("03-fits", "100 %", "number of regions"),
        ("04-noise", "15 %", "exceeds 1"),
        ("04-copies", 1, "`direct`"),
        ("05-wire", 400, "could carry"),
        ("05-wire", 50, "one NIC"),
        ("05-nics", 50, "all four"),
        ("05-nics", 30.5, "the log says"),
        ("05-eight-bytes", 86.7, "How often"),
        ("05-eight-bytes", "21.7 ms", "As written that is 21,700 µs. Mind the unit: 1 ms is 1,000 µs."),
        ("05-eight-bytes", 43.4, "twice"),
        ("05-eight-bytes", 28.7, "14 hops"),
        ("05-eight-bytes", 18, "other machines"),
        ("05-eight-bytes", 200, "more than the whole"),
        ("06-second-nic", 0, "same speed is 1 time"),
        ("06-second-nic", 1, "Nearly: the uplink stays full"),
        ("06-second-nic", "10 %", "exceeds 1"),
        ("06-second-nic", 4, "more than twice"),
    ],
)  # fmt: skip
def test_an_honest_thought_is_answered_by_name(name, answer, named):
    verdict = ALL[name].judge(answer)
    assert not verdict.right
    assert named in verdict.says


@pytest.mark.parametrize("name", NUMBERS)
@given(factor=st.floats(1e-3, 1e3))
@examples(part=4)
def test_a_figure_is_right_within_its_tolerance_and_else_told_why_or_how(name, factor):
    one = ALL[name]
    assume(abs(abs(factor - 1) - one.tolerance) > 1e-9)  # at its edge rounding decides
    said = one.truth() * factor
    verdict = one.judge(said)
    assert verdict.right == (abs(factor - 1) <= one.tolerance)
    known = {says for _, says in one.wrong()} | {bound.says for bound in one.bounds}
    if not verdict.right and "too " in verdict.says and verdict.says not in known:
        assert verdict.says.startswith(one.hints[0])


@pytest.mark.parametrize("name", NUMBERS)
def test_the_truth_is_right_however_it_is_rounded_or_written(name):
    one = ALL[name]
    truth = one.truth()
    exact = f"{truth:.0f}" if one.tolerance == 0 else f"{truth:.3g}"
    for written in (exact, exact.replace(".", ","), f"{exact} {one.unit}", f" ~{exact}{one.unit} ", truth):
        assert one.judge(written).right, written


def test_the_ends_of_the_band_are_not_the_worst_case_and_are_answered_by_name():
    gain = design_review._gain_band()
    assert "on both paths together" in ALL["06-worst"].judge(gain.low).says
    assert "least of all wirings" in ALL["06-worst"].judge(gain.least).says


def test_two_mistakes_that_lead_to_one_figure_are_both_told():
    """Two NICs of 200 Gbit/s and PCIe Gen4 x16: 1.77 counts the uplink once, or one of the NICs."""
    seed = next(
        seed
        for seed in range(100)
        if re.search(r"two NICs of 200 .* Gen4 x16", find("01-transfer", seed).question)
    )
    says = find("01-transfer", seed).judge(1.77).says
    assert "counts the uplink once" in says
    assert "Or: That is one NIC." in says


def test_a_count_is_exact():
    assert not find("02-steps").judge(14.3).right
    assert not find("01-copies").judge("2.05 copies").right


def test_an_other_figure_is_told_the_method_before_the_direction():
    for name, answer, way in (("02-steps", 20, "high"), ("03-fits", 11, "low"), ("01-gain", 1.4, "low")):
        says = find(name).judge(answer).says
        assert says.startswith(find(name).hints[0])
        assert says.endswith(f"is too {way}.)")


def test_a_rule_that_takes_two_less_the_noise_for_its_inverse_is_wrong():
    """0.85 is not 1/1.15, and at a noise of 1.4 everybody sees it: 0.6 against 0.71."""

    def verdict(ratios, noise):
        low, high = ratios.quantile([0.25, 0.75])
        return "faster" if low > noise else "slower" if high < 2 - noise else "within the noise"

    says = find("04-verdict").judge(verdict).says
    assert "It is 0.71, and not 0.60." in says


WRONG_RULES = {
    "the lowest and the highest": lambda ratios, _: (ratios.min(), ratios.max()),
    "the second and the last but one": lambda ratios, _: (sorted(ratios)[1], sorted(ratios)[-2]),
    "the first and the last measured": lambda ratios, _: (ratios.iloc[0], ratios.iloc[-1]),
    "the second and the fourth measured": lambda ratios, _: (ratios.iloc[1], ratios.iloc[3]),
    "the median": lambda ratios, _: (ratios.median(), ratios.median()),
    "the mean": lambda ratios, _: (ratios.mean(), ratios.mean()),
    "mean and spread": lambda ratios, _: (ratios.mean() - ratios.std(), ratios.mean() + ratios.std()),
    "tenths": lambda ratios, _: tuple(ratios.quantile([0.1, 0.9])),
    "thirds": lambda ratios, _: tuple(ratios.quantile([0.33, 0.67])),
    "the quartile that is further from 1": lambda ratios, _: tuple(ratios.quantile([0.75, 0.25])),
    "a noise that is none": lambda ratios, noise: (ratios.quantile(0.25) * noise, ratios.quantile(0.75) / noise),
    "a noise to be added": lambda ratios, noise: (ratios.quantile(0.25), ratios.quantile(0.75) / (noise * (2 - noise))),
}  # fmt: skip
"""Rules of lab 04 that look right: the two figures that each holds against noise and 1/noise."""


@pytest.mark.parametrize("name", WRONG_RULES)
def test_a_wrong_rule_for_a_verdict_does_not_pass(name):
    """Lowest and highest ratio in place of the quartiles passed as right."""

    def verdict(ratios, noise):
        low, high = WRONG_RULES[name](ratios, noise)
        return "faster" if low > noise else "slower" if high < 1 / noise else "within the noise"

    assert not find("04-verdict").judge(verdict).right


def test_a_function_may_answer_in_other_words():
    quartile = find("04-verdict")

    def verdict(ratios, noise):
        low, high = ratios.quantile([0.25, 0.75])
        return "Faster" if low > noise else "slower" if high * noise < 1 else "within noise"

    assert quartile.judge(verdict).right
    advice = find("06-recommend")
    assert advice.judge(
        lambda least, most: (
            "use peer-direct" if least > 1.05 else "Measure" if most > 1.05 else "Stay with the host"
        )
    ).right
    assert find("05-bounces").judge(lambda line: int("via NET/" in line and "GDRDMA" not in line)).right
