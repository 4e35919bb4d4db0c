import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerlab.base import errors, units
from peerlab.collectives import plan
from peerlab.question import scenario


@pytest.mark.parametrize("module", [units, errors, plan, scenario], ids=lambda m: m.__name__)
def test_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(module).attempted > 0


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("4096", 4096),
        ("64 MiB", 64 * 2**20),
        ("64MB", 64_000_000),
        ("1.5 GiB", 3 * 2**29),
        ("2e3 kB", 2_000_000),
        (" 7 b ", 7),
        ("1_000", 1000),
    ],
)
def test_sizes_are_read(text, nbytes):
    assert units.parse_bytes(text) == nbytes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("64 MB/s", "is a rate"),
        ("100 Gbps", "is a rate"),
        ("64 Mb", "in bits"),
        ("64 Mbit", "in bits"),
        ("64 parsec", "unknown"),
        ("lots", "not a number"),
        ("", "not a number"),
        ("1.5 B", "whole number of bytes"),
        ("nan MB", "not a number"),
        ("1e400 GB", "unknown"),
        (2.5, "whole number of bytes"),
        (True, "whole number of bytes"),
        (None, "whole number of bytes"),
    ],
)
def test_what_is_no_size_is_refused_in_words(text, says):
    with pytest.raises(ValueError, match=says):
        units.parse_bytes(text)


@given(st.integers(0, 2**60))
def test_a_size_said_in_full_units_is_read_back(nbytes):
    assert units.parse_bytes(str(nbytes)) == nbytes
    assert units.parse_bytes(f"{nbytes} KiB") == nbytes * 1024


@given(st.integers(1, 2**40), st.integers(1, 10**13))
def test_service_is_rounded_up_to_a_picosecond(nbytes, rate):
    ps = units.service_ps(nbytes, rate)
    assert (ps - 1) * rate < nbytes * 10**12 <= ps * rate


@pytest.mark.parametrize(
    ("ps", "text"), [(0, "0 s"), (999, "999 ps"), (16_700_000_000, "16.7 ms"), (2 * 10**12, "2 s")]
)
def test_times_are_said_with_three_digits(ps, text):
    assert units.say_time(ps) == text
