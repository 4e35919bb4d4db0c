"""What else could be bought or set: each one simulated, with a cost to fill in."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from peerlab.answer.run import Run
from peerlab.base.errors import PeerlabError
from peerlab.base.units import TIMES_SIGN, say_percent, say_time
from peerlab.features.deck.blocks import card, grid, table
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.kinds.first_slides import figures_said
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.deck.slide import Slide
from peerlab.library.library_words import chosen_otherwise
from peerlab.model.hardware import Cluster
from peerlab.model.paths import PEER_DIRECT
from peerlab.model.transport_files import load_transport

Changed = Callable[[Cluster], Cluster]


@dataclass(frozen=True)
class Option:
    """Something to do instead, or beside it."""

    says: str
    means: str
    """What is changed in the simulation."""
    detour: Run | None
    """Through the host with it; None: it does nothing there."""
    direct: Run | None


def _doubled(*keys: str) -> Changed:
    def changed(cluster: Cluster) -> Cluster:
        doubled = cluster
        for key in keys:
            if key in doubled.figures:
                doubled = doubled.with_figure(key, 2 * doubled.figures[key].value)
        # Refused, so that a machine without such parts has no row that says it changes nothing.
        if doubled is cluster:
            raise PeerlabError("this cluster has none of these figures")
        return doubled

    return changed


_MACHINES: tuple[tuple[str, str, Changed], ...] = (
    ("A second NIC per switch", "twice the NICs below each PCIe switch", _doubled("node.nics_per_switch")),
    ("A newer PCIe generation", "PCIe links and copy engine twice as fast", _doubled("switch.uplink", "device.pcie", "device.copy_engine")),
    ("A faster network", "each NIC at twice its rate", _doubled("nic.rate")),
    ("Half the network latency", "half the time in flight", lambda cluster: cluster.with_figure("fabric.latency", cluster.figures["fabric.latency"].value / 2)),
)  # fmt: skip


def options(compared: ComparedRuns) -> list[Option]:
    """Return what can be simulated on this cluster, today first."""
    choices = [
        Option("Nothing changes", "as it is", compared.detour, compared.direct),
    ]
    for sentence, means, changed in _MACHINES:
        with suppress(PeerlabError, KeyError):  # not on this machine
            cluster = changed(compared.base.hardware)
            runs = (compared.run(cluster=cluster), compared.run(cluster=cluster, path=PEER_DIRECT))
            choices.append(Option(sentence, means, *runs))
    choices += _other_fabric(compared)
    # How memory is registered plays no part on the way through the host: these rows have one column.
    pool = compared.run(path=PEER_DIRECT, registration="pool")
    return [
        *choices,
        Option("A pool instead of the cache", "one region, registered once", None, pool),
        Option("No registration cache", "registered for each transfer", None, compared.uncached),
    ]


def _other_fabric(compared: ComparedRuns) -> list[Option]:
    """Return the same machine on a fabric that it does not have, at the rate of its NICs; nothing where it has them all."""
    cluster = compared.base.hardware
    name = next((fabric for fabric in _FABRICS if fabric not in cluster.transports), "")
    if not name:
        return []
    # The record lists what a machine can have: the fabric is added, so that the scenario is not refused.
    with_it = {"cluster": replace(cluster, transports=(*cluster.transports, name)), "transport": name}
    runs = (compared.run(**with_it), compared.run(**with_it, path=PEER_DIRECT))
    title = load_transport(name).title
    return [
        Option(
            f"Another fabric: {title}",
            f"the same rate; {say_percent(1 - runs[0].scenario.goodput, 1)} are headers",
            *runs,
        )
    ]


_FABRICS = ("infiniband", "roce")


def alternatives(_outline: Outline, compared: ComparedRuns) -> Slide:
    """Show the alternatives as a table with a cost to fill in."""
    choices, today = options(compared), compared.detour.time_s
    rows = [(option.says, _gain(option.detour, today), _gain(option.direct, today)) for option in choices]
    marked = set[tuple[int, int]]()
    head = ("what changes", "through the host", "with Peer Direct", "cost, yours")
    # Without the first row, which is today itself.
    others = [(today / option.detour.time_s, option.says) for option in choices[1:] if option.detour]
    title, compares = "Switching to Peer Direct, and what else one could do", list[str]()
    if others:
        (best, name), own = max(others), compared.gain
        title = f"{name} brings {_beside(best, own)} Peer Direct"
        # What the title compares.
        marked = {(next(row for row, option in enumerate(choices) if option.says == name), 0), (0, 1)}
        sentence = (
            f"Without Peer Direct the most of this table is {best:.2f}{TIMES_SIGN}: {name[:1].lower()}{name[1:]}. "
            f"Peer Direct alone is {own:.2f}{TIMES_SIGN}, {_beside(own, best)} that, and it is a setting."
        )
        compares = [
            sentence,
            "Both columns: the same machine, so that a purchase can be judged with Peer Direct already on.",
        ]
    about = f"Times as fast as through the host today, {say_time(compared.detour.time_ps)}{'; bold: the most without Peer Direct, and Peer Direct alone' * bool(marked)}"
    notes = (
        *compares,
        *(
            f"{option.says}: {option.means}.{_times(option)}{_chosen(option, choices[0])}"
            for option in choices
        ),
    )
    body = grid(card(table(head, rows, fill_in=True, marked=marked), 12, high="wide"))
    return Slide(title, about, body, notes=notes, source=figures_said(compared))


def _times(option: Option) -> str:
    """Say how long an exchange takes with an option."""
    runs = (("through the host", option.detour), ("by Peer Direct", option.direct))
    return f" {', '.join(f'{say_time(run.time_ps)} {way}' for way, run in runs if run)}."


_ALIKE = 1.02
"""Within this ratio of each other two gains are called about alike."""


def _beside(gain: float, other: float) -> str:
    """Return how a gain compares with another one, in words."""
    if max(gain, other) <= _ALIKE * min(gain, other):
        return "about as much as"
    return "more than" if gain > other else "less than"


def _chosen(option: Option, today: Option) -> str:
    """Say what the library would choose with an option where that is something else than today."""
    sentences = [
        f"{choice} then, {way}"
        for way, run, before in (
            ("through the host", option.detour, today.detour),
            ("by Peer Direct", option.direct, today.direct),
        )
        if run and before and (choice := chosen_otherwise(before.scenario, run.scenario))
    ]
    return f" There {'; '.join(sentences)}." if sentences else ""


def _gain(run: Run | None, today: float) -> str:
    return f"{today / run.time_s:.2f}{TIMES_SIGN}" if run else "no effect"
