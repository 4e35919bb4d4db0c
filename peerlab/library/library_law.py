"""What every library's law is asked, in the same words whatever it is; the answers here are those of topology alone."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from peerlab.base.errors import ScenarioError
from peerlab.library.library_choice import LibraryChoice
from peerlab.library.library_record import NONE, Library, Unsolved
from peerlab.model.collective import AUTO
from peerlab.model.effective_machine import Change

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

_HOPPER = 9
"""Compute capability of H100 and H200."""

OwnChanges = Mapping[str, list[Change]]
"""What a law does to fields of a `Cluster`."""


class LibraryLaw:
    """What every law is asked; the answers here are those of topology alone, where no library serves or none says anything."""

    kind: ClassVar[str] = NONE
    """What ``kind`` of a library's file calls it."""
    collectives: ClassVar[tuple[str, ...]] = ()
    """The collectives of which it says what the library adds to them; of others topology alone is simulated."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Names of the figures that a library of this kind needs."""
    chooses: ClassVar[bool] = False
    """Whether it chooses algorithm and protocol for each message, as NCCL does; it needs constants for that."""
    cuts: ClassVar[bool] = False
    """Whether it cuts a transfer into slices of the library's own size, and no finer."""
    also: ClassVar[tuple["LibraryLaw", ...]] = ()
    """Laws of the same kind of library for what this one does not serve, such as an exchange inside one node."""

    def serves(self, question: "Scenario") -> bool:
        """Return whether it says what the library adds to the question's collective."""
        return question.collective in self.collectives

    def check(self, library: Library, question: "Scenario") -> None:
        """Refuse what the library does not have.

        Raises
        ------
        ScenarioError
            With the field, and what is allowed.
        """
        if question.protocol != AUTO:
            raise ScenarioError("protocol", f"{library.title} has no protocols; leave it at 'auto'")

    def choose(self, library: Library, question: "Scenario") -> LibraryChoice | None:
        """Return what the library chooses for the message; None: it chooses nothing."""
        return None

    def schedule(self, question: "Scenario") -> str:
        """Return what each rail does between the nodes; empty: as without a library."""
        return ""

    def changes(self, question: "Scenario", by: str) -> OwnChanges:
        """Return what it does to figures for the message; `by` names the library."""
        changes = {"latency_ps": question.network.asked_flight(question.hardware)}
        # Set to 0 here, not ignored by engines, so that `peerlab why` shows who did it and why.
        if question.hardware.message_ps:
            changes["message_ps"] = [Change(how="is", amount=0, by=by, why=self.why_free(question))]
        return changes

    def why_free(self, question: "Scenario") -> str:
        """Return why what a message costs the library's thread is no slice's."""
        return "it is not modelled for this collective"

    def opening(self, question: "Scenario") -> tuple[tuple[str, int], ...]:
        """Return what is done before the first slice: stages, and how long each takes, picoseconds."""
        return ()

    def sums_inside(self, question: "Scenario") -> bool:
        """Return whether the library has the switch inside a node add up where nobody asks for it."""
        return False

    def figures(self, question: "Scenario") -> tuple[str, ...]:
        """Return the keys of the figures that it looks at."""
        return ()

    def does(self, question: "Scenario") -> tuple[str, ...]:
        """Return what the library does with the message, in words, where it chooses nothing."""
        return ()

    def unsolved(self, library: Library, question: "Scenario") -> tuple[Unsolved, ...]:
        """Return what of the law does not meet measurements at this message."""
        if not self.serves(question):
            return ()
        algorithm = question.choice.course.algorithm if question.choice else ""
        domain = "" if question.nodes_per_domain == 1 else "within" if question.domains == 1 else "between"
        asks = (
            question.domains,
            question.nbytes,
            algorithm,
            question.collective,
            question.library_number,
            domain,
        )
        hopper = (question.given_cluster.generation or 0) >= _HOPPER
        holds = {"staged": question.staged, "from Hopper": hopper}
        conditions = [name for name, here in holds.items() if here]
        return tuple(gap for gap in library.unsolved if gap.concerns(*asks, conditions))
