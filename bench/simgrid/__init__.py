"""SimGrid's MPI on the reference crossbar: compiles our C program and runs it."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from side_by_side import children_cpu_s

ALGORITHMS = {"ring": "lr", "halving-doubling": "rab_rdb", "recursive-doubling": "rdb"}
"""peerlab's names and SimGrid's."""
ENVELOPE_BYTES = 16
"""What SimGrid's MPI adds to every message."""

SETTINGS = (
    "network/model:CM02",  # a link has a rate and a latency, and nothing corrects them
    "network/crosstraffic:0",  # else acknowledgements take 5 % of the way back
    "network/TCP-gamma:0",  # else a window of TCP bounds the rate
    "smpi/wtime:0",  # else asking for the time takes time
    "smpi/simulate-computation:no",  # else this machine's own speed is in the result
    "smpi/privatization:no",  # the program has no globals that ranks could share
)

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="crossbar" prefix="host" suffix="" radical="0-{last}" speed="1Gf"
           bw="12.5GBps" lat="2.5us" sharing_policy="SPLITDUPLEX"/>
</platform>
"""
"""A route is one host's link up and another's down: 2.5 us each."""


@dataclass(frozen=True)
class Answer:
    """What SimGrid says, and what it took."""

    time_s: float
    """Simulated time of the collective, seconds."""
    cpu_s: float
    """CPU seconds of the simulation."""


def installed() -> str:
    """Return SimGrid's version, or nothing."""
    if not (shutil.which("smpirun") and shutil.which("smpicc")):
        return ""
    said = subprocess.run(["smpirun", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\d+(\.\d+)+", said)
    return found[0] if found else "of unknown version"


def allreduce(algorithm: str, nodes: int, message_bytes: int) -> Answer:
    """Simulate one AllReduce on the crossbar that `ideal-100g` describes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, platform = folder / "allreduce", folder / "crossbar.xml"
        source = Path(__file__).parent / "allreduce.c"
        subprocess.run(["smpicc", "-O2", "-o", program, source], check=True, capture_output=True)
        platform.write_text(PLATFORM.format(last=nodes - 1))
        before = children_cpu_s()
        settings = [f"--cfg={one}" for one in (f"smpi/allreduce:{ALGORITHMS[algorithm]}", *SETTINGS)]
        done = subprocess.run(
            ["smpirun", "-np", str(nodes), "-platform", platform, "--log=root.thres:error", *settings, program, str(message_bytes)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return Answer(float(done.stdout), children_cpu_s() - before)
