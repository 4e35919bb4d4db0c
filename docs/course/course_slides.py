"""The course on slides, for the room: what docs/workshop.md says of each lab, with a picture that the simulation gives today."""

import re
from collections.abc import Iterator
from pathlib import Path

from course_cards import after_lab, before_lab, large, set_closely

from peerlab.features.deck.blocks import card
from peerlab.features.deck.deck_page import page
from peerlab.features.deck.slide import Slide
from peerlab.features.exercises.catalogue import exercises
from peerlab.features.exercises.lessons.reading_time import core_and_all

WORKSHOP = Path(__file__).parent.parent / "workshop.md"
LABS = WORKSHOP.parent.parent / "labs"


def html() -> str:
    """Return the deck."""
    return page("Where do the bytes of an AllReduce go? The course", list(slides()))


def slides() -> Iterator[Slide]:
    """Yield the slides: a bet, the tasks, three for each lab of the timetable, and the end."""
    text = WORKSHOP.read_text(encoding="utf-8")
    bets = (card(f"<p class='hero'>{bet}</p>", 3) for bet in ("1.1", "1.7", "4", "10"))
    yield Slide(
        title="Where do the bytes of an AllReduce go?",
        body=set_closely(
            card(
                large(
                    "Two servers, an accelerator and a NIC in each. The bytes go up into host memory, over the wire, and down again."
                ),
                12,
                high="plain",
            ),
            card(
                large("Somebody connects the NIC to the accelerator directly. How many times as fast?"),
                12,
                high="plain",
            ),
            *bets,
        ),
        cover=True,
        notes=(_plain(_section(text, "### Welcome, and a bet")),),
    )
    yield Slide(
        title="Two tasks, five minutes, no names",
        body=set_closely(
            card(large("The way of a byte, by the detour and by Peer Direct."), 6, title="1. A drawing"),
            card(large("Six lines: whose path is it?"), 6, title="2. A log"),
            card(large("A number of your own choice on the sheet. You get the same sheet at the end."), 12),
        ),
        notes=(
            "Give out tasks.html, printed. Collect the sheets after five minutes; do not talk about them.",
        ),
    )
    for row in _rows(text, "## Checkpoints"):
        yield from _lab(text, row)
    asked = re.findall(r"^\d\. (.+)$", _section(text, "## Four questions for the end"), re.MULTILINE)
    yield Slide(
        title="The same two tasks again, and four questions",
        body=set_closely(*(card(large(one), 6, title=str(number)) for number, one in enumerate(asked, 1))),
        notes=(_plain(_section(text, "### Good-bye")),),
    )


def _lab(text: str, row: list[str]) -> Iterator[Slide]:
    """Yield what is said before a lab, what stands on the wall meanwhile, and what the room discusses after it."""
    number, first, second, discussed, because = row
    idea, trap, close = (_plain(part) for part in _parts(_section(text, f"### {number}: ")))
    title = idea.partition(".")[0]
    yield Slide(title=f"{number}: {title[0].upper()}{title[1:]}", body=before_lab(number), notes=(idea, trap))
    (file,) = LABS.glob(f"{number}_*.ipynb")
    core = [one.name for one in exercises(number) if not one.further]
    yield Slide(
        title=f"{number}: {core_and_all(file)[0]} minutes, alone or in pairs",
        body=set_closely(
            card("".join(large(name) for name in core), 4, title="The core, in this order"),
            card(large(_plain(first)), 4, title="At minute 10"),
            card(large(_plain(second)), 4, title="At minute 20"),
            card(
                large("Stuck: the red cup on top. Done early: open what is folded as Further."),
                12,
                tone="hot",
            ),
        ),
        notes=("Leave this on the wall while they work.",),
    )
    yield Slide(
        title=f"{number}: With the room",
        subtitle=_plain(discussed),
        body=after_lab(number, discussed, close),
        notes=(f"Because: {because}.", trap),
    )


def _parts(said: str) -> tuple[str, str, str]:
    """Return idea, trap and closing question of what is said about a lab."""
    found = re.match(
        r"\*Idea:\*(.*?)(?:\*Trap:\*(.*?))?\*(?:Close with|Question for the room):\*(.*)", said, re.DOTALL
    )
    if not found:
        raise ValueError(f"docs/workshop.md: no idea and closing question in {said[:60]!r}")
    idea, trap, close = (part or "" for part in found.groups())
    return idea, trap, close


def _section(text: str, heading: str) -> str:
    """Return what stands below a heading that begins so, up to the next one."""
    after = text[text.index(f"\n{heading}") + 1 :].partition("\n")[2]
    return re.split(r"^##", after, maxsplit=1, flags=re.MULTILINE)[0].strip()


def _rows(text: str, heading: str) -> list[list[str]]:
    """Return the rows of the first table below a heading, without its head."""
    first = re.search(r"(?:^\|.*\|\n)+", _section(text, heading), re.MULTILINE)
    lines = re.findall(r"^\|(.*)\|$", first[0] if first else "", re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines[2:]]


def _plain(text: str) -> str:
    """Return a text without marks of Markdown."""
    return " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)|[*`]", r"\1", text).split())
