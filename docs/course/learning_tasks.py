"""Two tasks that a room does before and after, and the sheet to mark them: a drawing, and a log of six lines."""

from html import escape

from peerlab.base.units import GIB
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.labs.unseen.unseen_log import detour_limit
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario

_STYLE = """
@page { size: A4; margin: 15mm }
body { font: 11pt/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 180mm; color: #111; background: #fff }
h1 { font-size: 15pt } h2 { font-size: 12pt; margin: 6mm 0 2mm } pre { font-size: 9pt; background: #f3f3f1; padding: 3mm; white-space: pre-wrap }
.page { break-after: page } svg { width: 100%; height: auto } table { border-collapse: collapse; width: 100% } td, th { border: .4pt solid #888; padding: 1.5mm 2mm; text-align: left; vertical-align: top }
.lines { border-bottom: .4pt solid #888; height: 9mm }
"""
RUN = Scenario(cluster="p4d", nodes=2, path="host-rdma", message_bytes="1 GiB")
"""The run whose log is shown: two p4d, staged."""


def log_lines() -> list[str]:
    """Return the log of six lines: its path is RDMA through host memory, as a channel says, and a setting does not."""
    run = simulate(RUN)
    time_us, algbw = 1e6 * run.time_s, GIB / run.time_s / 1e9
    return [
        "$ mpirun -np 16 -npernode 8 -x FI_EFA_USE_DEVICE_RDMA=1 all_reduce_perf -b 1G -e 1G -g 1",
        "NCCL INFO NET/OFI Selected Provider is efa",
        "NCCL INFO Using network AWS Libfabric",
        "NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/AWS Libfabric/0",
        "#       size         count   type  redop    time(us)  algbw(GB/s)  busbw(GB/s)",
        f"  {GIB:>10} {GIB // 4:>13}  float    sum  {time_us:>10.0f}  {algbw:>11.2f}  {algbw * 2 * 15 / 16:>11.2f}",
    ]


def html() -> str:
    """Return the tasks on a page, and the sheet to mark them on another."""
    p4d = load_cluster("p4d")
    asked = (
        f"Two servers with eight GPUs each. A server has {p4d.nics} NICs of {p4d.nic_Bps / 1e9:g} GB/s, and {p4d.numa_domains * p4d.switches_per_numa} PCIe switches, "
        f"each with an uplink of {(p4d.uplink_Bps or 0) / 1e9:.4g} GB/s in each direction."
    )
    lines = "".join("<div class='lines'></div>" for _ in range(5))
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Two tasks, before and after</title><style>{_STYLE}</style>"
        "<div class='page'><h1>Two tasks, five minutes</h1><p>A number of your own choice, the same both times: ________ &nbsp; &#9744; before &nbsp; &#9744; after</p>"
        "<h2>1. A drawing</h2><p>Two servers. Draw the way of a byte from the left accelerator to the right one: by RDMA through host memory with a full line, by Peer Direct with a "
        f"dashed one. Both servers send and receive. Write at each piece of the way who moves the bytes, and at each uplink what crosses it upwards on the detour.</p>{_drawing()}"
        f"<h2>2. A log</h2><p>{asked} Which path did the bytes take? What in the log says so, and what says nothing?</p><pre>{escape(chr(10).join(log_lines()))}</pre>{lines}</div>"
        f"<div class='page'><h1>Marking sheet</h1><p>A point for each line that is there; half points are not given. Sum up before and after, and note which line is missing most often.</p>{_marks()}</div></html>\n"
    )


def _drawing() -> str:
    """Return two servers without any way in them."""
    one = "".join(
        f"<rect x='{x}' y='{y}' width='{w}' height='24' rx='3' fill='none' stroke='#333'/><text x='{x + w / 2}' y='{y + 16}' text-anchor='middle' font-size='11'>{name}</text>"
        for x, y, w, name in ((10, 8, 76, "CPU"), (130, 8, 110, "host memory"), (70, 74, 110, "PCIe switch"), (10, 140, 96, "accelerator"), (160, 140, 70, "NIC"))
    )  # fmt: skip
    links = "".join(
        f"<path d='{path}' stroke='#333'/>"
        for path in ("M86 20H130", "M110 74L60 32", "M95 98L60 140", "M150 98L190 140")
    )
    side = f"<g>{one}{links}</g>"
    return f"<svg viewBox='0 0 560 175' role='img' aria-label='two servers'>{side}<g transform='translate(310 0)'>{side}</g><path d='M230 152C260 172 445 172 470 164' fill='none' stroke='#333'/></svg>"


def _marks() -> str:
    p4d, run = load_cluster("p4d"), simulate(RUN)
    sends = GIB / run.time_s / 1e9
    rows = (
        ("drawing", "the detour goes through the host memory of both servers"),
        ("drawing", "a copy engine moves the bytes at each end, and not the CPU"),
        ("drawing", "the NIC reads and writes host memory over the same uplink"),
        ("drawing", "upwards at an uplink: the copy of what is sent, and what the NIC writes of what is received"),
        ("drawing", "Peer Direct stays below the switch"),
        ("log", "RDMA through host memory"),
        ("log", "the channel has no GDRDMA behind it: that word is missing"),
        ("log", "the setting FI_EFA_USE_DEVICE_RDMA=1 says what was asked for, and nothing else"),
        ("log", f"of two nodes each sends what algbw says, {sends:.1f} GB/s, and not what busbw says"),
        ("log", f"that is below the {detour_limit(p4d):.1f} GB/s of the detour, so the rate alone would not decide"),
    )  # fmt: skip
    body = "".join(
        f"<tr><td>{task}</td><td>{escape(point)}</td><td></td><td></td></tr>" for task, point in rows
    )
    return f"<table><tr><th>task</th><th>point</th><th>before</th><th>after</th></tr>{body}<tr><td colspan='2'>sum</td><td></td><td></td></tr></table>"
