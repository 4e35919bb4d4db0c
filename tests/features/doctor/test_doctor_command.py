"""`peerlab doctor`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fake_host import FakeHost

from peerlab import cli
from peerlab.features.doctor import doctor_command as command
from peerlab.features.doctor.report import CHECKS, examine


@pytest.fixture
def fake(tmp_path, monkeypatch):
    fake = FakeHost(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(command, "examine", lambda only: examine(fake.host(), only))
    return fake


def test_a_host_that_can_is_answered_with_0_and_a_line_per_check(fake, capsys):  # noqa: ARG001
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Can this host do peer direct? Yes: nothing that was read stands against it.\n")
    assert sum(line.startswith("  pass ") for line in out.splitlines()) == len(CHECKS)
    assert "mend" not in out


def test_a_fail_says_why_and_how_to_mend_it_in_80_columns_and_is_1(fake, capsys):
    fake.environment["NCCL_NET_GDR_LEVEL"] = "LOC"
    assert cli.main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    (at,) = (index for index, line in enumerate(lines) if line.startswith("  FAIL     environment"))
    told = " ".join(" ".join(lines[at:]).split())
    assert "NCCL_NET_GDR_LEVEL=LOC: NCCL never lets the NIC into GPU memory" in told
    assert "mend unset NCCL_NET_GDR_LEVEL" in told
    assert "blocks peer-direct" in told


def test_a_warning_or_what_cannot_be_read_is_no_failure(fake, capsys):
    fake.write("sys/class/net/eth0/mtu", "1500")
    fake.remove("proc/driver/nvidia/version")
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Can this host do peer direct? Cannot tell: NVIDIA's driver")
    assert "  warn     mtu " in out
    assert "  unknown  peer-memory " in out
    assert "may block  peer-direct" in out


def test_json_tells_everything(fake, capsys):
    fake.drive("0000:03:00.0", "vfio-pci")
    assert cli.main(["doctor", "--json", "--only", "accel*", "--only", "kernel"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in said["checks"]] == ["accelerator", "kernel"]
    assert said["peer_direct"] == "cannot tell"
    assert "environment" in said["left_out"]


def test_an_unknown_check_is_refused_in_one_line_as_wrong_usage(fake, capsys):  # noqa: ARG001
    assert cli.main(["doctor", "--only", "fibre"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("peerlab: --only: no check matches 'fibre'; ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--json"], ["--only", "kernel"]])  # long, short
def test_a_full_disk_below_the_output_is_one_line(arguments):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full, which is a full disk")
    command = [sys.executable, "-m", "peerlab.cli", "doctor", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (
        1,
        "peerlab: cannot write the output: No space left on device\n",
    )
