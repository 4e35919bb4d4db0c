"""A deck's outline as Markdown: YAML above the slides (`front_matter`), each ``##`` a slide, words below it are for the speaker.

A ``##`` is a kind of slide, with a title of your own behind a colon, or the title of a slide of your own. Below it, lines that begin
with ``>`` stand on the slide, all others are notes. The slide of the title is the first unless ``## title`` puts it elsewhere.
"""

# An outline is Markdown with YAML above it, as Pandoc and Quarto read slides. markdown-it says which lines
# begin a slide and which are quoted, and PyYAML reads the lines above; their words are never formatted.
# Only the nodes of the YAML are used, two levels deep: `no` and `2026-01-02` stay words, and no tag or
# alias has an effect that costs anything. Every error names its line.

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from peerlab.base.errors import ExportError, nearest
from peerlab.features.deck.reading.front_matter import read_front_matter

_MARKDOWN = MarkdownIt("commonmark").use(front_matter_plugin).disable(["inline", "lheading"])
"""Says what each line is. Words stay as they are, and a line of --- below words makes no heading of them."""
_HOW = "title and scenario stand above the slides between two lines of ---, as in title: Why Peer Direct; each slide begins with ##"


class _Line(Exception):  # noqa: N818  (it becomes an error of the file)
    """What is wrong with a line, which is counted from 0."""

    def __init__(self, number: int, says: str) -> None:
        super().__init__(number, says)
        self.number, self.says = number, says


def read_markdown(text: str, name: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return title, subtitle, scenario and training, as far as they are given, and the slides in a list.

    Each slide has ``show``, ``title``, ``text`` and ``notes``. `kinds` are those of slides, `name` is the file's.

    Raises
    ------
    ExportError
        If a line has no meaning; it names the line.
    """
    if not text.strip():
        raise ExportError(f"{name} is empty: {_HOW}")
    # As markdown-it counts lines; `splitlines` would cut at form feeds, too, and name other lines.
    tokens, lines = _MARKDOWN.parse(text), text.split("\n")
    head = tokens[0] if tokens and tokens[0].type == "front_matter" else None
    deck = read_front_matter(head.content, name) if head else {}
    try:
        slides = _slides(tokens, lines, head.map[1] if head and head.map else 0, kinds)
    except _Line as problem:
        raise ExportError(f"{name}, line {problem.number + 1}: {problem.says}") from None
    # A deck begins with its answer, unless the outline puts it elsewhere.
    if slides and not any(slide["show"] == "title" for slide in slides):
        slides.insert(0, {"show": "title"})
    return {**deck, "slides": slides}


def _slides(
    tokens: Sequence[Token], lines: Sequence[str], first: int, kinds: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the slides on the lines from `first` on."""
    blocks = [
        (token.type, token.map[0], token.map[1])
        for token in tokens
        if token.level == 0 and token.map and token.map[0] >= first
    ]
    headings = {
        heading.map[0]: (heading.tag, words.content)
        # Behind each heading's opening stands the token with its words.
        for heading, words in pairwise(tokens)
        if heading.type == "heading_open" and heading.level == 0 and heading.map
    }
    starts = list(headings)
    _refuse_words(lines, first, starts[0] if starts else len(lines))
    shown = set[int]()
    for kind, begin, end in blocks:
        if kind == "blockquote_open":
            shown.update(_quoted(lines, begin, end))
        elif kind == "paragraph_open":
            _refuse_missed_slides(lines, begin, end)
    return [
        {**_headed(start, *headings[start], kinds), **_body(lines, start + 1, end, shown)}
        for start, end in pairwise([*starts, len(lines)])
    ]


def _refuse_words(lines: Sequence[str], first: int, end: int) -> None:
    """Refuse what stands above the first slide and is no front matter."""
    for number in range(first, end):
        if number == 0 and lines[0].startswith("---"):
            raise _Line(0, "the YAML that begins here has no end; write --- on a line of its own below it")
        if lines[number].strip():
            raise _Line(number, f"words above the first slide; {_HOW}")


def _headed(number: int, tag: str, heading: str, kinds: Mapping[str, str]) -> dict[str, str]:
    """Return kind and title of a slide."""
    if tag != "h2":
        raise _Line(number, f"{'#' * int(tag[1])} {heading} begins no slide; {_HOW}")
    if not heading:
        raise _Line(number, "a slide without words; write ##, a space and words")
    kind, _, title = (part.strip() for part in heading.partition(":"))
    if kind.lower() in kinds:
        return {"show": kind.lower(), "title": title}
    # One word in small letters is a kind with a slip; what has a space or a capital is a title.
    if " " not in kind and kind.islower():
        raise _Line(number, f"{kind!r} is no kind of slide; {nearest(kind.lower(), kinds)}")
    return {"show": "text", "title": heading}


def _quoted(lines: Sequence[str], begin: int, end: int) -> Iterator[int]:
    """Yield the lines of a quotation. In Markdown a line without > may go on with it; a speaker's note must not slip onto a slide so."""
    for number in range(begin, end):
        if lines[number].lstrip().startswith(">"):
            yield number
        elif lines[number].strip():
            raise _Line(
                number, "words right below >; begin the line with > too, or leave a line empty above it"
            )


def _refuse_missed_slides(lines: Sequence[str], begin: int, end: int) -> None:
    for number in range(begin, end):
        if lines[number].startswith("##"):
            raise _Line(number, f"{lines[number]!r}: write ##, a space and words")


def _body(lines: Sequence[str], begin: int, end: int, shown: Container[int]) -> dict[str, str]:
    """Return what stands on a slide, and its notes; each quotation is a paragraph of its own."""
    text, notes = list[str](), list[str]()
    for number in range(begin, end):
        if number in shown:
            text.append(lines[number].lstrip()[1:].strip())
        else:
            notes.append(lines[number].rstrip())
            # Notes between two quotations part them into two paragraphs.
            text += [""] if text and text[-1] else []
    return {"text": "\n".join(text).strip(), "notes": "\n".join(notes).strip()}
