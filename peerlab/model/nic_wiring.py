"""How NICs are wired to the accelerators that they serve: where they hang, and whether ACS sends peer traffic up to the CPU."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Place:
    """One place where a NIC may hang."""

    title: str
    """What it is called, after *the NIC hangs* or in a list."""
    holds: str
    """The same as a sentence, after *if*."""
    distance: str
    """What nvidia-smi topo -m calls the distance to the accelerators."""
    over_cpu: bool = False
    """Whether what goes between NIC and accelerator crosses the CPU."""
    over_sockets: bool = False
    """Whether it crosses the link between two sockets too."""


ON, OFF = "on", "off"
"""Whether ACS redirect is, where a question says it."""
SWITCH, ROOT_PORT, SOCKET_SWITCH, OTHER_SOCKET = "switch", "root-port", "socket-switch", "other-socket"

PLACES = {
    SWITCH: Place(title="below the devices' switch", holds="each NIC hangs below the devices' switch", distance="PIX"),
    ROOT_PORT: Place(
        title="on a root port of its own",
        holds="each NIC has a root port of its own",
        distance="PHB",
        over_cpu=True,
    ),
    SOCKET_SWITCH: Place(
        title="below one switch per socket",
        holds="one PCIe switch joins all that a socket has",
        distance="PIX",
    ),
    OTHER_SOCKET: Place(
        title="at the other socket",
        holds="each NIC hangs at the other socket",
        distance="SYS",
        over_cpu=True,
        over_sockets=True,
    ),
}  # fmt: skip
"""Where a NIC may hang, by the word that a cluster file and a scenario have for it."""
ACS_REDIRECT = "ACS redirect is on"
"""What else may hold, after *if*: switches send what goes from card to card up to the CPU first."""
ASK = "`peerlab doctor` on one node tells (in a virtual machine `lspci -tv` hides the switches: ask the provider)"
"""How somebody finds out where a NIC hangs, as a sentence without its end, where a cluster's file does not say it."""


@dataclass(frozen=True, kw_only=True)
class OtherWiring:
    """Another way in which a cluster may be wired."""

    nic: str
    """Key of `PLACES`."""
    acs_redirect: bool = False
    """Whether ACS redirect is on."""
    possible: bool = True
    """Whether what is known leaves it open."""
    because: str = ""
    """Why it is possible, or why it is not."""

    @property
    def holds(self) -> str:
        """What holds then, after *if*."""
        return ACS_REDIRECT if self.acs_redirect else PLACES[self.nic].holds


@dataclass(frozen=True, kw_only=True)
class Wiring:
    """How the NICs of a cluster are wired, and how sure that is. It is read as a figure is: with source or assumption."""

    nic: str = SWITCH
    """Where NICs hang: key of `PLACES`."""
    acs_redirect: bool = False
    """Whether ACS redirect is on: what goes from card to card below one switch goes up to the CPU and down again."""
    source: str = ""
    """Where it was read."""
    assumption: str = ""
    """What is assumed about it; empty where a document or a look at the machine says it."""
    evidence: str = ""
    """What speaks for the assumption, at length."""
    suggests: str = ""
    """The same in a few words, before *suggests*."""
    check: str = ASK
    """How to find out, as a sentence without its end."""
    others: tuple[OtherWiring, ...] = ()
    """What else was thought of, possible or not."""

    # Where assumptions are listed the wiring stands among figures, so it has what they are asked for.
    key: ClassVar[str] = "wiring.nic"
    """Where a cluster file says it."""
    label: ClassVar[str] = "where the NICs hang"
    """Name for people."""
    range: ClassVar[None] = None
    """It has no range: it is so or not so."""

    @property
    def place(self) -> Place:
        """What is known of the place."""
        return PLACES[self.nic]

    @property
    def possible(self) -> tuple[OtherWiring, ...]:
        """The alternatives that what is known leaves open; none where nothing is assumed."""
        # where a source says how it is, what else was thought of is history
        return tuple(wiring for wiring in self.others if wiring.possible) if self.assumption else ()

    @property
    def named(self) -> str:
        """Its label with the key that finds it in the cluster's file."""
        return f"{self.label} ({self.key})"

    @property
    def redirected(self) -> bool:
        """Whether peer traffic makes a turn at the CPU that its place would spare it."""
        # what crosses the CPU anyway makes no further turn there
        return self.acs_redirect and not self.place.over_cpu

    def __str__(self) -> str:
        return self.place.title + (", ACS redirect on" if self.acs_redirect else "")
