"""How long a training step takes to answer while a slider moves: ResNet-50 on 1,024 nodes, its recordings there."""

import random
import time

from side_by_side import quantile, say, table

import peerlab

STEPS = 300
NODES = 1024


def section() -> str:
    """Measure the steps."""
    draw = random.Random(18)  # noqa: S311  (settings, not secrets)
    begin = time.process_time()
    for path in ("host-rdma", "peer-direct"):
        answer(path=path)
    first = time.process_time() - begin
    taken = sorted(
        timed(
            path=draw.choice(["host-rdma", "peer-direct"]),
            batch=draw.randint(1, 512),
            accumulate=draw.randint(1, 8),
            overlap=draw.random() < 0.5,
            slowdown=draw.choice([0, 0.02, 0.15]),
        )
        for _ in range(STEPS)
    )
    rows = [
        ("both paths for the first time: ten recordings", say(first), "", ""),
        (
            f"{STEPS} steps at random",
            say(quantile(taken, 0.5)),
            say(quantile(taken, 0.95)),
            "p95 under 100 ms",
        ),
    ]
    return f"""## A training step

ResNet-50 on {NODES:,} nodes of DL1, both paths. Batch, passes, overlap and slow-down change when buckets are ready, not what an exchange takes: so a
step is composed of recordings that are there.

{table(("an answer", "median", "p95", "wanted"), rows)}
"""


def answer(**given: object) -> peerlab.StepRun:
    return peerlab.step(workload="resnet50", nodes=NODES, **given)


def timed(**given: object) -> float:
    begin = time.process_time()
    answer(**given).as_dict()
    return time.process_time() - begin
