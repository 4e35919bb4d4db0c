r"""What a result says, told once: a title and its parts in order. Terminal, page and Markdown are three renderings of it.

>>> answer = Document("Which path?", (Conclusion("pass", "Peer Direct, clear", "the log says so"), Table("", ("path", "odds"), (("direct", "97 %"),))))
>>> print("\n".join(document_lines(answer)))
Peer Direct, clear: the log says so
<BLANKLINE>
  path    odds
  direct  97 %
"""

# A part holds text as its author would say it: nothing of HTML, nothing of a terminal's width. So a renderer can escape and
# wrap everything, and a feature can't say one thing in its page and another in its command. What only a picture can tell
# is a `Graphic`, which a terminal leaves out: whatever it shows has to stand in a table, too.

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from peerlab.base.terminal_text import table, wrapped

_COMMAND = re.compile(r"`([^`]+)`")
_SIGNS = re.compile(r"[\\`*\[\]<>|#~&$]|(?<!\w)_|_(?!\w)")  # an underscore inside a word is one


@dataclass(frozen=True)
class Conclusion:
    """What the result comes to: its name, and why."""

    status: str
    """``pass``, ``warn``, ``fail`` or ``unknown``, for each of which a page has a sign and a colour; ``named``: no judgement, so no sign."""
    name: str
    why: str


@dataclass(frozen=True)
class Text:
    """A paragraph; `lead` is what the eye shall see first of it, a quiet one says what the result rests on, a large one is an answer."""

    text: str
    lead: str = ""
    quiet: bool = False
    large: bool = False


@dataclass(frozen=True)
class Heading:
    """Opens a section."""

    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is more than text: `bar` is its share of the longest bar, `role` that bar's colour."""

    text: str
    bar: float | None = None
    role: str = "hot"
    strong: bool = False

    def __len__(self) -> int:
        return len(self.text)


Cells = Sequence[str | Cell]


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first of a row is its heading, columns in `right` are numbers; a page shows a folded one when it is asked for."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Cells]
    right: Collection[int] = ()
    kind: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Item:
    """One piece of a list: what it says, in further words, and what those rest on; `command` can be run as it stands."""

    text: str
    further: str = ""
    command: str = ""
    source: str = ""


@dataclass(frozen=True)
class Items:
    """A list under a caption; nothing is shown of an empty one."""

    caption: str
    items: Sequence[Item]


@dataclass(frozen=True)
class Graphic:
    """A picture as SVG, with its own alternative text; the caption says how to read it, and is left out where the picture is."""

    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Fold:
    """Parts that a page shows when it is asked for, by this name; elsewhere they stand where they are."""

    name: str
    parts: tuple["Part", ...]


Part = Conclusion | Text | Heading | Table | Items | Graphic | Fold


@dataclass(frozen=True)
class Document:
    """A title, and what is said in order."""

    title: str
    parts: tuple[Part, ...]


def document_lines(document: Document) -> Iterator[str]:
    """Yield the lines of a document for a terminal, as wide as it is; its title is the command's to say."""
    parts = list(_unfolded(document.parts))
    for place, part in enumerate(parts):
        opens = isinstance(part, Heading | Table | Items) and not _empty(part)
        if place and opens and not isinstance(parts[place - 1], Heading):
            yield ""
        yield from _lines(part)


def document_text(document: Document) -> str:
    """Return a document for a terminal, below its title."""
    return "\n".join([document.title, *document_lines(document)])


def _unfolded(parts: Sequence[Part]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Fold):
            yield from _unfolded(part.parts)
        else:
            yield part


def _empty(part: Part) -> bool:
    return isinstance(part, Items) and not part.items


def _lines(part: Part) -> Iterator[str]:
    match part:
        case Conclusion():
            yield from wrapped(f"{part.name}: {part.why}" if part.why else part.name)
        case Text():
            yield from wrapped(f"{part.lead} {part.text}".strip())
        case Heading():
            yield part.text
        case Table():
            yield from [part.caption] if part.caption else []
            yield _table(part)
        case Items() if part.items:
            yield from [part.caption] if part.caption else []
            for item in part.items:
                yield from _item(item)


def _table(part: Table) -> str:
    return table(part.head, [tuple(map(_cell, row)) for row in part.rows], right=part.right)


def _cell(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def _item(item: Item) -> Iterator[str]:
    yield from wrapped(item.text, "  * ")
    if item.command:  # never wrapped: it is copied
        yield f"      {item.command}"
    for text in filter(None, (item.further, item.source)):
        yield from wrapped(text, "      ")


def document_markdown(document: Document) -> str:
    """Return a document as Markdown, to paste into an issue or a page of notes; a drawing is left out."""
    blocks = [
        f"## {_plain(document.title)}",
        *(block for part in _unfolded(document.parts) if (block := _markdown(part))),
    ]
    return "\n\n".join(blocks) + "\n"


def _markdown(part: Part) -> str:
    match part:
        case Conclusion():
            return f"**{_plain(part.name)}**" + (f": {_with_code(part.why)}" if part.why else "")
        case Text():
            return f"**{_plain(part.lead)}** {_with_code(part.text)}" if part.lead else _with_code(part.text)
        case Heading():
            return f"### {_plain(part.text)}"
        case Table():
            rows = [[_plain(_cell(cell)) for cell in row] for row in part.rows]
            marks = ["--:" if column in part.right else ":--" for column in range(len(part.head))]
            listed = "\n".join(f"| {' | '.join(row)} |" for row in (part.head, marks, *rows))
            return f"**{_plain(part.caption)}**\n\n{listed}" if part.caption else listed
        case Items() if part.items:
            listed = "\n".join(map(_markdown_item, part.items))
            return f"**{_plain(part.caption)}**\n\n{listed}" if part.caption else listed
        case _:
            return ""


def _markdown_item(item: Item) -> str:
    command = f"\n  {_code(item.command)}" if item.command else ""
    further = "".join(f"\n  {_with_code(text)}" for text in (item.further, item.source) if text)
    return f"- {_plain(item.text)}{command}{further}"


def _with_code(text: str) -> str:
    """Return text whose commands, each between two backquotes, stay code: inside code nothing else means anything."""
    pieces = _COMMAND.split(text.replace("\n", " "))
    return "".join(_code(piece) if place % 2 else _plain(piece) for place, piece in enumerate(pieces))


def _code(text: str) -> str:
    """Return text as code between more backquotes than it has in a row itself."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    gap = " " if "`" in text else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def _plain(text: str) -> str:
    """Return text with the signs of Markdown made plain: a log may hold any of them."""
    return _SIGNS.sub(r"\\\g<0>", text.replace("\n", " "))
