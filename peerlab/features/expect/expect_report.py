"""A verdict on a log, and what a machine should reach, as HTML: the verdict first, then the picture, then what would look like it."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from peerlab.base.units import say_bytes
from peerlab.features.expect.band_picture import band_svg
from peerlab.features.expect.causes import THE_CAUSE
from peerlab.features.expect.expectation import Expectation
from peerlab.features.expect.expected_figure import figure
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
_OPTION, _LIST = "with --cluster", "in the list Cluster above"
_MOST_CAUSES = 5
_SAME = 0.05
"""A log and a curve that are apart by less on the average are alike."""
_TITLE = "Is this run well?"


def verdict_html(verdicts: Sequence[Told]) -> str:
    """Return verdicts, one for each run of a log, as HTML that brings its own style; all text is escaped."""
    many = len(verdicts) > 1
    blocks = []
    for place, verdict in enumerate(verdicts):
        head = f"<h4>Run {place + 1} of {len(verdicts)}</h4>" if many else ""
        blocks.append(head + "".join(_parts(verdict)))
    return framed("expect", _TITLE, "".join(blocks))


def verdict_in_page(verdicts: Sequence[Told]) -> str:
    """Return verdicts as `verdict_html` does, for a page that has a list of clusters in the place of the command line's option."""
    return verdict_html([{**verdict, "why": verdict["why"].replace(_OPTION, _LIST)} for verdict in verdicts])


def expectation_html(found: Told) -> str:
    """Return what a machine should reach as HTML that brings its own style."""
    notes = "".join(f"<p class='pl-quiet'>{escape(note)}</p>" for note in found["notes"])
    rows = [_expected_row(row) for row in found["rows"]]
    what_if = f"<p class='pl-verdict pl-unknown'>{escape(found['what_if'])}</p>" if found["what_if"] else ""
    head = ("size", "floor, GB/s", "expected (band)", "ceiling", "what limits")
    listed = f"<details><summary>Each size as a table</summary>{table('', head, rows, 'sizes')}</details>"
    return framed(
        "expect",
        "What this machine should reach",
        f"{what_if}<p class='pl-quiet'>{escape(found['says'])}</p>{band_svg(found['rows'])}{notes}{listed}",
    )


def expect_page(report: str) -> str:
    """Return a report as a page of its own, which fetches nothing."""
    return alone("Expected bandwidth", report)


def _parts(verdict: Told) -> Iterator[str]:
    kind, sign = _SIGNS[verdict["verdict"]]
    why = _OPEN.get(verdict["verdict"], "") + verdict["why"]
    because = f"<br>{_coded(verdict['because'])}" if verdict["because"] else ""
    yield (
        f"<p class='pl-verdict pl-{kind}'><span class='pl-sign' aria-hidden='true'>{sign}</span> "
        f"<b>{escape(_first_up(why))}</b>{because}</p>"
    )
    held = f"; held against {verdict['cluster']}" if verdict["cluster"] else ""
    yield f"<p class='pl-quiet'>{escape(verdict['log'] + held)}</p>"
    rows, causes = [row for row in verdict["rows"] if row["expected"]], verdict["causes"][:_MOST_CAUSES]
    if rows:
        picture = band_svg(rows, rows, [cause["curve"] for cause in causes])
        beside = _causes(verdict, causes) if causes else ""
        yield f"<div class='pl-beside'><div class='pl-picture'>{picture}</div>{beside}</div>"
    notes = "".join(f"<p>{escape(note)}</p>" for note in verdict["notes"])
    yield f"<details><summary>Each size as a table</summary>{_table(verdict['rows'])}{notes}</details>"


