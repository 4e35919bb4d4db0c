"""The tour has one exercise: a headline that it has not shown, as one sentence."""

from peerlab.features.exercises.exercise import Exercise
from peerlab.features.exercises.labs.unseen import unseen_headline

EXERCISES: tuple[Exercise, ...] = ()
TRANSFER = unseen_headline.TRANSFER
