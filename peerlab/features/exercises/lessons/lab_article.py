"""A lab as an article of a page: its prose as HTML, its exercises and predictions as cards, and what its other cells show, as recorded.

The cells are run when the article is made, with the solution of every exercise in its place, as a notebook that was answered.
"""

import ast
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.errors import PeerlabError, SweepStopped
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.lessons.cards import card, prediction_card
from peerlab.features.exercises.lessons.solved import solved
from peerlab.picture.still import still_svg
from peerlab.picture.theme import PAGE
from peerlab.question.scenario import Scenario

ASKS_THE_MACHINE = ("measure", "pin_cost", "show_limit", "doctor", "write_deck")
"""Functions whose answer is about the learner's own machine or files: a page has none."""
NOTEBOOK_ONLY = {
    "04": "It measures your own machine.",
    "06": "It writes a cluster file and slides of your own.",
    "11": "It simulates many runs with noise, which takes a browser tab too long.",
}
"""Labs that no page can hold, and why."""
Link = Callable[[Scenario], str]
"""Where the live explorer shows a scenario."""
_HOW_TO_RUN = re.compile(
    r"(?:Run the cells one by one with |Choose \*\*Run ▸ ).*?(?=\n\n|\Z)|What you have done is kept in a file [^.]*\.\s*",
    re.DOTALL,
)
"""What labs say of running their cells, and of the file beside a notebook; a page has neither."""
_EMPTY_HEADER = re.compile(r"<th[^<>]*>(?:&nbsp;)?</th>")
"""Above the names of rows tables have an empty header, which a screen reader cannot say."""
_REPORT = re.compile(r"(<section class='pl-report[^']*' aria-label=')([^']*)'")
_LAB_LINK = re.compile(r"\(((\d\d)_\w+)\.ipynb\)")


@dataclass
class LabArticle:
    """A lab as an article."""

    number: str
    """``"01"``."""
    title: str
    """As its first heading says it."""
    why_not: str = ""
    """Why no page can hold it; empty where one can."""
    html: str = ""
    """Prose, cards' places and recorded answers."""
    cards: list[dict[str, Any]] = field(default_factory=list)
    """What the page needs to ask, in the order of the places (``<div data-card=...>``)."""


def lab_articles(place: Path, link: Link) -> list[LabArticle]:
    """Return every lab of a folder; of those that no page can hold the title and why.

    Raises
    ------
    PeerlabError
        If a cell of one fails.
    """
    articles = []
    for file in sorted(place.glob("[0-9][0-9]_*.ipynb")):
        why_not = NOTEBOOK_ONLY.get(file.name[:2], "")
        # The title is read in any case: the list of labs names those that have no page, too.
        title = _heading(_cells(json.loads(file.read_text(encoding="utf-8"))))
        articles.append(LabArticle(file.name[:2], title, why_not) if why_not else lab_article(file, link))
    return articles


def lab_article(file: Path, link: Link) -> LabArticle:
    """Return a lab as an article.

    Raises
    ------
    PeerlabError
        If a cell of it fails.
    """
    notebook = json.loads(file.read_text(encoding="utf-8"))
    # The same cells twice: as learners see them, and with every answer filled in, which is what runs.
    cells, answered = _cells(notebook), _cells(solved(notebook))
    article = LabArticle(file.name[:2], _heading(cells))
    reader, folds = _Reader(article, link), _Folds()
    for number, (cell, (_, filled, _)) in enumerate(zip(cells, answered, strict=True), 1):
        kind, source, folded = cell
        if kind == "markdown":
            article.html += folds.prose(source, folded=folded)
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", SweepStopped)
                article.html += reader.read(source, filled)
        except SweepStopped:  # only Ctrl+C stops one here, and that ends the article, too
            raise KeyboardInterrupt from None
        except Exception as problem:  # noqa: BLE001  (a cell of a lab may raise anything)
            raise PeerlabError(f"{file.name}, cell {number}: {type(problem).__name__}: {problem}") from None
    article.html = _numbered(article.html + folds.end)
    return article


class _Folds:
    """Folds what stands below a heading that the notebook folds, up to the next heading that is no smaller."""

    end = ""
    """What closes the fold that is open."""

    def __init__(self) -> None:
        self._level = 0

    def prose(self, source: str, *, folded: bool) -> str:
        """Return the prose of a cell; what it begins or ends is folded."""
        # As many signs as the heading is deep; 0 is no heading.
        level = len(source) - len(source.lstrip("#"))
        closed = ""
        # A heading that is no smaller ends what is folded; a smaller one is part of it.
        if level and self.end and level <= self._level:
            closed, self.end = self.end, ""
        if not folded:
            return closed + _prose(source)
        heading, _, rest = source.partition("\n")
        self._level, self.end = level, closed or "</details>"
        title = escape(heading.lstrip("# "))
        return f"{closed}<details class='pl-further'><summary><h{level}>{title}</h{level}></summary>{_prose(rest)}"


