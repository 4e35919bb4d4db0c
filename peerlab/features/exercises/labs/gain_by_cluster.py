"""Exercises of lab 01 on where the gain comes from, and the rule that foretells it from a data sheet."""

import math

from peerlab.base.numbers import np
from peerlab.features.exercises.exercise import Bound, Choice, Mistake, Number
from peerlab.features.exercises.lessons.scenes import DIRECT, STAGED, TCP, simulated
from peerlab.model.hardware import Cluster
from peerlab.question.presets import load_cluster

_NIC, _UPLINK = STAGED.hardware.nic_Bps / 1e9, (STAGED.hardware.uplink_Bps or 0) / 1e9
ALONE = STAGED.hardware.with_figure("node.devices_per_switch", 1)
"""DL1 with one accelerator behind each NIC and uplink, in place of two."""


def rates(server: Cluster, nodes: int = 8) -> dict[str, float]:
    """Return at what rates the accelerators behind one PCIe switch can send to another server, GB/s: what each part allows.

    A NIC sends ``2 (nodes - 1) / nodes`` bytes where the link from one accelerator of the server to another carries 2: one
    before the ring, one after it. Infinite where a server has one accelerator, NaN where the file has no uplink.
    """
    # Links inside carry two parts for each that a NIC sends (N-1)/N of: here both are put on the NIC's scale.
    inside = (
        server.devices_per_switch * server.scaleup_Bps * (nodes - 1) / nodes
        if server.devices > 1
        else math.inf
    )
    return {
        "NICs, GB/s": server.nics_per_switch * server.nic_Bps / 1e9,
        "links inside, GB/s": inside / 1e9,
        "uplink, GB/s": (server.uplink_Bps or math.nan) / 1e9,
    }


def rule(server: Cluster, nodes: int = 8) -> float:
    """Return how many times faster Peer Direct is than RDMA through host memory, for messages so long that all flows evenly.

    Peer Direct sends at the lower one of the rates of the NICs and the links inside; the detour at this, or at half of the
    uplink's. NaN where the file has no uplink.
    """
    nics, inside, uplink = rates(server, nodes).values()
    direct = min(nics, inside)
    # `np.minimum` hands NaN on: a file without an uplink has no gain by this rule.
    return direct / float(np.minimum(direct, uplink / 2))


_INSIDE = "the links inside the server"
_PACES = {"NIC": "the NIC", "host": "the PCIe uplink", "scale-up": _INSIDE, "latency": "latency"}


def _pace() -> str:
    """Return in words what Peer Direct waits for with one accelerator behind each NIC."""
    # So long that latency plays no part, as the rule leaves it out.
    bottleneck = simulated(DIRECT.with_(cluster=ALONE, message_bytes="1 GiB")).bottleneck
    return next((words for word, words in _PACES.items() if bottleneck and word in bottleneck.label), "")


ODD = "h100-ndr"
"""The machine whose gain the rule misses most."""
_RULE, _WIRE_RATE, _TWICE, _LINKS = (
    "The gain is the NICs' rate over half of the uplink's",
    "Peer Direct sends at the rate of the NICs",
    "On the detour each byte crosses the uplink twice in each direction",
    "Links inside a server can limit Peer Direct",
)


def _refuted() -> str:
    """Return which sentence the odd machine's row refutes: the rule, if its detour waits for what the rule does not know."""
    server = load_cluster(ODD)
    slow, fast = (
        simulated(scenario.with_(cluster=server, message_bytes="1 GiB")) for scenario in (STAGED, DIRECT)
    )
    off = slow.time_s / fast.time_s / rule(server)
    waits = {
        word: run.bottleneck.label if run.bottleneck else "" for word, run in (("slow", slow), ("fast", fast))
    }
    # In the order of the sentences: one that the row refutes by itself comes before the rule.
    if "NIC" not in waits["fast"]:
        return _WIRE_RATE
    return _RULE if off > _VISIBLY and "host" not in waits["slow"] else _TWICE


