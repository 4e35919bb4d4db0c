"""What registering costs on this machine, and a process that reached its locked-memory limit, in a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from itertools import groupby
from typing import Any

from peerlab.base.units import MIB, PS_PER_US, say_bytes, say_time
from peerlab.features.measure.pin_cost import PinCost
from peerlab.features.measure.ranks.locked_memory import Refusal
from peerlab.page.frame import framed, table

_WAYS = {
    "mlock": "mlock: an emulation, locked pages may still move",
    "io_uring": "io_uring: the kernel pins the pages",
}
_BAR_PX = 240


def cost_html(rows: Iterable[Mapping[Any, Any]], notes: Sequence[str]) -> str:
    """Return a table for each way of registering, with a bar for what 1 MiB of a region costs; all text is escaped.

    Rows have ``pins``, ``page_bytes``, ``size_bytes``, ``register_us`` and ``deregister_us``.
    """
    known = list(rows)
    most = max(map(_per_mib, known), default=1.0)
    head = ("region", "pages of", "registering", "letting go", "both, for each MiB of the region")
    # `groupby` wants rows of one way side by side: they were measured way after way.
    tables = "".join(
        table(_WAYS.get(way, way), head, (_row(one, most) for one in of), "pins")
        for way, of in groupby(known, key=lambda one: str(one["pins"]))
    )
    listed = "".join(f"<p class='pl-quiet'>{escape(note)}</p>" for note in notes)
    return framed("pinning", "What registering costs on this machine", tables + listed)


def _per_mib(row: Mapping[str, Any]) -> float:
    both: float = row["register_us"] + row["deregister_us"]
    return both * MIB / float(row["size_bytes"])


def _row(row: Mapping[str, Any], most: float) -> tuple[str, ...]:
    # Small pages have 4 to 64 KiB, by processor.
    huge = row["page_bytes"] >= MIB
    bar = f"<span class='pl-bar' style='width:{max(1, round(_BAR_PX * _per_mib(row) / most))}px;background:var(--pl-{'direct' if huge else 'register'})'></span>"
    return (
        say_bytes(row["size_bytes"]),
        say_bytes(row["page_bytes"]),
        _time(row["register_us"]),
        _time(row["deregister_us"]),
        f"{bar} {_time(_per_mib(row))}",
    )


def _time(us: float) -> str:
    return say_time(round(us * PS_PER_US))


def refusal_html(limit_bytes: int, region_bytes: int, regions: int, error: str, explanation: str) -> str:
    """Return what happened to a process that registered region after region under a limit."""
    held = f"{regions} regions of {say_bytes(region_bytes)}: {say_bytes(regions * region_bytes)}"
    status, sign = ("fail", "✕") if error else ("pass", "✓")
    sentence = f"then {error}" if error else "and the kernel refused nothing"
    body = (
        f"<p class='pl-verdict pl-{status}'><span class='pl-sign' aria-hidden='true'>{sign}</span> {escape(held)}, {escape(sentence)}</p>"
        f"<p>{escape(explanation)}</p>"
    )
    return framed(
        "refusal", f"A process that may lock {say_bytes(limit_bytes)} registers until it is refused", body
    )


def pin_cost_html(cost: PinCost) -> str:
    """Return what registering took, by size."""
    return cost_html(cost.table.to_dict("records"), cost.notes)


def limit_html(refusal: Refusal) -> str:
    """Return a refusal of the kernel, with what helps."""
    return refusal_html(**asdict(refusal))
