"""The explorer with evidence, without a browser: logs of one's own, and this machine measured."""

import asyncio
import re
import resource
import time
from dataclasses import replace

import pytest
from gpus import why_no_gpu
from logs import NCCL_TCP_US
from tool_logs import (
    ALPS,
    HCCL,
    NCCL_OLD,
    NCCL_WITHOUT_END,
    NCCOM,
    OSU_ALLREDUCE,
    OSU_ALLTOALL,
    OSU_BANDWIDTH,
)

import peerlab
import peerlab.records
from peerlab.app.explore import explore
from peerlab.app.panels.background_measurement import Measuring
from peerlab.app.panels.log_findings import LogFindings, look_at
from peerlab.base.units import TIMES_SIGN
from peerlab.diagnosis.placed_log import as_measured
from peerlab.features.expect.expect_report import for_page, verdict_html
from peerlab.features.expect.verdicts.judging import judge
from peerlab.features.expect.verdicts.log_verdict import in_lab
from peerlab.features.measure.schedule import Measurement

_SHIPPED = peerlab.records.measured_for("juliet")["juliet/osu-latency-direct"]
DIRECT = replace(_SHIPPED, data=_SHIPPED.table.assign(path=""))  # as a log, which does not say its path


@pytest.fixture
def lab():
    one = explore()
    yield one
    one.close()


def wait_for(condition, seconds=60):
    async def waiting():
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it never came"
            await asyncio.sleep(0.05)

    return waiting()


def read(lab, held, name="your log"):
    async def reading():
        lab.controls.log.read(held, name)
        await lab.controls.log._task

    asyncio.run(reading())
    return lab.controls.log


def test_a_log_brings_its_cluster_its_points_and_a_verdict(lab):
    panel = read(lab, ALPS)
    assert (
        "your log: healthy: none of 3 sizes is below its floor. Path: Peer Direct, probable."
        in panel._short.value
    )
    assert "Is this run healthy?" in panel.first.value
    assert (
        panel.machine.label == "Alps GH200"
    )  # the list says what it was compared with, and no sentence again
    assert "compared with" not in panel.first.value + panel.verdict.value
    assert "Which data path is your log from?" in panel.verdict.value
    assert (lab.scenario.cluster, lab.scenario.nodes, lab.scenario.path) == ("alps-gh200", 2, "peer-direct")
    shown = lab.figures.measured["message_bytes"]
    own = [y for y, mine in zip(shown["y"], shown["own"], strict=True) if mine]
    assert own == pytest.approx([11.47, 36.7, 106.76], rel=1e-3)
    panel._away.click()
    assert not any(lab.figures.measured["message_bytes"]["own"])
    assert panel.verdict.value == ""


def test_a_log_can_be_removed_where_one_was_read(lab):
    panel = lab.controls.log
    assert panel._away.layout.display == "none"
    read(lab, ALPS)
    assert panel._away.layout.display == ""
    panel._away.click()
    assert panel._away.layout.display == "none"


def slower(times):
    """Return the log of Alps, every row of it so many times as slow."""
    lines = []
    for line in ALPS.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            for place in (5, 9):
                words[place : place + 3] = [
                    f"{float(word) * scale:.2f}"
                    for word, scale in zip(
                        words[place : place + 3], (times, 1 / times, 1 / times), strict=True
                    )
                ]
        lines.append("  ".join(words) if words and words[0].isdigit() else line)
    return "\n".join(lines) + "\n"


def test_a_log_below_its_floor_says_so_first_and_never_that_nothing_is_to_gain():
    said = look_at(slower(9), "your log", peerlab.load_cluster("alps-gh200")).in_short()
    assert said.startswith("your log: below the floor from ")
    assert "nothing to gain" not in said


def test_of_several_runs_the_worst_is_said_and_which_it_is():
    log = look_at(ALPS, "your log", peerlab.load_cluster("alps-gh200"))
    held_up = replace(log.verdicts[0], verdict="held-up", why="held up at 1 KiB")
    said = replace(log, verdicts=(log.verdicts[0], held_up)).in_short()
    assert said.startswith("your log: held up at 1 KiB (run 2 of 2). ")


def tcp_log():
    """Return a log that suits two descriptions of one machine: with its RDMA, and over TCP alone."""
    rows = [
        f"{size} {size // 4} float sum -1 {us:.2f} {size / us / 1e3:.2f} {1.5 * size / us / 1e3:.2f} 0"
        for size, us in NCCL_TCP_US.items()
    ]
    ranks = [
        f"#  Rank  {rank} Group  0 Pid {rank} on  nid{rank // 2} device  {rank % 2} [0009:01:00] NVIDIA GH200 120GB"
        for rank in range(4)
    ]
    head = "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    return "\n".join(["# nThread 1 nGpus 1", "# Using devices", *ranks, head, *rows, ""])


