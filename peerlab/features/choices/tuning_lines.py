"""What NCCL says that it took (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=TUNING), beside the map.

Since 2.23 a line is ``AllReduce: 8 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}`` (NVIDIA/nccl src/enqueue.cc); before, of every collective,
``8 Bytes -> Algo 0 proto 0 time 25.200924``, with numbers in place of names (src/include/nccl_common.h).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from peerlab.base.errors import RecordsError
from peerlab.features.choices.choice_map import ChoiceMap
from peerlab.records.text import Log

_LINE = re.compile(r"(?:\b(\w{1,20}): )?\b(\d{1,15}) Bytes -> Algo (\w{1,16}) proto (\w{1,8})")
_RANKS = re.compile(r"\bnranks (\d{1,7})\b")
_NODES = re.compile(r"\bnNodes (\d{1,6})\b")
_ALGORITHMS = ("tree", "ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
_PROTOCOLS = ("LL", "LL128", "Simple")
# NCCL writes NVLS_TREE here and NVLSTree there.
_NAMES = {name.upper().replace("_", ""): name for name in (*_ALGORITHMS, *_PROTOCOLS)}
_ALLREDUCE = "AllReduce"


@dataclass(frozen=True, kw_only=True)
class TunedSize:
    """One size in a log, beside the map."""

    size: int
    nodes: int
    logged: tuple[str, str]
    """Algorithm and protocol that NCCL says it took."""
    mapped: tuple[str, str]
    """Those of the map."""

    @property
    def alike(self) -> bool:
        """Whether they are the same."""
        return self.logged == self.mapped


def tuning_lines(log: Log) -> dict[int, tuple[str, str]]:
    """Return algorithm and protocol of each size of an AllReduce in a log; the last line of a size counts, as warm-up comes first.

    Raises
    ------
    RecordsError
        If it has no such line.
    """
    logged = {}
    for line in log.lines:
        # Lines before 2.23 name no collective: they are taken as AllReduce, which tests of one run alone.
        if (match := _LINE.search(line.text)) and match[1] in (None, _ALLREDUCE):
            logged[int(match[2])] = _name(match[3], _ALGORITHMS), _name(match[4], _PROTOCOLS)
    if not logged:
        raise RecordsError(
            f"{log.name}: no line says which algorithm NCCL took; run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING"
        )
    return logged


def nodes_in(log: Log, devices: int) -> int | None:
    """Return on how many nodes of so many devices a log was taken, where a line says it."""
    # Its own word for nodes first; ranks say it only if a node runs all its devices.
    for pattern, each in ((_NODES, 1), (_RANKS, devices)):
        counts = [int(match[1]) for line in log.lines if (match := pattern.search(line.text))]
        # One node has nothing between nodes: such a line says nothing for the map.
        if counts and max(counts) % each == 0 and max(counts) // each > 1:
            return max(counts) // each
    return None


def beside(choice_map: ChoiceMap, logged: dict[int, tuple[str, str]]) -> Sequence[TunedSize]:
    """Return each size of a log beside a map of one row that has its sizes."""
    cells = {cell.size: cell for cell in choice_map.cells}
    return [
        TunedSize(
            size=size,
            nodes=cells[size].nodes,
            logged=taken,
            mapped=(cells[size].algorithm, cells[size].protocol),
        )
        for size, taken in sorted(logged.items())
        if size in cells
    ]


def _name(word: str, names: Sequence[str]) -> str:
    # Before 2.23 names are numbers, in the order of NCCL's own list.
    if word.isdecimal() and int(word) < len(names):
        return names[int(word)]
    return _NAMES.get(word.upper().replace("_", ""), word)
