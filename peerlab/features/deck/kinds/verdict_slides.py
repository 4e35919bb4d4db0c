"""The last slide of a review: what to do, and from which gain on to keep it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from peerlab.answer.gain import GainBand
from peerlab.base.errors import shell_word
from peerlab.base.units import TIMES_SIGN, say_bytes, say_count, say_range
from peerlab.features.deck.blocks import (
    card,
    facts,
    grid,
    paper_without_ground,
    paragraphs,
    span,
    words,
)
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import ASSUMED, faster, figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.model.guide import where_to_find
from peerlab.model.paths import data_path
from peerlab.picture.drawing import Point
from peerlab.picture.gain_ticks import SLOWER
from peerlab.picture.scale import logarithmic
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette
from peerlab.study.planned import Trial
from peerlab.study.switching import PathSwitch, switching

_CLEAR = 1.05
"""From which ratio on a path is called faster."""


def recommendation(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Say what to do, what to expect, and from where on to keep it."""
    gain = compared.gain_band
    # For Peer Direct only if it is faster at the worst end of every wiring, against it only if no end makes
    # it faster.
    if gain.least > _CLEAR:
        title = "Recommendation: use Peer Direct"
    elif gain.most > _CLEAR:
        title = "Recommendation: measure before deciding"
    else:
        title = "Recommendation: stay with the way through the host"
    trial = compared.trial
    steps = "".join(
        f"<div class='step'><h3>{words(name)}</h3><code>{_command(code)}</code>{paragraphs(says)}</div>"
        for name, code, says in _to_do(compared, trial)
    )
    cards = (
        card(_expect(compared), 4, high=faster(gain)),
        card(steps, 8, title="What to do", high="spread two-rows"),
        card(_accept(compared, trial), 4, title="What the log must show"),
    )
    switch = (f"Switch: {trial.source}.", _measures(trial)) if trial else ()
    notes = (
        _depends(gain),
        f"{compared.gain:.2f}{TIMES_SIGN} as fast; {gain.range_in_words()}.",
        ASSUMED,
        *switch,
    )
    return Slide(
        title,
        "",
        grid(*cards),
        notes=notes,
        source=_threshold_said(trial) or figures_said(compared),
    )


def _command(code: str) -> str:
    """Return a command as HTML that is broken before a flag."""
    return " ".join(f"<span>{words(part)}</span>" for part in re.split(" (?=--)", code))


def _measures(trial: Trial) -> str:
    """Say what is compared with the threshold, and what a gain above it and below it tells."""
    return f"Time before / time after at {say_bytes(trial.size_bytes)}, median of {trial.repeats} runs each. {trial.question[:1].upper()}{trial.question[1:]}."


def _expect(compared: ComparedRuns) -> str:
    gain = compared.gain_band
    rows = facts(
        *((f"if {case.says}", span(case.low, case.high)) for case in gain.wired[1:3]),
        *_own_ports(compared),
    )
    if_wired = f" if {gain.wired[0].says}" if gain.wired else ""
    return (
        f"<p>Expect</p><p class='large'>{words(span(gain.low, gain.high))}</p>"
        f"<p class='label'>{words(f'as fast{if_wired}')}</p>{rows}"
    )


def _own_ports(compared: ComparedRuns) -> list[tuple[str, str]]:
    """Name the way between servers that is not compared, where there is one: past the host and its NICs."""
    own = next((path for path in compared.base.hardware.paths if data_path(path).uses_own_ports), "")
    return (
        [("the devices' own ports, not compared", f"{compared.run(path=own).busbw_GBps:.3g} GB/s")]
        if own
        else []
    )


def _tried(compared: ComparedRuns, trial: Trial) -> GainBand:
    """Return the gain at the size that the trial measures."""
    size = trial.size_bytes
    # The trial may measure at another size than the deck compares: its threshold holds for that one.
    return compared.gain_band if size == compared.base.nbytes else compared.band_of(message_bytes=size)


def _accept(compared: ComparedRuns, trial: Trial | None) -> str:
    """Draw from which measured gain on the path is kept."""
    if trial is None:
        return paragraphs(
            "Keep it where the runs with it are faster than the slowest without by more than their own spread: no switch of this cluster's library is known."
        )
    gain = _tried(compared, trial)
    ends_said = span(gain.low, gain.high)
    paper, at = Paper(palette(PAGE)), _around(trial.threshold, gain.high)
    edge, ends = at(trial.threshold), (at(gain.low), at(gain.high))
    paper.box((0, 40, edge, 94), *SLOWER, radius=3)
    paper.box((edge, 40, _WIDE, 94), "direct", radius=3)
    paper.line([(edge, 30), (edge, 104)], "ink", 3)
    paper.text((edge / 2, 67), "go back", size=18, bold=True)
    paper.text(((edge + _WIDE) / 2, 67), "keep", size=18, bold=True)
    paper.text((edge, 14), f"{trial.threshold:.2f}{TIMES_SIGN}", size=18, bold=True)
    if edge - at(1.0) > _CLOSE:
        once = max(at(1.0), _HALF)
        paper.line([(once, 30), (once, 40)], "muted", 2)
        paper.text((once, 14), f"1{TIMES_SIGN}", size=18, ink="muted")
    paper.line([(ends[0], 122), (ends[1], 122)], "direct-ink", 4)
    for end in ends:
        paper.line([(end, 115), (end, 129)], "direct-ink", 2)
    size = say_bytes(trial.size_bytes)
    # What the card above says already stands here without its numbers; a trial at another size has its own.
    own = ends_said != span(compared.gain_band.low, compared.gain_band.high)
    _below(paper, (sum(ends) / 2, 148), f"{size}: expect {ends_said}" if own else f"expected at {size}")
    sentence = (
        f"Keep from {trial.threshold:.2f}{TIMES_SIGN} on, below it go back; expected at {size}: {ends_said}."
    )
    return paper_without_ground(paper, _WIDE, 162, sentence)


