"""Sizes of messages as people list them: ``8MiB,1GiB``, or ``8B:16GiB``, each twice the one before."""

from collections.abc import Sequence

from peerlab.base.errors import ScenarioError
from peerlab.base.units import GIB, parse_bytes
from peerlab.question.scenario_fields import MAX_BYTES

SMALLEST, LARGEST = 8, 16 * GIB
"""Those of nccl-tests."""
# A list is simulated or measured size by size: more than these are a mistake.
_MOST_SIZES = 200


def parse_sizes(sizes: str | Sequence[int | str] | None, smallest: int = SMALLEST) -> list[int]:
    """Return sizes in bytes, ascending, each once; None: from `smallest` to 16 GiB, each twice the one before.

    Raises
    ------
    ScenarioError
        If one is no size, or there are too many.

    >>> parse_sizes("1KiB:4KiB"), parse_sizes("2MiB, 8B")
    ([1024, 2048, 4096], [8, 2097152])
    """
    if sizes is None:
        return _doubling(smallest, LARGEST)
    words = sizes.split(",") if isinstance(sizes, str) else list(sizes)
    numbers: set[int] = set()
    for word in words:
        first, colon, last = word.partition(":") if isinstance(word, str) else (word, "", "")
        numbers.update(_doubling(_size(first), _size(last)) if colon else [_size(first)])
    if not 0 < len(numbers) <= _MOST_SIZES:
        raise ScenarioError(
            "sizes", f"{len(numbers)} sizes; give 1 to {_MOST_SIZES}, such as 8B:16GiB or 8MiB,1GiB"
        )
    return sorted(numbers)


def size_at_most(field: str, value: int | str) -> int:
    """Return a size in bytes, from 0 to 1 TiB; `field` is what an error names.

    Raises
    ------
    ScenarioError
        If it is none, or larger.
    """
    try:
        size = parse_bytes(value)
    except ValueError as problem:
        raise ScenarioError(field, str(problem)) from None
    if not 0 <= size <= MAX_BYTES:
        raise ScenarioError(field, f"{value!r} is out of range; possible are 1 B to 1 TiB")
    return size


def _doubling(first: int, last: int) -> list[int]:
    if first > last:
        raise ScenarioError("sizes", f"{first} B is more than {last} B; give the smaller one first")
    # up to the last doubling that does not exceed `last`, which need not be one itself
    return [first << power for power in range((last // first).bit_length())]


def _size(text: int | str) -> int:
    try:
        size = parse_bytes(text.strip() if isinstance(text, str) else text)
    except ValueError as problem:
        raise ScenarioError("sizes", str(problem)) from None
    if not 1 <= size <= MAX_BYTES:
        raise ScenarioError("sizes", f"{text!r:.40} is out of range; possible are 1 B to 1 TiB")
    return size
