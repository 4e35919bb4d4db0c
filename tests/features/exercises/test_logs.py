"""Logs of lab 05: the figures are the source's, the layout is the tool's, and the text gives nothing away."""

import pytest

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.diagnosis import explanations
from peerlab.features.exercises.logs import lab_log, said, sources, times

NAMES = "ABCD"


@pytest.mark.parametrize("name", NAMES)
def test_read_back_a_log_has_the_figures_of_its_source(name):
    log = lab_log(name)
    read, wanted = (one.medians() for one in (peerlab.load(log.text, nodes=2), log.measured))
    for column in ("variant", "size_bytes", "ranks", "nodes"):
        assert list(read[column]) == list(wanted[column]), column
    assert read["time_s"].tolist() == pytest.approx(wanted["time_s"].tolist(), rel=1e-9)
    assert read["correct"].tolist() == wanted["correct"].tolist()


@pytest.mark.parametrize("name", NAMES)
def test_a_log_says_that_it_was_put_together_and_not_which_path_it_took(name):
    log = lab_log(name)
    assert log.text.splitlines()[0].startswith("# Real figures in the layout of ")
    assert set(peerlab.load(log.text, nodes=2).table["path"]) == {""}
    for secret in (*explanations(), log.source, log.note, "nid0"):
        assert not secret or secret not in log.text


def test_three_logs_are_named_as_their_source_says_and_the_misleading_one_is_left_open():
    told = {"A": None, "B": "juliet", "C": "p5", "D": "p4d"}
    for name, cluster in told.items():
        log = lab_log(name)
        found = peerlab.diagnose(peerlab.load(log.text, nodes=2), cluster)
        assert found.path == (None if name == "D" else log.measured.table["path"][0])
    assert peerlab.diagnose(peerlab.load(lab_log("D").text)).path == "peer-direct"  # by its setting alone


def test_a_notebook_shows_a_log_as_text_and_its_source_when_asked():
    page = lab_log("B")._repr_html_()
    assert page.startswith("<pre ")
    assert "UCX_IB_GPU_DIRECT_RDMA=0" in page
    table = sources([lab_log(name) for name in NAMES])
    assert list(table["path"]) == ["kernel TCP", "RDMA through host", "Peer Direct", "Peer Direct"]
    assert table["source"].str.len().min() > 10


def test_tables_are_asked_for_by_name():
    assert times("juliet/osu-latency-staged")[4 * 2**20] == 443.22e-6
    assert "via NET/AWS Libfabric/0" in list(said("g4dn-metal/nccl-2n2r-efa")["line"])
    with pytest.raises(PeerlabError, match="no log 'E'"):
        lab_log("E")
