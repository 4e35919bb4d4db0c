"""A file with several runs: each is a log of its own, with its ranks and nodes."""

import json

import peerlab
from peerlab.cli import main

HEAD = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"


def run(nodes, algbw):
    """Return what nccl-tests print on so many nodes of 8 H200."""
    ranks = 8 * nodes
    lines = ["# nThread 1 nGpus 1 minBytes 8388608 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0", "# Using devices"]  # fmt: skip
    lines += [
        f"#  Rank {rank:2d} Group  0 Pid {1000 + rank} on gpu-{rank // 8} device  {rank % 8} [0x0f] NVIDIA H200"
        for rank in range(ranks)
    ]
    lines.append(HEAD)
    for power in range(23, 31):
        size = 2**power
        us = 40 + size / algbw / 1e3
        alg = size / us / 1e3
        bus = alg * 2 * (ranks - 1) / ranks
        group = f"{us:>8.2f} {alg:>7.2f} {bus:>7.2f} {0:>6d}"
        lines.append(f"{size:>12d} {size // 4:>13d}     float     sum      -1 {group} {group}")
    return "\n".join([*lines, "# Out of bounds values : 0 OK", ""])


SCRIPT = "".join(run(nodes, algbw) for nodes, algbw in ((1, 270), (2, 250), (4, 240)))


def test_each_run_has_its_ranks_and_nodes():
    runs = peerlab.load(SCRIPT).runs
    assert [(one.manifest["ranks"], one.manifest["nodes"]) for one in runs] == [(8, 1), (16, 2), (32, 4)]
    assert [len(one) for one in runs] == [16, 16, 16]
    assert [one.manifest["ranks_per_node"] for one in runs] == [8, 8, 8]
    assert [len(one.runs) for one in runs] == [1, 1, 1]


def test_records_of_several_logs_are_no_runs_of_one():
    both = peerlab.Records.together([peerlab.load(run(1, 270)), peerlab.load(run(2, 250))])
    assert both.runs == (both,)


def test_a_diagnosis_says_how_many_runs_there_are_and_is_about_that_of_most_nodes():
    found = peerlab.diagnose(peerlab.load(SCRIPT))
    assert (found.seen.nodes, found.path) == (4, "peer-direct")
    assert "3 runs in one log: 8 ranks on 1 node; 16 ranks on 2 nodes; 32 ranks on 4 nodes" in found.notes[0]


def test_the_command_diagnoses_each_run(tmp_path, capsys):
    file = tmp_path / "script.log"
    file.write_text(SCRIPT)
    assert main(["diagnose", str(file)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("3 runs in one log")
    assert [f"run {place} of 3" in told for place in (1, 2, 3)] == [True] * 3
    assert main(["diagnose", str(file), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [one["path"] for one in runs] == ["in-node", "peer-direct", "peer-direct"]


def test_hosts_that_log_are_those_of_their_own_run():
    """Without lists of ranks the hosts of NCCL_DEBUG tell how many nodes there were, run by run."""

    def logged(hosts, text):
        rows = [line for line in text.splitlines() if "Rank" not in line]
        return "\n".join([*(f"{host}:12:34 [0] NCCL INFO Bootstrap" for host in hosts), *rows, ""])

    text = logged(["a", "b"], run(2, 250)) + logged(["a", "b", "c", "d"], run(4, 240))
    assert [one.manifest["nodes"] for one in peerlab.load(text).runs] == [2, 4]
