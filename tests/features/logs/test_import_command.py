"""`peerlab import`."""

import json

import pytest
from command_line import peerlab_command
from tool_logs import NCCL, NCCL_WITHOUT_END, OSU_CRASHED, OSU_LATENCY

import peerlab


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ring.log").write_text(NCCL)
    (tmp_path / "pair.log").write_text(OSU_LATENCY)
    (tmp_path / "crash.log").write_text(OSU_CRASHED)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    return tmp_path


def run(folder, *arguments):
    """Return exit status, output and error output of ``peerlab import`` with these arguments."""
    return peerlab_command("import", *arguments, cwd=folder)


def test_a_log_is_printed_as_a_table_with_what_is_known_about_it(folder):
    status, out, problem = run(folder, "ring.log")
    assert (status, problem) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "nccl-tests: ring.log"
    assert lines[1].split() == ["collective", "size", "time", "algbw", "busbw", "variant", "correct"]
    assert lines[6].split() == ["allreduce", "32", "MiB", "1.68", "ms", "20", "GB/s", "30", "GB/s", "out-of-place", "yes"]  # fmt: skip
    assert lines[5].endswith("in-place      no")
    assert lines[7].endswith("in-place      not checked")
    assert "hosts: anvil01, anvil02" in lines
    assert lines[-1] == "GB = 10^9 bytes"


def test_several_logs_are_saved_as_one_file_without_names(folder):
    status, out, problem = run(folder, "ring.log", "pair.log", "--anonymise", "--save", "both.csv")
    assert (status, problem) == (0, "")
    assert out.splitlines()[-1] == "8 rows written to both.csv"
    text = (folder / "both.csv").read_text()
    assert not any(name in text + out for name in ("anvil01", "anvil02", "ada", "ring.log", "pair.log"))
    again = peerlab.load(folder / "both.csv")
    assert again.sources == ["nccl-tests: source-1", "osu: source-2"]
    assert [part["hosts"] for part in again.parts] == [["host-1", "host-2"]] * 2
    status, out, _ = run(folder, "both.csv")
    assert status == 0
    assert "osu: source-2" in out.splitlines()


def test_the_number_of_nodes_is_taken_from_the_log_or_else_from_the_user(folder):
    (folder / "bare.log").write_text(NCCL_WITHOUT_END)
    status, out, _ = run(folder, "bare.log", "--nodes", "2", "--save", "bare.csv")
    assert status == 0
    assert "nodes: 2" in out.splitlines()
    assert "warning: the log does not say how many nodes took part; 2 as given" in out.splitlines()
    assert set(peerlab.load(folder / "bare.csv").table["nodes"]) == {2}
    status, out, problem = run(folder, "ring.log", "--nodes", "4")
    assert (status, out) == (1, "")
    assert problem == "peerlab: nccl-tests: ring.log: it says itself that 2 nodes took part\n"
    assert run(folder, "ring.log", "--nodes", "2")[1] == run(folder, "ring.log")[1]


def test_json_holds_everything(folder):
    status, out, problem = run(folder, "pair.log", "--json")
    assert (status, problem) == (0, "")
    found = json.loads(out)
    assert found["manifest"]["environment"] == {"UCX_IB_GPU_DIRECT_RDMA": "0"}
    assert [row["time_s"] for row in found["rows"]] == [4.32e-6, 166.81e-6]
    assert found["rows"][0]["correct"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["crash.log"], "crash.log: output of the OSU micro-benchmarks without a row of figures; line 5: "),
        (["picture.png"], "picture.png: a binary file; a log is text"),
        (["nowhere.log"], "cannot read nowhere.log: No such file or directory"),
        (["."], "cannot read .: not a file"),
        (["ring.log", "--save", "no/file.csv"], "cannot write no/file.csv: there is no folder no"),
        (["ring.log", "--save", "mine.csv/"], "cannot write mine.csv/: that is the name of a folder"),
    ],
)
def test_what_cannot_be_read_or_written_is_one_line(folder, arguments, said):
    status, out, problem = run(folder, *arguments)
    assert (status, out) == (1, "")
    assert problem.startswith(f"peerlab: {said}")
    assert problem.count("\n") == 1


def test_a_saved_table_tells_the_terminal_nothing(folder):
    about = r'{"manifest": {"tool": "\u001b[31mred", "transport": ["\u001b[2J"]}, "warnings": ["\u001b]0;hi\u0007"]}'
    (folder / "odd.csv").write_text(
        f"# peerlab records 1\n# {about}\nkind,source,collective,variant,size_bytes\nimported,\x1b[1mrun,allreduce,\x1b[5m,8\n"
    )
    status, out, problem = run(folder, "odd.csv")
    assert (status, problem) == (0, "")
    assert "tool: red" in out.splitlines()
    assert not any(rest in out for rest in ("\x1b", "\x07", "[1m", "[2J", "hi"))


@pytest.mark.parametrize("given", [None, 5, b"run.log", ["run.log"]])
def test_what_is_neither_a_file_nor_text_is_said(given):
    with pytest.raises(peerlab.PeerlabError, match="is neither a file nor text"):
        peerlab.load(given)


def test_a_file_of_200_megabytes_is_refused_at_once(folder):
    with (folder / "huge.log").open("wb") as file:
        file.truncate(200 * 10**6)
    status, _, problem = run(folder, "huge.log")
    assert status == 1
    assert problem == (
        "peerlab: huge.log is larger than 8 MiB; keep the table and the lines about the transport\n"
    )
