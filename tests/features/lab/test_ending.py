"""However a lab ends: server, kernels, port and temporary folder go with it."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from drawing import SOAK
from running import wait_until

from peerlab.base.errors import PeerlabError
from peerlab.features.lab.opening_lab import _stay

SOON_S = 60
"""Within seconds; a busy kernel is given five of them, a busy machine the rest."""
TRIALS = 40 if SOAK else 4


def test_a_server_that_is_killed_by_a_signal_without_a_name_is_told():
    number = int(signal.SIGRTMIN) + 3
    script = f"import os; os.kill(os.getpid(), {number})"
    with (
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as server,
        pytest.raises(PeerlabError, match=rf"^JupyterLab was killed by signal {number}$"),
    ):
        _stay(server, None)


@pytest.mark.sample(2)
@pytest.mark.parametrize("deadly", ["SIGKILL", "SIGQUIT", "SIGHUP", "SIGTERM", "SIGINT"])
def test_a_lab_that_is_ended_by_any_signal_leaves_nothing(start, deadly):
    lab = start()
    lab.kernel(busy=deadly == "SIGKILL")
    assert len(lab.look()) >= 3
    assert any("peerlab-" in one for one in lab.left())
    lab.process.send_signal(getattr(signal, deadly))
    assert wait_until(lambda: not lab.left(), SOON_S), lab.left()
    assert lab.process.wait() == (
        0 if deadly in ("SIGHUP", "SIGTERM", "SIGINT") else -getattr(signal, deadly)
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("deadly", ["SIGKILL", "SIGTERM", "SIGINT to all", "SIGQUIT to all", "SIGHUP to all"])
def test_a_lab_ends_with_the_make_that_started_it(start, root, deadly):
    """A terminal tells all of its processes; who kills make tells make alone."""
    binaries = Path(sys.executable).parent
    ready = ["-o", ".venv/lab.stamp", "-o", ".venv/bin/python"]
    lab = start(
        "make", "--no-print-directory", "-f", str(root / "Makefile"), *ready, "lab", f"BIN={binaries}"
    )
    lab.kernel()
    assert len(lab.look()) >= 4
    name, _, everyone = deadly.partition(" ")
    told = getattr(signal, name)
    (os.killpg if everyone else os.kill)(lab.process.pid, told)
    assert wait_until(lambda: not lab.left(), SOON_S), lab.left()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(TRIALS))
def test_a_lab_that_is_killed_while_it_starts_leaves_nothing(start, seed):
    lab = start()
    assert wait_until(lambda: any(lab.tmp.iterdir()))
    time.sleep(random.Random(seed).uniform(0, 3))  # noqa: S311  (repeatable on purpose)
    lab.look()
    lab.process.kill()
    assert wait_until(lambda: not lab.left(), SOON_S), lab.left()


def test_a_server_that_cannot_start_is_no_success_and_leaves_nothing(start, tmp_path):
    broken = tmp_path / "broken" / "jupyterlab"
    broken.mkdir(parents=True)
    (broken / "__init__.py").touch()
    lab = start(PYTHONPATH=str(broken.parent))
    assert lab.process.wait(SOON_S) == 1
    assert lab.left() == []


def test_when_the_server_is_killed_its_kernels_and_its_folder_go_and_one_line_says_so(start):
    lab = start()
    lab.kernel(busy=True)
    server = next(pid for pid, command in lab.look().items() if "peerlab.features.lab.server" in command)
    os.kill(server, signal.SIGKILL)
    assert wait_until(lambda: not lab.left(), SOON_S), lab.left()
    assert lab.process.wait() == 1
    assert wait_until(lambda: "peerlab: JupyterLab was killed by SIGKILL\n" in lab.said)
