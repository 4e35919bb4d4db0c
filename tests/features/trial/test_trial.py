"""An A/B trial on one's own machines: planned, run by a script, and read again with its noise."""

import json
import os
import resource
import subprocess
from dataclasses import asdict

import pytest

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.cli import main
from peerlab.features.trial.returned import read_folder
from peerlab.features.trial.trial_folder import read_trial_file, write_trial
from peerlab.study.planned import ExpectedBand, ExpectedGain, _sides, _threshold, plan_trial, sides_in_words
from peerlab.study.switching import switching

MIB = 1 << 20
HEAD = "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 268435456\n"
SAID = "host1:11:22 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0"


def log(folder, name, us, lines=(), ranks=16):
    rows = "".join(
        f"{size} {size // 4} float sum -1 {took:.2f} {size / took / 1e3:.2f} {size / took / 1e3 * 1.875:.2f} 0 {took:.2f}"
        f" {size / took / 1e3:.2f} {size / took / 1e3 * 1.875:.2f} 0\n"
        for size, took in us.items()
    )
    devices = "".join(
        f"#  Rank {rank:2d} Group  0 Pid {rank} on host{rank // 8} device  {rank % 8} [0x10] NVIDIA A100-SXM4-40GB\n"
        for rank in range(ranks)
    )
    text = HEAD + "# Using devices\n" + devices + "\n".join(lines) + "\n"
    text += "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    (folder / name).write_text(text + rows)


def runs(folder, off, on, **more):
    for number, (slow, fast) in enumerate(zip(off, on, strict=True), 1):
        log(folder, f"off-{number}.log", {256 * MIB: slow, 64 * MIB: slow / 4}, **more)
        log(folder, f"on-{number}.log", {256 * MIB: fast, 64 * MIB: fast / 4}, **more)


def test_the_plan_switches_one_thing_in_turns_and_says_from_which_gain_on_it_is_clear():
    trial = plan_trial("dl1", 8, launcher="mpirun", repeats=3)
    assert [log for log, _ in trial.commands] == [
        "off-1.log", "on-1.log", "on-2.log", "off-2.log", "off-3.log", "on-3.log",
    ]  # fmt: skip
    off, on = (text for _, text in trial.commands[:2])
    assert off.replace("HCCL_GAUDI_DIRECT=0", "HCCL_GAUDI_DIRECT=1") == on
    assert "-np 64 --npernode 8" in on
    size = next(one for one in trial.expected if one.size_bytes == trial.size_bytes)
    below, apart = size.bands
    assert apart.value < trial.threshold < below.value
    assert below.low < apart.high  # by the error of the law: half way between both, a gain tells nothing
    assert trial.question == (
        "above it the result fits: each NIC hangs below the devices' switch; below it: each NIC has a root port of its own"
        " (their bands overlap: only a gain outside of both tells)"
    )
    direct, staged = (
        peerlab.simulate(peerlab.Scenario(nodes=8, path=path, message_bytes=size.size_bytes))
        for path in ("peer-direct", "host-rdma")
    )
    assert below.value == direct.busbw_GBps / staged.busbw_GBps


def test_every_switch_names_its_source_and_known_paths():
    known = switching()
    for one in known.switches:
        assert one.source
        assert set(one.between) <= set(peerlab.model.paths.PATHS)
        assert set(one.tools) <= set(known.tools)
        assert one.off.keys() & one.on.keys()
    assert all(one.source for one in known.tools.values())


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"launcher": "srum"}, "unknown launcher 'srum'; did you mean 'srun'"),
        ({"tool": "nccl-test"}, "unknown tool 'nccl-test'; did you mean 'nccl-tests'"),
        ({"switch": "efa"}, "unknown switch 'efa'"),
        ({"repeats": 1}, "give 2 to 50"),
        ({"cluster": "g4dn-metal"}, "g4dn-metal has no 'peer-direct'"),
        ({"cluster": "ideal-100g"}, "has no 'host-rdma'"),
        (
            {"cluster": "dl1", "tool": "nccl-tests"},
            "no switch is known for 'hcl-host-nics' of dl1 with nccl-tests",
        ),
    ],
)
def test_what_cannot_be_planned_is_said_in_words(fields, says):
    with pytest.raises(PeerlabError) as refused:
        plan_trial(**fields)
    assert says in str(refused.value)


