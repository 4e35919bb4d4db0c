"""What slides of the course hold: before a lab a picture and what to ask, after it a question with its options."""

import re
from html import escape

from peerlab.diagnosis import CANNOT_TELL
from peerlab.engine.simulate import simulate
from peerlab.features.deck.blocks import card, table, without_ground, words
from peerlab.features.exercises.catalogue import exercises, find, transfer_of
from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.labs import review
from peerlab.features.exercises.labs.advice import advice
from peerlab.picture.still import still_svg
from peerlab.question.scenario import Scenario

DETOUR = Scenario(cluster="dl1", nodes=8, path="host-rdma", message_bytes="64 MiB")
DIRECT = DETOUR.with_(path="peer-direct")
_SHOWN = {
    "00": (DETOUR, "One part is full, and the NIC waits for it. What does one switch change?"),
    "01": (
        DETOUR.with_(library="none"),
        "How often does a byte cross one uplink upwards? What would you buy?",
    ),
    "03": (
        DIRECT.with_(registration="per-transfer"),
        "No detour any more, and the NIC still waits. What for?",
    ),
}
"""Before a lab: whose picture is shown, and what the room is asked."""
_SENTENCE = ("what is faster", "how much: a range", "against what", "on what condition")


def set_closely(*cards: str) -> str:
    """Return cards on the deck's grid, each as high as its words."""
    return f"<div class='grid' style='grid-auto-rows:min-content;align-content:start'>{''.join(cards)}</div>"


def large(text: str) -> str:
    """Return a paragraph that the last row of a room can read."""
    return f"<p style='font-size:36px;line-height:1.3'>{words(text)}</p>"


def before_lab(number: str) -> str:
    """Return a log, a data sheet, or a path with what is busy on it, and what the room is asked."""
    if number in _SHOWN:
        scenario, asked = _SHOWN[number]
        picture = card(without_ground(still_svg(simulate(scenario))), 12, high="plain")
        return set_closely(picture, card(large(asked), 12, tone="hot"))
    if number == "05":
        return _vote()
    sheet = (
        f"Four adapters of {review.SHEET['nic.rate']:g} Gbit/s.",
        f"Each PCIe switch is attached by one PCIe Gen4 x16 link, {review.RAW_GEN4_GBPS:.1f} GB/s.",
    )
    asked = "We are buying servers. Do we need Peer Direct, or rather a second NIC?"
    return set_closely(
        card("".join(large(line) for line in sheet), 12, title="The data sheet"),
        card(large(asked), 12, tone="hot"),
    )


def _vote() -> str:
    """Return a log that leaves its path open, and what may be voted for; the log of the two tasks is not shown before they are done again."""
    drawn = (transfer_of("05").drawn(seed) for seed in range(100, 200))
    one = next(task for task in drawn if isinstance(task, Choice) and task.truth() == CANNOT_TELL)
    said = one.question.splitlines()
    lines = "\n".join(line.strip() for line in said if line.startswith("    "))
    log = card(
        f"<pre style='font-size:26px;line-height:1.5;margin:0'>{escape(lines)}</pre>", 12, title=said[0]
    )
    votes = (card(large(option[0].upper() + option[1:]), 4) for option in one.options)
    return set_closely(log, card(large(said[-1]), 12, tone="hot"), *votes)


def after_lab(number: str, discussed: str, close: str) -> str:
    """Return what the room discusses, and the question to end with."""
    end = card(large(close[0].upper() + close[1:]), 12, title="To end with", tone="hot")
    if number == "06":
        head = ("where the NICs hang", "least gain", "largest gain", "what the rule says")
        return set_closely(
            card(table(head, _bands()).replace("<table>", "<table style='font-size:28px'>"), 12, high="wide"),
            end,
        )
    names = {one.name for one in exercises(number)}
    name = next(word for word in re.findall(r"\d\d-[\w-]+", discussed) if word in names)
    if name.endswith("-transfer"):
        parts = (card(large(part), 3, title=str(at)) for at, part in enumerate(_SENTENCE, 1))
        return set_closely(
            card(large("Three of you read your sentence aloud. Has it all four?"), 12), *parts, end
        )
    one = find(name)
    options = (card(large(option), 6) for option in (one.options if isinstance(one, Choice) else ()))
    return set_closely(card(large(one.question), 12), *options, end)


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
