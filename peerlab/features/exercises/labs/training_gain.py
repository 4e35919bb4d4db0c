"""Exercises of lab 07: what a faster AllReduce is worth to a step of a training."""

from functools import cache
from typing import Any

from peerlab.features.exercises.exercise import Bound, Choice, Mistake, Number
from peerlab.features.exercises.labs.unseen import unseen_step
from peerlab.training import closed_forms as forms
from peerlab.training.answer_step import step
from peerlab.training.step_run import StepRun
from peerlab.training.training_step import Step

BERT: dict[str, Any] = {"workload": "bert-large", "nodes": 8}
CACHED: dict[str, Any] = {
    "workload": "resnet50", "cluster": "infiniband-hdr-a100", "nodes": 4, "path": "peer-direct", "library": "none",
}  # fmt: skip
BATCHES = (64, 32, 16, 8, 4, 2, 1)
FELT = 1.2
"""From which gain on the lab says that the path matters."""
R, R_TCP = 1.77, 5.6
"""How many times as fast Peer Direct is as RDMA through the host, and as TCP, at large messages on DL1 (topology alone)."""
TOKENS, PUBLISHED, GPUS = 2048, 380, 1024
WAITS = 0.6
"""What a node that waits draws, of what it draws busy: 4.01 of 6.741 kW, worked out from MLPerf Training v4.0 (Llama-2 70B LoRA on 1 and 8 nodes)."""
SEEN = 0.2


@cache
def _step_run(asked: Step) -> StepRun:
    return step(asked)


def steps(**changes: Any) -> tuple[StepRun, StepRun]:
    """Return a step of BERT-large through the host, and by Peer Direct; 8 sequences a Gaudi, unless changed."""
    options = {**BERT, "batch": 8, **changes}
    host, direct = (_step_run(Step.of(path=path, **options)) for path in ("host-rdma", "peer-direct"))
    return host, direct


def gain(**changes: Any) -> float:
    """Return how many times as fast the step is by Peer Direct."""
    host, direct = steps(**changes)
    return direct.gain(host)


def exchange_gain() -> float:
    """Return how many times as fast the exchanges alone are."""
    host, direct = steps()
    return host.exchange_s / direct.exchange_s


def most_gain() -> float:
    """Return how many times as fast the step through the host would be if its exchanges took no time."""
    host, _ = steps()
    return host.time_s / (host.time_s - host.exposed_s)


def all_taken_away() -> float:
    """Return the same if all of the exchange were exposed: more than anything can gain."""
    host, _ = steps()
    return host.time_s / (host.time_s - host.exchange_s)


def largest_batch() -> int:
    """Return the largest batch, of those in the lab, at which the path matters."""
    return next(batch for batch in BATCHES if gain(batch=batch) >= FELT)


def bucket_cost() -> float:
    """Return how many times as long a step through the host takes with one bucket for everything."""
    usual, everything = (steps(bucket_bytes=limit)[0].time_s for limit in ("25 MiB", "all"))
    return everything / usual


def registered(**changes: Any) -> int:
    """Return what a step registers: ResNet-50 on 4 nodes of A100, first step or with a limit."""
    return sum(
        exchange.run.registration.misses for exchange in _step_run(Step.of(**CACHED, **changes)).trace.placed
    )


def regions() -> int:
    """Return the fewest regions with which nothing is registered anew."""
    return next(count for count in range(1, 200) if not registered(cache_regions=count))


def halving(ratio: float, share: float, *, overlaps: bool) -> float:
    """Return how many times as fast a step becomes of which a share is exposed, its exchange `ratio` times as fast.

    Without overlap all of the exchange is exposed. With it, the exchange runs beside backward (two thirds of the computing), which
    hides that much of it, before and after.
    """
    compute = 1 - share
    hidden = compute * 2 / 3 if overlaps else 0.0
    exchange = share + hidden
    return forms.gain_of_step(compute, share, max(0.0, exchange / ratio - hidden))


_HALVES = {
    "exposed": "half of the step is exposed, and Peer Direct replaces RDMA through the host",
    "overlap": "half of the step is exposed, backward overlaps the exchange, and Peer Direct replaces RDMA through the host",
    "tenth": "a tenth of the step is exposed, backward overlaps the exchange, and Peer Direct replaces kernel TCP",
    "tcp": "half of the step is exposed, backward overlaps the exchange, and Peer Direct replaces kernel TCP",
}


def halves() -> dict[str, float]:
    """Return how many times as fast the step becomes in each of the cases."""
    return {
        _HALVES["exposed"]: halving(R, 0.5, overlaps=False),
        _HALVES["overlap"]: halving(R, 0.5, overlaps=True),
        _HALVES["tenth"]: halving(R_TCP, 0.1, overlaps=True),
        _HALVES["tcp"]: halving(R_TCP, 0.5, overlaps=True),
    }


