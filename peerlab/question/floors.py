"""How far below its band a healthy run may lie: the factor of a floor, by what carries the bytes (``data/floors.toml``)."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from peerlab.base.data_file import read_facts
from peerlab.base.units import say_percent
from peerlab.question.scenario import Scenario

FILE = "floors.toml"
SHARE = 0.99
"""Share of healthy times that lie above the floor."""


@dataclass(frozen=True, kw_only=True)
class FloorFactor:
    """By how much a healthy time may miss the slow end of the band of its figures."""

    transports: tuple[str, ...]
    """What carries the bytes, by the words of `Library.transport`; ``sockets`` is the kernel's TCP."""
    times: float
    """Factor of 1 or more."""
    sizes: int
    """Measured times that it was derived from."""
    machines: tuple[str, ...]
    """Clusters of these times, each left out of the fit in turn."""
    promised: bool
    """Whether accuracy is promised for such machines."""

    @property
    def says(self) -> str:
        """Where it is from, as a clause.

        >>> FloorFactor(transports=("efa",), times=1.2, sizes=58, machines=("p5", "p4d"), promised=True).says
        '99 % of 58 times measured on p5, p4d, each left out of the fit, lay above'
        """
        return say_percent(SHARE) + (
            f" of {self.sizes} times measured on {', '.join(self.machines)}, each left out of the fit, lay above"
        )


def _read(document: dict[str, Any]) -> tuple[FloorFactor, ...]:
    return tuple(
        FloorFactor(
            **{**entry, "transports": tuple(entry["transports"]), "machines": tuple(entry["machines"])}
        )
        for entry in document["floor"]
    )


@cache
def floor_factors() -> tuple[FloorFactor, ...]:
    """Return every row of ``data/floors.toml``."""
    return read_facts(FILE, "file of floors", _read)


def floor_factor(scenario: Scenario) -> FloorFactor | None:
    """Return the factor of a scenario's floor; None where no log says how far a healthy run may be off.

    >>> floor_factor(Scenario(cluster="p5", nodes=2)).times > 1, floor_factor(Scenario(cluster="dl1")) is None
    (True, True)
    """
    carrier = carried_by(scenario)
    return next((factor for factor in floor_factors() if carrier in factor.transports), None)


def carried_by(scenario: Scenario) -> str:
    """Return what carries the bytes of an exchange between nodes; empty where no law that was held against logs foretells it."""
    # Kernel TCP is the machine's whichever library sends, so its logs hold where no law chooses, too.
    if scenario.domains > 1 and scenario.collective_record.passes == 2 and scenario.data_path.uses_kernel_tcp:
        return "sockets"
    library = scenario.used_library
    return library.transport if library and scenario.choice else ""
