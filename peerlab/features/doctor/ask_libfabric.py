"""Asks libfabric for its version and its providers, and prints that as JSON.

Run as a process of its own: a provider that hangs or crashes while it looks for its hardware takes nobody with it. Needs
neither a compiler nor the `fi_info` program.
"""

import ctypes
import json
import os
import sys

_API = (1 << 16) | 6  # what we speak: 1.6, old enough for every libfabric in use
_NAME = "libfabric.so.1"
_PLACES = (
    "/opt/amazon/efa/lib",
    "/opt/amazon/efa/lib64",
    "/opt/habanalabs/libfabric/lib",
    "/opt/cray/lib64",
)


class _Fabric(ctypes.Structure):
    """struct fi_fabric_attr of rdma/fabric.h."""

    _fields_ = (
        ("fabric", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("prov_name", ctypes.c_char_p),
        ("prov_version", ctypes.c_uint32),
        ("api_version", ctypes.c_uint32),
    )


class _Info(ctypes.Structure):
    """struct fi_info of rdma/fabric.h."""


# Its last fields are left out: libfabric allocates these, and what stands behind `fabric_attr` is never read.
_Info._fields_ = (
    ("next", ctypes.POINTER(_Info)),
    ("caps", ctypes.c_uint64),
    ("mode", ctypes.c_uint64),
    ("addr_format", ctypes.c_uint32),
    ("src_addrlen", ctypes.c_size_t),
    ("dest_addrlen", ctypes.c_size_t),
    ("src_addr", ctypes.c_void_p),
    ("dest_addr", ctypes.c_void_p),
    ("handle", ctypes.c_void_p),
    ("tx_attr", ctypes.c_void_p),
    ("rx_attr", ctypes.c_void_p),
    ("ep_attr", ctypes.c_void_p),
    ("domain_attr", ctypes.c_void_p),
    ("fabric_attr", ctypes.POINTER(_Fabric)),
)


def _candidates() -> list[str]:
    """Return where libfabric may be: where HCCL is told, where the linker looks, where vendors and Python's wheels put it."""
    root = os.environ.get("LIBFABRIC_ROOT")
    first = [f"{root}/lib/{_NAME}"] if root else []
    wheels = [f"{sys.prefix}/lib/mpich", f"{sys.prefix}/lib"]
    return [*first, _NAME, *(f"{place}/{_NAME}" for place in (*_PLACES, *wheels))]


def _load() -> tuple[str, ctypes.CDLL | None]:
    for path in _candidates():
        try:
            # The first that loads: what the linker finds comes before guesses, as a job would get it.
            return path, ctypes.CDLL(path)
        except OSError:
            continue
    return "", None


def _providers(library: ctypes.CDLL) -> list[str]:
    """Return the names of the providers that offer something here; a layered one (``verbs;ofi_rxm``) counts as its core."""
    pointer = ctypes.POINTER(_Info)
    ask = library.fi_getinfo
    ask.argtypes = (
        ctypes.c_uint32,
        ctypes.c_char_p,
        ctypes.c_char_p,
        ctypes.c_uint64,
        pointer,
        ctypes.POINTER(pointer),
    )
    first = pointer()
    # Anything but 0 is an error, one of them that no provider offers anything here.
    if ask(_API, None, None, 0, None, ctypes.byref(first)):
        return []
    names, info = set(), first
    # The list is never freed: this process ends with it.
    while info:
        name = info.contents.fabric_attr.contents.prov_name or b""
        names.add(name.decode(errors="replace").split(";")[0])
        info = info.contents.next
    return sorted(names)


def main() -> None:
    """Print what libfabric says; an empty path where there is none."""
    path, library = _load()
    if library is None:
        print(json.dumps({"path": "", "version": [0, 0], "providers": []}))  # noqa: T201  (its caller reads this)
        return
    library.fi_version.restype = ctypes.c_uint32
    # FI_VERSION: major number above 16 bits of the minor one.
    version = library.fi_version()
    answer = {"path": path, "version": [version >> 16, version & 0xFFFF], "providers": _providers(library)}
    print(json.dumps(answer))  # noqa: T201


if __name__ == "__main__":
    main()
