"""One question about a network with neighbours: an AllReduce, a fabric, and who else sends; and the scene of ports that it is."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from peerlab.base.errors import ScenarioError, nearest
from peerlab.base.units import PS_PER_S
from peerlab.engine.ports.port_forms import ring_s
from peerlab.engine.ports.port_limits import MOST_HOSTS
from peerlab.engine.ports.port_scene import STARTS, PortFlow, PortScene
from peerlab.question.presets import load_cluster
from peerlab.question.size_list import size_at_most
from peerlab.study.port_figures import check_fabric, port_fabric, port_fabrics

_CELLS = 16
"""Cells that a threshold holds; shares do not depend on it (packets one by one gave the same as XOFF/64 to XOFF/4)."""
_MOST_CELL = 64 * 1024
_PS_PER_MS = 10**9
_USUAL_MS = 3.0
"""How long a scene without a collective lasts where nobody says it."""
PATIENCE = 20
"""So many times as long as alone, by the formula, an AllReduce may take; then the scene is cut."""
LONGEST_MS = 1_000_000
"""A scene is cut after so many milliseconds at most."""
_RANGES: Mapping[str, tuple[float, float]] = {
    "leaves": (1, 2), "trunk": (0.01, 64), "trunks": (1, MOST_HOSTS), "vls": (1, 4), "until_ms": (1e-3, LONGEST_MS), "seed": (0, 2**63), "loss_seed": (0, 2**63),
}  # fmt: skip
SPREADS = ("ecmp", "spray")


@dataclass(frozen=True, kw_only=True)
class PortQuestion:
    """An AllReduce as a blocking ring over two leaves, or below one switch, one accelerator a host, and its neighbours."""

    cluster: str = "ideal-100g"
    """Whose NIC rate and network latency it has."""
    nodes: int = 8
    message_bytes: int | str = "16 MiB"
    fabric: str = "infiniband"
    """A name of ``data/port_fabrics.toml``."""
    neighbour: str = "quiet"
    """``quiet``; ``incast(n)``: n hosts send into one of ours; ``neighbour(n)``: into a host of their own behind our trunk; ``collide(n)``: n pairs over
    trunks that a hash chooses; ``job(n)``: the AllReduce of another job on n hosts, again and again; ``victim(n)``: n hosts into one, and a victim over the same trunk, no AllReduce; ``senders(n)``: n hosts into one below one switch."""
    leaves: int = 2
    """1: all hosts hang below one switch, and no trunk is shared."""
    trunk: float = 2.0
    """All trunk links of a direction, in rates of a host."""
    trunks: int = 1
    """How many they are."""
    spread: str = "ecmp"
    """How flows use several: ``ecmp``, by a hash; ``spray``, each cell where least waits."""
    vls: int = 1
    """Lanes or classes; with more than one the neighbours have the last one, and the AllReduce the first."""
    loss: float = 0.0
    """Share of packets that are lost on their way."""
    loss_seed: int | None = None
    """None: losses at even distances."""
    recovery: str | None = None
    """``go-back-n``, ``selective``, ``go-back-0`` or ``none``; None: as usual, go-back-n where something is lost."""
    start: str = "cold"
    """DCQCN's: ``cold``, at line rate with alpha 1, or ``fair``."""
    cell: int | str | None = None
    """Payload of a cell; None: a sixteenth of the smallest threshold, 4 to 64 KiB."""
    until_ms: float | None = None
    """When a scene is cut; None: with the AllReduce, or after 20 times as long as it takes alone."""
    seed: int = 0
    """Of the hash."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Figures of the fabric that are changed."""

    @property
    def is_quiet(self) -> bool:
        """Whether nobody else sends."""
        return self.neighbour == _QUIET

    @property
    def is_alone(self) -> bool:
        """Whether nobody else sends and nothing is lost."""
        return self.is_quiet and not self.loss

    def scene(self) -> PortScene:
        """Return the scene of ports.

        Raises
        ------
        PeerlabError
            If it cannot be simulated.
        """
        self.check()
        kind, senders = self._who()
        leaves, flows = NEIGHBOURS[kind](self, senders)
        if self.leaves == 1:
            if kind == _COLLIDES:
                raise ScenarioError(
                    "leaves", f"flows collide on trunks, and one switch has none: leave {kind}(n) or this out"
                )
            leaves = (0,) * len(leaves)
        if len(set(leaves)) == 1:
            self._refuse(
                ("trunk", "trunks", "spread", "seed"), "all hosts hang below one switch, which has no trunk;"
            )
        elif kind == _COLLIDES:
            self._refuse(("trunk",), f"with {kind}(n) every trunk is as fast as a host;")
        trunks = max(self.trunks, senders + 1) if kind == _COLLIDES and self.trunks == 1 else self.trunks
        # every trunk as fast as a host, so that only a hash that puts two flows on one of them slows anybody
        return self.scene_of(leaves, flows, trunks, trunks if kind == _COLLIDES else self.trunk)

    def _refuse(self, names: tuple[str, ...], why: str) -> None:
        """Refuse fields that would have no effect."""
        for name in names:
            # What has its default counts as not given.
            if getattr(self, name) != getattr(PortQuestion, name):
                raise ScenarioError(name, f"{why} leave this out")

    def scene_of(self, leaves: tuple[int, ...], flows: tuple[PortFlow, ...], trunks: int, share: float) -> PortScene:  # fmt: skip
        """Return the scene of these hosts and flows; `share` is the rate of all trunks, in rates of a host.

        Raises
        ------
        PeerlabError
            If it cannot be simulated.
        """
        if trunks == 1:
            self._refuse(
                ("spread", "seed"), "it chooses among several trunks, and trunks is 1; give more, or"
            )
        values = port_fabrics()[self.fabric].values(self.figures)
        rate, latency_ps = self.line()
        packets, hop_ps = self._packets(values), max(1, round(values["hop"] * 10**6))
        trunk_rate = max(1, int(share * rate / trunks))
        chosen = {name: getattr(self, name) for name in _TO_FABRIC}
        fabric = port_fabric(values, self.fabric, max(rate, trunk_rate), packets, chosen)
        # The cluster's latency is from NIC to NIC. Two hops of it, up to a switch and down, the links count.
        return PortScene(
            fabric=fabric, leaves=leaves, flows=flows, host_Bps=rate, trunk_Bps=trunk_rate, trunks=trunks,
            hop_ps=hop_ps, latency_ps=max(1, latency_ps - 2 * hop_ps), cell_packets=packets, spray=self.spread == SPREADS[1],
            seed=self.seed, until_ps=self._until_ps(flows, rate, latency_ps),
        )  # fmt: skip

    def check(self) -> None:
        """Refuse what cannot be simulated whoever sends.

        Raises
        ------
        ScenarioError
            In one line.
        """
        check_fabric(self.fabric)
        for name, value, words in (("spread", self.spread, SPREADS), ("start", self.start, STARTS)):
            if value not in words:
                raise ScenarioError(name, f"{value!r} is unknown; {nearest(value, words)}")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ScenarioError(name, f"{value!r} is out of range; give {low:g} to {high:g}")
        if not self.loss:
            self._refuse(("loss_seed",), "nothing is lost; give a loss, or")

    def _who(self) -> tuple[str, int]:
        """Return what the neighbours do, and how many they are."""
        if not isinstance(self.neighbour, str):
            raise ScenarioError("neighbour", f"{self.neighbour!r:.60} is no word, such as 'neighbour(4)'")
        match = re.fullmatch(r"([a-z]+)(?:\((\d{1,3})\))?", self.neighbour)
        kind = match[1] if match else self.neighbour
        if match is None or kind not in NEIGHBOURS:
            raise ScenarioError(
                "neighbour",
                f"{self.neighbour!r} is unknown; {nearest(kind, NEIGHBOURS)}, such as neighbour(4)",
            )
        senders = int(match[2] or 0)
        if bool(senders) != (kind != _QUIET):
            raise ScenarioError(
                "neighbour", f"{self.neighbour!r}: say how many send, such as neighbour(4); quiet has none"
            )
        if kind == "job" and senders < 2:
            raise ScenarioError("neighbour", "another job has 2 hosts or more, such as job(8)")
        if type(self.nodes) is not int or self.nodes < 2:
            raise ScenarioError("nodes", f"{self.nodes!r:.40}: an AllReduce has 2 hosts or more")
        if self.nodes > MOST_HOSTS or senders > MOST_HOSTS:
            raise ScenarioError(
                "nodes",
                f"{self.nodes!r} nodes and {senders} neighbours; queues are simulated for {MOST_HOSTS} hosts at most",
            )
        return kind, senders

    def line(self) -> tuple[int, int]:
        """Return rate of a NIC, and latency of the network."""
        cluster = load_cluster(self.cluster)
        if not cluster.nic_Bps or cluster.latency_ps is None:
            raise ScenarioError("cluster", f"{cluster.name} leaves NIC rate or network latency out")
        return cluster.nic_Bps, cluster.latency_ps

    def _packets(self, values: Mapping[str, float]) -> int:
        """Return the packets of a cell."""
        mtu = int(values["mtu"])
        if mtu < 1:
            raise ScenarioError("figure", "mtu is 1 byte or more")
        if self.cell is not None:
            if not (size := size_at_most("cell", self.cell)):
                raise ScenarioError("cell", "0 bytes move nothing; give 1 byte or more")
            return max(1, size // mtu)
        thresholds = [values[name] for name in ("credits", "xoff", "queue", "kmax") if values.get(name)]
        largest = min([_MOST_CELL, *(threshold / _CELLS for threshold in thresholds)])
        return max(1, int(largest) // mtu)

    def _until_ps(self, flows: tuple[PortFlow, ...], rate: int, latency_ps: int) -> int:
        """Return when the scene is cut: what takes far longer than an AllReduce alone is not waited for."""
        if self.until_ms is not None:
            return max(1, round(self.until_ms * _PS_PER_MS))
        if not any(flow.counts for flow in flows):
            return round(_USUAL_MS * _PS_PER_MS)
        quiet_s = ring_s(
            self.nodes, latency_ps / PS_PER_S, size_at_most("message_bytes", self.message_bytes), rate
        )
        # by the formula and not by a simulation, which would cost as much as the scene itself
        return round(PATIENCE * quiet_s * PS_PER_S)


Made = tuple[tuple[int, ...], tuple[PortFlow, ...]]
"""Leaves of hosts, and flows."""
_TO_FABRIC = ("vls", "loss", "loss_seed", "recovery", "start")
_QUIET, _COLLIDES = "quiet", "collide"
_FOR_EVER = 10**9
"""Messages of a job that does not end while the scene lasts."""
OWN, OTHER = "allreduce", "neighbour"
"""Whose a flow is."""


def _ring(q: PortQuestion) -> tuple[list[int], list[PortFlow]]:
    """Return the hosts and flows of the AllReduce: half of its nodes below each leaf, in the order of the ring."""
    nodes, nbytes = q.nodes, size_at_most("message_bytes", q.message_bytes)
    if nbytes < 1:
        raise ScenarioError("message_bytes", "an AllReduce of 0 bytes sends nothing")
    leaves = [int(2 * node >= nodes) for node in range(nodes)]
    flows = [
        PortFlow(
            # `after` is the flow whose message has to have come: the left neighbour's, as in a blocking ring
            src=node, dst=(node + 1) % nodes, nbytes=-(-nbytes // nodes), messages=2 * (nodes - 1), after=(node - 1) % nodes, job=OWN
        )
        for node in range(nodes)
    ]  # fmt: skip
    return leaves, flows


def _quiet(q: PortQuestion, senders: int) -> Made:
    leaves, flows = _ring(q)
    return (*leaves, *[0] * senders), tuple(flows)


def _incast(q: PortQuestion, senders: int) -> Made:
    leaves, flows = _ring(q)
    flows += [_endless(q, q.nodes + sender, q.nodes - 1) for sender in range(senders)]
    return (*leaves, *[0] * senders), tuple(flows)


def _neighbour(q: PortQuestion, senders: int) -> Made:
    leaves, flows = _ring(q)
    flows += [_endless(q, q.nodes + sender, q.nodes + senders) for sender in range(senders)]
    return (*leaves, *[0] * senders, 1), tuple(flows)


def _collide(q: PortQuestion, senders: int) -> Made:
    leaves, flows = _ring(q)
    flows += [_endless(q, q.nodes + sender, q.nodes + senders + sender) for sender in range(senders)]
    return (*leaves, *[0] * senders, *[1] * senders), tuple(flows)


def _job(q: PortQuestion, hosts: int) -> Made:
    """Return the AllReduce beside another job's, which has hosts of its own, as many below each leaf, and goes on for ever."""
    leaves, flows = _ring(q)
    others = [int(2 * host >= hosts) for host in range(hosts)]
    nbytes = -(-size_at_most("message_bytes", q.message_bytes) // hosts)
    flows += [
        PortFlow(
            # flows are numbered: those of our ring come first, one for each of its nodes
            src=q.nodes + host, dst=q.nodes + (host + 1) % hosts, nbytes=nbytes, messages=_FOR_EVER, after=len(leaves) + (host - 1) % hosts,
            vl=max(0, q.vls - 1), job=OTHER, background=True,
        )
        for host in range(hosts)
    ]  # fmt: skip
    return (*leaves, *others), tuple(flows)


def _victim(q: PortQuestion, senders: int) -> Made:
    flows = [_endless(q, sender, senders + 1) for sender in range(senders)]
    return (*[0] * (senders + 1), 1, 1), (*flows, PortFlow(src=senders, dst=senders + 2, job=OWN))


def _senders(q: PortQuestion, senders: int) -> Made:
    return (0,) * (senders + 1), tuple(_endless(q, sender, senders) for sender in range(senders))


def _endless(q: PortQuestion, src: int, dst: int) -> PortFlow:
    return PortFlow(src=src, dst=dst, vl=max(0, q.vls - 1), job=OTHER)


NEIGHBOURS: Mapping[str, Callable[[PortQuestion, int], Made]] = {
    _QUIET: _quiet, "incast": _incast, "neighbour": _neighbour, _COLLIDES: _collide, "job": _job, "victim": _victim, "senders": _senders,
}  # fmt: skip
"""Who else sends."""


def port_question(**given: Any) -> PortQuestion:
    """Return the question of these fields.

    Raises
    ------
    ScenarioError
        If there is no such field.
    """
    fields = PortQuestion.__dataclass_fields__
    for name in given:
        if name not in fields:
            raise ScenarioError(name, f"a network with neighbours has no such field; {nearest(name, fields)}")
    return PortQuestion(**given)
