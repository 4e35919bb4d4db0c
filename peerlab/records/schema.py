"""The one schema of measurements: a tidy table, and beside it where it comes from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peerlab.base.display import shown
from peerlab.base.errors import RecordsError
from peerlab.base.units import say_count
from peerlab.records.anonymous import anonymised
from peerlab.records.columns import Columns, columns_of, plain_columns, table_of
from peerlab.records.conditions_measured import condition_table
from peerlab.records.csv_file import write_csv
from peerlab.records.notes import describe_ranks
from peerlab.records.text import clean

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Records:
    r"""Measurements, one row per repetition and rank, or per line of a log.

    >>> from peerlab import load
    >>> load("# OSU MPI Allreduce Latency Test v7.0\n# Size       Avg Latency(us)\n1048576            512.25\n")
    Records(1 row of allreduce, imported)
    """

    data: "Columns | pd.DataFrame"
    """The columns of :data:`COLUMNS`, in the order measured: as lists, or as a table of pandas."""
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
        columns = columns_of(rows)
        try:
            return cls(columns, _cleaned(dict(manifest or {})), tuple(map(clean, warnings)))
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
        # What differs between the parts is told by `parts` alone.
        agreed = {
            name: value
            for name, value in first.items()
            if all(name in other and other[name] == value for other in others)
        }
        columns = {
            name: [value for part in parts for value in part.columns[name]] for name in parts[0].columns
        }
        warnings = dict.fromkeys(piece for part in parts for piece in _by_source(part))
        manifests = [piece for part in parts for piece in part.parts]
        return cls(columns, agreed | {"parts": manifests}, tuple(warnings))

    @cached_property
    def columns(self) -> Columns:
        """Every column as a list, None where a value is missing."""
        return self.data if isinstance(self.data, Mapping) else plain_columns(self.data)

    @cached_property
    def table(self) -> "pd.DataFrame":
        """The same as a table of pandas: tidy, with the columns of :data:`COLUMNS`."""
        return table_of(self.data) if isinstance(self.data, Mapping) else self.data

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The same row by row."""
        names = list(self.columns)
        return [dict(zip(names, values, strict=True)) for values in zip(*self.columns.values(), strict=True)]

    def some(self, places: Iterable[int]) -> "Records":
        """Return the rows at these places, with the same manifest and warnings."""
        kept = list(places)
        columns = {name: [values[place] for place in kept] for name, values in self.columns.items()}
        return Records(columns, self.manifest, self.warnings)

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The manifest of each log or run that these records were put together from."""
        parts = self.manifest.get("parts")
        told = [dict(part) for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
        return told or [dict(self.manifest)]

    @property
    def sources(self) -> list[str]:
        """Where the rows come from, each once."""
        return list(dict.fromkeys(self.columns["source"]))

    @property
    def runs(self) -> tuple["Records", ...]:
        """The runs of one log, each with its ranks and nodes, the way `peerlab.diagnose` takes them: one for most logs.

        A script may run a test on 1, 2, 4 and 8 nodes and write all into one file. Records put together from several logs are no runs
        of one; they come back as they are.
        """
        kinds = dict.fromkeys(self._counts)
        if len(kinds) < 2 or len(self.parts) > 1:
            return (self,)
        return tuple(self._run(*kind) for kind in kinds)

    @property
    def _counts(self) -> list[tuple[int | None, int | None]]:
        """How many ranks and nodes each row says."""
        return list(zip(self.columns["ranks"], self.columns["nodes"], strict=True))

    def _run(self, ranks: int | None, nodes: int | None) -> "Records":
        """Return the rows of so many ranks and nodes, where they may be missing, with a manifest of their own."""
        alike = [place for place, counts in enumerate(self._counts) if counts == (ranks, nodes)]
        hosts = self.manifest.get("hosts")
        # A log names hosts once: of a smaller run nobody knows which took part.
        own = hosts if isinstance(hosts, list) and len(hosts) == nodes else ()
        manifest = {**self.manifest, **describe_ranks(ranks, own, nodes)}
        return Records(self.some(alike).data, manifest, self.warnings)

    def save(self, path: str | Path) -> None:
        """Write everything to one CSV file, which :func:`peerlab.load` reads back as it is.

        Raises
        ------
        RecordsError
            If the file cannot be written, or the manifest holds what JSON cannot.
        """
        write_csv(path, self.columns, self.manifest, self.warnings)

    def on_nodes(self, nodes: int) -> "Records":
        """Return the same of so many nodes, where they do not say themselves how many took part.

        Raises
        ------
        RecordsError
            If this is no number of nodes that their ranks can fill, or a row says another.
        """
        if not isinstance(nodes, int) or nodes < 1:
            raise RecordsError(f"nodes: {nodes!r} is no whole number of 1 or more")
        name, given = ", ".join(self.sources), self.columns["nodes"]
        for count in given:
            if count not in (None, nodes):
                raise RecordsError(f"{name}: it says itself that {say_count(count, 'node')} took part")
        for ranks in self.columns["ranks"]:
            if ranks is not None and ranks < nodes:
                raise RecordsError(f"{name}: {say_count(ranks, 'rank')} cannot fill {nodes} nodes")
        if None not in given:
            return self
        entries = describe_ranks(self.manifest.get("ranks"), (), nodes)
        manifest = {**self.manifest, "nodes": nodes, "ranks_per_node": entries["ranks_per_node"]}
        note = f"the log does not say how many nodes took part; {nodes} as given"
        return Records({**self.columns, "nodes": [nodes] * len(self)}, manifest, (*self.warnings, note))

    def anonymised(self) -> "Records":
        """Return the same without host names, addresses, users, files and paths, for sharing.

        Raises
        ------
        RecordsError
            If the manifest is nested too deeply to be looked through.
        """
        try:
            return Records(*anonymised(self.columns, self.manifest, self.warnings))
        except RecursionError:
            raise RecordsError("the manifest is nested too deeply") from None

    def __len__(self) -> int:
        return len(self.columns["kind"])

    def __repr__(self) -> str:
        what = [", ".join(dict.fromkeys(self.columns[name])) for name in ("collective", "kind")]
        return (
            f"Records({say_count(len(self), 'row')} of {', '.join(what)})" if len(self) else "Records(no row)"
        )

    _repr_html_ = shown

    def medians(self) -> "pd.DataFrame":
        """Return one row per condition: the median of its repetitions, and their quartiles of time (`low_s`, `high_s`).

        A repetition takes as long as its slowest rank.
        """
        return condition_table(self.rows)


def checked_records(given: object, name: str = "") -> Records:
    """Return what is records; all that take records refuse a file's name, a table or nothing in the same words.

    `name` is the argument's, where it is not the only one.

    Raises
    ------
    RecordsError
        If they are none.
    """
    if not isinstance(given, Records):
        which = f"{name}: " if name else ""
        raise RecordsError(
            f"{which}{str(given)[:60]!r} are no records; give what peerlab.load or peerlab.measure returns"
        )
    return given


def _by_source(records: Records) -> Iterator[str]:
    """Yield warnings, each behind its source; those of records that were put together before stand there already."""
    whose = tuple(f"{source}: " for source in records.sources)
    for warning in records.warnings:
        yield warning if warning.startswith(whose) else f"{', '.join(records.sources)}: {warning}"


def _cleaned(entry: Any) -> Any:
    """Return an entry of a manifest with every text as one line that tells a terminal nothing."""
    if isinstance(entry, str):
        return clean(entry)
    if isinstance(entry, Mapping):
        return {_cleaned(name): _cleaned(value) for name, value in entry.items()}
    return type(entry)(map(_cleaned, entry)) if isinstance(entry, (list, tuple)) else entry
