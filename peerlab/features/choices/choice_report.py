"""The map of choices as a document: headline, picture, and which sizes take what; for terminal and page."""

from collections.abc import Iterator, Sequence
from typing import Any

from peerlab.base.document import Document, Fold, Graphic, Table, Text
from peerlab.base.units import say_bytes
from peerlab.features.choices.choice_map import ChoiceMap, MapCell
from peerlab.features.choices.choice_picture import choice_html
from peerlab.page.document_html import document_html, document_page

_RESTS = "What the map rests on"
_READ_SO = "Nodes upwards, size of the message across. Colour: what the library takes."


def choices_document(choice_map: ChoiceMap) -> Document:
    """Return what the map says."""
    head = ("nodes", "from", "to", "taken", "faster")
    rows = list(_runs(choice_map.cells))
    return Document(
        choice_map.headline,
        (
            # of one size the headline says all
            *([Graphic(choice_html(choice_map), _READ_SO)] if len(choice_map.cells) > 1 else []),
            Table(
                "What is taken, by nodes and size", head, rows, right={0, 1, 2}, kind="faster", folded=True
            ),
            Fold(_RESTS, tuple(Text(note.replace("`", ""), quiet=True) for note in choice_map.notes)),
        ),
    )


def choices_html(choice_map: ChoiceMap) -> str:
    """Return the map as HTML that brings its own style."""
    return document_html(choices_document(choice_map), "choices")


def choices_page(choice_map: ChoiceMap) -> str:
    """Return the map as a page of its own, which fetches nothing."""
    return document_page(choices_document(choice_map), "choices", "Map of choices")


def _runs(cells: Sequence[MapCell]) -> Iterator[tuple[str, ...]]:
    """Yield neighbouring sizes of a row that take the same and have the same that is faster."""
    place = 0
    while place < len(cells):
        last = place
        # Nodes are part of the kind, so a run ends with its row.
        while last + 1 < len(cells) and _kind(cells[last + 1]) == _kind(cells[place]):
            last += 1
        first, final = cells[place], cells[last]
        yield (
            str(first.nodes), say_bytes(first.size), say_bytes(final.size), f"{first.algorithm}, {first.protocol}", _faster(cells[place : last + 1]),
        )  # fmt: skip
        place = last + 1


def _kind(cell: MapCell) -> tuple[Any, ...]:
    return cell.nodes, cell.algorithm, cell.protocol, cell.faster, cell.beyond_error


def _faster(cells: Sequence[MapCell]) -> str:
    choice = cells[0].faster
    if choice is None:
        return ""
    low, high = min(cell.gain for cell in cells), max(cell.gain for cell in cells)
    times = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
    sure = "beyond" if cells[0].beyond_error else "within"
    return f"{', '.join(choice)}: {times} times, {sure} the model's error"
