"""In how many runs a slow node is found, by the bound and simulated."""

from math import log

import numpy as np
from documents import table

from peerlab.features.suspects.bayes import ENOUGH, Observation, Suspicion, runs_needed

_NODES, _SEARCHES = 64, 250
_ROWS = ((0.5, 0.02, 12), (0.8, 0.05, 12), (0.9, 0.05, 12), (0.9, 0.05, 36))
"""Share of its rate that a fault leaves, sigma of a run, and how many rounds are made at most."""

HEAD = """\
### In how many runs a slow node is found

A slow node keeps a share f of its rate. `peerlab suspects` takes the logarithm of a run's time over what is expected: its mean is h = ln(1/f) where the slow node takes part, else 0, and its
noise has the standard deviation sigma. Before any run, the probability that nothing is slow is one half. The next run takes the nodes with the highest probabilities, until the sum of these is
as close to a half as can be. A node is named once its probability is 95 %. A run tells at most C(h/sigma) bits, so log2(2 N) / C runs are the least. From h/sigma of about 4 on, 2 log2 N runs
suffice. Below that longer runs help: r times the iterations multiply h/sigma by sqrt(r).

64 nodes, one of them slow, f known; means of {searches} simulated searches. *One run*: a round is one run. *Both halves*: the rest of the nodes runs at the same time, sharing nothing, and a round is
both runs. *Found* is the share of searches that named the slow node within the rounds that are allowed; the bound counts runs.

"""


def section() -> str:
    """Return the section."""
    rows = []
    for share, sigma, most in _ROWS:
        cells = [cell for halves in (1, 2) for cell in _found(share, sigma, most, halves)]
        strength = log(1 / share) / sigma
        rows.append(
            [
                f"{share:g}",
                f"{sigma:g}",
                f"{strength:.1f}",
                f"{runs_needed(_NODES, strength):.1f}",
                str(most),
                *cells,
            ]
        )
    head = [
        "f",
        "sigma",
        "h/sigma",
        "bound",
        "rounds at most",
        "one run: found",
        "runs",
        "both halves: found",
        "rounds",
    ]
    return HEAD.format(searches=_SEARCHES) + table(head, rows)


def _found(share: float, sigma: float, most: int, halves: int) -> tuple[str, str]:
    """Return in what share of searches the slow node was named, and after how many rounds somebody was, in the mean."""
    random = np.random.default_rng(1)
    ended = [_search(random, share, sigma, most, halves) for _ in range(_SEARCHES)]
    hits, rounds = (float(np.mean(values)) for values in zip(*ended, strict=True))
    return f"{hits:.2f}", f"{rounds:.1f}"


def _search(
    random: np.random.Generator, share: float, sigma: float, most: int, halves: int
) -> tuple[bool, int]:
    slow = int(random.integers(_NODES))
    suspicion = Suspicion(_NODES, sigma, share=share)
    for rounds in range(1, most + 1):
        some = suspicion.next_run()
        rest = tuple(node for node in range(_NODES) if node not in some)
        for who in (some, rest)[:halves]:
            if len(who) > 1:
                noise = sigma * float(random.standard_normal())
                suspicion.see(Observation(who, log(1 / share) * (slow in who) + noise))
        values = suspicion.probabilities
        if values.max() >= ENOUGH:
            return suspicion.who[int(values.argmax())] == (slow,), rounds
    return False, most
