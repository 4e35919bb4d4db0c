"""The chain of a stage and the cut into slices, for docs/model.md, and its picture.

What peerlab gave before is kept in saw_tooth_before.csv, which says where it comes from; what it gives now is computed.
"""

from dataclasses import replace
from itertools import pairwise
from math import log2
from pathlib import Path

from peerlab.base.units import KIB, PS_PER_US, say_bytes, say_time
from peerlab.engine.simulate import simulate
from peerlab.picture.drawing import Point
from peerlab.picture.svg import Paper
from peerlab.picture.theme import palettes
from peerlab.question.scenario import Scenario

HERE = Path(__file__).parent
PICTURE = "saw-tooth.svg"
JULIET = Scenario(library="none", cluster="juliet", nodes=8, path="host-rdma")
LOCKSTEP = Scenario(
    library="none", cluster="roce-100g-a100", nodes=16, path="host-rdma", message_bytes="1 MiB"
)
"""Where a second NIC costs most, of 800 points: dl1, p4d, roce-100g-a100 and gaudi2, 2 to 16 nodes, 512 KiB to 115 MiB."""
TURNS = Scenario(cluster="dl1", nodes=2, path="host-rdma", message_bytes="3 MiB")
"""Where it costs most under a cluster's own library."""
H100_STAGED = Scenario(cluster="h100-ndr", nodes=2, path="host-rdma", message_bytes="3 MiB")
"""Where NCCL's choice makes a faster NIC slower the most."""
HEAD = """\
## A stage is a chain

Resource i of a stage begins with a slice at b(i), works on it for w(i) and is through with it at e(i):

* b(i) >= b(i-1): it takes a slice no sooner than the resource upstream has begun with it;
* e(i) = max(b(i) + w(i), e(i-1)): it is through when its own work is done and upstream is through. Until then it *holds* the slice;
* behind a latency L, such as that of the wire, both times of upstream count L later;
* the stage ends with its last resource.

{held}

A resource is busy for w(i), never for the time in which it holds a slice. Shared resources divide their rate as before; over a
contended fabric the flow across all links is one resource of the chain.

### Slices

A transfer is cut into full slices, and what remains is the last one. A full slice is at most the library's (`slices.staged`,
`slices.direct`), and at most an eighth of the transfer: about k = min(8, window) slices. k is assumed, 2 to 16: NCCL cuts a chunk in 2
for each channel, HCL into 512 KiB. It is 2 for point to point and where `slice_bytes` is given; a cluster's file may set it
(`slices.least`). More slices than the window holds would wait for one another. No full slice is smaller than 2 KiB (assumed: a message
on a NIC costs about as much whether it has 1 byte or 2 KiB), so that a transfer of 8 KiB has 4 slices.

Before (version 0.1), a transfer had two slices at least, and its bytes were divided evenly anew for each size. Two equal slices do not
fill the stages of a detour, three do better; so a byte more than a power of two could make a message much faster.

![Bus bandwidth over message size: it jumped just above 8 MiB, and now rises evenly](pictures/saw-tooth.svg)

{saw}

### A second NIC

{second}

### A better NIC and another choice

{choice}

### Several NICs of one device

A device that has NICs of its own stripes over them: they are one NIC of their rates together, and each slice is a message on every one of them. NICs that are
left over, such as the third of two devices, nobody uses. AWS's p5 has four of 100 Gb/s for each GPU. Its file describes them as one of 400 Gb/s, because NCCL
meets them so: the plugin aws-ofi-nccl gives it one device for each GPU and cuts a message into a part for each (src/nccl_ofi_scheduler.cpp). Written as
`nics_per_switch = 4` with 100 Gbit/s, as in the data sheet, all times are the same.
"""


def section() -> str:
    """Return the section."""
    return HEAD.format(held=_held(), saw=_saw(), second=_second(), choice=_choice())


def _held() -> str:
    """Return an example of a resource that holds a slice."""
    run = simulate(Scenario(library="none", cluster="dl1", nodes=4, path="host-rdma", message_bytes="32 MiB"))
    frame = run.trace.frame()
    rows = frame[(frame["step"] == 1) & (frame["slice"] == 3) & (frame["device"] == 0)]
    one = rows[rows["resource"] == "NIC receive"].iloc[0]
    return (
        f"On Gaudi DL1 (4 nodes, 32 MiB, `host-rdma`) the NIC that receives a slice of {say_bytes(int(one['nbytes']))} needs "
        f"{say_time(int(one['work_ps']))} for it and has it for {say_time(int(one['work_ps'] + one['held_ps']))}: for "
        f"{say_time(int(one['held_ps']))} it holds the slice, because the uplink at the sender shares its rate and is through only then."
    )


