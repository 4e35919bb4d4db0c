"""The frame of every report that a notebook shows as HTML: one style, light and dark, no script."""

# Reports are HTML without a script. Diagnosis, calibration and the doctor share one style (`page/frame`),
# light and dark, and survive in a saved notebook. They are made of what `as_dict` tells, so that page, JSON
# and command say the same; all text is escaped.

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType

from peerlab.base.words_html import unbroken
from peerlab.picture.policy import policy
from peerlab.picture.theme import properties

_STYLE = Path(__file__).parent / "report.css"


def framed(kind: str, title: str, body: str, *, headed: bool = True) -> str:
    """Return a section that brings its own style; `body` is HTML whose text has been escaped, and has its title itself if not `headed`."""
    kept = escape(unbroken(title))
    head = f"<h3>{kept}</h3>" if headed else ""
    return (
        f"<style>{_style()}</style><section class='pl-report pl-{kind}' aria-label='{escape(title, quote=True)}'>"
        f"{head}{body}</section>"
    )


def alone(title: str, report: str) -> str:
    """Return a report as a page for a file: it runs no script and fetches nothing."""
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>{policy()}"
        f"<meta name='viewport' content='width=device-width,initial-scale=1'><meta name='color-scheme' content='light dark'>"
        f"<title>{escape(title)}</title></head><body>{report}</body></html>\n"
    )


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    kind: str = "",
    right: Collection[int] = (),
    below: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Return a table; cells are HTML, the first of a row is its heading, columns in `right` are numbers; `below`: HTML below the name of a column."""
    # A screen reader cannot say an empty heading, so it is none.
    heads = "".join(
        f"<th scope='col'{_number(place, right)}>{escape(name)}{below.get(place, '')}</th>"
        if name or place in below
        else "<td></td>"
        for place, name in enumerate(head)
    )
    body = "".join(
        f"<tr><th scope='row'{_number(0, right)}>{first}</th>"
        f"{''.join(f'<td{_number(place, right)}>{cell}</td>' for place, cell in enumerate(rest, 1))}</tr>"
        for first, *rest in rows
    )
    sentence = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table class='pl-{kind}'>{sentence}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _number(column: int, right: Collection[int]) -> str:
    return " class='pl-number'" if column in right else ""


@cache
def _style() -> str:
    return properties(".pl-report") + _STYLE.read_text(encoding="utf-8")
