"""What a communication library is to a scenario: its law, its versions, what it forbids, what is not solved, and its figures."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from peerlab.base.errors import ScenarioError
from peerlab.model.hardware import Figure

NONE = "none"
"""No library: topology alone, as on the bare fabrics."""
NCCL = "nccl"
"""The kind of NCCL, RCCL and their like."""
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
    domain: str = ""
    """``within``: inside one NVLink domain of several nodes; ``between``: between several; empty: wherever it is."""
    takes: tuple[float, float] = (1.0, 1.0)
    """How many times as long as simulated it may take, from and to; every band holds it."""
    before: str = ""
    """Of versions before this one; empty: of all."""
    when: str = ""
    """``staged``: where slices stage in host memory; ``from Hopper``: on H100 and later; empty: always."""
    promised: bool = True
    """Whether the accuracy that is promised of the library is promised there, too."""

    @property
    def sentence(self) -> str:
        """What it says, and whether it takes a promise away."""
        return self.says if self.promised else f"{self.says} No accuracy is promised there."

    def concerns(
        self,
        nodes: int,
        size: int,
        algorithm: str,
        collective: str,
        version: int,
        domain: str = "",
        conditions: Collection[str] = (),
    ) -> bool:
        """Return whether a message of so many bytes between so many nodes, or NVLink domains, meets it.

        `version` is as `Library.number` returns it, `conditions` are those that `when` may name and that hold.
        """
        last = size if self.to_bytes is None else self.to_bytes
        here = nodes >= self.nodes and self.from_bytes <= size <= last and self.domain in ("", domain)
        here = here and not (self.before and version >= version_number(self.before))
        here = here and (not self.when or self.when in conditions)
        return here and self.algorithm in ("", algorithm) and self.collective in ("", collective)


@dataclass(frozen=True, kw_only=True)
class Since:
    """What a library has otherwise from one version on."""

    version: str
    figures: Mapping[str, Figure]
    """Its figures from there on, by key."""
    without: tuple[str, ...] = ()
    """Keys of figures of a machine that hold no longer, such as a copy that the library made."""


@dataclass(frozen=True, kw_only=True)
class Library:
    """One library over one transport."""

    name: str
    title: str
    kind: str
    """Of its law: one of `peerlab.library.library_laws.KINDS`."""
    versions: tuple[str, str]
    """The first and the last version whose law is known."""
    version: str
    """The version that counts where a question names none."""
    promised: str
    """The first version whose accuracy is promised."""
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
    since: tuple[Since, ...] = ()
    """What is otherwise from later versions on, the oldest first."""
    short: str = ""
    """`title` where room is short; empty: `title`."""

    def figures_of(self, version: int) -> dict[str, Figure]:
        """Return the figures of a version, which is as `number` returns it."""
        entries = dict(self.figures)
        for later in self._until(version):
            entries |= later.figures
        return entries

    def dropped_by(self, version: int) -> set[str]:
        """Return the keys of figures of a machine that do not hold with a version."""
        return {key for later in self._until(version) for key in later.without}

    def _until(self, version: int) -> list[Since]:
        return [later for later in self.since if version_number(later.version) <= version]

    # The hash that a frozen dataclass makes would fail: its mappings have none.
    def __hash__(self) -> int:
        """Return the hash of its name: libraries are few."""
        return hash(self.name)

    @property
    def transport(self) -> str:
        """Transport of the library, by its name: that of ``nccl-efa`` is ``efa``."""
        return self.name.partition("-")[2]

    def number_of(self, version: str) -> int:
        """Return the number of a version as `number` does; of an empty one, that of the version which is meant where nobody says it."""
        return self.number(version or self.version)

    def number(self, version: str) -> int:
        """Return a version as a number, such as 219 for 2.19.

        Raises
        ------
        ScenarioError
            If it is no version, or none that the library's file knows.
        """
        first, last = (version_number(bound) for bound in self.versions)
        value = version_number(version) if isinstance(version, str) else -1  # 2.2 may be 2.2 or 2.20
        if value < 0:
            raise ScenarioError(
                "library_version", f"{version!r} is no version; give one as text, such as '{self.version}'"
            )
        if not first <= value <= last:
            older = value < first
            why = (
                "before it the library is another one, and nothing is promised"
                if older
                else "later ones are not known"
            )
            raise ScenarioError(
                "library_version",
                f"{self.title} is known from {self.versions[0]} to {self.versions[1]}; {why}",
            )
        return value


def version_number(text: object) -> int:
    """Return a version as a number; -1 where it is none."""
    parts = str(text).strip().split(".")
    if len(parts) < 2 or not all(part.isdecimal() and len(part) < 4 for part in parts[:3]):
        return -1
    # a minor version above 99 must not become the next major one
    return 100 * int(parts[0]) + min(int(parts[1]), 99)
