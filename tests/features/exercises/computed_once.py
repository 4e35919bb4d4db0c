"""Exercises whose figures are computed once: a test asks for the same truth many times, and each is a simulation."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import get_type_hints

from peerlab.features.exercises.catalogue import find, fixed, names, transfer_of
from peerlab.features.exercises.exercise import Choice, Number


class ByName(Mapping):
    """All exercises, by name; each is made when a test asks for it, and nothing is simulated while tests are collected."""

    def __init__(self):
        self._made = {}

    def __getitem__(self, name):
        if name not in self._made:
            self._made[name] = computed_once(find(name))
        return self._made[name]

    def __iter__(self):
        return iter(names())

    def __len__(self):
        return len(names())


def names_of(kind):
    """Return the names of the exercises of a kind, such as `Choice`, in their order."""
    kinds = {exercise.name: type(exercise) for exercise in fixed()}
    return [name for name in names() if issubclass(kinds.get(name) or drawn_kind(name), kind)]


def drawn_kind(name):
    """Return what kind of exercise a transfer task is."""
    kind = get_type_hints(transfer_of(name[:2]).make).get("return")
    assert kind, f"{name}: what makes it must say which kind of exercise it returns"
    return kind


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
