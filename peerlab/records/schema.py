"""The one schema of measurements: a tidy table, and beside it where it comes from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from peerlab.base.display import shown
from peerlab.base.errors import RecordsError
from peerlab.base.units import say_count
from peerlab.collectives.busbw import bus_factor
from peerlab.records.anonymous import anonymised
from peerlab.records.columns import table_of
from peerlab.records.csv_file import write_csv
from peerlab.records.notes import describe_ranks
from peerlab.records.text import clean

CONDITIONS = (
    *("kind", "source", "collective", "variant", "size_bytes", "dtype", "op", "ranks", "nodes"),
    *("path", "registration", "capacity", "slice_bytes", "window"),
)
"""Columns that say what was measured; rows that agree in them are repetitions of one another."""


@dataclass(frozen=True, eq=False)
class Records:
    """Measurements, one row per repetition and rank, or per line of a log."""

    table: pd.DataFrame
    """Tidy, with the columns of :data:`COLUMNS`, in the order measured."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Where it comes from, as plain values that JSON can hold: tool, version, command, hosts, devices, transport, ..."""
    warnings: Sequence[str] = ()
    """What was noticed while reading: one sentence each, with line numbers where there are lines."""

    @classmethod
    def of(
        cls,
        rows: Iterable[Mapping[str, Any]],
        manifest: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
    ) -> "Records":
        """Return records of rows that name only the columns they know; bandwidths are filled in from size and time.

        Text is kept as one line that tells a terminal nothing.

        Raises
        ------
        RecordsError
            If a row names an unknown column, or holds what its column cannot; if the manifest is nested too deeply.
        """
        table = table_of(rows)
        try:
            return cls(table, _cleaned(dict(manifest or {})), tuple(map(clean, warnings)))
        except RecursionError:
            raise RecordsError("the manifest is nested too deeply") from None

    @classmethod
    def together(cls, several: Iterable["Records"]) -> "Records":
        """Return several records as one; ``parts`` of its manifest keeps each manifest, and all agree in the others.

        Raises
        ------
        RecordsError
            If there are none.
        """
        parts = list(several)
        if len(parts) < 2:
            if not parts:
                raise RecordsError("no records to put together")
            return parts[0]
        first, *others = (dict(part.manifest) for part in parts)
        agreed = {
            name: value
            for name, value in first.items()
            if all(name in other and other[name] == value for other in others)
        }
        table = pd.concat([part.table for part in parts], ignore_index=True)
        warnings = dict.fromkeys(one for part in parts for one in _by_source(part))
        manifests = [one for part in parts for one in part.parts]
        return cls(table, agreed | {"parts": manifests}, tuple(warnings))

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The manifest of each log or run that these records were put together from."""
        parts = self.manifest.get("parts")
        told = [dict(part) for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
        return told or [dict(self.manifest)]

    @property
    def sources(self) -> list[str]:
        """Where the rows come from, each once."""
        return list(dict.fromkeys(self.table["source"]))

    @property
    def runs(self) -> tuple["Records", ...]:
        """The runs of one log, each with its ranks and nodes, the way `peerlab.diagnose` takes them: one for most logs.

        A script may run a test on 1, 2, 4 and 8 nodes and write all into one file. Records put together from several logs are no runs
        of one; they come back as they are.
        """
        kinds = self.table[["ranks", "nodes"]].drop_duplicates()
        if len(kinds) < 2 or len(self.parts) > 1:
            return (self,)
        return tuple(self._run(*kind) for kind in kinds.itertuples(index=False, name=None))

    def _run(self, ranks: Any, nodes: Any) -> "Records":
        """Return the rows of so many ranks and nodes, where they may be missing, with a manifest of their own."""
        alike = pd.Series(data=True, index=self.table.index)
        for name, value in (("ranks", ranks), ("nodes", nodes)):
            column = self.table[name]
            alike &= column.isna() if pd.isna(value) else (column == value).fillna(value=False)
        counts = [None if pd.isna(value) else int(value) for value in (ranks, nodes)]
        hosts = self.manifest.get("hosts")
        own = hosts if isinstance(hosts, list) and len(hosts) == counts[1] else ()
        manifest = {**self.manifest, **describe_ranks(counts[0], own, counts[1])}
        return Records(self.table[alike].reset_index(drop=True), manifest, self.warnings)

    def save(self, path: str | Path) -> None:
        """Write everything to one CSV file, which :func:`peerlab.load` reads back as it is.

        Raises
        ------
        RecordsError
            If the file cannot be written, or the manifest holds what JSON cannot.
        """
        write_csv(path, self.table, self.manifest, self.warnings)

    def on_nodes(self, nodes: int) -> "Records":
        """Return the same of so many nodes, where they do not say themselves how many took part.

        Raises
        ------
        RecordsError
            If this is no number of nodes that their ranks can fill, or a row says another.
        """
        if not isinstance(nodes, int) or nodes < 1:
            raise RecordsError(f"nodes: {nodes!r} is no whole number of 1 or more")
        name, table = ", ".join(self.sources), self.table
        for said in table["nodes"].dropna().unique():
            if said != nodes:
                raise RecordsError(f"{name}: it says itself that {say_count(int(said), 'node')} took part")
        for ranks in table["ranks"].dropna().unique():
            if ranks < nodes:
                raise RecordsError(f"{name}: {say_count(int(ranks), 'rank')} cannot fill {nodes} nodes")
        if table["nodes"].notna().all():
            return self
        told = describe_ranks(self.manifest.get("ranks"), (), nodes)
        manifest = {**self.manifest, "nodes": nodes, "ranks_per_node": told["ranks_per_node"]}
        note = f"the log does not say how many nodes took part; {nodes} as given"
        return Records(table.assign(nodes=table["nodes"].fillna(nodes)), manifest, (*self.warnings, note))

    def anonymised(self) -> "Records":
        """Return the same without host names, addresses, users, files and paths, for sharing.

        Raises
        ------
        RecordsError
            If the manifest is nested too deeply to be looked through.
        """
        try:
            return Records(*anonymised(self.table, self.manifest, self.warnings))
        except RecursionError:
            raise RecordsError("the manifest is nested too deeply") from None

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        what = [", ".join(dict.fromkeys(self.table[name])) for name in ("collective", "kind")]
        return (
            f"Records({say_count(len(self), 'row')} of {', '.join(what)})" if len(self) else "Records(no row)"
        )

    _repr_html_ = shown

    def medians(self) -> pd.DataFrame:
        """Return one row per condition: the median of its repetitions, and their quartiles of time (`low_s`, `high_s`).

        A repetition takes as long as its slowest rank.
        """
        slowest = self.table.groupby([*CONDITIONS, "repetition"], dropna=False, sort=False)
        runs = slowest.agg(
            time_s=("time_s", "max"), correct=("correct", "min"), algbw_GBps=("algbw_GBps", "min")
        )
        grouped = runs.reset_index().groupby(list(CONDITIONS), dropna=False, sort=False)
        found = grouped.agg(
            time_s=("time_s", "median"),
            algbw_GBps=("algbw_GBps", "median"),
            repetitions=("time_s", "size"),
            correct=("correct", "min"),
        )
        found["low_s"], found["high_s"] = (grouped["time_s"].quantile(part) for part in (0.25, 0.75))
        found = found.reset_index()
        factors = [_factor(row.collective, row.ranks) for row in found.itertuples()]
        found["busbw_GBps"] = found["algbw_GBps"] * pd.array(factors, dtype="Float64")
        return found


def _by_source(records: Records) -> Iterator[str]:
    """Yield warnings, each behind its source; those of records that were put together before stand there already."""
    whose = tuple(f"{source}: " for source in records.sources)
    for one in records.warnings:
        yield one if one.startswith(whose) else f"{', '.join(records.sources)}: {one}"


def _cleaned(entry: Any) -> Any:
    """Return an entry of a manifest with every text as one line that tells a terminal nothing."""
    if isinstance(entry, str):
        return clean(entry)
    if isinstance(entry, Mapping):
        return {_cleaned(name): _cleaned(one) for name, one in entry.items()}
    return type(entry)(map(_cleaned, entry)) if isinstance(entry, (list, tuple)) else entry


def _factor(collective: Any, ranks: Any) -> float | None:
    return None if pd.isna(ranks) else bus_factor(collective, int(ranks))
