"""What copies cost, kept in a file, and what they say of a cluster."""

import json

import pytest
from command_line import peerlab_command

import peerlab
from peerlab.base.errors import RecordsError
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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"tool": "peerlab measure copies"}',
        '{"tool": "peerlab measure copies", "copies": [1]}',
        "\x00",
    ],
)
def test_what_is_no_such_file_is_refused_in_a_line(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(
        RecordsError, match=r"^[^\n]*a\.json: no file of peerlab measure copies --save \([^\n]*\)$"
    ):
        CopyCost.read(tmp_path / "a.json")


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
