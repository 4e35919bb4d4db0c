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

`peerlab suspects` takes the logarithm of a run's time over what is expected: h = ln(1/f) where the slow node takes part, and noise of a sigma. Before any run nothing is slow with a
probability of one half. The next run has the nodes by falling probability until what is among them is as close to a half as can be; whoever reaches 95 % is named. A run tells C(h/sigma)
bits, so it takes log2(2 N) / C runs or more: 2 log2 N suffice from h/sigma of about 4 on, and below that repeating helps: r times the iterations are sqrt(r) times the h/sigma.

64 nodes, one of them slow, f known, in the mean of {searches} searches. The first two columns of what was found are of one run at a time; in the others the rest of the nodes runs beside
it, where nothing is shared, and a round has both.

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
