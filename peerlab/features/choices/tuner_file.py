"""The choices that would be faster as a file for NCCL's example tuner plugin (NVIDIA/nccl plugins/tuner/example, nccl_tuner.conf)."""

from collections.abc import Iterator
from itertools import groupby
from math import isqrt
from pathlib import Path

from peerlab.base.errors import ExportError, ScenarioError
from peerlab.base.outfile import written
from peerlab.features.choices.choice_map import ChoiceMap, MapCell

COLUMNS = "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"
_ALGORITHMS = {"tree": "tree", "ring": "ring", "NVLSTree": "nvls_tree"}
"""The plugin's names; it takes any other for a ring."""
_DEFAULT = -1
"""Leaves the number of channels to what the plugin sets first, which NCCL takes for a limit unless it is 0 (src/enqueue.cc: nMaxChannels)."""
ONE_CHANNEL = "Before you build the plugin write *nChannels = 0 for *nChannels = 1 in its plugin.c: as it is, -1 and every size without a line run on one channel."
_LONGEST = 200
"""The plugin reads 255 characters of a line, and takes the rest for another one."""


def write_tuner(choice_map: ChoiceMap, path: str | Path) -> Path:
    """Write the cells that are faster by more than the model's error, one line for neighbouring sizes with the same choice.

    A cell stands for the sizes that are nearer to it than to the next power of two.

    Raises
    ------
    ScenarioError
        If nothing is faster by more than that, or the name ends otherwise.
    """
    target = Path(path)
    if target.suffix not in (".csv", ".conf"):
        raise ScenarioError(
            "write", f"{target.name!r}: a tuner file ends in .csv or .conf, such as tuner.csv"
        )
    lines = list(_lines(choice_map))
    if not lines:
        raise ScenarioError(
            "write", "no other choice is faster by more than the model's error: there is nothing to tune"
        )
    about = (
        f"Written by `peerlab choices` for {choice_map.cluster.name}, {choice_map.library}, {choice_map.path}.",
        "These are predictions: try each with `peerlab plan` and nccl-tests before a job uses it.",
        "For NCCL's example tuner plugin: NCCL_TUNER_PLUGIN=libnccl-tuner-example.so NCCL_TUNER_CONFIG_FILE=this file",
        ONE_CHANNEL,
        f"Format: {COLUMNS}",
    )
    head = "".join(f"# {line[:_LONGEST]}\n" for line in about)
    with written(target, ExportError) as file:
        file.write_text(head + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return target


def _lines(choice_map: ChoiceMap) -> Iterator[str]:
    for nodes in choice_map.nodes:
        row = [cell for cell in choice_map.cells if cell.nodes == nodes]
        # Neighbouring sizes only: the plugin has one range in each line.
        for choice, cells in groupby(row, key=_better):
            same = list(cells)
            if choice:
                algorithm, protocol = choice
                ranks = nodes * choice_map.cluster.devices
                # From half an octave below the smallest to half an octave above the largest: ranges of
                # neighbours touch and never overlap.
                low, high = isqrt(same[0].size ** 2 // 2), isqrt(same[-1].size ** 2 * 2) - 1
                yield f"allreduce,{low},{high},{_ALGORITHMS[algorithm]},{protocol.lower()},{_DEFAULT},{nodes},{ranks}"


def _better(cell: MapCell) -> tuple[str, str] | None:
    return cell.faster if cell.beyond_error else None
