"""A collective step by step in a notebook: boxes with the numbers in them, and arrows between the ranks. One HTML text, no script.

The steps are radio buttons, and the style sheet shows the table of the chosen one; so it works with the keyboard, in a saved
notebook and in an exported one. One more button plays them all, one after the other, until a step is chosen; that is an
animation of the style sheet. Where styles are taken out, all tables stand one below the other.
"""

# Steps are radio buttons. The boxes of a collective (`features/exercises/lessons/steps`) are one HTML text without
# a script: the style sheet shows the table of the chosen step, or plays all of them while the last button,
# *Play*, is chosen. So they work with the keyboard, without a kernel, in exported notebooks; where styles
# are taken out, all tables stand one below the other. The numbers are the reference executor's.

import secrets
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from peerlab.base.display import shown
from peerlab.base.units import say_count
from peerlab.collectives.walk import Walk, WalkedStep, walk
from peerlab.picture.theme import properties

_SHORT = 4
"""Digits of a number that a box has room to tell again."""

_PACE_S = 2
"""How long a step is shown while they play, seconds."""
_ROW, _GAP = 46, 5
"""Height of a row of boxes and of the gap between two, CSS pixels, as in ``steps.css``."""

_STYLE = Path(__file__).parent / "steps.css"


class Steps:
    """A collective that a notebook shows step by step.

    Attributes
    ----------
    walk:
        Every step with its numbers.
    """

    def __init__(self, steps: Walk) -> None:
        self.walk = steps

    def __repr__(self) -> str:
        s = self.walk.scenario
        return f"Steps({s.algorithm}, {self.walk.ranks} ranks, {s.collective}: {len(self.walk.steps)} steps)"

    _repr_html_ = shown


def steps(
    algorithm: str | None = None,
    ranks: int = 4,
    numbers: Sequence[Sequence[int]] | None = None,
    *,
    collective: str = "allreduce",
) -> Steps:
    """Return a collective of real numbers, to be looked at step by step in a notebook.

    `.walk` has the same as values: ``steps("ring", 4).walk.held(3)`` is what every rank holds after three steps.

    Parameters
    ----------
    algorithm:
        One of a scenario's, between single devices; None: ``ring``, for an all-to-all ``direct``.
    ranks:
        2 to 8; `numbers` decides where they are given.
    numbers:
        What each rank contributes, a row of whole numbers per rank. Without them, every box of rank r
        holds 10 to the power of r, so that the digits of a sum tell whose contributions are in it: 1001 has those of
        ranks 0 and 3. In an all-to-all box t of rank r holds r and t as its two digits: 03 goes from rank 0 to rank 3.
    collective:
        ``allreduce`` or ``alltoall``.

    Raises
    ------
    ScenarioError
        If there are too few or too many ranks, the algorithm is not for so many or not for the collective, or the collective is
        another one.

    >>> steps("ring", 3).walk.held(1).tolist()
    [[1, 1, 101], [11, 10, 10], [100, 110, 100]]
    """
    return Steps(walk(algorithm, ranks, numbers, collective))


def steps_html(course: Walk) -> str:
    """Return the steps as HTML that brings its own style."""
    # Two outputs of one notebook would share their buttons.
    key = f"pl-{secrets.token_hex(4)}"  # radio buttons of two outputs must not belong together
    last = len(course.steps)
    title = f"{course.scenario.algorithm}, {course.ranks} ranks: {course.scenario.collective_record.title} in {say_count(last, 'step')}"
    # Without a script: the style sheet shows the pane whose button is chosen.
    shown = "".join(f"#{key}-{n}:checked~.pl-panes>#{key}-{n}-pane{{display:block}}" for n in range(last + 1))
    panes = "".join(_pane(course, n, key) for n in range(last + 1))
    kind = "pl-steps pl-exchange" if course.exchanges else "pl-steps"
    return (
        f"<style>{_style()}{shown}{_playing(key, last + 1)}</style><section class='{kind}' aria-label='{escape(title, quote=True)}' "
        f"data-columns='{course.start.shape[1]}'><h3>{escape(title[0].upper() + title[1:])}</h3>"
        f"<fieldset><legend>After step</legend>{_track(course, key)}<div class='pl-panes'>{panes}</div></fieldset></section>"
    )


