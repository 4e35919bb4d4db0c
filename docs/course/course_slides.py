"""The course on slides, for the room: what docs/workshop.md says of each lab, with a picture that the simulation gives today."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from learning_tasks import log_lines

from peerlab.engine.simulate import simulate
from peerlab.features.deck.blocks import card, grid, paragraphs
from peerlab.features.deck.deck_page import page
from peerlab.features.deck.slide import Slide
from peerlab.features.exercises.catalogue import exercises, find
from peerlab.features.exercises.labs import review
from peerlab.features.exercises.labs.advice import advice
from peerlab.picture.still import still_svg
from peerlab.question.scenario import Scenario

WORKSHOP = Path(__file__).parent.parent / "workshop.md"
DETOUR = Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = DETOUR.with_(path="peer-direct")


def html() -> str:
    """Return the deck."""
    return page("Where do the bytes of an AllReduce go? The course", list(slides()))


def slides() -> Iterator[Slide]:
    """Yield the slides: a bet, the tasks, two for each lab of the timetable, and the end."""
    text = WORKSHOP.read_text(encoding="utf-8")
    yield Slide(
        title="Where do the bytes of an AllReduce go?",
        lines=(
            "Two servers, an accelerator and a NIC in each. The bytes go up into host memory, over the wire, and down again.",
            "Somebody connects the NIC to the accelerator directly. How many times as fast?",
            "1.1   1.7   4   10: hands up.",
        ),
        cover=True,
        notes=(_plain(_section(text, "### Welcome, and a bet")),),
    )
    yield Slide(
        title="Two tasks, five minutes, no names",
        lines=(
            "A drawing: the way of a byte, by the detour and by Peer Direct.",
            "A log of six lines: whose path is it?",
            "A number of your own choice on the sheet. You get the same sheet at the end.",
        ),
        notes=(
            "Give out tasks.html, printed. Collect the sheets after five minutes; do not talk about them.",
        ),
    )
    for row in _rows(text, "## Checkpoints"):
        yield from _lab(text, row)
    yield Slide(
        title="The same two tasks again, and four questions",
        lines=tuple(
            re.findall(r"^\d\. (.+)$", _section(text, "## Four questions for the end"), re.MULTILINE)
        ),
        notes=(_plain(_section(text, "### Good-bye")),),
    )


def _lab(text: str, row: list[str]) -> Iterator[Slide]:
    """Yield what is said before a lab, and what the room discusses after it."""
    number, first, second, discussed, because = row
    said = _section(text, f"### {number}: ")
    idea, trap, close = (_plain(part) for part in _parts(said))
    title = idea.partition(".")[0]
    yield from _shown(number, f"{number}: {title[0].upper()}{title[1:]}", (idea, trap))
    lines = (
        _question(discussed),
        f"At minute 10: {_plain(first)}. At minute 20: {_plain(second)}.",
        f"To end with: {close}",
    )
    yield Slide(
        title=f"{number}: With the room, {_plain(discussed)}",
        lines=lines,
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


def _question(discussed: str) -> str:
    names = {one.name for one in exercises()}
    name = next((word for word in re.findall(r"\d\d-[\w-]+", discussed) if word in names), "")
    return "Three of you read your sentence aloud." if name.endswith("-transfer") else find(name).question


def _shown(number: str, title: str, notes: tuple[str, ...]) -> Iterator[Slide]:
    """Yield the slide with a lab's picture: a log, a table, or a path with what is busy on it."""
    if number == "05":
        log = card(
            f"<pre style='font-size:20px;line-height:1.7;margin:0'>{escape(chr(10).join(log_lines()))}</pre>",
            12,
        )
        vote = card(
            paragraphs(
                "Whose path is it? Kernel TCP, RDMA through host memory, Peer Direct, or cannot tell. Vote before anybody runs anything."
            ),
            12,
            tone="hot",
        )
        yield Slide(title=title, body=grid(log, vote), notes=notes)
    elif number == "06":
        rows = (("where the NICs hang", "least gain", "largest gain", "what the rule says"), *_bands())
        yield Slide(
            title=title,
            subtitle="One machine, before and after somebody looks at a server",
            rows=rows,
            notes=notes,
        )
    else:
        run = simulate(
            {
                "00": DETOUR,
                "01": DETOUR.with_(library="none"),
                "03": DIRECT.with_(registration="per-transfer"),
            }[number]
        )
        busy = ", ".join(f"{name} {share:.0%}" for name, share in list(run.busy_lanes().items())[:4])
        yield Slide(title=title, pictures=(still_svg(run),), lines=(f"Busy: {busy}.",), notes=notes)


def _bands() -> list[tuple[str, ...]]:
    file = review.filled_in()
    rows = []
    for says, cluster in (
        ("nobody has looked", file),
        ("below the switch", review.looked_at(file)),
        ("a root port of its own", review.looked_at(file, "root-port")),
    ):
        host, direct = (simulate(one.with_(cluster=cluster)) for one in (DETOUR, DIRECT))
        gain = direct.gain_band(host)
        rows.append((says, f"{gain.least:.2f}", f"{gain.most:.2f}", advice(gain.least, gain.most)))
    return rows


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
