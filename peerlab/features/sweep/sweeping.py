"""Simulates every combination of some fields, and returns one tidy table."""

# A sweep is a set of independent rows. Each row has a fingerprint of all that its figures depend on: every
# field, every figure of the cluster, the version. So it does not matter which worker answers it, in which
# batch or order, and a file needs no second one beside it to say what it answers: rows whose fingerprint
# belongs to the question are kept; any other fingerprint means another question, and the file is not
# touched. Lines are appended with one write each; a kill costs at most the last one. A finished file is put
# in the order of the question and replaced at once. A shard is a share of the rows, dealt out in shuffled
# rounds so that none gets the largest messages alone; its file says which shard it is. A merge asks the
# question again, so that it knows which rows are missing and which belong to another question. Cells read
# back exactly (text as it is, all else as JSON), so a resumed table equals an undisturbed one.

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from peerlab.base.errors import Cancel, Cancelled, PeerlabError, SweepStopped, WorkersLost
from peerlab.base.progress_bar import progress_bar
from peerlab.features.sweep.batch_worker import BatchAnswer, never
from peerlab.features.sweep.batches import Pace, work_off
from peerlab.features.sweep.executors import Who, sweep_workers
from peerlab.features.sweep.merge import merged
from peerlab.features.sweep.on_dask import WAIT_S
from peerlab.features.sweep.output_file import Store
from peerlab.features.sweep.question import Question, SweepCase, values_of
from peerlab.features.sweep.shards import Shard
from peerlab.features.sweep.step_rows import asks_for_steps, step_table
from peerlab.question.scenario import Scenario
from peerlab.training.training_step import Step

OPTIONS = (
    "iteration_times",
    "executor",
    "workers",
    "dask",
    "dask_wait_s",
    "shard",
    "merge",
    "output",
    "progress",
    "cancel",
)
"""Keywords of :func:`sweep` that are no fields of a scenario."""

Told = Callable[[int, int], None]


