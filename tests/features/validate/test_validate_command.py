"""`peerlab validate`."""

import json
import os
import re
from functools import partial

import pytest
from command_line import peerlab_command

HEAD = "simulator,version,algorithm,n,bytes,link_Bps,latency_s,sim_time_s,case,parameters"
GOOD = "simgrid-smpi,4.1,ring,8,16777216,12500000000,5e-06,0.00241882816,crossbar,envelope_B=16"


run = partial(peerlab_command, "validate")


def test_every_row_stands_in_the_table_with_its_error_and_all_are_met():
    status, out, problem = run()
    assert status == 0
    left = r"(peerlab: .*, about \d+ s more\n)*"  # said in a pipe where it takes longer, as on a busy machine
    assert re.fullmatch(left, problem)
    assert [line for line in out.splitlines() if line and not line.startswith(" ")][:7] == [
        "machines with no log of their own: constants of their library fitted on the others' logs (us)",
        "measured times inside their bands: each machine left out of the fit, and of the error of its law",
        "closed forms", "other simulators", "published ratios", "what follows from the model's own rules", "logs",
    ]  # fmt: skip
    assert re.search(
        r"alps-nccl-tcp +921\.8 to 43293 µs +\S+ to \S+ µs +"
        r"median \d+ %, worst -36 %, 3 of 7 beyond 15 % +15 % +met in the median, fitted",
        out,
    )
    assert "An outlier of the log, not met: 32 MiB" in out
    assert re.search(r"Azure ND A100 v4, 2 x 8 A100 +NCCL over InfiniBand or RoCE verbs +hop", out)
    assert "nothing is promised of it" in out
    assert re.search(r"gaudi2-one-box .* met\n", out)
    assert "NOT MET" not in out
    assert "engines-agree" in out
    met, rows = re.search(r"(\d+) of (\d+) rows met", out).groups()
    assert met == rows


def test_json_holds_every_point():
    status, out, _ = run("--only", "alps-nccl-*", "--json")
    document = json.loads(out, parse_constant=pytest.fail)
    assert (status, document["passed"]) == (0, True)
    assert [row["name"] for row in document["rows"]] == ["alps-nccl-tcp"]
    assert [len(row["points"]) for row in document["rows"]] == [7]


def test_points_show_the_outliers_and_what_is_said_about_them():
    status, out, _ = run("--only", "alps-nccl-tcp", "--points")
    assert status == 0
    assert re.search(r"32 MiB +17388 µs +\d+ µs +-3\d %", out)
    assert "An outlier of the log" in out


def test_a_pattern_that_fits_nothing_gets_the_nearest_row():
    status, out, problem = run("--only", "gaudi2-one-bok")
    assert (status, out, problem.count("\n")) == (2, "", 1)
    assert "no row matches 'gaudi2-one-bok'; did you mean 'gaudi2-one-box'?" in problem


def test_a_file_of_reference_results_is_answered_row_by_row(tmp_path):
    (tmp_path / "good.csv").write_text(f"{HEAD}\n{GOOD}\n")
    status, out, _ = run("--reference", "good.csv", cwd=tmp_path)
    assert status == 0
    assert re.search(
        r"2 +simgrid-smpi +crossbar +ring +8 +0\.00241882816 s +0\.00241882816 s +0 +1e-06 +met", out
    )


def test_a_line_for_information_is_neither_met_nor_not(tmp_path):
    packets = GOOD.replace("envelope_B=16", "packet_level=1").replace("0.00241882816", "0.0025")
    (tmp_path / "two.csv").write_text(f"{HEAD}\n{GOOD}\n{packets}\n")
    status, out, _ = run("--reference", "two.csv", cwd=tmp_path)
    assert status == 0
    assert "1 of 1 rows met, 1 for information" in out
    _, out, _ = run("--reference", "two.csv", "--json", cwd=tmp_path)
    assert [row["passed"] for row in json.loads(out)["rows"]] == [True, None]


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate(2**34)
    for name in ("pipe.csv", ".", "/dev/zero", "huge.csv"):
        status, out, problem = run("--reference", name, cwd=tmp_path)
        assert (status, out, problem.count("\n")) == (2, "", 1), name
        assert "not a file" in problem or "larger than 16 MiB" in problem


@pytest.mark.parametrize("name", ["v.png", "v"])
def test_a_picture_is_a_page_and_is_called_one(tmp_path, name):
    status, out, problem = run("--only", "gaudi2", "--plot", name, cwd=tmp_path)
    assert (status, out, problem) == (
        2, "", f"peerlab: --plot writes a page: {name} must end in .html or .htm\n",
    )  # fmt: skip
    assert not (tmp_path / name).exists()


