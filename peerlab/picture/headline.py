"""The headline: the figures of a run; the page puts each beside what it was before the last change."""

from typing import NotRequired, TypedDict

from peerlab.answer.metrics import Bottleneck
from peerlab.answer.run import Run
from peerlab.base.units import say_bytes, say_count, say_percent, say_time
from peerlab.model.resources import resource_kind
from peerlab.model.stages import stage_kind
from peerlab.picture.picture import Picture
from peerlab.picture.registration_table import whose
from peerlab.picture.shown_nodes import bottleneck_at, busiest, focus, unit
from peerlab.picture.wire import sends, wire_name
from peerlab.picture.words import PROXY, faults_at, names_proxy


class Card(TypedDict):
    """One figure as the page gets it."""

    name: str
    label: str
    value: str
    note: str
    word: str
    """What is said of it beside another run; none: there is nothing to compare."""
    amount: NotRequired[float | None]
    """The figure as a number, where more of it is better or worse."""
    more: NotRequired[str]
    """``better`` or ``worse``."""
    hint: NotRequired[str]
    """What else is known of the note, and what a word of it means."""
    always: NotRequired[bool]
    """Whether it is compared even where nothing has changed."""
    does: NotRequired[str]
    """What the communication library does, in few words."""
    says: NotRequired[str]
    """The same in full."""


class HeadlineParcel(TypedDict):
    """What the headline gets for a run."""

    cards: list[Card]


def headline(picture: Picture) -> HeadlineParcel:
    """Return what the page needs to show the headline of a run."""
    return {"cards": cards(picture.run)}


def cards(run: Run) -> list[Card]:
    """Return the cards of the headline."""
    return [
        _bandwidth(run), _time(run), _bottleneck(run), _copies(run), _dram(run), _cores(run), _registration(run),
    ]  # fmt: skip


def _card(name: str, label: str, value: str, note: str) -> Card:
    return {"name": name, "label": label, "value": value, "note": note, "word": value}


def _bandwidth(run: Run) -> Card:
    s = run.scenario
    is_message = s.collective_record.is_message
    # A message has no ranks to count twice, so its bandwidth is no bus bandwidth.
    name = "Point-to-point bandwidth" if is_message else f"{s.collective_record.title} busbw"
    note = _sending(run) if run.time_ps else "one rank exchanges nothing"
    amount = run.busbw_GBps if run.time_ps else None
    word = "busbw" if run.time_ps else ""  # the page says it in the unit that its reader has chosen
    return {
        **_card("busbw", name, "", note),
        "word": word,
        "amount": amount,
        "more": "better",
        "always": True,
        "does": s.library_words.short if s.library_words.does else "",  # topology alone is said in *How sure*
        "says": s.library_says,
    }


def _sending(run: Run) -> str:
    """Return how busy the resource is with which the path sends; where all nodes are alike, that is the wire."""
    s = run.scenario
    if not sends(s):
        return f"{s.data_path.title}: no NIC, no port"
    if s.domains == 1:
        return "one NVLink domain: no NIC" if s.nodes_per_domain > 1 else "one node: no wire"
    alike = run.trace.folded or s.collective_record.is_message
    name = wire_name(s) if alike else "busiest ports" if s.data_path.uses_own_ports else "busiest NIC"
    return f"{name} {say_percent(run.wire_busy)} busy"


def _time(run: Run) -> Card:
    s = run.scenario
    note = "node 0 to node 1" if s.collective_record.is_message else say_count(s.ranks, "rank")
    card = _card("time", f"Time for {say_bytes(s.nbytes)}", say_time(run.time_ps), note)
    word = say_time(run.time_ps) if run.time_ps else ""
    return {**card, "word": word, "amount": run.time_ps, "more": "worse", "always": True}


def _bottleneck(run: Run) -> Card:
    bottleneck = run.bottleneck
    if bottleneck is None:
        return {**_card("bottleneck", "Bottleneck", "none", "no time passes"), "word": ""}
    hint = PROXY if names_proxy(run) else ""
    where = _faults(run) or _where(run, bottleneck)
    note = bottleneck.alone + (_wire(bottleneck) if where is None else where)
    where = where or ""
    if bottleneck.together:  # why it limits though it is not always busy; its own share the tip has
        hint, note = f"{note}, alone. {hint}", bottleneck.together + where
    card = _card("bottleneck", "Bottleneck", _cap(bottleneck.label), note)
    return {**card, "word": bottleneck.label, "hint": hint}