_VISIBLY = 1.05
GAIN = (
    Number(
        name="01-gain",
        question="On paper: for a message so long that everything flows evenly, how many times faster is Peer Direct "
        "than the detour?",
        truth=lambda: _NIC / (_UPLINK / 2),
        mistakes=(
            Mistake(
                lambda: _UPLINK / _NIC,
                "That says the uplink is no limit at all. How often does it carry every byte?",
            ),
            Mistake(
                lambda: _NIC / _UPLINK, "That counts the uplink once. How often does it carry every byte?"
            ),
            Mistake(
                lambda: _NIC / (_UPLINK / 4),
                "Up and down are separate lanes of the link; they do not share its rate.",
            ),
            Mistake(
                lambda: _UPLINK / (_UPLINK / 2),
                "That is the detour against one crossing of the uplink. Peer Direct does not cross it: what is its limit?",
            ),
            Mistake(
                lambda: simulated(TCP).time_s / simulated(DIRECT).time_s,
                "That is the gain over kernel TCP. The detour meant here is RDMA through host memory.",
            ),
        ),
        hints=(
            "What can the detour carry per pair of Gaudi, and what can Peer Direct? Each is the least of its limits.",
            "The detour carries half of the uplink's rate, Peer Direct the NIC's.",
        ),
        why="The NIC's rate over half of the uplink's. The simulation comes to it for large messages; no factor was "
        "put in to make it so.",
        solution="staged.hardware.nic_Bps / (staged.hardware.uplink_Bps / 2)",
    ),
    Number(
        name="01-uplink",
        further=True,
        question="How many GB/s per direction would the uplink need, so that the detour no longer slows this NIC?",
        unit="GB/s",
        truth=lambda: 2 * _NIC,
        mistakes=(
            Mistake(lambda: _NIC, "That is enough for one crossing. The detour makes two in each direction."),
            Mistake(
                lambda: 4 * _NIC,
                "That adds up both directions; the link has its full rate in each of them.",
            ),
            Mistake(lambda: 8 * _NIC, "That is the NIC's rate in Gbit/s."),
            Mistake(lambda: _UPLINK, "That is what it has, and it is busy nearly all the time."),
            Mistake(lambda: 2 * _UPLINK, "That is PCIe Gen4, and more than enough. How much is just enough?"),
        ),
        bounds=(Bound(lambda: _UPLINK, f"It has {_UPLINK:g} GB/s already, and that is too little."),),
        hints=(
            "In each direction the uplink carries what the server sends and what it receives.",
            "Each of the two is the NIC's rate, when the NIC is busy all the time.",
        ),
        why="Twice the NIC's rate. Such servers exist, and on them Peer Direct gains little bandwidth; it still spares "
        "copies and host memory.",
        solution="2 * staged.hardware.nic_Bps / 1e9",
    ),
    Choice(
        name="01-inside",
        further=True,
        question="One Gaudi behind each NIC and each uplink, in place of two, and 1 GiB: what does Peer Direct wait for?",
        options={
            "the NIC": "It was the NIC with two Gaudi behind it. Look at how busy the NIC is now.",
            "the PCIe uplink": "Peer Direct does not cross the uplink, however many Gaudi there are.",
            _INSIDE: "",
            "latency": "With 1 GiB a chunk takes far longer to send than to fly. Which part is always busy?",
        },
        called={
            _INSIDE: (
                "links inside",
                "scale-up links",
                "scale-up",
                "links between the Gaudi",
                "links between accelerators",
            ),
        },
        truth=_pace,
        hints=(
            "What is busy all the time? `peerlab.simulate(single[1]).busy_lanes()` has the busy shares.",
            "Before and after the ring, the Gaudi of one server exchange what they have, over the links between them.",
        ),
        why="A Gaudi with a NIC of its own gets all of the NIC's rate. The links to the other Gaudi of its server have the "
        "same rate, and have a little more to carry.",
        solution=f'"{_INSIDE}"',
    ),
    Choice(
        name="01-refuted",
        further=True,
        question="*H100 on InfiniBand NDR* does not fit: the rule says 1.77, the simulation 2.60. Which sentence of this lab does the row refute?",
        options={
            _RULE: "",
            _WIRE_RATE: "It does so here, too: Peer Direct waits for the NIC. Look at the detour.",
            _TWICE: "It still does. But is the uplink what the detour waits for?",
            _LINKS: "They can. In this row Peer Direct waits for the NIC.",
        },
        called={
            _RULE: ("the rule", "rule"),
            _WIRE_RATE: ("peer direct",),
            _TWICE: ("twice", "crossings"),
            _LINKS: ("links inside",),
        },
        truth=_refuted,
        hints=(
            "What does the detour wait for in this row, and what in the others?",
            "The rule knows NICs, links inside and the uplink. Which part does it leave out?",
        ),
        why="Its detour waits for host memory, which the rule leaves out. So the rule is a lower bound of the gain where host memory is slow.",
        solution=f'"{_RULE}"',
    ),
)
