"""The command line."""

import json
import os
import shlex
import subprocess
import sys

import pytest
from command_line import peerlab_command as run

import peerlab
from peerlab.features.simulate import simulate_command


def process(*arguments):
    """Return exit status, output and error output of a process of its own."""
    command = [sys.executable, "-m", "peerlab.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("simulate", "--message", "1 KiB", "--json"), 0),
        (("simulate", "--cluster", "dl2"), 1),
        (("dance",), 2),
        ((), 2),
        (("--version",), 0),
    ],
)
def test_a_process_ends_and_says_what_main_returns_and_prints(arguments, status):
    """The others call main: half a second sooner."""
    ended, *said = process(*arguments)
    assert ended == status
    assert (ended, *said) == run(*arguments)


def test_the_table_shows_every_path_the_others_with_the_reason_and_what_is_assumed():
    status, out, _ = run("simulate")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "Gaudi DL1: allreduce of 64 MiB, 8 nodes, 64 ranks"
    assert lines[1].split() == ["path", "time", "busbw", "wire", "busy", "bottleneck"]
    for path in ("host-rdma", "peer-direct"):
        simulated = peerlab.simulate(peerlab.Scenario(path=path))
        (row,) = (line for line in lines if line.strip().startswith((f"{path} ", f"{path}, cached")))
        assert f"{simulated.busbw_GBps:.3g} GB/s" in row
        assert simulated.bottleneck.label in row
    assert "library: HCL over host NICs 1.21: pairwise" in lines
    assert any("native" in line and "not available: between DL1 nodes" in line for line in lines)
    assert f"{len(peerlab.Scenario().hardware.assumptions)} of them assumed" in lines[-1]


def test_a_bare_fabric_answers_without_a_word_on_paths_that_it_cannot_have():
    status, out, _ = run("simulate", "--cluster", "ideal-100g")
    assert status == 0
    assert "not available" not in out
    assert [line.split()[0] for line in out.splitlines()[2:-1]] == ["wire"]


def test_an_unknown_cluster_is_answered_by_how_to_describe_it():
    status, _, said = run("simulate", "--cluster", "b200")
    assert status == 1
    assert "known: a3-mega, alps-gh200" in said
    assert "peerlab clusters new begins it" in said


def test_help_says_what_a_message_and_memory_are():
    _, out, _ = run("simulate", "--help")
    told = " ".join(out.split())
    assert "bytes of the whole buffer, of an all-to-all what a rank sends to all" in told
    assert "host: point to point or all-to-all between buffers in host memory" in told


def test_a_library_of_another_machine_is_noted_below_it():
    status, out, _ = run("simulate", "--cluster", "p4d", "--path", "peer-direct", "--library", "rccl-cxi")
    assert status == 0
    assert "  note: RCCL over Slingshot CXI does not run on A100: read it as a what-if." in out.splitlines()


def test_a_library_is_said_with_the_paths_that_it_serves_and_stands_among_the_figures():
    _, out, _ = run("simulate", "--cluster", "p4d", "--nodes", "2")
    assert (
        "library on host-rdma, peer-direct, receive-direct: NCCL 2.19 over EFA: tree, Simple, chunks of 128 KiB"
        in out
    )
    assert "library on host-tcp: NCCL 2.19 over TCP sockets: tree, LL128" in out
    _, out, _ = run("simulate", "--cluster", "p4d", "--nodes", "2", "--path", "host-rdma", "--json")
    (found,) = json.loads(out)["runs"]
    assert (found["library"], found["algorithm"], found["protocol"], found["chunk_bytes"]) == (
        "nccl-efa", "tree", "Simple", 128 * 1024,
    )  # fmt: skip
    assert found["library_does"] == "NCCL 2.19 over EFA: tree, Simple, chunks of 128 KiB"


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (
            "--cluster ideal-100g --algorithm halving-doubling --slice none --dependency step",
            "8 nodes, 8 ranks, halving-doubling, transfers whole, blocking steps",
        ),
        ("--slice 256KiB --window 4 --path peer-direct", "8 nodes, 64 ranks, slices of 256 KiB, window 4"),
        ("--collective point-to-point --path peer-direct", "2 nodes, 2 ranks"),
    ],
)
def test_the_title_says_who_takes_part_and_what_is_not_as_usual(arguments, title):
    status, out, _ = run("simulate", *arguments.split())
    assert status == 0
    assert out.splitlines()[0].endswith(f" of 64 MiB, {title}")


def test_what_was_fitted_elsewhere_and_what_changes_nothing_is_said_below_the_table():
    _, out, _ = run("simulate", "--cluster", "alps-gh200", "--nodes", "4", "--placement", "strided")
    assert out.splitlines()[-2:] == [
        "some figures were fitted on osu_bw of 4 MiB between 2 nodes: elsewhere an extrapolation",
        "placement changes nothing: on this fabric (crossbar) all nodes are alike",
    ]
    _, out, _ = run("simulate", "--cluster", "ideal-100g-leafspine-2to1", "--placement", "strided")
    assert "changes nothing" not in out


