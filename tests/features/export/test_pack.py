"""What is packed comes out again: text as it was, times within the rounding that is stated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unpack import Pack

import peerlab
from peerlab.base.units import PS_PER_US
from peerlab.features.export.pack import Packing, rounding_ns
from peerlab.picture.frames import PASSED
from peerlab.picture.payload import payload

SCENARIOS = [
    {"nodes": 2, "message_bytes": "64 KiB"},
    {"nodes": 64, "path": "host-tcp"},
    {"nodes": 1024, "path": "peer-direct", "registration": "per-transfer"},
    {"nodes": 6, "path": "peer-direct", "jitter": 0.1},
]
TIMES = {"enter", *PASSED, "until", "queued", "done", "end"}


def packed(parcel, length_us):
    packing = Packing()
    state = packing.add(parcel, length_us)
    pack = Pack(packing.text({"state": state}))
    return pack.whole(pack.document["state"])


@pytest.mark.parametrize("fields", SCENARIOS)
def test_every_row_of_a_run_comes_out_within_the_rounding(fields):
    run = peerlab.simulate(peerlab.Scenario(**fields))
    parcel, length = payload(run), run.time_ps / PS_PER_US
    back = packed(parcel, length)
    rounding_us = rounding_ns(length) / 1e3
    for rows, again in (
        (parcel["views"]["scene"]["moves"], back["views"]["scene"]["moves"]),
        (parcel["views"]["timeline"]["spans"], back["views"]["timeline"]["spans"]),
    ):
        assert again["count"] == rows["count"] > 0
        for name, raw in rows["arrays"].items():
            if name in TIMES:
                times = np.frombuffer(raw, "<f4")
                assert np.abs(again["arrays"][name] - times).max() <= 1.01 * rounding_us + 1e-7 * length, name
            else:
                assert again["arrays"][name].tolist() == np.frombuffer(raw, "<i4").tolist()
    assert back["meta"]["words"] == parcel["meta"]["words"]
    assert back["views"]["headline"]["cards"][1] == parcel["views"]["headline"]["cards"][1]


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii"), min_size=3), inner, max_size=4)
    ),
    max_leaves=30,
)


@given(plain.filter(lambda value: isinstance(value, (dict, list))))
def test_whatever_is_text_or_a_whole_number_comes_out_as_it_was(value):
    assert packed({"state": value, "again": [value, value]}, 1) == {"state": value, "again": [value, value]}


@given(st.lists(st.integers(-(2**31) // 4, 2**31 // 4), min_size=1, max_size=50))
def test_whole_numbers_of_a_column_come_out_as_they_were(numbers):
    arrays = {
        "start": np.arange(len(numbers)).astype("<f4").tobytes(),
        "step": np.array(numbers, "<i4").tobytes(),
    }
    back = packed({"rows": {"arrays": arrays}}, len(numbers))
    assert back["rows"]["arrays"]["step"].tolist() == numbers


@given(st.floats(1e-3, 1e9))
def test_the_rounding_is_a_few_millionths_of_the_run_or_a_nanosecond(length_us):
    step = rounding_ns(length_us)
    assert step == 1 or 5e-6 <= step / (length_us * 1e3) <= 12.5e-6
    assert f"{step:.0f}".rstrip("0") in ("1", "2", "5")


def test_what_is_alike_is_kept_once():
    run = peerlab.simulate(peerlab.Scenario())
    one, two = Packing(), Packing()
    one.add(payload(run), 1)
    two.add(payload(run), 1)
    two.add(payload(run, number=1), 1)
    assert len(two.text({})) - len(one.text({})) < 400
