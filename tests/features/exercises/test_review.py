"""Lab 06 is about the learner's own file: it is written once, edited, checked, and every truth follows from it."""

import pytest

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.labs import review

pytestmark = pytest.mark.usefixtures("own_folder")


def by_hand(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_the_draft_is_written_once_and_can_be_simulated():
    mine = review.draft()
    assert peerlab.simulate(peerlab.Scenario(cluster=mine, nodes=8, path="host-rdma")).time_s > 0
    by_hand(mine, 'title = "My cluster"', 'title = "Ours"')
    assert peerlab.load_cluster(review.draft()).title == "Ours"
    assert {"NIC rate (nic.rate)", "PCIe uplink (switch.uplink)"} <= set(
        review.assumed(peerlab.load_cluster(mine)).index
    )


def test_an_edit_keeps_the_rest_and_brings_its_source():
    mine = review.draft()
    by_hand(mine, 'title = "My cluster"', 'title = "Ours"')
    cluster = peerlab.load_cluster(review.edit(mine, {"nic.rate": 400}, source="a quote of 1 May"))
    assert (cluster.title, cluster.nic_Bps) == ("Ours", 50 * 10**9)
    assert (cluster.figures["nic.rate"].source, cluster.figures["nic.rate"].range) == (
        "a quote of 1 May",
        None,
    )
    with pytest.raises(PeerlabError, match=r"did you mean 'nic\.rate'"):
        review.edit(mine, {"nic.rat": 1})


def test_an_edit_without_a_source_is_refused_and_the_file_stays():
    """Such a file could not be read any more, and no edit would have mended it."""
    mine = review.draft()
    before = mine.read_text()
    with pytest.raises(PeerlabError, match="source must say where the figures are from"):
        review.edit(mine, {"nic.rate": 200}, source=" ")
    assert mine.read_text() == before


@pytest.mark.parametrize("answer", ["my-cluster", "200 Gbit/s", 200, "dl1"])
def test_what_is_no_file_is_told_what_to_answer(answer):
    assert find("06-file").judge(answer).says == "Answer with the name of your file, as `mine` holds it."


@pytest.mark.parametrize("value", [..., "200 Gbit/s", float("nan"), True])
def test_what_is_no_number_is_refused_in_one_line(value):
    with pytest.raises(PeerlabError, match=r"nic\.rate must be a number, in Gbit/s: .* is none"):
        review.edit(review.draft(), {"nic.rate": value})


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ({"nic.rate": 200}, "`switch.uplink` is still that of the draft"),
        ({"nic.rate": 800, "switch.uplink": 28.2}, "is it what several carry together?"),
        ({"nic.rate": 50, "switch.uplink": 28.2}, "mind the unit, and what it is of: per NIC, per direction"),
        ({"nic.rate": 200, "switch.uplink": 28}, "about this machine"),
    ],
)
def test_a_figure_of_the_data_sheet_may_be_rounded_and_not_mistaken(figures, says):
    assert says in find("06-file").judge(review.edit(review.draft(), figures)).says


def test_a_file_edited_by_hand_is_right_in_any_unit_but_not_without_a_source():
    mine = review.draft()
    review.edit(mine, {"switch.uplink": 28.2})
    text = mine.read_text()
    (line,) = (one for one in text.splitlines() if one.startswith("rate = ") and "per NIC" in one)
    judge = find("06-file").judge
    for entry, right, says in (
        (
            '{ value = 25, unit = "GB/s", basis = "per NIC, per direction", source = "data sheet" }',
            True,
            "own",
        ),
        (
            '{ value = 200, unit = "GB/s", basis = "per NIC, per direction", source = "data sheet" }',
            False,
            "Gbit/s?",
        ),
        ('{ value = 200, unit = "Gbit/s", basis = "per NIC, per direction" }', False, "cannot use it yet"),
        (
            '{ value = 200, unit = "Gbit/s", basis = "b", source = "", assumption = "so be it", range = [100, 200] }',
            False,
            "no source yet",
        ),
    ):
        mine.write_text(text.replace(line, f"rate = {entry}"))
        verdict = judge(mine)
        assert verdict.right == right, verdict.says
        assert right or says in verdict.says
    assert "cannot read" in judge("nowhere.toml").says


def test_truths_are_those_of_the_learners_file():
    gain, matters = find("06-worst").truth, find("06-matters").truth
    of_the_sheet = gain()
    review.draft()
    assert gain() < 0.9 < of_the_sheet  # nobody knows the NIC's rate yet
    review.edit(review.FILE, review.SHEET)
    assert gain() == of_the_sheet
    assert matters() == "where the NICs hang"


def test_the_recommendation_is_the_decks_own():
    advice = find("06-recommend")
    review.edit(review.draft(), review.SHEET)
    assert advice.judge(
        lambda least, most: (
            "use Peer Direct" if least > 1.05 else "measure first" if most > 1.05 else "stay with the host"
        )
    ).right
    assert "one of" in advice.judge(lambda *_: None).says
    assert "raised ZeroDivisionError" in advice.judge(lambda *_: 1 / 0).says
