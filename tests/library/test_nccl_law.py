"""NCCL's law as a closed form: every row of a reference computed elsewhere, and what must hold for any machine."""

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerlab.library.library_files import load_library
from peerlab.library.nccl_law import PROTOCOLS, Costs, NcclSight, chosen, course, courses

LAW = load_library("nccl-verbs").law
ALGORITHM = {"T": "tree", "R": "ring", "V": "nvls-tree"}
PROTOCOL = dict(zip("L1S", PROTOCOLS, strict=True))
HOP = {"efa": 18, "ib": 4, "cxi": 2}


def reference():
    """Return the folder of the worked example, or None where there is none."""
    place = os.environ.get("PEERLAB_REFERENCE_DIR")
    found = Path(place) / "prototypes" / "library" if place else None
    return found if found and found.is_dir() else None


def machine(given):
    return NcclSight(
        nodes=given["N"], devices=given["D"], generation=given["cc"], wire=given["W"], ring=tuple(given["ring"]),
        tree=tuple(given["tree"]), nvls=tuple(given["nvls"]) if "nvls" in given else None, channels=given["n"],
        nvlink=bool(given["nvl"]), direct=bool(given["gdr"]), amd=bool(given["amd"]), version=given["ver"],
        bound=given.get("cap", float("inf")),
    )  # fmt: skip


@pytest.mark.skipif(reference() is None, reason="PEERLAB_REFERENCE_DIR has no worked example of the law")
def test_every_worked_row_comes_out_with_its_choice():
    machines = json.loads((reference() / "machines.json").read_text())
    lines = (reference() / "worked.csv").read_text().splitlines()[1:]
    for line in lines:
        name, size, _, _, predicted, choice, _ = line.rsplit(",", 6)  # a name may hold a comma
        _, transport, given = machines[name]
        steering = (35 if given["ver"] >= 229 else 75) if transport == "efa" else None
        costs = Costs(
            hop=HOP[transport],
            message=16,
            steering=steering,
            protocols=[PROTOCOL[one] for one in given["protos"]],
        )
        seen = machine(given)
        found = chosen(seen, int(size), LAW, costs, courses(seen, int(size), LAW, costs))
        assert found.key == (ALGORITHM[choice[0]], PROTOCOL[choice[1]]), (name, size)
        assert found.time == pytest.approx(float(predicted), abs=0.051), (name, size)
    assert len(lines) > 200


@st.composite
def sights(draw):
    devices = draw(st.sampled_from([1, 2, 4, 8]))
    nics, rate = draw(st.sampled_from([1, 2, 4, 8])), draw(st.floats(1, 50))
    return NcclSight(
        nodes=draw(st.integers(2, 64)), devices=devices, generation=draw(st.integers(0, 3)), wire=nics * rate,
        ring=(nics, rate), tree=(nics, 1.5 * rate, rate), nvls=(16, 23.0, rate) if devices == 8 else None,
        channels=2 * nics, nvlink=draw(st.booleans()), direct=draw(st.booleans()), amd=draw(st.booleans()),
        version=draw(st.sampled_from([212, 219, 222, 230])),
    )  # fmt: skip


COSTS = st.builds(Costs, hop=st.floats(0, 60), message=st.floats(0, 30))


@given(sights(), COSTS, st.integers(1, 2**33))
def test_the_choice_is_the_least_where_no_plugin_steers_it(seen, costs, size):
    found = courses(seen, size, LAW, costs)
    best = chosen(seen, size, LAW, costs, found)
    assert best.time == min(one.time for one in found.values())
    assert all(one.time > 0 for one in found.values())


@given(sights(), COSTS, st.integers(1, 2**33))
def test_a_slower_transport_and_a_dearer_message_never_make_it_faster(seen, costs, size):
    for key, one in courses(seen, size, LAW, costs).items():
        assert course(seen, size, LAW, replace(costs, hop=costs.hop + 5), *key).time >= one.time
        assert course(seen, size, LAW, replace(costs, message=costs.message + 5), *key).time >= one.time


@given(sights(), COSTS, st.sampled_from(PROTOCOLS))
def test_inside_one_choice_of_algorithm_protocol_and_chunk_a_larger_message_is_not_faster(
    seen, costs, protocol
):
    sizes = [2**power for power in range(33)]
    for algorithm in ("tree", "ring"):
        runs = [course(seen, size, LAW, costs, algorithm, protocol) for size in sizes]
        for one, other in pairwise(runs):
            if (one.chunk, one.channels) == (other.chunk, other.channels):
                assert other.time >= 0.98 * one.time, (algorithm, protocol, one, other)


@given(sights(), COSTS)
def test_a_plugin_steers_not_the_time(seen, costs):
    steered = replace(costs, steering=75.0)
    for size in (8, 2**20, 2**30):
        assert courses(seen, size, LAW, steered) == courses(seen, size, LAW, costs)


def test_a_plugin_steers_the_choice_to_what_it_takes_for_less():
    seen = NcclSight(
        nodes=2, devices=8, generation=2, wire=400.0, ring=(16, 24.0), tree=(16, 24.0, 24.0), nvls=None, channels=16,
        nvlink=True, direct=True, amd=True, version=220,
    )  # fmt: skip
    sizes, picked = [2**power for power in range(3, 32)], []
    for steering in (None, 75.0):
        costs = Costs(hop=18, message=16, steering=steering)
        picked.append([chosen(seen, size, LAW, costs, courses(seen, size, LAW, costs)) for size in sizes])
    assert [one.key for one in picked[0]] != [one.key for one in picked[1]]
    assert all(least.time <= steered.time for least, steered in zip(*picked, strict=True))
