"""A race as one HTML file, which plays in any browser, on a slide, and in a frame of a notebook."""

from peerlab.answer.gain import GainBand
from peerlab.answer.race import Race
from peerlab.features.race.race_parcel import band_of, race_parcel
from peerlab.page.played_page import played_frame, played_page
from peerlab.question.naming import told_apart


def race_html(
    race: Race, *, layout: str = "page", theme: str = "auto", bands: bool = True, framed: bool = False
) -> str:
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
    framed:
        Whether it is a slide of a deck, which says the source at its own foot.
    """
    return _page(race, band_of(race) if bands else None, layout, theme, framed=framed)


def _page(
    race: Race,
    band: GainBand | None,
    layout: str,
    theme: str,
    *,
    framed: bool = False,
    when: tuple[str, str] = ("", ""),
    controls: bool = False,
) -> str:
    parcel = race_parcel(race, band, when)
    title = f"Race: {' against '.join(told_apart([run.scenario for run in race.runs]))}"
    # Where nobody wins, the answer has the colour of the second, as in the order of the question.
    role = parcel["racers"][race.winner if race.winner is not None else 1]["role"]
    answer = f"--rc: var(--pl-{role}); --rc-ink: var(--pl-{role}-ink); --rc-wash: color-mix(in srgb, var(--rc) 14%, var(--pl-box))"
    # Once as fast is no gain, so that it has no colour.
    if f"{race.times_as_fast:.2f}" == "1.00":
        answer = "--rc: var(--pl-muted); --rc-ink: var(--pl-ink); --rc-wash: var(--pl-panel)"
    root, wanted = (
        f'class="rc-root" style="{answer}"',
        {
            "mode": layout,
            "theme": theme,
            **{name: "yes" for name, so in (("framed", framed), ("controls", controls)) if so},
        },
    )
    return played_page("race", "rc", title, {"race": parcel}, ["race"], root, wanted)


def race_frame(
    race: Race, band: GainBand | None = None, when: tuple[str, str] = ("", ""), *, controls: bool = False
) -> str:
    """Return a frame that plays a race in a notebook, with the same in words for where frames are taken out.

    `band` is that of the winner's ratio, where it is known; `when` tells when each was shown: before, and now; `controls` around it
    say what is exchanged on which machine.
    """
    # In a notebook at once: a band takes seconds, and the lead is what a race shows.
    page = _page(race, band, "frame", "auto", when=when, controls=controls)
    words = race_parcel(race)["words"]
    size = "aspect-ratio:1120/640;min-height:600px"
    return played_frame(page, words, size, words)