def test_a_log_that_may_be_from_several_machines_is_read_again_with_the_one_that_is_chosen_below_the_sentence(
    lab,
):
    """The sentence named a list that was hidden there, and machines by names that the list does not have."""
    panel = read(lab, tcp_log())
    sentence = panel.first.value
    assert "it may be from several machines" in sentence
    assert "as Alps GH200; " in sentence
    assert "as Alps GH200, NCCL over TCP; name its own in the list below" in sentence
    assert "alps-gh200" not in re.sub("<style>.*?</style>", "", sentence, flags=re.DOTALL)
    assert (panel.machine.label, panel.machine.layout.display) == ("choose its machine", "")
    offered = [title for title, _ in panel.machine.options]
    assert offered[1:3] == ["Alps GH200", "Alps GH200, NCCL over TCP"]  # what it may be from comes first
    assert {peerlab.load_cluster(name).title for name in peerlab.known_clusters()} == {*offered[1:]}

    async def choose(title):
        panel.machine.label = title
        await panel._task

    for title, path in (("Alps GH200", "Through host"), ("Alps GH200, NCCL over TCP", "no direct path")):
        asyncio.run(choose(title))
        assert "it may be from several machines" not in panel.first.value
        assert f"It is compared with {title}, which is chosen." in panel._short.value
        assert (
            panel.machine.label == lab.scenario.hardware.title == title
        )  # the pictures show the same machine
        assert path in lab.controls.host.description
        assert "Compare with" not in panel._go.description
    asyncio.run(choose("Gaudi DL1"))
    assert "name its own in the list below" in panel.first.value  # its GPUs are no Gaudi
    assert panel.machine.label == "choose its machine"
    panel._away.click()
    assert (panel.first.value, panel.machine.layout.display) == ("", "none")


def test_of_two_runs_the_sentence_names_the_list_above_it(lab):
    panel = read(lab, tcp_log() * 2)
    assert panel.first.value == ""
    assert panel.verdict.value.count("<h4>Run ") == 2
    assert panel.verdict.value.count("name its own in the list above") == 2


def test_a_title_that_begins_as_a_name_is_no_code():
    page = for_page("below its floor as p5; undecided as a3-mega; name its own with --cluster", in_lab(1))
    assert page.startswith("below its floor as p5.48xlarge (EFA, H100); undecided as ")
    verdict = judge(peerlab.load(P5))[0]
    told = {**verdict.as_dict(), "why": f"it may be from several machines: {page}"}
    assert "<code>" not in re.search("<p class='pl-verdict.*?</p>", verdict_html([told]))[0]


def test_the_path_that_is_shown_has_no_part_in_the_verdict():
    """Where kernel TCP was shown, a log over RDMA was compared with NCCL over sockets, whose floor is far lower."""
    first = []
    for path in ("host-tcp", "peer-direct"):
        lab = explore(cluster="alps-gh200", path=path)
        first.append(read(lab, ALPS).first.value)
        lab.close()
    assert first[0] == first[1]


LATENCY = """# OSU MPI Latency Test v7.5
# Size       Avg Latency(us)
1                       3.34
65536                  13.68
4194304               182.10
"""


def test_a_log_of_no_known_machine_leaves_the_pictures_and_says_so(lab):
    before = lab.scenario
    panel = read(lab, LATENCY)
    said = "a node of the log sends 23 GB/s, and 1 NIC of Gaudi DL1 can send 12.5 GB/s. The pictures still show Gaudi DL1."
    assert f"It is compared with no cluster: {said}" in panel._short.value
    assert lab.scenario is before


P5 = NCCL_WITHOUT_END  # two nodes, which it does not say: 16 ranks
REDUCE = OSU_ALLTOALL.replace("All-to-All Personalized Exchange", "Reduce")
FOUR_RANKS = P5.replace("468.20", "374.57").replace("469.29", "375.44")
HERE = "It is compared with p5.48xlarge (EFA, H100), which is chosen."


def test_a_log_is_compared_with_the_cluster_that_was_chosen_and_a_button_goes_where_it_was_taken():
    lab = explore(cluster="p5")
    panel = read(lab, P5)
    assert HERE in panel._short.value
    assert f"1.06{TIMES_SIGN}" in panel.verdict.value  # measured over simulated
    assert lab.scenario == peerlab.Scenario(cluster="p5")  # nobody is led away from what he chose
    assert not any(lab.figures.measured["message_bytes"]["own"])
    assert panel._go.description == "Show 2 nodes"
    panel._go.click()
    assert lab.scenario == peerlab.Scenario(cluster="p5", nodes=2)
    assert lab.figures.curves["axis"] == "message_bytes"
    shown = lab.figures.measured["message_bytes"]
    assert [x for x, own in zip(shown["x"], shown["own"], strict=True) if own] == [8, 2**30]
    assert panel._go.layout.display == "none"
    lab.close()


