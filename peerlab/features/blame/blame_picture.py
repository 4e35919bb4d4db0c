"""The blame strip: one bar for each node, or for each way where a way is to blame, and a line at 80 %."""

from collections.abc import Sequence
from typing import NamedTuple

from peerlab.base.units import say_percent, say_time
from peerlab.base.words_html import unbroken
from peerlab.features.blame.blaming import EXPLAINS, Blame, blame, blame_beside
from peerlab.features.blame.late_picture import bars, chart, in_words, late_chart, line
from peerlab.picture.theme import FONT, properties
from peerlab.question.scenario import Scenario

_STYLE = (
    ".pl-blame{display:flex;flex-wrap:wrap;gap:12px;max-width:1888px;print-color-adjust:exact;-webkit-print-color-adjust:exact}.jp-OutputArea-output>.pl-blame{padding:4px 12px 12px}"  # as other reports
    ".pl-proof{flex:100%;min-width:0;container:pl-proof/inline-size;border-radius:8px;background:var(--pl-panel)}.pl-charts{display:grid;gap:24px 40px;padding:14px 16px 16px;font-size:clamp(12.5px,7.4px + .46cqi,16px)}.pl-blame .pl-proof>.pl-why{max-width:none;padding:14px 16px 0;font-size:clamp(14px,7.4px + .46cqi,16px);color:var(--pl-ink)}"
    f".pl-chart{{min-width:0;container-type:inline-size;font-family:{FONT};line-height:1.52;color:var(--pl-muted)}}.pl-chart strong{{display:block;margin-bottom:14px;font-size:1.12em;font-weight:650;color:var(--pl-ink)}}"
    ".pl-lines{display:grid;grid-template-columns:max-content minmax(0,1fr) max-content;gap:3px 10px}.pl-line{display:contents}.pl-node{text-align:right}.pl-late .pl-amount:empty{display:none}"
    ".pl-line>span{min-height:1.52em;white-space:nowrap}.pl-many .pl-line:not(.pl-foot)>span{min-height:.96em;height:.96em;line-height:.96em}.pl-many .pl-lines{row-gap:2px}"
    ".pl-named>:is(.pl-node,.pl-amount){font-weight:650;color:var(--pl-hot-ink)}"
    # bars
    ".pl-extent{position:relative;box-shadow:-1px 0 var(--pl-faint)}.pl-extent i{display:block;height:100%;border-radius:0 4px 4px 0;background:var(--pl-edge)}.pl-named .pl-extent i{background:var(--pl-hot)}"
    f".pl-shares .pl-extent::after{{content:'';position:absolute;inset:-2px 0 -1px;background:linear-gradient(var(--pl-ink) 60%,transparent 0) calc(100% * {EXPLAINS}) 0/1.5px 25%;background-repeat:repeat-y}}"
    f".pl-from{{display:block;position:relative;left:calc(100% * {EXPLAINS});width:max-content;translate:-100%}}"
    # cells
    ".pl-late .pl-lines:has(.pl-cells){grid-template-columns:max-content minmax(0,1fr)}.pl-cells{display:flex}.pl-cells.pl-apart{gap:2px}"
    ".pl-cells i,.pl-key-of>i{flex:1;background:color-mix(in srgb,var(--pl-muted) var(--late,0%),var(--pl-faint))}.pl-named .pl-cells{outline:2px solid var(--pl-hot);outline-offset:1px}"
    ".pl-begins{position:relative;outline:2px solid var(--pl-ink);outline-offset:-1px}.pl-numbers{position:relative}.pl-numbers span{position:absolute;translate:-50%}"
    ".pl-key-row{display:flex;flex-wrap:wrap;gap:2px 20px;margin-top:4px}.pl-key-of{display:flex;align-items:center;gap:8px}.pl-key-of .pl-cells i{width:16px;height:12px}"
    ".pl-key-of>i{flex:none;width:12px;height:12px;background:var(--pl-edge)}.pl-key-of>.pl-begins{background:none}.pl-key-of.pl-named>i{background:var(--pl-hot)}"
    # beside cells each node has its line, and elsewhere those of nothing are one
    ".pl-each,.pl-all-steps{display:none}@container (min-width:480px){.pl-all-steps{display:contents}.pl-some-steps{display:none}}"
    "@container pl-proof (min-width:760px){.pl-two{grid-template-columns:minmax(0,2fr) minmax(0,3fr)}.pl-by-cells .pl-each{display:contents}.pl-by-cells .pl-others{display:none}}"
    ".pl-blame p{flex:100%;max-width:860px;margin:0;color:var(--pl-muted);text-wrap:pretty}.pl-blame .pl-says{text-wrap:balance;margin-bottom:-8px;font-size:clamp(18px,1vw + 13px,24px);line-height:1.25;font-weight:650;color:var(--pl-ink)}"
    ".pl-blame details p{margin-bottom:8px}.pl-blame details{width:100%;}.pl-blame summary{width:fit-content;margin-bottom:8px;font-size:13px;line-height:18px;cursor:pointer;color:var(--pl-muted);text-decoration:underline;text-underline-offset:2px}"
    ".pl-blame summary:focus-visible{outline:2px solid var(--pl-register-ink);outline-offset:2px}"
)


