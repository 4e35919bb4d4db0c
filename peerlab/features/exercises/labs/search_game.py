"""A game against the simulator: one of eight nodes may be slow, and a run tells whether it took part."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import exp
from random import Random

from peerlab.base.display import shown
from peerlab.base.errors import PeerlabError
from peerlab.base.units import say_count
from peerlab.engine.simulate import simulate
from peerlab.features.exercises.exercise import Code
from peerlab.features.exercises.own_seed import own_seed
from peerlab.question.scenario import Scenario

NODES = 8
SHARE = 0.8
"""What the slow node has left of its rate."""
NOISE = 0.01
"""By how much healthy runs differ: sigma of a factor."""
SLOW = 1.1
"""From how many times as long as expected on a run has the slow node in it: healthy ones reach 1.04, others 1.2."""
FEWEST = 4
"""Runs that suffice: nine answers are possible, and four runs tell sixteen apart."""
_AS_FEW = "In the mean no way of searching needs fewer than three."
_MORE = "Three suffice, if each halves who may be slow."
_RING = Scenario(cluster="ideal-100g", message_bytes="64 MiB", dependency="step")
Run = Callable[..., float]


@cache
def _simulated(nodes: int, slow: int | None) -> float:
    """Return how many times as long as a healthy AllReduce one takes in whose ring this node is slow."""
    asked = _RING.with_(nodes=nodes)
    part = None if slow is None else {slow: SHARE}
    # the loop, for the arrays need NumPy, which a browser tab has not
    return simulate(asked.with_(slow_nodes=part), "loop").time_s / simulate(asked, "loop").time_s


def times_as_long(nodes: tuple[int, ...], slow: int | None, seed: int = 0) -> float:
    """Return how many times as long as a healthy one an AllReduce on some nodes takes: simulated, and a little noise of a seed."""
    noise = exp(Random(f"{nodes} {seed}").gauss(0, NOISE))  # noqa: S311  (nothing secret)
    return noise * _simulated(len(nodes), nodes.index(slow) if slow in nodes else None)


def checked(nodes: Sequence[object]) -> tuple[int, ...]:
    """Return the nodes of a run.

    Raises
    ------
    PeerlabError
        If they are fewer than two, one of them twice, or no numbers of nodes.
    """
    whole = [node for node in nodes if type(node) is int and 0 <= node < NODES]
    if len(nodes) < 2 or len(whole) < len(nodes) or len(set(whole)) < len(whole):
        raise PeerlabError(
            f"run: give two nodes or more, each once, from 0 to {NODES - 1}, such as run(0, 1, 2, 3)"
        )
    return tuple(whole)


@dataclass(eq=False, repr=False)
class SearchGame:
    """One of eight nodes is slow; who it is, your seed decides."""

    slow: int = field(default_factory=lambda: Random(own_seed()).randrange(NODES))  # noqa: S311  (nothing secret)
    runs: list[tuple[tuple[int, ...], float]] = field(default_factory=list)
    """Nodes of each run, and how many times as long as expected it took."""
    accused: str = ""
    """What the last accusation was told."""

    def run(self, *nodes: int) -> "SearchGame":
        """Let some nodes run an AllReduce.

        Raises
        ------
        PeerlabError
            If they are fewer than two, one of them twice, or no numbers of nodes.
        """
        some = checked(nodes)
        self.runs.append((some, times_as_long(some, self.slow, len(self.runs))))
        self.accused = ""
        return self

    @property
    def possible(self) -> list[int]:
        """The nodes that no run clears: who took part in every slow run, and in no other."""
        return [
            node for node in range(NODES) if all((node in some) == (took > SLOW) for some, took in self.runs)
        ]

    def accuse(self, node: object = ...) -> "SearchGame":
        """Name the slow node."""
        self.accused = self._reply(node)
        return self

    def _reply(self, node: object) -> str:
        if type(node) is not int or not 0 <= node < NODES:
            return f"Name a node from 0 to {NODES - 1} in place of the dots."
        for some, took in self.runs:
            if (node in some) != (took > SLOW):
                part = "took part" if node in some else "took no part"
                return f"Not node {node}: it {part} in the run on {_listed(some)}, which took {took:.2f} times as long as a healthy one."
        others = [suspect for suspect in self.possible if suspect != node]
        if others:
            return f"It may be node {node}. So may {_listed(others)}: no run tells them apart yet."
        few = len(self.runs) < FEWEST
        return f"Right: node {node}, in {say_count(len(self.runs), 'run')}. {_AS_FEW if few else _MORE}"

    _repr_html_ = shown

    def __repr__(self) -> str:
        runs = "; ".join(f"{_listed(some)}: {took:.2f}" for some, took in self.runs)
        return f"SearchGame({runs or 'no run yet'}) {self.accused}".strip()


def _listed(nodes: Sequence[int]) -> str:
    *most, last = map(str, nodes)
    return f"{', '.join(most)} and {last}" if most else last


class _Counted:
    """Runs that are counted, for a learner's search."""

    def __init__(self, slow: int | None) -> None:
        self.slow, self.asked = slow, list[tuple[int, ...]]()

    def __call__(self, *nodes: object) -> float:
        given = nodes[0] if len(nodes) == 1 and isinstance(nodes[0], list | tuple | set | range) else nodes
        some = checked(list(given))
        self.asked.append(some)
        if len(self.asked) > 4 * NODES:
            raise PeerlabError(f"{len(self.asked)} runs: does your search come to an end?")
        return times_as_long(some, self.slow, len(self.asked))