@dataclass
class Outcome:
    """The rows of a sweep: all, or those up to where it was stopped."""

    question: Question
    """What was asked."""
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Fingerprint to row."""
    interrupted: bool = False
    """Whether Ctrl+C ended it."""

    @property
    def in_order(self) -> list[tuple[str, dict[str, Any]]]:
        """The rows that are there, in the order of the question, each with its fingerprint."""
        keys = (case.fingerprint for case in self.question.cases)
        return [(key, self.rows[key]) for key in keys if key in self.rows]

    @property
    def complete(self) -> bool:
        """Whether every scenario was answered."""
        return len(self.in_order) == len(self.question.cases)

    @property
    def so_far(self) -> str:
        """How much there is, in words."""
        return f"{len(self.in_order)} of {len(self.question.cases)} scenarios"

    def table(self) -> pd.DataFrame:
        """Return the rows that are there; the index is the place in the question."""
        cases = zip(self.question.places, self.question.cases, strict=True)
        places = [place for place, case in cases if case.fingerprint in self.rows]
        rows = [row for _, row in self.in_order]
        columns = self.question.columns
        table = pd.DataFrame({name: [row[name] for row in rows] for name in columns}, index=places)
        for name in columns:
            # pandas makes a column of nothing an object; others compute with it as a number.
            if name.endswith(("_s", "_GBps", "_share")) and table[name].isna().all():
                table[name] = math.nan  # a number that no row has
        return table


def sweep(
    scenario: Scenario | Step | None = None,
    *,
    iteration_times: bool = False,
    executor: Executor | None = None,
    workers: int | None = None,
    dask: str | None = None,
    dask_wait_s: float = WAIT_S,
    shard: tuple[int, int] | str | Sequence[str] | None = None,
    merge: Sequence[str | Path] | None = None,
    output: str | Path | None = None,
    progress: bool | Told = True,
    cancel: Cancel | None = None,
    **fields: Any,
) -> pd.DataFrame:
    """Simulate every combination of the values of some fields; return a tidy table with a row for each.

    The numbers do not depend on where and in which order they are computed.

    Parameters
    ----------
    scenario:
        Gives the fields that do not vary; default: ``Scenario()``, and for each cluster its usual path. With a `Step`, or a field that
        only a step has (``workload=["resnet50"], batch=[32, 128]``), the sweep is over steps of a training, in this process.
    **fields:
        For any field of a scenario a list of values, as in ``nodes=[2, 4, 8], path=["host-rdma", "peer-direct"]``.
        Rows come in the order given, the last field varying fastest.
    iteration_times:
        Whether to add the column ``iteration_times_s``: the seconds of every iteration, the cold ones too, which are simulated
        for this alone. A row of Peer Direct with a cache then takes about three times as long.
    workers:
        This many processes share the work. In a script, call it below ``if __name__ == "__main__":``.
    executor:
        Any `concurrent.futures.Executor` to do the work; it is left running. Default: this process.
    dask:
        Address of a Dask scheduler such as ``tcp://10.0.0.1:8786`` whose workers do it (``pip install 'peerlab[dask]'``), or
        the file with its address that ``dask scheduler --scheduler-file dask.json`` writes; it ends in .json.
    dask_wait_s:
        How long to wait for that file, and for a worker whenever there is none; seconds. What is waited for is said at once
        and then every minute (logger ``peerlab.sweep``, by default on stderr).
    shard:
        ``(3, 40)`` or ``"3/40"``: only the third of forty shares of the rows, which differ by one row at most. For jobs that
        know nothing of each other, such as Slurm's job arrays; each needs an `output` of its own. Of steps of a training it is the field
        of that name: ``shard=["ddp", "fsdp"]``.
    merge:
        The files of all shards, to be put together instead of simulating anything: with the same question they give the
        table, and the `output`, of a sweep in one piece.
    output:
        A CSV file that gets the rows as they come. The same question with the same file goes on where it stopped;
        finished, the file is in the order of the table.
    progress:
        True: a bar once it takes longer than a second, on a terminal or in a notebook; False: none; or a function that
        is called with the scenarios done and those in all.
    cancel:
        Once set, the rows that are there are returned. Ctrl+C does the same; with `output` it goes on to the caller, as
        the rows are in the file.

    Returns
    -------
    A column for each varied field (sizes in bytes), the figures of `Run.as_dict`, units in their names, and ``error``:
    why a combination is impossible, such as a path that a cluster lacks. Its figures are then missing (NaN). The index is
    the row's place in the whole table, in a shard too.

    Raises
    ------
    ScenarioError, HardwareError
        At once, if a field does not exist or a value is wrong whatever the others are.
    PeerlabError
        If the output file belongs to another question or cannot be written, or the workers are lost or do not come; if
        files to be merged are of another question, contradict each other, or lack rows.

    >>> sweep(nodes=[2, 4], path=["host-rdma", "peer-direct"])["busbw_GBps"].round(1).tolist()
    [48.9, 82.0, 34.5, 58.9]
    """
    who = Who(executor, workers, dask, dask_wait_s)
    if isinstance(scenario, Step) or asks_for_steps(scenario, fields):
        files = {"merge": merge, "output": output, "iteration_times": iteration_times or None}
        _refuse_elsewhere([*who.given, *(name for name, value in files.items() if value is not None)])
        if shard is not None:  # of steps it is how a model is spread over the devices
            fields = {**fields, "shard": shard}
        return _steps(scenario, fields, progress, cancel)
    share = None if shard is None else Shard.read(shard)
    question = Question.ask(scenario, fields, OPTIONS, share, iteration_times=iteration_times)
    if merge is not None:
        return put_together(question, who, merge, output).table()
    outcome = survey(question, who, output=output, progress=progress, cancel=cancel)
    if outcome.interrupted:
        # The rows are in the file: whoever calls may end, and go on later.
        if output is not None:
            raise KeyboardInterrupt
        warnings.warn(
            f"stopped after {outcome.so_far}; with output=... a sweep can go on later",
            SweepStopped,
            stacklevel=2,
        )
    return outcome.table()


def _refuse_elsewhere(given: Sequence[str]) -> None:
    """Refuse to answer steps elsewhere, or into a file."""
    for name in given:
        raise PeerlabError(
            f"{name}: a sweep over steps of a training runs in this process, into no file; leave it out"
        )


def _steps(
    base: Scenario | Step | None, fields: dict[str, Any], progress: bool | Told, cancel: Cancel | None
) -> pd.DataFrame:
    """Return the table of a sweep over steps."""
    total = math.prod(len(values_of(name, value)) for name, value in fields.items())
    with _telling_progress(progress, total, 0) as tell:
        return step_table(base, fields, lambda done, _all: tell(done), cancel)


def survey(
    question: Question,
    who: Who,
    *,
    output: str | Path | None = None,
    progress: bool | Told = True,
    cancel: Cancel | None = None,
    pace: Pace | None = None,
) -> Outcome:
    """Answer a question as :func:`sweep` does, and return what is there even if it was interrupted."""
    outcome = Outcome(question)
    with ExitStack() as stack:
        try:
            store = None if output is None else stack.enter_context(Store(output, question))
            outcome.rows = store.known if store else outcome.rows
            _answer(outcome, store, who, progress, cancel, pace)
            if store and outcome.complete:
                store.finish(outcome.in_order)
        except KeyboardInterrupt:
            outcome.interrupted = True
        except Cancelled:  # while it waited for workers
            return outcome
        except WorkersLost as problem:
            kept = f"{outcome.so_far} are in {output}, and the same sweep goes on from there"
            raise WorkersLost(
                f"{problem}; {kept if store else 'with an output file it could go on'}"
            ) from None
    return outcome


def put_together(
    question: Question, who: Who, files: Sequence[str | Path], output: str | Path | None
) -> Outcome:
    """Answer a question from the files of its shards; nothing is simulated.

    Raises
    ------
    PeerlabError
        If that is impossible; the output file is then as it was.
    """
    extra = [*who.given, *["shard"] * (question.shard is not None)]
    if extra:
        raise PeerlabError(f"merge and {extra[0]}: merging simulates nothing; give one of them")
    outcome = Outcome(question, merged([files] if isinstance(files, str | Path) else files, question))
    if output is not None:
        with Store(output, question) as store:
            store.check(outcome.rows)
            store.finish(outcome.in_order)
    return outcome


def _answer(
    outcome: Outcome,
    store: Store | None,
    who: Who,
    progress: bool | Told,
    cancel: Cancel | None,
    pace: Pace | None,
) -> None:
    """Answer the cases that have no row yet."""
    question = outcome.question
    cases = {case.fingerprint: case for case in question.cases}
    stopped = cancel.is_set if cancel is not None else never
    _keep(outcome, store, [(case, case.reason) for case in cases.values() if case.reason is not None])
    todo = [case for case in cases.values() if case.fingerprint not in outcome.rows]
    if not todo:
        return
    with (
        sweep_workers(who, stopped) as workers,
        _telling_progress(progress, len(cases), len(cases) - len(todo)) as tell,
    ):

        def keep(mine: Sequence[SweepCase], answer: BatchAnswer) -> None:
            _keep(outcome, store, list(zip(mine, answer.figures, strict=False)))
            tell(len(outcome.rows))

        work_off(workers, todo, question.batch, keep, stopped, pace)


def _keep(
    outcome: Outcome, store: Store | None, answers: Sequence[tuple[SweepCase, dict[str, Any] | str | None]]
) -> None:
    """Take figures, or reasons why there are none."""
    rows = {case.fingerprint: outcome.question.row(case, figures) for case, figures in answers}
    if store:
        store.add(rows)
    else:
        outcome.rows |= rows


@contextmanager
def _telling_progress(progress: bool | Told, total: int, done: int) -> Iterator[Callable[[int], None]]:
    """Return a function that takes how many scenarios are done, and shows it or passes it on."""
    if callable(progress):
        yield lambda now: progress(now, total)
        return
    with progress_bar("sweep", "scenarios", total, done=done, shown=progress) as bar:
        yield bar
