"""Fabrics by formula: what follows without simulating it. Times in seconds, rates in bytes per second, unless a name says otherwise.

Storage, GPU-initiated sends, equal paths and the power of a waiting node exist here alone; they are not simulated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, prod

# Of 365.25 days.
HOURS_A_YEAR = 8766


def ring(nodes: int, latency: float, nbytes: float, rate: float, goodput: float = 1.0) -> float:
    """Return how long a blocking ring AllReduce of whole chunks takes: ``2 (N - 1) (L + S / (N C g))``."""
    return 2 * (nodes - 1) * (latency + nbytes / (nodes * rate * goodput))


def sharp(latency: float, nbytes: float, rate: float, goodput: float = 1.0) -> float:
    """Return how long an AllReduce takes that the switches add up: once up the tree, once down, ``2 L + S / (C g)``.

    Up and down overlap, so a node's bytes cross its link once each way: up to ``2 (N - 1) / N`` times as fast as a ring.

    >>> round(sharp(5e-6, 64 * 2**20, 12.5e9) * 1e3, 3)
    5.379
    """
    return 2 * latency + nbytes / (rate * goodput)


def nvlink_sharp_algbw(devices: int, rate: float) -> float:
    """Return the algbw of an AllReduce inside a node that NVSwitch adds up: ``B n / (n + 1)``; busbw is ``2 (n - 1) / n`` times that.

    `rate` is fitted: 308.5 GB/s meets the four points that are published for 8 H100 (NVIDIA/nccl issue 1455) within 0.5 %.

    >>> round(nvlink_sharp_algbw(8, 308.5), 1)
    274.2
    """
    return rate * devices / (devices + 1)


def message_rate(
    per_message: float, wire_bytes: float, rate: float, per_thread: float = float("inf"), threads: int = 1
) -> float:
    """Return messages a second: as many as the NIC counts, the wire carries, and the threads that post them can."""
    # Without a cost per message nothing is counted: the wire or the threads limit.
    counted = 1 / per_message if per_message else float("inf")
    return min(counted, rate / wire_bytes, threads * per_thread)


# ---- equal paths ------------------------------------------------------------------------------------------------


def _shapes(flows: int, paths: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield how many flows lie on each path, in falling order, with the probability that they do."""
    for loads in _falling(flows, paths, flows):
        # In how many ways flows can be parted so, and on how many orders of the paths; of all that there are.
        ways = factorial(flows) / prod(map(factorial, loads))
        orders = factorial(paths) / prod(factorial(loads.count(load)) for load in set(loads))
        yield loads, ways * orders / paths**flows


def _falling(flows: int, paths: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to part flows over paths, in falling order, none with more than `most`; 231 for 16 over 16."""
    if paths == 0:
        yield ()
        return
    # In falling order the first has an even share at least, so less is not tried.
    for first in range(min(flows, most), -(-flows // paths) - 1, -1):
        for rest in _falling(flows - first, paths - 1, first):
            yield (first, *rest)


def most_loaded(flows: int, paths: int) -> float:
    """Return how many times an even share the most loaded of equal paths carries, on average over ECMP's hashes.

    >>> most_loaded(4, 4)
    2.125
    """
    # Over an even share: 2 means that the fullest path has twice its part.
    return sum(loads[0] * share for loads, share in _shapes(flows, paths)) / (flows / paths)


def no_collision(flows: int, paths: int) -> float:
    """Return how likely it is that no two flows meet on one of so many equal paths, 0 to 1.

    >>> no_collision(4, 4)
    0.09375
    """
    return sum(share for loads, share in _shapes(flows, paths) if loads[0] <= 1)


# ---- storage and GPU-initiated sends ----------------------------------------------------------------------------


@dataclass(frozen=True)
class StorageWay:
    """How fast a device is filled from drives."""

    rate: float
    """In the unit of what was given."""
    limit: str
    """What limits it, in words."""


# The least of them limits, and of equal ones the first in the order given.
def _slowest(parts: dict[str, float]) -> StorageWay:
    limit = min(parts, key=lambda part: parts[part])
    return StorageWay(parts[limit], limit)


def storage_bounced(
    drives: float, uplink: float, dram: float, copy: float, *, shares_uplink: bool = True
) -> StorageWay:
    """Return how fast drives fill a device through host memory: the least of drives, uplink, half of host memory and the copy.

    Host memory takes a byte in and gives it out. Of the uplink half is counted (`shares_uplink`), as where as much goes the other way
    for others; a stream that has it alone crosses it once each way.
    """
    across = {"the PCIe uplink": uplink / 2 if shares_uplink else uplink}
    return _slowest({"the drives": drives, **across, "host memory": dram / 2, "the copy": copy})


def storage_direct(drives: float, peer_write: float, device_link: float) -> StorageWay:
    """Return how fast drives fill a device past host memory: the least of drives, peer writes and the device's link.

    It is slower than bouncing where the CPU forwards peer writes slower than it copies: 7.1 against 9.4 GB/s on a Xeon E5-2650 v4.
    """
    return _slowest({"the drives": drives, "peer writes": peer_write, "the device's PCIe link": device_link})


def initiated(latency: float, per_message: float, messages: int) -> float:
    """Return how long so many small messages take that one side starts: the first's latency, and a message's cost for each of the others."""
    return latency + (messages - 1) * per_message


def messages_to_pay(
    latency: float, per_message: float, other_latency: float, other_per_message: float
) -> float:
    """Return from how many messages on the other side is sooner through: it starts later, but each costs it less; infinite where never."""
    if other_per_message >= per_message:
        # It costs as much for each and starts earlier: then it is ahead from the first one on.
        alike = other_per_message == per_message and other_latency < latency
        return 1.0 if alike else float("inf")
    return max(1.0, 1 + (other_latency - latency) / (per_message - other_per_message))


# ---- waiting ----------------------------------------------------------------------------------------------------


def waiting_power(busy: float, average: float, efficiency: float) -> float:
    """Return what a node draws while it waits, from its power alone, that of the same work on many nodes, and their efficiency.

    ``average = e busy + (1 - e) waiting``: all lost scaling is taken for waiting, an approximation.
    """
    if not 0 <= efficiency < 1:
        raise ValueError(f"an efficiency of {efficiency} leaves no waiting; give 0 or more, below 1")
    return (average - efficiency * busy) / (1 - efficiency)


def waiting_year(
    exposed: float,
    step: float,
    nodes: int,
    waiting_watts: float,
    price_per_kwh: float,
    *,
    used: float = 1.0,
) -> tuple[float, float]:
    """Return what the exposed time of a step costs in a year, on so many nodes: kWh, and their price.

    Parameters
    ----------
    exposed, step:
        Seconds of a step that nodes wait, and of the whole step.
    waiting_watts, price_per_kwh:
        What a node draws meanwhile, and what a kWh costs: the user's; there is no default.
    used:
        Share of the year that the cluster trains.
    """
    drawn = exposed / step * nodes * waiting_watts / 1000 * HOURS_A_YEAR * used
    return drawn, drawn * price_per_kwh


def waiting_hours(
    exposed: float, step: float, nodes: int, price_per_hour: float, *, used: float = 1.0
) -> float:
    """Return what the same waiting costs in a year of nodes that are rented by the hour."""
    return exposed / step * nodes * price_per_hour * HOURS_A_YEAR * used
