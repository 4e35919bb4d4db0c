"""What is known beforehand: weights of evidence, lines that tell the path, and how fast paths can be (data/diagnosis.toml)."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.base.places import folder
from peerlab.base.textfile import read_toml
from peerlab.base.units import say_unit
from peerlab.model.paths import IN_NODE, PATHS, PEER_DIRECT, RECEIVE_DIRECT


def explanations() -> dict[str, str]:
    """Return what a log may be explained by, in plain words: the data paths of real machines, or links inside one node."""
    real = {path: record.summary for path, record in PATHS.items() if not record.is_bare}
    return real | {IN_NODE: "links inside one node, or one NVLink domain: no NIC"}


@dataclass(frozen=True)
class Known:
    """From where to where a figure lies on any machine."""

    low: float
    high: float
    unit: str
    """Of `low` and `high`."""
    what: str
    """What it is a figure of."""
    source: str
    """Where its ends come from."""
    assumption: str = ""
    """What is assumed about it."""

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}{say_unit(self.unit)}"


@dataclass(frozen=True)
class Rule:
    """What a line of a log, or a setting, says about the path."""

    pattern: re.Pattern[str]
    says: str
    """What the line means: one sentence without a stop."""
    points: Mapping[str, float]
    """By path, how much likelier it becomes; below zero: less likely."""
    source: str
    guessed: bool
    """Whether it is no documented meaning."""
    beside: re.Pattern[str] | None
    """What has to stand in another line as well."""
    unless: re.Pattern[str] | None
    """What makes it mean nothing if it stands anywhere in the log."""
    elsewhere: bool
    """Whether it says that the log took none of the paths that are weighed."""
    ucx: bool
    """Whether it is a setting of UCX, which NCCL heeds with its UCX plug-in alone."""
    devices: re.Pattern[str] | None = None
    """What the names of all accelerators hold in logs of which it says something; None: in logs of any."""


@dataclass(frozen=True)
class DeviceLink:
    """What PCIe carries to accelerators of some names."""

    devices: re.Pattern[str]
    GBps: float
    """Per direction."""
    source: str
    staged_GBps: float | None = None  # noqa: N815
    """What a host of their time stages in its memory, per direction; None where hosts of several kinds have them."""
    host: str = ""
    """The memory of such a host in words."""


@dataclass(frozen=True)
class NextMeasurement:
    """What to measure next."""

    what: str
    """The question, or the part that is measured alone."""
    command: str
    """How, as it is typed; empty: no command alone does it."""
    tells: str
    """What the answer says."""


@dataclass(frozen=True)
class Advice:
    """When a check is worth making."""

    when: frozenset[str]
    """Paths, or ``cannot tell``, that came out."""
    when_clear: frozenset[str]
    """The same where the verdict is clear."""
    tools: frozenset[str]
    """For logs of which tools; empty: of all."""
    check: NextMeasurement


@dataclass(frozen=True)
class Deciding:
    """A fact that tells some paths apart."""

    between: frozenset[str]
    """Paths, two of which it tells apart."""
    tools: frozenset[str]
    """For logs of which tools; empty: of all."""
    fact: NextMeasurement


@dataclass(frozen=True)
class Knowledge:
    """Everything in the file."""

    strengths: Mapping[str, float]
    """Points of a piece of evidence, by name: natural logarithm of how many times likelier a path becomes."""
    leads: Mapping[str, float]
    """Points by which the first path must lead the second, by verdict, the surest first."""
    rules: tuple[Rule, ...]
    ranges: Mapping[str, Known]
    nics_GBps: tuple[float, ...]  # noqa: N815
    """Line rates of usual NICs, GB/s."""
    links: tuple[DeviceLink, ...]
    coherent: re.Pattern[str]
    """Names of accelerators that reach host memory by other links than PCIe."""
    checks: tuple["Advice", ...]
    deciding: tuple[Deciding, ...]
    """The first that fits is asked for."""

    def link_of(self, devices: Iterable[str]) -> DeviceLink | None:
        """Return what PCIe carries to accelerators of these names; None where that is not known."""
        names = list(devices)
        # all names: a log of two kinds of accelerators has no one link
        return next((link for link in self.links if names and all(map(link.devices.search, names))), None)

    def decides(self, tied: Iterable[str], tool: str, command: str) -> NextMeasurement | None:
        """Return the one fact that would tell apart the paths that are `tied`, with the log's own command in its place."""
        for deciding in self.deciding:
            # a fact that tells one of the tied paths from others decides nothing here
            if len(deciding.between & set(tied)) > 1 and (not deciding.tools or tool in deciding.tools):
                return replace(
                    deciding.fact, command=deciding.fact.command.replace("COMMAND", command or "COMMAND")
                )
        return None

    def checks_for(self, outcome: str, tool: str, *, clear: bool = False) -> tuple[NextMeasurement, ...]:
        """Return what to measure next when `outcome` (a path, or ``cannot tell``) came out for a log of `tool`.

        `clear`: nothing more needs to be asked about which path it is.
        """
        return tuple(
            check.check
            for check in self.checks
            if outcome in (check.when_clear if clear else check.when)
            and (not check.tools or tool in check.tools)
        )


