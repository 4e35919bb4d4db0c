"""The options that are fields of a scenario, for every command that asks about scenarios."""

from collections.abc import Callable
from typing import Any

from peerlab.cli.terminal_text import fraction, number, slice_size, slow_node, switch
from peerlab.model.algorithms import ALGORITHMS
from peerlab.model.checks import DEPENDENCIES, REGISTRATIONS
from peerlab.model.collective import COLLECTIVES
from peerlab.model.library_files import known_libraries
from peerlab.model.nccl_law import PROTOCOLS
from peerlab.model.nic_wiring import PLACES
from peerlab.model.paths import PATHS
from peerlab.model.placement import PLACEMENTS
from peerlab.model.transport_files import known_transports


# Long, because it is a table: one option after another, in the order in which --help shows them.
def add_fields(add: Callable[..., Any], *, path: str, registration: str) -> None:
    """Add the options; `add` is a parser's ``add_argument`` or stands for it, the others say what the defaults are."""
    add("--cluster", help="a known cluster, or the path of a .toml file of your own (default: dl1)")
    add("--nodes", type=number, help="servers that take part (default: 8)")
    add("--path", help=f"{', '.join(PATHS)} (default: {path})")
    add("--registration", help=f"{', '.join(REGISTRATIONS)} (default: {registration})")
    add("--collective", help=f"{', '.join(COLLECTIVES)} (default: allreduce)")
    add("--algorithm", help=f"{', '.join(ALGORITHMS)} (default: auto)")
    add(
        "--library",
        help=f"{', '.join(known_libraries())}, or a .toml file of your own (default: the cluster's)",
    )
    add("--library-version", metavar="VERSION", help="its version, such as 2.19 (default: the cluster's)")
    add("--protocol", help=f"auto, {', '.join(PROTOCOLS)}: the library's protocol (default: auto)")
    add("--wiring", help=f"where the NICs hang: auto, {', '.join(PLACES)} (default: as the cluster says)")
    add("--acs-redirect", metavar="on|off", help="whether switches send peer traffic up to the CPU first")
    add(
        "--transport",
        help=f"{', '.join(known_transports())}: count its headers (default: the cluster's, if it names one)",
    )
    add("--mtu", metavar="SIZE", help="its packet size, such as 4096 (default: the transport's usual one)")
    add("--hops", type=number, help="switches from NIC to NIC (default: as the transport says)")
    add("--metres", type=fraction, help="cable from NIC to NIC (default: as the transport says)")
    add(
        "--message",
        dest="message_bytes",
        metavar="SIZE",
        help="bytes of the whole buffer, of an all-to-all what a rank sends to all, such as '64 MiB' (default: 64 MiB)",
    )
    add(
        "--slice",
        dest="slice_bytes",
        metavar="SIZE",
        type=slice_size,
        help="slice of a transfer; 'none': transfers go whole",
    )
    add("--window", type=number, help="slices in flight per device and direction")
    add("--dependency", help=f"{', '.join(DEPENDENCIES)} (default: auto)")
    add("--iterations", type=number, help="how often the collective runs; the last run is reported")
    add("--buffers", type=number, help="buffer sets that the iterations cycle through (default: 1)")
    add("--cache-regions", type=number, help="most regions in the registration cache of a NIC; 0: no cache")
    add("--cache-bytes", metavar="SIZE", help="most bytes in the registration cache of a NIC")
    add(
        "--page",
        dest="page_bytes",
        metavar="SIZE",
        help="page of registered memory: '4 KiB', '64 KiB' or '2 MiB'",
    )
    add(
        "--prefetch",
        type=switch,
        metavar="yes|no",
        help="register a transfer's memory behind the slices of the one before (default: no)",
    )
    add(
        "--memory",
        help="device, or host: point to point or all-to-all between buffers in host memory (default: device)",
    )
    add(
        "--placement",
        help=f"where nodes stand in a leaf-spine fabric: {', '.join(PLACEMENTS)} (default: contiguous)",
    )
    add(
        "--slow-node",
        dest="slow_nodes",
        type=slow_node,
        metavar="NODE:SHARE",
        help="a node whose NICs have this share of their rate, such as 4:0.5",
    )
    add(
        "--jitter",
        type=fraction,
        metavar="SIGMA",
        help="random service times: sigma of a factor of mean 1, such as 0.1",
    )
    add("--seed", type=number, help="seed of jitter and of a shuffled placement (default: 0)")
    add("--memlock", dest="memlock_bytes", metavar="SIZE", help="locked-memory limit per NIC")
