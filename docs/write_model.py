"""Writes docs/model.md: what is simulated, from the constants, the rules and the sources in code and data."""

import inspect
import re
from collections.abc import Iterator

from documents import anchor, link, plain, table
from model_chain import PICTURE, draw, section
from model_laws import laws
from model_libraries import section as libraries_section
from model_neighbours import section as neighbours_section
from model_noise import section as noise_section
from model_suspects import section as suspects_section
from model_training import training
from model_transports import pictures as transport_pictures
from model_transports import transports

from peerlab.base.places import folder
from peerlab.base.units import say_bytes, say_count, say_time, say_unit
from peerlab.collectives.choose import plan
from peerlab.engine.simulate import simulate
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.distances import distances
from peerlab.model.guide import GUIDE
from peerlab.model.hardware import FIGURE_LABELS, FIGURE_OF_FIELD, Cluster, Figure
from peerlab.model.nic_wiring import PLACES, Wiring
from peerlab.model.paths import PATHS, REDUCE, stages
from peerlab.model.registration import RegistrationCache
from peerlab.model.resources import RESOURCES, ResourceKind
from peerlab.model.stages import STAGES, Use
from peerlab.question.presets import known_clusters, load_cluster
from peerlab.question.scenario import Scenario
from peerlab.records import load

HEAD = """\
# The model

Written by `make docs` from the code's own stages, rules and constants; every figure that is worked out is worked out here, now.
[DESIGN.md](../DESIGN.md) says why it is built like this, [validation.md](validation.md) what it agrees with.

Times are whole picoseconds and sizes whole bytes inside; GB/s are 10^9 bytes a second, per direction.

{contents}
"""
PATH_HEAD = """\
## What a slice goes through

A transfer is cut into slices. A slice passes the stages of its path one after the other; slices overlap, each stage working on
another one. The resources of one stage are a chain, in the order in which the table lists them; the section after this one has its law. Where
staging is pageable (`host.pageable_copy`), the core that sends makes the copies instead of copy engines.
"x 2" after a resource: so many bytes cross it for each byte of the slice.
"""
RESOURCE_HEAD = """\
## Resources

An *exclusive* resource serves one slice at a time, first come first served. A *shared* one divides its capacity evenly among the
engines that use it, one slice per engine at a time: a device's copy engines, a NIC's reads and writes, a core.
"""
LAW_HEAD = """\
## Formulas

N nodes, n ranks, D devices a node, a message of S bytes, a slice of s bytes, a rate B, a latency L, a time T. Each is worked out by
hand and simulated; this page cannot be written where the two differ by more than a part in 10^9.
"""
DETOUR = """\
## Why the detour costs

It follows from the topology. Staging crosses the uplink of a PCIe switch twice in each direction: up go the copy out of the device
and what the NIC receives, down go what the NIC sends and the copy into the device. On {title} that leaves at most
{uplink:g} / 2 = {half:.4g} GB/s for what a switch's devices send, while its NIC carries {wire:g} GB/s: a ratio of {bound:.2f}.
`peer-direct` stays below the switch. Simulated, with latencies and slices and all else:

"""
WIRING_HEAD = """\
## Where the NICs hang

A byte between NIC and accelerator stays below a PCIe switch, or crosses the CPU, or two of them. `wiring` says which, `acs_redirect` whether
switches send what goes from card to card up to the CPU first. Over the CPU `peer-direct` takes the uplink, too, and what the CPU forwards between its ports
(`host.peer_read`, `host.peer_write`); across sockets their link (`host.socket_link`); with ACS redirect it goes up *and* down the uplink, like the detour:
a NIC then gets at most half of it. What a NIC at the CPU moves to and from host memory leaves the uplink alone.

{places}
By default a library goes straight only so far ({direct}). `receive-direct` is what it does where device memory is slow to read: {read}.
What a CPU forwards, where a file does not say it: on Intel the link's rate over {tlp} ({tlp_source}), on AMD the link's rate; at the least, and
across sockets, as was measured:

"""
ALGORITHM_HEAD = """\
## Algorithms

What each rail does between the nodes (with several devices a node, device d of every node is rail d). Here {nodes} nodes of one device on
{title}; `auto` and `hierarchical` are rings on the rails. Bytes that the busiest rank sends, as multiples of the message.

"""
ALLTOALL_HEAD = """\
## All-to-all

Every rank sends each of n ranks an n-th of its message, rounded up to a byte, and keeps the part that is its own; mixtures of experts do this
twice a layer. Size and busbw are those of nccl-tests: the size is what one rank sends to all, and busbw = algbw x (n-1)/n.

* **Between nodes.** A rank has a message for every device of every other node: (N-1) D messages over its NIC, on the stages of the data path.
  In every step a rank sends one and receives one; the partner moves round the nodes, and at each node round its devices.
* **Inside a node.** Meanwhile each device hands the D-1 others theirs over its scale-up links. Between buffers in host memory
  (`memory="host"`, as MPI benchmarks have them) a core copies them, at the rate of the cluster's file, and with no latency of its own.
* **`direct`** (`auto`): all messages are posted at once and waited for together, as NCCL's grouped sends and receives do and Open MPI does among 8 to
  15 ranks (open-mpi/ompi coll_tuned_decision_fixed.c, *linear*). **`pairwise`**: a rank deals with one other at a time, and both wait for each other.
* Nothing is added up and nothing passed on. A library's own protocols for collectives play no part: these are sends and receives.

{gain}

What a message costs the process that sends or receives it is known of one library alone: in a log of Open MPI over RDMA, {small} take
{log}. The simulation says {model} with `library="openmpi-cxi"`, which takes {cost} for each of the {others} messages, and {bare} without a
library. What NCCL adds to an all-to-all is in no log, and is not modelled; nor is what Open MPI adds over TCP.

{title}, {nodes} nodes, by path:

"""
CACHE_HEAD = """\
## Registration

On `peer-direct` a transfer is posted when the memory of both its ends is registered with the NIC. `pool`: all memory at start, outside
the time that is reported. `per-transfer`: before each transfer, and deregistered after it, in the NIC's own queue. `cached`: as the
cache of each NIC has it:

{rules}

"""
NOT_MODELLED = """\
## What is not modelled

* The copy within a device that a static pool needs: nobody publishes it.
* Lost packets, congestion control, and other traffic on the network: `peerlab neighbours` asks about them, in scenes of their own.
* That registering gets dearer the more is registered already, as was seen on EFA (kvcache-ai/Mooncake issue 3217).
* How long computing takes: a training step is given its times.
"""
CLUSTER_HEAD = """\
## Clusters

† marks an assumption, with the range it may lie in where it has one. `peerlab clusters NAME` prints the same.

{contents}
"""
_EXAMPLES = {"host-rdma": "dl1", "host-tcp": "dl1", "peer-direct": "dl1", "native": "gaudi2", "wire": "ideal-100g"}  # fmt: skip


