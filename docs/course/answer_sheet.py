"""One page for who walks round in the room: each core exercise with its answer and the first wrong turn."""

from collections.abc import Iterator
from contextlib import chdir
from html import escape
from tempfile import TemporaryDirectory

from write_answers import LABS, title

from peerlab.features.exercises.catalogue import exercises
from peerlab.features.exercises.exercise import Choice, Code, Exercise, Number

_STYLE = """
@page { size: A4; margin: 8mm }
body { font: 7.8pt/1.22 system-ui, sans-serif; margin: 0 auto; max-width: 192mm; color: #111; background: #fff }
h1 { font-size: 13pt; margin: 0 0 1mm } p { margin: 0 0 2mm }
main { columns: 2; column-gap: 6mm }
section { break-inside: avoid; margin-bottom: 1.8mm } h2 { font-size: 10.5pt; margin: 0 0 .6mm; border-bottom: .4pt solid #888 }
dl { margin: 0 } dt { font-weight: 600; margin-top: .5mm } dd { margin: 0 0 0 3mm } dd.wrong { color: #8a2b06 }
code { font-size: 7.2pt; overflow-wrap: anywhere }
"""
_LARGE = 1000
_MOST = 120
"""Letters of a reply: the page is one."""


def html() -> str:
    """Return the page."""
    labs = "".join(_lab(number) for number in sorted({one.lab for one in exercises() if one.seed is None}))
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Answers on one page</title><style>{_STYLE}</style>"
        "<h1>Answers on one page</h1><p>The core exercises, in their order: what is right, and below it the first wrong turn with what the checker says. "
        'Transfer tasks differ from seat to seat: <code>peerlab.exercise("01-transfer", seed=...)</code> shows that of a seat. Ask first: what did the reply say?</p>'
        f"<main>{labs}</main></html>\n"
    )


def _lab(number: str) -> str:
    (file,) = LABS.glob(f"{number}_*.ipynb")
    with TemporaryDirectory() as empty, chdir(empty):  # where no file of a learner lies
        rows = "".join(
            row for one in exercises(number) if one.seed is None and not one.further for row in _rows(one)
        )
    return f"<section><h2>{number} {escape(title(file))}</h2><dl>{rows}</dl></section>"


def _rows(one: Exercise) -> Iterator[str]:
    yield f"<dt>{one.name}: {_answer(one)}</dt>"
    answer, says = one.wrong()[0]
    said = (
        f"<code>{escape(_short(str(answer)))}</code>"
        if isinstance(one, Code)
        else escape(_figure(one, answer))
    )
    yield f"<dd class='wrong'>{said}: {escape(_short(says))}</dd>"


def _answer(one: Exercise) -> str:
    if one.measured:
        return "follows from the learner's own measurement"
    if isinstance(one, Number | Choice):
        return escape(_figure(one, one.truth()))
    return f"<code>{escape(' / '.join(one.solution.splitlines()))}</code>"


def _figure(one: Exercise, value: object) -> str:
    if not isinstance(one, Number):
        return str(value)
    written = f"{value:,.0f}" if abs(value) >= _LARGE else f"{value:.4g}"  # type: ignore[arg-type,operator]
    return f"{written} {one.unit}".strip()


def _short(text: str) -> str:
    first = " / ".join(text.replace("`", "").splitlines())
    return first if len(first) <= _MOST else f"{first[: first.rindex(' ', 0, _MOST)]} ..."
