"""What registering costs on this machine, and a process that reached its locked-memory limit, in a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from peerlab.base.document import Cell, Conclusion, Document, Table, Text
from peerlab.base.units import MIB, PS_PER_US, say_bytes, say_time
from peerlab.features.measure.pin_cost import PinCost
from peerlab.features.measure.ranks.memory.locked_memory import Refusal
from peerlab.page.document_html import document_html

_WAYS = {
    "mlock": "mlock: an emulation, locked pages may still move",
    "io_uring": "io_uring: the kernel pins the pages",
}


def cost_html(rows: Iterable[Mapping[Any, Any]], notes: Sequence[str]) -> str:
    """Return a table for each way of registering, with a bar for what 1 MiB of a region costs.

    Rows have ``pins``, ``page_bytes``, ``size_bytes``, ``register_us`` and ``deregister_us``.
    """
    measured = list(rows)
    most = max(map(_per_mib, measured), default=1.0)
    head = ("region", "pages of", "registering", "letting go", "both, for each MiB of the region")
    # `groupby` wants rows of one way side by side: they were measured way after way.
    tables = [
        Table(_WAYS.get(way, way), head, [_row(row, most) for row in of_way], kind="pins")
        for way, of_way in groupby(measured, key=lambda row: str(row["pins"]))
    ]
    quiet = [Text(note, quiet=True) for note in notes]
    costs = [_time(of([_per_mib(row) for row in measured])) for of in (min, max) if measured]
    title = (
        f"Registering takes {' to '.join(dict.fromkeys(costs))} for each MiB on this machine"
        if costs
        else "What registering costs on this machine"
    )
    return document_html(Document(title, (*tables, *quiet)), "pinning")


def _per_mib(row: Mapping[str, Any]) -> float:
    both: float = row["register_us"] + row["deregister_us"]
    return both * MIB / float(row["size_bytes"])


def _row(row: Mapping[str, Any], most: float) -> tuple[str | Cell, ...]:
    # Small pages have 4 to 64 KiB, by processor.
    huge = row["page_bytes"] >= MIB
    return (
        say_bytes(row["size_bytes"]),
        say_bytes(row["page_bytes"]),
        _time(row["register_us"]),
        _time(row["deregister_us"]),
        Cell(_time(_per_mib(row)), bar=_per_mib(row) / most, role="direct" if huge else "register"),
    )


def _time(us: float) -> str:
    return say_time(round(us * PS_PER_US))


def refusal_html(limit_bytes: int, region_bytes: int, regions: int, error: str, explanation: str) -> str:
    """Return what happened to a process that registered region after region under a limit."""
    held = f"{regions} regions of {say_bytes(region_bytes)}: {say_bytes(regions * region_bytes)}"
    refused = f"then {error}" if error else "and the kernel refused nothing"
    conclusion = Conclusion("fail" if error else "pass", f"{held}, {refused}", explanation)
    title = f"A process that may lock {say_bytes(limit_bytes)} registers until it is refused"
    return document_html(Document(title, (conclusion,)), "refusal")


def pin_cost_html(cost: PinCost) -> str:
    """Return what registering took, by size."""
    return cost_html(cost.table.to_dict("records"), cost.notes)


def limit_html(refusal: Refusal) -> str:
    """Return a refusal of the kernel, with what helps."""
    return refusal_html(**asdict(refusal))
