"""One scenario on several transports, side by side: on one clock and one axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from peerlab.answer.metrics import messages_per_s
from peerlab.answer.run import Run
from peerlab.base.data_frames import pd
from peerlab.base.display import shown
from peerlab.base.errors import ScenarioError
from peerlab.base.units import say_time
from peerlab.engine.loop.event_loop import Progress
from peerlab.engine.simulate import simulate
from peerlab.model.paths import MESSAGES
from peerlab.model.transport_files import load_transport
from peerlab.question.scenario import Scenario, checked_scenario

_LATENCY, _MESSAGES = "fabric.latency", "nic.per_message"
_SAME = 0.005
"""By how much a time may differ from what header bytes and latency alone make of it, to be called the same."""
_BY_BYTES = "by header bytes and latency alone"
"""Why times differ where nothing else acts."""


@dataclass(frozen=True)
class OnTransport:
    """A scenario on one transport."""

    name: str
    """Key of the transport."""
    run: Run
    """Its run."""
    by_bytes_s: float
    """How long it takes if the transport is nothing but a slower NIC (rate times goodput) and its latency, seconds."""
    header_ps: int
    """What its headers cost: its time less that of the same run without header bytes, with its latency and message rate, picoseconds."""

    @property
    def title(self) -> str:
        """What people read, such as ``RoCE v2``."""
        used = self.run.scenario.used_transport
        return used.title if used else self.name

    @property
    def latency_us(self) -> float:
        """Latency of a hop, microseconds."""
        return (self.run.scenario.hop_latency_ps or 0) / 1e6

    @property
    def counts_messages(self) -> bool:
        """Whether what limits it is how many messages a NIC sends a second."""
        return self.run.bottleneck is not None and self.run.bottleneck.kind == MESSAGES.kind

    @cached_property
    def messages_per_s(self) -> float:
        """Messages that a NIC sends a second, from its first to its last."""
        return messages_per_s(self.run.trace, self.run.recording)


@dataclass(frozen=True, repr=False)
class FabricComparison:
    """What some transports make of one scenario; a notebook shows them on one axis."""

    transports: tuple[OnTransport, ...]
    """One for each transport, the fastest first."""

    @property
    def table(self) -> pd.DataFrame:
        """One row per transport: time, latency of a hop, goodput, busbw, messages a second, what limits."""
        return pd.DataFrame(
            {
                "transport": transport.name, "mtu_bytes": transport.run.scenario.hardware.mtu_bytes, "time_s": transport.run.time_s,
                "latency_us": transport.latency_us, "goodput": transport.run.scenario.goodput, "busbw_GBps": transport.run.busbw_GBps,
                "messages_per_s": transport.messages_per_s, "bottleneck": transport.run.bottleneck.label if transport.run.bottleneck else "",
            }
            for transport in self.transports
        )  # fmt: skip

    @property
    def differ_by_bytes_alone(self) -> bool:
        """Whether header bytes and latency explain every time within half a per cent."""
        return all(
            abs(transport.run.time_s - transport.by_bytes_s) <= _SAME * transport.run.time_s
            for transport in self.transports
        )

    @property
    def are_alike(self) -> bool:
        """Whether all take the same time within half a per cent."""
        times = [transport.run.time_s for transport in self.transports]
        return max(times) <= (1 + _SAME) * min(times)

    @property
    def finding(self) -> str:
        """What follows, as a sentence."""
        if len(self.transports) == 1:
            only = self.transports[0]
            return (
                f"{only.title} alone takes {say_time(only.run.time_ps)}: there is nothing to compare it with."
            )
        # nothing of the network limits anywhere, so it is no wonder that transports do not differ
        if self.are_alike and not any(map(_of_fabric, self.transports)):
            limits = {
                transport.run.bottleneck.label for transport in self.transports if transport.run.bottleneck
            }
            return f"The limit is not the wire but {_and(sorted(limits))}."
        if self.differ_by_bytes_alone:
            return f"{self._how_far_apart}, {_BY_BYTES}{self._of_queues}{self._of_ideal}"
        return f"{self._how_far_apart}. {' '.join(self._more_than_bytes)}{self._of_ideal}"

    @property
    def note(self) -> str:
        """What follows besides how far apart the times are, as a page says below that; `details` has the rest."""
        rest = self.finding.removeprefix(self._how_far_apart).lstrip(",. ").removesuffix(self._of_ideal)
        short = f"{_BY_BYTES}." if rest.startswith(_BY_BYTES) else rest
        return _begun(short)

    @property
    def details(self) -> str:
        """Why that is so, and why ideal may be slower: the sentences of `finding` that a page folds."""
        why = self._of_queues if _BY_BYTES in self.finding else ""
        of_ideal = self._of_ideal if self._of_ideal in self.finding else ""
        return f"{_begun(why.lstrip(':; '))}{of_ideal}".strip()

    @property
    def _of_queues(self) -> str:
        """Why no transport's own way of stopping senders tells them apart."""
        if self.transports[0].run.scenario.fabric.contended:
            return "; how transfers share this fabric is the same for all of them."
        return ": every port has one sender, so no queue forms, and no pause, credit or mark acts."

    @property
    def _how_far_apart(self) -> str:
        if self.are_alike:
            return "All take the same time within half a per cent"
        times = [transport.run.time_s for transport in self.transports]
        return f"The slowest takes {max(times) / min(times):.2f} times as long as the fastest"

    @property
    def _more_than_bytes(self) -> list[str]:
        """What else than header bytes and latency acts, and on which transports."""
        more = [
            transport
            for transport in self.transports
            if abs(transport.run.time_s - transport.by_bytes_s) > _SAME * transport.run.time_s
        ]
        counted = [transport.title for transport in more if transport.counts_messages]
        short = [transport.title for transport in more if not transport.counts_messages]
        sentences = []
        if counted:
            sentences.append(f"{_and(counted)}: messages a second limit the NIC, not bytes.")
        if short:
            sentences.append(
                f"{_and(short)}: messages do not fill their packets, so headers weigh more than the goodput of full packets says."
            )
        return sentences

    @property
    def _of_ideal(self) -> str:
        """Why ideal may be slower than what has headers: it keeps the cluster's latency."""
        kept = next((transport for transport in self.transports if transport.name == "ideal"), None)
        shorter = [
            transport for transport in self.transports if kept and transport.latency_us < kept.latency_us
        ]
        if kept is None or not shorter:
            return ""
        return (
            f" Ideal has no headers, but keeps the cluster's latency of {kept.latency_us:.3g} µs; the others have their own (base, switches, "
            f"cable), which is shorter for {_and([transport.title for transport in shorter])}: so ideal may be slower, most with small messages."
        )

    def __repr__(self) -> str:
        sentence = ", ".join(
            f"{transport.title} {say_time(transport.run.time_ps)}" for transport in self.transports
        )
        return f"FabricComparison({sentence})"

    _repr_html_ = shown


