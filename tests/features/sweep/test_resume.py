"""The output file: what a sweep that was stopped, killed or disturbed leaves behind, and how it goes on."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.sweep.csv_rows import cell, read
from peerlab.features.sweep.output_file import Store
from peerlab.features.sweep.question import Question

SMALL = peerlab.Scenario(cluster="ideal-100g", message_bytes="64 KiB")
GRID = {"nodes": [2, 3, 4], "window": [1, 2], "path": ["wire", "native"]}


@pytest.fixture
def file(tmp_path):
    return tmp_path / "sweep.csv"


def again(file, **changes):
    told = []
    fields = {**GRID, **changes}
    table = peerlab.sweep(
        SMALL, output=file, progress=lambda done, total: told.append((done, total)), **fields
    )
    return table, told


def test_the_file_holds_the_table_and_is_not_computed_again(file):
    table, told = again(file)
    assert told[-1] == (12, 12)
    on_disk = pd.read_csv(file)
    assert on_disk["time_s"].equals(table["time_s"])
    assert on_disk["nodes"].tolist() == table["nodes"].tolist()
    before = file.read_bytes()
    repeated, told = again(file)
    assert told == []
    assert repeated.to_csv() == table.to_csv()
    pd.testing.assert_frame_equal(repeated, table, check_exact=True)
    assert file.read_bytes() == before


@pytest.mark.parametrize("rows", [0, 1, 7, 10])
def test_a_sweep_goes_on_where_it_stopped(file, rows):
    table, _ = again(file)
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[: 1 + rows]))
    resumed, told = again(file)
    assert told[-1] == (12, 12)
    assert resumed.to_csv() == table.to_csv()
    assert file.read_bytes() == whole


def test_wherever_the_file_is_cut_off_the_table_is_the_same(file):
    table, _ = again(file)
    whole = file.read_bytes()
    for cut in range(0, len(whole), 97):
        file.write_bytes(whole[:cut])
        header, line_ends = whole.index(b"\n") + 1, whole[:cut].endswith(b"\n")
        if cut < header or line_ends:
            resumed, _ = again(file)
        else:
            with pytest.warns(UserWarning, match="the last line of .*sweep.csv was cut off"):
                resumed, _ = again(file)
        assert resumed.to_csv() == table.to_csv()
        assert file.read_bytes() == whole


def test_nodes_that_are_slow_and_places_stand_in_the_file_too(file):
    fields = {"nodes": [2, 4], "slow_nodes": [None, {3: 0.5}], "placement": [None, (1, 0)]}
    table = peerlab.sweep(SMALL, output=file, workers=1, **fields)
    assert table["error"].isna().tolist() == [True, True, False, False, True, False, True, False]
    assert table["slow_nodes"].tolist() == [None, None, {3: 0.5}, {3: 0.5}] * 2
    assert file.read_text().splitlines()[3].startswith('2,"{""3"": 0.5}",,')
    assert peerlab.sweep(SMALL, output=file, **fields).to_csv() == table.to_csv()


def test_the_same_fields_in_another_order_and_more_values_go_on_too(file):
    again(file, nodes=[2, 3])
    fields = {"path": GRID["path"], "window": [2, 1], "nodes": [2, 3, 4]}
    table = peerlab.sweep(SMALL, output=file, **fields)
    assert table.to_csv() == peerlab.sweep(SMALL, **fields).to_csv()
    assert pd.read_csv(file)["time_s"].equals(table["time_s"])


@pytest.mark.parametrize("changes", [{"nodes": [2, 3]}, {"slice_bytes": ["1 KiB"]}])
def test_the_file_of_another_question_is_told_and_left_as_it_is(file, changes):
    again(file)
    before = file.read_bytes()
    with pytest.raises(PeerlabError, match=r"another question|other fields") as told:
        again(file, **changes)
    assert str(file) in str(told.value)
    assert file.read_bytes() == before


def test_rows_whose_figures_meant_something_else_are_another_question(file, monkeypatch):
    """Where nodes differ, registrations were once counted on all of them; other rows mean what they always did."""
    base = peerlab.Scenario(path="peer-direct", nodes=3, message_bytes="64 KiB")
    with monkeypatch.context() as once:
        once.setattr("peerlab.features.sweep.question.foldable", lambda _: True)
        peerlab.sweep(base, window=[1, 2], output=file)
        peerlab.sweep(base, jitter=[0, 0.1], output=file.with_name("jitter.csv"))
    told = []
    peerlab.sweep(base, window=[1, 2], output=file, progress=lambda *done: told.append(done))
    assert told == []
    with pytest.raises(PeerlabError, match="holds 1 of 2 rows of another question"):
        peerlab.sweep(base, jitter=[0, 0.1], output=file.with_name("jitter.csv"))


def test_the_same_fields_on_another_base_are_another_question(file):
    again(file)
    with pytest.raises(PeerlabError, match="holds 12 of 12 rows of another question"):
        peerlab.sweep(SMALL.with_(message_bytes="65 KiB"), output=file, **GRID)


OF_0_1_0 = Path(__file__).with_name("sweep_of_0_1_0.csv")
"""What `peerlab.sweep(SMALL, nodes=[2, 3], output=...)` of 0.1.0 wrote."""


LIBRARY = {"cluster": ["p4d", "gaudi2"], "message_bytes": ["8 B", "1 MiB"]}


def without_library(file):
    """Write a file as it was before it said what the library did."""
    names = ["library", "algorithm", "protocol", "chunk_bytes", "library_does"]
    pd.read_csv(file, dtype=str, keep_default_na=False).drop(columns=names).to_csv(
        file, index=False, lineterminator="\n"
    )


def test_a_file_without_what_the_library_did_goes_on_and_gets_it(file):
    base = peerlab.Scenario(nodes=2)
    table = peerlab.sweep(base, path=["peer-direct", "native"], output=file, **LIBRARY)
    assert table["library_does"].dropna().unique().tolist() == [
        "NCCL 2.19 over EFA: tree, Simple, chunks of 8 B", "NCCL 2.19 over EFA: tree, Simple, chunks of 32 KiB",
    ]  # fmt: skip
    whole = file.read_bytes()
    without_library(file)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:3]))
    resumed = peerlab.sweep(base, path=["peer-direct", "native"], output=file, **LIBRARY)
    pd.testing.assert_frame_equal(resumed, table)
    assert file.read_bytes() == whole


@pytest.mark.parametrize("more", [{}, {"iteration_times": True}])
def test_a_file_of_0_1_0_is_refused_as_another_versions_whatever_is_asked_for(file, more):
    shutil.copy(OF_0_1_0, file)
    part = file.with_name("part.csv")
    rows = OF_0_1_0.read_text().splitlines()
    ends = ["shard", *["1/1"] * (len(rows) - 1)]
    part.write_text(
        "".join(
            f"{row[: -len(key)]}{end},{key}\n"
            for row, end in zip(rows, ends, strict=True)
            for key in [row.rpartition(",")[2]]
        )
    )
    for asked in ({"output": file}, {"merge": [part]}):
        with pytest.raises(PeerlabError, match="version of peerlab") as told:
            peerlab.sweep(SMALL, nodes=[2, 3], **asked, **more)
        assert "--iteration-times" not in str(
            told.value
        )  # it would not help: the figures are those of another model
    assert file.read_text() == OF_0_1_0.read_text()


def test_a_file_with_times_of_iterations_is_refused_without_them_with_the_option_that_has_them(file):
    peerlab.sweep(SMALL, nodes=[2, 3], iteration_times=True, output=file)
    with pytest.raises(
        PeerlabError,
        match=r"has the column iteration_times_s; .*iteration_times=True, or --iter.* with --json or",
    ):
        peerlab.sweep(SMALL, nodes=[2, 3], output=file)


def test_a_file_with_times_of_iterations_goes_on_with_them_and_one_without_them_does_not(file):
    table, _ = again(file, iteration_times=True)
    whole = file.read_bytes()
    file.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    resumed, _ = again(file, iteration_times=True)
    pd.testing.assert_frame_equal(resumed, table, check_exact=True)
    assert file.read_bytes() == whole
    file.unlink()
    again(file)
    with pytest.raises(PeerlabError, match="it lacks iteration_times_s; give another file"):
        again(file, iteration_times=True)


@pytest.mark.parametrize(
    "content", [b"dear diary\n", b"a,b\n1,2\n", b"\xff\xfe\x00", b"\n", b"nodes", b"nothing at all"]
)
def test_a_file_that_is_something_else_is_left_as_it_is(file, content):
    file.write_bytes(content)
    if content == b"nodes":  # as a sweep that was killed in its first line leaves it
        again(file)
        return
    with pytest.raises(PeerlabError, match="is not a table of a sweep"):
        again(file)
    assert file.read_bytes() == content


def test_a_row_that_is_damaged_in_the_middle_is_told_by_its_number(file):
    again(file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:4], b"2,1\n", *lines[5:]]))
    with pytest.raises(PeerlabError, match="is damaged in row 4"):
        again(file)


def test_two_sweeps_cannot_write_the_same_file(file):
    with (
        Store(file, Question.ask(SMALL, GRID)),
        pytest.raises(PeerlabError, match="is being written by another sweep"),
    ):
        again(file)
    again(file)


@pytest.mark.parametrize("place", ["missing/sweep.csv", ".", "a\0b"])
def test_a_place_where_nothing_can_be_written_is_told(tmp_path, place):
    with pytest.raises(PeerlabError, match=r"^output: "):
        again(tmp_path / place)


def test_a_sweep_that_is_cancelled_goes_on_later(file):
    class AfterTwo:
        asked = 0

        def is_set(self):
            self.asked += 1
            return self.asked > 4

    stopped = peerlab.sweep(SMALL, output=file, cancel=AfterTwo(), **GRID)
    assert len(stopped) < 12
    table, _ = again(file)
    assert table.to_csv() == peerlab.sweep(SMALL, **GRID).to_csv()


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "NIC send",
        "8",
        "true",
        "NaN",
        'a "b", c',
        "two\nlines",
        0.1,
        1e-17,
        2**60,
        True,
        [1.5, 2.0],
        "[1]",
    ],
)
def test_a_cell_reads_back_exactly(value):
    assert read(cell(value)) == value
    assert type(read(cell(value))) is type(value)


SCRIPT = """
import sys
import peerlab

