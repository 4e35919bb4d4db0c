"""What lessons show: the style of predictions and exercises, a log, and the sums of a training over a registration cache.

Each exercise brings the style, as there need be no explorer above.
"""

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from peerlab.base.units import say_bytes, say_count
from peerlab.features.exercises.logs import LabLog
from peerlab.features.exercises.tables import Folded
from peerlab.page.frame import framed, table
from peerlab.picture.theme import properties

_STYLE = Path(__file__).parent / "lesson.css"
_RANGE = re.compile(r"\d[\d.]{0,9} to \d[\d.]{0,9} times as fast")


@cache
def style() -> str:
    """Return a ``<style>`` element for what has the class ``pl-lesson``, light and dark."""
    return f"<style>{properties('.pl-lesson')}{_STYLE.read_text(encoding='utf-8')}</style>"


def folded_html(says: str, shown: str) -> str:
    """Return HTML below a line that opens it."""
    return f"<details><summary>{escape(says)}</summary>{shown}</details>"


def log_html(name: str, text: str) -> str:
    """Return the text of a log as HTML."""
    border = "1px solid color-mix(in srgb, currentColor 25%, transparent)"
    look = f"overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;padding:8px 12px;border:{border};border-radius:4px;line-height:1.3"
    return f"<pre tabindex='0' aria-label='log {escape(name)}' style='{look}'>{escape(text)}</pre>"


def sums_html(training: Any) -> str:
    """Return the steps of a `peerlab.features.exercises.labs.stale.TrainingSums` as HTML: where the buffer was, and whether the sum was right."""
    head = ("step", "buffer of rank 0", "its registration", "due", "got", "")
    rows = [_step(number, step) for number, step in enumerate(training.steps, 1)]
    status, sign = ("pass", "✓") if training.right else ("fail", "✕")
    dead = f"<br>{say_bytes(training.dead_bytes)} freed and still pinned" if training.dead_bytes else ""
    verdict = f"<p class='pl-verdict pl-{status}'><span class='pl-sign' aria-hidden='true'>{sign}</span> <b>{training.says}</b>{dead}</p>"
    return framed("stale", f"Training steps with {training.cache}", verdict + table("", head, rows, "steps"))


def _step(number: int, step: Any) -> tuple[str, ...]:
    where = f"{say_bytes(step.nbytes)} at <code>{step.address:#x}</code>"
    times = f"anew, {say_count(step.registered, 'chunk')}" if step.registered else "found in the cache"
    was = "-" if step.was is None else f"{step.was:g}"
    mark = "<b class='pl-pass'>right</b>" if step.right else "<b class='pl-fail'>wrong</b>"
    return str(number), where, times, f"{step.should_be:g}", was, f"{escape(step.refusal)}" or mark


def lab_log_html(log: LabLog) -> str:
    """Return the text of a log of the labs."""
    return log_html(log.name, log.text)


def quoted_html(sentence: str) -> str:
    """Return a sentence set as one to be quoted."""
    # what is quoted first is the range; the condition is read after it
    return f"<p style='font-size:1.25em;margin:.4em 0'>{_RANGE.sub(lambda match: f'<b>{match[0]}</b>', escape(sentence), count=1)}</p>"


def folded_table_html(folded: Folded) -> str:
    """Return a table folded below its line."""
    # Whatever is folded knows how a notebook shows it.
    return folded_html(folded.says, folded.shown._repr_html_())


def game_html(game: Any) -> str:
    """Return the runs of a `peerlab.features.exercises.labs.search_game.SearchGame` so far, and what an accusation was told, as HTML."""
    rows = [(", ".join(map(str, some)), f"{took:.2f}") for some, took in game.runs]
    told = f"<p role='status'>{escape(game.accused)}</p>" if game.accused else ""
    runs = table("", ("nodes of the run", "times as long as a healthy run"), rows, "runs so far")
    may = f"{say_count(len(game.possible), 'node')} may still be the slow one"
    return framed("search", may, runs + told)
