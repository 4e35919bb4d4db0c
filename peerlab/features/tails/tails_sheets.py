"""The picture of many runs on sheets of several widths, of which a page shows one, and its figures as a table."""

from collections.abc import Sequence
from html import escape

from peerlab.base.units import say_count
from peerlab.base.words_html import unbroken
from peerlab.features.tails.tails import Tails
from peerlab.features.tails.tails_picture import WIDE, Sheet, chosen_svg, needs_more, tails_svg
from peerlab.features.tails.time_unit import Unit, unit_of
from peerlab.features.tails.times import PathTimes
from peerlab.page.frame import table
from peerlab.picture.by_width import shown_from
from peerlab.picture.theme import PAGE, properties
from peerlab.picture.words import title

SHEETS = {
    1480: Sheet(1488.0, names=190.0),
    1240: Sheet(1248.0, names=190.0),
    1060: WIDE,
    860: Sheet(868.0),
    730: Sheet(736.0),
    550: Sheet(560.0),
    430: Sheet(440.0),
    0: Sheet(340.0),
}
"""By the least width of the page, pixels, from which on each is shown: words stay 12 pixels high or more."""


def sheets_html(
    tails: Tails,
    marks: Sequence[int] = (),
    since: int | None = None,
    *,
    grows: bool = False,
) -> str:
    """Return the picture on each sheet, of which the page's width shows one; `marks` are runs that may be chosen, by their places.

    Where more runs come while somebody looks, it `grows`: its dots and its height stay as they are, and it says below its axis which
    percentile needs more of them. Elsewhere words above it do (`dots_in_words`).

    The dots of all runs but the first `since` fall into their piles, on a page that has `FALLING`; None: none does.
    """
    sheets = {
        least: sheet.growing(tails) if grows else sheet.fitted(tails)._replace(foot=0)
        for least, sheet in SHEETS.items()
    }
    if marks:
        sheets = {least: sheet.with_mark() for least, sheet in sheets.items()}
    drawn = "".join(
        f"<div class='pl-sheet pl-from{least}'>{tails_svg(tails, PAGE, sheet=sheet, since=since)}"
        + "".join(
            f"<div class='pl-run pl-run{number}'>{chosen_svg(tails, place, sheet)}</div>"
            for number, place in enumerate(marks)
        )
        + "</div>"
        for least, sheet in sheets.items()
    )
    return f"<div class='pl-sheets' tabindex='0' role='group' aria-label='Runs'>{drawn}</div>{_table(tails)}"


SHEET_STYLE = (
    ".pl-tails h3{margin:0;font-size:16px;font-weight:650;color:var(--pl-ink)}.pl-tails .pl-dots{margin:4px 0 8px;color:var(--pl-muted)}"
    ".pl-tails{container-type:inline-size;color:var(--pl-ink)}.pl-sheets{overflow-x:auto}.pl-sheet{display:none;position:relative;min-width:328px}"
    f"{shown_from({least: f'.pl-from{least}' for least in SHEETS})}"
    ".pl-sheet svg{display:block;width:100%;height:auto}.pl-tails .pl-tail-figures{border-collapse:collapse;margin:12px 0}"
    ".pl-tails .pl-tail-figures :is(th,td){padding:4px 0 4px 12px;text-align:right;white-space:nowrap;font-weight:400;border-top:1px solid var(--pl-faint)}"
    ".pl-tails .pl-tail-figures th:first-child{text-align:left;padding-left:0}.pl-tails .pl-tail-figures caption{text-align:left;color:var(--pl-muted);white-space:nowrap}"
    ".pl-tails .pl-tail-figures thead :is(th,td){border:0;color:var(--pl-muted)}.pl-tails .pl-tail-figures tbody tr:last-child *{font-weight:650}"
    ".pl-tails details{margin:8px 0}.pl-tails summary{width:fit-content;cursor:pointer;color:var(--pl-muted);text-decoration:underline;text-underline-offset:2px}"
    ".pl-tails summary:focus-visible{outline:2px solid var(--pl-register-ink);outline-offset:2px}"
)

FALLING = (
    ".pl-falls{animation:pl-fall .5s ease-in both}"
    "@keyframes pl-fall{from{transform:translateY(-110px);opacity:0}}"
    "@media print,(prefers-reduced-motion:reduce){.pl-falls{animation:none}}"
)
"""How dots fall; whoever wants nothing to move sees them where they end."""


def tails_html(tails: Tails, since: int | None = None) -> str:
    """Return the picture in the colours of the page around it, and its figures."""
    style = properties(".pl-tails") + SHEET_STYLE + ("" if since is None else FALLING)
    drawn = sheets_html(tails, since=since, grows=since is not None)
    head = _headline(tails) if since is None else ""  # a page that simulates says above what
    return f"<style>{style}</style><div class='pl-tails'>{head}{drawn}</div>"


def _headline(tails: Tails) -> str:
    """Return what the picture is of, and what its dots are."""
    first = tails.paths[0].scenario
    runs = say_count(len(tails.paths[0].times_ps), "run") + (" of each path" if len(tails.paths) > 1 else "")
    named = f", {tails.paths[0].title}" if len(tails.paths) > 1 else ""  # the picture names both
    about = title(first).removesuffix(named)
    dots = f"{about}. {runs} with {first.noise.in_words}. {dots_in_words(tails)}"
    return f"<h3>How long runs take</h3><p class='pl-dots'>{escape(unbroken(dots))}</p>"


def dots_in_words(tails: Tails) -> str:
    """Return what the dots are, and which percentile needs more of them."""
    return " ".join(["Each dot is a run; half of them take no longer than p50.", *needs_more(tails)])


def _table(tails: Tails) -> str:
    """Return what the picture says as figures: a path a row, and what the first one gains; percentiles that runs are enough for."""
    first, *others = tails.paths
    enough = [place for place, percentile in enumerate(first.percentiles) if not percentile.missing]
    unit = unit_of(tails)
    rows = [_table_row(path, enough, unit) for path in tails.paths]
    if others:
        gains = (tails.gain(first.percentiles[place].per_mille) for place in enough)
        cells = (f"{gain:.2f}" if gain else "-" for gain in (tails.quiet_gain, *gains))
        rows.append((f"{escape(first.title)}, times as fast", *cells))
    head = ("", "no noise", *(first.percentiles[place].name for place in enough))
    runs = say_count(len(first.times_ps), "run") + (" of each path" if others else "")
    return f"<details><summary>Figures</summary>{table(runs, head, rows, 'tail-figures')}</details>"


def _table_row(path: PathTimes, enough: Sequence[int], unit: Unit) -> tuple[str, ...]:
    percentiles = (path.percentiles[place] for place in enough)
    return (
        escape(path.title),
        unit.text(path.quiet_ps),
        *("-" if percentile.missing else unit.text(percentile.value_ps) for percentile in percentiles),
    )