def test_outliers_are_named_in_the_picture(tmp_path):
    run("--only", "alps-nccl-tcp", "--plot", cwd=tmp_path)
    page = (tmp_path / "validation.html").read_text()
    assert "alps-nccl-tcp 32 MiB: An outlier of the log" in page


def test_a_bad_line_fails_with_its_number_and_the_others_are_answered(tmp_path):
    (tmp_path / "mixed.csv").write_text(f"{HEAD}\n{GOOD.replace('crossbar', 'torus')}\n{GOOD}\n")
    status, out, problem = run("--reference", "mixed.csv", cwd=tmp_path)
    assert (status, problem) == (1, "")
    assert "1 of 2 rows met" in out
    assert "line 2: unknown case 'torus'" in out
    status, out, _ = run("--reference", "mixed.csv", "--json", cwd=tmp_path)
    assert (status, [row["passed"] for row in json.loads(out)["rows"]]) == (1, [False, True])


def test_a_wrong_result_is_not_met(tmp_path):
    (tmp_path / "wrong.csv").write_text(f"{HEAD}\n{GOOD.replace('0.00241882816', '0.0024189')}\n")
    status, out, _ = run("--reference", "wrong.csv", cwd=tmp_path)
    assert status == 1
    assert "NOT MET" in out


@pytest.mark.parametrize("name", ["nothing.csv", "no.csv"])
def test_what_is_no_csv_gets_one_line(tmp_path, name):
    (tmp_path / "no.csv").write_bytes(b"\x89PNG\r\n")
    status, out, problem = run("--reference", name, cwd=tmp_path)
    assert (status, out, problem.count("\n")) == (2, "", 1)
    assert name in problem


def test_the_picture_is_one_page_that_asks_nobody(tmp_path):
    status, out, _ = run("--only", "gaudi2", "--plot", cwd=tmp_path)
    assert status == 0
    assert "drawn: validation.html" in out
    page = (tmp_path / "validation.html").read_text()
    assert "gaudi2-one-box 32 MiB" in page
    assert not re.search(r"<(?:script|link|img)[^>]*(?:src|href)=(?!.data:,)", page)


def test_a_picture_that_cannot_be_written_gets_one_line(tmp_path):
    status, _, problem = run("--only", "gaudi2", "--plot", tmp_path / "nowhere" / "x.html")
    assert (status, problem.count("\n")) == (2, 1)
    assert "cannot write" in problem


def test_help_has_examples():
    status, out, _ = run("--help")
    assert status == 0
    assert "peerlab validate --reference results.csv" in out.partition("examples:\n")[2]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--reference", "x.csv", "--only", "ring"), "--only is for our own rows, not for --reference"),
        (("--floors", "x.toml", "--points"), "--points is for our own rows, not for --floors"),
        (("--log", "x.log", "--plot"), "--plot is for our own rows, not for --log"),
        (("--law-errors", "x.toml", "--json"), "--json is for our own rows, not for --law-errors"),
        (("--law-errors", "x.toml", "--floors", "y.toml"), "--law-errors and --floors ask for two things"),
        (("--reference", "x.csv", "--log", "x.log"), "--reference and --log ask for two things"),
        (("--reference", "x.csv", "--path", "wire"), "--path goes with --log"),
    ],
)
def test_what_would_not_be_heard_is_refused(options, says, own_folder):
    status, out, problem = run(*options)
    assert (status, out, problem.count("\n")) == (2, "", 1)
    assert says in problem
    assert list(own_folder.iterdir()) == []


def test_a_log_is_held_against_its_cluster(root):
    log = root / "data" / "measured" / "azure-nd-a100-v4" / "nccl-2n16r-ib.csv"
    status, out, problem = run("--log", log, "--cluster", "azure-nd-a100-v4")
    assert (status, problem) == (0, "")
    assert re.search(
        r"NCCL over InfiniBand or RoCE verbs, Peer Direct: median error \d %, worst [+-]\d+ % at ",
        out,
    )
    assert "NCCL 2.18 over InfiniBand or RoCE verbs: tree, LL, chunks of 8 B" in out
    for options, says in (
        (("--log", log), "--log needs --cluster"),
        (("--cluster", "p5"), "--cluster goes with --log"),
        (("--log", log, "--cluster", "p5x"), "unknown cluster"),
        (("--log", log, "--cluster", "azure-nd-a100-v4", "--library-version", "2.7"), "known from 2.8"),
        (("--log", log, "--cluster", "dl1"), "it says that it was taken on azure-nd-a100-v4"),
        (("--log", "nothing.log", "--cluster", "p5"), "nothing.log"),
    ):
        status, out, problem = run(*options)
        assert (status, out, problem.count("\n")) == (2, "", 1)
        assert says in problem
