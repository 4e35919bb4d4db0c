"""From logs of runs to suspects: which hosts took part in each, how long it took, and what that says of each of them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from pathlib import Path
from shlex import quote
from statistics import median

import numpy as np

from peerlab.base.errors import PeerlabError, RecordsError, one_line
from peerlab.base.units import say_bytes, say_percent
from peerlab.features.suspects.bayes import ENOUGH, Observation, Suspicion
from peerlab.records.load import load

_LEAST_SIGMA = 0.01
"""Nobody's runs repeat more closely than a per cent (assumed; from 0.5 to 2 %)."""
_NORMAL = 1.4826
"""Standard deviation over median absolute deviation of a normal distribution."""
_MOST_LOGS = 2000
Timed = tuple[tuple[str, ...], float]
"""Hosts of a run, in the order of its ring, and its time in seconds."""


@dataclass(frozen=True)
class HostSuspect:
    """Something that may be slow."""

    hosts: tuple[str, ...]
    """None: nothing is; one: this host; two: the way from the first to the second."""
    probability: float

    @property
    def in_words(self) -> str:
        """What it is."""
        if not self.hosts:
            return "nothing is slow"
        return self.hosts[0] if len(self.hosts) == 1 else f"the way from {self.hosts[0]} to {self.hosts[1]}"


@dataclass(frozen=True)
class Suspects:
    """What the runs say."""

    suspects: tuple[HostSuspect, ...]
    """The likeliest first; they add up to 1."""
    runs: int
    """How many runs were taken into account."""
    sigma: float
    """Of the logarithm of a healthy run's time."""
    next_hosts: tuple[tuple[str, ...], ...]
    """Sets of hosts for the next runs, which may go at the same time; empty: enough is known."""
    runs_left: float
    """About how many rounds are left in the mean."""
    left_out: tuple[str, ...] = ()
    """Files of a folder that hold no run, by name."""
    alone: int = 0
    """Runs that were not taken into account: on as many hosts as no other, so that nothing says how long they should take."""

    @property
    def decided(self) -> bool:
        """Whether one is likely enough to be named."""
        return self.suspects[0].probability >= ENOUGH

    @property
    def alike(self) -> tuple[HostSuspect, ...]:
        """Suspects that explain the runs equally well as the first: all of them have to be named."""
        first = self.suspects[0]
        return tuple(
            host_suspect
            for host_suspect in self.suspects
            if host_suspect.probability > 0.5 * first.probability
        )

    def commands(self, ranks_per_host: int = 1, binary: str = "all_reduce_perf") -> tuple[str, ...]:
        """Return the commands of the next runs, as nccl-tests are started by MPI."""
        return tuple(
            f"mpirun -np {ranks_per_host * len(hosts)} -H {quote(','.join(f'{host}:{ranks_per_host}' for host in hosts))} "
            f"{binary} -b 256M -e 256M -n 20 > suspects-{number}.log"
            for number, hosts in enumerate(self.next_hosts, 1)
        )

    def __repr__(self) -> str:
        first = self.suspects[0]
        return f"Suspects({self.runs} runs: {first.in_words} {say_percent(first.probability)})"


def suspects(
    source: str | Path | Iterable[str | Path] | Sequence[Timed],
    *,
    hosts: Sequence[str] = (),
    sigma: float | None = None,
    expected_s: float | None = None,
) -> Suspects:
    """Say which host, or which way between two, is slow, and which runs tell most next.

    Parameters
    ----------
    source:
        A folder of logs, their files, or runs as ``((host, host, ...), seconds)`` that all exchange the same.
    hosts:
        Hosts that no run has had yet, but that may be slow as well.
    sigma:
        Of the logarithm of a healthy run's time, such as 0.02; None: from runs of the same hosts, or how runs differ around their median.
    expected_s:
        Time of a healthy run in seconds; None: the median of the runs on equally many hosts.

    Raises
    ------
    PeerlabError, RecordsError
        If a log names no hosts, or there is nothing to go by.

    >>> runs = [(("a", "b"), 1.0), (("c", "d"), 1.25), (("a", "c"), 1.25), (("b", "d"), 1.01)]
    >>> suspects(runs, sigma=0.02)
    Suspects(4 runs: c 100 %)
    """
    runs, left_out = _runs(source)
    # In the order in which runs name them: numbers of hosts are places in this list.
    names = list(dict.fromkeys([*(host for who, _ in runs for host in who), *hosts]))
    if not runs:
        empty = isinstance(source, str | Path)
        raise PeerlabError(
            f"suspects: {one_line(str(source)):.200} holds no file" if empty else "suspects: give runs"
        )
    if len(names) < 2:
        raise PeerlabError("suspects: give runs on two hosts or more")
    for who, seconds in runs:
        if not 0 < seconds < inf:
            raise PeerlabError(
                f"suspects: the run on {', '.join(who):.60} took {seconds:g} s, which is no time to go by"
            )
    held = _comparable(runs, expected_s)
    spread = _sigma(held) if sigma is None else sigma
    usual = _expected(held, expected_s)
    # Only ways that some run had: of others no run says anything.
    ways = {way for who, _ in held for way in Observation(tuple(names.index(name) for name in who), 0).ways}
    suspicion = Suspicion(len(names), spread, pairs=sorted(ways))
    for who, seconds in held:
        numbers = tuple(names.index(name) for name in who)
        # Held against runs of equally many hosts: a ring of four takes longer than one of two.
        suspicion.see(Observation(numbers, log(seconds / usual[len(who)])))
    return replace(_answer(suspicion, names, len(held)), left_out=left_out, alone=len(runs) - len(held))


