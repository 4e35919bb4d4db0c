"""A figure is read as people write it, or they are told why not; a right one is right however it is written."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerlab.features.exercises.figure import figure, scale, slips


def number(written, unit):
    return figure(written, unit).value


def test_a_figure_may_carry_its_unit_and_a_comma():
    assert number("7,05 GB/s", "GB/s") == number(" 7.05 ", "GB/s") == number(7.05, "GB/s") == 7.05
    assert number("4 copies", "copies") == number("4 COPIES", "copies") == number(4, "copies") == 4
    assert number("104 us", "µs") == number("104 \u03bcs", "µs") == number("104µs", "µs") == 104
    assert number("0,564", "") == 0.564


def test_a_figure_may_be_worked_out_and_a_ratio_be_called_times():
    assert number("12.5 / 7.05", "") == 12.5 / 7.05
    assert number("2*7", "steps") == 14
    assert number("1.78x", "") == number("1,78 \u00d7", "") == number("~1.78 times", "") == 1.78
    assert number("53.9 GBps", "GB/s") == number("53.9 gb/s", "GB/s") == 53.9
    assert number("4,194,304 B", "B") == 2**22


def test_a_figure_in_another_unit_of_its_kind_is_converted():
    assert number("56 Gbit/s", "GB/s") == number("56 Gb/s", "GB/s") == number("56 gbps", "GB/s") == 7
    assert number("7050 MB per second", "GB/s") == pytest.approx(7.05)
    assert number("4.37 ms", "µs") == pytest.approx(number("0.00437 seconds", "µs")) == pytest.approx(4370)
    assert number("0.109375 GiB", "MiB") == 112
    assert number("178 %", "") == number("78 % faster", "") == pytest.approx(1.78)


def test_what_is_counted_may_be_called_by_its_other_names_or_be_said_in_words():
    assert number("256 nodes", "servers") == number("256 hosts", "servers") == 256
    assert number("18 entries", "regions") == number("18 registrations", "regions") == 18
    assert number("two copies", "copies") == number("twice", "copies") == number("2 times", "copies") == 2
    assert (
        number("about a factor of 1.8", "")
        == number("1.8-fold", "")
        == number("1.8 times as fast", "")
        == 1.8
    )


@pytest.mark.parametrize(
    ("written", "unit", "told"),
    [
        ("1,024", "", "write 1024 or 1.024"),
        ("18-20", "regions", "not a range"),
        ("1.5 to 2", "", "not a range"),
        ("1/0", "", "divides by zero"),
        ("12.5 / (14.1 / 2)", "", "a product or a quotient"),
        ("nan", "", "Answer with a number"),
        ("9" * 400, "", "Answer with a number"),
        ("1" + " " * 100_000 + "x", "", "Answer with a number"),
        ("very fast", "GB/s", "Answer with a number in GB/s"),
        ("4 apples", "", "without a unit"),
        ("100 %", "regions", "Answer with a number of regions"),
        ("12.5 GB/s", "regions", "Answer with a number of regions"),
        ("12.5 GB", "GB/s", "Answer in GB/s"),
        ("1.78 times slower", "", "without a unit"),
        ("twice as fast", "copies", "Answer with a number of copies"),
        ("2 times faster", "servers", "Answer with a number of servers"),
    ],
    ids=lambda one: one[:8],
)
def test_what_is_no_figure_is_told_why(written, unit, told):
    with pytest.raises(ValueError, match=told):
        number(written, unit)


FIGURES = st.floats(1e-3, 1e6)
UNITS = [
    ("GB/s", ("GB/s", "Gbit/s", "Gb/s", "GiB/s", "MB/s", "TB/s")),
    ("MiB", ("MiB", "MB", "KiB", "GiB", "bytes")),
    ("µs", ("µs", "us", "ms", "s", "ns", "microseconds")),
    ("", ("", "x", "times", "times as fast")),
    ("servers", ("servers", "server", "nodes", "Hosts", "")),
]


@given(FIGURES, st.sampled_from(UNITS), st.booleans(), st.data())
def test_a_figure_means_the_same_in_every_unit_of_its_kind(value, units, comma, data):
    asked, others = units
    other = data.draw(st.sampled_from(others))
    factor = scale(asked)[1] / scale(other)[1] if scale(asked) else 1
    written = f"{value * factor:.9e} {other}".replace(".", "," if comma else ".")
    assert number(written, asked) == pytest.approx(value, rel=1e-6)


@given(st.floats(0.01, 1e6), st.sampled_from(["GB/s", "MiB", "µs", ""]))
def test_slips_are_figures_with_words(truth, unit):
    told = list(slips(truth, unit))
    assert len(told) >= 3
    assert all(math.isfinite(wrong) and says.endswith(".") for wrong, says in told)
    assert not list(slips(truth, "copies"))


@given(st.text(max_size=120), st.sampled_from(["GB/s", "MiB", "µs", "copies", ""]))
def test_whatever_is_written_is_a_figure_or_told_in_words(written, unit):
    with suppress(ValueError):
        assert math.isfinite(number(written, unit))
