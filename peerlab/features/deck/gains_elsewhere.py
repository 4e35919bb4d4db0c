"""What a direct path was measured, or reported, to gain on other machines: ``data/gains.toml``."""

# Gains from elsewhere are data (`data/gains.toml`): a row that the model is held to, or two published
# figures. They stand on one axis with the simulated range and are never merged with it.

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from peerlab.base.data_file import read_facts
from peerlab.base.feature import registered


@dataclass(frozen=True)
class GainElsewhere:
    """One machine's gain: times without over times with the direct path, or rates with over rates without."""

    title: str
    about: str
    what: str
    source: str
    marks: tuple[tuple[float, str], ...]
    """Each gain with the words that stand at it."""
    cluster: str
    """Our cluster that it is from; empty where it is none of ours."""
    fitted: bool
    """Whether constants of that cluster were fitted to it."""

    @property
    def ends(self) -> tuple[float, float]:
        """From where to where it goes."""
        values = [value for value, _ in self.marks]
        return min(values), max(values)


@cache
def gains_elsewhere() -> tuple[GainElsewhere, ...]:
    """Return what is known of other machines.

    Raises
    ------
    HardwareError
        If the file is damaged.
    """
    # Asked by its public name: a feature imports no other.
    rows = {row.name: row for row in registered("offers", "expected figures")().rows}
    return read_facts(
        "gains.toml",
        "file of gains",
        lambda held: tuple(
            _of_row(entry, rows[entry["row"]]) if "row" in entry else _published(entry)
            for entry in held["gain"]
        ),
    )


def _of_row(entry: Mapping[str, Any], row: Any) -> GainElsewhere:
    marks: dict[float, str] = {}
    for point in row.points:
        ends = point.expected if isinstance(point.expected, tuple) else (point.expected,)
        for value in ends:
            # Points of one gain have one mark, with the words of the first.
            marks.setdefault(value, f"{value:g}" if len(ends) > 1 else f"{point.label}: {value:g}")
    what = f"{row.what}. {row.note}" if row.note else row.what
    return GainElsewhere(
        entry["title"], entry["about"], what, row.source, tuple(marks.items()), row.cluster, row.fitted
    )


def _published(entry: Mapping[str, Any]) -> GainElsewhere:
    gain = entry["with"] / entry["without"]
    what = f"{entry['what']}: {entry['without']:g} and {entry['with']:g} {entry['unit']}"
    return GainElsewhere(
        entry["title"],
        entry["about"],
        what,
        entry["source"],
        ((gain, f"{gain:.2f}"),),
        cluster="",
        fitted=False,
    )
