"""The section of docs/model.md on communication libraries: NCCL's law, and what each library's file says."""

from collections.abc import Iterator
from typing import Any

from documents import table

from peerlab.base.errors import HardwareError
from peerlab.base.places import folder
from peerlab.base.textfile import read_toml
from peerlab.base.units import say_bytes, say_unit
from peerlab.library.library_files import known_libraries, load_library
from peerlab.library.library_record import NONE, Library
from peerlab.model.hardware import Figure

HEAD = """\
## Communication libraries

A cluster file keeps the topology and names its library. What the library does is a layer above: one file for each library and transport in
`data/libraries`. `Scenario(library="none")` leaves it out: topology alone.

**NCCL** (and RCCL). For every algorithm and protocol that it may use, its own source over the topology gives a time, in microseconds and bytes:

    tree      base + 2(D-1)(x + c/v) + 2 floor(log2 N)(h + w c/r) + S/B + (k-1) o
    ring      base + [2(R-1) - 2(N-1)] x + 2(N-1) h + S/B + (2(N-1) k o if k > 1)
    NVLSTree  25 + 2 floor(log2 N) h + 2 c D (1/r + 1/s) + max(S/B, S/W + (k-1) o)          (from Hopper on)

N nodes of D devices are R ranks; S bytes are cut into k chunks of c for each channel. `base` is the launch, x a hop inside a node, h a hop between nodes: what NCCL
plans with, and `library.hop` more; with GPUDirect RDMA below Hopper a received chunk of Simple is flushed by one more pass, so there it counts twice. v is what a
channel copies, r what it gets of the NICs, B the rate, w the bytes on the wire for each byte, and o what a message costs the proxy: `library.message` with Simple, a
quarter of it with the other protocols. A chunk above `library.eager` asks first: `library.rendezvous` more for each hop. All other constants are NCCL's own
([below](#constants-of-the-source)). Which algorithm and protocol runs is the least of these times. B then is
what the links inside a node and the data path let through as well (PCIe, host memory, staged copies of a core; not what kernel TCP costs a core, which a log
shows NCCL not to know). Over EFA it is the least of NCCL's own prediction, because the plugin tells it a latency that is not true; of the path, that knows PCIe alone.

The simulation takes from it the launch and the hops inside the nodes as spans at the start, the hops as flights, the chunk as slice, o as service time of the resource
*proxy* (one for each NIC), and what a protocol gets of the NIC as its rate. The topology then limits the rest. A tree is a chain of hops that all nodes walk alike:
every rank sends its share once, and a slice flies as many hops as the tree is deep, up and down. `binary-tree` is a tree node by node.
With NVLSTree s is the rate that a channel gets of the NVLink switch, B the rate of the links inside a node, W that of the NICs; o is 0 over verbs and `library.message` over EFA. The simulation sums
all chunks before it hands out the first; NCCL, with its eight buffers, does not. So where those links limit, the flights between nodes are added at the start, too.

Read in sources, and not in the law:

* The plug-in for EFA sets NCCL_BUFFSIZE to 8 MiB on P4d and later since 1.16 (src/platform-aws.cpp), so that chunks of rings and trees with Simple are twice as large. On P4d
  1 GiB would take 1 % longer, and nothing else would change, as the plug-in sets chunks of NVLSTree by themselves. NCCL's version does not say which plug-in runs, and the log of NCCL 2.9.9 would be met
  3 points worse.
* On more than 2 nodes a table of that plug-in chooses on P5 and later since 1.13 (src/tuner/nccl_ofi_regions.cpp), where it is loaded. Where NVLSTree or a tree runs here, the band holds what
  the table runs: on 4 nodes of P5 a ring with LL128 at 64 MiB, for instance, which this law has in 0.74 of the time of its tree.
* From 2.30 on NCCL chooses channels and chunks of NVLSTree on Blackwell by the rate of its NICs, and 2.25 and 2.26 open 32 channels inside a node as well (src/transport/nvls.cc): the law has 24 there and 32 between nodes.

**HCL** over host NICs exchanges pairwise. **Open MPI** and **UCX** cost their messages point to point something, and an all-to-all's.

"""
CONSTANTS = """\
### Constants of the source

What stands in `[law]` of a library's file. A constant that was read in a source is exact for the versions that have it: the library itself plans with that number, so
there is nothing to vary. How far such a plan is from what happens, in these versions and in others, is the error of the law, which was derived with logs of NCCL 2.12 to
2.27 and these numbers ([validation.md](validation.md)). So in a band all of them stand still; an assumed one has a range, which says how far it may be off, and the
error of the law has that as well.
"""
NOT_SOLVED = "Not solved, and said on the page where it applies:"


