"""A plan in its folder: written whole or not at all, and read with nothing taken on trust."""

import json
import math
import os
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from peerlab.base.errors import PeerlabError
from peerlab.base.outfile import check_folder, new_folder, put_on_disk, written
from peerlab.base.textfile import in_words, read_text
from peerlab.study.planned import Trial

FILE = "plan.json"
"""The plan's own file, in the folder with the logs."""
SCRIPT = "run.sh"
_MOST_BYTES = 2**20
_LONGEST = 2000
"""Characters of a text in a plan; what peerlab writes is shorter."""


def check_free(where: Path, *, force: bool) -> None:
    """Refuse a folder into which :func:`write_trial` would write no plan, before one is made.

    Raises
    ------
    PeerlabError
        As there.
    """
    with in_words(f"cannot write {where}", PeerlabError):
        place = where.expanduser()
        # a link that leads nowhere, too
        there = [file for file in (place / SCRIPT, place / FILE) if os.path.lexists(file)]
    check_folder(place, PeerlabError)
    if there and not force:
        raise PeerlabError(
            f"{there[0]} is there already; give another folder, or --force, which overwrites it"
        )


def write_trial(trial: Trial, where: Path, *, force: bool = False) -> Path:
    """Write a plan into a folder, which is made if need be: the plan, and a script that runs it; return the script.

    Both are written, or none.

    Raises
    ------
    PeerlabError
        If one of the two is there already (unless `force`), or the folder cannot be written.
    """
    check_free(where, force=force)
    place = where.expanduser()
    script, plan = place / SCRIPT, place / FILE
    with new_folder(place, PeerlabError):
        # Both are written before either replaces anything: a plan without its script is of no use.
        with written(script, PeerlabError) as path, written(plan, PeerlabError) as other:
            put_on_disk(path, _script(trial))
            put_on_disk(other, json.dumps(asdict(trial), indent=2) + "\n")
        with in_words(f"cannot make {script} executable", PeerlabError):
            mode = script.stat().st_mode
            script.chmod(mode | (mode & 0o444) >> 2)  # whoever may read it may run it
    return script


def _script(trial: Trial) -> str:
    lines = [
        "#!/bin/sh",
        "# Written by peerlab plan. Each run writes a log; peerlab plan --read . reads them.",
        # -e ends at the first run that fails: later ones would be compared with nothing.
        "set -eu",
        *(f"{command} > {log} 2>&1" for log, command in trial.commands),
    ]
    return "\n".join(lines) + "\n"


def read_trial_file(where: Path) -> Trial | None:
    """Return the plan in a folder; None where there is none.

    Raises
    ------
    PeerlabError
        If it is damaged; it names the field.
    """
    file = where / FILE
    if not file.exists():
        return None
    text = read_text(file, what="plan", most_bytes=_MOST_BYTES, error=PeerlabError)
    try:
        trial: Trial = _of_kind(Trial, json.loads(text), "plan")
        _check(trial)
    except (ValueError, RecursionError) as problem:
        why = problem if isinstance(problem, _FieldError) else "it is not JSON"
        raise PeerlabError(f"{file} is no plan that peerlab plan wrote: {why}") from None
    return trial


class _FieldError(ValueError):
    """A field does not hold what it should."""


# A plan may come from anywhere: each field is held to the type of its record, with nothing left over.
def _of_kind(kind: Any, value: Any, name: str) -> Any:
    """Return a value of a file as a field of this type holds it.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if is_dataclass(kind):
        names = {field.name: field.type for field in fields(kind)}
        if not isinstance(value, dict) or value.keys() != names.keys():
            raise _FieldError(f"{name} must have {', '.join(names)}")
        return kind(**{key: _of_kind(inner, value[key], key) for key, inner in names.items()})  # type: ignore[operator]
    if get_origin(kind) is tuple:
        # A list of one kind, or of so many fields, as the record's annotation has it.
        inner, *others = get_args(kind)
        if not isinstance(value, list) or (Ellipsis not in others and len(value) != 1 + len(others)):
            raise _FieldError(
                f"{name} must be a list{'' if Ellipsis in others else f' of {1 + len(others)}'}"
            )
        return tuple(_of_kind(inner, element, name) for element in value)
    # A text that is printed later must not steer a terminal.
    if kind is str and not (isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST):
        raise _FieldError(f"{name} must be a text on one line, not {value!r:.40}")
    # JSON's `true` is an int to Python, and `type` tells it from one.
    if kind is int and not (type(value) is int and 0 < value < 2**63):
        raise _FieldError(f"{name} must be a whole number above 0, not {value!r:.40}")
    if kind is float and not (type(value) in (int, float) and 0 < value < math.inf):
        raise _FieldError(f"{name} must be a number above 0, not {value!r:.40}")
    return value


def _check(trial: Trial) -> None:
    """Refuse what each field may hold, and all of them together may not.

    Raises
    ------
    ValueError
        If there is such a thing.
    """
    if any(
        not gain.bands or not gain.bands[0].low <= gain.bands[0].value <= gain.bands[0].high
        for gain in trial.expected
    ):
        raise _FieldError("expected must have bands at each size, from low to high")
    if not trial.commands:
        raise _FieldError("commands must have a command")
    # The verdict looks its size up among those expected.
    if trial.size_bytes not in [gain.size_bytes for gain in trial.expected]:
        raise _FieldError("size_bytes must be one of expected")