def test_a_plan_is_written_run_and_read_again(tmp_path, capsys):
    folder = tmp_path / "trial"
    assert main(["plan", "--cluster", "p4d", "--repeats", "2", "--output", str(folder)]) == 0
    assert "Look at 256 MiB" in capsys.readouterr().out
    subprocess.run(["sh", "-n", str(folder / "run.sh")], check=True)
    runs(folder, (9000, 9100), (6500, 6450), lines=[SAID.replace("/0", "/0/GDRDMA")][:0])
    back = read_folder(folder)
    assert back.trial == read_trial_file(folder)
    assert back.verdict.startswith(
        "Clearly faster: at 256 MiB 1.40 times as fast (1.38 to 1.41 over all pairs)"
    )
    (small, large) = back.gains
    assert large.noise == pytest.approx(9100 / 9000)
    assert large.expected.bands[0].value == pytest.approx(1.38, abs=0.02)
    assert main(["plan", "--read", str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["gains"][1]["simulated"][0]["low"] == large.expected.bands[0].low
    assert main(["plan", "--read", str(folder)]) == 0
    assert "1.38 (1." in capsys.readouterr().out
    assert main(["plan", "--cluster", "p4d", "--output", str(folder)]) == 1
    assert "is there already" in capsys.readouterr().err
    assert small.size_bytes == 64 * MIB


@pytest.fixture(scope="module")
def trial():
    return plan_trial("p4d", 2, repeats=2)


MINE = {
    "a script": lambda folder: (folder / "run.sh").write_text("mine"),
    "a plan": lambda folder: (folder / "plan.json").write_text("mine"),
    "a link to a script": lambda folder: (folder / "run.sh").symlink_to("../mine.sh"),
    "a link that leads nowhere": lambda folder: (folder / "run.sh").symlink_to("../none.sh"),
}


@pytest.mark.parametrize("what", MINE)
def test_a_plan_takes_the_place_of_nothing_unless_it_is_told_to(what, tmp_path, trial):
    (tmp_path / "mine.sh").write_text("mine")
    folder = tmp_path / "trial"
    folder.mkdir()
    MINE[what](folder)
    before = sorted(one.name for one in folder.iterdir())
    with pytest.raises(PeerlabError, match=r"is there already; give another folder, or --force"):
        write_trial(trial, folder)
    assert sorted(one.name for one in folder.iterdir()) == before
    assert {one.read_text() for one in tmp_path.rglob("*") if one.is_file()} == {"mine"}
    assert (tmp_path / "mine.sh").stat().st_mode & 0o111 == 0
    write_trial(trial, folder, force=True)
    assert (folder / "run.sh").stat().st_mode & 0o100
    assert read_trial_file(folder) == trial


def test_a_disk_that_is_full_leaves_nothing_of_a_plan(tmp_path, trial):
    write_trial(trial, tmp_path / "whole")
    sizes = [(tmp_path / "whole" / name).stat().st_size for name in ("run.sh", "plan.json")]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "run.sh").write_text("mine")
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (sum(sizes) // 2, before[1])
    )  # the script fits, the plan does not
    try:
        for folder in ("new", "old"):
            with pytest.raises(PeerlabError, match=r"cannot write .*plan\.json"):
                write_trial(trial, tmp_path / folder, force=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sizes[0] < sum(sizes) // 2 < sizes[1]
    assert not (tmp_path / "new").exists()
    assert [one.name for one in (tmp_path / "old").iterdir()] == ["run.sh"]
    assert (tmp_path / "old" / "run.sh").read_text() == "mine"


def test_force_goes_with_output_and_a_folder_is_quoted_for_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["plan", "--force"])
    assert "--force goes with --output" in capsys.readouterr().err
    assert main(["plan", "--cluster", "p4d", "--output", "my trial; reboot"]) == 0
    assert capsys.readouterr().out.endswith("peerlab plan --read 'my trial; reboot'\n")


def damaged(trial):
    """Yield a plan with each value, wherever it stands, once replaced by each of some."""
    whole = json.loads(json.dumps(asdict(trial)))
    others = (None, [], {}, "\x1b[31m", -1, float("nan"), [[]], True, "x" * 3000)

    def places(value, path):
        yield path
        for key in (
            value if isinstance(value, dict) else range(min(len(value), 2)) if isinstance(value, list) else ()
        ):
            yield from places(value[key], (*path, key))

    for path in [one for one in places(whole, ()) if one]:
        for other in others:
            document = json.loads(json.dumps(whole))
            at = document
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = other
            yield document


def test_every_field_of_a_plan_is_checked_before_it_is_used(tmp_path, trial):
    for document in damaged(trial):
        (tmp_path / "plan.json").write_text(json.dumps(document))
        with pytest.raises(PeerlabError, match="is no plan that peerlab plan wrote: "):
            read_trial_file(tmp_path)


def test_what_is_no_log_is_named_and_nothing_reaches_the_terminal_as_it_is(tmp_path, capsys, trial):
    write_trial(trial, tmp_path)
    runs(tmp_path, (9000, 9100), (6500, 6450))
    log(tmp_path, "on-\x1b[31m.log", {256 * MIB: 30000, 64 * MIB: 7000})
    os.mkfifo(tmp_path / "off-9.log")
    (tmp_path / "on-9.log").symlink_to("nowhere")
    assert main(["plan", "--read", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "note: left out: off-9.log (no file), on-9.log (a link that leads nowhere)" in out
    assert r"on-\x1b[31m.log takes" in out
    assert all(line.isprintable() for line in out.splitlines())


def test_the_threshold_says_which_wiring_holds(tmp_path):
    write_trial(plan_trial("dl1", 2, repeats=2), tmp_path)
    size = read_trial_file(tmp_path).size_bytes
    for number in (1, 2):
        log(tmp_path, f"off-{number}.log", {size: 1000 + number})
        log(tmp_path, f"on-{number}.log", {size: 1020 + number})
    verdict = read_folder(tmp_path).verdict
    assert verdict.startswith("Clearly slower")
    assert verdict.endswith("each NIC has a root port of its own")


def test_runs_of_one_setting_that_differ_as_much_as_the_gain_decide_nothing(tmp_path):
    runs(tmp_path, (9000, 10000), (8000, 9000))
    assert read_folder(tmp_path).verdict.startswith("Not clear: at 256 MiB 1.12 times as fast")


def test_runs_that_contradict_each_other_are_named(tmp_path):
    runs(tmp_path, (9000, 30000, 9100), (6500, 6400, 6450))
    back = read_folder(tmp_path)
    assert back.verdict.startswith("Not clear")
    assert "off-2.log takes 3.33 times as long as off-1.log at " in back.remarks[0]


def test_a_switch_that_did_nothing_is_heard_from_the_logs(tmp_path):
    write_trial(plan_trial("p4d", 2, repeats=2), tmp_path)
    runs(tmp_path, (9000, 9100), (8900, 8950), lines=[SAID])
    back = read_folder(tmp_path)
    assert "on-1.log says that its channels go without GDRDMA: the switch did nothing" in back.remarks
    assert back.verdict.startswith("Not clear")


def test_one_run_of_each_has_no_noise_to_be_held_against(tmp_path):
    runs(tmp_path, (9000,), (6500,))
    assert "one run alone of 'off' and 'on'" in read_folder(tmp_path).remarks[0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda _: None, "has no log of the setting 'off' (it has nothing)"),
        (lambda folder: log(folder, "off-1.log", {MIB: 10}), "has no log of the setting 'on'"),
        (
            lambda folder: (
                (folder / "off-1.log").write_text("nothing") and log(folder, "on-1.log", {MIB: 10})
            ),
            "off-1.log",
        ),
        (
            lambda folder: [log(folder, "off-1.log", {MIB: 10}), log(folder, "on-1.log", {2 * MIB: 10})],
            "have no size in common",
        ),
        (
            lambda folder: [log(folder, "off-1.log", {MIB: 10}), log(folder, "on-1.log", {MIB: 10}, ranks=8)],
            "are of different runs: ranks 16 and 8",
        ),
        (lambda folder: (folder / "plan.json").write_text('{"a": 1}'), "is no plan that peerlab plan wrote"),
        (lambda folder: (folder / "plan.json").write_text("[" * 5000), "is no plan that peerlab plan wrote"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, make, says):
    make(tmp_path)
    with pytest.raises(PeerlabError) as refused:
        read_folder(tmp_path)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_that_is_none_is_refused(tmp_path, capsys):
    assert main(["plan", "--read", str(tmp_path / "no")]) == 1
    assert "is no folder" in capsys.readouterr().err


def test_hccl_demo_is_started_once_a_node_as_it_starts_the_processes_itself():
    srun, mpirun = (
        plan_trial("dl1", 2, launcher=one, repeats=2).commands[0][1] for one in ("srun", "mpirun")
    )
    assert "--ntasks-per-node=1" in srun
    assert "--nranks 16 --ranks_per_node 8 --node_id $SLURM_NODEID'" in srun
    assert "HCCL_COMM_ID=$(" in srun
    assert mpirun.startswith("python3 run_hccl_demo.py")
    assert mpirun.endswith(
        "-mpi -np 16 --npernode 8 --hostfile hosts -x HCCL_OVER_OFI=1 -x HCCL_GAUDI_DIRECT=0"
    )


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"nodes": 1}, "one node sends nothing over a NIC"),
        ({"cluster": "p4d", "switch": "hccl"}, "switch 'hccl' does nothing for 'nccl-efa' of p4d"),
        ({"cluster": "p4d", "switch": "nccl-efa", "tool": "osu"}, "with osu"),
    ],
)
def test_a_switch_that_would_do_nothing_is_refused(fields, says):
    with pytest.raises(PeerlabError, match=says):
        plan_trial(**fields)