def section() -> str:
    """Return the section."""
    names = [name for name in known_libraries() if name != NONE]
    return "\n".join(
        [HEAD, *(part for name in names for part in _library(name)), CONSTANTS, _constants(names)]
    )


def _constants(names: list[str]) -> str:
    """Return the constants of NCCL's file and of those that extend it: of which versions each is, or its range."""
    rows = []
    for name in ("nccl", *names):
        text = (folder("data") / "libraries" / f"{name}.toml").read_text(encoding="utf-8")
        law = read_toml(text, name, HardwareError).get("law", {})
        rows += [(f"`{name}`", f"`{key}`", entry["basis"], _certainty(entry)) for key, entry in law.items()]
    return table(("file", "constant", "of what", "how sure"), rows)


def _certainty(entry: dict[str, Any]) -> str:
    if entry.get("range"):
        low, high = entry["range"]
        return f"assumed: {low:g} to {high:g}{say_unit(entry['unit'])}"
    first, last = entry["holds"]
    rests = f"; {entry['otherwise']}" if "otherwise" in entry else ""
    return f"exact from {first} to {last}{rests}"


def _library(name: str) -> Iterator[str]:
    library = load_library(name)
    if library is None:
        return
    yield f"### {library.title}\n\n`{name}`, known from {library.versions[0]} to {library.versions[1]}; {library.version} where nobody says it.\n"
    yield table(
        ("figure", "value", "of what", "source"), [figure_row(one) for one in library.figures.values()]
    )
    told = [f"* no {' and no '.join(one.protocols)}: {one.why}" for one in library.forbids]
    if told:
        yield "\n".join(told) + "\n"
    if library.unsolved:
        yield (
            "\n".join(
                [f"{NOT_SOLVED}\n", *(f"* {_unsolved(library, at)}" for at in range(len(library.unsolved)))]
            )
            + "\n"
        )


def figure_row(figure: Figure) -> tuple[str, ...]:
    """Return the row of a figure: what it is, its value, of what, and where it is from."""
    ends = (
        ""
        if figure.range is None
        else f" ({figure.range[0]:g} to {figure.range[1]:g}{say_unit(figure.unit)})"
    )
    rests = "; ".join(
        filter(None, (figure.source, figure.assumption and f"assumed: {figure.assumption}{ends}"))
    )
    mark = " †" if figure.assumption else ""
    return (
        f"{figure.label} (`{figure.key}`){mark}",
        f"{figure.value:g}{say_unit(figure.unit)}",
        figure.basis,
        rests,
    )


def _unsolved(library: Library, at: int) -> str:
    one = library.unsolved[at]
    where = [f"from {one.nodes} nodes on"] * bool(one.nodes)
    if one.from_bytes or one.to_bytes:
        where.append(
            f"{say_bytes(one.from_bytes)} to {say_bytes(one.to_bytes) if one.to_bytes else 'the largest'}"
        )
    if one.domain:
        where.append(f"{one.domain} NVLink domains" if one.domain == "between" else "within an NVLink domain")
    return one.says + (f" ({', '.join(where)})" if where else "")
