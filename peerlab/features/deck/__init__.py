"""Deck: an architecture review as slides."""
