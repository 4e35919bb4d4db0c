"""What registering costs here: really pinned, honestly refused."""

import re
import resource

import pytest

import peerlab
from peerlab.base.errors import MeasurementError
from peerlab.features.measure import pin_cost as measured
from peerlab.features.measure.reports.pin_cost_report import cost_html


def test_more_pages_cost_more_and_the_table_shows_both():
    found = peerlab.pin_cost(("64 KiB", "4 MiB"), pins=("mlock",))
    small = found.table[found.table["page_bytes"] == 4096].set_index("size_bytes")
    if len(small) < 2:
        pytest.skip(f"too little may be locked here: {found.notes}")
    assert small["register_us"][4 << 20] > 3 * small["register_us"][64 << 10]
    page = found._repr_html_()
    assert "mlock: an emulation" in page
    assert page.count("<th scope='row'>") == len(found.table)


def test_a_bar_is_as_long_as_a_mib_costs_and_notes_are_text():
    row = {
        "pins": "mlock",
        "page_bytes": 4096,
        "size_bytes": 1 << 20,
        "register_us": 60.0,
        "deregister_us": 40.0,
    }
    half = row | {"size_bytes": 2 << 20}
    page = cost_html([row, half], ["<b>no</b>"])
    assert [int(px) for px in re.findall(r"style='width:(\d+)px", page)] == [80, 40]
    assert "100 µs" in page
    assert "50 µs" in page
    assert "<b>no" not in page


def test_a_refusal_shows_what_was_held_and_the_kernels_reason():
    page = peerlab.show_limit("16 KiB", region="4 KiB")._repr_html_()
    assert "4 regions of 4 KiB: 16 KiB, then ENOMEM" in page
    assert "ulimit -l" in page


def test_what_the_limit_forbids_is_left_out_and_said(monkeypatch):
    monkeypatch.setattr(measured, "limit_bytes", lambda: 1 << 20)
    found = peerlab.pin_cost(("64 KiB", "4 MiB"), pins=("mlock",))
    assert 4 << 20 not in set(found.table["size_bytes"])
    assert any("4 MiB: not tried" in note for note in found.notes)


def test_a_way_that_the_kernel_denies_is_said(monkeypatch):
    monkeypatch.setattr(measured, "why_not", lambda way: "EPERM (no)" if way == "io_uring" else "")
    found = peerlab.pin_cost(["64 KiB"])
    assert set(found.table["pins"]) == {"mlock"}
    assert "io_uring does not work here: EPERM (no)" in found.notes


def test_a_refusal_within_is_told_and_the_rest_is_measured():
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)

    def refused(*_):
        raise OSError(12, "mlock: Cannot allocate memory")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured.linux, "lock", refused)
        rows, failed = measured._measured(["mlock"], [65536])
    assert rows == []
    assert "ENOMEM" in failed[0]
    assert resource.getrlimit(resource.RLIMIT_MEMLOCK) == limit


@pytest.mark.parametrize(("sizes", "says"), [(["1 KiB"], "no multiple of 4 KiB"), (["1 GiB"], "up to 256 MiB"), (["much"], "sizes")])  # fmt: skip
def test_impossible_sizes_are_refused(sizes, says):
    with pytest.raises(MeasurementError, match=says):
        peerlab.pin_cost(sizes)


def test_an_unknown_way_is_refused():
    with pytest.raises(MeasurementError, match="'verbs' is unknown"):
        peerlab.pin_cost(["64 KiB"], pins=["verbs"])
