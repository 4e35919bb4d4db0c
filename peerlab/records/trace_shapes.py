"""What a profiler's trace says of a collective besides its fields: shapes around what the host asked for, and the beginning of a kernel's name.

PyTorch before 2.2 writes no fields; with ``record_shapes`` the sizes stand in "Input Dims" and "Input type" all the same.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from peerlab.model.collective import programs_of

_KINDS = {word.replace("_", "").lower(): name for word, name in programs_of("PyTorch").items()}
"""Our words for what PyTorch calls collectives, in fields (``allreduce``) and in annotations (``all_reduce``)."""
_OF_KERNELS = {word.lower(): name for word, name in programs_of("NCCL").items()}
_ANNOTATION = re.compile(r"(?:nccl|rccl|hccl):(\w{1,40})")
"""Around what the host does for one collective (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp)."""
_KERNEL = re.compile(r"ccl(?:Dev)?Kernel_([A-Za-z]{4,20})_")
"""A kernel's name begins with what it does (NVIDIA/nccl src/device/generate.py); before 2.18 ``SendRecv`` was the kernel of everything but LL."""
_TENSOR_TYPES = {
    "unsigned char": "byte", "signed char": "char", "c10::half": "half", "c10::bfloat16": "bfloat16", "long int": "long",
}  # fmt: skip
"""What "Input type" calls types, where it is C++'s name and not PyTorch's."""
_MOST_ELEMENTS = 2**48
_LONGEST_NAME = 41


def collective_said(kind: str) -> str:
    """Return our word for what PyTorch calls a collective, or its own.

    >>> collective_said("all_reduce"), collective_said("_allgather_base"), collective_said("wait")
    ('allreduce', 'allgather', 'wait')
    """
    return _KINDS.get(kind.replace("_", "").lower(), kind)


def kernel_does(name: str) -> str:
    """Return the collective that a kernel's name begins with, if it is one that is known; no other word of it is kept.

    >>> kernel_does("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), kernel_does("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t")
    ('allreduce', '')
    """
    match = _KERNEL.search(name)
    return _OF_KERNELS.get(match[1].lower(), "") if match else ""


def shaped_collective(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the shapes of an annotation say of a collective, in the fields that later versions write; nothing of any other annotation."""
    match, dims, types = _ANNOTATION.fullmatch(name), args.get("Input Dims"), args.get("Input type")
    if not match or not isinstance(dims, list) or not isinstance(types, list) or len(dims) != len(types):
        return {}
    tensors = [(shape, kind) for shape, kind in zip(dims, types, strict=True) if _is_shape(shape)]
    kinds = {kind.lower()[:_LONGEST_NAME] for _, kind in tensors if isinstance(kind, str)}
    elements = sum(math.prod(shape) for shape, _ in tensors)
    if len(kinds) != 1 or elements > _MOST_ELEMENTS:  # elements of several types cannot be counted together
        return {}
    dtype = kinds.pop()
    return {"Collective name": match[1], "In msg nelems": elements, "dtype": _TENSOR_TYPES.get(dtype, dtype)}


def around(shaped: Sequence[tuple[float, float, dict[str, Any]]], launched: float | None) -> dict[str, Any]:
    """Return what was said while a kernel was launched, of what was said from when to when, in order; nothing where it was in between."""
    if launched is None or not shaped:
        return {}
    begin, end, fields = shaped[bisect_right(shaped, launched, key=lambda span: span[0]) - 1]
    return fields if begin <= launched <= end else {}


def _is_shape(given: Any) -> bool:
    return (
        isinstance(given, list)
        and bool(given)
        and all(isinstance(element, int) and 0 < element < 2**32 for element in given)
    )
