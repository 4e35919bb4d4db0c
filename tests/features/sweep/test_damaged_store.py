"""An output file that somebody has damaged is refused in words and left as it is."""

import os
from pathlib import Path

import pytest

import peerlab


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('"' + "x" * 200_000 + '"', "damaged"),
        ("banana", "damaged in row 1: no figures"),
        ("-1", "damaged in row 1: no figures"),
        ("NaN", "damaged in row 1: no figures"),
        ("", "damaged in row 1: no figures"),
    ],
)
def test_a_cell_that_is_no_figure_is_refused(tmp_path, cell, says):
    file = tmp_path / "sweep.csv"
    question = {"nodes": [2, 4], "message_bytes": "1 MiB"}
    peerlab.sweep(output=file, progress=False, **question)
    lines = file.read_text().splitlines()
    place = lines[0].split(",").index("time_s")
    cells = lines[1].split(",")
    cells[place] = cell
    file.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    before = file.read_bytes()
    with pytest.raises(peerlab.PeerlabError, match=says):
        peerlab.sweep(output=file, progress=False, **question)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/proc/self/mem", r"^cannot read /proc/\d+/mem: "),
        ("huge.csv", r"^.*huge\.csv is larger than 1 GiB; that is no table of a sweep$"),
        ("pipe.csv", r"^output: .*pipe\.csv is not a file that can be continued"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path, monkeypatch, path, says):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    with Path("huge.csv").open("wb") as file:
        file.truncate(2**34)
    with pytest.raises(peerlab.PeerlabError, match=says) as told:
        peerlab.sweep(output=path, progress=False, nodes=[2])
    assert "\n" not in str(told.value)


QUESTION = {"nodes": [2, 4], "message_bytes": "1 MiB"}


def swept(tmp_path, **options):
    file = tmp_path / "sweep.csv"
    peerlab.sweep(output=file, progress=False, **QUESTION, **options)
    return file


@pytest.mark.parametrize("cell", ['"[1, 3]"', '"{""a"": 1}"', "{}", "", "7", "4/3"])
def test_a_shard_that_is_none_is_refused_with_the_files_name(tmp_path, cell):
    file = swept(tmp_path, shard="1/1")
    file.write_text(file.read_text().replace(",1/1,", f",{cell},"))
    before = file.read_bytes()
    says = r"sweep\.csv is damaged in row 1: no shard; delete that row"
    with pytest.raises(peerlab.PeerlabError, match=rf"^output: .*{says}"):
        swept(tmp_path, shard="1/1")
    with pytest.raises(peerlab.PeerlabError, match=rf"^merge: .*{says}"):
        peerlab.sweep(merge=[file], progress=False, **QUESTION)
    assert file.read_bytes() == before


def test_a_file_that_contradicts_itself_is_refused(tmp_path):
    file = swept(tmp_path, shard="1/1")
    head, first, *rest = file.read_text().splitlines(keepends=True)
    time = first.split(",")[head.split(",").index("time_s")]
    file.write_text("".join([head, first, *rest, first]))
    swept(tmp_path, shard="1/1")  # what is said twice is no contradiction
    before = "".join([head, first, *rest, first.replace(time, "7.5")])
    file.write_text(before)
    says = r"sweep\.csv has other figures in row 3 than before for the same scenario"
    with pytest.raises(peerlab.PeerlabError, match=rf"^output: .*{says}"):
        swept(tmp_path, shard="1/1")
    with pytest.raises(peerlab.PeerlabError, match=rf"^merge: .*{says}"):
        peerlab.sweep(merge=[file], progress=False, **QUESTION)
    assert file.read_text() == before


def test_a_file_that_is_deleted_during_the_sweep_is_written_again(tmp_path):
    file = swept(tmp_path)
    held = file.read_bytes()
    file.unlink()
    peerlab.sweep(output=file, progress=lambda *_: file.unlink(missing_ok=True), **QUESTION)
    assert file.read_bytes() == held


def test_a_file_that_a_spreadsheet_has_saved_is_gone_on_with(tmp_path):
    file = swept(tmp_path)
    held = file.read_bytes()
    file.write_bytes(b"\xef\xbb\xbf" + held.replace(b"\n", b"\r\n"))
    swept(tmp_path)
    assert file.read_bytes() == held
