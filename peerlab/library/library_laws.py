"""What a library does with a question: one law for each kind of library, and one for topology alone.

A law is asked in the same words whatever it is, and nobody asks which it is: whether it says anything here, what it chooses, what it does
to figures, what it does before the first slice, which figures it looks at, what it does in words, and what of it is not solved. What a
kind of library has otherwise, such as constants of its source or a way of cutting transfers, is an attribute of its law.
"""

from math import ceil
from typing import TYPE_CHECKING

from peerlab.base.errors import ScenarioError
from peerlab.base.units import PS_PER_S, say_count
from peerlab.library.further_hops import check_flight
from peerlab.library.library_choice import LibraryChoice, checked_protocol, nccl_choice, sight
from peerlab.library.library_law import LibraryLaw, OwnChanges
from peerlab.library.library_record import NCCL, Library
from peerlab.library.nccl_law import NcclSight
from peerlab.library.node_law import NcclNodeLaw
from peerlab.model.collective import AUTO
from peerlab.model.effective_machine import Change, changed
from peerlab.model.hardware import FIGURE_KINDS
from peerlab.model.paths import stages
from peerlab.model.transport_files import nic_maker
from peerlab.model.transport_record import NIC_MAKERS

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

_GRAPH = ("device.generation", *(key for key in FIGURE_KINDS if key.startswith("graph.")))


class NcclLaw(LibraryLaw):
    """NCCL, RCCL and their like: trees and rings, chosen for each message between nodes."""

    kind = NCCL
    collectives = ("allreduce",)
    needs = ("hop", "message")
    chooses = cuts = True
    also = (NcclNodeLaw(),)

    def serves(self, question: "Scenario") -> bool:
        """Return whether there is something to choose: an allreduce between nodes."""
        return super().serves(question) and question.nodes > 1

    def check(self, library: Library, question: "Scenario") -> None:
        """Refuse a path that its hops do not cross, and a protocol that it does not use."""
        if self.serves(question):
            path = str(question.path)
            check_flight(library.title, path, stages(question.given_cluster, path))
        if question.protocol == AUTO:
            return
        if not self.serves(question):
            raise ScenarioError(
                "protocol", "is modelled for an allreduce between nodes only; leave it at 'auto'"
            )
        checked_protocol(library, question.protocol, self._sight(library, question))

    def choose(self, library: Library, question: "Scenario") -> LibraryChoice:
        """Return algorithm, protocol and chunks."""
        return nccl_choice(
            library,
            question.hardware,
            self._sight(library, question),
            question.nbytes,
            algorithm=question.algorithm,
            protocol=question.protocol,
        )

    @staticmethod
    def _sight(library: Library, question: "Scenario") -> NcclSight:
        # How large a message is follows from the choice, and the choice from this: all threads count here.
        # An NVLink domain is a node to NCCL, so domains are handed on, not nodes.
        machine = changed(question.hardware, NcclLaw._socket_threads(question, library.title))
        return sight(library, machine, question.domains, str(question.path), question.library_number)

    def schedule(self, question: "Scenario") -> str:
        """Return the chain of its hops; inside one domain nothing goes between nodes."""
        return "chain" if question.domains > 1 else ""

    def changes(self, question: "Scenario", by: str) -> OwnChanges:
        """Return what its choice does to figures, and how many threads its sockets have."""
        # an allreduce of one node, or another collective, has no choice: then the law is as topology alone
        own = (
            question.choice.changes(by, question.hardware)
            if question.choice
            else super().changes(question, by)
        )
        message = question.choice.course.chunk if question.choice else None
        return {**own, **self._socket_threads(question, by, message)}

    @staticmethod
    def _socket_threads(question: "Scenario", by: str, message: int | None = None) -> OwnChanges:
        """Return the threads that send and receive a message of so many bytes over TCP, where the maker of the NIC decides them."""
        maker, library = nic_maker(question.hardware), question.used_library
        if not question.data_path.uses_kernel_tcp or not maker or not library:
            return {}
        threads = library.law["socket_threads"][NIC_MAKERS.index(maker)]
        if message is not None:
            # NCCL gives a thread no part smaller than this, so a small message has one thread
            threads = min(threads, ceil(message / library.law["socket_task"]))
        why = f"{say_count(threads, 'thread')} of NCCL's sockets on a NIC of {maker}"
        return {"cores_per_device": [Change(how="is", amount=threads, by=by, why=why)]}

    def opening(self, question: "Scenario") -> tuple[tuple[str, int], ...]:
        """Return launch and the hops inside the nodes."""
        choice = question.choice
        return (("launch", choice.launch_ps), ("inside", choice.inside_ps)) if choice else ()

    def figures(self, question: "Scenario") -> tuple[str, ...]:
        """Return the figures of NCCL's graph on this machine, and the costs of its transport."""
        return (
            *_GRAPH,
            "library.hop",
            "library.message",
            "library.rendezvous",
            "library.eager",
            "library.held",
        )


