"""Memory that is freed and used again, and a NIC that still knows it as it was: a simulation, so that nothing can break.

What is simulated is what decides: addresses lead to pages, registering makes the NIC remember those pages and keeps them from
being given away, freeing takes the address off them, and the next allocation gets the same address with other pages. That is
how the RDMA subsystem treats a host's pages (ofiwg/libfabric pull request 6241), and what a user met who mapped memory to the
same address again (ofi-cray/libfabric-cray issue 1350).
"""

from dataclasses import dataclass

from peerlab.base.errors import PeerlabError
from peerlab.base.numbers import NDArray, np
from peerlab.base.units import KIB, say_bytes

PAGE = 4 * KIB
_FLOAT = 4
# Where Linux puts what a program maps; any whole page would do.
_BASE = 0x7F00_0000_0000
Floats = NDArray[np.float32]


class NicError(PeerlabError):
    """The NIC refuses to reach memory, as its registration does not cover it."""


class ProcessMemory:
    """The memory of one process: freed addresses are given out again, the lowest first, with pages that are new."""

    def __init__(self) -> None:
        self.pages: dict[int, Floats] = {}
        self._made = 0
        self._ids: dict[int, int] = {}

    def allocate(self, nbytes: int) -> int:
        """Return the address of whole pages for so many bytes, full of zeros."""
        # Whole pages, as registering takes no less.
        count, address = -(-nbytes // PAGE), _BASE
        # The lowest address that is free, as allocators reuse what was freed last: that is what a stale key
        # meets.
        while any(address + at * PAGE in self.pages for at in range(count)):
            address += PAGE
        self._made += 1
        for at in range(count):
            self.pages[address + at * PAGE] = np.zeros(PAGE // _FLOAT, np.float32)
            self._ids[address + at * PAGE] = self._made
        return address

    def free(self, address: int, nbytes: int) -> None:
        """Take the addresses off their pages; a page that a NIC has registered lives on without one."""
        for at in range(address, address + nbytes, PAGE):
            # The page itself lives as long as a NIC's key holds it, as a pinned page does.
            del self.pages[at], self._ids[at]

    def allocation(self, address: int) -> int:
        """Return the number of the allocation that an address is of; no two ever have the same."""
        return self._ids[address // PAGE * PAGE]

    def fill(self, address: int, nbytes: int, value: float) -> None:
        """Write a number all over a buffer."""
        for at in range(address, address + nbytes, PAGE):
            self.pages[at][:] = value


@dataclass(frozen=True, eq=False)
class Key:
    """What a NIC hands out for a registered range."""

    address: int
    """Its first byte."""
    nbytes: int
    """Its length."""
    pages: tuple[Floats, ...]
    """What the addresses led to at that time."""


class TranslatingNic:
    """Reads memory by itself: through the pages that it was told of at registration, never through the process's addresses."""

    def __init__(self, host: ProcessMemory) -> None:
        self.host = host
        self.keys: list[Key] = []
        self.registrations = 0

    def register(self, address: int, nbytes: int) -> Key:
        """Remember the pages of a range, and keep them."""
        pages = tuple(self.host.pages[at] for at in range(address, address + nbytes, PAGE))
        self.keys.append(Key(address, nbytes, pages))
        self.registrations += 1
        return self.keys[-1]

    def deregister(self, key: Key) -> None:
        """Forget a range, and let its pages go."""
        self._check(key)
        self.keys.remove(key)

    def read(self, key: Key, address: int, nbytes: int) -> Floats:
        """Return what the pages of a registration hold.

        Raises
        ------
        NicError
            If the key is not known (any more), or does not cover the range.
        """
        self._check(key)
        if not (key.address <= address and address + nbytes <= key.address + key.nbytes):
            raise NicError(
                f"the NIC refuses: {say_bytes(nbytes)} asked for, {say_bytes(key.nbytes)} are registered"
            )
        # Places of pages behind the key's own first one: the process's addresses play no part.
        first = (address - key.address) // PAGE
        return np.concatenate(key.pages[first : first + nbytes // PAGE])

    def _check(self, key: Key) -> None:
        if key not in self.keys:
            raise NicError("the NIC refuses: this key is not registered (any more)")

    @property
    def dead_bytes(self) -> int:
        """Bytes of registered pages that no address leads to any more."""
        # By identity: two pages that hold the same numbers are still two.
        alive = {id(page) for page in self.host.pages.values()}
        return PAGE * len({id(p) for key in self.keys for p in key.pages if id(p) not in alive})
