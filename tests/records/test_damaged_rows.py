"""No row vanishes silently: one number damaged, text before a row, a cell cut short, in every log that there is.

Each such log gives the same rows, or a warning that names the line, or an error in words. What no reader can see is left out of
the damage: a figure that stays a number and that no other one of its row says.
"""

import random
import re

import pytest
from drawing import SOAK
from tool_logs import GOOD, NCCL_JSON

import peerlab
from peerlab.base.errors import RecordsError

TRIALS = 150 if SOAK else 15
"""Damaged lines of each log."""
OF_REAL = 150 if SOAK else 5
"""The same of each real log, of which there are more."""
NUMBER = re.compile(r"(?<![\w.-])-?[0-9][0-9.]*(?![\w.])")
NO_NUMBERS = ("nan", "inf", "-1", "1e400", "x", "1,5")
TABLES = tuple(name for name in GOOD if "JSON" not in name)
SAID_ONCE = ("HCCL_2022", "HCCL_CSV", "HCCL_README", "NCCOM_SIZES")
"""Logs whose size or count, only bandwidth, or time of three digits nothing else says so exactly: cut short, it is another."""


def damageable(text):
    """Return the lines that hold a number, but for commands: nothing says a second time what they say."""
    commands = ("srun", "mpirun", "hccl_demo", "nccom-test")
    lines = enumerate(text.split("\n"))
    return [at for at, line in lines if NUMBER.search(line) and not any(word in line for word in commands)]


def loaded(text):
    """Return what is read, or None for an error, which is one line."""
    try:
        return peerlab.load(text)
    except RecordsError as problem:
        return None if "\n" not in str(problem) else str(problem)


def torn(line, chance):
    """Return a line of which one number is none any more, or is torn in two."""
    found = chance.choice(list(NUMBER.finditer(line)))
    at = chance.randrange(len(found[0]) + 1)
    instead = chance.choice([*NO_NUMBERS, found[0][:at] + chance.choice(",;x ") + found[0][at:]])
    return line[: found.start()] + instead + line[found.end() :]


def cut(line, chance):
    """Return a line of which one number has lost its end, or all of itself."""
    found = chance.choice(list(NUMBER.finditer(line)))
    return line[: found.start()] + found[0][: chance.randrange(len(found[0]))] + line[found.end() :]


def after_text(line, chance):
    """Return a line with what another process wrote before it."""
    said = (
        "foo: ",
        "foo",
        "a b c d e f g h: ",
        "job 12 took 3 s ",
        "[0] NCCL INFO Launch mode ",
        "-",
    )
    return chance.choice(said) + line


def told(records, number):
    """Say whether a warning names a line."""
    spans = [re.match(r"lines? (\d+)(?: to (\d+))?: ", one) for one in records.warnings]
    return any(int(span[1]) <= number <= int(span[2] or span[1]) for span in spans if span) or any(
        f" in line {number}," in one for one in records.warnings
    )


def stands(text, damage, seed, trials=TRIALS):
    """Damage lines of a log one at a time; return what was lost without a word."""
    chance, lines, whole = random.Random(seed), text.split("\n"), peerlab.load(text)  # noqa: S311  (no secret)
    places, silent = damageable(text), []
    for _ in range(trials):
        at = chance.choice(places)
        line = damage(lines[at], chance)
        found = loaded("\n".join([*lines[:at], line, *lines[at + 1 :]]) + "\n")
        if not (found is None or told(found, at + 1) or close(found.table, whole.table)):
            silent.append((at + 1, line))
    return silent


@pytest.fixture
def seed(run_seed):
    """What chooses the damage: another with every run in a long trial alone, as some damage is read without a word still."""
    return run_seed if SOAK else ""


def close(one, other):
    """Say whether two tables differ by what rounding leaves open, in their times and bandwidths alone."""
    figures = ["time_s", "algbw_GBps", "busbw_GBps"]
    if len(one) != len(other) or not one.drop(columns=figures).equals(other.drop(columns=figures)):
        return False
    apart = (one[figures] - other[figures]).abs() / other[figures]
    return bool((apart.fillna(0) < 0.002).all(axis=None)) and one[figures].isna().equals(
        other[figures].isna()
    )


@pytest.mark.sample(part=3)
@pytest.mark.soak
@pytest.mark.parametrize("damage", [torn, cut, after_text])
@pytest.mark.parametrize("name", TABLES)
def test_no_row_of_a_log_vanishes_silently(name, damage, seed):
    if damage is cut and name in SAID_ONCE:
        pytest.skip("nothing in this log says its figures twice")
    assert stands(GOOD[name], damage, f"{seed}{name}") == []


@pytest.mark.soak
@pytest.mark.parametrize("damage", [torn, cut, after_text])
def test_no_row_of_a_real_log_vanishes_silently(reference_dir, damage, seed, drawn):
    logs = [file for file in sorted((reference_dir / "logs").glob("*.log")) if "crash" not in file.name]
    assert len(logs) > 20
    silent = {
        file.name: stands(file.read_text(), damage, f"{seed}{file.name}", OF_REAL)
        for file in drawn(logs, part=3)
    }
    assert not any(silent.values()), silent