def _cells(notebook: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return of each cell its kind, its source, and whether what follows it is folded."""
    return [
        (
            cell["cell_type"],
            "".join(cell["source"]),
            bool(cell["metadata"].get("jp-MarkdownHeadingCollapsed")),
        )
        for cell in notebook["cells"]
    ]


def _heading(cells: Sequence[tuple[str, str, bool]]) -> str:
    return next(
        line[2:].strip() for _, source, _ in cells for line in source.splitlines() if line.startswith("# ")
    )


def _prose(text: str) -> str:
    from markdown_it import MarkdownIt  # noqa: PLC0415  (of the extra lab; a tab has none)

    # A lab that no page can hold is the notebook itself.
    linked = _LAB_LINK.sub(
        lambda match: match[0] if match[2] in NOTEBOOK_ONLY else f"(lab-{match[2]}.html)",
        _HOW_TO_RUN.sub("", text),
    )
    # No HTML of its own: what stands in a lab's prose is shown as it is written.
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(linked))


class _Reader:
    """Runs cells one after the other, and returns what each shows."""

    def __init__(self, article: LabArticle, link: Link) -> None:
        self._article, self._link = article, link
        self._names: dict[str, Any] = {}

    def read(self, source: str, filled: str) -> str:
        """Return what a cell shows; `filled` is the cell with the exercise's solution in its place."""
        body = ast.parse(filled).body
        waits = [name for each in body if (name := _waits_for(each))]
        kept = [each for each in body if not _waits_for(each)]
        # Not run: its answer would be about the machine that writes the page.
        if any(name in ASKS_THE_MACHINE for name in _called(kept)):
            return _code(source, "This cell asks your own machine. Run it in the notebook:", shown=True)
        # A notebook shows the value of a cell's last expression; what comes before only defines.
        last = kept.pop() if kept and isinstance(kept[-1], ast.Expr) else None
        self._run(kept)
        if last is None:
            return _code(source, "What the next cells use")
        shown = self._html_of(last.value, source)  # type: ignore[attr-defined]  # an expression, as asked above
        return _after(waits[0], shown) if waits else shown

    def _run(self, body: Sequence[ast.stmt]) -> None:
        exec(compile(ast.Module([*body], []), "lab", "exec"), self._names)  # noqa: S102  (our own labs)

    def _value(self, expression: ast.expr) -> Any:
        return eval(compile(ast.Expression(expression), "lab", "eval"), self._names)  # noqa: S307  (our own labs)

    def _html_of(self, expression: ast.expr, source: str) -> str:
        name = _name_of(expression)
        shows = {
            "exercise": self._exercise,
            "predict": self._prediction,
            "explore": self._explorer,
            "explore_step": self._step,
        }
        if isinstance(expression, ast.Call) and name in shows:
            return shows[name](expression, source)
        return f"<div class='pl-recorded' tabindex='0'>{_recorded(self._value(expression))}</div>{_code(source, 'The code of this')}"

    def _exercise(self, call: ast.Call, source: str) -> str:
        name = self._value(call.args[0])
        made = card(find(name))
        # A function is to be written: the page needs the cell to write in.
        written = source if "def " in source else None
        return self._card({"kind": "exercise", **made, "code": written})

    def _prediction(self, call: ast.Call, _: str) -> str:
        question, answers, truth = (self._value(expr) for expr in call.args)
        words = {word.arg: self._value(word.value) for word in call.keywords if word.arg}
        # Worked out now: the page has no kernel that could.
        return self._card({"kind": "predict", **prediction_card(question, answers, float(truth()), **words)})

    def _card(self, made: dict[str, Any]) -> str:
        self._article.cards.append(made)
        return f"<div class='pl-card-place' data-card='{len(self._article.cards) - 1}'></div>"

    def _explorer(self, call: ast.Call, _: str) -> str:
        scenario = self._value(call.args[0]) if call.args else Scenario()
        address = escape(self._link(scenario), quote=True)
        sentence = f"{scenario.hardware.title}, {scenario.nodes} nodes, {scenario.data_path.title}"
        return (
            f"<figure class='pl-open'><div tabindex='0' role='group' aria-label='Data path'>{still_svg(simulate(scenario), theme=PAGE, large=True)}</div><figcaption>"
            f"<button type='button' class='pl-here' hidden>Play it here</button> <a href='{address}'>Open it live</a> "
            f"<span>{escape(sentence)}</span></figcaption></figure>"
        )

    def _step(self, _: ast.Call, source: str) -> str:
        return _code(source, "A training step with switches: run this cell in the notebook.", shown=True)


def _recorded(value: Any) -> str:
    """Return a value as a notebook shows it."""
    if value is None:
        return ""
    show = getattr(value, "_repr_html_", None)
    # Some types return nothing where they are better as text.
    html = (show() if show else None) or f"<pre>{escape(str(value))}</pre>"
    return _EMPTY_HEADER.sub("<td></td>", html)


def _numbered(html: str) -> str:
    """Return a page whose reports of the same name have numbers, so that a screen reader tells them apart."""
    count = Counter[str]()

    def name(match: re.Match[str]) -> str:
        count[match[2]] += 1
        number = count[match[2]]
        return f"{match[1]}{match[2]}{f' ({number})' if number > 1 else ''}'"

    return _REPORT.sub(name, html)


def _code(source: str, says: str, *, shown: bool = False) -> str:
    opened = " open" if shown else ""
    return f"<details class='pl-source'{opened}><summary>{escape(says)}</summary><pre tabindex='0'>{escape(source)}</pre></details>"


def _after(exercise: str, shown: str) -> str:
    """Return what a learner should not see before an answer."""
    return f"<details class='pl-waits' data-waits='{exercise}'><summary>Answer {exercise} first, then open</summary>{shown}</details>"


def _called(body: Sequence[ast.stmt]) -> list[str]:
    return [_name_of(node) for each in body for node in ast.walk(each) if isinstance(node, ast.Call)]


def _waits_for(statement: ast.stmt) -> str:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or _name_of(call) != peerlab.wait_for.__name__:
        return ""
    return str(ast.literal_eval(call.args[0]))


def _name_of(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