_FULL = 0.8
"""Share from which a wire is said to be the limit."""


def _wire(bottleneck: Bottleneck) -> str:
    """Return that the wire is the limit, where what sends is busy nearly all the time: that is as fast as it goes, and no fault."""
    sends = bottleneck.resource is not None and bottleneck.resource.counts_as == "send"
    full = sends and not bottleneck.in_turns and bottleneck.share >= _FULL
    return ": the wire is the limit" if full else ""


_MOST_FAULTS = 2
"""Faults that a card names; the chips have all."""


def _faults(run: Run) -> str:
    """Return what is slow or lost at the bottleneck, if something is."""
    resource = bottleneck_at(run)
    faults = faults_at(run.scenario, resource) if resource else []
    more = f" and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
    return ": " * bool(faults) + ", ".join(faults[:_MOST_FAULTS]) + more


def _where(run: Run, bottleneck: Bottleneck) -> str | None:
    """Return at which node the busiest of its kind is, where the picture does not show it with an outline; None where all nodes are alike."""
    alike = run.trace.folded or run.scenario.collective_record.is_message
    if alike or bottleneck.resource is None or bottleneck.resource.scope == "fabric":
        return None
    resource = busiest(run, bottleneck.kind)
    if resource.node == focus(run):
        return ""
    if bottleneck.resource.scope == "nic" and resource.index >= run.scenario.hardware.used_nics_per_switch:
        return f" at NIC {resource.node}.{resource.index}"
    return f" at {unit(run.scenario)} {resource.node}"


def _cap(text: str) -> str:
    # `capitalize` would write PCIe with small letters.
    return text[:1].upper() + text[1:]


def _copies(run: Run) -> Card:
    card = _card("copies", "Copies per byte", f"{run.copies_per_byte:.2g}", _copied(run))
    return {**card, "amount": run.copies_per_byte, "more": "worse"}


def _copied(run: Run) -> str:
    """Return between what the path copies: its stages' own words where the picture has no way for one of them."""
    copies = [
        stage
        for stage in run.scenario.stages
        if any(resource_kind(use.kind).counts_as == "copy" for use in stage.uses)
    ]
    kinds = [stage_kind(stage.name) for stage in copies]
    if not all(kind.track for kind in kinds):
        return "; ".join(dict.fromkeys(kind.says for kind in kinds))
    memory = next((resource_kind(kind).label for kind in _in_place_of_memory(run)), "host memory")
    return f"between device and {memory}"


def _in_place_of_memory(run: Run) -> list[str]:
    """Return the kinds of resources that the picture draws as host memory and that are none."""
    drawn = (kind for kind in run.busy if resource_kind(kind).drawn == "host memory")
    return [kind for kind in drawn if resource_kind(kind).counts_as != "host memory"]


def _dram(run: Run) -> Card:
    """Return how many bytes cross the host's memory for a byte that is sent."""
    dram = run.dram_bytes_per_byte
    # Without the figure memory is no limit, but a path past the host leaves it alone in any case.
    modelled = "host.dram" in run.scenario.hardware.figures or not run.scenario.staged
    others = _in_place_of_memory(run)
    note = f"through {resource_kind(others[0]).label}" if others else "untouched"
    if not dram and not modelled and not others:
        return {**_card("dram", "DRAM per byte", "not modelled", ""), "word": ""}
    card = _card("dram", "DRAM per byte", f"{dram:.2g} B" if dram else "0", "" if dram else note)
    return {**card, "amount": dram, "more": "worse"}


def _cores(run: Run) -> Card:
    cores = run.cores_busy
    each = run.scenario.hardware.says("per node")
    card = _card("cores", "CPU cores busy", f"{cores:.1f}" if cores else "0", each)
    return {**card, "amount": cores, "more": "worse"}


def _registration(run: Run) -> Card:
    value, note = _registration_words(run)
    return _card("registration", "Registration", value, note)


def _registration_words(run: Run) -> tuple[str, str]:
    s, counters = run.scenario, run.registration
    if not s.registers:
        return s.data_path.registration
    number = counters.hits + counters.misses
    if not number:
        return "none", "nothing to register"
    spent = (
        f"{counters.misses} misses, {say_time(counters.time_ps)}{whose(run)}"
        if counters.misses
        else "nothing to register"
    )
    return f"{say_percent(counters.hits / number)} hits", spent