def _below(paper: Paper, at: Point, sentence: str) -> None:
    """Write below the bar, as near to a place as the card has room for the words."""
    half = _LETTER * len(sentence) / 2
    place = (min(max(at[0], half), _WIDE - half), at[1])
    paper.text(place, sentence, size=18, ink="direct-ink")


_WIDE = 344.0
_CLOSE, _HALF = 56.0, 14.0
"""So far from the threshold once as fast is marked; half as wide as its number is."""
_LETTER = 11.0
"""How wide a letter of 18 pixels is at most."""
_LEFT_PART = 0.31
"""Of the bar, at least, left of the threshold: as wide as its words."""


def _around(threshold: float, most: float) -> Callable[[float], float]:
    """Return where a gain is on an axis that leaves room for words left of the threshold; what lies beyond is at its end."""
    # Never so wide that the threshold sticks to the left edge: a gain of 10 is drawn at the end.
    high = min(max(most * 1.05, 1.4 * threshold), 3 * threshold)
    low = threshold / max(1.35, (high / threshold) ** (_LEFT_PART / (1 - _LEFT_PART)))
    at = logarithmic((low, high), (0.0, _WIDE))
    return lambda value: min(max(at(value), 0.0), _WIDE)


def _threshold_said(trial: Trial | None) -> str:
    if trial is None:
        return ""
    return f"Threshold: peerlab plan. Switch: {re.split('[,;:]', trial.source)[0]}; in full: speaker's notes"


def _switch(trial: Trial | None) -> PathSwitch | None:
    return next((switch for switch in switching().switches if trial and switch.name == trial.switch), None)


def _program(trial: Trial) -> str:
    """Return the program that a trial's tool is."""
    words_of = switching().tools[trial.tool].command.split()
    return next(Path(word).name for word in words_of if not word.startswith("python"))


def _variables(given: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in given.items())


def _to_do(compared: ComparedRuns, trial: Trial | None) -> Iterator[tuple[str, str, str]]:
    """Yield what to do, its command and what must come of it."""
    check = compared.gain_band.decisive
    first = "Every check must pass" + (f". First of all: {check.figure.label}" if check else "")
    yield "Check", "peerlab doctor", first
    # A plan measures an AllReduce at its own size; without one the log is of what the review asked.
    what = "AllReduce" if trial else compared.base.collective_record.title
    sizes = f"{what} of {say_bytes(trial.size_bytes if trial else compared.base.nbytes)}, {say_count(compared.base.nodes, 'node')}"
    if trial:
        plan = f"peerlab plan --cluster {shell_word(compared.base.hardware.name)} --nodes {compared.base.nodes} --output trial"
        yield "Plan", plan, f"A script of all runs of {_program(trial)}, off and on in turns"
    path_switch = _switch(trial)
    on, off = (
        (_variables(dict(path_switch.on)), _variables(dict(path_switch.off))) if path_switch else ("", "")
    )
    yield (
        "Log before",
        off,
        f"{sizes}; peerlab diagnose must say: {compared.base.data_path.title}",
    )
    need = f"; the log has to say {trial.needs}" if trial and trial.needs else ""
    yield (
        "Log after",
        on,
        f"The same, cache on; peerlab diagnose must say: Peer Direct{need}",
    )
    yield (
        "Decide",
        "peerlab plan --read trial" if trial else "",
        "Medians of both, and whether to keep it or to go back"
        if trial
        else "Compare medians with the runs' own spread",
    )
    yield (
        "Go back",
        "",
        "As Log before, through the host again; no data and no code is touched",
    )


def _depends(gain: GainBand) -> str:
    """Say which assumption moves the gain most, and how far."""
    assumption = gain.decisive
    if assumption is None:
        return "None of the assumed figures moves the gain by 1 %."
    if gain.wired:
        sentence = "; ".join(f"{case.gain:.2f}{TIMES_SIGN} if {case.says}" for case in gain.wired)
    else:
        ends = sorted(case.gain for case in assumption.cases)
        sentence = f"{say_range(ends[0], ends[-1])}{TIMES_SIGN}"
    return f"The gain depends most on {assumption.figure.label}: {sentence}. Find that out first: {where_to_find(assumption.figure)}."