@cache
def knowledge() -> Knowledge:
    """Return what data/diagnosis.toml says."""
    text = (folder("data") / "diagnosis.toml").read_text(encoding="utf-8")
    document = read_toml(text, "diagnosis.toml", RecordsError)
    # The file says how many times likelier; logarithms of that add up.
    strengths = {name: math.log(times) for name, times in document["strengths"].items()}
    return Knowledge(
        strengths=strengths,
        leads={name: math.log(document["verdicts"][name]) for name in ("clear", "probable")},
        rules=tuple(_rule(entry, strengths) for entry in document["line"]),
        ranges={name: Known(**entry) for name, entry in document["ranges"].items()},
        # bits in the file, as data sheets have them
        nics_GBps=tuple(gigabits / 8 for gigabits in document["nics"]["gigabits"]),
        links=tuple(
            DeviceLink(**{**entry, "devices": re.compile(entry["devices"])}) for entry in document["link"]
        ),
        coherent=re.compile(document["coherent"]["devices"]),
        checks=tuple(_advice(entry) for entry in document["check"]),
        deciding=tuple(_deciding(entry) for entry in document["decides"]),
    )


def _advice(entry: dict[str, Any]) -> Advice:
    # What is left is a `NextMeasurement`. The file is read once, so nobody misses what was taken.
    when = entry.pop("when")
    clear = entry.pop("when_clear", when)
    return Advice(
        frozenset(when), frozenset(clear), frozenset(entry.pop("tools", ())), NextMeasurement(**entry)
    )


def _deciding(entry: dict[str, Any]) -> Deciding:
    between, tools = frozenset(entry.pop("between")), frozenset(entry.pop("tools", ()))
    return Deciding(between, tools, NextMeasurement(**entry))


def _rule(entry: Mapping[str, Any], strengths: Mapping[str, float]) -> Rule:
    return Rule(
        pattern=re.compile(entry["pattern"]),
        says=entry["says"],
        points=_alike(
            {path: _points(strengths_of, strengths) for path, strengths_of in entry["for"].items()}
        ),
        source=entry["source"],
        guessed=entry.get("guessed", False),
        beside=re.compile(entry["beside"]) if "beside" in entry else None,
        unless=re.compile(entry["unless"]) if "unless" in entry else None,
        elsewhere=entry.get("elsewhere", False),
        ucx=entry.get("ucx", False),
        devices=re.compile(entry["devices"]) if "devices" in entry else None,
    )


def _alike(points: dict[str, float]) -> dict[str, float]:
    """Return points with those against a NIC that reaches device memory for the path on which it does so on one side, too."""
    # Only what speaks against it: a NIC that cannot reach device memory cannot on one side either.
    against = min(points.get(PEER_DIRECT, 0.0), 0.0)
    return points if RECEIVE_DIRECT in points or not against else points | {RECEIVE_DIRECT: against}


def _points(word: str, strengths: Mapping[str, float]) -> float:
    # in the file a minus stands for "against"
    name = word.removeprefix("-")
    return -strengths[name] if word != name else strengths[name]
