"""What a check is, what it saw, and what that makes of it."""

# The doctor's *fail* means blocked. A check that only makes Peer Direct slower is a *warn*. So the verdict
# needs no judgement of its own: *no* if a check fails, *cannot tell* if one that could fail is unknown,
# else *yes*. A check knows what the host needs: libfabric is not required where NCCL speaks verbs,
# PCI_P2PDMA is not for NVIDIA, a new kernel is not with nvidia_peermem. libfabric is asked in a process of
# its own, because providers hang and crash while they look for hardware.

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from peerlab.base.textfile import printable
from peerlab.features.doctor.host import Host
from peerlab.model.paths import PATHS

PASS, WARN, FAIL, UNKNOWN = "pass", "warn", "fail", "unknown"
"""A *fail* blocks a path; a *warn* leaves it open, but slower or fragile; *unknown* is what could not be read."""

DEVICE_MEMORY = tuple(path for path, record in PATHS.items() if record.uses_device_memory)
"""What is blocked where only the way into device memory is."""
ALL_RDMA = tuple(path for path, record in PATHS.items() if record.is_rdma)
"""What is blocked where there is no RDMA at all."""

_LONGEST = 400


@dataclass(frozen=True)
class Seen:
    """What a check saw."""

    status: str
    """``pass``, ``warn``, ``fail`` or ``unknown``."""
    found: str
    """What was read, verbatim and short, so that it reads as a reason."""
    cause: str = ""
    """The reason in fewer words; empty where what was found is one."""
    mend: str = ""
    """How to mend just this; empty where the check's own advice fits."""
    source: str = ""
    """Who says just this; empty where the check's own source does."""
    blocks: tuple[str, ...] | None = None
    """Paths that the finding blocks; None: those of the check."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing to look at."""

    id: str
    """Short name, for ``--only``."""
    title: str
    """What is looked at, in plain words."""
    where: str
    """Files and commands that are read."""
    rule: str
    """What must be so."""
    why: str
    """Why it matters."""
    mend: str
    """What to do if it is not so."""
    source: str
    """Source of the rule; an assumption says that it is one."""
    look: Callable[[Host], Seen]
    """Looks; raises nothing."""
    blocks: tuple[str, ...] = ()
    """Paths that a fail blocks, by their names in a scenario; empty where it cannot fail."""
    group: str = "peer direct"
    """What it is about."""

    def examine(self, host: Host) -> "Finding":
        """Return what this check finds on a host."""
        seen = self.look(host)
        blocks = self.blocks if seen.blocks is None else seen.blocks
        return Finding(
            check=self,
            status=seen.status,
            found=short(seen.found),
            cause=short(seen.cause or seen.found),
            mend=seen.mend or self.mend,
            source=seen.source or self.source,
            # Where a check passes or only warns, nothing is blocked, whatever it could block.
            blocks=blocks if seen.status in (FAIL, UNKNOWN) else (),
        )


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check found on a host."""

    check: Check
    """The check."""
    status: str
    """``pass``, ``warn``, ``fail`` or ``unknown``."""
    found: str
    """What was read, at most 400 characters."""
    cause: str
    """The reason that an answer names, which what was read explains."""
    mend: str
    """How to mend it."""
    source: str
    """Who says so."""
    blocks: tuple[str, ...]
    """Paths that this blocks, or may block where the status is ``unknown``."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything that it says, as JSON values."""
        check = self.check
        return {
            "id": check.id,
            "title": check.title,
            "group": check.group,
            "status": self.status,
            "found": self.found,
            "where": check.where,
            "rule": check.rule,
            "why": check.why,
            "mend": self.mend,
            "blocks": list(self.blocks),
            "source": self.source,
        }


def short(text: str) -> str:
    r"""Return text on one line, without what a terminal would act on, cut at 400 characters.

    >>> short("4:  ACTIVE\x1b[31m\n")
    '4: ACTIVE[31m'
    """
    clean = printable(" ".join(text.split()))
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 3] + "..."


def listed(texts: Iterable[str], most: int = 4) -> str:
    """Return a few things, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    texts = list(texts)
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")