class RunBlamed(NamedTuple):
    """Who is to blame for a run."""

    verdict: str
    """In words."""
    pictures: str
    """What shows it, as HTML."""


def blame_html(blame: Blame) -> str:
    """Return the answer and its pictures in the colours of the page around them, and the times that they compare."""
    return _shown(blame, f"<p class='pl-says'>{unbroken(blame.in_words)}</p>", timed=True)


def _shown(blame: Blame, says: str, *, timed: bool) -> str:
    """Return the pictures below an answer; untimed, without times that a picture of runs has."""
    took = f"It took {_three_digits(blame.time_ps)}; ordinary" if timed else "Ordinary"
    times = f"{took} runs take {_three_digits(blame.ordinary_ps)} in the median, and 95\u00a0% of them at most {_three_digits(blame.slowest_ps)}."
    # Without slow parts the runs of the picture are the ordinary ones: their percentiles stand there.
    if not timed and not blame.scenario.has_slow_parts:
        times = ""
    late = late_chart(blame)
    spreads = in_words(blame) if late else ""
    if blame.slower:
        # Where the headline stands elsewhere, whom it begins with is said there and drawn here.
        times, pictures = (
            f"{times} {spreads}" if timed else times,
            _card(shares_chart(blame), late, why="" if timed else _why(blame)),
        )
    else:  # nothing was lost, so nobody explains a part of it
        folded = (
            f"<details><summary>Who is late in which step</summary><p>{spreads}</p>{_card(late)}</details>"
        )
        pictures = folded if late else ""
    return (
        f"<style>{properties('.pl-blame')}{_STYLE}</style>"
        f"<div class='pl-blame'>{says}{f'<p>{times}</p>' if times else ''}{pictures}</div>"
    )


def _card(*charts: str, why: str = "") -> str:
    """Return charts on one card, beside each other where they have room; `why`: what they prove, in a sentence above them."""
    drawn = [chart for chart in charts if chart]
    kind = " pl-two" * (len(drawn) > 1) + " pl-by-cells" * ("class='pl-cells" in drawn[-1])
    sentence = f"<p class='pl-why'>{unbroken(why)}</p>" if why else ""
    return f"<div class='pl-proof'>{sentence}<div class='pl-charts{kind}'>{''.join(drawn)}</div></div>"


def _why(blame: Blame) -> str:
    """Return why somebody is to blame, which no picture of who is late shows, as all wait for the latest; empty where nobody is."""
    if not blame.named:
        return ""
    who = blame.culprit
    return (
        f"Had {who[0].lower()}{who[1:]} been ordinary, {say_percent(blame.share)} of the delay would be gone: "
        "the others are late because they wait for it."
    )


def _three_digits(ps: float) -> str:
    """Return a time with its zeros: times beside each other have as many digits.

    >>> _three_digits(5_000_000_000), _three_digits(5_030_000_000), _three_digits(103_000_000_000)
    ('5.00 ms', '5.03 ms', '103 ms')
    """
    value, unit = say_time(ps).split()
    digits = f"{float(value):#.3g}".rstrip(".")
    return say_time(ps) if "e" in digits else f"{digits} {unit}"  # e: 1000 and more


def blame_of_run(scenario: Scenario, others: Sequence[int]) -> RunBlamed:
    """Return who is to blame for a run, and the pictures of that; `others` are times of runs that differ by their seed alone, picoseconds.

    Where a part is slow those are slow, too, so that ordinary runs are simulated.
    """
    alone = scenario.has_slow_parts
    answer = blame(scenario) if alone else blame_beside(scenario, others, of_ordinary=False)
    # Who chose the run has read its time.
    return RunBlamed(unbroken(answer.verdict), _shown(answer, "", timed=False))


def shares_chart(blame: Blame) -> str:
    """Return the chart as HTML: a bar for each way where a way is to blame, else one for each node."""
    asks, rows = f"Delay explained by each {'way' if blame.way else 'node'}", _rows(blame)
    foot = f"<span><span class='pl-from'>to blame from {say_percent(EXPLAINS)} on</span></span>"
    lines = bars(rows) + line("", foot, kind="pl-foot")
    return chart("pl-shares", asks, blame.in_words, lines, len(rows))


def _rows(blame: Blame) -> list[tuple[str, float, str, str]]:
    """Return for each node name, share, its words and whether it is named; of the ways from a node the one that explains most."""
    if blame.way:
        senders = sorted({sender for (sender, _), _ in blame.ways})
        # The way that is named stands even where another from its sender explains more.
        most = [max((way == blame.way, won, way) for way, won in blame.ways if way[0] == s) for s in senders]
        rows = [(f"node {way[0]} → node {way[1]}", blame.part(won), named) for named, won, way in most]
    else:
        rows = [(f"node {node}", share, node in blame.named) for node, share in enumerate(blame.explained)]
    return [
        (name, 0.0 if say_percent(share) == "0 %" else share, say_percent(share), "pl-named" if named else "")
        for name, share, named in rows
    ]
