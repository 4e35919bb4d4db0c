"""Deck: an architecture review as slides."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="What do I tell an architecture review?",
    answers="slides with a recommendation and how sure it is",
    commands={"deck": "peerlab.features.deck.deck_command"},
    functions={"write_deck": "peerlab.features.deck.write_deck"},
    document="docs/using.md",
)
