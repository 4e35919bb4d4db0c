"""Which variables switch a data path off and on, and how tools and launchers are called: ``data/switches.toml``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from peerlab.base.data_file import read_facts


@dataclass(frozen=True)
class PathSwitch:
    """Variables that choose between two data paths."""

    name: str
    libraries: tuple[str, ...]
    tools: tuple[str, ...]
    off: Mapping[str, str]
    on: Mapping[str, str]
    between: tuple[str, str]
    """The path while it is off, and while it is on."""
    needs: str
    """What a log has to say where it is on; empty: nothing is known."""
    source: str


@dataclass(frozen=True)
class ToolCall:
    """How a benchmark is called."""

    name: str
    command: str
    logs: Mapping[str, str]
    """Variables with which its log tells the path."""
    source: str
    launch: Mapping[str, str] = field(default_factory=dict)
    """By launcher: how it is started where that is not the launcher's usual way."""


@dataclass(frozen=True)
class Launcher:
    """How a launcher starts a benchmark on several nodes."""

    name: str
    command: str
    variables: str
    """How one variable is handed on."""


@dataclass(frozen=True)
class Switching:
    """Everything in the file."""

    switches: tuple[PathSwitch, ...]
    tools: Mapping[str, ToolCall]
    launchers: Mapping[str, Launcher]


@cache
def switching() -> Switching:
    """Return what the file says.

    Raises
    ------
    HardwareError
        If it is damaged.
    """
    return read_facts("switches.toml", "file of switches", _read)


def _read(document: dict[str, Any]) -> Switching:
    # tuples: a list could be changed in a record that everybody shares
    lists = ("libraries", "tools", "between")
    entries: list[dict[str, Any]] = [
        {key: tuple(value) if key in lists else value for key, value in entry.items()}
        for entry in document["switch"]
    ]
    switches = [PathSwitch(**entry) for entry in entries]
    return Switching(
        tuple(switches),
        {tool["name"]: ToolCall(**tool) for tool in document["tool"]},
        {launcher["name"]: Launcher(**launcher) for launcher in document["launcher"]},
    )
