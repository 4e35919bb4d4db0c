"""The formulas of the model: each worked out by hand here and by the simulation, which must agree."""

from collections.abc import Callable
from dataclasses import dataclass

from peerlab.answer.run import Run
from peerlab.base.units import MIB, PS_PER_S, say_bytes, say_time
from peerlab.engine.simulate import simulate
from peerlab.model.resources import capacity_Bps
from peerlab.question.scenario import Scenario

_WIRE = Scenario(cluster="ideal-100g", nodes=8, message_bytes="16 MiB")
_DL1 = Scenario(cluster="dl1", nodes=8, message_bytes="64 MiB")
_PAIR = _DL1.with_(nodes=2, collective="point-to-point")


@dataclass(frozen=True)
class Law:
    """A formula with an example."""

    what: str
    """What it gives."""
    formula: str
    """In the field's letters; they are explained above the table."""
    example: str
    """What it is worked out for."""
    by_hand: float
    """What the formula gives, in the unit of `say`."""
    simulated: float
    """What the simulation gives."""
    say: Callable[[float], str]
    """Writes a value with its unit."""
    tolerance: float = 1e-9
    """By how much the two may differ, relatively: what rounding to picoseconds leaves."""

    def check(self) -> "Law":
        """Return the law, or fail if the simulation does not follow it."""
        if abs(self.by_hand - self.simulated) > self.tolerance * abs(self.by_hand):
            raise AssertionError(f"{self.what}: {self.by_hand} by hand, {self.simulated} simulated")
        return self


def laws() -> list[Law]:
    """Return all of them, checked."""
    parts = (
        _service(),
        _pipeline(),
        *_schedules(),
        *_transports(),
        _busbw(),
        _wire_limit(),
        *_registration(),
        _reduction(),
    )
    return [law.check() for law in parts]


def _time(ps: float) -> str:
    return say_time(round(ps))


def _bandwidth(rate: float) -> str:
    return f"{rate:.4g} GB/s"


def _first(run: Run, stage: str) -> int:
    """Return how long the first span of a stage lasts, picoseconds."""
    spans = run.recording.spans
    row = (spans["stage"] == run.trace.stages.index(stage)).argmax()
    return int(spans["end"][row] - spans["start"][row])