def _track(course: Walk, key: str) -> str:
    """Return a radio button for every step, and one for the start."""
    buttons = []
    kinds = ["pl-begin", *(_kind(course, step) for step in course.steps)]
    for n, kind in enumerate(kinds):
        checked = " checked" if n == 0 else ""
        buttons.append(
            f"<input type='radio' name='{key}' id='{key}-{n}' data-lm-suppress-shortcuts='true'{checked}>"
            f"<label for='{key}-{n}' class='{kind}'>{n or 'start'}</label>"
        )
    play = (
        f"<input type='radio' name='{key}' id='{key}-play' class='pl-plays' data-lm-suppress-shortcuts='true'>"
        f"<label for='{key}-play' class='pl-play'><span aria-hidden='true'>▶ </span>Play</label>"
    )
    key_of_colours = "".join(
        f"<span><i class='{kind}'></i>{words}</span>"
        for kind, words in (("pl-adds", "adding up"), ("pl-hands", "handing out"))
        if kind in kinds
    )
    return (
        "".join(buttons)
        + play
        + (f"<span class='pl-means'>{key_of_colours}</span>" if key_of_colours else "")
    )


def _kind(course: Walk, step: WalkedStep) -> str:
    """Return the class of what a step does; in an exchange all do the same, and have no colour."""
    return "pl-moves" if course.exchanges else "pl-adds" if step.adds else "pl-hands"


def _playing(key: str, count: int) -> str:
    """Return the rules that show the tables one after the other, and mark the step of each, while the last button is chosen."""
    chosen, part, whole = f"#{key}-play:checked~", 100 / count, count * _PACE_S
    rules = [
        f"@keyframes {key}-show{{0%{{visibility:visible}}{part:.4g}%,100%{{visibility:hidden}}}}",
        f"@keyframes {key}-mark{{0%{{background:var(--pl-ink);color:var(--pl-box)}}{part:.4g}%,100%{{background:var(--pl-box);color:var(--pl-ink)}}}}",
        f"{chosen}.pl-panes>.pl-pane{{animation:{key}-show {whole}s step-end infinite}}",
        f"fieldset:has(>#{key}-play:checked)>label:not(.pl-play){{animation:{key}-mark {whole}s step-end infinite}}",
    ]
    for n in range(count):
        places = (
            f"{chosen}.pl-panes>#{key}-{n}-pane,fieldset:has(>#{key}-play:checked)>label[for='{key}-{n}']"
        )
        # All run the same motion, each so much earlier, so that at any time one of them is at its beginning.
        rules.append(f"{places}{{animation-delay:{(n - count) * _PACE_S if n else 0}s}}")
    return "".join(rules)


def _pane(course: Walk, n: int, key: str) -> str:
    back = f"<label for='{key}-{n - 1}' aria-hidden='true'>◂ Back</label>" if n else "<span>◂ Back</span>"
    on = (
        f"<label for='{key}-{n + 1}' aria-hidden='true'>Next ▸</label>"
        if n < len(course.steps)
        else "<span>Next ▸</span>"
    )
    head = "".join(f"<th scope='col'>{_column(course, box)}</th>" for box in range(course.start.shape[1]))
    arrows = f"<td class='pl-arrows' rowspan='{course.ranks}'>{_arrows(course, n)}</td>"
    body = "".join(
        f"<tr><th scope='row'>rank {rank}</th>{''.join(_cells(course, n, rank))}{'' if rank else arrows}</tr>"
        for rank in range(course.ranks)
    )
    return (
        f"<div class='pl-pane' id='{key}-{n}-pane'><p class='pl-say'><span class='pl-turn'>{back}{on}</span>{_say(course, n)}</p>"
        f"<table><thead><tr><td></td>{head}<td></td></tr></thead><tbody>{body}</tbody></table></div>"
    )


def _column(course: Walk, box: int) -> str:
    """Return what a box is called: by its number, or by whom it is for or from."""
    if not course.exchanges:
        return f"box {box}"
    way, at = ("to", box) if box < course.sends else ("from", box - course.sends)
    # Each of the ranks has as many boxes as are for it.
    return f"{way} {at // (course.sends // course.ranks)}"


