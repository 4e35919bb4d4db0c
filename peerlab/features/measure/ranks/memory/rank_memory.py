"""A rank's device memory, whatever kind it is: what its process asks of it."""

from abc import ABC, abstractmethod

from peerlab.collectives.ring_moves import Numbers, RingLayout
from peerlab.features.measure.ranks.arms import Arm, Neighbours
from peerlab.features.measure.ranks.pins import Registrar
from peerlab.features.measure.schedule import MeasuredCase


class RankMemory(ABC):
    """Device memory of one rank in one ring."""

    @property
    @abstractmethod
    def key(self) -> int | str:
        """What the left neighbour must be told to reach it; JSON can hold it."""

    @abstractmethod
    def reach(self, key: int | str) -> int:
        """Return the address in this process of the right neighbour's, whose key this is."""

    @abstractmethod
    def prepare(self, ring: RingLayout) -> None:
        """Make room for a message of a size."""

    @abstractmethod
    def fill(self, numbers: Numbers, rank: int, run: int) -> None:
        """Write a rank's contribution of a run into the message."""

    @abstractmethod
    def is_sum(self, numbers: Numbers, ranks: int, run: int) -> bool:
        """Return whether the message is the sum of all contributions of a run."""

    @abstractmethod
    def lane(self, case: MeasuredCase, beside: Neighbours) -> tuple[Arm, Registrar | None]:
        """Return the arm of a case, and what registers for it."""
