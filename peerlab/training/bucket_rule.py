"""How PyTorch's DistributedDataParallel puts gradients into buckets.

The rule is that of ``compute_bucket_assignment_by_size`` (pytorch, torch/csrc/distributed/c10d/reducer.cpp): tensors in the order in
which their gradients arrive, a bucket is closed as soon as it holds its limit or more. So a bucket exceeds its limit by up to one
tensor. The first one has a limit of its own, 1 MiB.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bucket:
    """Gradients that are exchanged as one."""

    nbytes: int
    """Their size."""
    tensors: tuple[int, ...]
    """Places of its tensors in the order of arrival."""


def buckets(sizes: Iterable[int], first: int, cap: int | None) -> tuple[Bucket, ...]:
    """Return the buckets of tensors of these sizes, in the order in which their gradients arrive.

    Parameters
    ----------
    sizes:
        Bytes of each tensor.
    first, cap:
        Limits of the first bucket and of all others, bytes; None: the others are one bucket.

    >>> [bucket.nbytes for bucket in buckets([3, 3, 5, 5, 5], first=1, cap=8)]
    [3, 8, 10]
    """
    full_buckets: list[Bucket] = []
    held: list[int] = []
    nbytes = 0
    for place, size in enumerate(sizes):
        held.append(place)
        nbytes += size
        # The first bucket is small so that its exchange begins while most of backward is still to come.
        limit = cap if full_buckets else first
        if limit is not None and nbytes >= limit:
            full_buckets.append(Bucket(nbytes, tuple(held)))
            held, nbytes = [], 0
    # What is left at the end is a bucket, too, however small.
    return (*full_buckets, Bucket(nbytes, tuple(held))) if held else tuple(full_buckets)
