"""What copies cost, kept in a file, and what they say of a cluster."""

import json
import os
from dataclasses import replace

import pytest
from command_line import peerlab_command

import peerlab
from peerlab.base.errors import RecordsError
from peerlab.features.measure.reports.copies_document import copies_document
from peerlab.question.completeness import check
from peerlab.records.copy_times import CopyCost, CopyTime, RegisterTime, is_copies

START_US, PINNED_US_PER_MIB, PAGEABLE_US_PER_MIB = 8.0, 19.0, 100.0
SIZES = (4, 1 << 20, 64 << 20)


def copy(way, host, size):
    rate = PINNED_US_PER_MIB if host == "pinned" else PAGEABLE_US_PER_MIB
    time = START_US + rate * (size >> 20) * (1.1 if way == "to device" else 1)
    return CopyTime(
        way=way, host=host, size_bytes=size, time_us=time, low_us=0.9 * time, high_us=1.1 * time,
        again=1.0, again_low=0.95, again_high=1.05,
    )  # fmt: skip


@pytest.fixture
def cost():
    ways = ("to host", "to device", "both ways")
    region = RegisterTime(
        what="host memory", size_bytes=4096, register_us=50, low_us=49, high_us=52, deregister_us=30
    )
    return CopyCost(
        copies=[copy(way, host, size) for way in ways for host in ("pinned", "pageable") for size in SIZES],
        registrations=[region],
        idle_us=1.5,
        manifest={"devices": ["a GPU"], "accelerators": ["a GPU: 16 GiB"], "date": "2026-11-26"},
    )


@pytest.fixture
def file(cost, tmp_path):
    cost.save(tmp_path / "copies.json")
    return tmp_path / "copies.json"


def test_a_file_gives_back_what_was_measured(cost, file):
    assert is_copies(file)
    assert CopyCost.read(file).as_dict() == cost.as_dict()


def test_copies_tell_what_starting_takes_and_two_rates_of_the_slower_direction(cost):
    start, engine, pageable = cost.figures
    assert (start.key, start.value, start.unit) == ("device.copy_start", START_US, "us")
    assert (start.low, start.high) == (0.9 * START_US - 1.5, 1.1 * START_US)
    gb_per_s = (64 << 20) / (START_US + 1.1 * 64 * PINNED_US_PER_MIB) / 1e3
    assert (engine.key, engine.value) == ("device.copy_engine", pytest.approx(gb_per_s))
    assert engine.low <= engine.value <= engine.high
    assert pageable.value < engine.value / 4


def test_a_figure_is_told_by_copies_that_tell_it_and_by_no_others(cost):
    def keys(**wanted):
        kept = [one for one in cost.copies if all(getattr(one, name) in wanted[name] for name in wanted)]
        return [figure.key for figure in replace(cost, copies=kept).figures]

    assert keys(size_bytes=[64 << 20]) == ["device.copy_engine", "host.pageable_copy"]
    assert keys(size_bytes=[4]) == ["device.copy_start"]
    assert keys(size_bytes=[1 << 20]) == []
    assert keys(host=["pageable"]) == ["host.pageable_copy"]
    assert keys(way=["both ways"]) == keys(way=[]) == []
    (start,) = replace(cost, copies=cost.copies[:1], idle_us=1e6).figures
    assert start.low == 0  # no time is negative


def test_copies_of_any_kind_are_shown_each_in_its_column(cost):
    kinds = [[], cost.copies[:1], [one for one in cost.copies if one.way == "both ways"]]
    for copies in kinds:
        few = replace(cost, copies=copies, registrations=[])
        assert len(few.table) == len(copies)
        assert "Registering" not in few._repr_html_()
    assert "Nothing: measure pinned copies" in replace(cost, copies=[])._repr_html_()
    # the copy of 4 B to the host is missing
    (pinned, *_) = copies_document(replace(cost, copies=cost.copies[1:])).parts
    assert pinned.rows[0] == ("4 B", "-", "-", "8 µs [-10 % +10 %]", "-", "8 µs [-10 % +10 %]", "-")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("[]", "list indices"),
        ("{}", "it lacks 'copies'"),
        ('{"copies": [1]}', "'int' object"),
        ('{"copies": ' + 100_000 * "[", "its brackets are too deep"),
        ('{"copies": ' + 5_000 * "9" + "}", "limit"),
    ],
)
def test_what_is_no_such_file_is_refused_in_a_line(tmp_path, text, reason):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(
        RecordsError,
        match=rf"^[^\n]*a\.json: no file of peerlab measure copies --save \([^\n]*{reason}[^\n]*\)$",
    ):
        CopyCost.read(tmp_path / "a.json")


