"""One sweep in several jobs that know nothing of each other, and the table that their files make."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.sweep.shards import Shard, say_numbers, shard_at

SMALL = peerlab.Scenario(cluster="ideal-100g", message_bytes="64 KiB")
GRID = {"nodes": [2, 3, 4], "window": [1, 2], "path": ["wire", "native"]}


@given(st.integers(0, 400), st.integers(1, 60))
def test_every_row_has_one_shard_and_shards_differ_by_one_row_at_most(rows, of):
    shards = [[place for place in range(rows) if Shard(number, of).has(place)] for number in range(1, of + 1)]
    assert sorted(place for shard in shards for place in shard) == list(range(rows))
    assert max(map(len, shards)) - min(map(len, shards)) <= 1


@pytest.mark.parametrize("values", [2, 3, 10, 40])
def test_no_shard_has_one_value_of_a_field_alone(values):
    """Whatever the number of shards and the field: the last one varies fastest, and would fall in step with some of them."""
    rounds = 60 * values
    for of in (2, 3, 4, 5, 8, 10, 39, 40, 41):
        for number in (1, of):
            mine = [place % values for place in range(rounds * of) if shard_at(place, of) == number]
            assert all(20 < mine.count(value) < 120 for value in range(values))  # 60 on average


@given(st.sets(st.integers(1, 60)))
def test_numbers_are_said_as_slurm_reads_them(numbers):
    read = set()
    for part in filter(None, say_numbers(numbers).split(",")):
        low, _, high = part.partition("-")
        read |= set(range(int(low), int(high or low) + 1))
    assert read == numbers


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the sweep in one piece: its table and its file."""
    file = tmp_path_factory.mktemp("whole") / "sweep.csv"
    return peerlab.sweep(SMALL, output=file, **GRID), file.read_bytes()


def test_shards_with_times_of_iterations_are_merged_with_them(tmp_path):
    files = [part(tmp_path, number, 2, iteration_times=True) for number in (1, 2)]
    table = peerlab.sweep(SMALL, merge=files, iteration_times=True, **GRID)
    pd.testing.assert_frame_equal(table, peerlab.sweep(SMALL, iteration_times=True, **GRID), check_exact=True)


@pytest.fixture
def parts(tmp_path):
    """Return the files of five shards."""
    return [part(tmp_path, number, 5) for number in range(1, 6)]


def part(folder, number, of, base=SMALL, **changes):
    file = folder / f"part-{number}.csv"
    peerlab.sweep(base, shard=(number, of), output=file, **{**GRID, **changes})
    return file


def merge(files, **options):
    return peerlab.sweep(SMALL, merge=files, **{**GRID, **options})


@given(st.integers(1, 15), st.randoms(use_true_random=False))
def test_all_shards_together_are_the_sweep_to_the_last_byte(whole, tmp_path_factory, of, random):
    table, held = whole
    folder = tmp_path_factory.mktemp("parts")
    tables = [peerlab.sweep(SMALL, shard=f"{number}/{of}", **GRID) for number in range(1, of + 1)]
    together = pd.concat([one for one in tables if len(one)]).sort_index()
    assert together["time_s"].equals(table["time_s"])
    files = [part(folder, number, of) for number in range(1, of + 1)]
    random.shuffle(files)
    found = merge(files, output=folder / "all.csv")
    pd.testing.assert_frame_equal(found, table, check_exact=True)
    assert found.to_csv() == table.to_csv()
    assert (folder / "all.csv").read_bytes() == held
    assert merge(files, output=folder / "all.csv").to_csv() == table.to_csv()


def test_a_shard_that_was_stopped_goes_on_and_its_merged_file_is_one_of_a_sweep(whole, parts, tmp_path):
    held = parts[1].read_bytes()
    parts[1].write_bytes(held[: held.index(b"\n") + 20])
    with pytest.raises(PeerlabError, match="merge: 3 of 12 rows are missing, of shards 2 of 5"):
        merge(parts)
    told = []
    with pytest.warns(UserWarning, match=r"the last line of .*part-2\.csv was cut off"):
        peerlab.sweep(SMALL, shard="2/5", output=parts[1], progress=lambda *done: told.append(done), **GRID)
    assert told[-1] == (3, 3)
    assert parts[1].read_bytes() == held
    file = tmp_path / "all.csv"
    merge(parts, output=file)
    peerlab.sweep(SMALL, output=file, progress=lambda *_: pytest.fail("it was simulated again"), **GRID)
    assert file.read_bytes() == whole[1]


def test_missing_rows_are_counted_and_their_shards_named(parts, tmp_path):
    parts[3].write_bytes(b"".join(parts[3].read_bytes().splitlines(keepends=True)[:2]))
    (tmp_path / "begun.csv").write_bytes(parts[2].read_bytes()[:7])
    (tmp_path / "empty.csv").touch()
    files = [parts[0], parts[3], tmp_path / "begun.csv", tmp_path / "empty.csv"]
    with pytest.raises(PeerlabError) as told:
        merge(files, output=tmp_path / "all.csv")
    assert str(told.value) == (
        "merge: 9 of 12 rows are missing, of shards 2-5 of 5; run these again, they go on where they stopped "
        "(Slurm: sbatch --array=2-5 ...), then merge"
    )
    assert not (tmp_path / "all.csv").exists()
    with pytest.raises(PeerlabError, match="12 of 12 rows are missing: no shard has a row yet"):
        merge([tmp_path / "empty.csv"])