def test_a_real_log_of_two_p5_lies_on_the_chosen_p5(reference_dir):
    lab = explore(cluster="p5")
    panel = read(lab, (reference_dir / "logs" / "nccl_aws_p5_2n16r_efa.log").read_bytes())
    assert HERE in panel._short.value
    panel._go.click()
    assert lab.scenario.nodes == 2
    assert lab.figures.measured["message_bytes"]["own"].count(True) == 32
    lab.close()


def test_a_log_within_whose_sizes_the_message_is_not_is_offered_with_the_nearest():
    lab = explore(cluster="p5", nodes=2, message_bytes="4 GiB", collective="reduce-scatter")
    panel = read(lab, P5)
    assert panel._go.description == "Show AllReduce, 1 GiB"
    lab.close()


def test_another_cluster_chosen_afterwards_is_compared_at_a_button():
    lab = explore(cluster="alps-gh200")
    panel = read(lab, P5)
    assert "It is compared with no cluster: a node of the log sends" in panel._short.value
    lab.controls.cluster.value = "p5"

    async def follow():
        panel._go.click()
        await panel._task

    assert panel._go.description == "Compare with p5.48xlarge (EFA, H100)"
    asyncio.run(follow())
    assert HERE in panel._short.value
    lab.close()


@pytest.mark.parametrize(
    ("cluster", "log", "why"),
    [
        ("dl1", P5, "nccl-tests does not run on Gaudi, the accelerators of Gaudi DL1"),
        ("p4d", P5, "a node of the log sends 250 GB/s, and 4 NICs of A100 on AWS p4d can send 50 GB/s"),
        ("p5", HCCL, "hccl_demo does not run on H100, the accelerators of p5.48xlarge (EFA, H100)"),
        ("p5", NCCL_OLD, "the log names Tesla K80, and p5.48xlarge (EFA, H100) has H100"),
        ("p5", OSU_BANDWIDTH.replace("23881", "61881").replace("23989", "61989"), "1 NIC of p5.48xlarge"),
        ("p5", OSU_ALLREDUCE, "the log does not say how many ranks took part"),
        ("p5", FOUR_RANKS, "4 ranks do not fill nodes of 8 H100"),
        ("p4d", REDUCE, "'reduce' is not simulated"),
    ],
)
def test_a_log_that_contradicts_the_chosen_cluster_is_not_forced_onto_it(cluster, log, why):
    found = look_at(log, "your log", peerlab.load_cluster(cluster))
    assert why in found.unlike
    assert not found.compared


def test_after_a_report_a_log_that_cannot_be_read_leaves_none(lab):
    assert read(lab, ALPS).verdict.value
    panel = read(lab, "no log at all\n")
    assert panel.verdict.value == ""


def test_a_log_of_a_machine_that_nobody_knows_is_read_and_the_scenario_stays(lab):
    before, panel = lab.scenario, read(lab, NCCOM)
    assert "It is compared with no cluster: nccom-test does not run on Gaudi" in panel._short.value
    assert "here they are of 10^9" in panel._short.value
    assert "nccom-test: allreduce, 64 ranks, 2 nodes" in panel.verdict.value
    assert "What reading the log found" not in panel.verdict.value  # it stands in the panel already
    assert lab.scenario == before


def test_a_log_of_two_processes_is_shown_after_one_of_a_single_node(lab):
    found = LogFindings("juliet", DIRECT, peerlab.diagnose(DIRECT, "juliet"))
    shown = as_measured(lab.scenario.with_(nodes=1), found)
    assert (shown.cluster, shown.collective, shown.nodes) == ("juliet", "point-to-point", 2)
    assert (shown.path, shown.nbytes) == ("peer-direct", 4 * 2**20)


def test_records_alone_start_the_lab_where_they_were_taken():
    lab = explore(records=peerlab.load(ALPS))
    assert (lab.scenario.cluster, lab.scenario.nodes) == ("alps-gh200", 2)
    assert sum(lab.figures.measured["message_bytes"]["own"]) == 3
    lab.close()


@pytest.mark.parametrize("text", ["", "no log at all\n", "<script>alert(1)</script>\n", "\0\0\0\n"])
def test_what_is_no_log_is_refused_in_words_and_the_scenario_stays(lab, text):
    before = lab.scenario
    if text:
        panel = read(lab, text)
    else:
        panel = lab.controls.log
        panel.read(text, "your log")
    assert "role='alert'" in panel._short.value
    assert "<script" not in panel._short.value
    assert lab.scenario is before


