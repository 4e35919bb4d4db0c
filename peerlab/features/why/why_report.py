"""Where a figure comes from, in a notebook: who set it, what was done to it since, and on what grounds."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from peerlab.base.units import say_count
from peerlab.page.frame import framed, table
from peerlab.question.effective_figures import SIGNS, EffectiveFigure, EffectiveFigures

_HEAD = ("figure", "value", "who says it", "on what grounds")


def figure_html(figure: EffectiveFigure) -> str:
    """Return one figure, line by line."""
    lines = figure.as_dict()
    notes = "".join(f"<p class='pl-quiet'>{escape(note)}</p>" for note in lines["notes"])
    return framed("why", figure.head, _table([lines]) + notes)


def figures_html(figures: EffectiveFigures) -> str:
    """Return all figures of a question: what is assumed first, the others folded."""
    rows = [figure.as_dict() for figure in figures]
    assumed = [row for row in rows if any(line["assumed"] for line in row["lines"])]
    sourced = [row for row in rows if row not in assumed]
    answer = (
        f"<p class='pl-answer'><b>{len(assumed)} of {say_count(len(rows), 'figure')} are assumed</b> (†)</p>"
    )
    name = f"{say_count(len(sourced), 'figure')} with a source"
    folded = f"<details><summary>{name}</summary>{_table(sourced)}</details>" if sourced else ""
    return framed(
        "why", "Where the figures come from", answer + (_table(assumed) if assumed else "") + folded
    )


def _table(figures: Sequence[Mapping[str, Any]]) -> str:
    """Return figures as a table, by who says them: that is said once where it stays the same."""
    rows: list[tuple[str, ...]] = []
    above = ""
    for figure in sorted(figures, key=_by):
        rows += _rows(figure, above)
        above = figure["lines"][-1]["by"] if figure["lines"] else above
    return table("", _HEAD, rows, "figures")


def _by(figure: Mapping[str, Any]) -> str:
    return figure["lines"][0]["by"] if figure["lines"] else ""


def _rows(figure: Mapping[str, Any], above: str) -> Iterator[tuple[str, ...]]:
    name = f"{escape(figure['label'])}<br><code>{escape(figure['figure'])}</code>"
    lines = figure["lines"] or [{"how": "is", "text": "no value", "by": "", "why": "", "assumed": False}]
    for place, line in enumerate(lines):
        amount = f"{SIGNS[line['how']]}{line['text']}{' †' if line['assumed'] else ''}"
        basis = figure["basis"] if line["how"] == "is" else ""
        value = f"<b>{escape(amount)}</b> <span class='pl-quiet'>{escape(basis)}</span>"
        yield (
            "" if place else name,
            value,
            escape(line["by"]) if line["by"] != above else "",
            escape(line["why"]),
        )
        above = line["by"]
