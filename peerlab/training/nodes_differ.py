"""Where nodes of a step differ: in what they compute, in what they send, or because of a schedule or a fabric that is not the same for all."""

from collections.abc import Sequence
from itertools import pairwise

from peerlab.base.errors import WorkloadError
from peerlab.base.numbers import np
from peerlab.engine.noise_draws import Whole, compute_factors, pauses_of, seed_of
from peerlab.engine.system import foldable
from peerlab.question.scenario import Scenario
from peerlab.training.node_lane import NodeLane
from peerlab.training.program import Program
from peerlab.training.training_step import Step

POSTED, BEGIN = "posted", "begin"


def differs(step: Step, scenarios: list[Scenario]) -> bool:
    """Return whether nodes do not do the same at the same time; `scenarios` are those of the exchanges."""
    return step.computes_apart or not all(foldable(scenario) for scenario in set(scenarios))


def draws(step: Step) -> bool:
    """Return whether every step of a row draws noise of its own, so that none need be as one before."""
    return bool(step.compute_jitter) or step.scenario.noise.of_slices


def durations(step: Step, program: Program, turn: int = 0) -> list[list[int]]:
    """Return how long every operation takes on every node, picoseconds: as given, times what noise and slow nodes make of it.

    `turn` is which step of a row it is; each draws noise of its own, and the first as a step alone.

    Where NVLink joins nodes, they compute as their latest does, since what they exchange first is a barrier for them.

    Raises
    ------
    WorkloadError
        If devices draw noise of their own, and one would begin an operation while another of its node is late.
    """
    alone = np.array([op.duration_ps for op in program.computing], float)
    s, slow = step.scenario, step.slow_compute or {}
    apart = bool(step.compute_jitter) and step.compute_jitter_of == "device"
    devices = s.hardware.devices * s.domains // s.nodes if apart else 1
    values = np.tile(alone, (s.nodes, devices, 1))
    for node in range(s.nodes):
        # A share of the rate, so the time is divided by it.
        values[node] /= slow.get(node, 1.0)
        if step.compute_jitter:
            drawn = compute_factors(seed_of(s.seed, turn), step.compute_jitter, node, values[node].size)
            values[node] *= drawn.reshape(values[node].shape)
    # Nodes of one domain of NVLink have consecutive numbers.
    together = np.array_split(np.rint(values).astype(np.int64), s.domains)
    if apart:
        return [of_devices(program, times.reshape(-1, len(alone))).tolist() for times in together]
    return [times.max(axis=(0, 1)).tolist() for times in together]


def of_devices(program: Program, times: Whole) -> Whole:
    """Return how long a node's operations take whose devices need so long, shape ``(devices, operations)``: each is over when it is on all of them.

    A device goes on without the others, until all of them wait for the same exchange. What slows a node slows all its devices alike, so that the
    latest of them stays the latest.
    """
    waiting = [n for n, op in enumerate(program.computing) if op.after]
    lasts: Whole = np.zeros(times.shape[1], np.int64)
    for first, last in pairwise([0, *waiting, times.shape[1]]):
        _check_all_wait(program, first)
        lasts[first:last] = np.diff(times[:, first:last].cumsum(axis=1).max(axis=0), prepend=0)
    return lasts


def _check_all_wait(program: Program, number: int) -> None:
    """Refuse an operation that a device could begin while another of its node still computes what comes before."""
    after = program.computing[number].after if number < len(program.computing) else ()
    # Exchanges are in order: the last that is waited for ends behind those before it.
    needs = (max(exchange.after, default=-1) for exchange in program.exchanging[: max(after, default=-1) + 1])
    if after and max(needs, default=-1) < number - 1:
        raise WorkloadError(
            "compute_jitter_of: here a device begins a block while another of its node is late with the block before, and each node has one lane of computing; "
            "give 'node', or leave out prefetch"
        )


def lanes_of(step: Step, program: Program, turn: int, begins: Sequence[int]) -> list[NodeLane]:
    """Return the compute lane of every node for a step of a row, by its `turn`; `begins` says when each begins it."""
    s = step.scenario
    # A node that stands still computes nothing, either; the clock of a step is the one that phases are drawn on.
    still = pauses_of(s.seed, s.noise, s.nodes) if s.noise.tick_period_ps else (None,) * s.nodes
    times = durations(step, program, turn)
    return [
        NodeLane(program, own, step.slowdown_per_mille, begin, pauses)
        for own, begin, pauses in zip(times, begins, still[: len(times)], strict=True)
    ]


def opens_at(step: Step) -> str:
    """Return from when on a node takes slices of others: as given, else ahead of its begin where it has bounce buffers for them."""
    return step.open or (POSTED if step.scenario.data_path.is_staged else BEGIN)


def check_differing(scenario: Scenario) -> None:
    """Refuse an exchange that nodes cannot begin apart.

    Raises
    ------
    WorkloadError
        If what would happen is not known exactly.
    """
    if scenario.sums_between or scenario.sums_inside:
        raise WorkloadError(
            "algorithm: where nodes differ, they come to a sum in the switches one after the other; what those do meanwhile is not modelled"
        )
    limits = (scenario.cache_regions, scenario.cache_bytes, scenario.memlock_bytes)
    if scenario.registers and any(limit is not None for limit in limits):
        raise WorkloadError(
            "cache_regions: where nodes differ, which region a limited cache gives up depends on who comes first; leave the limits out"
        )
