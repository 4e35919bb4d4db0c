"""A cluster file to fill in, with what this machine says about itself already there."""

import json
import textwrap
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from peerlab.base.errors import shell_word
from peerlab.base.textfile import printable
from peerlab.base.units import say_count
from peerlab.features.clusters.readings import Readings, carriers, readings
from peerlab.machine import Machine
from peerlab.model.guide import GUIDE, LIBRARY_TEXTS, OPTIONAL_TEXTS, TEXTS, TRANSPORT_TEXTS, Entry
from peerlab.model.paths import PATHS
from peerlab.model.required_figures import MAY_BE_LEFT_OUT, NEEDS_OF_SEVERAL, needed_by
from peerlab.question.write_cluster import quoted, write_new

_WIDTH = 100
_HEAD = """\
A cluster file for peerlab, drafted on {today}. Every node is taken as wired like this machine: {found}.
What it says about itself is filled in; look it over. For the rest take the leading "# " away and fill in value and \
source. Where nobody knows, write assumption = "..." and range = [low, high] in place of the source; the \
figures of other clusters may serve (peerlab clusters dl1). A "?" counts as missing.
What is still missing: peerlab clusters check {file}"""


def write_draft(path: Path, machine: Machine, today: date, *, force: bool = False) -> None:
    """Write a cluster file to fill in.

    Raises
    ------
    HardwareError
        If there is such a file already (unless `force`), or it cannot be written.
    """
    write_new(path, draft(machine, path.name, today), force=force)


def draft(machine: Machine, file: str, today: date) -> str:
    """Return the text of a cluster file to fill in; `file` is its name."""
    reading = readings(machine, today)
    file = printable(file)
    parts = [*_top(machine, file, today), *_paths(machine, today), ""]
    section = ""
    for key, entry in GUIDE.items():
        head, _, name = key.partition(".")
        if head != section:
            section = head
            parts.append(f"[{section}]")
            texts = {"library": LIBRARY_TEXTS, "transport": TRANSPORT_TEXTS}.get(section, {})
            # Library and transport are texts; all else of a section is figures.
            parts += [f'# {text} = "?"  # {what}' for text, what in texts.items()]
        parts.extend(_figure(key, name, entry, reading))
    parts += [
        "",
        "[leaves_out]",
        *_comment("Resources that never limit, with the reason, instead of their figures:"),
    ]
    parts += [f'# "{key}" = "?"' for key in MAY_BE_LEFT_OUT]
    return "\n".join(parts) + "\n"


def _comment(text: str, indent: str = "") -> list[str]:
    head = f"# {indent}"
    after = f"# {indent}  " if indent else head
    return textwrap.wrap(text, _WIDTH, initial_indent=head, subsequent_indent=after, break_on_hyphens=False)


def _top(machine: Machine, file: str, today: date) -> Iterator[str]:
    # The head names the command that says what is left to do: its file is quoted for a shell.
    for line in _HEAD.format(
        today=today.isoformat(), file=shell_word(file), found=_machine_in_words(machine)
    ).splitlines():
        yield from _comment(line)
    yield ""
    entries = {"name": file.removesuffix(".toml"), "device_name": machine.device_name}
    for name, what in (TEXTS | OPTIONAL_TEXTS).items():
        if entries.get(name):
            yield f"{name} = {quoted(entries[name])}  # {what}"
        else:
            yield f'# {name} = "?"  # {what}'


def _machine_in_words(machine: Machine) -> str:
    """Return in words what kind of machine this is."""
    nics = carriers(machine)
    rdma = "RDMA " if nics and nics[0].rdma else ""
    return ", ".join(
        [
            say_count(len(machine.accelerators), machine.device_name or "accelerator"),
            f"{say_count(len(nics), f'{rdma}NIC')} up",
            say_count(len(machine.numa_nodes), "NUMA domain")
            + (f" of {machine.processor}" if machine.processor else ""),
        ]
    )


def _paths(machine: Machine, today: date) -> Iterator[str]:
    nics = carriers(machine)
    rdma = not nics or nics[0].rdma
    has = ["host-rdma", "peer-direct", "host-tcp"] if rdma else ["host-tcp"]
    yield "\n[paths]"
    yield "# The data paths between nodes that this cluster has, the usual one first; strike out what it has not:"
    # Every path of the record, so that the file need not be looked up elsewhere.
    for path, record in PATHS.items():
        yield f"#   {path:<11}  {record.summary}"
    yield f"has = {json.dumps(has)}"
    yield "\n[paths.lacks]"
    yield "# For each other path the reason, in one sentence."
    if not rdma:
        why = f"no RDMA device in /sys/class/infiniband on {today.isoformat()}"
        yield f"host-rdma = {quoted(why)}"
        yield f"peer-direct = {quoted(why)}"
    yield '# native = "?"'
    yield "wire = \"a real machine: 'wire' is for bare reference fabrics\""


def _figure(key: str, name: str, entry: Entry, reading: Readings) -> Iterator[str]:
    yield from _comment(f"{name}: {entry.what}")
    yield from _comment(_wanted(key), "  ")
    yield from _comment(f"find it: {entry.where}", "  ")
    if key in reading.remarks:
        yield from _comment(f"here: {reading.remarks[key]}", "  ")
    if key in reading.values:
        value, unit, source = reading.values[key]
        yield f'{name} = {{ value = {value:g}, unit = "{unit}", basis = "{entry.basis}", source = {quoted(source)} }}'
    else:
        yield f'# {name} = {{ value = "?", unit = "{entry.unit}", basis = "{entry.basis}", source = "?" }}'
    yield ""


def _wanted(key: str) -> str:
    """Return who needs a figure."""
    paths = needed_by(key)
    if len(paths) == len(PATHS):
        return "always needed"
    if not paths:
        return "needed with several devices a node" if key in NEEDS_OF_SEVERAL else "optional"
    left_out = "; if it never limits, see [leaves_out]" if key in MAY_BE_LEFT_OUT else ""
    return f"needed by {', '.join(paths)}{left_out}"