def _comparable(runs: Sequence[Timed], expected_s: float | None) -> Sequence[Timed]:
    """Return the runs that something says of how long they should take: a time that is given, or another run on as many hosts."""
    if expected_s is not None:
        return runs
    counts = Counter(len(who) for who, _ in runs)
    # By itself a run is its own median: it would always look well.
    held = [(who, seconds) for who, seconds in runs if counts[len(who)] > 1]
    if not held:
        raise PeerlabError(
            "suspects: a run is held against others on as many hosts, and no two have as many; give more runs, such as one on each half of the hosts"
        )
    return held


def _answer(suspicion: Suspicion, names: Sequence[str], runs: int) -> Suspects:
    host_suspects = tuple(
        HostSuspect(tuple(names[node] for node in suspect.nodes), suspect.probability)
        for suspect in suspicion.suspects()
    )
    rounds: list[tuple[str, ...]] = []
    if host_suspects[0].probability < ENOUGH:
        some = suspicion.next_run()
        others = tuple(node for node in range(len(names)) if node not in some)
        # Both halves can run at the same time, unless one of them has a single host.
        rounds = [tuple(names[node] for node in group) for group in (some, others) if len(group) > 1]
    return Suspects(host_suspects, runs, suspicion.sigma, tuple(rounds), suspicion.runs_left())


def _runs(
    source: str | Path | Iterable[str | Path] | Sequence[Timed],
) -> tuple[list[Timed], tuple[str, ...]]:
    """Return the runs, and the names of files of a folder that hold none; a file that is named itself has to hold one."""
    if not isinstance(source, str | Path | Iterable):
        raise PeerlabError(f"suspects: give a folder, files or runs, not {one_line(repr(source)):.80}")
    sources: list[object] = [source] if isinstance(source, str | Path) else list(source)
    # A file that is named itself must hold a run; of a folder it may be a README.
    named = {Path(str(each)).expanduser() for each in sources if not isinstance(each, tuple)}
    files: list[object] = [
        file
        for each in sources
        for file in ([each] if isinstance(each, tuple) else _files(Path(str(each)).expanduser()))
    ]
    if len(files) > _MOST_LOGS:
        raise PeerlabError(f"suspects: {len(files)} logs are too many; at most {_MOST_LOGS}")
    sizes: dict[int, Path] = {}
    runs: list[Timed] = []
    refusals: list[RecordsError] = []
    left_out: list[str] = []
    for run in files:
        try:
            runs.append(run if isinstance(run, tuple) else _run(Path(str(run)), sizes))
        except RecordsError as problem:
            if run in named:
                raise
            refusals.append(problem)
            left_out.append(one_line(Path(str(run)).name))
    if refusals and not runs:
        if len(refusals) > 1:
            raise RecordsError(
                f"suspects: none of {len(refusals)} files holds a run; the first: {refusals[0]}"
            )
        raise refusals[0]
    return runs, tuple(left_out)


def _files(place: Path) -> list[Path]:
    try:
        if not place.is_dir():
            return [place]
        return [file for file in sorted(place.iterdir()) if not file.is_dir()]
    except OSError as problem:
        raise PeerlabError(f"cannot read {str(place)[:200]}: {problem.strerror}") from None


def _run(file: Path, sizes: dict[int, Path]) -> Timed:
    """Return hosts and time of a log, at its largest message, which has to be that of all logs: of other ones times are no measure."""
    records = load(file)
    hosts = tuple(dict.fromkeys(map(str, records.manifest.get("hosts") or ())))
    if len(hosts) < 2:
        raise PeerlabError(
            f"{file}: it names fewer than two hosts; run with NCCL_DEBUG=INFO, or keep the command in the log"
        )
    table = records.table
    size = int(table["size_bytes"].max())
    other = next(iter(sizes), size)
    if size != other:
        raise PeerlabError(
            f"{file}: its largest message has {say_bytes(size)}, that of {sizes[other]} {say_bytes(other)}; give runs of the same"
        )
    sizes[size] = file
    largest = table[table["size_bytes"] == size]
    # nccl-tests have a row for each column: the median of them is the time of the run.
    return hosts, float(np.median(largest["time_s"].to_numpy(dtype=float)))


def _expected(runs: Sequence[Timed], expected_s: float | None) -> Mapping[int, float]:
    counts = {len(who) for who, _ in runs}
    return {
        count: expected_s
        if expected_s is not None
        else median(seconds for who, seconds in runs if len(who) == count)
        for count in counts
    }


def _sigma(runs: Sequence[Timed]) -> float:
    """Return the spread of runs that are repeated; without any, of all around their median, which outliers hardly move."""
    again: dict[tuple[str, ...], list[float]] = {}
    for who, seconds in runs:
        again.setdefault(tuple(sorted(who)), []).append(log(seconds))
    # Three runs of the same hosts or more: two have no middle to be off from.
    off = [time_log - median(logs) for logs in again.values() if len(logs) > 2 for time_log in logs]
    if not off:
        # The median hardly moves as long as fewer than half of the runs have the slow node.
        usual = _expected(runs, None)
        off = [log(seconds / usual[len(who)]) for who, seconds in runs]
    return max(_LEAST_SIGMA, _NORMAL * median(map(abs, off)))
