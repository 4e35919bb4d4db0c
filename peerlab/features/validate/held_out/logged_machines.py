"""Machines whose logs a library's law is held against (``data/machines.toml``)."""

from dataclasses import dataclass

from peerlab.base.errors import ExpectationError
from peerlab.base.places import folder
from peerlab.base.textfile import read_toml


@dataclass(frozen=True, kw_only=True)
class LoggedMachine:
    """One machine and its log."""

    name: str
    records: str
    """Name of its table in ``data/measured``."""
    cluster: str
    library: str | None = None
    """Its library; None: the cluster's."""
    version: str | None = None
    fits: bool = True
    """Whether its log may fit constants for others."""
    promised: bool = True
    """Whether the accuracy is promised for such a machine."""
    other_path: str = ""
    """Name of the entry of the same machine over another path, if this is the second."""
    held_up: tuple[int, ...] = ()
    """From which size to which its log was held up, bytes; no healthy run is told by these."""
    own_range: bool = False
    """Whether a range of what is not solved was taken from this log: it lies inside that by construction, and counts for no coverage."""
    note: str = ""

    def was_held_up(self, size: int) -> bool:
        """Return whether its log was held up at a size, bytes."""
        return bool(self.held_up) and self.held_up[0] <= size <= self.held_up[1]


def load_machines() -> tuple[LoggedMachine, ...]:
    """Return the machines of ``data/machines.toml``."""
    text = (folder("data") / "machines.toml").read_text(encoding="utf-8")
    return tuple(
        LoggedMachine(**{**entry, "held_up": tuple(entry.get("held_up", ()))})
        for entry in read_toml(text, "machines.toml", ExpectationError)["machine"]
    )
