"""The constants of a library's law, read from ``[law]`` of its file and checked: shape, unit and bounds."""

from math import isnan
from typing import Any

from peerlab.base.errors import HardwareError, nearest
from peerlab.library.library_record import version_number
from peerlab.library.nccl_law import SHAPES, ZERO_MEANS_NONE

_TIMES = ("launch_", "nvlink_tree", "nvlink_ring", "pcie_", "network_")
_RATES = (
    "ll_rate",
    "ring_ll128_rate",
    "tree_ll128_rate",
    "tree_rate",
    "nvls_tree_rate",
    "nvlink_rate",
    "nvls_rate",
    "speeds_",
    "copy_rate",
)
_BOUNDS = {"us": (0.001, 10**6), "GB/s": (0.01, 10**6), "B": (1024, 2**30), "1": (0.01, 1000)}
"""From where to where a constant may lie, by its unit; beyond, a message takes minutes to simulate, or hours on the wire."""
_SAY_BOUNDS = {"us": "1 ns to 1 s", "GB/s": "10 MB/s to 1 PB/s", "B": "1 KiB to 1 GiB", "1": "0.01 to 1000"}
_ENTRIES = ("value", "unit", "basis", "source", "assumption", "range", "holds", "otherwise")


def unit_of(name: str) -> str:
    """Return the unit in which the law reads a constant."""
    if name == "steering" or name.startswith(_TIMES):
        return "us"
    if name.startswith(_RATES):
        return "GB/s"
    return "B" if name in ("grain", "step", "nvls_chunk", "socket_task", "ring_alone_above") else "1"


def read_law(given: Any) -> dict[str, Any]:
    """Return the values of a table of constants.

    Raises
    ------
    HardwareError
        One line with the first that is wrong.
    """
    if not isinstance(given, dict):
        raise HardwareError("[law] must be a table of constants")
    for name, entry in given.items():
        if name not in SHAPES:
            raise HardwareError(f"unknown constant law.{name}; {nearest(name, list(SHAPES))}")
        if not isinstance(entry, dict) or not {"value", "unit", "basis"} <= set(entry):
            raise HardwareError(f"law.{name} must be a table with value, unit, basis and source")
        for entry_name in entry:
            if entry_name not in _ENTRIES:
                raise HardwareError(
                    f"law.{name} has an unknown entry {entry_name!r}; {nearest(entry_name, _ENTRIES)}"
                )
        # Every figure of the project has a source or a range: an assumption without one would leave no band.
        if not entry.get("source") and not (entry.get("assumption") and entry.get("range")):
            raise HardwareError(
                f'law.{name} has no source; give source = "..." or assumption = "..." with a range'
            )
        if entry["unit"] != unit_of(name):
            raise HardwareError(
                f"law.{name}: unit {entry['unit']!r:.40} is not possible; give it in {unit_of(name)!r}"
            )
        _check_constant(name, entry["value"])
        _check_versions(name, entry)
    return {name: entry["value"] for name, entry in given.items()}


def _check_versions(name: str, entry: dict[str, Any]) -> None:
    """Refuse a constant whose source has it between versions that are none.

    A constant has either a range or these versions. In a band it stands still: within them the library itself has this number, and how far
    its plan is from what happens, within them and outside, is in the error of the law (`peerlab.question.law_error`).
    """
    holds = entry.get("holds")
    if holds is not None:
        numbers = [version_number(version) for version in holds] if isinstance(holds, list) else []
        if len(numbers) != 2 or min(numbers) < 0 or numbers[0] > numbers[1]:
            raise HardwareError(
                f'law.{name}: holds = {holds!r} must be the first and the last version, such as ["2.12", "2.31"]'
            )
    if not isinstance(entry.get("otherwise", ""), str):
        raise HardwareError(f"law.{name}: otherwise must be a text, not {entry['otherwise']!r}")


def _check_constant(name: str, value: Any) -> None:
    """Refuse a constant that is no number, or no list with as many as the law reads."""
    rows = value if isinstance(value, list) else [value]
    numbers = [cell for row in rows for cell in (row if isinstance(row, list) else [row])]
    if not numbers or not all(map(_is_number, numbers)):
        raise HardwareError(f"law.{name}: value {value!r} is not a number, or a list of numbers")
    # A ragged list has -1 in its shape, which no constant has.
    if _shape(value) != SHAPES[name]:
        wanted = " lists of ".join(map(str, SHAPES[name])) + " numbers" if SHAPES[name] else "one number"
        raise HardwareError(f"law.{name}: value {value!r} must be {wanted}")
    unit = unit_of(name)
    low, high = _BOUNDS[unit]
    for number in numbers:
        # A 0 says that there is no such thing, such as NVLSTree before Hopper.
        if not (low <= number <= high or (number == 0 and name in ZERO_MEANS_NONE)):
            sentence = f"{number:g}" + (f" {unit}" if unit != "1" else "")
            raise HardwareError(f"law.{name}: {sentence} is out of range; possible are {_SAY_BOUNDS[unit]}")


def _is_number(value: Any) -> bool:
    # TOML has `true` and `nan`, and Python takes both for numbers.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not isnan(value)


def _shape(value: Any) -> tuple[int, ...]:
    """Return how many lists there are, and how many numbers in each; -1 where they differ."""
    if not isinstance(value, list):
        return ()
    inner = {_shape(element) for element in value}
    return (len(value), *inner.pop()) if len(inner) == 1 else (-1,)
