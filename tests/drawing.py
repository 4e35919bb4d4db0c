"""What a run draws of cases that are alike: `make test` a part, others with each seed, `make soak` all; what once failed always.

* ``@pytest.mark.sample(4)``: four of the cases of a parametrised test; ``sample(part=10)``: one in ten.
* ``pytest.param("dl1", marks=pytest.mark.always)``: this one in every run, as it failed once.
* ``for cluster, path in drawn(WAYS, part=3, always=[ONCE])``: the same where a test walks its cases, with the fixture `drawn`.
* ``@pytest.mark.long("kernels")``: a test that takes more than three seconds of a processor; of those of one subject a tenth.
* ``@examples(part=2)``: half as many of hypothesis's examples, for a law of which each costs several simulations.
"""

import os
import random
from collections import Counter, defaultdict

from hypothesis import settings

SOAK = bool(os.environ.get("PEERLAB_SOAK"))
"""Whether this is a long trial."""
LONG = 10
"""Of the long tests of a subject one in so many is drawn."""


def examples(part):
    """Return what lets a law have one in `part` of the examples that others have."""
    return settings(max_examples=max(1, settings.default.max_examples // part))


def parts(case):
    """Return what a case is made of, which others may have too: the parts of a tuple, each with its place."""
    return tuple(enumerate(case)) if isinstance(case, tuple) else ()


def draw(cases, chance, count=0, *, part=1, always=(), parts=parts):
    """Return so many of the cases, or one in `part`, and all of `always`, in their order.

    What the fewest of those that were drawn have is drawn next: of clusters times widths, each cluster and each width comes as often as
    any other.
    """
    drawn = {at for at, case in enumerate(cases) if case in always}
    left = [at for at in range(len(cases)) if at not in drawn]
    chance.shuffle(left)
    often = Counter(one for at in drawn for one in parts(cases[at]))
    for _ in range(min(count or -(-len(left) // part), len(left))):
        at = min(left, key=lambda at: sum(often[one] for one in parts(cases[at])))
        left.remove(at)
        drawn.add(at)
        often.update(parts(cases[at]))
    return [case for at, case in enumerate(cases) if at in drawn]


def not_drawn(items, seed):
    """Return the trials that this run leaves out: of each test that is marked as a sample, and of the long ones of each subject, all but what is drawn."""
    alike, long = defaultdict(list), defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample"):
            alike[item.nodeid.partition("[")[0]].append(item)
    left_out = set()
    for name, trials in alike.items():
        mark = trials[0].get_closest_marker("sample")
        left_out |= _left_out(trials, f"{seed} {name}", *mark.args, **mark.kwargs)
    for item in items:
        mark = item.get_closest_marker("long")
        if mark and item not in left_out:
            long[mark.args[0]].append(item)
    for subject, trials in long.items():
        left_out |= _left_out(trials, f"{seed} long trials of {subject}", part=LONG)
    return [item for item in items if item in left_out]


def _left_out(trials, seed, *count, **part):
    always = {item for item in trials if item.get_closest_marker("always")}
    chance = random.Random(seed)  # noqa: S311  (repeatable)
    return {*trials} - {*draw(trials, chance, *count, **part, always=always, parts=parameters)}


def parameters(item):
    """Return what a trial is made of: its parameters, those that are no words or numbers by their place among others."""
    if not hasattr(item, "callspec"):
        return []
    given = item.callspec.params.items()
    return [(name, one if isinstance(one, str | int) else item.callspec.indices[name]) for name, one in given]
