"""The slide on a network with neighbours: the same AllReduce while others send, on each fabric with queues."""

from typing import Any

from peerlab.base.feature import registered
from peerlab.base.units import say_bytes, say_share, say_time
from peerlab.features.deck.blocks import card, grid, paper_without_ground
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.picture.svg import Paper
from peerlab.picture.theme import PAGE, palette

_NEIGHBOURS = 4
_MOST_NODES, _MESSAGE = 8, "4 MiB"
"""What is quick to simulate; a share hardly depends on either."""
_WIDE, _LEFT, _ROOM, _PITCH, _THICK = 1144.0, 210.0, 860.0, 112.0, 54.0


def neighbours(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show what the AllReduce keeps of its speed on each fabric, and what that costs the network."""
    nodes = min(_MOST_NODES, compared.base.nodes)
    result = registered("offers", "neighbours on fabrics")(
        f"neighbour({_NEIGHBOURS})", nodes=nodes, message_bytes=_MESSAGE
    )
    sentences = [
        f"{answer.title}: {say_time(answer.alone_ps)} alone, {say_time(answer.time_ps)} beside others; "
        f"{say_bytes(answer.again_bytes) if answer.again_bytes else 'nothing'} sent twice; ports had to wait {say_time(answer.paused_ps + answer.starved_ps)}, all together."
        for answer in result.answers
    ]
    shares = [answer.share for answer in result.answers]
    return Slide(
        f"Beside {_NEIGHBOURS} neighbours an AllReduce keeps {say_share(min(shares))} to {say_share(max(shares))} of its speed",
        f"A ring of {_MESSAGE} on {nodes} hosts below two switches; {_NEIGHBOURS} others send into one host behind the same trunk",
        grid(card(_chart(result), 12)),
        notes=(
            result.finding,
            *sentences,
            "The scene is the network alone, which both ways share: it has no host memory, and no copies.",
            repr(result),
        ),
        source="Simulated by peerlab; thresholds and their sources: docs/model.md, queues",
    )


def _chart(result: Any) -> str:
    """Draw a bar for each fabric on an axis from nothing to the speed alone."""
    paper = Paper(palette(PAGE))
    high = _PITCH * len(result.answers)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = _LEFT + _ROOM * share
        paper.line([(x, 0), (x, high)], "edge" if share == 1 else "faint", 2 if share == 1 else 1)
        paper.text((x, high + 18), say_share(share), size=18, ink="muted")
    for place, answer in enumerate(result.answers):
        y = _PITCH * (place + 0.5)
        paper.text((0, y), answer.title, size=20, bold=True, align="left")
        paper.box((_LEFT, y - _THICK / 2, _LEFT + _ROOM * answer.share, y + _THICK / 2), "network", radius=3)
        end = _LEFT + _ROOM * answer.share
        paper.box((end, y - 16, end + 76, y + 16), "panel")  # no line of the grid runs through the words
        paper.text(
            (_LEFT + _ROOM * answer.share + 10, y), say_share(answer.share), size=22, bold=True, align="left"
        )
    alt = ", ".join(f"{answer.title} {say_share(answer.share)}" for answer in result.answers)
    return paper_without_ground(paper, _WIDE, high + 36, f"Share of its speed alone: {alt}.")
