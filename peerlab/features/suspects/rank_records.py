"""Records of all ranks of a job, a file for each process as NCCL Inspector and PyTorch's profiler write them: who began last."""

# A rank counts within its communicator, and a job has several. The same collective has the same number on all of its ranks; of those that
# some ranks lack, since Inspector drops the oldest while it writes, durations are no measure and left out.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from peerlab.base.errors import PeerlabError, RecordsError, one_line
from peerlab.base.textfile import printable
from peerlab.features.suspects.late_ranks import LateRank, late_rank
from peerlab.records import inspector
from peerlab.records.inspector import RankCollective
from peerlab.records.kineto import kernels, looks_like_trace, read_events
from peerlab.records.load import load
from peerlab.records.text import open_log

_MOST_FILES = 4096
_FEWEST = 3
"""Of fewer ranks nobody can be told from the others."""


@dataclass(frozen=True, kw_only=True)
class LastOfCommunicator:
    """Who began last in one communicator."""

    communicator: str
    """Its id; empty where the records name none."""
    late: LateRank
    where: str
    """The host that the rank runs on, or the trace that it wrote; empty where the records do not say."""
    ranks: int
    """Ranks that have records."""
    of_ranks: int
    """Ranks that take part."""
    collectives: int
    """Collectives that all of these ranks have."""
    shortest_s: float
    """What the last rank's own collectives take in the mean, which holds no wait: the exchange itself, seconds."""

    @property
    def complete(self) -> bool:
        """Whether every rank has records: one that has none may be later still."""
        return self.ranks == self.of_ranks


def last_ranks(places: Sequence[Path]) -> list[LastOfCommunicator]:
    """Return who began last in each communicator of some files and folders, that with the longest wait first.

    Raises
    ------
    PeerlabError, RecordsError
        If no communicator has three ranks with a collective in common, or a file cannot be read.
    """
    of_each: dict[str, list[RankCollective]] = {}
    files = _files(places)
    traces = [file for file in files if looks_like_trace(file)]
    contents = [_read(file, named=file in places) for file in files if file not in traces]
    contents += [_from_trace(file, rank, len(traces)) for rank, file in enumerate(traces)]
    for record in chain.from_iterable(contents):
        of_each.setdefault(record.communicator, []).append(record)
    answers = [answer for name, records in of_each.items() if (answer := _last(name, records))]
    if not answers:
        raise PeerlabError(
            "late ranks: records of three ranks or more are needed, of the same collectives; give the files of all ranks, or their folder"
        )
    return sorted(answers, key=lambda answer: -answer.late.lateness_s * answer.collectives)


def _files(places: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for place in places:
        try:
            files += sorted(file for file in place.iterdir() if file.is_file()) if place.is_dir() else [place]
        except OSError as problem:
            raise PeerlabError(f"cannot read {printable(str(place))[:200]}: {problem.strerror}") from None
    if len(files) > _MOST_FILES:
        raise PeerlabError(f"late ranks: {len(files)} files are too many; at most {_MOST_FILES}")
    return files


def _read(file: Path, *, named: bool) -> list[RankCollective]:
    """Return what a file says of ranks; a file of a folder that says nothing is left out."""
    try:
        log = open_log(file)
        if inspector.looks_like(log):
            return list(inspector.rank_collectives(log))
        return _from_table(file)
    except RecordsError:
        if named:
            raise
        return []


def _from_table(file: Path) -> list[RankCollective]:
    """Return the same of other records that name ranks: the collectives of a rank in the order of the file."""
    columns = load(file).columns
    rows = zip(columns["rank"], columns["time_s"], columns["ranks"], strict=True)
    return [
        RankCollective(communicator="", rank=rank, ranks=ranks, host="", number=None, seconds=seconds)
        for rank, seconds, ranks in rows
        if rank is not None and seconds
    ]


def _from_trace(file: Path, rank: int, ranks: int) -> list[RankCollective]:
    """Return the collectives of all ranks in a profiler's trace, in their order; a smaller group does not say who is in it."""
    every = kernels(read_events(file, file.name))
    return [
        RankCollective(
            communicator="",
            rank=rank,
            ranks=ranks,
            host=file.name,
            number=place,
            seconds=(kernel.end - kernel.begin) / 1e6,
        )
        for place, kernel in enumerate(kernel for kernel in every if kernel.ranks in (0, ranks))
    ]


def _last(name: str, records: Sequence[RankCollective]) -> LastOfCommunicator | None:
    """Return who began last; None where there are too few ranks to tell."""
    durations = _in_common(records)
    if len(durations) < _FEWEST or not next(iter(durations.values())):
        return None
    late = late_rank(durations)
    where = {record.rank: record.host for record in records}
    own = durations[late.rank]
    of_ranks = max(len(durations), *(record.ranks or 0 for record in records))
    return LastOfCommunicator(
        communicator=one_line(name), late=late, where=one_line(where[late.rank]), ranks=len(durations),
        of_ranks=of_ranks, collectives=len(own), shortest_s=sum(own) / len(own),
    )  # fmt: skip


def _in_common(records: Sequence[RankCollective]) -> Mapping[int, list[float]]:
    """Return the durations of every rank, of the collectives that all have; without numbers those of each in their order."""
    if any(record.number is None for record in records):
        ordered: dict[int, list[float]] = {}
        for record in records:
            ordered.setdefault(record.rank, []).append(record.seconds)
        return ordered
    of_rank: dict[int, dict[int | None, float]] = {}
    for record in records:
        of_rank.setdefault(record.rank, {})[record.number] = record.seconds
    common = [
        number
        for number in next(iter(of_rank.values()), {})
        if all(number in own for own in of_rank.values())
    ]
    return {rank: [own[number] for number in common] for rank, own in of_rank.items()}
