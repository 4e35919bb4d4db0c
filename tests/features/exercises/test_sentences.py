"""A sentence of the course has at most 25 words: in labs, exercises, what code tells, and the trainer's papers; one that is longer is named."""

import ast
import json
import re

import pytest

from peerlab.base.places import folder
from peerlab.features.exercises.catalogue import find, names, transfer_of

MOST = 25
LABS = {path.stem: path for path in sorted(folder("labs").glob("*.ipynb"))}
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[*>-] |\d+\. |#|\||    ))")
_END = re.compile(r"(?<=[.!?:])[*_\"')\]]*\s+")
"""A sentence ends at a full stop, a question or exclamation mark, or a colon; so does a paragraph, an item of a list, a cell of a table."""
_NO_WORDS = re.compile(r"```.*?```|\]\([^)]*\)|\([^()]*\)", re.DOTALL)
"""Code, addresses of links, and what stands in brackets, such as a source: it is read apart."""


def sentences(text):
    """Yield the sentences of a text in Markdown."""
    for block in _BLOCK.split(_NO_WORDS.sub(" ", text)):
        if block.lstrip().startswith("|"):
            yield from (one for cell in block.split("|") for one in _END.split(cell.strip()))
        elif not block.startswith("    "):
            yield from _END.split(" ".join(block.split()))


def too_long(text):
    """Return the sentences with more than the words that they may have, each with their number."""
    counted = [(len(re.findall(r"[^\s*·—-]+", one)), one) for one in sentences(text)]
    return [f"{words} words: {one}" for words, one in counted if words > MOST]


def test_words_are_counted_by_sentence():
    text = f"It is short. {'word ' * 25}end. And: {'word ' * 24}end.\n\n* {'a b ' * 14}(a source {'of words ' * 20})"
    assert [one.partition(" ")[0] for one in too_long(text)] == ["26", "28"]


@pytest.mark.parametrize("name", LABS)
def test_no_sentence_of_a_lab_is_too_long(name):
    cells = json.loads(LABS[name].read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert too_long(text) == []


def words(one):
    """Return all that an exercise says, but for what its code is told."""
    replies = [says for _, says in one.wrong()] if not hasattr(one, "attempts") else []
    bounds = [bound.says for bound in getattr(one, "bounds", ())]
    return "\n\n".join([one.question, one.why, *one.hints, *replies, *bounds])


@pytest.mark.parametrize("name", names())
def test_no_sentence_of_an_exercise_is_too_long(name):
    assert too_long(words(find(name))) == []


@pytest.mark.parametrize("lab", sorted({name[:2] for name in names()} - {"00"}))
def test_no_sentence_of_a_transfer_task_is_too_long_whatever_its_seed(lab):
    """Those of the tour simulate a band each, and differ in their figures alone."""
    for seed in range(0, 50, 7):
        assert too_long(words(transfer_of(lab).drawn(seed))) == []


def test_no_sentence_of_the_trainers_paper_is_too_long(root):
    assert too_long((root / "docs" / "workshop.md").read_text(encoding="utf-8")) == []


def documented(tree):
    """Yield the strings that document a module, a class, a function or a field."""
    for holder in ast.walk(tree):
        for stands in getattr(holder, "body", []) if not isinstance(holder, ast.Lambda | ast.IfExp) else []:
            if isinstance(stands, ast.Expr) and isinstance(stands.value, ast.Constant):
                yield id(stands.value)


def told_by(code):
    """Yield the sentences that code tells: strings that end as one does, with a number for what is filled in."""
    tree = ast.parse(code)
    joined = [part for part in ast.walk(tree) if isinstance(part, ast.JoinedStr)]
    left_out = {*documented(tree), *(id(piece) for part in joined for piece in part.values)}
    found = [
        "".join(piece.value if isinstance(piece, ast.Constant) else "1" for piece in part.values)
        for part in joined
    ]
    found += [
        part.value
        for part in ast.walk(tree)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in left_out
    ]  # fmt: skip
    return [text for text in found if " " in text and text.rstrip().endswith((".", "?", "!"))]


def test_what_code_tells_is_found_and_what_documents_it_is_not():
    code = 'def told(n):\n    """A docstring that is a sentence."""\n    return f"{n} of them are missing.", "a name"\n'
    assert told_by(code) == ["1 of them are missing."]


def test_no_sentence_that_an_exercise_or_a_cell_tells_is_too_long(root):
    """Replies to code are written where the code is tried, and predictions are asked in cells."""
    files = (root / "peerlab" / "features" / "exercises").rglob("*.py")
    papers = (root / "docs" / "course").glob("*.py")
    sources = {str(file): file.read_text(encoding="utf-8") for file in (*files, *papers)}
    for name, lab in LABS.items():
        cells = json.loads(lab.read_text(encoding="utf-8"))["cells"]
        sources[name] = "\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "code")
    told = {name: told_by(source) for name, source in sources.items()}
    assert sum(map(len, told.values())) > 500
    assert {
        name: long
        for name, texts in told.items()
        if (long := [one for text in texts for one in too_long(text)])
    } == {}
