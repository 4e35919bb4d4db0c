"""A deck's outline as short Markdown: ``#`` is the deck, each ``##`` a slide, words below it are for the speaker.

``#`` has a slide of its own, the first unless ``## title`` puts it elsewhere. Below it list items name the scenario and the
training (``- nodes: 8``, ``- step time: 0.35``), other lines are the subtitle. A ``##`` is a kind of slide, with a title of your
own behind a colon, or the title of a slide of your own. Below it, lines that begin with ``>`` stand on the slide, all others are
notes.
"""

from collections.abc import Mapping
from typing import Any

from peerlab.errors import ExportError, nearest
from peerlab.textfile import read_value

_TRAINING = {
    "gradient": "gradient_bytes",
    "communication": "communication_share",
    "step time": "step_time_s",
    "overlap": "overlap_share",
}
"""Words of a list item to fields of a training."""


def read_markdown(text: str, name: str, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return an outline in Markdown as its TOML would hold it; `kinds` are those of slides, `name` is the file's.

    Raises
    ------
    ExportError
        If a line has no meaning; it names the line.
    """
    deck: dict[str, Any] = {}
    slides: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            _read(line.rstrip(), deck, slides, kinds)
        except ExportError as problem:
            raise ExportError(f"{name}, line {number}: {problem}") from None
    if not deck:
        raise ExportError(f"{name} is empty: it begins with # and the title of the deck")
    for slide in slides:
        for part in ("text", "notes"):
            slide[part] = slide.get(part, "").strip()
    if slides and not any(slide["show"] == "title" for slide in slides):
        slides.insert(0, {"show": "title"})
    return {**deck, "slide": slides}


def _read(line: str, deck: dict[str, Any], slides: list[dict[str, Any]], kinds: Mapping[str, str]) -> None:
    if line.startswith("##"):
        _begin(line, deck, slides, kinds)
    elif line.startswith("#"):
        if deck:
            raise ExportError("a second # line; slides begin with ##")
        deck["title"] = _words(line, "#")
    elif slides:
        quoted = line.startswith(">")
        part = "text" if quoted else "notes"
        slides[-1][part] = f"{slides[-1].get(part, '')}\n{line[1:].strip() if quoted else line}"
    elif line and not deck:
        raise ExportError("words before the title; an outline begins with # and the title of the deck")
    elif line.startswith(("- ", "* ")):
        _item(line[2:], deck)
    elif line:
        deck["subtitle"] = f"{deck.get('subtitle', '')} {line.strip()}".strip()


def _begin(line: str, deck: dict[str, Any], slides: list[dict[str, Any]], kinds: Mapping[str, str]) -> None:
    """Begin a slide."""
    if not deck:
        raise ExportError("a slide before the title; an outline begins with # and the title of the deck")
    heading = _words(line, "##")
    kind, _, title = (part.strip() for part in heading.partition(":"))
    if kind.lower() in kinds:
        slides.append({"show": kind.lower(), "title": title})
    elif " " not in kind and kind.islower():
        raise ExportError(f"{kind!r} is no kind of slide; {nearest(kind.lower(), kinds)}")
    else:
        slides.append({"show": "text", "title": heading})


def _words(line: str, mark: str) -> str:
    if not line.startswith(f"{mark} ") or not line[len(mark) :].strip():
        raise ExportError(f"{line!r}: write {mark}, a space and words")
    return line[len(mark) :].strip()


def _item(item: str, deck: dict[str, Any]) -> None:
    """Take a field of the scenario or of the training."""
    name, colon, value = (part.strip() for part in item.partition(":"))
    if not colon or not name or not value:
        raise ExportError(f"{item!r} says nothing; write a name, a colon and a value, as in - nodes: 8")
    table, field = (
        ("training", _TRAINING[name]) if name in _TRAINING else ("scenario", name.replace(" ", "_"))
    )
    held = deck.setdefault(table, {})
    field = "message_bytes" if field == "message" else field
    if field in held:
        raise ExportError(f"{name} is given twice")
    held[field] = read_value(value)
