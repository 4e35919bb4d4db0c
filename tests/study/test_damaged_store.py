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
