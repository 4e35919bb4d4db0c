"""Reads `nvidia-smi topo -m`: a matrix of distances."""

import re

from peerlab.base.errors import HardwareError
from peerlab.topology.topology import PHB, PIX, PXB, SYS, PciCard, Topology, are_islands, check_number

TOOL = "nvidia-smi topo -m"
# The line of columns is underlined in a terminal, and the escapes are copied with it.
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,8}m")
_HEAD = re.compile(r"\s*GPU0\s")
_FIRST = re.compile(r"\s*GPU0\s+X\b")
_DEVICE = re.compile(r"GPU\d{1,4}|NIC\d{1,4}|[^\W_]{1,40}_\w{1,40}|ib\d{1,4}|e(?:th|n)\w{1,12}")
_LEGEND = re.compile(r"\s*(NIC\d{1,4}): *(\S{1,40})\s*")
_ROW = re.compile(
    r"^\s*(GPU\d{1,4}|NIC\d{1,4}|[a-z]+\d*_(?:bond_)?\d{1,4}|(?:ib|eth|ens|enp)\w{1,12})\s+(.*)$"
)
_CELL = re.compile(r"^(X|SYS|SOC|NODE|PHB|PXB|PIX|NV\d{1,3}|LOC|C2C|N/A)$")
_CPUS = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*")
# SOC is what SYS was called before.
_WORDS = {"SYS": SYS, "NODE": PHB, "PHB": PHB, "PXB": PXB, "PIX": PIX, "LOC": PIX, "SOC": SYS}


def looks_like(text: str) -> bool:
    """Return whether a text has such a matrix."""
    lines = _COLOURS.sub("", text).splitlines()
    return any(map(_HEAD.match, lines)) and any(map(_FIRST.match, lines))


def read(text: str) -> Topology:
    """Return the topology.

    Raises
    ------
    HardwareError
        If the matrix is cut, or rows and columns do not fit.
    """
    lines = _COLOURS.sub("", text).splitlines()
    start, names = _columns(lines)
    rows: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for line in lines[start + 1 :]:
        match = _ROW.match(line)
        if not match or match[1] not in names or match[1] in rows:
            continue
        # the matrix first; affinity to CPUs and NUMA nodes stands behind it
        cells = match[2].split()
        rows[match[1]] = [cell for cell in cells[: len(names)] if _CELL.match(cell)]
        if match[1].startswith("GPU"):
            behind[match[1]] = cells[len(names) :]
    _check(names, rows)
    sockets = _sockets(behind)
    distances, nvlinks = _distances(names, rows)
    models = {match[1]: match[2] for match in map(_LEGEND.fullmatch, lines) if match}
    cards = [
        PciCard(name=name, accelerator=name.startswith("GPU"), socket=sockets.get(name), model=models.get(name, name))
        for name in names
    ]  # fmt: skip
    return Topology(
        tool=TOOL,
        cards=tuple(cards),
        distances=distances,
        nvlinks=nvlinks,
        islands=bool(nvlinks) and are_islands(*_linked(names, rows)),
        remarks=("the matrix has no rates: those of PCIe links and NICs are assumed",),
    )


def _columns(lines: list[str]) -> tuple[int, list[str]]:
    """Return the line with the columns, and the devices that they name."""
    heads = (at for at, line in enumerate(lines) if _HEAD.match(line) and not _FIRST.match(line))
    start = next(heads, None)
    if start is None:
        raise HardwareError("the matrix is cut: the line with its columns is not there")
    names = [word for word in lines[start].split() if _DEVICE.fullmatch(word)]
    gpus = sum(name.startswith("GPU") for name in names)
    check_number(gpus, len(names) - gpus)
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise HardwareError(f"the matrix contradicts itself: it has {twice} twice")
    return start, names


def _sockets(behind: dict[str, list[str]]) -> dict[str, int]:
    """Return the socket of each row: its NUMA node, or, in tables of old, which rows share a list of CPUs."""
    if all(len(cells) > 1 and cells[1].isdecimal() and len(cells[1]) < 4 for cells in behind.values()):
        return {name: int(cells[1]) for name, cells in behind.items()}
    # sockets are numbered in the order in which their lists of CPUs come
    lists = list(dict.fromkeys(cells[0] for cells in behind.values() if cells))
    if not all(cells and _CPUS.fullmatch(cells[0]) for cells in behind.values()):
        return {}
    return {name: lists.index(cells[0]) for name, cells in behind.items()}


def _check(names: list[str], rows: dict[str, list[str]]) -> None:
    gpus = [name for name in names if name.startswith("GPU")]
    absent = [name for name in gpus if name not in rows]
    if absent:
        raise HardwareError(f"the matrix is cut: it has no row of {absent[0]}")
    short = next((name for name in gpus if len(rows[name]) < len(names)), "")
    if short:
        raise HardwareError(
            f"the matrix is cut: the row of {short} has {len(rows[short])} of {len(names)} devices"
        )
    whole = [name for name in names if len(rows.get(name, ())) == len(names)]  # rows of NICs may be cut off
    for gpu in gpus:
        for other in whole:
            # a distance is the same both ways, so a matrix that differs was put together from two
            there, back = rows[gpu][names.index(other)], rows[other][names.index(gpu)]
            if there != back:
                raise HardwareError(
                    f"the matrix contradicts itself: {gpu} to {other} is {there}, and back {back}"
                )


def _linked(names: list[str], rows: dict[str, list[str]]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the accelerators, and the pairs of them that NVLinks join."""
    gpus = [name for name in names if name.startswith("GPU")]
    pairs = [
        (gpu, other)
        for gpu in gpus
        for other, cell in zip(names, rows[gpu], strict=True)
        if cell.startswith("NV")
    ]
    return gpus, pairs


def _distances(names: list[str], rows: dict[str, list[str]]) -> tuple[dict[tuple[str, str], str], int]:
    distances, nvlinks = {}, 0
    for name, cells in rows.items():
        for other, cell in zip(names, cells, strict=False):
            # the rows of accelerators say all, as those of NICs may be cut off
            if cell in _WORDS and name.startswith("GPU"):
                distances[name, other] = _WORDS[cell]
            if cell.startswith("NV"):
                nvlinks = max(nvlinks, int(cell[2:]))
    return distances, nvlinks
