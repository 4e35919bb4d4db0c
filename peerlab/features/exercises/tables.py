"""Tables of words, as a notebook shows them in full."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from peerlab.answer.critical_path import WAIT
from peerlab.base.data_frames import pd
from peerlab.base.display import shown
from peerlab.model.paths import path_titles
from peerlab.model.stages import STAGES

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler


# Paths, stages, and the time in which nothing is recorded.
_IN_WORDS = {
    **path_titles(),
    **{name: kind.says for name, kind in STAGES.items()},
    WAIT: "waiting: a cache lookup, a link's latency",
}


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the legend's words in place of the keys of paths and stages: heads, index and cells."""
    return table.rename(index=_IN_WORDS, columns=_IN_WORDS).replace(_IN_WORDS)


def in_full(table: pd.DataFrame) -> "Styler":
    """Return a table whose texts a notebook neither cuts off nor sets to the right."""
    left: list[tuple[str, str | float]] = [
        ("text-align", "left"),
        ("vertical-align", "top"),
        ("white-space", "normal"),
    ]
    return table.style.set_table_styles([{"selector": "th, td", "props": left}])


def rounded(table: pd.DataFrame, decimals: int | Mapping[str, int] = 1) -> pd.DataFrame:
    """Return a table whose figures with a fraction are text with so many decimals, by column or in all; what is missing is empty."""

    def column(series: "pd.Series[Any]") -> "pd.Series[Any]":
        places = decimals if isinstance(decimals, int) else decimals.get(str(series.name), 1)
        return series.map(lambda value: "" if pd.isna(value) else f"{value:,.{places}f}")

    floats = table.select_dtypes("float").columns
    return table.assign(**{name: column(table[name]) for name in floats})


@dataclass(frozen=True, repr=False)
class Folded:
    """What a notebook shows below a line to click on, so that a reader guesses first."""

    shown: Any
    """A table, or whatever a notebook can show."""
    says: str
    """The line."""

    def __repr__(self) -> str:
        return f"{self.says}: .shown has it"

    _repr_html_ = shown


def folded(
    table: pd.DataFrame, decimals: int | Mapping[str, int] = 1, says: str = "Guess first, then open the table"
) -> Folded:
    """Return a table that a notebook shows folded, rounded as `rounded` does."""
    return Folded(rounded(table, decimals), says)
