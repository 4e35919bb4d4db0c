"""Finds the exercises of the labs, one module per lab: by the name that a lab uses, which begins with its number."""

from functools import cache
from importlib import import_module

from peerlab.base.data_frames import pd
from peerlab.base.errors import PeerlabError, nearest
from peerlab.features.exercises import progress
from peerlab.features.exercises.exercise import Exercise
from peerlab.features.exercises.transfer import EXAMPLE, TransferTask

_LABS = {
    "00": "peerlab.features.exercises.labs.tour",
    "01": "peerlab.features.exercises.labs.long_detour",
    "02": "peerlab.features.exercises.labs.nodes",
    "03": "peerlab.features.exercises.labs.registration_and_cache",
    "04": "peerlab.features.exercises.labs.own_machine",
    "05": "peerlab.features.exercises.labs.read_a_log",
    "06": "peerlab.features.exercises.labs.design_review",
    "07": "peerlab.features.exercises.labs.training_gain",
    "08": "peerlab.features.exercises.labs.clean_fabrics",
    "09": "peerlab.features.exercises.labs.is_it_well",
    "10": "peerlab.features.exercises.labs.whose_fault",
    "11": "peerlab.features.exercises.labs.late_node",
    "12": "peerlab.features.exercises.labs.whose_figures",
}
"""The module of each lab: its ``EXERCISES`` in the order of the lab, and its ``TRANSFER``, the task at its end."""


def exercises(lab: str | None = None) -> list[Exercise]:
    """Return the exercises of a lab (``"01"``), or of all labs, in their order; of a transfer task the example."""
    return [exercise for number in _numbers(lab) for exercise in (*fixed(number), _example(number))]


def fixed(lab: str | None = None) -> list[Exercise]:
    """Return the exercises of a lab, or of all labs, that ask everybody the same: all but the transfer tasks."""
    return [exercise for number in _numbers(lab) for exercise in import_module(_LABS[number]).EXERCISES]


def names(lab: str | None = None) -> list[str]:
    """Return the names of the exercises of a lab, or of all labs, in their order; nothing is simulated for them."""
    return [
        name
        for number in _numbers(lab)
        for name in (*(exercise.name for exercise in fixed(number)), transfer_of(number).name)
    ]


def find(name: str, seed: int = EXAMPLE) -> Exercise:
    """Return the exercise of this name.

    Parameters
    ----------
    name:
        Which one: ``"01-gain"``.
    seed:
        Which of its tasks, if it is a transfer task.

    Raises
    ------
    PeerlabError
        If there is none.
    """
    # Without a lab's number all are searched, so that a slip is answered by the nearest name of any.
    lab = name[:2] if isinstance(name, str) and name[:2] in _LABS else None
    known = names(lab)
    if lab is None or name not in known:
        raise PeerlabError(f"exercise: no {name!r}; {nearest(name, known)}")
    if name == transfer_of(lab).name:
        return _example(lab) if seed == EXAMPLE else transfer_of(lab).drawn(seed)
    return next(exercise for exercise in fixed(lab) if exercise.name == name)


def transfer_of(lab: str) -> TransferTask:
    """Return what draws the transfer task of a lab (``"01"``)."""
    transfer_task: TransferTask = import_module(_LABS[lab]).TRANSFER
    return transfer_task


@cache  # some are simulated
def _example(lab: str) -> Exercise:
    return transfer_of(lab).drawn(EXAMPLE)


def _numbers(lab: str | None) -> list[str]:
    return [number for number in sorted(_LABS) if lab in (None, number)]


def table() -> pd.DataFrame:
    """Return how far the learner in this folder is: one row per exercise.

    Columns are ``right`` (bool), ``tries`` (answers checked) and ``hints`` (asked for).

    Raises
    ------
    PeerlabError
        If the file with the progress is damaged.
    """
    done = progress.read()
    # Nobody who has not begun stands in the file: such an exercise has no tries.
    rows = {name: vars(done.get(name, progress.Done())) for name in names()}
    return pd.DataFrame.from_dict(rows, orient="index")[["right", "tries", "hints"]].rename_axis("exercise")
