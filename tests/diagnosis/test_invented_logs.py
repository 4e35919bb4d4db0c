"""Logs whose path is known because they were simulated, in the forms of tools and launchers: none is named wrongly."""

import os
from collections import Counter
from contextlib import suppress

import pytest
from invented_logs import invented
from logs import nccl

import peerlab
from peerlab.answer import known_answers
from peerlab.base.errors import RecordsError
from peerlab.diagnosis import fits, shortfall
from peerlab.model.paths import IN_NODE

SEEDS = range(30)
MORE = range(30, 300)
MOST_REPORTS = 400
"""How often simulations of one log may say how far they are: some 130 a second, so that any log is answered in 3 s."""


class Work:
    """Counts how often simulations say how far they are, which is the work that they are on every machine alike."""

    def __init__(self, monkeypatch):
        self.reports = 0
        for module in (fits, shortfall):
            monkeypatch.setattr(module, "simulate", self.simulate)

    def simulate(self, scenario, progress=None):
        def count(done, total):
            self.reports += 1
            if progress:
                progress(done, total)

        return peerlab.simulate(scenario, progress=count)


def judged(seed):
    """Return ``right``, ``open`` or ``wrong``, with what was drawn."""
    one = invented(seed)
    try:
        found = peerlab.diagnose(peerlab.load(one.text)).path
    except RecordsError:  # cut off before its first whole row
        return "open", one
    return "open" if found is None else "right" if found == one.path else "wrong", one


@pytest.fixture(scope="module")
def verdicts():
    return [judged(seed) for seed in SEEDS]


@pytest.mark.parametrize("seed", [31, 38, 51, 158])  # of 300 those that take the most
def test_no_log_is_more_work_than_three_seconds(monkeypatch, seed):
    text = invented(seed).text
    known_answers._answers.clear()
    work = Work(monkeypatch)
    peerlab.diagnose(peerlab.load(text))
    assert 0 < work.reports <= MOST_REPORTS


@pytest.mark.parametrize(
    ("device", "collective", "nodes", "ranks"),
    [
        ("Tesla T4", "reduce-scatter", 4, 4),
        ("NVIDIA A100-SXM4-80GB", "alltoall", 4, 32),
        ("NVIDIA A100-SXM4-80GB", "allreduce", 8, 64),
    ],
)
def test_no_log_of_large_messages_is_more_work_than_three_seconds(
    monkeypatch, device, collective, nodes, ranks
):
    rows = [
        row | {"collective": collective}
        for row in nccl({2**power: 2**power / 4e3 for power in range(29, 35)}, ranks, nodes, (device,)).rows
    ]
    known_answers._answers.clear()
    work = Work(monkeypatch)
    peerlab.diagnose(peerlab.Records.of(rows, {"tool": "nccl-tests", "devices": [device]}))
    assert 0 < work.reports <= MOST_REPORTS


def test_no_real_log_is_more_work_than_three_seconds(monkeypatch, reference_dir):
    logs = sorted((reference_dir / "logs").glob("*.log"))
    assert len(logs) > 20
    for log in logs:
        known_answers._answers.clear()
        work = Work(monkeypatch)
        with suppress(RecordsError):  # a crashed one
            peerlab.diagnose(peerlab.load(log))
        assert work.reports <= MOST_REPORTS, log.name


def test_no_invented_log_is_named_wrongly(verdicts):
    assert [(one.base, one.path, one.says) for said, one in verdicts if said == "wrong"] == []


@pytest.mark.parametrize("seed", [188, 225, 252, 261, 289, 316, 395, 444, 472, 493, 592])  # each was once
def test_a_log_that_leaves_two_paths_open_is_not_named_wrongly(seed):
    assert judged(seed)[0] != "wrong"


def test_what_nvlink_joins_is_in_node_for_mpi_as_well():
    one = invented(225)
    assert (one.tool, one.path, one.base) == ("osu", IN_NODE, "gb200-nvl72")
    assert peerlab.diagnose(peerlab.load(one.text)).path == IN_NODE


def test_a_third_of_invented_logs_is_named_at_least(verdicts):
    """Half of them say nothing of their transport, and many are staged where nobody would stage: a person could not tell either."""
    assert Counter(said for said, _ in verdicts)["right"] >= len(SEEDS) / 3


@pytest.mark.soak
@pytest.mark.skipif(not os.environ.get("PEERLAB_SOAK"), reason="a long trial")
def test_of_many_invented_logs_one_in_a_hundred_is_named_wrongly_at_most():
    assert Counter(judged(seed)[0] for seed in MORE)["wrong"] <= len(MORE) / 100
