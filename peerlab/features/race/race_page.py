"""A race as one HTML file, which plays in any browser, on a slide, and in a frame of a notebook."""

import json
from base64 import b64encode
from html import escape
from typing import Any

from peerlab import page as sources
from peerlab.answer.race import Race
from peerlab.features.race.race_parcel import band_of, race_parcel
from peerlab.picture.policy import inline, policy
from peerlab.picture.theme import palettes
from peerlab.question.naming import told_apart


def race_html(race: Race, *, layout: str = "page", theme: str = "auto", bands: bool = True) -> str:
    """Return a page that plays a race, as text.

    Parameters
    ----------
    race:
        Two runs.
    layout:
        ``page``, or ``slide``: a sentence as title, 16:9, words for the last row.
    theme:
        ``light``, ``dark``, or ``auto``: that of the notebook around it, else of the reader's system.
    bands:
        Whether the ratio has a range: assumed figures at the ends of theirs, which takes seconds.
    """
    band = band_of(race) if bands else None
    shown = {
        "race": race_parcel(race, band),
        "wanted": {"mode": layout, "theme": theme},
        "palettes": palettes(),
    }
    data = json.dumps(shown, default=_packed).replace("<", "\\u003c")
    script = inline(sources.script_of("race"))
    title = f"Race: {' against '.join(told_apart([run.scenario for run in race.runs]))}"
    role = shown["race"]["racers"][race.winner if race.winner is not None else 1]["role"]  # type: ignore[index]
    answer = f"--rc: var(--pl-{role}); --rc-ink: var(--pl-{role}-ink); --rc-wash: color-mix(in srgb, var(--rc) 14%, var(--pl-box))"
    return f"""<!doctype html>
<html lang="en" data-mode="{layout}">
<head>
<meta charset="utf-8">
{policy(script)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{sources.style_race()}</style>
</head>
<body>
<main class="rc-root" style="{answer}"></main>
<script type="application/json" id="rc-data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def race_frame(race: Race) -> str:
    """Return a frame that plays a race in a notebook, and below it the same in words, also for where frames are taken out."""
    page = race_html(race, bands=False)
    words = race_parcel(race)["words"]
    return (
        f"<iframe srcdoc='{escape(page, quote=True)}' title='{escape(words, quote=True)}'"
        " style='width:100%;aspect-ratio:1120/640;min-height:600px;border:0;display:block'></iframe>"
        f"<p>{escape(words)}</p>"
    )


def _packed(value: Any) -> str:
    """Return the columns of rows in base64."""
    return b64encode(value).decode()