def test_json_holds_the_same_figures():
    status, out, _ = run("simulate", "--path", "peer-direct", "--nodes", "16", "--json")
    document = json.loads(out)
    assert status == 0
    assert [one["registration"] for one in document["runs"]] == ["cached", "per-transfer"]
    expected = peerlab.simulate(peerlab.Scenario(path="peer-direct", nodes=16))
    assert document["runs"][0] == json.loads(expected.to_json())


def test_what_nobody_asked_for_and_takes_long_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr(simulate_command, "_UNASKED_S", 1e-6)
    asked = ("simulate", "--path", "peer-direct", "--nodes", "3", "--message", "1MiB", "--slow-node", "1:0.5")
    _, out, _ = run(*asked)
    assert "peer-direct, cached" in out
    assert "no cache" not in out
    left_out = "left out, since it takes about 1 s: --path peer-direct --registration per-transfer"
    assert out.splitlines()[-1] == left_out
    assert json.loads(run(*asked, "--json")[1])["left_out"] == [left_out]
    _, out, _ = run(*asked, "--registration", "per-transfer")
    assert "peer-direct, no cache" in out


def test_a_path_of_too_many_spans_is_left_out_beside_others_and_refused_alone(monkeypatch):
    monkeypatch.setattr(simulate_command, "makes_too_many", lambda scenario: scenario.path == "host-rdma")
    _, out, _ = run("simulate", "--nodes", "3", "--message", "1MiB", "--slow-node", "1:0.5")
    assert "peer-direct, cached" in out
    assert out.splitlines()[-1] == "left out, since it takes more memory than there may be: --path host-rdma"
    monkeypatch.undo()
    status, _, err = run("simulate", "--nodes", "4096", "--slow-node", "4:0.8")
    assert status == 1
    assert err.startswith("peerlab: --nodes: 4096 nodes that differ make about ")  # and no hours before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "expect p5",
            "expect takes no 'p5' without an option before it; a cluster is given as --cluster p5;",
        ),
        ("doctor p5", "doctor takes no 'p5' without an option before it; `peerlab doctor --help` lists"),
        ("simulate --clster=p5", "simulate has no option '--clster'; did you mean '--cluster'?"),
        ("--foo simulate", "simulate has no option '--foo'; "),
        # lstopo's, which the help of clusters shows
        (
            "clusters --of xml",
            "clusters has no option '--of'; did you mean '--show'? known: --force, --from, --help, ",
        ),
    ],
)
def test_a_word_that_a_command_does_not_take_is_answered_by_what_it_takes(words, says):
    status, _, err = run(*words.split())
    assert status == 2
    assert says in err


@pytest.mark.parametrize(
    "words", ["sweep --nodes 2", "tails --cluster ideal-100g --nodes 2 --jitter 0.1 --seeds 10"]
)
def test_rows_are_not_written_into_what_is_named_like_a_page(words, tmp_path):
    place = tmp_path / "rows.html"
    status, _, err = run(*words.split(), "--output", str(place))
    assert status == 1
    assert "its rows are CSV, not .html; give a name that ends in .csv" in err
    assert not place.exists()


def test_times_of_iterations_stand_in_json_for_those_who_ask():
    asked = ("simulate", "--path", "peer-direct", "--nodes", "2", "--message", "1 MiB", "--iteration-times")
    _, out, _ = run(*asked, "--json")
    assert [len(one["iteration_times_s"]) for one in json.loads(out)["runs"]] == [2, 1]
    status, _, problem = run(*asked)
    assert (status, "add --json" in problem) == (1, True)


def test_one_rank_exchanges_nothing_and_json_stays_json():
    status, out, _ = run("simulate", "--cluster", "ideal-100g", "--nodes", "1", "--json")
    (one,) = json.loads(out, parse_constant=pytest.fail)["runs"]
    assert (status, one["time_s"], one["algbw_GBps"]) == (0, 0.0, None)


BAD = [
    (("--cluster", "dl2"), "unknown cluster 'dl2'; did you mean 'dl1'?"),
    (("--cluster", "dl1", "--path", "native"), "path"),
    (("--nodes", "0"), "--nodes: 0 is out of range"),
    (("--nodes", "-8"), "--nodes: -8 is out of range"),
    (("--nodes=2.5",), "--nodes: '2.5' is not a whole number from 1 to 16384"),
    (("--message", "64 MB/s"), "--message: '64 MB/s' is a rate"),
    (("--message", "-1"), "--message: "),
    (("--slice", "0"), "--slice: 0 is out of range"),
    (("--registration", "sometimes"), "registration"),
    (("--path", "peer-direct", "--memlock", "1 MiB"), "the locked-memory limit is 1 MiB"),
]


@pytest.mark.parametrize(("arguments", "says"), BAD)
def test_a_bad_question_gets_one_line_in_the_users_words(arguments, says):
    status, out, problem = run("simulate", *arguments)
    assert (status, out) == (1, "")
    assert problem.startswith("peerlab: ")
    assert says in problem
    assert problem.count("\n") == 1


