"""Names of 0.1.0 work for one release, or say what to write; docs and DESIGN.md know the new ones alone."""

import subprocess
import sys

import pytest
from fake_host import FakeHost

import peerlab

SMALL = peerlab.Scenario(nodes=2, message_bytes="64 KiB")


def test_a_name_of_0_1_0_works_with_a_warning_that_names_the_new_one():
    scenario = peerlab.Scenario()
    with pytest.warns(FutureWarning, match="cluster_for_message"):
        assert scenario.machine is scenario.cluster_for_message


def test_a_name_of_0_1_0_warns_in_a_users_own_module_too(tmp_path):
    """Python shows what developers are to know only of the script itself; this is for users."""
    (tmp_path / "mine.py").write_text(
        "import peerlab\n"
        "scenario = peerlab.Scenario(nodes=2, message_bytes='64 KiB')\n"
        "scenario.machine\n"
        "peerlab.simulate(scenario, engine='simpy-folded')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import mine"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "mine.py:3: FutureWarning: Scenario.machine is called cluster_for_message now" in done.stderr
    assert "mine.py:4: FutureWarning: engine='simpy-folded' is simulate(" in done.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from peerlab.run import IterationResult, Run", "peerlab.analysis.run"),
        ("from peerlab.engine.batch import times", "peerlab.engine.arrays.side_by_side"),
    ],
)
def test_a_module_of_0_1_0_gives_what_it_gave_and_names_the_new_one(tmp_path, old, new):
    (tmp_path / "mine.py").write_text(f"{old}\n")
    done = subprocess.run(
        [sys.executable, "-c", "import mine"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert f"mine.py:1: FutureWarning: {old.split()[1]} is {new} now" in done.stderr


def test_the_doctors_report_examines_a_host_as_it_did_in_0_1_0(tmp_path):
    host = FakeHost(tmp_path).host()
    report = peerlab.doctor(host=host)
    with pytest.warns(FutureWarning, match=r"is peerlab\.doctor\(only, host\) now"):
        assert report.of(host=host).as_dict() == report.as_dict()


def test_a_figure_that_0_1_0_always_had_is_missing_with_the_word_that_asks_for_it():
    figures = peerlab.simulate(SMALL).as_dict()
    with pytest.raises(KeyError, match=r"as_dict\(iteration_times=True\)"):
        figures["iteration_times_s"]
    with pytest.raises(KeyError, match=r"^'bandwidth'$"):
        figures["bandwidth"]
