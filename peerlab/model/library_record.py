"""What a communication library is to a scenario: its law, its versions, what it forbids, what is not solved, and its figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from peerlab.errors import ScenarioError
from peerlab.model.hardware import Figure

NONE = "none"
"""No library: topology alone, as on the bare fabrics."""


@dataclass(frozen=True, kw_only=True)
class LibraryKind:
    """One kind of law: how a library walks a topology."""

    collectives: tuple[str, ...]
    """The collectives of which the law says what the library adds to them; of others topology alone is simulated."""
    figures: tuple[str, ...] = ()
    """Names of the figures that a library of this kind needs."""
    chooses: bool = False
    """Whether it chooses algorithm and protocol for each message between nodes, as NCCL does; it needs constants for that."""
    schedule: str = ""
    """What each rail does between the nodes where the algorithm is ``auto``, in slices of the library's own size; empty: as without a library."""
    by_message: bool = False
    """Whether it costs something for each message, and nothing else."""


NCCL = "nccl"
"""The kind of NCCL, RCCL and their like."""
KINDS: dict[str, LibraryKind] = {
    NCCL: LibraryKind(collectives=("allreduce",), figures=("hop", "message"), chooses=True),
    "pairwise": LibraryKind(
        collectives=("allreduce", "allgather", "reduce-scatter", "alltoall"),
        figures=("hop", "message", "overlap_lost"),
        schedule="pairwise",
    ),
    "messages": LibraryKind(collectives=("point-to-point", "alltoall"), by_message=True),
}
"""Laws: NCCL's own choice of trees and rings; pairwise exchanges; a cost for each message point to point."""

MAKERS = ("NVIDIA", "AMD", "Habana")
"""Makers of accelerators that have libraries of their own."""


@dataclass(frozen=True)
class Forbidden:
    """Protocols that a library does not use, and when."""

    protocols: tuple[str, ...]
    when: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Unsolved:
    """What the law of a library does not meet, and where."""

    says: str
    """A sentence."""
    nodes: int = 0
    """From so many nodes on."""
    from_bytes: int = 0
    to_bytes: int | None = None
    """Sizes of a message; None: all larger ones."""
    algorithm: str = ""
    """Where this algorithm runs; empty: with any."""
    collective: str = ""
    """Of this collective; empty: of all."""

    def concerns(self, nodes: int, size: int, algorithm: str, collective: str) -> bool:
        """Return whether a message of so many bytes between so many nodes meets it."""
        last = size if self.to_bytes is None else self.to_bytes
        here = nodes >= self.nodes and self.from_bytes <= size <= last
        return here and self.algorithm in ("", algorithm) and self.collective in ("", collective)


@dataclass(frozen=True, kw_only=True)
class LibraryWords:
    """What a library does with a message, in parts that each place joins as it has room.

    >>> words = LibraryWords(who="NCCL 2.19 over EFA", does=("tree", "Simple"), chunk="128 KiB")
    >>> str(words), words.short
    ('NCCL 2.19 over EFA: tree, Simple, chunks of 128 KiB', 'tree, Simple, 128 KiB')
    """

    who: str = ""
    """Library, version and transport; empty where its law says nothing here."""
    does: tuple[str, ...] = ()
    """Algorithm, protocol and how it cuts a transfer, as far as it decides them."""
    chunk: str = ""
    """Size of the chunks that it chooses; empty where it chooses none."""
    alone: str = ""
    """What is simulated without it, where its law says nothing."""
    because: str = ""
    """Why."""

    @property
    def what(self) -> str:
        """What it does, without who it is."""
        return ", ".join((*self.does, *([f"chunks of {self.chunk}"] if self.chunk else ())))

    @property
    def short(self) -> str:
        """The same in few words."""
        if self.chunk:
            return ", ".join((*self.does, self.chunk))
        return f"{self.who.split()[0]}: {self.what}" if self.does else self.who or self.alone

    def __str__(self) -> str:
        if self.alone:
            return f"{self.alone}, because {self.because}"
        return f"{self.who}: {self.what}" if self.does else self.who


@dataclass(frozen=True, kw_only=True)
class Library:
    """One library over one transport."""

    name: str
    title: str
    kind: str
    """One of `KINDS`."""
    versions: tuple[str, str]
    """The first and the last version whose law is known."""
    version: str
    """The one that is meant where nobody says it."""
    instead: Mapping[str, str]
    """By data path the library that serves it in place of this one."""
    mpi: str
    """The library with which MPI programs use the same transport; empty where none is known."""
    maker: str
    """Maker of the accelerators that it runs on; empty: it runs on all."""
    forbids: tuple[Forbidden, ...]
    unsolved: tuple[Unsolved, ...]
    law: Mapping[str, Any]
    """Constants of the library's source, by name, in the units of its file."""
    figures: Mapping[str, Figure]
    """Figures that a machine may have otherwise, by key."""

    def __hash__(self) -> int:
        """Return the hash of its name: libraries are few."""
        return hash(self.name)

    @property
    def kind_record(self) -> LibraryKind:
        """What is known of its kind of law."""
        return KINDS[self.kind]

    @property
    def transport(self) -> str:
        """What it sends over, by its name: of ``nccl-efa`` that is ``efa``."""
        return self.name.partition("-")[2]

    def number(self, version: str) -> int:
        """Return a version as a number, such as 219 for 2.19.

        Raises
        ------
        ScenarioError
            If it is no version, or none that the library's file knows.
        """
        first, last = (version_number(one) for one in self.versions)
        found = version_number(version) if isinstance(version, str) else -1  # 2.2 may be 2.2 or 2.20
        if found < 0:
            raise ScenarioError(
                "library_version", f"{version!r} is no version; give one as text, such as '{self.version}'"
            )
        if not first <= found <= last:
            older = found < first
            why = (
                "before it the library is another one, and nothing is promised"
                if older
                else "later ones are not known"
            )
            raise ScenarioError(
                "library_version",
                f"{self.title} is known from {self.versions[0]} to {self.versions[1]}; {why}",
            )
        return found


def version_number(text: object) -> int:
    """Return a version as a number; -1 where it is none."""
    parts = str(text).strip().split(".")
    if len(parts) < 2 or not all(part.isdecimal() and len(part) < 4 for part in parts[:3]):
        return -1
    return 100 * int(parts[0]) + min(int(parts[1]), 99)
