"""What the rows of a table look like, so that one that is damaged is told and never stepped over."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from peerlab.base.errors import RecordsError

_FIGURE = re.compile(
    r"[-+]?(?:[0-9](?:[0-9.,'_]*[0-9])?(?:e[-+]?[0-9]+)?|nan|inf|infinity|N/A)", re.IGNORECASE
)

_WIDE = 8
"""Columns of a table whose rows no paragraph is taken for."""


def is_figure(word: str) -> bool:
    """Say whether a word is a number, or was meant as one: damaged, in another notation, or none that can be.

    >>> [is_figure(word) for word in ("1048576", "1,048576", "nan", "-1", "float", "12:30", "1.")]
    [True, True, True, True, False, False, False]
    """
    return bool(_FIGURE.fullmatch(word))


@dataclass(frozen=True)
class Shape:
    """The words of a row: for each, whether it is a figure."""

    figures: tuple[bool, ...]

    @classmethod
    def of(cls, columns: Sequence[str], texts: Collection[str]) -> "Shape":
        """Return the shape of rows whose columns are figures, but for those in `texts`."""
        return cls(tuple(name not in texts for name in columns))

    def resembles(self, words: Sequence[str], *, below: bool = True) -> bool:
        """Say whether a line is a row or what is left of one.

        That is a line that begins as one does, below the head of a table; one that has lost a single word there; and one with as
        many words as there are columns, nearly all of the right kind, whatever stands before them.
        """
        width = len(self.figures)
        if below and len(words) >= min(2, width - 1) and (self._begins(words) or self._lacks_one(words)):
            return True
        if len(words) < width or (width < _WIDE and words[0].endswith(":") and len(words) == width):
            return False  # "elapsed: 3" is no damaged row of two columns
        wrong = sum(
            is_figure(word) != figure for word, figure in zip(words[-width:], self.figures, strict=True)
        )
        return wrong <= (max(1, width // 6) if below and len(words) == width else width // 8)

    def _begins(self, words: Sequence[str]) -> bool:
        """Say whether a line begins as a row does; a numbered paragraph does not."""
        if not words or not is_figure(words[0]):
            return False
        second = [
            is_figure(word) == figure for word, figure in zip(words[1:2], self.figures[1:], strict=False)
        ]
        # No sentence has figures for half of its words.
        return all(second) or sum(map(is_figure, words)) * 2 >= len(words)

    def _lacks_one(self, words: Sequence[str]) -> bool:
        """Say whether a line of a wide table is a row but for one word."""
        kinds, whole = tuple(map(is_figure, words)), self.figures
        if len(whole) < _WIDE or len(kinds) != len(whole) - 1:
            return False
        return any(kinds == whole[:place] + whole[place + 1 :] for place in range(len(whole)))

    def fits(self, words: Sequence[str]) -> bool:
        """Say whether a line has these words and no other."""
        return len(words) == len(self.figures) and self.resembles(words, below=False)

    def check(self, words: Sequence[str]) -> None:
        """Raise a RecordsError for a row with too few words, or with a figure too many, as a torn one has."""
        width = len(self.figures)
        if len(words) < width:
            raise RecordsError(f"{len(words)} of {width} columns")
        if len(words) > width and is_figure(words[width]):
            raise RecordsError(f"{len(words)} words for {width} columns")
