"""A step by formula: what follows without simulating it. Times in seconds, unless a name says otherwise.

Tensor and pipeline parallelism, and the halo exchange of a particle code, exist here alone; they are not simulated as steps.
"""

from collections.abc import Sequence

PER_HOUR = 3600


def exposed(ready: Sequence[float], times: Sequence[float], backward: float) -> float:
    """Return the exposed time of exchanges on one stream: ``max(0, max_k (r_k + sum_{j>=k} t_j) - B)``.

    Parameters
    ----------
    ready:
        When each exchange could begin, from the beginning of backward, in order.
    times:
        How long each takes.
    backward:
        How long backward takes.

    >>> exposed([1, 2], [3, 3], 4)
    3
    """
    end: float = 0
    for moment, time in zip(ready, times, strict=True):
        # One stream: an exchange waits for the one before it, however early its own gradients were ready.
        end = max(moment, end) + time
    return max(0, end - backward)


def exposed_of_equal(count: int, time: float, backward: float) -> float:
    """Return the exposed time of equal exchanges, ready one after the other: ``t`` while ``t <= B/n``, else ``B/n + n t - B``."""
    # Beyond B/n each waits for the one before: then the stream sets the pace, and not backward.
    return time if time <= backward / count else backward / count + count * time - backward


def floor_of_step(forward: float, backward: float, ready: float, times: Sequence[float]) -> float:
    """Return the least that a step takes: the last exchange cannot hide, and nothing begins before the first is ready."""
    return max(forward + backward + times[-1], forward + ready + sum(times))


def sharded_step(
    gathers: Sequence[float], scatters: Sequence[float], forward: Sequence[float], backward: Sequence[float]
) -> float:
    """Return a pass of fully sharded training on one stream, one block ahead; all by block, in the order of forward.

    Forward: ``g_1 + sum max(f_i, g_{i+1})``. Backward: ``g_n + max(b_n, g_{n-1}) + sum max(b_i, s_{i+1} + g_{i-1}) + max(b_1, s_2) + s_1``.
    """
    # While a block computes forward, the next one is gathered; nothing is ahead of the last.
    ahead = [*gathers[1:], 0.0]
    time = gathers[0] + sum(map(max, forward, ahead))
    g, s, b = gathers[::-1], scatters[::-1], backward[::-1]
    # Beside backward the gradients of the block above leave, and the parameters of the block below come.
    beside = [(s[n - 1] if n else 0.0) + (g[n + 1] if n + 1 < len(g) else 0.0) for n in range(len(g))]
    return time + g[0] + sum(map(max, b, beside)) + s[-1]


def gain_of_step(compute: float, exposed_before: float, exposed_after: float) -> float:
    """Return how many times as fast a step is: ``(C + e) / (C + e')``. Of an exchange r times as fast it is r at most, where all is exposed."""
    return (compute + exposed_before) / (compute + exposed_after)


def accumulated_step(
    passes: int, forward: float, backward: float, seen: float, optimizer: float = 0.0
) -> float:
    """Return a step of several passes, exchanged once: ``a (F + B) + exposed + O``."""
    return passes * (forward + backward) + seen + optimizer


def pipeline_step(micro_batches: int, stages: int, forward: float, backward: float, chunks: int = 1) -> float:
    """Return a pipelined step without its exchanges: ``m (f + b) (1 + (p - 1) / (v m))``; `chunks` are the v parts of a stage."""
    return micro_batches * (forward + backward) * (1 + (stages - 1) / (chunks * micro_batches))


def gpt_flop(batch: int, tokens: int, layers: int, hidden: int, words: int, *, recomputes: bool) -> float:
    """Return the operations of a step of a GPT: ``96 B s l h^2 (1 + s/6h + V/16lh)`` with full recomputation, 72 without.

    Source: the Megatron paper (Narayanan et al. 2021), section 5.1.
    """
    # A pass of a layer is 24 B s h^2; backward is two passes, and recomputation does forward once more.
    factor = 96 if recomputes else 72
    return (
        factor
        * batch
        * tokens
        * layers
        * hidden**2
        * (1 + tokens / (6 * hidden) + words / (16 * layers * hidden))
    )


def parameter_flop(parameters: float, tokens: float, *, per_parameter: float = 6) -> float:
    """Return the operations on so many tokens: 6 for each parameter, 8 with recomputation, 2 of forward alone."""
    return per_parameter * parameters * tokens


def utilisation(flop: float, time: float, devices: int, peak: float) -> float:
    """Return the share of a peak (FLOP/s of a device) that a step uses: MFU, or HFU if `flop` counts recomputation."""
    return flop / (time * devices * peak)


def tensor_parallel_elements(batch: int, tokens: int, hidden: int, ways: int) -> float:
    """Return elements that a device sends for each layer and micro-batch under tensor parallelism: ``8 b s h (t-1)/t``, never hidden."""
    # Four AllReduces of B s h elements a layer, two forward and two backward; a ring sends 2 (t-1)/t of each.
    return 8 * batch * tokens * hidden * (ways - 1) / ways


def cost(time: float, steps: float, nodes: int, price_per_hour: float) -> float:
    """Return what some steps cost: ``T x steps x nodes x price / 3600``."""
    return time * steps * nodes * price_per_hour / PER_HOUR


def energy(time: float, seen: float, nodes: int, busy_W: float, wait_W: float) -> float:  # noqa: N803  (the unit is a capital)
    """Return what a step draws, joules: ``nodes x (busy x (T - exposed) + wait x exposed)``; what bits cost on links is not in it."""
    return nodes * (busy_W * (time - seen) + wait_W * seen)


def halo_step(
    particles: float,
    domains: int,
    rate: float,
    message: float,
    *,
    phases: int = 3,
    fixed: float = 0.0,
    copy_start: float = 0.0,
) -> float:
    """Return a step of a particle code: ``c + N / (P R) + phases x t(face)``; `copy_start` is what each of two staged copies waits for.

    Parameters
    ----------
    particles, domains, rate:
        Particles in all, devices, and particle-steps per second of one device.
    message:
        How long a face takes from one device to the next.
    """
    # A staged message is copied twice, at its sender and at its receiver.
    return fixed + particles / (domains * rate) + phases * (message + 2 * copy_start)