if __name__ == "__main__":
    workers = int(sys.argv[2]) or None
    table = peerlab.sweep(
        peerlab.Scenario(), nodes=list(range(2, 34, 2)), path=["host-rdma", "peer-direct", "native"],
        window=[1, 2, 4], output=sys.argv[1], workers=workers,
    )
    sys.stdout.write(table.to_csv())
"""


def start(tmp_path, file, workers):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, script, file, str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def wait_for_rows(file, process, rows):
    """Wait until so many scenarios were simulated: rows with a time."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if file.exists() and file.read_text().count(",loop,") >= rows:
            return
        time.sleep(0.01)
    pytest.fail(f"no {rows} rows: {process.communicate(timeout=5)}")


@pytest.mark.long("processes")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_sweep_that_is_killed_in_the_middle_goes_on_to_the_same_bytes(tmp_path, file, workers):
    untouched = start(tmp_path, tmp_path / "untouched.csv", 0)
    expected, _ = untouched.communicate(timeout=120)
    process = start(tmp_path, file, workers)
    wait_for_rows(file, process, 3)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)  # ends once the processes of the pool have ended too
    left = file.read_text()
    assert left.count(",loop,") < 96
    done = start(tmp_path, file, 2 - workers)
    table, _ = done.communicate(timeout=120)
    assert done.returncode == 0
    assert table == expected
    assert file.read_bytes() == (tmp_path / "untouched.csv").read_bytes()
    assert sorted(one.name for one in tmp_path.glob("*.csv*")) == ["sweep.csv", "untouched.csv"]


def test_ctrl_c_in_a_script_ends_it_and_the_rows_are_in_the_file(tmp_path, file):
    process = start(tmp_path, file, 2)
    wait_for_rows(file, process, 3)
    process.send_signal(signal.SIGINT)
    out, problem = process.communicate(timeout=60)
    assert out == ""
    assert problem.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode != 0
    assert file.read_text().count(",loop,") >= 3
