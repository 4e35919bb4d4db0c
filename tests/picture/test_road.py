"""The unrolled data path: its hills, what is marked on it, and slices that are where the trace says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.answer.race import delivery
from peerlab.base.units import PS_PER_US
from peerlab.picture.road import road
from peerlab.picture.road_slices import TIMES

PATHS = [("dl1", "host-rdma"), ("dl1", "peer-direct"), ("dl1", "host-tcp"), ("gaudi2", "native"), ("alps-gh200", "host-rdma"), ("ideal-100g", "wire")]  # fmt: skip


def rows_of(found):
    """Return the rows of an unrolled path by column, repetitions written out."""
    raw = {
        name: np.frombuffer(data, "<f4" if name in TIMES else "<i4").astype(float)
        for name, data in found["slices"]["arrays"].items()
    }
    pieces = {name: [] for name in raw}
    for first, last, times, period, _ in found["slices"]["segments"]:
        for again in range(int(times)):
            for name, values in raw.items():
                shift = again * period if name in TIMES and name != "work" else 0
                pieces[name].append(values[int(first) : int(last)] + shift)
    return {name: np.concatenate(values) for name, values in pieces.items()}


@given(st.sampled_from(PATHS), st.integers(2, 40), st.sampled_from([4096, 2**22, 2**24 + 3]))
def test_a_slice_enters_a_stretch_before_it_leaves_and_arrives_when_it_is_delivered(where, nodes, size):
    run = peerlab.simulate(peerlab.Scenario(cluster=where[0], path=where[1], nodes=nodes, message_bytes=size))
    found = road(run)
    rows = rows_of(found)
    for earlier, later in (("came", "enter"), ("enter", "out"), ("enter", "leave"), ("out", "gone"), ("leave", "gone")):  # fmt: skip
        assert (rows[earlier] <= rows[later] + 1e-2).all()
    last = rows["stretch"] == len(found["stretches"]) - 1
    arrived = np.unique(np.round(delivery(run).times_ps / PS_PER_US, 1))
    assert np.isin(
        np.round(rows["gone"][last], 1), np.concatenate([arrived, arrived + 0.1, arrived - 0.1]).round(1)
    ).all()
    assert rows["gone"][last].max() == pytest.approx(delivery(run).times_ps[-1] / PS_PER_US, abs=0.05)


def test_the_detour_climbs_to_host_memory_at_both_ends_and_peer_direct_stays_flat():
    detour, direct = (
        road(peerlab.simulate(peerlab.Scenario(path=path))) for path in ("host-rdma", "peer-direct")
    )
    assert [stop["name"] for stop in detour["stops"]] == [
        "Gaudi",
        "host memory",
        "NIC",
        "NIC",
        "host memory",
        "Gaudi",
    ]
    assert [stop["level"] for stop in detour["stops"]] == [0, 1, 0, 0, 1, 0]
    assert [stop["name"] for stop in direct["stops"]] == ["Gaudi", "NIC", "NIC", "Gaudi"]
    assert direct["spared"]
    assert not detour["spared"]


def test_what_limits_is_marked_where_it_is():
    detour, direct = (
        road(peerlab.simulate(peerlab.Scenario(path=path))) for path in ("host-rdma", "peer-direct")
    )
    assert [sign["words"][0] for sign in detour["signs"] if sign["hot"]] == ["PCIe to host"]
    assert [sign["words"] for sign in direct["signs"] if sign["hot"]] == [["wire 92 % busy"]]
    assert [one["hot"] for one in direct["stretches"]] == [False, True, False]
    # To host memory at the sender from its Gaudi, at the receiver from its NIC.
    assert [one["hot"] for one in detour["stretches"]] == [True, False, False, True, False]
    assert not any(one["hot"] for one in (*direct["stops"], *detour["stops"]))


def test_the_work_on_the_wire_is_its_busy_share():
    run = peerlab.simulate(peerlab.Scenario(path="host-rdma"))
    found = road(run)
    rows = rows_of(found)
    wire = next(i for i, one in enumerate(found["stretches"]) if one["flight"])
    busy = rows["work"][rows["stretch"] == wire].sum() * PS_PER_US / run.time_ps
    assert busy == pytest.approx(run.wire_busy, rel=1e-3)


def test_beside_a_lost_nic_the_slices_of_the_busiest_switch_are_shown():
    run = peerlab.simulate(
        peerlab.Scenario(
            cluster="p4d", nodes=4, path="peer-direct", slow_nics={(3, 2): 0}, message_bytes=2**23
        )
    )
    found, frame = road(run), run.trace.frame()
    rows, wire = rows_of(found), [stretch["flight"] for stretch in found["stretches"]].index(True)
    entered = np.sort(rows["enter"][rows["stretch"] == wire])

    def sent_then(*devices):
        """Return whether the slices of some devices of node 3 are sent when those shown enter the wire."""
        sent = frame[(frame["node"] == 3) & frame["device"].isin(devices) & (frame["resource"] == "NIC send")]
        begins = np.sort(sent["start_ps"].to_numpy() / PS_PER_US)
        return len(begins) == len(entered) and np.allclose(begins, entered, atol=0.1)

    assert sent_then(6, 7)
    assert not sent_then(0, 1)
    assert set(rows["device"]) == {0, 1}  # of the switch