def _causes(verdict: Told, causes: Sequence[Told]) -> str:
    """Return what would look like the log, with the commands that decide."""
    # By name: `likely` tells names, so that JSON holds each cause once.
    likely = [cause for cause in causes if cause["name"] in verdict["likely"]]
    others = [cause for cause in causes if cause not in likely]
    listed = "".join(_cause(cause, place, likely=cause in likely) for place, cause in enumerate(causes))
    decides = f"<h4>What decides</h4>{_commands(likely)}" if likely else ""
    what = "What decides the others" if likely else "What decides"
    further = f"<details><summary>{what}</summary>{_commands(others)}</details>" if others else ""
    out = (
        f"<p class='pl-quiet'>Ruled out: {escape(', '.join(verdict['ruled_out']))}</p>"
        if verdict["ruled_out"]
        else ""
    )
    return (
        f"<div class='pl-causes'><div class='pl-head'><h4>What would look like this</h4><span>explains of the gap</span></div>{listed}"
        f"<p class='pl-from'>from {100 * THE_CAUSE:.0f} % on (dotted): a cause</p></div><div class='pl-decides'>{decides}{further}{out}</div>"
    )


def _commands(causes: Sequence[Told]) -> str:
    each = {
        cause["decides"]: [one["name"] for one in causes if one["decides"] == cause["decides"]]
        for cause in causes
    }
    return "".join(
        f"<p>{_coded(decides)}<br><span>{escape(_first_up('; '.join(names)))}</span></p>"
        for decides, names in each.items()
    )


def _coded(words: str) -> str:
    """Return words with what stands between backquotes as code."""
    # Escaped first: between backquotes stands what a page must not interpret either.
    parts = escape(words).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def _cause(cause: Told, place: int, *, likely: bool) -> str:
    share = "the log says so" if cause["said"] else f"{100 * cause['explains']:.0f} %"
    wide = min(1.0, cause["explains"])
    bar = (
        "<svg viewBox='0 0 200 12' preserveAspectRatio='none' aria-hidden='true'><rect y='3' width='200' height='6' fill='var(--pl-faint)'/>"
        f"<rect y='3' width='{200 * wide:.0f}' height='6' fill='var(--pl-{'ink' if likely else 'edge'})'/>"
        f"<path d='M{200 * THE_CAUSE:.0f} 0V12' stroke='var(--pl-ink)' stroke-dasharray='2 2' vector-effect='non-scaling-stroke'/></svg>"
    )
    words = "; ".join(one for one in (cause["means"], _leaves(cause["leaves"])) if one)
    return (
        f"<div class='pl-cause' data-cause='{place}' tabindex='0'><p class='pl-head'><b>{escape(_first_up(cause['name']))}</b><b>{share}</b></p>{bar}"
        f"<p class='pl-quiet'>{escape(_first_up(words))}</p></div>"
    )


def _leaves(times: float) -> str:
    """Return what a log has over what a fault would leave, in words; nothing where they are the same."""
    if abs(times - 1) < _SAME:
        return ""
    return f"the log has {100 * times:.0f} % of what it would leave"


def _first_up(words: str) -> str:
    return words[:1].upper() + words[1:]


def _table(rows: Sequence[Told]) -> str:
    head = ("size", "measured, GB/s", "floor", "expected (band)", "ceiling", "")
    return table("", head, (_judged_row(row) for row in rows), "sizes")


def _judged_row(row: Told) -> tuple[str, ...]:
    words = "below its floor" if row["below"] else "held up" if row["disturbed"] else ""
    if row["expected"] is None:
        return (say_bytes(row["size"]), f"{figure(row['measured'])}", "", "", "", words)
    _, floor, band, ceiling, _ = _expected_row(row)
    return (say_bytes(row["size"]), f"{figure(row['measured'])}", floor, band, ceiling, words)


def _expected_row(row: Told) -> tuple[str, ...]:
    band = f"{figure(row['expected'])} ({figure(row['low'])} to {figure(row['high'])})"
    return (
        say_bytes(row["size"]),
        f"{figure(row['floor'])}" if row["floor"] else "",
        band,
        f"{figure(row['ceiling'])}",
        escape(row.get("limits", "")),
    )


def expected_html(expectation: Expectation) -> str:
    """Return an expectation as a picture with its table."""
    return expectation_html(expectation.as_dict())


def judged_html(verdict: LogVerdict) -> str:
    """Return the verdict on a run, its picture, and what would look like it."""
    return verdict_html([verdict.as_dict()])
