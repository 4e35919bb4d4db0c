"""An output file that somebody has damaged is refused in words and left as it is."""

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