def _served(nbytes: int, rate: int) -> int:
    return -(-nbytes * PS_PER_S // rate)


def _service() -> Law:
    asked = _PAIR.with_(path="host-rdma")
    nbytes, rate = int(asked.slice_limit or 0), capacity_Bps(asked.cluster_for_message, "copy_up")
    return Law(
        "an exclusive resource serves a slice", "t(s) = s / B, rounded up to a picosecond",
        f"a copy engine of Gaudi DL1, {say_bytes(nbytes)}",
        _served(nbytes, rate), _first(simulate(asked), "d2h"), _time,
    )  # fmt: skip


def _pipeline() -> Law:
    asked = _PAIR.with_(path="host-rdma", message_bytes="16 MiB", slice_bytes="256 KiB")
    machine, slice_ = asked.cluster_for_message, 256 * 1024
    copy, sent = _served(slice_, machine.copy_engine_Bps), _served(slice_, machine.nic_Bps)
    slices = asked.nbytes // slice_
    by_hand = 2 * copy + sent + machine.latency_ps + (slices - 1) * max(copy, sent)
    return Law(
        "k stages, m equal slices", "T = t1 + ... + tk + L + (m-1) max(t1, ..., tk)",
        "host-rdma of Gaudi DL1, point to point, 16 MiB in slices of 256 KiB",
        by_hand, simulate(asked).time_ps, _time,
    )  # fmt: skip


def _schedules() -> list[Law]:
    nodes, machine, size = _WIRE.nodes, _WIRE.cluster_for_message, _WIRE.nbytes
    latency, whole = machine.latency_ps, _served(size, machine.nic_Bps)
    chunk, rounds = _served(size // nodes, machine.nic_Bps), nodes.bit_length() - 1
    by_hand = {
        "ring": ("2(N-1) (L + S/(N B))", 2 * (nodes - 1) * (latency + chunk)),
        "pairwise": ("2(N-1) (L + S/(N B))", 2 * (nodes - 1) * (latency + chunk)),
        "halving-doubling": (
            "2 log2(N) L + 2 (N-1)/N x S/B", 2 * rounds * latency + 2 * (nodes - 1) * chunk,
        ),
        "recursive-doubling": ("log2(N) (L + S/B)", rounds * (latency + whole)),
    }  # fmt: skip
    exchange = (nodes - 1) * chunk
    apart = {
        "direct": ("L + (N-1) S/(N B)", latency + exchange),
        "pairwise": ("(N-1) (L + S/(N B))", (nodes - 1) * latency + exchange),
    }
    exchanges = [
        Law(
            f"all-to-all, {name}", f"T = {formula}",
            f"{_WIRE.hardware.title}, {nodes} nodes, {say_bytes(size)}, transfers whole", ps,
            simulate(_WIRE.with_(collective="alltoall", algorithm=name, slice_bytes=None)).time_ps, _time,
        )
        for name, (formula, ps) in apart.items()
    ]  # fmt: skip
    return exchanges + [
        Law(
            f"AllReduce, {name}", f"T = {formula}",
            f"{_WIRE.hardware.title}, {nodes} nodes, {say_bytes(size)}, blocking steps, transfers whole",
            ps, simulate(_WIRE.with_(algorithm=name, dependency="step")).time_ps, _time,
        )
        for name, (formula, ps) in by_hand.items()
    ]  # fmt: skip


def _transports() -> list[Law]:
    ring = _WIRE.with_(transport="roce", mtu=1024, algorithm="ring", dependency="step", slice_bytes=None)
    sharp = _WIRE.with_(transport="roce", mtu=1024, algorithm="sharp", slice_bytes=None)
    machine, nodes, size = ring.cluster_for_message, ring.nodes, ring.nbytes
    chunk, whole = (_served(one + one // 1024 * 82 + 16, machine.nic_Bps) for one in (size // nodes, size))
    example = f"{_WIRE.hardware.title}, {nodes} nodes, {say_bytes(size)}, RoCE v2 in packets of 1024 B (82 B of headers), transfers whole"
    return [
        Law(
            "AllReduce, ring on a transport", "T = 2(N-1) (L + wire(S/N)/B)", example,
            2 * (nodes - 1) * (machine.latency_ps + chunk), simulate(ring).time_ps, _time,
        ),
        Law(
            "AllReduce, added up by the switches", "T = 2 L + wire(S)/B", example,
            2 * machine.latency_ps + whole, simulate(sharp).time_ps, _time,
        ),
    ]  # fmt: skip


def _busbw() -> Law:
    run = simulate(_DL1.with_(path="peer-direct"))
    ranks = _DL1.ranks
    by_hand = _DL1.nbytes / run.time_s / 1e9 * 2 * (ranks - 1) / ranks
    return Law(
        "bus bandwidth of an AllReduce", "busbw = S/T x 2(n-1)/n",
        f"peer-direct of Gaudi DL1, {_DL1.nodes} nodes, {ranks} ranks, {say_bytes(_DL1.nbytes)}",
        by_hand, run.busbw_GBps, _bandwidth,
    )  # fmt: skip


def _wire_limit() -> Law:
    run, machine, nodes, ranks = simulate(_DL1), _DL1.cluster_for_message, _DL1.nodes, _DL1.ranks
    by_hand = machine.nics * machine.nic_Bps / 1e9 * ((ranks - 1) / ranks) / ((nodes - 1) / nodes)
    return Law(
        "its most over NICs that are always busy", "busbw <= NICs x B x ((n-1)/n) / ((N-1)/N)",
        f"Gaudi DL1, {nodes} nodes: above the {machine.node_wire_Bps / 1e9:g} GB/s of a node's NICs",
        by_hand, run.wire_limit_GBps, _bandwidth,
    )  # fmt: skip


def _registration() -> list[Law]:
    asked = _PAIR.with_(path="peer-direct", registration="per-transfer", message_bytes=MIB)
    run, cost, pages = simulate(asked), asked.registration_cost, MIB // int(asked.page_bytes)
    example = f"Gaudi DL1, a region of {say_bytes(MIB)}, {pages} pages"
    return [
        Law(
            "registering a region", "t = base + per_page x pages", example,
            cost.base_ps + cost.page_ps * pages, _first(run, "register"), _time,
        ),
        Law(
            "deregistering it", "t = base' + per_page' x pages", example,
            cost.deregister_base_ps + cost.deregister_page_ps * pages, _first(run, "deregister"), _time,
        ),
    ]  # fmt: skip


def _reduction() -> Law:
    asked = _DL1.with_(path="peer-direct")
    run = simulate(asked)
    spans = run.recording.spans
    row = (spans["stage"] == run.trace.stages.index("reduce")).argmax()
    nbytes = int(spans["nbytes"][row]) // 3
    return Law(
        "adding a slice to the device's own data", "t(s) = 3 s / HBM (read two operands, write one)",
        f"Gaudi DL1, {say_bytes(nbytes)}", _served(3 * nbytes, asked.cluster_for_message.hbm_Bps), _first(run, "reduce"), _time,
    )  # fmt: skip
