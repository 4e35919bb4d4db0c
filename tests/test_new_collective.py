"""A collective that nobody has heard of, described in this file alone, is simulated, shown and read truthfully everywhere."""

import numpy as np
import pytest
from command_line import peerlab_command
from fewer_points import fewer_points
from tool_logs import NCCL, OSU_ALLTOALL

import peerlab
from peerlab.app.explore import explore
from peerlab.base.errors import ScenarioError
from peerlab.collectives.choose import plan
from peerlab.collectives.reference import execute, own_range
from peerlab.features.export.page import page_html
from peerlab.model.collective import COLLECTIVES, Collective
from peerlab.picture.headline import cards
from peerlab.picture.still import still_svg
from peerlab.picture.words import alt_text, caption

NAME = "allconcat"


@pytest.fixture
def scenario(monkeypatch):
    """Return a collective after which every rank has what all had, made known by its record alone."""
    record = Collective(
        title="AllConcat",
        before="its own part",
        after="the parts of all, one behind the other",
        spreads=True,
        shares=True,
        passes=1,
        programs={
            "nccl-tests": ("all_concat_perf",),
            "osu": ("allconcat", "All-Concat"),
            "hccl_demo": ("allconcat",),
        },
    )
    monkeypatch.setitem(COLLECTIVES, NAME, record)
    return peerlab.Scenario(
        cluster="p4d", nodes=3, collective=NAME, path="peer-direct", message_bytes="3 MiB"
    )


def test_its_plan_does_what_the_record_says(scenario):
    few = scenario.with_(message_bytes=240)
    given_ = np.random.default_rng(1).integers(0, 99, (few.ranks, 240))
    held = execute(plan(few), given_)
    for rank in range(few.ranks):
        mine = own_range(plan(few), rank)
        assert (held[:, mine] == given_[rank, mine]).all()


def test_all_engines_agree(scenario):
    for asked in (scenario, scenario.with_(path="host-rdma")):
        times = {
            engine: peerlab.simulate(asked, engine=engine).time_ps for engine in ("referee", "loop", "auto")
        }
        times["every node"] = peerlab.simulate(asked, engine="referee", every_node=True).time_ps
        assert len(set(times.values())) == 1, times


def test_figures_follow_from_its_factor(scenario):
    run = peerlab.simulate(scenario)
    assert run.busbw_GBps == pytest.approx(run.algbw_GBps * 23 / 24)
    assert run.busbw_GBps <= run.wire_limit_GBps
    gathers = peerlab.simulate(scenario.with_(collective="allgather"))
    assert run.time_ps == gathers.time_ps  # as it is moved alike
    assert run.gain_band(peerlab.simulate(scenario.with_(path="host-rdma"))).value > 1


def test_pictures_words_and_pages_call_it_by_its_name(scenario):
    run = peerlab.simulate(scenario)
    assert cards(run)[0]["label"] == "AllConcat busbw"
    assert "AllConcat of 3 MiB" in alt_text(run)
    assert "topology alone" in caption(run)
    assert still_svg(run)
    with fewer_points():
        assert "AllConcat" in page_html(run, theme="light")
    assert run.as_dict()["collective"] == NAME
    with pytest.raises(ScenarioError, match="'binary-tree' does an allreduce only, no allconcat"):
        scenario.with_(algorithm="binary-tree")


def test_lab_and_command_line_offer_it(scenario):
    lab = explore(scenario)
    assert ("AllConcat", NAME) in lab.controls.collective.options
    assert lab.controls.collective.value == NAME
    lab.close()
    assert NAME in peerlab_command("simulate", "--help")[1]
    words = ("--cluster", "p4d", "--nodes", "3", "--path", "peer-direct", "--message", "3 MiB")
    status, told, _ = peerlab_command("simulate", "--collective", NAME, *words)
    assert status == 0
    assert f"{NAME} of 3 MiB" in told


def test_logs_of_it_are_read_compared_and_swept(scenario):
    for log in (
        OSU_ALLTOALL.replace("All-to-All Personalized Exchange", "All-Concat").replace(
            "osu_alltoall", "osu_allconcat"
        ),
        NCCL.replace("all_reduce_perf", "all_concat_perf"),
    ):
        found = peerlab.load(log)
        assert set(found.table["collective"]) == {NAME}
        assert peerlab.diagnose(found, cluster="p4d").ranking
    rows = peerlab.sweep(nodes=[2], cluster="p4d", collective=[NAME, "allgather"], progress=False)
    assert set(rows.table["collective"]) == {NAME, "allgather"} if hasattr(rows, "table") else len(rows) == 2
    del scenario