def without_a_number(text):
    """Yield the number of a line and the log in which it has lost one of its numbers, for the rows of its tables."""
    lines = text.split("\n")
    rows = [at for at in damageable(text) if len(NUMBER.findall(lines[at])) >= 3]
    for at in rows[:: max(1, len(rows) // 6)]:
        for found in NUMBER.finditer(lines[at]):
            line = lines[at][: found.start()] + lines[at][found.end() :]
            yield at + 1, "\n".join([*lines[:at], line, *lines[at + 1 :]]) + "\n"


@pytest.mark.sample(part=3)
@pytest.mark.parametrize("name", TABLES)
def test_a_number_that_is_lost_is_missed(name):
    whole = peerlab.load(GOOD[name])
    for number, text in without_a_number(GOOD[name]):
        found = loaded(text)
        assert found is None or told(found, number) or close(found.table, whole.table), text


def test_a_lost_size_of_a_real_table_is_missed(reference_dir):
    text = (reference_dir / "logs/nccl_oci_gb200_2n8r_mnnvl.log").read_text()
    whole, damaged = peerlab.load(text), list(without_a_number(text))
    assert len(damaged) > 20
    for number, without in damaged:
        found = loaded(without)
        assert found is None or told(found, number) or close(found.table, whole.table), number


@pytest.mark.parametrize(
    ("written", "instead", "says"),
    [
        ('"n_ranks":16', '"n_ranks":-1', "doubtful: n_ranks -1 is none"),
        ('"n_ranks":16', '"n_ranks":0', "doubtful: n_ranks 0 is none"),
        ('"nnodes":2', '"nnodes":-1', "doubtful: nnodes -1 is none"),
        ('"nnodes":2', '"nnodes":0', "doubtful: nnodes 0 is none"),
        ('"coll_exec_time_us":1210', '"coll_exec_time_us":1', "doubtful: algbw is 55.46 GB/s, and size over"),
        (
            '"coll_exec_time_us":1210',
            '"coll_exec_time_us":-1210',
            "left out: it has no size or no time above zero",
        ),
    ],
)
def test_an_inspectors_damaged_line_is_named_and_costs_no_other_one(written, instead, says):
    whole = peerlab.load(GOOD["INSPECTOR"])
    found = peerlab.load(GOOD["INSPECTOR"].replace(written, instead, 1))
    assert [one for one in found.warnings if one.startswith(f"line 1: {says}")]
    left_out = "left out" in says
    assert found.table[1 - left_out :].reset_index(drop=True).equals(whole.table[1:].reset_index(drop=True))
    assert (found.manifest["ranks"], found.manifest["nodes"]) == (16, 2)


def test_counts_that_one_process_alone_says_are_named_as_such():
    says = "4 of 4 collectives stand in the log of one process alone: nothing there says their counts twice"
    first = "\n".join(line for line in GOOD["NCCL_COLL"].split("\n") if "[0]" in line)
    assert says in peerlab.load(first).warnings
    assert not any("one process alone" in one for one in peerlab.load(GOOD["NCCL_COLL"]).warnings)


def test_a_count_that_another_process_says_otherwise_is_named_on_both_lines():
    cut = GOOD["NCCL_COLL"].replace("count 524288 datatype 9 op 0", "count 52 datatype 9 op 0", 1)
    found = [one for one in peerlab.load(cut).warnings if one.startswith("line")]
    assert [one.partition(" of another process")[0] for one in found] == [
        "line 1: doubtful: it differs from line 2",
        "line 2: doubtful: it differs from line 1",
    ]


@pytest.mark.parametrize("instead", ["nan", "-1", "1e400", "1,5", "", '"x"', "[1]", "null", "7"])
def test_no_result_of_a_json_file_vanishes_silently(instead):
    whole = peerlab.load(NCCL_JSON)
    for found in re.finditer(r'"(size|count|time|alg_bw|bus_bw)":([0-9.]+)', NCCL_JSON):
        number = NCCL_JSON[: found.start()].count('"size"') + (found[1] == "size")
        one = loaded(NCCL_JSON[: found.start(2)] + instead + NCCL_JSON[found.end(2) :])
        said = one is None or any(warning.startswith(f"result {number}: ") for warning in one.warnings)
        assert said or close(one.table, whole.table), found[0]


@pytest.mark.parametrize("name", ["NCCL", "HCCL_RANGE", "OSU_ALLTOALL"])
def test_no_row_of_a_saved_table_changes_silently(tmp_path, name):
    peerlab.load(GOOD[name]).save(tmp_path / "saved.csv")
    text = (tmp_path / "saved.csv").read_text()
    first = text.index("kind,source")
    names = text[first:].partition("\n")[0].split(",")
    figures = [place for place, name in enumerate(names) if name in ("size_bytes", "time_s", "algbw_GBps")]
    lines = text.split("\n")
    for at in range(text[:first].count("\n") + 1, len(lines) - 1):
        for place in figures:
            cells = lines[at].split(",")
            for cell in ("x", "-1", "1e400", "nan", f"9{cells[place]}"):
                damaged = ",".join([*cells[:place], cell, *cells[place + 1 :]])
                one = loaded("\n".join([*lines[:at], damaged, *lines[at + 1 :]]))
                assert one is None or any("doubtful" in warning for warning in one.warnings), damaged