def test_what_cannot_be_read_at_all_says_why(tmp_path):
    (tmp_path / "a.json").write_bytes(b"\0\xff")
    (tmp_path / "large.json").write_text(5_000_000 * " ")
    os.mkfifo(tmp_path / "pipe")
    problems = {
        "a.json": "not a text file",
        "large.json": "larger than",
        "pipe": "not a file",
        ".": "not a file",
    }
    for name, problem in problems.items():
        assert not is_copies(tmp_path / name)
        with pytest.raises(RecordsError, match=problem):
            CopyCost.read(tmp_path / name)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"time_us": float("nan")}, "time_us: nan is not a number above 0"),
        ({"time_us": float("inf")}, "time_us: inf is not a number above 0"),
        ({"time_us": 0}, "time_us: 0 is not a number above 0"),
        ({"again_low": -1}, "again_low: -1 is not a number above 0"),
        ({"time_us": "8"}, "time_us: '8' is not a number above 0"),
        ({"size_bytes": True}, "size_bytes: True is not a number above 0"),
        ({"size_bytes": 4.5}, "size_bytes: 4.5 is no whole number"),
        ({"low_us": 100}, "8.0 us is not from low_us to high_us"),
        ({"way": "sideways"}, "way: 'sideways' is none of to host, to device, both ways"),
        ({"host": 3}, "host: 3 is no text"),
        ({"idle_us": float("nan")}, "idle_us: nan is not a number above 0"),
        ({"manifest": []}, "manifest: [] is no table"),
        ({"devices": "H200"}, "devices: 'H200' is no list of texts"),
        ({"date": 2026}, "date: 2026 is no text"),
        ({"notes": [1]}, "notes: 1 is no text"),
    ],
)
def test_an_impossible_value_is_named(file, value, reason):
    plain = json.loads(file.read_text())
    ((name, _),) = value.items()
    places = (plain, plain["copies"][0], plain["manifest"])
    place = next((one for one in places if name in one), plain)
    place.update(value)
    file.write_text(json.dumps(plain))
    status, out, problem = peerlab_command("calibrate", file, "--cluster", "p5")
    assert (status, out, problem.count("\n")) == (1, "", 1)
    assert reason in problem


def test_names_from_a_file_tell_neither_a_terminal_nor_a_page_nor_a_cluster_file_anything(cost, tmp_path):
    name = '<script>alert(1)</script>\x1b[31m\n[device]\n"""'
    manifest = {"devices": [name], "accelerators": [name], "processor": name, "date": name}
    regions = [replace(cost.registrations[0], what=name)]
    replace(cost, manifest=manifest, registrations=regions, notes=[name]).save(tmp_path / "a.json")
    read = CopyCost.read(tmp_path / "a.json")
    assert "<script" not in read._repr_html_()
    assert "\x1b" not in read._repr_html_() + repr(read)
    status, out, _ = peerlab_command(
        "calibrate", "a.json", "--cluster", "p5", "--save", "mine.toml", cwd=tmp_path
    )
    assert status == 0
    assert "\x1b" not in out
    assert peerlab.load_cluster(tmp_path / "mine.toml").figures["device.copy_start"].value == START_US


def test_a_file_that_another_program_wrote_anew_is_still_one(cost, file):
    file.write_text(json.dumps(json.loads(file.read_text()), separators=(",", ":")))
    assert is_copies(file)
    assert CopyCost.read(file).as_dict() == cost.as_dict()


@pytest.mark.parametrize(
    "option", ["--nodes 2", "--path host-rdma", "--constant nic.rate", "--smallest 64KiB"]
)
def test_what_chooses_rows_of_a_log_is_refused_for_copies(file, option):
    status, out, problem = peerlab_command("calibrate", file, "--cluster", "p5", *option.split())
    assert (status, out) == (1, "")
    assert problem.startswith(f"peerlab: {option.split()[0]}: ")
    assert problem.endswith("copies.json holds copies, which are taken as they were measured\n")


def test_calibrate_takes_them_into_a_cluster_file_that_checks_and_slows_staging(file, tmp_path):
    status, out, problem = peerlab_command(
        "calibrate", file, "--cluster", "p5", "--save", "mine.toml", cwd=tmp_path
    )
    assert (status, problem) == (0, "")
    assert "not in the file" in out
    assert "written: mine.toml" in out
    before, after = peerlab.load_cluster("p5"), peerlab.load_cluster(tmp_path / "mine.toml")
    assert check(tmp_path / "mine.toml")
    start = after.figures["device.copy_start"]
    assert (start.value, start.range) == (START_US, (0.9 * START_US - 1.5, 1.1 * START_US))
    assert "measure copies on a GPU: 16 GiB, 2026-11-26" in start.source
    staged = {"path": "host-rdma", "nodes": 2, "message_bytes": "64 KiB", "library": "none"}
    times = [peerlab.simulate(peerlab.Scenario(cluster=one, **staged)).time_s for one in (before, after)]
    assert times[0] < times[1]


def test_calibrate_says_the_same_as_json_and_refuses_what_tells_nothing(file, tmp_path):
    status, out, _ = peerlab_command("calibrate", file, "--cluster", "p5", "--json", cwd=tmp_path)
    assert status == 0
    assert [one["key"] for one in json.loads(out)["figures"]] == ["device.copy_start", "device.copy_engine"]
    status, out, problem = peerlab_command("calibrate", file, "--cluster", "p55", cwd=tmp_path)
    assert (status, out, problem.count("\n")) == (1, "", 1)


def test_a_log_is_asked_for_and_copies_are_given(file):
    """The message named ten tools and not the command that takes the file."""
    for command in ("diagnose", "import", "expect --log"):
        status, out, problem = peerlab_command(*command.split(), str(file))
        assert (status, out, problem.count("\n")) == (1, "", 1)
        assert "holds what copies took, as `peerlab measure copies` saves it" in problem
        assert problem.endswith("peerlab calibrate takes it\n")