def test_strangers_are_refused(parts, tmp_path, monkeypatch):
    def refuses(says, files, **options):
        with pytest.raises(PeerlabError, match=rf"^merge: {says}"):
            merge(files, output=tmp_path / "all.csv", **options)
        assert not (tmp_path / "all.csv").exists()

    refuses(r".*part-1\.csv holds 2 of 2 rows of another question \(another value,", parts, nodes=[5, 6, 7])
    refuses(
        r".*part-1\.csv holds a sweep of other fields or columns: it lacks slice_bytes",
        parts,
        slice_bytes=[None, 7],
    )
    (tmp_path / "more").mkdir()
    more = part(tmp_path / "more", 2, 4)
    refuses(
        r".*part-1\.csv is one of 5 shards, .*part-2\.csv one of 4; merge shards of one sweep", [*parts, more]
    )
    peerlab.sweep(SMALL, output=tmp_path / "sweep.csv", **GRID)
    refuses(r".*sweep\.csv holds a whole sweep, not a shard of a sweep$", [*parts, tmp_path / "sweep.csv"])
    (tmp_path / "diary.txt").write_text("dear diary\n")
    refuses(r".*diary\.txt is not a table of a sweep$", [*parts, tmp_path / "diary.txt"])
    monkeypatch.setattr("peerlab.features.sweep.question.__version__", "0.0.1")
    refuses(r".*part-1\.csv holds 2 of 2 rows of another question .* or version of peerlab\)", parts)


def test_files_that_say_the_same_may_and_files_that_contradict_each_other_may_not(whole, parts, tmp_path):
    again = tmp_path / "again.csv"
    again.write_bytes(parts[0].read_bytes())
    assert merge([*parts, again]).to_csv() == whole[0].to_csv()
    table = pd.read_csv(again, dtype=str)
    table.loc[table["path"] == "wire", "busbw_GBps"] = "7.5"
    table.to_csv(again, index=False)
    with pytest.raises(
        PeerlabError, match=r"merge: .*part-1\.csv and .*again\.csv have different figures for one"
    ):
        merge([*parts, again])
    output = tmp_path / "all.csv"
    merge(parts, output=output)
    damaged = output.read_bytes().replace(b",loop,", b",pool,", 1)
    output.write_bytes(damaged)
    with pytest.raises(PeerlabError, match=r"output: .*all\.csv has other figures for the same scenarios"):
        merge(parts, output=output)
    assert output.read_bytes() == damaged


def test_each_shard_has_a_file_of_its_own(parts, tmp_path):
    before = parts[0].read_bytes()
    with pytest.raises(
        PeerlabError, match=r"holds rows of shard 1/5, and this is 2/5; give each shard a file of"
    ):
        peerlab.sweep(SMALL, shard=(2, 5), output=parts[0], **GRID)
    with pytest.raises(PeerlabError, match="holds a shard of a sweep, not a whole sweep; give another file"):
        peerlab.sweep(SMALL, output=parts[0], **GRID)
    with pytest.raises(PeerlabError, match="holds a shard of a sweep, not a whole sweep"):
        merge(parts, output=parts[0])
    peerlab.sweep(SMALL, output=tmp_path / "sweep.csv", **GRID)
    with pytest.raises(PeerlabError, match="holds a whole sweep, not a shard of a sweep"):
        peerlab.sweep(SMALL, shard=(2, 5), output=tmp_path / "sweep.csv", **GRID)
    assert parts[0].read_bytes() == before


WRONG = [
    ("0/4", "shard: 0/4 is none; of 4 shards the first is 1/4, the last 4/4"),
    ("5/4", "shard: 5/4 is none; of 4 shards the first is 1/4, the last 4/4"),
    ("-1/4", "shard: -1/4 is none; of 4 shards"),
    ("1/0", "shard: 1/0: there can be 1 to 100000 shards, not 0"),
    ("a/b", "shard: 'a/b' is none; give I/N, as in 3/40 for the third of forty"),
    ("3 of 2", "shard: '3 of 2' is none; give I/N"),
    ("/40", "shard: '/40' is none; give I/N"),
    ("", "shard: '' is none; give I/N"),
    ("1" * 5000 + "/2", "shard: '111"),
    ((1, 2, 3), "shard: (1, 2, 3) is none; give I/N"),
    ((True, 2), "shard: (True, 2) is none; give I/N"),
    (0.5, "shard: 0.5 is none; give I/N"),
]


@pytest.mark.parametrize(("shard", "says"), WRONG)
def test_a_shard_that_there_is_not_is_refused_in_words(shard, says):
    with pytest.raises(PeerlabError) as told:
        peerlab.sweep(SMALL, shard=shard, **GRID)
    assert str(told.value).startswith(says)
    assert len(str(told.value)) < 200


@pytest.mark.parametrize("extra", [{"workers": 2}, {"dask": "tcp://127.0.0.1:1"}, {"shard": (1, 2)}])
def test_merging_simulates_nothing(parts, extra):
    (name,) = extra
    with pytest.raises(PeerlabError, match=f"merge and {name}: merging simulates nothing; give one of them"):
        merge(parts, **extra)


def test_more_shards_than_rows_leave_some_without_any(tmp_path):
    files = [tmp_path / f"{number}.csv" for number in range(1, 4)]
    tables = [
        peerlab.sweep(SMALL, nodes=[2, 3], shard=(number, 3), output=file)
        for number, file in enumerate(files, 1)
    ]
    assert [len(table) for table in tables] == [1, 1, 0]
    assert len(peerlab.sweep(SMALL, nodes=[2, 3], merge=files)) == 2
