"""NCCL's law inside one node: what `peerlab.library.nccl_node_law` reckons, as an opening and the rate of the devices' links."""

from typing import TYPE_CHECKING

from peerlab.base.errors import ScenarioError
from peerlab.base.units import PS_PER_US
from peerlab.library.library_choice import allowed_protocols, sight
from peerlab.library.library_law import LibraryLaw, OwnChanges
from peerlab.library.library_record import NCCL
from peerlab.library.nccl_node_law import NodeCourse, node_course
from peerlab.model.collective import AUTO
from peerlab.model.effective_machine import Change

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario

_GB = 10**9


class NcclNodeLaw(LibraryLaw):
    """NCCL inside one node: the fastest of its rings, or NVLS where a switch adds up. RCCL's is not known."""

    kind = NCCL
    collectives = ("allreduce",)
    cuts = True

    def serves(self, question: "Scenario") -> bool:
        """Return whether the devices of one node exchange by NCCL, by an algorithm that it chooses itself."""
        alone = question.nodes == 1 and question.hardware.devices > 1
        machine, library = question.hardware, question.used_library
        knows = bool(machine.generation and machine.scaleup_Bps and library and library.maker == _MAKER)
        return super().serves(question) and alone and knows and question.algorithm == AUTO

    def changes(self, question: "Scenario", by: str) -> OwnChanges:
        """Return what its ring, or the switch, carries, and that hops are counted before the first slice."""
        course, machine = _course(question), question.hardware
        # the law's rate is a device's to all others together, `scaleup_Bps` that of one link to one peer
        rate = round(course.rate * _GB)
        run = f"{course.algorithm} with {course.protocol}"
        links = [
            Change(how="is", amount=rate // (machine.devices - 1), by=by, why=f"what {run} gets of the links")
        ]
        switch = [Change(how="is", amount=rate, by=by, why=f"what {run} gets of the switch")]
        why = machine.says("hops inside the node are counted before the first slice")
        none = [Change(how="is", amount=0, by=by, why=why)]
        rates: OwnChanges = {"sharp_Bps": switch} if course.in_switch else {"scaleup_Bps": links}
        return {**super().changes(question, by), **rates, "scaleup_latency_ps": none}

    def opening(self, question: "Scenario") -> tuple[tuple[str, int], ...]:
        """Return launch and hops."""
        course = _course(question)
        return ("launch", round(course.launch * PS_PER_US)), ("inside", round(course.hops * PS_PER_US))

    def sums_inside(self, question: "Scenario") -> bool:
        """Return whether it runs NVLS."""
        return _course(question).in_switch

    def figures(self, question: "Scenario") -> tuple[str, ...]:
        """Return the generation, by which it plans."""
        return ("device.generation", "scaleup.rate", "scaleup.sharp")

    def does(self, question: "Scenario") -> tuple[str, ...]:
        """Return algorithm and protocol."""
        course = _course(question)
        return course.algorithm, course.protocol


_MAKER = "NVIDIA"


def _course(question: "Scenario") -> NodeCourse:
    """Return what the library runs; it is asked of a question that the law serves."""
    machine, library = question.hardware, question.used_library
    if library is None:  # it never is: no law serves a question without one
        raise ScenarioError("library", "none serves the exchange inside a node")
    # of one node: nothing of the network bounds what the law sees
    seen = sight(library, machine, 1, str(question.path), question.library_number)
    links = machine.scaleup_Bps * (machine.devices - 1) / _GB
    switch = machine.sharp_Bps / _GB if machine.sharp_Bps else library.law["nvls_rate"][seen.generation]
    # a plug-in that sets NCCL_PROTO does so for the whole process, whether or not a network is needed
    protocols = allowed_protocols(library, seen)
    return node_course(seen, question.nbytes, library.law, links, switch, protocols)