def _of_fabric(transport: OnTransport) -> bool:
    """Return whether the fabric limits a run: its latency, or a NIC or link that its bytes and messages pass."""
    # no resource: it is latency, which is the fabric's
    limits = transport.run.bottleneck.resource if transport.run.bottleneck else None
    return limits is None or limits.drawn in ("NIC", "wire") or limits.scope == "fabric"


def _begun(sentence: str) -> str:
    """Return words as a sentence begins with them."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _and(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def compare_fabrics(
    scenario: Scenario,
    transports: Sequence[str] | None = None,
    *,
    own_latency: bool = True,
    progress: Progress | None = None,
) -> FabricComparison:
    """Simulate one scenario on several transports.

    >>> ring = Scenario(cluster="ideal-100g", algorithm="ring")
    >>> compare_fabrics(ring, ["infiniband", "roce"])
    FabricComparison(InfiniBand 5.47 ms, RoCE v2 5.55 ms)

    Parameters
    ----------
    transports:
        Their names; None: all that the cluster can have and the path can use. Those of the scenario's packets, switches and metres that
        one of them can have are asked of it.
    own_latency:
        Whether each has the latency that follows from its own base, switches and cable, in place of the cluster's. A library's
        hop stays its total.
    progress:
        Called with transports simulated and in all; may raise `peerlab.base.errors.Cancelled`.

    Raises
    ------
    ScenarioError
        If there is no such transport, the cluster or the path lacks it, or nothing leaves the node by a NIC.
    """
    base = checked_scenario(scenario)
    if base.domains == 1:
        raise ScenarioError(
            "nodes", f"nothing leaves by a NIC; give more than {base.given_cluster.domain_nodes or 1}"
        )
    names = list(dict.fromkeys(_served(base) if transports is None else transports))
    if not names and not base.uses_nic:
        raise ScenarioError("path", f"nothing leaves by a NIC on path {base.path!r}; give another")
    if not names:
        raise ScenarioError("transport", "none was named; give two or more, such as infiniband and roce")
    answers = []
    for name in names:
        answers.append(_on(base, name, own_latency=own_latency))
        if progress:
            progress(len(answers), len(names))
    return FabricComparison(tuple(sorted(answers, key=lambda answer: answer.run.time_ps)))


def _served(base: Scenario) -> list[str]:
    """Return the transports that can carry the path, each once: where another serves it in its place, that one."""
    entries = {
        name: load_transport(name).instead.get(str(base.path), name) for name in base.fitting_transports
    }
    return [name for name, serves in entries.items() if serves == name]


def _on(scenario: Scenario, name: str, *, own_latency: bool) -> OnTransport:
    cluster = scenario.given_cluster
    asked_mtu, allows = scenario.mtu, load_transport(name)
    mtu = (
        # packets that another transport forbids give way to its own usual ones
        asked_mtu if asked_mtu is None or name == scenario.transport or allows.takes(int(asked_mtu)) else None
    )
    if not allows.figures:
        # ideal has no packets, switches or cable that could be asked for
        scenario = scenario.with_(transport=None, mtu=None, hops=None, metres=None)
    if own_latency and load_transport(name).figures and not cluster.leaves_latency:
        figures = MappingProxyType(
            {key: figure for key, figure in cluster.figures.items() if key != _LATENCY}
        )
        left = MappingProxyType({**cluster.leaves_out, _LATENCY: "the transport's own is compared"})
        open_: dict[str, Any] = {"latency_ps": None, "figures": figures, "leaves_out": left}
        cluster = replace(cluster, **open_)
    asked = scenario.with_(cluster=cluster, transport=name, mtu=mtu)
    run = simulate(asked)
    # The same network twice more: without headers, which leaves what they cost; and as nothing but a slower
    # NIC, which tells whether anything else than bytes acts.
    without = simulate(_bare(asked, 1.0, _MESSAGES))
    by_bytes = simulate(_bare(asked, asked.goodput))
    return OnTransport(name, run, by_bytes.time_s, max(0, run.time_ps - without.time_ps))


def _bare(asked: Scenario, share: float, *kept: str) -> Scenario:
    """Return the scenario with this share of the rates of NICs and backbone, and its latency; of a transport's figures it has those that are `kept`, and no headers."""
    cluster, having = asked.given_cluster, asked.hardware.figures
    figures = {**cluster.figures, **{key: having[key] for key in kept if key in having}}
    own: dict[str, Any] = {
        "latency_ps": asked.hop_latency_ps, "nic_message_ps": None, "figures": MappingProxyType(figures),
    }  # fmt: skip
    if cluster.backbone_Bps:
        own["backbone_Bps"] = round(cluster.backbone_Bps * share)
    # the ideal transport adds nothing, so the latency of the hop is handed over as a whole
    machine = replace(cluster, nic_Bps=round(cluster.nic_Bps * share), **own)
    return asked.with_(cluster=machine, transport="ideal", mtu=None, hops=None, metres=None)
