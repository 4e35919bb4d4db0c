"""The page of many runs: one of them is chosen, at a percentile or the slowest, and the blame strip is that run's."""

from html import escape

from peerlab.base.errors import PeerlabError
from peerlab.base.feature import registered
from peerlab.base.progress_bar import progress_bar
from peerlab.base.words_html import unbroken
from peerlab.features.tails.percentiles import PER_MILLE, name_of
from peerlab.features.tails.tails import Tails
from peerlab.features.tails.tails_sheets import FALLING, SHEET_STYLE, dots_in_words, sheets_html
from peerlab.page.frame import alone
from peerlab.picture.theme import properties
from peerlab.picture.words import title

SLOWEST = 1000
"""Per mille of the slowest run."""
_STYLE = """
body{margin:0}.pl-runs{min-height:100vh;background:var(--pl-paper);color:var(--pl-ink);font:clamp(14px,8px + .46vw,17px) system-ui,-apple-system,Segoe UI,sans-serif}
main{max-width:1888px;margin:0 auto;padding:12px 16px}
h1{font-size:1em;line-height:1.25;font-weight:400;color:var(--pl-muted);margin:0 0 4px}.pl-tails{margin-top:8px}.pl-blames p{max-width:none}
.pl-who .pl-says{margin:0;font-size:clamp(24px,1vw + 11px,30px);line-height:1.25;font-weight:650;color:var(--pl-ink);text-wrap:balance}
p{margin:4px 0;max-width:128ch;text-wrap:pretty}
.pl-of,.pl-about p{color:var(--pl-muted)}.pl-of{max-width:none;text-wrap:balance}
.pl-run{display:none}.pl-sheet .pl-run{position:absolute;inset:0}
.pl-sheet .pl-run svg>rect:first-of-type{fill:none}
input{position:absolute;opacity:0}
.pl-choice{display:flex;flex-wrap:wrap;gap:6px;align-items:center;margin:10px 0 12px}
.pl-about{display:flex;gap:16px;align-items:center;margin-top:16px}.pl-about p{flex:1;text-wrap:balance}
label{border:1px solid var(--pl-edge);border-radius:6px;padding:6px 12px;cursor:pointer}
.pl-blames .pl-blame>:is(p,details){background:var(--pl-panel);border-radius:8px;padding:12px 16px;box-sizing:border-box}.pl-blames summary{margin:0}.pl-blames details[open] summary{margin-bottom:8px}.pl-blames details .pl-charts{padding:8px 0 0}
"""

_WATCHED = FALLING.replace(".pl-falls{animation:pl", "#falls:checked~.pl-tails .pl-falls{animation:pl") + (
    "#falls:checked~.pl-about .pl-watch{border-color:var(--pl-ink)}#falls:focus-visible~.pl-about .pl-watch{outline:2px solid var(--pl-register);outline-offset:2px}"
    "@media print,(prefers-reduced-motion:reduce){.pl-watch{display:none}}"
)
"""The page shows every run at once; they fall, in the order of their seeds, for whoever wants to watch it."""


def tails_page(tails: Tails) -> str:
    """Return the page as text; it runs no script. Who is to blame takes a simulation for each node and way of each run."""
    runs = _runs(tails)
    rules, inputs, labels = [], [], []
    for number, (name, _) in enumerate(runs):
        run, checked = f"run{number}", " checked" if name == _first(runs) else ""
        inputs.append(f"<input type='radio' name='run' id='{run}'{checked}>")
        labels.append(f"<label for='{run}'>{name}</label>")  # its time stands in the picture
        rules += [
            f"#{run}:checked~* .pl-{run}{{display:block}}",
            f"#{run}:checked~.pl-choice [for={run}]{{background:var(--pl-ink);color:var(--pl-paper);border-color:var(--pl-ink);font-weight:650}}",
            f"#{run}:focus-visible~.pl-choice [for={run}]{{outline:2px solid var(--pl-register);outline-offset:2px}}",
        ]
    first = tails.paths[0]
    inputs.append("<input type='checkbox' id='falls'>")
    says, blames = _blames(tails, runs)
    about = f"{title(first.scenario)}; {tails.runs_in_words}."
    body = (
        f"<div class='pl-runs'><main><h1>Who is late, and who is to blame?</h1>"
        f"{''.join(inputs)}<div>{says}</div><p class='pl-of'>{escape(unbroken(about))}</p>"
        f"<div class='pl-choice' role='group' aria-label='Choose a run'>Choose a run: {''.join(labels)}</div>"
        f"<div class='pl-blames'>{blames}</div>"
        f"<div class='pl-about'><label for='falls' class='pl-watch' title='Watch the runs come in, in the order of their seeds'>Play the runs</label><p>{dots_in_words(tails)}</p></div>"
        f"<div class='pl-tails'>{sheets_html(tails, [place for _, place in runs], since=0)}</div></main></div>"
    )
    return alone(
        "Who is late, and who is to blame?",
        f"<style>{properties('.pl-runs')}{_STYLE}{SHEET_STYLE}{_WATCHED}{''.join(rules)}</style>{body}",
    )


def _runs(tails: Tails) -> list[tuple[str, int]]:
    """Return the runs that can be chosen: at each percentile that is told, and the slowest, by their places among the seeds."""
    first = tails.paths[0]
    enough = [point.per_mille for point in first.percentiles if not point.missing]
    names = {per_mille: name_of(per_mille) for per_mille in PER_MILLE} | {SLOWEST: "slowest"}
    return [(names[per_mille], first.place_of(per_mille)) for per_mille in (*enough, SLOWEST)]


def _first(runs: list[tuple[str, int]]) -> str:
    """Return which is chosen when the page opens: p99 where it is told, else the slowest."""
    names = [name for name, _ in runs]
    return "p99" if "p99" in names else names[-1]


def _blames(tails: Tails, runs: list[tuple[str, int]]) -> tuple[str, str]:
    """Return for each run who is to blame for it as a headline, and the pictures; or in words why nobody can say it."""
    first, headlines, sections = tails.paths[0], [], []
    with progress_bar("blame", "runs", len(runs)) as bar:
        for number, (name, place) in enumerate(runs):
            scenario = first.scenario.with_(seed=first.scenario.seed + place)
            try:
                verdict, shown = registered("offers", "blame of a run")(scenario, first.times_ps)
            except PeerlabError as problem:
                shown = f"<p>Nobody can say who is to blame: {escape(str(problem))}.</p>"
            else:  # it stands at the head of the page; which run it is about, and how long that took, say the buttons below it
                headlines.append(
                    f"<div class='pl-who pl-run pl-run{number}'><p class='pl-says'>{escape(verdict)}</p></div>"
                )
            sections.append(
                f"<section class='pl-run pl-run{number}' aria-label='The run at {name}, seed {scenario.seed}'>{shown}</section>"
            )
            bar(number + 1)
    return "".join(headlines), "".join(sections)