def before() -> list[tuple[int, float]]:
    """Return message size (KiB) and time (us) as they were before."""
    lines = (HERE / "saw_tooth_before.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines if line[0].isdigit()]
    return [(int(size), float(time)) for size, time in rows]


def after() -> list[tuple[int, float]]:
    """Return the same as it is now."""
    return [(size, simulate(JULIET.with_(message_bytes=size * KIB)).time_ps / 1e6) for size, _ in before()]


def _steepest(points: list[tuple[int, float]]) -> tuple[float, int]:
    """Return by how much 1 KiB more makes a message faster at most, as a ratio of times, and from which size (KiB) on."""
    return max((time / later, size) for (size, time), (more, later) in pairwise(points) if more == size + 1)


def _saw() -> str:
    (was, size), (now, _) = _steepest(before()), _steepest(after())
    gone = f"makes it more than {100 * (now - 1):.1f} % faster" if now > 1 else "makes it faster"
    return (
        f"On juliet (8 nodes, `host-rdma`) 1 KiB more than {say_bytes(size * KIB)} made an AllReduce {was:.2f} times as fast. Now no step "
        f"of 1 KiB beside a multiple of 4 MiB, up to 32 MiB, {gone}."
    )


def _second() -> str:
    def ratio(scenario: Scenario) -> float:
        two = replace(scenario.hardware, nics_per_switch=2)
        return simulate(scenario.with_(cluster=two)).time_ps / simulate(scenario).time_ps

    exact = ratio(LOCKSTEP)
    shaken = ratio(LOCKSTEP.with_(jitter=0.1))
    return (
        f"A second NIC below a PCIe switch may make the detour slower: {100 * (exact - 1):.0f} % on {LOCKSTEP.hardware.title} "
        f"({LOCKSTEP.nodes} nodes, {say_bytes(LOCKSTEP.nbytes)}), the worst of 800 points; at 18 of them it is more than 10 %, at three "
        f"quarters less than 2 %. Two devices that share one NIC stagger each other. With a NIC each they "
        "move in lockstep: all copy at the same time, then all send, and the uplink idles in between. Perfect determinism makes this; on a "
        f"machine nothing takes equally long twice. With a jitter of 0.1 it is {100 * (shaken - 1):.0f} %.\n\n"
        f"Under HCL it is {100 * (ratio(TURNS) - 1):.0f} % on {TURNS.hardware.title} ({TURNS.nodes} nodes, {say_bytes(TURNS.nbytes)}), and "
        f"{100 * (ratio(TURNS.with_(jitter=0.1)) - 1):.0f} % with that jitter. A message between two Gaudi is a single slice there: it is copied whole before the "
        "NIC begins, and on 2 nodes there is no next partner whose copy could go on meanwhile. What is missing is no overlap but smaller slices: with "
        f"64 KiB the second NIC makes it {100 * (1 - ratio(TURNS.with_(slice_bytes='64 KiB'))):.0f} % faster."
    )


def _choice() -> str:
    """Return why NCCL's choice may make a better NIC slower."""
    cluster = H100_STAGED.hardware
    faster = H100_STAGED.with_(cluster=cluster.with_figure("nic.rate", 2 * cluster.figures["nic.rate"].value))
    asked = (H100_STAGED, faster)
    by_law = [say_time(round(one.choice.course.time * PS_PER_US)) for one in asked if one.choice]
    simulated = [say_time(simulate(one).time_ps) for one in asked]
    does = [" with ".join(one.choice.does) for one in asked if one.choice]
    return (
        "Of 2,240 pairs of a question and the same with a NIC twice as fast, or with a second one (13 clusters under their own libraries, 2 to 16 nodes, 64 KiB "
        "to 256 MiB), 53 are more than 2 % slower with the better one. 40 of them are the lockstep above, all but one of them Gaudi through host memory. In 13 NCCL chooses otherwise "
        f"for the better NIC, which costs up to 16 %: on {cluster.title} ({H100_STAGED.nodes} nodes, {say_bytes(H100_STAGED.nbytes)}, `host-rdma`) it runs {does[1]} in place of {does[0]}, "
        f"because its closed form has {by_law[1]} in place of {by_law[0]}; simulated are {simulated[1]} and {simulated[0]}. NCCL chooses by such a form of its own, which knows neither what is "
        "staged nor what TCP costs a core, so a machine may be misled in the same way, if not at the same size. It is left as it is."
    )


# ---- the picture ---------------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 760, 330
LEFT, RIGHT, TOP, BOTTOM = 60.0, 740.0, 40.0, 280.0
MOST_GBPS = 14


def draw() -> str:
    """Return bus bandwidth over message size, before and now, as SVG."""
    paper = Paper(palettes()["light"])
    paper.text(
        (LEFT, 18),
        "AllReduce on juliet, 8 nodes, RDMA through host: bus bandwidth, GB/s",
        size=14,
        bold=True,
        align="left",
    )
    for level in range(0, MOST_GBPS + 1, 2):
        paper.line([(LEFT, _y(level)), (RIGHT, _y(level))], "faint", 1)
        paper.text((LEFT - 8, _y(level)), str(level), size=12, ink="muted", align="right")
    for size in (2048, 4096, 8192, 16384, 32768, 65536):
        paper.text((_x(size), BOTTOM + 16), say_bytes(size * KIB), size=12, ink="muted")
    paper.text(((LEFT + RIGHT) / 2, BOTTOM + 38), "message size", size=12, ink="muted")
    old, new = ([_place(point) for point in points] for points in (before(), after()))
    paper.line(old, "muted", 2, dash="5 4")
    paper.line(new, "copy", 2.5)
    paper.text(
        (_x(12000), _y(12.8)),
        "now: about eight slices to a transfer, full ones",
        size=12,
        bold=True,
        ink="copy-ink",
    )
    paper.text((_x(14000), _y(6.9)), "before: equal slices, divided anew for each size", size=12, ink="muted")
    ratio, size = _steepest(before())
    said = f"Bus bandwidth over message size. Before, it jumps by {ratio:.2f} times just above {say_bytes(size * KIB)}; now it rises evenly."
    return paper.svg(WIDTH, HEIGHT, said)


def _place(point: tuple[int, float]) -> Point:
    size, time_us = point
    return _x(size), _y(size * KIB / time_us / 1e3 * 2 * (JULIET.ranks - 1) / JULIET.ranks)


def _x(size: float) -> float:
    return LEFT + (RIGHT - LEFT) * (log2(size) - 11) / 5


def _y(level: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * level / MOST_GBPS
