"""A sentence of the course has at most 25 words: in labs, exercises and the trainer's papers; one that is longer is named."""

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
