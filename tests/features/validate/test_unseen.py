"""Machines with no log of their own: what is promised holds on the logs there are, each left out of the fit."""

import numpy as np
import pytest
from logs import P5_US, nccl

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.validate.held_out.constants_fit import FITTED, _in_us, _law_s
from peerlab.features.validate.held_out.logged_machines import load_machines
from peerlab.features.validate.held_out.unseen import SIZES, SizeError, against, unseen
from peerlab.records import load

MEASURED = "data/measured"
KNOWN = {one.name: one for one in load_machines()}


@pytest.mark.parametrize(
    "name",
    [
        "p5.48xlarge, 2 x 8 H100",
        "g4dn.metal, 2 x 1 T4",
        "Azure ND A100 v4, 2 x 8 A100",
        "H100 with NDR, 2 x 8 H100",
    ],
)
def test_a_machine_that_no_log_was_fitted_to_is_foretold(name):
    (found,) = unseen([KNOWN[name]])
    assert found.fitted_on
    assert name not in found.fitted_on
    assert found.median <= 0.15
    assert abs(found.worst.error) <= 0.40
    assert found.median < found.median_alone / 3
    assert len(found.by_size()) == len(SIZES)


def test_the_better_of_two_columns_counts_and_where_they_differ_a_row_does_not_count_for_the_worst():
    even = SizeError(8, 10e-6, 9e-6, 9e-6, 3e-6, "")
    assert (even.error, even.counts) == (0, True)
    assert not SizeError(8, 45.7e-6, 29.8e-6, 30e-6, 3e-6, "").counts
    assert SizeError(8, float("nan"), 9e-6, 9e-6, 3e-6, "").counts


def test_anybodys_log_is_held_against_its_cluster(root):
    log = load(root / MEASURED / "azure-nd-a100-v4" / "nccl-2n16r-ib.csv")
    found = against(log, "azure-nd-a100-v4")
    assert found.median < 0.1
    assert found.as_dict()["points"][0]["library_does"].startswith("NCCL 2.18 over InfiniBand")


def test_the_version_of_the_library_matters(root):
    log = load(root / MEASURED / "p4d" / "nccl-2n16r-efa-2.9.9.csv")
    old, new = (against(log, "p4d", version=version) for version in ("2.19", "2.22"))
    assert [one.simulated_s for one in old.points] != [one.simulated_s for one in new.points]


def test_what_cannot_be_compared_is_refused_in_words(root):
    log = load(root / MEASURED / "azure-nd-a100-v4" / "nccl-2n16r-ib.csv")
    for cluster in ("dl1", "p4d", "juliet"):
        with pytest.raises(
            PeerlabError, match="of another machine: it says that it was taken on azure-nd-a100-v4"
        ):
            against(log, cluster)
    p5 = nccl(P5_US, ranks=16, devices=())
    for cluster, why in (("dl1", "nccl-tests does not run on Gaudi"), ("p4d", "a node of the log sends")):
        with pytest.raises(PeerlabError, match=f"of another machine: {why}"):
            against(p5, cluster)
    one_node = load(root / MEASURED / "gaudi2" / "hccl-1n8r-1gib.csv")
    with pytest.raises(PeerlabError, match="the log is of 1 node, and native goes between nodes"):
        against(one_node, "gaudi2")
    with pytest.raises(PeerlabError, match="unknown library"):
        against(log, "azure-nd-a100-v4", library="nickel")


@pytest.mark.parametrize("cluster", ["p5", "alps-gh200", "g4dn-metal"])
def test_many_tries_of_a_librarys_constants_go_through_its_law_at_once_as_each_does_alone(cluster):
    tries = {key: np.array([4.0, 17.33, 60.0]) for key in FITTED}
    for size in (8, 2**16, 2**22, 2**30):
        scenario = peerlab.Scenario(cluster=cluster, nodes=2, message_bytes=size)
        together = _law_s(scenario, tries, 20.0)
        alone = [
            _law_s(scenario, {key: np.array([values[at]]) for key, values in tries.items()}, 20.0)[0]
            for at in range(3)
        ]
        assert together.tolist() == alone
        assert together[0] < together[2]
        # without its costs in an array, it is what the library does with the constants of its file
        figures = scenario.hardware.figures
        own = {key: np.array([_in_us(figures[key], figures[key].value)]) for key in FITTED if key in figures}
        assert _law_s(scenario, own, np.inf).tolist() == [_law_s(scenario, {}, np.inf).item()]
