"""The data path on the site's first page: both nodes where they have room, else the first one with its words as text below it."""

from html import escape

from peerlab.answer.run import Run
from peerlab.model.paths import REDUCE
from peerlab.picture.picture import Picture
from peerlab.picture.still import figures, node_svg, still_svg
from peerlab.picture.theme import palette, stage_role
from peerlab.picture.words import caption, colours, title

_THEMES = ("light", "dark")


def landing_picture(run: Run) -> str:
    """Return a drawing for a wide page and one for a narrow page, each in both themes; the page shows one of the four."""
    # One for each theme; the page shows that of its reader's.
    wide = "".join(
        f"<div class='{theme}'>{still_svg(run, theme=theme, large=True)}</div>" for theme in _THEMES
    )
    slim = "".join(f"<div class='{theme}'>{node_svg(run, theme=theme)}</div>" for theme in _THEMES)
    moved = f"<div tabindex='0' role='group' aria-label='Picture'>{slim}</div>"
    return f"<div class='wide'>{wide}</div><div class='slim'><p>{escape(title(run.scenario))}</p>{moved}{_words(run)}</div>"


def _words(run: Run) -> str:
    """Return what the wide drawing has in words: its figures, its colours, and what was simulated."""
    picture = Picture(run)
    drawn = {stage_role(stage) for stage in (*picture.sketch.drawn, REDUCE.name)}
    light, dark = map(palette, _THEMES)
    key = "".join(
        f"<span><i style='background:light-dark({light[role]},{dark[role]})'></i> {escape(meaning)}</span> "
        for role, meaning in colours(run)
        if role in drawn
    )
    # Bandwidth, time and bottleneck, as between the nodes of the wide one.
    shown = "; ".join(f"{name}: {value}" for name, value, _ in figures(run)[:3])
    return f"<p>{escape(shown)}.</p><p class='key'>{key}</p><p>{escape(caption(run, picture))}</p>"
