"""A verdict on a log, and what a machine should reach, as HTML: the verdict first, then the picture, then what would look like it."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from peerlab.base.units import say_bytes
from peerlab.features.expect.band_picture import band_svg
from peerlab.features.expect.expectation import Expectation
from peerlab.features.expect.judging import LogVerdict
from peerlab.page.frame import alone, framed, table

Told = Mapping[str, Any]
"""What `as_dict` of a verdict, an expectation or one of their parts returns."""
_SIGNS = {
    "healthy": ("pass", "✓"),
    "held-up": ("warn", "▲"),
    "below": ("fail", "▼"),
    "unknown": ("unknown", "?"),
}
_OPEN = {"unknown": "cannot tell: "}
"""Before the sentence of a verdict."""
_THE_CAUSE = 0.8
"""Share of what is missing from which on a fault may be the cause; the bars have a line there."""
_MOST_CAUSES = 5
_TITLE = "Is this run well?"


def verdict_html(verdicts: Sequence[Told]) -> str:
    """Return verdicts, one for each run of a log, as HTML that brings its own style; all text is escaped."""
    many = len(verdicts) > 1
    blocks = []
    for place, verdict in enumerate(verdicts):
        head = f"<h4>Run {place + 1} of {len(verdicts)}</h4>" if many else ""
        blocks.append(head + "".join(_parts(verdict)))
    return framed("expect", _TITLE, "".join(blocks))


def expectation_html(found: Told) -> str:
    """Return what a machine should reach as HTML that brings its own style."""
    notes = "".join(f"<p class='pl-quiet'>{escape(note)}</p>" for note in found["notes"])
    rows = [_expected_row(row) for row in found["rows"]]
    head = ("size", "floor, GB/s", "expected (band)", "ceiling", "what limits")
    listed = f"<details><summary>Each size as a table</summary>{table('', head, rows, 'sizes')}</details>"
    return framed(
        "expect",
        "What this machine should reach",
        f"<p class='pl-quiet'>{escape(found['says'])}</p>{band_svg(found['rows'])}{notes}{listed}",
    )


def expect_page(report: str) -> str:
    """Return a report as a page of its own, which fetches nothing."""
    return alone("Expected bandwidth", report)


def _parts(verdict: Told) -> Iterator[str]:
    kind, sign = _SIGNS[verdict["verdict"]]
    why = _OPEN.get(verdict["verdict"], "") + verdict["why"]
    because = f"<br>{escape(verdict['because'])}" if verdict["because"] else ""
    yield (
        f"<p class='pl-verdict pl-{kind}'><span class='pl-sign' aria-hidden='true'>{sign}</span> "
        f"<b>{escape(why[:1].upper() + why[1:])}</b>{because}</p>"
    )
    held = f"; held against {verdict['cluster']}" if verdict["cluster"] else ""
    yield f"<p class='pl-quiet'>{escape(verdict['log'] + held)}</p>"
    rows = [row for row in verdict["rows"] if row["expected"]]
    if rows:
        yield band_svg(rows, rows)
    if verdict["causes"]:
        yield f"<h4>What would look like this</h4><p class='pl-quiet'>Each fault is simulated; from {100 * _THE_CAUSE:.0f} % of what is missing on, it may be the cause.</p>"
        yield "".join(_cause(cause) for cause in verdict["causes"][:_MOST_CAUSES])
    yield f"<details><summary>Each size as a table</summary>{_table(verdict['rows'])}</details>"


def _cause(cause: Told) -> str:
    share = "the log says so" if cause["said"] else f"{cause['explains']:.0%}".replace("%", " %")
    role = "ink" if cause["said"] or cause["explains"] >= _THE_CAUSE else "edge"
    bar = (
        "<svg viewBox='0 0 200 12' width='200' height='12' aria-hidden='true'><rect y='3' width='200' height='6' rx='3' fill='var(--pl-faint)'/>"
        f"<rect y='3' width='{200 * min(1.0, cause['explains']):.0f}' height='6' rx='3' fill='var(--pl-{role})'/>"
        f"<path d='M{200 * _THE_CAUSE:.0f} 0V12' stroke='var(--pl-ink)' stroke-dasharray='2 2'/></svg>"
    )
    left = (
        f"leaves {cause['leaves']:.2f} of what it would"
        if cause["leaves"] < 1
        else f"would leave less than the log has: {cause['leaves']:.2f} times"
    )
    return (
        f"<div class='pl-cause'><p><b>{escape(cause['name'])}</b>: {share}; {left}</p>{bar}"
        f"<p><code>{escape(cause['decides'])}</code></p></div>"
    )


def _table(rows: Sequence[Told]) -> str:
    head = ("size", "measured, GB/s", "floor", "expected (band)", "ceiling", "")
    return table("", head, (_judged_row(row) for row in rows), "sizes")


def _judged_row(row: Told) -> tuple[str, ...]:
    words = "below its floor" if row["below"] else "held up" if row["disturbed"] else ""
    if row["expected"] is None:
        return (say_bytes(row["size"]), f"{row['measured']:.3g}", "", "", "", words)
    _, floor, band, ceiling, _ = _expected_row(row)
    return (say_bytes(row["size"]), f"{row['measured']:.3g}", floor, band, ceiling, words)


def _expected_row(row: Told) -> tuple[str, ...]:
    band = f"{row['expected']:.3g} ({row['low']:.3g} to {row['high']:.3g})"
    return (
        say_bytes(row["size"]),
        f"{row['floor']:.3g}" if row["floor"] else "",
        band,
        f"{row['ceiling']:.3g}",
        escape(row.get("limits", "")),
    )


def expected_html(expectation: Expectation) -> str:
    """Return an expectation as a picture with its table."""
    return expectation_html(expectation.as_dict())


def judged_html(verdict: LogVerdict) -> str:
    """Return the verdict on a run, its picture, and what would look like it."""
    return verdict_html([verdict.as_dict()])
