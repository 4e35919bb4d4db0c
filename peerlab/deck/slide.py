"""What a slide holds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slide:
    """A slide; text is plain, pictures are SVG that has been escaped."""

    title: str
    """Its headline: a sentence where it can be one."""
    pictures: tuple[str, ...] = ()
    """Charts and stills, from top to bottom."""
    lines: tuple[str, ...] = ()
    """Words below them."""
    rows: tuple[tuple[str, ...], ...] = ()
    """A table, its head first."""
    notes: tuple[str, ...] = ()
    """What the speaker sees."""
    live: str = ""
    """A page that plays, as HTML, shown in a frame; in print pictures and words stand instead."""
    cover: bool = False
    """Whether it is the first one."""
