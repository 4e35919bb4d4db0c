"""Floors as files: the shell check runs, the rules are YAML with the labels of NCCL Inspector's exporter."""

import json
import subprocess

import pytest
import yaml

import peerlab
from peerlab.base.errors import ScenarioError
from peerlab.features.expect.thresholds import write_thresholds

HEAD = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"


def table(found, times, prefix=""):
    """Return rows of nccl-tests whose bandwidth is so many times the floor; the in-place column is slower."""
    rows = [
        f"{prefix}{one.size} {one.size // 4} float sum -1 1.0 1.0 {one.floor * times:.2f} 0 1.0 1.0 {one.floor * times * 0.9:.2f} 0"
        for one in found.rows
    ]
    return HEAD + "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def found():
    return peerlab.expect("p5", nodes=2, sizes="1MiB:1GiB")


@pytest.mark.parametrize("prefix", ["", "0: ", "[1,0]<stdout>: ", "[1,0]<stdout>:"])
def test_the_shell_check_passes_a_healthy_log_and_names_each_row_of_an_ill_one(found, own_folder, prefix):
    check = write_thresholds(found, own_folder / "thresholds.sh")
    for times, status, lines in ((1.1, 0, 0), (0.5, 1, len(found.rows))):
        log = own_folder / "run.log"
        log.write_text(table(found, times, prefix))
        ran = subprocess.run(["sh", check, log], capture_output=True, text=True, check=False)
        assert (ran.returncode, len(ran.stdout.splitlines()), ran.stderr) == (status, lines, "")


def test_the_shell_check_reads_older_columns_and_wrong_results(found, own_folder):
    check, log = write_thresholds(found, own_folder / "thresholds.sh"), own_folder / "run.log"
    last = found.rows[-1]
    rows = {
        f"#  size  count  type  redop  time  algbw  busbw  error\n{last.size} 1 float sum 1.0 1.0 {last.floor * 1.1:.2f} 2e-07\n": (0, ""),
        f"{HEAD}{last.size} 1 float sum -1 1.0 1.0 {last.floor * 1.1:.2f} 3 1.0 1.0 {last.floor:.2f} N/A\n": (1, f"{last.size} B: 3 results are wrong\n"),
    }  # fmt: skip
    for text, (status, says) in rows.items():
        log.write_text(text)
        ran = subprocess.run(["sh", check, log], capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (status, says, "")


def test_a_log_without_a_row_is_no_healthy_one(found, own_folder):
    check = write_thresholds(found, own_folder / "thresholds.sh")
    (own_folder / "empty.log").write_text(HEAD)
    assert subprocess.run(["sh", check, own_folder / "empty.log"], check=False).returncode == 2


def test_the_rules_are_yaml_with_the_exporters_labels(found, own_folder):
    rules = yaml.safe_load(write_thresholds(found, own_folder / "rules.yaml").read_text())["groups"][0][
        "rules"
    ]
    assert len(rules) == len(found.rows)
    assert rules[-1]["expr"].startswith(
        'nccl_bus_bandwidth_gbs{collective="AllReduce",n_nodes="2",nranks="16",message_size="1-2GB"} / '
    )
    assert float(rules[-1]["expr"].rpartition("/ ")[2]) == pytest.approx(found.rows[-1].floor, rel=1e-3)


def test_json_holds_every_row(found, own_folder):
    told = json.loads(write_thresholds(found, own_folder / "thresholds.json").read_text())
    assert [one["floor"] for one in told["rows"]] == [one.floor for one in found.rows]


def test_another_ending_and_a_machine_without_a_floor_are_refused(found, own_folder):
    with pytest.raises(ScenarioError, match=r"rules\.yaml"):
        write_thresholds(found, own_folder / "thresholds.txt")
    with pytest.raises(ScenarioError, match="no floor"):
        write_thresholds(peerlab.expect("dl1", sizes="1GiB"), own_folder / "thresholds.sh")
