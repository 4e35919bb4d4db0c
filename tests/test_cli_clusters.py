"""`peerlab clusters`."""

import json
import re

import pytest
from command_line import peerlab_command

import peerlab


def run(*arguments, cwd=".", columns=80):
    return peerlab_command("clusters", *arguments, cwd=cwd, COLUMNS=str(columns))


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_has_every_cluster_and_fits_the_terminal(columns):
    status, out, _ = run(columns=columns)
    assert status == 0
    assert max(map(len, out.splitlines())) <= columns
    for name in peerlab.known_clusters():
        cluster = peerlab.load_cluster(name)
        (row,) = (line for line in out.splitlines() if line.startswith(f"{name} "))
        assert f"{len(cluster.assumptions)} of {len(cluster.stated)}" in row
        assert cluster.title in out


@pytest.mark.parametrize("columns", [80, 120])
def test_one_cluster_is_shown_with_every_figure_what_it_rests_on_and_what_is_lacked(columns):
    status, out, _ = run("dl1", columns=columns)
    assert status == 0
    assert max(map(len, out.splitlines())) <= columns
    flat = " ".join(out.split())
    cluster = peerlab.load_cluster("dl1")
    for figure in cluster.figures.values():
        marked = "* " if figure.assumption else ""
        assert f"{marked}{figure.key} {figure}" in flat
        assert " ".join(figure.source.split()) in flat
        assert figure.assumption in flat
    assert "(from 100 to 140.8 GB/s)" in flat
    assert cluster.lacks["native"] in flat


def test_json_says_the_same():
    _, out, _ = run("--json")
    assert [one["name"] for one in json.loads(out)["clusters"]] == list(peerlab.known_clusters())
    _, out, _ = run("dl1", "--json")
    document = json.loads(out)
    assert document["figures_assumed"] == len(peerlab.load_cluster("dl1").assumptions)
    (dram,) = (figure for figure in document["figures"] if figure["key"] == "host.dram")
    assert (dram["value"], dram["unit"], dram["range"]) == (140.8, "GB/s", [100, 140.8])


def test_a_new_file_is_written_checked_and_not_overwritten(tmp_path):
    status, out, _ = run("new", "my.toml", cwd=tmp_path)
    assert status == 0
    assert "peerlab clusters check my.toml" in out
    status, out, _ = run("check", "my.toml", cwd=tmp_path)
    assert status == 1
    assert "my.toml: not complete" in out
    assert "find it:" in out
    status, _, problem = run("new", "my.toml", cwd=tmp_path)
    assert (status, problem) == (1, "peerlab: my.toml is there already; --force overwrites it\n")
    assert run("new", "my.toml", "--force", cwd=tmp_path)[0] == 0


def test_a_complete_file_passes_with_what_it_assumes_and_what_looks_odd(tmp_path, root):
    text = (root / "data" / "hardware" / "dl1.toml").read_text()
    (tmp_path / "my.toml").write_text(
        text.replace("rate = { value = 12.5, unit", "rate = { value = 100, unit", 1)
    )
    status, out, _ = run("check", "my.toml", cwd=tmp_path)
    assert status == 0
    assert "my.toml: complete; 28 figures, 13 of them assumed" in out
    assert "is it meant in Gbit/s?" in " ".join(out.split())
    assert "host memory bandwidth (host.dram) = 140.8 GB/s: 6 channels of DDR4-2933" in out
    status, out, _ = run("check", "my.toml", "--json", cwd=tmp_path)
    assert (status, json.loads(out)["complete"]) == (0, True)


def test_what_a_cluster_was_fitted_on_is_shown_and_may_stand_in_a_file(tmp_path, root):
    _, out, _ = run("juliet")
    assert "fitted on " in out
    text = (root / "data" / "hardware" / "juliet.toml").read_text()
    for given, says in (
        ("fitted_on = 5", "fitted_on must be a text, not 5"),
        ('fitted_at = "x"', "fitted_on"),
    ):
        (tmp_path / "my.toml").write_text(f"{given}\n" + re.sub(r"(?m)^fitted_on.*\n", "", text))
        status, out, _ = run("check", "my.toml", cwd=tmp_path)
        assert status == 1
        assert says in out


def test_a_path_that_is_there_and_lacked_is_wrong(tmp_path, root):
    text = (root / "data" / "hardware" / "p5.toml").read_text()
    (tmp_path / "my.toml").write_text(text.replace("[paths.lacks]", '[paths.lacks]\npeer-direct = "none"'))
    status, out, _ = run("check", "my.toml", cwd=tmp_path)
    assert status == 1
    assert "path 'peer-direct' is in has and in [paths.lacks]; strike out one of them" in " ".join(
        out.split()
    )


def test_a_file_that_is_no_text_is_refused_in_one_line(tmp_path):
    (tmp_path / "my.toml").write_text("\x00\x01")
    status, out, problem = run("check", "my.toml", cwd=tmp_path)
    assert (status, out) == (1, "")
    assert problem == "peerlab: my.toml is not a text file in UTF-8\n"


@pytest.mark.parametrize("text", ["", "name = ", "[[[", "[" * 5000])
def test_any_text_is_checked_without_a_traceback(tmp_path, text):
    (tmp_path / "my.toml").write_text(text)
    status, out, problem = run("check", "my.toml", cwd=tmp_path)
    assert (status, problem) == (1, "")
    assert "not complete; no figure yet\n" in out


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("dl2",), 1, "unknown cluster 'dl2'; did you mean 'dl1'?"),
        (("check", "none.toml"), 1, "cannot read none.toml: No such file"),
        (("check", "dl2"), 1, "did you mean 'dl1'?"),
        (("new", "my.txt"), 1, "ends in .toml"),
        (("new",), 2, "new needs a file"),
        (("dl1", "my.toml"), 2, "'dl1' takes no file"),
        (("dl1", "--force"), 2, "--force is for new"),
        (("new", "my.toml", "--json"), 2, "--json is not for new"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(tmp_path, arguments, status, says):
    found, out, problem = run(*arguments, cwd=tmp_path)
    assert (found, out) == (status, "")
    assert says in problem.splitlines()[-1]
