"""Tables of words, as a notebook shows them in full."""

from typing import TYPE_CHECKING

import pandas as pd

from peerlab.analysis.critical_path import WAIT
from peerlab.model.paths import path_titles
from peerlab.model.stages import STAGES

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler


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
