"""A sweep over steps of a training: every combination of some fields, answered in this process."""

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import pandas as pd

from peerlab.base.errors import Cancel, PeerlabError, WorkloadError
from peerlab.features.sweep.question import ERROR, shown_value, values_of
from peerlab.question.scenario import Scenario
from peerlab.training.answer_step import step
from peerlab.training.training_step import STEP_FIELDS, Step

_OF_A_STEP = frozenset(STEP_FIELDS) - {"prefetch", "scenario"}
"""Fields that no scenario has."""


def asks_for_steps(base: object, given: Mapping[str, Any]) -> bool:
    """Return whether a sweep is over steps: it has one as its base, or varies a field that only a step has."""
    return isinstance(base, Step) or bool(_OF_A_STEP & given.keys())


def step_table(
    base: Scenario | Step | None,
    given: Mapping[str, Any],
    tell: Callable[[int, int], None],
    cancel: Cancel | None,
) -> pd.DataFrame:
    """Return one row for each combination: what varies, the figures of `StepRun.as_dict`, and ``error``.

    Raises
    ------
    PeerlabError
        If no combination is possible, with the reason of the first.
    """
    varied = {name: values_of(name, value) for name, value in given.items()}
    if empty := next((name for name, values in varied.items() if not values), None):
        raise WorkloadError(f"{empty}: no value is given; give one or more, as in [32, 64]")
    rows: list[dict[str, Any]] = []
    problems: list[PeerlabError] = []
    combinations = list(product(*varied.values()))
    for values in combinations:
        if cancel is not None and cancel.is_set():
            break
        change = dict(zip(varied, values, strict=True))
        row = {name: shown_value(name, value) for name, value in change.items()}
        try:
            asked = base.with_(**change) if isinstance(base, Step) else Step.of(base, **change)
            rows.append({**step(asked).as_dict(), **row, ERROR: None})
        except PeerlabError as problem:
            problems.append(problem)
            rows.append({**row, ERROR: str(problem)})
        tell(len(rows), len(combinations))
    # Where nothing is possible the first reason is an error, not a table without figures.
    if rows and len(problems) == len(rows):
        raise problems[0]
    table = pd.DataFrame(rows)
    return table[[*varied, *(name for name in table if name not in (*varied, ERROR)), ERROR]]
