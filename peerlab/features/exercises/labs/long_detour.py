"""Exercises of lab 01: where a byte goes, with and without a detour."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from peerlab.answer.run import Run
from peerlab.features.exercises.exercise import Bound, Choice, Code, Mistake, Number
from peerlab.features.exercises.labs.gain_by_cluster import GAIN
from peerlab.features.exercises.labs.other_wirings import WIRING
from peerlab.features.exercises.labs.unseen import unseen_server
from peerlab.features.exercises.lessons.scenes import DIRECT, STAGED, TCP, simulated
from peerlab.model.paths import path_title
from peerlab.question.scenario import Scenario
from peerlab.question.way import crossed

_UP, _DOWN = "PCIe to host", "PCIe from host"
"""The directions of an uplink, as `peerlab.way` calls them."""


def _times(scenario: Scenario, crosses: str, end: str = "") -> int:
    """Return how often a byte crosses what has `crosses` in its name, at one end or at both."""
    return sum(times for _, where, label, times in crossed(scenario) if crosses in label and end in where)


def _check_crossings(function: Any) -> str | None:
    """Try a learner's function on paths that differ."""
    # The last one has its buffers in host memory: a rule by the path's name alone fails there.
    for scenario in (STAGED, DIRECT, TCP, STAGED.with_(collective="point-to-point", memory="host")):
        count = function(scenario)
        if count is None:
            return "`crossings` returns nothing; its last line needs a `return`."
        try:
            # Whatever numbers with: a learner may return an array of one, or a count of pandas.
            count = float(count)
        except (TypeError, ValueError):
            return f"`crossings` should return one number, not a {type(count).__name__}."
        if count != _times(scenario, _UP):
            return _miscounted(scenario, count)
    return None


def _miscounted(scenario: Scenario, count: float) -> str:
    """Return what is wrong with a count of the crossings upwards."""
    there = f"On `{scenario.as_code()}`, which is {path_title(str(scenario.path))}, it returns {count:g}."
    if scenario.memory == "host":
        return f"{there} Its buffers are in host memory, so that no copy crosses the uplink. Count in `peerlab.way` of the scenario."
    # The other direction as well, side by side on the link.
    if count == _times(scenario, _UP) + _times(scenario, _DOWN):
        return "That counts both directions. A link carries them side by side; only what goes the same way shares it."
    if count in (_times(scenario, _UP, "sender"), _times(scenario, _UP, "receiver")):
        return "That is one end of the way. The byte meets an uplink at the sender, and another one at the receiver."
    return f"{there} Look at `peerlab.way` of that scenario, and count."


def _dram_GBps(run: Run) -> float:  # noqa: N802
    """Return what one server's DRAM carries during a run, reads and writes together, GB/s."""
    # Bytes of host memory for each byte on the wire, times what the wire carries.
    return run.dram_bytes_per_byte * run.wire_busy * run.scenario.hardware.node_wire_Bps / 1e9


_SPARED: dict[str, Callable[[Run], float]] = {
    "Most of the CPU's work": lambda run: run.cores_busy,
    "The copies made by the kernel": lambda run: run.copies_per_byte,
    "The second crossing of the PCIe uplink": lambda run: _times(run.scenario, _UP),
    "Half of the traffic on host memory": lambda run: run.dram_bytes_per_byte,
}

UPGRADES = {
    "NICs of 200 Gbit/s": {"nic_Bps": 2 * STAGED.hardware.nic_Bps},
    "PCIe Gen4 between switch and CPU": {"uplink_Bps": 2 * STAGED.hardware.uplink_Bps},
    "Host memory twice as fast": {"dram_Bps": 2 * (STAGED.hardware.dram_Bps or 0)},
    "Copy engines twice as fast": {"copy_engine_Bps": 2 * (STAGED.hardware.copy_engine_Bps or 0)},
}
"""What one could buy, and which figures of the cluster change with it."""


def upgraded(option: str) -> Scenario:
    """Return the detour on servers that have one of the `UPGRADES`."""
    changes: dict[str, Any] = UPGRADES[option]
    # The rates alone: figures with their sources play no part in this question.
    return STAGED.with_(cluster=replace(STAGED.hardware, **changes))