def test_a_file_is_read_as_on_the_command_line_and_called_by_its_name(lab):
    panel = read(lab, ALPS.encode("utf-16"), "ring <1>.log")
    assert "Peer Direct, probable" in panel._short.value
    panel = read(lab, b"no log at all", "ring <1>.log")
    assert "<p role='alert'>ring &lt;1&gt;.log: not the output of" in panel._short.value
    panel = read(lab, b"#" * (9 * 2**20), "huge.log")
    assert "huge.log: larger than 8 MiB; keep the table" in panel._short.value


def measure(plan, meanwhile=lambda _measuring: None, start=Measuring.start):
    told = []

    async def measuring():
        one = Measuring(told.append, plan)
        start(one)
        start(one)  # pressed twice
        meanwhile(one)
        await wait_for(lambda: told and not told[-1]["busy"])
        return one

    return asyncio.run(measuring()), told


def test_this_machine_is_measured_size_by_size(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = Measurement.of(ranks=2, sizes=("64 KiB", "128 KiB"), arms=("staged", "direct"), repetitions=3)
    one, told = measure(plan)
    grown = [len(parcel["curves"]["values"]) for parcel in told]
    assert grown[0] == 0
    assert set(grown) == {0, 1, 2}
    assert one.records.table["correct"].all()
    assert told[-1]["action"] == "Measure again"
    one.save()
    (saved,) = tmp_path.glob("measured-*.csv")
    assert len(peerlab.load(saved)) == len(one.records)


@pytest.mark.skipif(not why_no_gpu(), reason="this machine has a GPU")
def test_without_a_gpu_what_a_known_one_measured_is_shown_and_said_to_be_its():
    one, told = measure(None, lambda _: None, start=Measuring.start_on_gpu)
    assert one.records is None  # nothing to save
    last = told[-1]
    assert last["text"].startswith(
        f"{why_no_gpu()}. Shown: NVIDIA H200, 2026-11-26: direct, cache of 64 regions: 5.4\u00d7"
    )
    assert (last["mine"], last["action"]) == (False, "Measure this machine")
    assert all("measured on NVIDIA H200" in note for note in last["curves"]["points"]["note"])
    assert "MPS" in last["about"]


@pytest.mark.skipif(not why_no_gpu(), reason="this machine has a GPU")
def test_what_was_measured_here_stays_and_can_be_saved_where_there_is_no_gpu():
    told = []

    async def both():
        one = Measuring(told.append, Measurement.of(ranks=2, sizes="4 KiB", arms="direct", repetitions=1))
        for start in (one.start, one.start_on_gpu):
            start()
            await wait_for(lambda: not told[-1]["busy"])
            ended.append(told[-1])
        return one

    ended: list[dict] = []
    one = asyncio.run(both())
    before, last = ended
    # the page offers to save what is this machine's, and has points
    assert last["mine"]
    assert last["curves"] == before["curves"]
    assert last["about"] == before["about"]
    assert last["text"] == f"{why_no_gpu()}. Shown: what was measured before"
    assert set(one.records.table["path"]) == {"direct"}


def test_a_measurement_that_is_stopped_keeps_what_there_is():
    plan = Measurement.of(ranks=2, sizes="8 MiB", repetitions=1000)
    one, told = measure(plan, lambda measuring: measuring.stop())
    assert told[-1]["action"] in ("Measure again", "Measure this machine")
    assert any("stopped" in warning for warning in one.records.warnings)


def test_a_measurement_that_cannot_start_says_why_and_can_be_asked_for_again():
    told, before = [], resource.getrlimit(resource.RLIMIT_NOFILE)

    async def starting():
        one = Measuring(told.append, Measurement.of(ranks=2, sizes="4 KiB", arms="direct", repetitions=1))
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
        try:
            one.start()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        assert told[-1]["text"] == "cannot start to measure: no memfd, or no process: Too many open files"
        assert not told[-1]["busy"]
        one.start()
        await wait_for(lambda: not told[-1]["busy"])
        return one

    assert len(asyncio.run(starting()).records)


def test_records_that_cannot_be_written_say_why_in_the_page(tmp_path, monkeypatch):
    one, told = measure(Measurement.of(ranks=2, sizes="4 KiB", arms="direct", repetitions=1))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    one.save()
    assert told[-1]["text"].startswith("cannot write measured-")


def test_a_measurement_that_fails_says_why_in_the_page():
    plan = Measurement.of(ranks=2, sizes="1 TiB", repetitions=1)
    one, told = measure(plan)
    assert told[-1]["text"].startswith("sizes: 1024 GiB on 2 ranks needs ")
    assert not told[-1]["busy"]
    assert len(one.records) == 0
