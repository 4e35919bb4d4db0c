"""What the labs say in prose is what the simulation says now."""

import json
import re
from functools import cache

import pytest

import peerlab
from peerlab.places import folder

LABS = {path.stem: path for path in sorted(folder("labs").glob("*.ipynb"))}

STAGED = peerlab.Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = STAGED.with_(path="peer-direct")
TCP = STAGED.with_(path="host-tcp")
DL1 = STAGED.hardware

run = cache(peerlab.simulate)


def gain(**changes):
    """Return how many times faster Peer Direct is than the detour."""
    return run(STAGED.with_(**changes)).time_s / run(DIRECT.with_(**changes)).time_s


def sends(scenario):
    """Return what one server sends, GB/s."""
    return run(scenario).wire_busy * DL1.node_wire_Bps / 1e9


COMPUTED = {
    "00_tour": [
        ("The uplink carries {:.1f} GB/s in each direction", lambda: DL1.uplink_Bps / 1e9),
        ("The NIC could send {:.1f} GB/s", lambda: DL1.nic_Bps / 1e9),
        ("Half of 14.1 is {:.2f} GB/s", lambda: DL1.uplink_Bps / 2e9),
        (
            "payload: {:.0f} % of what the NIC",
            lambda: 100 * run(STAGED.with_(message_bytes="1 GiB")).wire_busy,
        ),
        ("It is {0:.1f} / {1:.2f}", lambda: (DL1.nic_Bps / 1e9, DL1.uplink_Bps / 2e9)),
        ("exceeds the NICs' {:.0f} GB/s", lambda: DL1.node_wire_Bps / 1e9),
        ("about {:.1f} on DL1", gain),
        ("stops at {:,} ranks", lambda: DL1.max_ranks),
    ],
    "01_the_long_detour": [
        ("5. Why {:.2f}, and when", lambda: DL1.nic_Bps / (DL1.uplink_Bps / 2)),
        ("{:.2f} on DL1, nothing where", lambda: gain(message_bytes="1 GiB")),
        ("With TCP a server sends {:.1f} GB/s", lambda: sends(TCP)),
        ("{:.2f} core-seconds for each GB", lambda: run(TCP).cores_busy / sends(TCP)),
        (
            "the four NICs ({:.0f} GB/s) would take {:.0f} cores",
            lambda: (
                DL1.node_wire_Bps / 1e9,
                run(TCP).cores_busy / sends(TCP) * DL1.node_wire_Bps / 1e9,
            ),
        ),
        ("carries {:.1f} GB/s in each direction", lambda: DL1.uplink_Bps / 1e9),
        ("the NIC {:.1f} GB/s ({:.0f} Gbit/s)", lambda: (DL1.nic_Bps / 1e9, DL1.nic_Bps / 125e6)),
        ("left for payload: {:.2f} GB/s", lambda: DL1.uplink_Bps / 2e9),
        ("Host memory is no limit: {:.1f} GB/s", lambda: DL1.dram_Bps / 1e9),
        (
            "four accesses per byte leave {:.1f} GB/s for each of two NICs",
            lambda: DL1.dram_Bps / run(STAGED).dram_bytes_per_byte / DL1.switches_per_numa / 1e9,
        ),
        ("At 64 MiB the simulation says {:.2f}", gain),
    ],
}
"""Per lab: a piece of its prose with a field for each figure, and what computes them (one figure, or a tuple)."""

SOURCED = {
    "00_tour": ["1.5 to 2 times on collectives and up to 1.76 on large messages (summaries of an article"],
    "01_the_long_detour": [
        "1.5 to 2 times, up to 1.76 on large messages (summaries of an article in *Towards Data Science*",
        "2.25, 1.84 and 1.57 times faster without the stop in host memory, at 1, 2 and 4 MiB (osu_latency",
        "at 23,990 MB/s with RDMA and at 1,803 MB/s through host memory and TCP, 13.3 times less (CSCS",
    ],
}
"""Per lab: pieces of prose with figures that are somebody else's, with the source that the prose names."""

_FIGURE = re.compile(r"\d+\.\d+|\d+(?= %)")
"""What could only come from a computation: figures with a decimal point, and percentages."""


def prose(name):
    cells = json.loads(LABS[name].read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def say(template, compute):
    figures = compute()
    return template.format(*figures if isinstance(figures, tuple) else (figures,))


def rows():
    return [(name, template, compute) for name, of in COMPUTED.items() for template, compute in of]


@pytest.mark.parametrize(("name", "template", "compute"), rows(), ids=lambda one: one if one in LABS else "")
def test_a_figure_in_the_prose_is_what_the_simulation_says(name, template, compute):
    assert say(template, compute) in prose(name)


@pytest.mark.parametrize("name", COMPUTED)
def test_every_figure_in_the_prose_is_computed_here_or_has_a_source(name):
    text = prose(name)
    known = SOURCED.get(name, []) + [say(template, compute) for template, compute in COMPUTED[name]]
    for piece in known:
        assert piece in text
    known = {figure for piece in known for figure in _FIGURE.findall(piece)}
    assert set(_FIGURE.findall(text)) <= known


def test_every_lab_has_its_figures_here():
    assert set(LABS) == set(COMPUTED)
