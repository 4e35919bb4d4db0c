"""Tables of words, as a notebook shows them in full."""

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler


def in_full(table: pd.DataFrame) -> "Styler":
    """Return a table whose texts a notebook neither cuts off nor sets to the right."""
    left: list[tuple[str, str | float]] = [
        ("text-align", "left"),
        ("vertical-align", "top"),
        ("white-space", "normal"),
    ]
    return table.style.set_table_styles([{"selector": "th, td", "props": left}])