def _arrows(course: Walk, n: int) -> str:
    """Return an arrow from every rank that sends in a step to who receives; the boxes say the same in words."""
    step = course.steps[n - 1] if n else None
    width, height = 20 + 9 * course.ranks, course.ranks * (_ROW + _GAP) - _GAP
    drawn = []
    for rank, to in sorted({(move.rank, move.to) for move in step.moves} if step else ()):
        start, end = (place * (_ROW + _GAP) + _ROW / 2 for place in (rank, to))
        down = 1 if to > rank else -1
        start, end = start + 3 * down, end - 10 * down  # what leaves a rank and what comes stand apart
        far = 12 + 12 * abs(to - rank)  # so that a long arrow goes round a short one
        drawn.append(f"<path class='pl-arrow' d='M3 {start:g}C{far} {start:g} {far} {end:g} 6 {end:g}'/>")
        drawn.append(f"<path class='pl-tip' d='M2 {end:g}l8 -4v8z'/>")
    kind = _kind(course, step) if step else "pl-moves"
    return f"<svg class='{kind}' width='{width}' height='{height}' aria-hidden='true'>{''.join(drawn)}</svg>"


def _say(course: Walk, n: int) -> str:
    """Return what happens in a step, in words."""
    if n == 0:
        own = " What it has for itself is where it belongs." if course.exchanges else ""
        return (
            f"<b>Start.</b> Every rank holds what it {'sends' if course.exchanges else 'contributes'}.{own}"
        )
    step, sent = course.steps[n - 1], course.sent(n)
    what = "exchanging" if course.exchanges else "adding up" if step.adds else "handing out"
    boxes, senders = max(len(move.boxes) for move in step.moves), len(step.moves)
    pronoun = "it" if boxes == 1 else "them"
    does = f"adds {pronoun} to its own" if step.adds else f"puts {pronoun} in place of its own"
    does = f"puts {pronoun} under the sender's number" if course.exchanges else does
    who = (
        "Every rank sends"
        if senders == course.ranks
        else "One rank sends"
        if senders == 1
        else f"{senders} ranks send"
    )
    most = f"Sent so far{'' if min(sent) == max(sent) else ', at most'}: {max(sent):.3g} of a rank's buffer."
    return (
        f"<b>Step {n} of {len(course.steps)}: {what}.</b> {who} {boxes} {'box' if boxes == 1 else 'boxes'}"
        f"{' each' if 1 < senders < course.ranks else ''}; who receives {does}. <span class='pl-quiet'>{most}</span>"
    )


def _cells(course: Walk, n: int, rank: int) -> list[str]:
    """Return the boxes of a rank after a step: what is in them, and what came or went."""
    held, there, final = course.held(n)[rank], course.there(n)[rank], course.final(n)[rank]
    step = course.steps[n - 1] if n else None
    cells = []
    for box, number in enumerate(held):
        came, went = _traffic(step, rank, box)
        kinds = [name for name, text in (("pl-came", came), ("pl-went", went)) if text]
        kinds += ["pl-full"] * bool(final[box])
        note = "; ".join(text for text in (came, went) if text)
        cell = _number(course, number) if there[box] else "&nbsp;"
        told = f"<small>{note}</small>" if note else ""
        cells.append(f"<td class='{' '.join(kinds)}'><b>{cell}</b>{told}</td>")
    return cells


def _number(course: Walk, number: int) -> str:
    """Return a number; those that name sender and receiver of an all-to-all have two digits."""
    return f"{number:02}" if course.exchanges else str(number)


def _traffic(step: WalkedStep | None, rank: int, box: int) -> tuple[str, str]:
    """Return what came into a box in this step, and where it went, in words."""
    came = went = ""
    for move in step.moves if step else ():
        if box in move.into and move.to == rank and step:
            number = str(step.before[move.rank, move.boxes[move.into.index(box)]])
            came = f"from {move.rank}"
            if step.adds and len(number) <= _SHORT:  # else it does not fit into a box
                came = f"+{number} {came}"
        if box in move.boxes and move.rank == rank:
            went = f"to {move.to}"
    return came, went


@cache
def _style() -> str:
    return properties(".pl-steps") + _STYLE.read_text(encoding="utf-8")


def walked_html(steps: Steps) -> str:
    """Return the steps of a collective, to be walked through."""
    return steps_html(steps.walk)
