"""Exercises whose figures are computed once: a test asks for the same truth many times, and each is a simulation."""

from dataclasses import replace
from functools import cache

from peerlab.features.exercises.catalogue import exercises
from peerlab.features.exercises.exercise import Choice, Number


def by_name():
    """Return all exercises, by name."""
    return {one.name: computed_once(one) for one in exercises()}


def computed_once(one):
    """Return an exercise as it is, but for how often it computes."""
    if isinstance(one, Choice):
        return replace(one, truth=cache(one.truth))
    if isinstance(one, Number):
        return replace(
            one,
            truth=cache(one.truth),
            mistakes=[replace(mistake, like=cache(mistake.like)) for mistake in one.mistakes],
            bounds=[replace(bound, figure=cache(bound.figure)) for bound in one.bounds],
        )
    return one
