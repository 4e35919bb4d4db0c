"""What a slide of a deck holds: title, body, the speaker's notes, and where its figures are from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slide:
    """A slide; text is plain, pictures and body are SVG and HTML whose words have been escaped."""

    title: str
    """The headline: a sentence where it can be one."""
    subtitle: str = ""
    """A line below it."""
    body: str = ""
    """Cards below that, as `blocks` sets them; a slide has this or pictures and rows."""
    pictures: tuple[str, ...] = ()
    """Charts and stills, from top to bottom."""
    lines: tuple[str, ...] = ()
    """Words below them."""
    rows: tuple[tuple[str, ...], ...] = ()
    """A table, its head first."""
    notes: tuple[str, ...] = ()
    """What the speaker sees."""
    source: str = ""
    """Source of the slide's figures, at its foot."""
    live: str = ""
    """A page that plays, as HTML, shown in a frame; it is the whole slide."""
    still: float = 0.0
    """Which moment of it is printed, as a share of its length."""
    cover: bool = False
    """Whether it is the first one."""
    own: tuple[str, ...] = ()
    """Paragraphs of the outline, above the rest."""
    titled: bool = False
    """Whether its title is shown above a page that plays: the outline's own, or what the page does not say; else the page has words of its own at its head."""
    key: tuple[tuple[str, str], ...] = ()
    """At the end of the subtitle: roles of colours of the pictures, each with what it means."""
