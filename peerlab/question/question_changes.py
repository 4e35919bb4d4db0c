"""What one question does to figures beyond what files say: striping, library, transport, algorithm, and its own fields."""

from typing import TYPE_CHECKING, Any

from peerlab.library.further_hops import UP_AND_DOWN
from peerlab.library.striping import striping
from peerlab.model.collective import AUTO
from peerlab.model.effective_machine import Change, Changes

if TYPE_CHECKING:
    from peerlab.question.scenario import Scenario


def changes_of(question: "Scenario") -> Changes:
    """Return what is done to fields of the cluster of a question, in this order."""
    # Their fields are different ones, so no part hides another's changes.
    return {**_of_message(question), **question.network.changes(), **_of_slices(question)}


def _of_message(question: "Scenario") -> Changes:
    """Return what striping, library, transport and algorithm do to figures for this message."""
    machine, network = question.hardware, question.network
    by = f"library {question.used_library.title}" if question.used_library else "no library"
    own = question.law.changes(question, by)
    flight = own["latency_ps"]
    # a latency that is left to the transport holds all switches and cable already, unless the law put another in its place
    if not machine.leaves_latency or flight != network.asked_flight(machine):
        flight = flight + network.further_flight(machine)
    if question.sums_between:
        why = "up to switches that add up, and down from them"
        # last, as further switches and cable are on both ways
        flight = [*flight, Change(how="times", amount=UP_AND_DOWN, by="the algorithm", why=why)]
    stripes, own = striping(machine), {**own, "latency_ps": flight}
    return {
        # stripes first: a law sees the NICs as devices use them, and what it says of their rate counts
        field: (*stripes.get(field, ()), *own.get(field, ()))
        for field in dict.fromkeys((*stripes, *own))
    }


def _of_slices(question: "Scenario") -> Changes:
    """Return what window and slices of the question, or of its library, put in the place of the cluster's."""
    scenario, amounts = "the scenario", dict[str, tuple[Any, str, str]]()
    if question.window:
        amounts["window"] = (question.window, scenario, f"window={question.window}")
    cut = "slice_staged_bytes" if question.bounces else "slice_direct_bytes"
    if question.slice_bytes != AUTO:
        amounts[cut] = (question.slice_bytes, scenario, f"slice_bytes={question.slice_bytes}")
    # so textbooks' formulas for blocking steps hold exactly (docs/model.md, Formulas)
    elif question.data_path.is_bare and question.blocking:
        amounts[cut] = (None, scenario, "blocking code on a bare fabric sends each message whole")
    elif question.choice and question.used_library:
        library, chunk = f"library {question.used_library.title}", question.choice.chunk
        amounts[cut] = (question.choice.slice_bytes, library, f"slices of its chunks of {chunk}")
    return {
        field: (Change(how="is", amount=amount, by=by, why=why),)
        for field, (amount, by, why) in amounts.items()
    }