def test_runs_of_other_nodes_than_the_plans_are_named(tmp_path):
    write_trial(plan_trial("p4d", 4, repeats=2), tmp_path)
    runs(tmp_path, (9000, 9100), (6500, 6450))
    back = read_folder(tmp_path)
    assert back.remarks[0].startswith("the runs are of 16 ranks, the plan is for 32")
    assert back.verdict.startswith("Not clear")


def test_below_the_threshold_all_other_wirings_are_named():
    one = ExpectedGain(
        MIB,
        1,
        2,
        (ExpectedBand("a", 3, 4, 5), ExpectedBand("b", 0.5, 0.9, 2), ExpectedBand("c", 0.9, 1, 1.1)),
    )
    assert sides_in_words(one) == ("a", "c or b")
    assert _sides(one) == (3, 2)


def test_a_band_on_both_sides_of_one_has_one_as_its_threshold():
    threshold, question = _threshold(ExpectedGain(MIB, 1, 1, (ExpectedBand("", 0.9, 1.1, 1.3),)))
    assert threshold == 1
    assert "both are expected" in question


def test_a_switch_that_changes_no_figure_is_said_to_have_done_nothing(tmp_path):
    write_trial(plan_trial("p4d", 2, repeats=2), tmp_path)
    runs(tmp_path, (9000, 9100), (9050, 8950))
    back = read_folder(tmp_path)
    assert back.verdict.startswith("Not clear")
    assert any("both settings take the same at every size (1.0" in one for one in back.remarks)
