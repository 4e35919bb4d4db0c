"""Several transports side by side, as HTML without a script: a bar for each on one axis of time, and their figures."""

from html import escape
from typing import Any

from peerlab.reports.frame import framed, table
from peerlab.units import say_bytes, say_time

_WIDTH, _ROW, _LEFT = 620, 30, 120


def fabrics_html(one: Any) -> str:
    """Return a `FabricComparison` as HTML that brings its own style; all text is escaped."""
    scenario = one.found[0].run.scenario
    head = ("transport", "time", "hop", "MTU", "goodput", "busbw", "messages of a NIC", "limits most")
    body = fabrics_svg(one) + table("", head, map(_row, one.found)) + f"<p>{escape(one.finding)}</p>"
    title = f"{say_bytes(scenario.nbytes)} on {scenario.nodes} nodes, transport by transport"
    return framed("fabrics", title, body)


def fabrics_svg(one: Any) -> str:
    """Return the bars alone: a still that needs nothing beside it."""
    longest = max(each.run.time_ps for each in one.found) or 1
    rows = "".join(_bar(each, at * _ROW, longest) for at, each in enumerate(one.found))
    height = len(one.found) * _ROW + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape(one.finding, quote=True)}" font-family="sans-serif" font-size="13">{rows}</svg>'
    )


def _bar(one: Any, top: int, longest: int) -> str:
    """Return one row: its name, its time as a bar, of which the lighter end is what headers add, and the time in words."""
    room = _WIDTH - _LEFT - 90
    whole = room * one.run.time_ps / longest
    payload = whole * one.run.scenario.goodput
    y = top + 6
    return (
        f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end" fill="currentColor">{escape(one.title)}</text>'
        f'<rect x="{_LEFT}" y="{y}" width="{whole:.1f}" height="18" fill="#8fb8de"/>'
        f'<rect x="{_LEFT}" y="{y}" width="{payload:.1f}" height="18" fill="#2b6cb0"/>'
        f'<text x="{_LEFT + whole + 6:.1f}" y="{y + 14}" fill="currentColor">{escape(say_time(one.run.time_ps))}</text>'
    )


def _row(one: Any) -> tuple[str, ...]:
    run = one.run
    mtu, rate = run.scenario.hardware.mtu_bytes, one.messages_per_s
    cells = (
        one.title, say_time(run.time_ps), f"{one.latency_us:.3g} µs", f"{mtu} B" if mtu else "-", f"{run.scenario.goodput:.1%}",
        f"{run.busbw_GBps:.3g} GB/s", f"{rate:,.0f} /s" if rate else "-", run.bottleneck.label if run.bottleneck else "-",
    )  # fmt: skip
    return tuple(map(escape, cells))
