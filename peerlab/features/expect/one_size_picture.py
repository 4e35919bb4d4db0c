"""What a machine should reach at one size: floor, band and ceiling on one axis, each with its figure."""

from collections.abc import Mapping
from html import escape
from typing import Any

from peerlab.base.units import say_bytes
from peerlab.features.expect.expected_figure import figure
from peerlab.picture.scale import apart, logarithmic

_WIDTHS = {"broad": 720, "slim": 440}
_SIDE, _HIGH = 44, 84
"""Room for half a name at both ends, and the height, pixels."""
_APART = 82
"""From one name's middle to the next, pixels."""


def one_size_html(row: Mapping[str, Any]) -> str:
    """Return the picture for a wide page and for a narrow one, of which the page shows one."""
    return f"<div class='pl-picture'>{''.join(_svg(row, kind, wide) for kind, wide in _WIDTHS.items())}</div>"


def _svg(row: Mapping[str, Any], kind: str, wide: int) -> str:
    marks = [
        (name, row[name], role)
        for name, role in (("floor", "ink"), ("expected", "direct-ink"), ("ceiling", "muted"))
        if row[name]
    ]
    rates = [rate for _, rate, _ in marks] + [row["low"], row["high"]]
    at = logarithmic((min(rates), max(rates)), (_SIDE, wide - _SIDE))
    parts = [
        f"<path d='M{_SIDE} 22H{wide - _SIDE}' stroke='var(--pl-faint)' stroke-width='2'/>",
        f"<rect x='{at(row['low']):.1f}' y='10' width='{at(row['high']) - at(row['low']):.1f}' height='24' rx='3' fill='var(--pl-good-wash)'/>",
    ]
    middles = apart([at(rate) for _, rate, _ in marks], _APART)
    for (name, rate, role), middle in zip(marks, middles, strict=True):
        dashed = " stroke-dasharray='5 3'" if name == "ceiling" else ""
        parts.append(
            f"<path d='M{at(rate):.1f} 6V38' stroke='var(--pl-{role})' stroke-width='2'{dashed}/>"
            f"<text x='{middle:.1f}' y='58' text-anchor='middle' fill='var(--pl-{role})' font-weight='650'>{figure(rate)}</text>"
            f"<text x='{middle:.1f}' y='75' text-anchor='middle' fill='var(--pl-{role})'>{name}</text>"
        )
    says = f"Bus bandwidth at {say_bytes(row['size'])}, GB/s: " + ", ".join(
        f"{name} {figure(rate)}" for name, rate, _ in marks
    )
    return (
        f"<svg class='pl-band pl-{kind}' viewBox='0 0 {wide} {_HIGH}' width='{wide}' role='img' aria-label='{escape(says, quote=True)}' "
        f"font-size='13' style='max-width:100%;height:auto'>{''.join(parts)}</svg>"
    )
