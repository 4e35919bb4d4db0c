"""What to recommend by the least and the largest gain that there may be: the rule of lab 06 and of decks."""

CLEAR = 1.05
"""From which ratio on a path is called faster, as in the deck."""
USE, MEASURE, STAY = "use Peer Direct", "measure first", "stay with the host"


def advice(least: float, most: float) -> str:
    """Return what to recommend.

    >>> advice(0.9, 1.4)
    'measure first'
    """
    return USE if least > CLEAR else MEASURE if most > CLEAR else STAY