class PairwiseLaw(LibraryLaw):
    """HCL over host NICs: a pairwise exchange, in slices of the library's own size."""

    kind = "pairwise"
    collectives = ("allreduce", "allgather", "reduce-scatter", "alltoall")
    needs = ("hop", "message", "overlap_lost")
    cuts = True

    def schedule(self, question: "Scenario") -> str:
        """Return the pairwise exchange, unless the question names an algorithm."""
        return "pairwise" if question.algorithm == AUTO else ""

    def changes(self, question: "Scenario", by: str) -> OwnChanges:
        """Return the latency of a hop with what the library adds to it."""
        machine = question.hardware
        flight = question.network.own_flight(machine)
        if machine.hop_ps:
            more = "what a hop takes more"
            flight.append(
                Change(how="plus", amount=machine.hop_ps, by=by, why=more, figures=("library.hop",))
            )
        return {"latency_ps": flight}

    def figures(self, question: "Scenario") -> tuple[str, ...]:
        """Return what a hop, a message and the exchange inside a node cost."""
        return ("library.hop", "library.message", "library.overlap_lost") if question.domains > 1 else ()

    def does(self, question: "Scenario") -> tuple[str, ...]:
        """Return the schedule; an all-to-all is sent to all at once, unless the algorithm goes in turns."""
        if not question.collective_record.exchanges:
            return (question.schedule_name,)
        return ("pairwise" if question.algorithm_record.blocks_alltoall else "direct exchange",)


class MessagesLaw(LibraryLaw):
    """MPI and SHMEM: a cost for each message, and nothing else."""

    kind = "messages"
    collectives = ("point-to-point", "alltoall")

    def why_free(self, question: "Scenario") -> str:
        """Return why no slice of an all-to-all waits for what messages cost."""
        if not question.collective_record.exchanges:
            return super().why_free(question)
        return "all messages are dealt with before the first leaves, so no slice waits for it"

    def opening(self, question: "Scenario") -> tuple[tuple[str, int], ...]:
        """Return what messages take beyond their bytes.

        Point to point it is one message's: asking first, and device memory. In an all-to-all a rank's messages to all others are dealt
        with one after the other, before the first leaves; no log tells how far that overlaps what is sent. What device memory costs is
        counted once: the messages of a rank wait for it side by side.
        """
        machine = question.hardware
        device = (question.memory == "device" and machine.device_buffers_ps) or 0
        if question.collective_record.exchanges:
            launch = (question.ranks - 1) * (machine.message_ps or 0) + device
            return (("launch", launch), ("by-nic", self._by_nic_ps(question)))
        # a message of exactly the limit is still sent at once
        asks = machine.eager_bytes is not None and question.nbytes > machine.eager_bytes
        return (("launch", (machine.rendezvous_ps if asks else 0) + device),)

    def _by_nic_ps(self, question: "Scenario") -> int:
        """Return how long a device's NIC has what its rank exchanges with those of its node, where the library knows no shorter way from device memory."""
        machine = question.hardware
        if not machine.loopback or question.memory != "device" or not question.data_path.uses_device_memory:
            return 0
        sent = (machine.devices - 1) * question.nbytes / question.ranks
        return round(machine.loopback * sent * machine.devices * PS_PER_S / machine.node_wire_Bps)

    def figures(self, question: "Scenario") -> tuple[str, ...]:
        """Return what a message costs; point to point, what asking first and device memory cost."""
        if question.collective_record.is_message:
            return ("library.rendezvous", "library.eager", "library.device_buffers")
        return ("library.message", "library.device_buffers", "library.loopback")


ALONE = LibraryLaw()
"""Topology alone."""
KINDS: dict[str, LibraryLaw] = {law.kind: law for law in (NcclLaw(), PairwiseLaw(), MessagesLaw())}
"""The laws of libraries, by what ``kind`` of a library's file calls them."""


def law_of(library: Library | None) -> LibraryLaw:
    """Return the law of a library's kind; without a library topology is alone."""
    return KINDS[library.kind] if library else ALONE


def laws_of(library: Library | None) -> tuple[LibraryLaw, ...]:
    """Return the same with the laws that serve what it does not, such as an exchange inside one node."""
    law = law_of(library)
    return (law, *law.also)
