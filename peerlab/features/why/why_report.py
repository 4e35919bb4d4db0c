"""Where a figure comes from, in a notebook: who set it, what was done to it since, and on what grounds."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from peerlab.page.frame import framed, table
from peerlab.question.effective_figures import SIGNS, EffectiveFigure, EffectiveFigures

_HEAD = ("figure", "value", "who says it", "on what grounds")


def figure_html(figure: EffectiveFigure) -> str:
    """Return one figure, line by line."""
    return _report(figure.head, [figure.as_dict()])


def figures_html(figures: EffectiveFigures) -> str:
    """Return all figures of a question in one table."""
    return _report("Where the figures come from", [figure.as_dict() for figure in figures])


def _report(title: str, figures: Sequence[Mapping[str, Any]]) -> str:
    rows = [row for figure in figures for row in _rows(figure)]
    notes = "".join(
        f"<p class='pl-quiet'>{escape(note)}</p>" for figure in figures for note in figure["notes"]
    )
    quiet = "" if len(figures) > 1 else notes  # of all figures they stand in their rows
    return framed("why", title, table("", _HEAD, rows, "figures") + quiet)


def _rows(figure: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    name = f"{escape(figure['label'])} <code>{escape(figure['figure'])}</code>"
    lines = figure["lines"] or [{"how": "is", "text": "no value", "by": "", "why": "", "assumed": False}]
    for place, line in enumerate(lines):
        amount = f"{SIGNS[line['how']]}{line['text']}{' †' if line['assumed'] else ''}"
        basis = figure["basis"] if line["how"] == "is" else ""
        value = f"<b>{escape(amount)}</b> <span class='pl-quiet'>{escape(basis)}</span>"
        yield ("" if place else name, value, escape(line["by"]), escape(line["why"]))
