"""The fields of a scenario: one record each, with what it may hold, its option, its control in the lab and on pages, and what sets it back.

What fields may hold *together* is the scenario's own to say, and what several of them show is a module of its own in `peerlab.app`.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from peerlab.base.units import KIB, say_bytes
from peerlab.library.library_files import known_libraries
from peerlab.library.library_record import Library
from peerlab.library.nccl_law import PROTOCOLS
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.collective import AUTO, COLLECTIVES
from peerlab.model.hardware import Cluster
from peerlab.model.nic_wiring import OFF, ON, PLACES
from peerlab.model.paths import PATHS
from peerlab.model.transport_files import known_transports
from peerlab.question.disturbance_fields import DISTURBANCES
from peerlab.question.field_record import CommandOption, Control, Field
from peerlab.question.placement import PLACEMENTS

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

REGISTRATIONS = ("cached", "per-transfer", "pool")
DEPENDENCIES = (AUTO, "slice", "step")
MEMORIES = ("device", "host")
SWITCHED = (AUTO, ON, OFF)
# Pages of x86, of arm64 and POWER, and huge pages.
PAGES = (4 * KIB, 64 * KIB, 2 * KIB * KIB)
MAX_NODES = 2**14
MAX_BYTES = 2**40
MAX_ITERATIONS = 1000


def _always(text: str) -> Callable[[], str]:
    return lambda: text


def _listed(names: Callable[[], Collection[str]], after: str, before: str = "") -> Callable[[], str]:
    """Return the help of an option whose value is one of some names."""
    return lambda: f"{before}{', '.join(names())}{after}"


def _unregistered(s: "Scenario") -> bool:
    return not s.data_path.uses_device_memory


def _no_packets(s: "Scenario") -> bool:
    return s.used_transport is None or not s.used_transport.figures


def _unwired(s: "Scenario") -> bool:
    return "switch.uplink" not in s.given_cluster.figures or not s.is_wired


# Long, because it is a table: one field after another, in the order in which --help shows them.
FIELDS: dict[str, Field] = {
    "cluster": Field(
        types=(Path, Cluster),
        option=CommandOption(help=_always("a known cluster, or the path of a .toml file of your own (default: dl1)")),
    ),
    "nodes": Field(
        whole=(1, MAX_NODES), never_none=True, page_unit="nodes", by_powers=True, option=CommandOption(read="number", help=_always("servers that take part (default: 8)")),
    ),
    "path": Field(
        words_of_some=PATHS, title="Data path", page_word="host", switches=True, option=CommandOption(help=_listed(lambda: PATHS, " (default: {usual})")),
    ),
    "registration": Field(
        words=REGISTRATIONS, title="Registration", page_word="cache", switches=True,
        option=CommandOption(help=_listed(lambda: REGISTRATIONS, " (default: {usual})")),
        control=Control(
            label="Cache", name="policy", group="registration", place=15, options=lambda: (("LRU", "cached"), ("one static pool", "pool")),
            tip="What keeps registered memory: a cache of regions, or one pool registered at start",
        ),
        rests=lambda s: _unregistered(s) or s.registration == "per-transfer",
    ),
    "collective": Field(
        words=COLLECTIVES, title="Operation", option=CommandOption(help=_listed(lambda: COLLECTIVES, " (default: allreduce)")),
    ),
    "algorithm": Field(
        words=ALGORITHMS, of_cluster=True, option=CommandOption(help=_listed(lambda: ALGORITHMS, " (default: auto)")),
        control=Control(
            label="Algorithm", name="algorithm", place=4, options=lambda: [(name, name) for name in ALGORITHMS],
            tip="Who sends what to whom; auto: as the library does, without one a ring; of an all-to-all, everything at once",
        ),
    ),
    "library": Field(
        types=(Path, Library), of_cluster=True,
        option=CommandOption(help=_listed(known_libraries, ", or a .toml file of your own (default: the cluster's)")),
        control=Control(label="Library", name="library", place=1, tip="Communication library; none: topology alone"),
    ),
    "library_version": Field(
        of_cluster=True, follows="library", rests=lambda s: s.used_library is None,
        option=CommandOption(metavar="VERSION", help=_always("its version, such as 2.19 (default: the cluster's)")),
        control=Control(
            label="Version", name="version", place=2, empty="its usual", tip="The library's version, such as 2.19",
        ),
    ),
    "protocol": Field(
        words=(AUTO, *PROTOCOLS), of_cluster=True, follows="library",
        option=CommandOption(help=_listed(lambda: PROTOCOLS, ": the library's protocol (default: auto)", "auto, ")),
        control=Control(
            label="Protocol", name="protocol", place=3, options=lambda: ((AUTO, AUTO),),
            tip="NCCL's protocol; auto: as the library chooses",
        ),
    ),
    "wiring": Field(
        words=(AUTO, *PLACES), of_cluster=True, rests=_unwired,
        option=CommandOption(help=_listed(lambda: PLACES, " (default: as the cluster says)", "where the NICs hang: auto, ")),
        control=Control(
            label="GPU and NIC are", name="wiring", group="fabric", place=5, tip="Where each NIC hangs, seen from the accelerators that it serves",
            options=lambda: (
                ("as the cluster says", AUTO), ("below one switch", "switch"), ("below one CPU", "root-port"),
                ("across sockets", "other-socket"), ("below a socket's switch", "socket-switch"),
            ),
        ),
    ),
    "acs_redirect": Field(
        words=SWITCHED, of_cluster=True, rests=_unwired,
        option=CommandOption(metavar="on|off", help=_always("whether switches send peer traffic up to the CPU first")),
        control=Control(
            label="ACS redirect", name="acs", group="fabric", place=6, tip="Whether switches send what goes from card to card up to the CPU first",
            options=lambda: (("as the cluster says", AUTO), ("off", OFF), ("on", ON)),
        ),
    ),
    "transport": Field(
        of_cluster=True,
        option=CommandOption(help=_listed(known_transports, ": count its headers (default: the cluster's, if it names one)")),
        control=Control(
            label="Transport", name="transport", group="fabric", place=7,
            tip="What the NICs speak: its headers, switches, cable and message rate count",
        ),
    ),
    "mtu": Field(
        size=True, whole=(1, 2**20), of_cluster=True, follows="transport", rests=_no_packets,
        option=CommandOption(metavar="SIZE", help=_always("its packet size, such as 4096 (default: the transport's usual one)")),
        control=Control(label="MTU", name="mtu", group="fabric", place=8, empty="its usual", tip="Packet size of the transport, such as 4096"),
    ),
    "hops": Field(
        whole=(0, 100), of_cluster=True, follows="transport", rests=_no_packets,
        option=CommandOption(read="number", help=_always("switches from NIC to NIC (default: as the transport says)")),
        control=Control(label="Switches", name="hops", group="fabric", place=9, empty="its usual", number="whole", tip="Switches from NIC to NIC"),
    ),
    "metres": Field(
        of_cluster=True, follows="transport", rests=_no_packets,
        option=CommandOption(read="fraction", help=_always("cable from NIC to NIC (default: as the transport says)")),
        control=Control(label="Cable, m", name="metres", group="fabric", place=10, empty="its usual", number="fraction", tip="Metres of cable from NIC to NIC"),
    ),
    "message_bytes": Field(
        size=True, whole=(1, MAX_BYTES), never_none=True, title="Message", page_word="message",
        option=CommandOption(
            name="--message", metavar="SIZE",
            help=_always("bytes of the whole buffer, of an all-to-all what a rank sends to all, such as '64 MiB' (default: 64 MiB)"),
        ),
    ),
    "slice_bytes": Field(
        size=True, whole=(1, MAX_BYTES), may_be_auto=True,
        option=CommandOption(
            name="--slice", metavar="SIZE", read="slice size", help=_always("slice of a transfer; 'none': transfers go whole"),
        ),
        control=Control(
            label="Slice", name="slice", place=20, empty=AUTO, usual=AUTO, tip="Largest slice that a transfer is cut into, such as 1 MiB",
        ),
    ),
    "window": Field(
        whole=(1, 2**16), option=CommandOption(read="number", help=_always("slices in flight per device and direction")),
        control=Control(
            label="Window", name="window", place=21, empty=AUTO, number="whole",
            tip="Slices in flight per device and direction; bounce buffers per side",
        ),
    ),
    "dependency": Field(
        words=DEPENDENCIES, option=CommandOption(help=_listed(lambda: DEPENDENCIES, " (default: auto)")),
        control=Control(
            label="Forwarding", name="dependency", place=22,
            options=lambda: (("slice by slice", AUTO), ("step by step", "step")),
            tip="Whether a slice goes on as soon as it is there, or when the whole step is over",
        ),
    ),
    "iterations": Field(
        whole=(1, MAX_ITERATIONS), never_none=True, may_be_auto=True, rests=_unregistered,
        option=CommandOption(read="number", help=_always("how often the collective runs; the last run is reported")),
        control=Control(
            label="Shown", name="call", group="registration", place=19, options=lambda: (("warm call", AUTO), ("first call, cold", 1)),
            tip="A warm call, as benchmarks report it, or the first one, which registers everything",
        ),
    ),
    "buffers": Field(
        whole=(1, MAX_ITERATIONS), never_none=True,
        option=CommandOption(read="number", help=_always("buffer sets that the iterations cycle through (default: 1)")),
    ),
    "cache_regions": Field(
        whole=(0, 2**24), rests=lambda s: FIELDS["registration"].rests(s) or s.registration == "pool",
        option=CommandOption(read="number", help=_always("most regions in the registration cache of a NIC; 0: no cache")),
        control=Control(
            label="Cache regions", name="regions", group="registration", place=16, empty="no limit", number="whole",
            tip="Most regions that the cache of a NIC keeps; 0: none",
        ),
    ),
    "cache_bytes": Field(
        size=True, whole=(0, 2**50), option=CommandOption(metavar="SIZE", help=_always("most bytes in the registration cache of a NIC")),
    ),
    "page_bytes": Field(
        size=True, among=PAGES, rests=_unregistered,
        option=CommandOption(name="--page", metavar="SIZE", help=_always("page of registered memory: '4 KiB', '64 KiB' or '2 MiB'")),
        control=Control(
            label="Page", name="page", group="registration", place=17, options=lambda: [(say_bytes(n), n) for n in PAGES],
            tip="Page of registered memory: registering costs per page",
        ),
    ),
    "prefetch": Field(
        switch=True,
        option=CommandOption(
            metavar="yes|no", read="switch", help=_always("register a transfer's memory behind the slices of the one before (default: no)"),
        ),
    ),
    "memory": Field(
        words=MEMORIES,
        option=CommandOption(help=_always("device, or host: point to point or all-to-all between buffers in host memory (default: device)")),
    ),
    "placement": Field(
        types=(tuple, list, Mapping), for_each_node=True, of_cluster=True, rests=lambda s: s.fabric.uniform,
        option=CommandOption(help=_listed(lambda: PLACEMENTS, " (default: contiguous)", "where nodes stand in a leaf-spine fabric: ")),
        control=Control(
            label="Placement", name="placement", group="fabric", place=11, options=lambda: [(name, name) for name in PLACEMENTS],
            tip="Which node stands where",
        ),
    ),
    **DISTURBANCES,
    "memlock_bytes": Field(
        size=True, whole=(0, 2**50), rests=_unregistered,
        option=CommandOption(name="--memlock", metavar="SIZE", help=_always("locked-memory limit per NIC")),
        control=Control(
            label="Locked-memory limit", name="memlock", group="registration", place=18, empty="no limit",
            tip="Most memory that may be locked per NIC (ulimit -l)",
        ),
    ),
    # no option: it is there to compare with SimGrid's MPI
    "envelope_bytes": Field(size=True, whole=(0, 2**20), never_none=True),
}  # fmt: skip
"""Every field of a scenario, by name."""


def set_back_with(name: str) -> list[str]:
    """Return the fields that go back to their defaults when a field changes.

    >>> set_back_with("transport")
    ['mtu', 'hops', 'metres']
    """
    of_cluster = name == "cluster"
    return [
        other
        for other, record in FIELDS.items()
        if (of_cluster and record.of_cluster) or record.follows == name
    ]