def document() -> str:
    """Return the whole text."""
    parts = [
        PATH_HEAD, *_paths(), section(), RESOURCE_HEAD, _resources(), LAW_HEAD, _laws(), *_detour(), *_distances(), *_algorithms(), *_alltoall(),
        CACHE_HEAD.format(rules=_rules()), libraries_section(), noise_section(), suspects_section(), transports(), neighbours_section(), *training(), NOT_MODELLED, *_clusters(),
    ]  # fmt: skip
    headings = re.findall(r"^## (.*)", "\n".join(parts), re.MULTILINE)
    contents = "\n".join(f"* {link(one)}" for one in headings)
    return "\n".join([HEAD.format(contents=contents), *parts])


def pictures() -> dict[str, str]:
    """Return the pictures, as SVG, by name."""
    return {PICTURE: draw(), **transport_pictures()}


def _paths() -> Iterator[str]:
    for path, name in _EXAMPLES.items():
        cluster = load_cluster(name)
        yield f"### {path}\n\n{_sentence(PATHS[path].summary)} On {cluster.title}:\n"
        rows = [
            (
                f"`{stage.name}`",
                STAGES[stage.name].says,
                _uses(stage.uses, latency=stage.flight == "latency_ps"),
            )
            for stage in stages(cluster, path)
        ]
        if path != "wire":
            rows.append((f"`{REDUCE.name}`", STAGES[REDUCE.name].says, _uses(REDUCE.uses)))
        yield table(("stage", "what", "resources"), rows)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _uses(uses: tuple[Use, ...], *, latency: bool = False) -> str:
    sides = {"source": "sender", "destination": "receiver"}
    named = [
        f"{RESOURCES[use.kind].label} ({sides[use.side]})" + (f" x {use.touches}" if use.touches > 1 else "")
        for use in uses
    ]
    if latency:  # it lies where the slice goes to the other side
        named.insert(sum(use.side == uses[0].side for use in uses), "*latency*")
    return ", ".join(named)


def _resources() -> str:
    scopes = {"device": "device", "switch": "PCIe switch", "numa": "NUMA domain", "nic": "NIC", "fabric": "fabric"}  # fmt: skip
    rows = [
        (kind.label, f"per {scopes[kind.scope]}", _capacity(name, kind), "shared" if kind.shared else "exclusive")
        for name, kind in RESOURCES.items()
        if name != "wire"
    ]  # fmt: skip
    return table(("resource", "there is one", "capacity", "serves"), rows)