def per_gpu(per_parameter: float = 6) -> float:
    """Return TFLOP/s of each GPU that the published table would need."""
    return forms.parameter_flop(175e9, TOKENS * PUBLISHED, per_parameter=per_parameter) / GPUS / 1e12


def saved(wait: float) -> float:
    """Return which share of the energy of a step is saved, a fifth of which is exposed; 1: waiting draws as much as computing."""
    left = SEEN / R
    before, after = (forms.energy(1 - SEEN + number, number, 1, 1.0, wait) for number in (SEEN, left))
    return 1 - after / before


EXERCISES = (
    Number(
        name="07-gain",
        question="Suppose the exchanges of the step through the host took no time at all. How many times as fast would the step be?",
        truth=most_gain,
        tolerance=0.01,
        mistakes=(
            Mistake(gain, "That is Peer Direct, whose exchanges still take time. Here they take none."),
            Mistake(all_taken_away, "That takes the whole exchange away. Most of it runs beside backward and makes the step no longer."),
            Mistake(exchange_gain, "So many times as fast are the exchanges of Peer Direct. How long is the step when they are gone?"),
            Mistake(lambda: 1 / most_gain(), "You have the ratio of the times; turn the ratio round."),
            Mistake(lambda: 1.0, "Nearly. But the last bucket is ready when backward is over: nothing hides it."),
        ),
        bounds=(Bound(all_taken_away, "Even without hiding anything, no more than the exchange can be saved.", above=True),),
        hints=(
            "Only one part of the exchange makes the step longer than its computing. Which?",
            "`host.time_s` is the step, and `host.exposed_s` the part of the exchange that nothing hides.",
        ),
        why="So no path, however fast, gains more than that at this batch: only the exposed part of the exchange can be saved.",
        solution="host.time_s / (host.time_s - host.exposed_s)",
    ),
    Number(
        name="07-overlap",
        further=True,
        question="BERT-large, 8 sequences a Gaudi, without overlap: gradients are exchanged after backward. How many times as fast is the step with Peer Direct?",
        truth=lambda: gain(overlap=False),
        tolerance=0.01,
        mistakes=(
            Mistake(gain, "That is with overlap. Ask both steps again with `overlap=False`."),
            Mistake(
                exchange_gain, "So much faster are the exchanges alone; the computing stays as long as it was."
            ),
            Mistake(lambda: 1 / gain(overlap=False), "You have the ratio of the times; turn the ratio round."),
        ),
        hints=(
            "`peerlab.step(host.step.with_(overlap=False))` asks the same step without overlap.",
            "Divide the time of the step through the host by that of the step with Peer Direct.",
        ),
        why="Now the whole exchange is seen, and the gain with it. Who measures a path without overlap measures something else than a training.",
        solution="peerlab.step(direct.step.with_(overlap=False)).gain(peerlab.step(host.step.with_(overlap=False)))",
    ),
    Number(
        name="07-batch",
        question="Halve the batch from 64 on. From which batch on is the step at least 1.2 times as fast with Peer Direct?",
        truth=lambda: float(largest_batch()),
        unit="sequences",
        tolerance=0.0,
        mistakes=(
            Mistake(lambda: 2.0 * largest_batch(), "There the detour still hides nearly everything. Go one step further."),
            Mistake(lambda: largest_batch() / 2, "There it is, but it was already at twice that batch."),
            Mistake(lambda: 1.0, "There the gain is largest. Asked is where it first reaches 1.2."),
        ),
        hints=(
            "Backward must become shorter than the exchange through the host. How long are both at 8 sequences?",
            "`training_gain.gain(batch=16)` is the gain at 16 sequences. Go down from 64: which is the first that is 1.2 or more?",
        ),
        why="Computing shrinks with the batch, the gradients do not. Where backward becomes shorter than the exchange, the path comes out.",
        solution="max(n for n in training_gain.BATCHES if training_gain.gain(batch=n) >= 1.2)",
    ),
    Number(
        name="07-bucket",
        question="Through the host, 8 sequences: how many times as long does the step take if everything is one bucket, against 25 MiB?",
        truth=bucket_cost,
        mistakes=(
            Mistake(gain, "That is what the path is worth with 25 MiB. Here the path stays, and the bucket changes."),
            Mistake(lambda: gain(bucket_bytes="all"), "That is what the path is worth with one bucket. Here the path stays."),
            Mistake(lambda: 1 / bucket_cost(), "You have it the other way round: one bucket is not faster."),
        ),
        hints=(
            '`peerlab.step(host.step.with_(bucket_bytes="all"))` asks the same step with one bucket.',
            "A bucket of everything is ready when backward is over. What is left to hide behind?",
        ),
        why="One bucket is ready only when backward is over, so nothing overlaps. A wrong limit costs more than the wrong path.",
        solution='peerlab.step(host.step.with_(bucket_bytes="all")).time_s / peerlab.step(host.step.with_(bucket_bytes="25 MiB")).time_s',
    ),
    Number(
        name="07-cache",
        further=True,
        question="A cache that has room for four of the five buckets: how many regions does each step register anew?",
        truth=lambda: float(registered(cache_regions=regions() * 4 // 5)),
        unit="regions",
        tolerance=0.0,
        mistakes=(
            Mistake(lambda: registered(iterations=1) / 5, "So many has one bucket. But to make room for it, the cache gives up the bucket that comes next."),
            Mistake(lambda: 0.0, "Then the cache would hold all of them. It is one bucket too small."),
            Mistake(lambda: float(regions()), "So many regions are enough for one NIC. Two NICs below the switch are counted."),
        ),
        hints=(
            "The cache gives up what was not used for the longest time. Which bucket is that, when the fifth one comes?",
            "`registered(cache_regions=20)` asks for it.",
        ),
        why="Buckets are used in a cycle. What was not used for the longest time is what comes next: a cache a bucket too small never finds one.",
        solution="registered(cache_regions=20)",
    ),
    Choice(
        name="07-halves",
        further=True,
        question='"Peer Direct halves the training time." When is that true?',
        options={
            _HALVES["exposed"]: "The exposed half becomes 1.77 times as fast, the other half stays. Work it out.",
            _HALVES["overlap"]: "Better: what is left of the exchange hides behind backward. But it is not yet half.",
            _HALVES["tenth"]: "What is not exposed cannot go: at most that tenth is won.",
            _HALVES["tcp"]: "",
        },
        truth=lambda: next(case for case, times in halves().items() if times >= 1.95),
        called={case: (name,) for name, case in _HALVES.items()},
        hints=(
            "Computing stays. Of a step of 2, of which 1 is exposed, at most half can go.",
            "The exposed half has nearly to vanish. Against which detour is an exchange so much shorter, and what hides the rest?",
        ),
        why="Three things at once: half of the step exposed, overlap, and TCP as what it is compared with.",
        solution=f'"{_HALVES["tcp"]}"',
    ),
    Number(
        name="07-table",
        further=True,
        question="GPT-3 (175e9 parameters), 380 samples a second of 2,048 tokens, 1,024 GPUs, 6 operations for each parameter and token: TFLOP/s per GPU?",
        truth=per_gpu,
        unit="TFLOP/s",
        mistakes=(
            Mistake(lambda: per_gpu(8), "That is with recomputation, 8 operations. Asked is 6."),
            Mistake(lambda: per_gpu(2), "That is forward alone, 2 operations. Asked is 6."),
            Mistake(lambda: per_gpu() * GPUS, "That is all GPUs together."),
            Mistake(lambda: per_gpu() / 8, "That would be 8,192 GPUs: 1,024 nodes of 8. Asked is as the table says."),
        ),
        hints=(
            "Operations a second are parameters times tokens a second times 6.",
            "`closed_forms.parameter_flop(175e9, 2048 * 380)` is all of them; divide by GPUs and by 1e12.",
        ),
        why="An A100 does 312 at its peak. So the table is wrong as it is labelled; with 1,024 nodes of 8 it is what Megatron reached.",
        solution="closed_forms.parameter_flop(175e9, 2048 * 380) / 1024 / 1e12",
    ),
    Number(
        name="07-energy",
        further=True,
        question=(
            "A fifth of a step is exposed, and that part becomes 1.77 times as fast. A node that waits draws 0.6 of what it draws busy. "
            "What share of the energy is saved?"
        ),
        truth=lambda: saved(WAITS),
        tolerance=0.04,
        mistakes=(
            Mistake(lambda: saved(1.0), "So much time is saved. But what is left out is waiting, which draws less than computing."),
            Mistake(lambda: SEEN, "The exposed part does not vanish, it becomes shorter."),
            Mistake(lambda: SEEN * (1 - 1 / R) * (1 - WAITS), "You took what waiting saves against computing; it is what waiting draws that is saved."),
        ),
        hints=(
            "Before: 0.8 busy and 0.2 waiting. After: 0.8 busy and 0.2 / 1.77 waiting.",
            "`closed_forms.energy(time, exposed, 1, 1, 0.6)` for both, and 1 minus their ratio.",
        ),
        why="Less than the time that is saved: what goes is waiting, at about 60 per cent of the power.",
        solution="1 - closed_forms.energy(0.8 + 0.2 / 1.77, 0.2 / 1.77, 1, 1, 0.6) / closed_forms.energy(1, 0.2, 1, 1, 0.6)",
    ),
)  # fmt: skip
TRANSFER = unseen_step.TRANSFER