OPTIONS = [
    ("neighbours --lanes 0", "--lanes: 0 is out of range"),
    (
        "neighbours --seed 3",
        "--seed: it chooses among several trunks, and trunks is 1; give more, or leave this out",
    ),
    (
        "why --detour-us 200",
        "--detour-us: changes nothing without --detours; give that, too, or leave it out",
    ),
    ("sweep --tick-us 20,30 --jitter 0.1", "--tick-us: changes nothing without --ticks"),
    ("export --nodes 8 --beside nodes=0 --output pair.html", "nodes: 0 is out"),  # no option says that
    ("step --failover rebalance", "--failover: changes nothing without --slow-nic"),
    (
        "simulate --seed 3",
        "--seed: changes nothing without --jitter, --spread, --detours, --ticks or --placement",
    ),
    ("tails --tick-us 20", "--tick-us: changes nothing without --ticks"),
    ("step --wait-watt 100", "--wait-watt: energy needs both; give --busy-watt, too"),
    ("neighbours --until-ms nan", "--until-ms: nan is out of range"),
    ("neighbours --message 1e30", "--message: '1e30' is out of range"),
    ("jobs --job 0,1 --leaf 0", "--leaf: 0 is out of range"),
    ("jobs --job 0,1 --message 1e30", "--message: '1e30' is out of range"),
    ("jobs --job 0,1,compute=x", "--job: "),
    ("jobs --job 0,1 --until-ms x", "--until-ms: 'x' is not a number"),
    ("jobs --job 0,1 --fabric infiniband --trunks 1.5", "--trunks: '1.5' is not a whole number"),
    ("jobs --job 0,1 --fabric infiniband --message 1TiB", "cell: some "),
]


@pytest.mark.parametrize(("line", "says"), OPTIONS)
def test_an_error_names_the_option_that_was_typed_and_not_the_field_that_it_sets(line, says):
    status, out, problem = run(*line.split())
    assert (status, out, problem.count("\n")) == (1, "", 1)
    assert problem.startswith(f"peerlab: {says}")


def test_an_error_within_a_job_names_the_part_that_was_typed():
    assert run("jobs", "--job", "0,1 compute=x")[2] == "peerlab: --job: compute='x' is not a number\n"


@pytest.mark.parametrize(
    "text", ["", "name = ", "\x00\x01", "name = 'x'\n[paths]\nhas = ['teleport']\n", "[" * 5000]
)
def test_a_bad_cluster_file_gets_one_line_too(tmp_path, text):
    (tmp_path / "mine.toml").write_text(text)
    status, out, problem = run("simulate", "--cluster", "mine.toml", cwd=tmp_path)
    assert (status, out, problem.count("\n")) == (1, "", 1)
    assert "mine.toml" in problem


def test_wrong_usage_and_no_command_say_how_to_use_it():
    for arguments in ((), ("dance",), ("simulate", "--colour", "red")):
        status, _, problem = run(*arguments)
        assert status == 2
        assert problem.startswith("usage: ")


@pytest.mark.parametrize("command", ["simulate", "clusters", "lab"])
def test_help_has_examples_and_every_example_is_understood(command):
    status, out, _ = run(command, "--help")
    assert status == 0
    _, _, examples = out.partition("examples:\n")
    assert f"peerlab {command}" in examples


def test_a_reader_that_leaves_early_is_no_error():
    command = (
        f"{shlex.quote(sys.executable)} -m peerlab.cli simulate --json | head -1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["{", "0"]
    assert done.stderr == ""


def test_a_terminal_without_unicode_still_gets_its_table(tmp_path):
    command = [sys.executable, "-m", "peerlab.cli", "simulate", "--message", "1 KiB"]
    env = {"PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "ascii", "HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, env=env, timeout=120, check=False)
    assert done.returncode == 0
    assert b" ?s " in done.stdout


def test_the_lab_refuses_a_port_that_is_none():
    status, _, problem = run("lab", "--no-browser", "--port", "99999")
    assert status == 1
    assert problem == "peerlab: --port: 99999 is not a whole number from 1 to 65535\n"


def test_ctrl_c_while_it_is_being_loaded_is_one_line(tmp_path):
    (tmp_path / "tqdm.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-m", "peerlab.cli", "simulate"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "peerlab: stopped\n")


def test_a_path_that_an_algorithm_forbids_is_listed_and_the_transport_is_named():
    status, out, _ = run("simulate", "--algorithm", "sharp", "--nodes", "4")
    assert status == 0
    assert "host-tcp               not available: algorithm: 'sharp' needs NICs that do RDMA" in out
    assert "a what-if, because HCL over host NICs has no 'sharp'" in out
    fabric = ("simulate", "--cluster", "ideal-100g")
    _, out, _ = run(*fabric, "--transport", "roce", "--mtu", "1024", "--metres", "40")
    assert "over RoCE v2, packets of 1024 bytes, 1 switch, 40 m" in out
    status, _, err = run(*fabric, "--transport", "tcp", "--algorithm", "sharp")
    assert status == 1
    assert "algorithm: 'sharp' needs RDMA, which kernel TCP has not" in err