def _capacity(name: str, kind: ResourceKind) -> str:
    if kind.rate:
        more = {"core": " and `host.packet_cost`", "scaleup": " to each other device"}
        return f"`{FIGURE_OF_FIELD[kind.rate]}`{more.get(name, '')}"
    times = {
        "registration": "`registration.*`: time, not bytes", "proxy": "`library.message`: time for each message",
        "launch": "what the library takes before it sends: time",
    }  # fmt: skip
    return times.get(name, "`fabric.oversubscription`")


def _laws() -> str:
    rows = [
        (law.what, f"`{law.formula}`", law.example, law.say(law.by_hand), law.say(law.simulated))
        for law in laws()
    ]
    return table(("what", "formula", "example", "by hand", "simulated"), rows)


def _detour() -> Iterator[str]:
    cluster = load_cluster("dl1")
    uplink, wire = cluster.uplink_Bps / 1e9, cluster.nics_per_switch * cluster.nic_Bps / 1e9
    staged = Scenario(cluster="dl1", path="host-rdma")
    rows = []
    for nodes in (2, 8, 64):
        for size in ("1 MiB", "64 MiB", "1 GiB"):
            asked = staged.with_(nodes=nodes, message_bytes=size)
            host = simulate(asked)
            peer, bare = (
                simulate(asked.with_(path="peer-direct", registration=how)) for how in ("cached", "per-transfer")
            )  # fmt: skip
            rows.append((
                str(nodes), size, *(say_time(one.time_ps) for one in (host, peer, bare)),
                f"{host.time_s / peer.time_s:.2f}", f"{host.time_s / bare.time_s:.2f}",
            ))  # fmt: skip
    head = ("nodes", "message", "`host-rdma`", "`peer-direct`, cached", "`peer-direct`, no cache", "gain", "gain without a cache")  # fmt: skip
    yield DETOUR.format(
        title=cluster.title, uplink=uplink, half=uplink / 2, wire=wire, bound=wire / (uplink / 2)
    ) + table(head, rows)


def _algorithms() -> Iterator[str]:
    base = Scenario(cluster="ideal-100g", nodes=8)
    rows = []
    for one in ALGORITHMS.values():
        if not one.does or one.library or one.several_devices or "allreduce" not in one.collectives:
            continue
        asked = base.with_(algorithm=one.name)
        schedule = plan(asked).schedule
        sent = max(
            sum(len(schedule.sends(step)) for step in range(schedule.steps) if schedule.to(rank, step) >= 0)
            for rank in range(schedule.ranks)
        )
        times = [simulate(asked.with_(message_bytes=size)).time_ps for size in ("4 KiB", "64 MiB")]
        rows.append((
            f"`{one.name}`", one.does, str(schedule.steps), f"{sent * schedule.chunk_bytes / asked.nbytes:.3g}",
            *map(say_time, times),
        ))  # fmt: skip
    head = ("algorithm", "what a rank does", "steps", "bytes sent", "4 KiB", "64 MiB")
    yield ALGORITHM_HEAD.format(nodes=base.nodes, title=base.hardware.title) + table(head, rows)


def _alltoall() -> Iterator[str]:
    base = Scenario(cluster="dl1", collective="alltoall")
    sizes = ("64 KiB", "1 MiB", "64 MiB")
    rows = []
    for path in base.hardware.paths:
        for algorithm in ("direct", "pairwise"):
            asked = base.with_(path=path, algorithm=algorithm)
            runs = [simulate(asked.with_(message_bytes=size)) for size in sizes]
            rows.append(
                (
                    f"`{path}`",
                    f"`{algorithm}`",
                    *(f"{say_time(one.time_ps)}, {one.busbw_GBps:.3g} GB/s" for one in runs),
                )
            )
    host, peer = (simulate(base.with_(path=path)) for path in ("host-rdma", "peer-direct"))
    gain = f"On {base.hardware.title} Peer Direct makes {say_bytes(base.nbytes)} on {base.nodes} nodes {host.time_s / peer.time_s:.2f} times as fast."
    alps = Scenario(
        cluster="alps-gh200",
        nodes=2,
        path="host-rdma",
        memory="host",
        collective="alltoall",
        message_bytes=64,
    )
    measured = load(folder("data") / "measured" / "alps" / "osu-alltoall-host-rdma.csv").medians()
    took = measured.loc[measured["size_bytes"] == alps.nbytes, "time_s"].iloc[0]
    mpi = alps.with_(library="openmpi-cxi")
    cost = mpi.hardware.figures["library.message"]
    yield ALLTOALL_HEAD.format(
        gain=gain, small=f"{alps.nbytes // alps.ranks} bytes to each of {alps.ranks} ranks", log=f"{took * 1e6:.1f} µs",
        model=say_time(simulate(mpi).time_ps), bare=say_time(simulate(alps.with_(library="none")).time_ps), cost=cost, others=alps.ranks - 1, title=base.hardware.title, nodes=base.nodes,
    ) + table(("path", "algorithm", *sizes), rows)  # fmt: skip