def _worlds() -> Iterator[int | None]:
    yield from (*range(NODES), None)


def _check_search(search: object) -> str | None:
    most = 0
    for slow in _worlds():
        run = _Counted(slow)
        answer = search(run)  # type: ignore[operator]
        if isinstance(answer, str):
            return f"You return the text {answer!r}. Return the node's number, such as 3, or None."
        where = "nothing is slow" if slow is None else f"node {slow} is slow"
        if slow is None and answer is not None and answer is not False:
            return f"Where {where} you say {answer!r}. All of its runs were healthy; return None then."
        if slow is not None and answer is None:
            return f"Where {where} you return None. Its runs: {_runs_in_words(run)}."
        if slow is not None and (isinstance(answer, bool) or answer != slow):
            return f"Where {where} you say {answer!r}. Its runs: {_runs_in_words(run)}."
        most = max(most, len(run.asked))
    if most > FEWEST:
        return f"It finds all of them, in up to {most} runs. {FEWEST} suffice: each should tell half of what is possible from the other half."
    return None


def _runs_in_words(run: _Counted) -> str:
    """Return the runs of a search in words."""
    if not run.asked:
        return "none was made"
    return "; ".join(
        f"{', '.join(map(str, some))}: {times_as_long(some, run.slow, number):.2f}"
        for number, some in enumerate(run.asked, 1)
    )


SEARCH = Code(
    name="11-search",
    question=f"Write `search`: `run(0, 1, 2, 3)` says how many times as long as a healthy one a run on these nodes takes. It has two nodes or more. Return the slow one of eight nodes, or None if none is. At most {FEWEST} runs.",
    check=_check_search,
    function="search",
    attempts={
        "for node in range(1, 8):\n    if run(0, node) > 1.1:\n        return node": "Where node 0 is slow you say 1",
        "some = list(range(8))\nwhile len(some) > 2:\n    half = some[: len(some) // 2]\n    some = half if run(*half) > 1.1 else some[len(some) // 2 :]\nreturn some[0]": "Where node 1 is slow you say 0",
        "for node in range(8):\n    if run(node, (node + 1) % 8) > 1.1 and run(node, (node + 2) % 8) > 1.1:\n        return node": "suffice: each should tell half",
        "return None": "Where node 0 is slow you return None",
    },
    hints=(
        "Give each node its number in binary: 0 is 000, and 7 is 111. A run on all nodes whose last bit is 1 tells that bit.",
        "Three such runs spell the slow node, if there is one. What does node 0 look like, and what a healthy cluster?",
        "Where all three are healthy, one more run decides: one with node 0 in it.",
    ),
    why="Eight nodes and *no node* are nine answers: three runs tell eight answers apart, four tell sixteen. For 64 nodes and *no node* it takes seven runs.",
    solution="bits = [run(*[node for node in range(8) if node >> bit & 1]) > 1.1 for bit in range(3)]\nnode = sum(slow << bit for bit, slow in enumerate(bits))\nreturn node if node or run(0, 1) > 1.1 else None",
)  # fmt: skip
