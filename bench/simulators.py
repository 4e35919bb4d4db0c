"""The ring beside SimGrid where that is installed, else beside what simulators took elsewhere; and whether they agree."""

import math
import statistics
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import simgrid
from side_by_side import children_cpu_s, say, table, times

import peerlab
from peerlab.base.errors import PeerlabError

MESSAGE = 16 * 2**20
NODES = (64, 256, 1024)
FABRIC = {"cluster": "ideal-100g", "path": "wire", "message_bytes": MESSAGE, "slice_bytes": None}
STEPS = {
    "ring": lambda nodes: 2 * (nodes - 1),
    "halving-doubling": lambda nodes: 2 * math.log2(nodes),
    "recursive-doubling": math.log2,
}
"""How many messages each algorithm sends one after the other."""
Row = tuple[str, str, str, str, str, str]
OTHER_ALGORITHMS_AT = 64
"""They hold every rank's whole buffer in SimGrid; more nodes would need more memory than a laptop has."""
HEAD = ("AllReduce, 16 MiB", "the other", "peerlab", "as a command", "every node", "times agree to")


def section() -> str:
    """Measure peerlab and the others."""
    version = simgrid.installed()
    elsewhere = tomllib.loads((Path(__file__).parent / "elsewhere.toml").read_text())
    if version:
        rows = [beside_simgrid("ring", nodes) for nodes in NODES]
        rows += [beside_simgrid(name, OTHER_ALGORITHMS_AT) for name in simgrid.ALGORITHMS if name != "ring"]
        said = f"SimGrid {version} is installed here: its rows were measured in turn with peerlab's, with `bench/simgrid/allreduce.c`."
        rest = ("loggopsim", "astra-sim")
    else:
        rows = [ring_alone(nodes) for nodes in NODES]
        said = "SimGrid is not installed here (Debian: `libsimgrid-dev`): nothing below was measured side by side."
        rest = ("simgrid", "loggopsim", "astra-sim")
    rows += [measured_elsewhere(elsewhere[name]) for name in rest]
    return f"""## Other simulators

The crossbar `ideal-100g`, transfers whole, a step at a time. CPU seconds of one simulation, and how many times quicker than the
other it is: *peerlab* in a session that has loaded it; *as a command*, a process that starts Python and imports everything;
*every node*, the same with `engine="loop", every_node=True`, which simulates each node and each step as the others do. The default does not:
where all nodes do the same it simulates one, and of steps that repeat a few. That, not quicker code, is most of the difference.

{said}
SimGrid's MPI adds {simgrid.ENVELOPE_BYTES} bytes to each message; their time is added to peerlab's before the two are compared.

{table(HEAD, rows)}

*Measured elsewhere* is a figure of another machine (`bench/elsewhere.toml`): its ratio says no more than an order of magnitude.
"""


def beside_simgrid(algorithm: str, nodes: int) -> Row:
    """Return a row of SimGrid and peerlab, one after the other."""
    what = f"{algorithm}, {nodes} nodes"
    try:
        scenario = peerlab.Scenario(**FABRIC, algorithm=algorithm, nodes=nodes)
        run = peerlab.simulate(scenario)
    except PeerlabError as problem:
        return what, f"not in this version ({problem})", "", "", "", ""
    theirs = simgrid.allreduce(algorithm, nodes, MESSAGE)
    with_envelopes = run.time_s + STEPS[algorithm](nodes) * simgrid.ENVELOPE_BYTES / scenario.hardware.nic_Bps
    apart = abs(with_envelopes / theirs.time_s - 1)
    return what, f"SimGrid: {say(theirs.cpu_s)}", *ours(scenario, theirs.cpu_s), f"{apart:.0e}"


def ring_alone(nodes: int) -> Row:
    """Return a row of peerlab alone."""
    return (
        f"ring, {nodes} nodes",
        "",
        *ours(peerlab.Scenario(**FABRIC, algorithm="ring", nodes=nodes), None),
        "",
    )


def measured_elsewhere(entry: dict[str, Any]) -> Row:
    """Return a row of a simulator that did not run here, beside peerlab's ring, which did."""
    nodes = max(NODES)
    low, high = entry["cpu_s"]
    took = f"{low:g} s" if low == high else f"{low:g} to {high:g} s"
    session, command, _ = ours(peerlab.Scenario(**FABRIC, algorithm="ring", nodes=nodes), low, whole=False)
    return f"ring, {nodes} nodes", f"{entry['name']}: {took}, *measured elsewhere*", session, command, "", ""


def ours(scenario: peerlab.Scenario, theirs_s: float | None, *, whole: bool = True) -> tuple[str, str, str]:
    """Return peerlab's CPU seconds in this session, as a command, and for every node, each beside `theirs_s`."""
    taken = [session_cpu_s(scenario) for _ in range(3)]
    found = [statistics.median(taken), command_cpu_s(scenario, "engine='auto'")]
    if whole:
        found.append(command_cpu_s(scenario, "engine='loop', every_node=True"))
    texts = [say(cpu_s) + (f" ({times(theirs_s / cpu_s)})" if theirs_s else "") for cpu_s in found]
    return texts[0], texts[1], texts[2] if whole else ""


def session_cpu_s(scenario: peerlab.Scenario) -> float:
    begin = time.process_time()
    peerlab.simulate(scenario)
    return time.process_time() - begin


def command_cpu_s(scenario: peerlab.Scenario, options: str) -> float:
    """Return the CPU seconds of a process that starts, simulates and ends."""
    before = children_cpu_s()
    code = f"import peerlab; peerlab.simulate({scenario.as_code()}, {options})"
    subprocess.run([sys.executable, "-c", code], check=True)
    return children_cpu_s() - before
