"""The one door to numba, which makes machine code of functions on integers and arrays.

Nothing imports this module before the compiled engine is used: loading numba takes a third of a second.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Return a function that is compiled together with whatever calls it; Python must not call it, which would end the process."""
    # the wrappers by which Python could call it take half the time of compiling
    return _njit(function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def kept(function: Function) -> Function:
    """Return a compiled function whose machine code is kept on disk: beside its source, else among the user's caches."""
    try:
        return _njit(function, cache=True)
    except RuntimeError:  # nowhere to write: it is compiled anew in every process
        return _njit(function)


def _njit(function: Function, **options: bool) -> Function:
    njit: Callable[..., Any] = numba.njit  # its types leave out `_nrt`
    try:
        # the caller holds every array, and nothing compiled makes one; counting references in every call takes nine tenths of the time
        return cast("Function", njit(function, _nrt=False, **options))
    except KeyError:  # a numba without this option counts them
        return cast("Function", njit(function, **options))


def switched_off() -> bool:
    """Return whether numba makes no machine code, since ``NUMBA_DISABLE_JIT`` is set."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
