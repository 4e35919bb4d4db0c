"""Puts the files of a sweep's shards together."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from peerlab.base.errors import PeerlabError
from peerlab.base.textfile import in_words
from peerlab.features.sweep.csv_rows import FINGERPRINT, SHARD, header, read_rows
from peerlab.features.sweep.output_file import held_in
from peerlab.features.sweep.question import Question
from peerlab.features.sweep.shards import Shard, say_numbers, shard_at

Rows = dict[str, dict[str, Any]]
"""Fingerprint to row."""


def merged(files: Sequence[str | Path], question: Question) -> Rows:
    """Return the rows of all shards of a question.

    Raises
    ------
    PeerlabError
        If a file is no shard of it, two files say different things of one scenario, or rows are missing.
    """
    rows, source, counts = Rows(), dict[str, Path](), dict[int, Path]()
    for file in files:
        path, entries = _read(file, question)
        for key, row in entries.items():
            counts.setdefault(Shard.read(row.pop(SHARD)).of, path)
            if rows.setdefault(key, row) != row:
                raise PeerlabError(
                    f"merge: {source[key]} and {path} have different figures for one scenario; one of them was changed by "
                    "hand, or simulated with other code"
                )
            source.setdefault(key, path)
    if len(counts) > 1:
        (count, first), (other, second), *_ = counts.items()
        raise PeerlabError(
            f"merge: {first} is one of {count} shards, {second} one of {other}; merge shards of one sweep"
        )
    _refuse_missing(rows, question, counts)
    return rows


def _read(file: str | Path, question: Question) -> tuple[Path, Rows]:
    """Return the rows of a shard, without a last line that was cut off."""

    def wrong(what: str) -> PeerlabError:
        return PeerlabError(f"merge: {path} {what.partition('; give another')[0]}")

    with in_words(f"cannot read {file}", PeerlabError):
        path = Path(file).expanduser()
    options = {case.fingerprint: case for case in question.every}
    held = held_in(path)
    columns = [*question.columns, SHARD, FINGERPRINT]
    # A file that begins no further than the header says nothing yet: its shard has just begun, or was killed
    # at once.
    begun = not header(columns).startswith(held)  # else it was killed in its first line, or before
    rows = read_rows(held, columns, options, wrong).rows if begun else {}
    strangers = len(rows.keys() - options.keys())
    if strangers:
        raise wrong(
            f"holds {strangers} of {len(rows)} rows of another question (another value, cluster or version of peerlab)"
        )
    return path, {key: question.whole(options[key], row) for key, row in rows.items()}


def _refuse_missing(rows: Rows, question: Question, counts: Collection[int]) -> None:
    missing = [place for place, case in enumerate(question.every) if case.fingerprint not in rows]
    if not missing:
        return
    sentence = f"merge: {len(missing)} of {len(question.every)} rows are missing"
    if not counts:
        raise PeerlabError(f"{sentence}: no shard has a row yet")
    (of,) = counts
    numbers = say_numbers(shard_at(place, of) for place in missing)
    raise PeerlabError(
        f"{sentence}, of shards {numbers} of {of}; run these again, they go on where they stopped "
        f"(Slurm: sbatch --array={numbers} ...), then merge"
    )
