"""The kinds of slides of a deck, and their charts."""