def _rules() -> str:
    """Return the rules as the cache's own docstring has them."""
    text = inspect.getdoc(RegistrationCache) or ""
    return text[text.index("* ") :].strip()


def _clusters() -> Iterator[str]:
    clusters = [load_cluster(name) for name in known_clusters()]
    rows = [
        (
            f"[{one.title}](#{anchor(_heading(one))})", f"`{one.name}`", _wiring(one), ", ".join(one.paths),
            f"{len(one.assumptions)} of {len(one.stated)}",
        )
        for one in clusters
    ]  # fmt: skip
    head = ("cluster", "name", "a node", "paths between nodes", "assumed, of its file's figures")
    yield CLUSTER_HEAD.format(contents=table(head, rows))
    for one in clusters:
        yield from _cluster(one)


def _heading(cluster: Cluster) -> str:
    return f"{cluster.title} ({cluster.name})"


def _wiring(cluster: Cluster) -> str:
    switches = cluster.numa_domains * cluster.switches_per_numa
    below = f", {say_count(switches, 'PCIe switch')}" if cluster.uplink_Bps else ""
    return f"{cluster.devices} x {cluster.device_name}, {say_count(cluster.nics, 'NIC')}{below}"


def _cluster(cluster: Cluster) -> Iterator[str]:
    fitted = f" Fitted on {cluster.fitted_on}; elsewhere an extrapolation." if cluster.fitted_on else ""
    yield f"### {_heading(cluster)}\n\n{cluster.summary}{fitted}\n"
    if cluster.wiring.source or cluster.wiring.assumption:
        yield _hangs(cluster.wiring)
    rows = [
        (
            f"{figure.label} (`{key}`)" + (" †" if figure.assumption else ""), GUIDE[key].what, str(figure), figure.basis,
            plain(_origin(figure)),
        )
        for key, figure in cluster.figures.items()
    ]  # fmt: skip
    rows += [
        (f"{FIGURE_LABELS[key]} (`{key}`)", GUIDE[key].what, "left out", "", plain(why))
        for key, why in cluster.leaves_out.items()
    ]
    yield table(("figure", "what", "value", "basis", "source, or what is assumed"), rows)
    if cluster.lacks:
        yield "".join(f"* No `{path}`: {plain(why)}.\n" for path, why in cluster.lacks.items())


def _hangs(wiring: Wiring) -> str:
    """Say where the NICs hang, on what evidence, and what else was thought of."""
    sure = f"assumed: {wiring.assumption}" if wiring.assumption else wiring.source
    lines = [f"Where the NICs hang: {wiring}{' †' if wiring.assumption else ''}. {plain(sure)}.\n"]
    lines += [f"* Evidence: {plain(wiring.evidence)}.\n"] if wiring.evidence else []
    lines += [
        f"* {'Possible' if one.possible else 'Not taken for possible'}: {one.holds}{': ' + plain(one.because) if one.because else ''}.\n"
        for one in wiring.others
    ]
    return "".join(lines) + (f"* {plain(wiring.check)}.\n" if wiring.assumption else "")


def _distances() -> Iterator[str]:
    """Say what is known of the distance between NIC and accelerator."""
    known = distances()
    yield WIRING_HEAD.format(
        places=table(
            ("where", "in a file", "`nvidia-smi topo -m`", "over the CPU", "between sockets"),
            [
                (
                    one.title,
                    f"`{name}`",
                    one.distance,
                    "yes" if one.over_cpu else "",
                    "yes" if one.over_sockets else "",
                )
                for name, one in PLACES.items()
            ],
        ),
        direct=plain(known.direct_source),
        read=plain(known.read_source),
        tlp=f"{known.tlp:g}",
        tlp_source=plain(known.tlp_source),
    )
    yield table(
        ("distance", "measured on", "straight", "to host memory", "share", "source"),
        [
            (one.distance, one.what, f"{one.direct:g} {one.unit}", f"{one.host:g} {one.unit}", f"{one.share:.2f}", plain(one.source))
            for one in known.measured
        ],
    )  # fmt: skip
    yield table(
        ("link between sockets", "rate", "source"),
        [
            (f"{one.cpu} {one.generation}", f"{one.value:g} {one.unit}, {one.basis}", plain(one.source))
            for one in known.socket_links
        ],
    )


def _origin(figure: Figure) -> str:
    if not figure.assumption:
        return figure.source
    between = f" ({figure.range[0]:g} to {figure.range[1]:g}{say_unit(figure.unit)})" if figure.range else ""
    fitted = figure.assumption.startswith("fitted on ")
    assumed = ("" if fitted else "assumed: ") + figure.assumption + between
    return f"{figure.source}; {assumed}" if figure.source else assumed
