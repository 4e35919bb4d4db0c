"""Runs that lab 11 has not shown: who is slow, or what has to be asked next."""

from collections.abc import Sequence
from functools import cache
from math import exp
from random import Random

from peerlab.diagnosis import CANNOT_TELL
from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.transfer import TransferTask

_SHARE, _SIGMA = 0.8, 0.01
"""What a slow node has left of its rate, and by how much healthy runs differ."""
_SLOW = 1.1
_NOBODY = "nothing is slow"
_NODE, _HEALTHY, _OPEN = "node", "healthy", "open"
Hosts = tuple[str, ...]
Timed = tuple[Hosts, float]


@cache
def runs_of(nodes: int, slow: int, kind: str) -> tuple[Timed, ...]:
    """Return runs of some nodes each, with how many times as long as expected they took: halves of those that may be slow, until one or two are left."""
    random = Random(f"{nodes} {slow} {kind}")  # noqa: S311  (nothing secret)
    names = [f"n{number}" for number in range(nodes)]
    bad = None if kind == _HEALTHY else names[slow % nodes]
    runs, possible = list[Timed](), names
    while len(possible) > (2 if kind == _OPEN else 1) and not (runs and kind == _HEALTHY):
        some = {*random.sample(possible, len(possible) // 2)}
        if len(some) == 1:  # nobody runs alone
            some.add(random.choice([name for name in names if name not in possible]))
        for hosts in ([n for n in names if n in some], [n for n in names if n not in some]):
            noise = exp(random.gauss(0, _SIGMA))
            runs.append((tuple(hosts), round(noise / (_SHARE if bad in hosts else 1), 2)))
        possible = _possible(runs, names)
    return tuple(runs)


def _possible(runs: Sequence[Timed], names: Sequence[str]) -> list[str]:
    """Return the nodes that took part in every slow run, and in no other."""
    return [name for name in names if all((name in hosts) == (took > _SLOW) for hosts, took in runs)]


def _suspect_task(kind: str, slow: int, nodes: int) -> Choice:
    runs = runs_of(nodes, slow, kind)
    names = [f"n{number}" for number in range(nodes)]
    possible = _possible(runs, names) if any(took > _SLOW for _, took in runs) else []
    truth = CANNOT_TELL if len(possible) > 1 else possible[0] if possible else _NOBODY
    cleared = [name for name in names if name not in possible]
    offered = sorted([*possible[:2], *Random(slow).sample(cleared, 3 - len(possible[:2]))], key=names.index)  # noqa: S311  (nothing secret)
    options = {name: _reply(name, runs, possible) for name in offered}
    options |= {
        _NOBODY: "Some runs are slow. Who took part in all of those?",
        CANNOT_TELL: "Who took part in every slow run, and in no fast one?" if any(took > _SLOW for _, took in runs) else "All nodes have run, and all as fast as expected.",
    }  # fmt: skip
    lines = "\n".join(f"    {took:>5.2f}  {' '.join(hosts)}" for hosts, took in runs)
    return Choice(
        name="",
        question=f"{nodes} nodes, n0 to n{nodes - 1}. Healthy runs differ by a per cent or two. Each line is a run: how many times as long as expected it took, and who took part.\n\n{lines}\n\nWho is slow?",
        options=options,
        truth=lambda: truth,
        hints=(
            "Cross out everybody who took part in a run that was as fast as expected.",
            "Of those that are left, who took part in every slow run?",
        ),
        why=_why(truth),
        solution=f'"{truth}"',
    )  # fmt: skip


def _why(truth: str) -> str:
    if truth == CANNOT_TELL:
        return "Two nodes explain all runs equally. A run with one of them decides."
    if truth == _NOBODY:
        return "Every node has run, and every run was as fast as expected. `peerlab.suspects` says so with 95 per cent or more."
    return "No other node took part in every slow run and in no fast one. `peerlab.suspects` says so with 95 per cent or more."


def _reply(name: str, runs: Sequence[Timed], possible: Sequence[str]) -> str:
    """Return what somebody is told who names a node that is not the one, or not the only one."""
    for hosts, took in runs:
        if (name in hosts) != (took > _SLOW):
            return f"{name} {'took part' if name in hosts else 'took no part'} in a run that took {took:.2f} times as long as expected."
    others = " and ".join(suspect for suspect in possible if suspect != name)
    return f"It may be {name}. So may {others}: does any run tell them apart?" if others else ""


TRANSFER = TransferTask(
    lab="11",
    cases=((_NODE, _OPEN, _HEALTHY), range(20), (8, 12, 16)),
    make=_suspect_task,
)