EXERCISES = (
    Number(
        name="01-copies",
        further=True,
        question="RDMA through host memory: how often is a byte copied on its way from accelerator to accelerator? "
        "Count both servers; what the NICs read and write is the transfer itself, no copy.",
        unit="copies",
        tolerance=0,
        truth=lambda: simulated(STAGED).copies_per_byte,
        mistakes=(
            Mistake(
                lambda: simulated(STAGED).copies_per_byte / 2,
                "That is what one server does. Something has to be done at the other end as well.",
            ),
            Mistake(
                lambda: simulated(TCP).copies_per_byte,
                "Kernel TCP makes that many copies, and RDMA reaches host memory that often. The NIC's reads and writes "
                "of host memory are no copies, and with RDMA the kernel makes none.",
            ),
            Mistake(
                lambda: simulated(STAGED).copies_per_byte + 1,
                "Is the way from NIC to NIC among them? It is the transfer itself.",
            ),
            Mistake(
                lambda: simulated(TCP).dram_bytes_per_byte,
                "That is how often kernel TCP reaches host memory. How often is the byte copied with RDMA?",
            ),
            Mistake(
                lambda: simulated(DIRECT).copies_per_byte,
                "RDMA is called zero copy: from one host memory to the other. How does a byte get from the accelerator into host memory?",
            ),
        ),
        hints=(
            "In `peerlab.way(staged)` every stage is one movement. Which of the three are copies?",
            "The first stage copies to host memory (D2H), the last one to device memory (H2D).",
        ),
        why="One copy into a bounce buffer at the sender, one out of it at the receiver. They are made by DMA engines, "
        "so that no core is busy, and still every byte is moved twice more than it need be.",
        solution="peerlab.simulate(staged).copies_per_byte",
    ),
    Code(
        name="01-crossings",
        further=True,
        question="Write `crossings`: how often does a byte cross a PCIe uplink upwards, from the switch to the CPU, on "
        "the path of a scenario? Count both servers.",
        check=_check_crossings,
        function="crossings",
        attempts={
            "return 2": "On `peerlab.Scenario(",
            "table = peerlab.way(scenario)\nreturn table['crosses'].str.contains('host').sum()": "both directions",
            "table = peerlab.way(scenario)\nreturn ((table['crosses'] == 'PCIe to host') & (table['end'] == 'sender')).sum()": "one end",
            "table = peerlab.way(scenario)\nreturn table[table['crosses'] == 'PCIe to host']": "one number",
            "peerlab.way(scenario)": "needs a `return`",
            "return peerlab.way(scenario)['uplink'].sum()": "raised KeyError",
            'return 0 if scenario.path == "peer-direct" else 2': "Its buffers are in host memory",
            'return {"host-rdma": 2, "host-tcp": 3, "peer-direct": 0}[scenario.path]': "which is kernel TCP",
        },
        hints=(
            '`table = peerlab.way(scenario)` has a column `crosses`; the uplink upwards is called `"PCIe to host"`.',
            'Rows are chosen with `table[table["crosses"] == "PCIe to host"]`; add up their `times`.',
        ),
        why="Twice with the detour: the copy out of the accelerator climbs the sender's uplink, and the receiving NIC's "
        "writes climb the other. Every server sends and receives at once, so its own uplink carries both.",
        solution='table = peerlab.way(scenario)\nreturn table[table["crosses"] == "PCIe to host"]["times"].sum()',
    ),
    Choice(
        name="01-remains",
        question="Somebody replaces kernel TCP by RDMA through host memory. Which of these does that NOT take away?",
        options={
            "Most of the CPU's work": "The NIC itself cuts packets and acknowledges them. Who did that with TCP?",
            "The copies made by the kernel": "With RDMA the NIC reads what a program has registered. Which copies does that spare?",
            "The second crossing of the PCIe uplink": "Is it still there? Compare `peerlab.way` of both paths.",
            "Half of the traffic on host memory": "Each of the kernel's copies reads host memory and writes it. Are they still made?",
        },
        # What RDMA does not change is the same on both paths.
        truth=lambda: next(
            what for what, measure in _SPARED.items() if measure(simulated(STAGED)) == measure(simulated(TCP))
        ),
        called={
            "Most of the CPU's work": ("CPU work", "CPU"),
            "The copies made by the kernel": ("kernel copies", "copies"),
            "The second crossing of the PCIe uplink": (
                "second crossing",
                "second crossing of the uplink",
                "PCIe uplink",
            ),
            "Half of the traffic on host memory": (
                "host memory",
                "half of the memory traffic",
                "memory traffic",
            ),
        },
        hints=(
            "Which of the four does a NIC do by itself, and which depends on the memory that it reaches?",
            "What does the NIC's DMA engine reach: host memory only, or the accelerator's too?",
        ),
        why="RDMA spares the CPU and the kernel, not the way through host memory. Only a NIC that reaches the "
        "accelerator's own memory spares that.",
        solution='"The second crossing of the PCIe uplink"',
    ),
    Number(
        name="01-dram",
        further=True,
        question="How many GB/s do the host memories of one server carry while the detour runs? A server sends and receives at once; count reads and writes together.",
        unit="GB/s",
        truth=lambda: _dram_GBps(simulated(STAGED)),
        mistakes=(
            Mistake(
                lambda: _dram_GBps(simulated(STAGED)) / 2,
                "That is one direction, what the server sends. In a ring it receives as much, at the same time.",
            ),
            Mistake(
                lambda: _dram_GBps(simulated(STAGED)) / 4,
                "That is the share of one NIC, or one access per byte. A server has four NICs, and each byte is "
                "written and read at both ends.",
            ),
            Mistake(
                lambda: simulated(STAGED).wire_busy * STAGED.hardware.nic_Bps / 1e9,
                "That is what one NIC sends, in one direction. A server has four, and host memory is met more than once.",
            ),
            Mistake(
                lambda: simulated(STAGED).dram_bytes_per_byte * STAGED.hardware.node_wire_Bps / 1e9,
                "That would be so if the NICs were sending all the time. How busy is the wire?",
            ),
            Mistake(
                lambda: simulated(STAGED).dram_bytes_per_byte * simulated(STAGED).busbw_GBps,
                "That takes busbw for what the NICs send. busbw counts ranks; what the NICs send follows from `wire_busy`.",
            ),
            Mistake(
                lambda: STAGED.hardware.node_wire_Bps / 1e9,
                "That is what the NICs could send. They do not send all the time, and a byte is in host memory more than once.",
            ),
            Mistake(
                lambda: 2 * STAGED.hardware.node_wire_Bps / 1e9,
                "That is what the NICs could send and receive. They do so for a part of the time, and a byte meets host memory "
                "twice at each end.",
            ),
            Mistake(
                lambda: STAGED.hardware.numa_domains * (STAGED.hardware.dram_Bps or 0) / 1e9,
                "The memories could carry that much. How much do they carry here?",
            ),
        ),
        bounds=(
            Bound(
                lambda: _dram_GBps(simulated(STAGED)) / 4,
                "That is less than the server's NICs send in one direction. Each byte that they send is in host memory "
                "before, and each one that they receive is there afterwards.",
            ),
        ),
        hints=(
            "A server's NICs could send `staged.hardware.node_wire_Bps` bytes per second; they do for `wire_busy` of the time.",
            "Multiply that with `dram_bytes_per_byte` of `peerlab.simulate(staged)`, and divide by 10^9.",
        ),
        why="Four accesses for every byte: written by the copy and read by the NIC at the sender, written by the NIC and "
        "read by the copy at the receiver. Peer Direct leaves all of it to the cores.",
        solution="peerlab.simulate(staged).dram_bytes_per_byte * peerlab.simulate(staged).wire_busy * staged.hardware.node_wire_Bps / 1e9",
    ),
    Choice(
        name="01-upgrade",
        question="There is money for one upgrade of every server. Which one makes the detour fastest?",
        options={
            "NICs of 200 Gbit/s": "A NIC that waits for the uplink would wait longer if it were faster. What does each byte cross twice?",
            "PCIe Gen4 between switch and CPU": "",
            "Host memory twice as fast": "Each byte takes four accesses to host memory. Is its lane full?",
            "Copy engines twice as fast": "The copy engines rest for a good part of the time. Look at their lanes in the timeline.",
        },
        called={
            "NICs of 200 Gbit/s": ("NIC", "faster NICs", "200 Gbit/s"),
            "PCIe Gen4 between switch and CPU": ("PCIe uplink", "Gen4", "PCIe 4", "faster uplink"),
            "Host memory twice as fast": ("host memory", "faster memory"),
            "Copy engines twice as fast": ("copy engine", "DMA engines"),
        },
        truth=lambda: min(UPGRADES, key=lambda option: simulated(upgraded(option)).time_s),
        hints=(
            "Which lane of the timeline above is full?",
            "Count what crosses each part for one byte that is sent, and hold that against its rate.",
        ),
        why="The trap is to buy faster NICs, as the stage is called *NIC to NIC*. It uses the uplink at both ends as well, and "
        "waits for the uplink, which also carries the copies. "
        "With twice the uplink the NICs become the limit, and the detour is nearly as fast as Peer Direct.",
        solution='"PCIe Gen4 between switch and CPU"',
    ),
    *GAIN,
    *WIRING,
)
TRANSFER = unseen_server.TRANSFER
