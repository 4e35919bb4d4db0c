"""The map of choices in a notebook and as a page: headline, picture, and a table of what would be faster."""

from collections.abc import Iterator
from html import escape

from peerlab.base.units import say_bytes, say_time
from peerlab.features.choices.choice_map import ChoiceMap
from peerlab.features.choices.choice_picture import choice_svg
from peerlab.page.frame import alone, framed, table


def choices_html(found: ChoiceMap) -> str:
    """Return the map as HTML that brings its own style; all text is escaped."""
    about = f"AllReduce, {found.library}, {found.path}. Nodes upwards, size of the message across. Colour: what the library takes."
    head = ("nodes", "size", "taken", "time", "faster", "times as fast", "at the worse end of the errors")
    rows = table("", head, _rows(found), "faster")
    notes = "".join(f"<p class='pl-quiet'>{escape(note).replace('`', '')}</p>" for note in found.notes)
    listed = f"<details><summary>The cells with a dot as a table</summary>{rows}</details>"
    return framed(
        "choices",
        found.headline,
        f"<p class='pl-quiet'>{escape(about)}</p>{choice_svg(found)}{notes}{listed}",
    )


def choices_page(found: ChoiceMap) -> str:
    """Return the map as a page of its own, which fetches nothing."""
    return alone("Map of choices", choices_html(found))


def _rows(choice_map: ChoiceMap) -> Iterator[tuple[str, ...]]:
    for cell in choice_map.cells:
        if cell.faster:
            yield (
                str(cell.nodes),
                say_bytes(cell.size),
                escape(f"{cell.algorithm}, {cell.protocol}"),
                say_time(round(cell.time_s * 1e12)),
                escape(", ".join(cell.faster)),
                f"{cell.gain:.2f}",
                f"{cell.least:.2f}",
            )
