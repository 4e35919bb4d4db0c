"""The section of docs/model.md on transports: headers, hops and messages, reduction in the network, and what stays out."""

from documents import table
from model_libraries import figure_row

from peerlab.base.units import say_bytes
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.labs import fabric_forms as forms
from peerlab.features.exercises.labs.quoted_tables import added_up, best_rival, in_node_switch
from peerlab.features.fabrics.fabric_report import fabrics_svg
from peerlab.model.transport_files import known_transports, load_transport
from peerlab.picture.still import still_svg
from peerlab.question.scenario import Scenario
from peerlab.study.fabric_comparison import compare_fabrics

HEAD = """\
## Transports

Without a transport a fabric is a rate and a latency. `Scenario(transport="roce", mtu=4096)` makes more of it, from one file for each in `data/transports`:

    wire(s) = s + ceil(s / payload) header + first header        goodput g = payload / (payload + header)

NICs and links serve wire(s) bytes; copies and PCIe serve s. A message (a slice) occupies its NIC for `nic.per_message` at least: the resource *NIC messages*, which can be
the bottleneck. Where a cluster's file, or its library, says the latency of a hop, that stays the total, and only hops and metres beyond those of the transport's
file are added. A cluster that leaves `fabric.latency` out has base + hops x switch + metres x 5.05 ns. Kernel TCP goes over `tcp` whatever the NICs speak.

On a ring every port has one sender, so no queue forms: over a fabric that never limits, transports differ by header bytes and latency alone. AllReduce of 64 MiB, 8 nodes,
100 Gb/s and 5 us, blocking, whole chunks:

"""
SHARP = """\
### Reduction in the network

`algorithm="sharp"`: a node sends its whole buffer up once, the switches add, and the sums come down to all. Every slice flies up and down, T = 2 L + S / (B g), whatever the number of
nodes. A ring moves 2(N-1)/N of the message and flies 2(N-1) times; but for small messages recursive doubling, which flies log2 N times, is the one to beat, and on two nodes
it is ahead of SHARP. Of bytes SHARP spares 2(N-1)/N times at most, less than 2: what it gains beyond that is latency. So it is held against the fastest of a ring, halving-doubling and recursive doubling. One device a node, 12.5 GB/s and 5 us:

"""
NVLS = """\
![What eight nodes send goes up to a switch between them, and comes down to all as a sum](pictures/sharp.svg)

Inside a node NVSwitch adds up (NVLink SHARP), `algorithm="nvls"`: of each shard the bytes of all n devices leave by their links, and its sum once more, (n+1)/n of the message for each
device, so algbw = B n/(n+1). One rate (`scaleup.sharp`, 308.5 GB/s), fitted on them, meets the four points that are published for H100 (NVIDIA/nccl issue 1455). AllReduce of 4 GiB:

"""
LEFT_OUT = """\
Worked out by a formula, not simulated (`peerlab.features.exercises.labs.fabric_forms`, lab 08):

* GPUDirect Storage: drives fill a device at the rate of the slowest part. Bounced: min(drives, uplink/2, host memory/2, copy); the whole uplink where nothing else crosses it.
  Direct: min(drives, peer writes, the device's PCIe link).
* GPU-initiated sends: n messages take t + (n - 1)/r, where t is the latency of the first and r the messages a second; from the GPU t is longer and r larger.
* CXL: nothing. No measured figure of memory pools across hosts was found.

Not modelled here: queues, pauses, credits, marks and losses (every port is served as if nothing else were sent); the next section has them, in scenes of their own. TCP's windows
and acknowledgements are nowhere. So a transport's congestion control decides nothing here, and no comparison of them is drawn from it.
"""
_SIDE_BY_SIDE = """
With each one's own latency (`peerlab fabrics` writes this as a table, a page that plays or a still):

![The same ring on six transports, on one axis of time, with goodput, bus bandwidth and messages a second](pictures/transports.svg)
"""
_RING = Scenario(cluster="ideal-100g", algorithm="ring", message_bytes="64 MiB", slice_bytes=None)
_ON = (
    ("infiniband", 4096),
    ("infiniband", 1024),
    ("roce", 4096),
    ("roce", 1024),
    ("iwarp", 9000),
    ("iwarp", 1500),
    ("tcp", 9000),
    ("tcp", 1500),
)
_PUBLISHED = {5: 258, 6: 265, 7: 270, 8: 273}


def transports() -> str:
    """Return the section."""
    return "\n".join(
        [HEAD + _rings(), *map(_transport, known_transports()), SHARP + _sharp(), NVLS + _nvls(), LEFT_OUT]
    )


def pictures() -> dict[str, str]:
    """Return the pictures of the section, as SVG, by name."""
    sums = Scenario(
        cluster="infiniband-hdr-a100",
        path="peer-direct",
        library="none",
        algorithm="sharp",
        message_bytes="8 MiB",
    )
    return {"transports.svg": fabrics_svg(compare_fabrics(_RING)), "sharp.svg": still_svg(simulate(sums))}


def _rings() -> str:
    rows = [("none, or `ideal`", "", "1", f"{simulate(_RING).time_s * 1e3:.3f} ms")]
    for name, mtu in _ON:
        asked = _RING.with_(transport=name, mtu=mtu)
        run = simulate(asked)
        rows.append(
            (load_transport(name).title, f"{mtu} B", f"{asked.goodput:.4f}", f"{run.time_s * 1e3:.3f} ms")
        )
    return table(("transport", "MTU", "goodput", "AllReduce"), rows) + _SIDE_BY_SIDE


def _transport(name: str) -> str:
    one = load_transport(name)
    allowed = f" Packets of {one.allows}." if one.mtus or one.mtu_range else ""
    rows = [figure_row(figure) for figure in one.figures.values()]
    head = f"### {one.title}\n\n`{name}`: {one.summary}{allowed}\n"
    return "\n".join([head, *([table(("figure", "value", "of what", "source"), rows)] if rows else [])])


def _sharp() -> str:
    rows = []
    for nodes in (2, 8, 64, 1024):
        for size in (8 * 1024, 2**26):
            (best, other), sums = best_rival(nodes, size), added_up(nodes, size)
            ring = simulate(_RING.with_(nodes=nodes, message_bytes=size)).time_s
            times = (f"{seconds * 1e6:.4g} us" for seconds in (ring, other, sums))
            rows.append((str(nodes), say_bytes(size), *times, best, f"{other / sums:.3g}"))
    return table(
        ("nodes", "message", "ring", "best without SHARP", "SHARP", "which is the best", "SHARP, times as fast as it"), rows
    )  # fmt: skip


def _nvls() -> str:
    rows = [
        (
            str(n),
            f"{forms.nvlink_sharp_algbw(n, 308.5):.1f} GB/s",
            f"{in_node_switch(n):.1f} GB/s",
            f"{published} GB/s",
        )
        for n, published in _PUBLISHED.items()
    ]
    return table(("devices", "by the formula", "simulated", "published algbw"), rows)
