"""What peerlab gives stays: spans, figures, parcels, stills, texts and pages are what they were, whatever is called otherwise."""

import os
import random

import pytest
from digests import FOLDER, changes, kinds, written

SOAK = bool(os.environ.get("PEERLAB_SOAK"))
KINDS = sorted(file.stem for file in FOLDER.glob("*.json"))


def test_every_kind_is_digested():
    assert sorted(kinds()) == KINDS, "python tests/digests.py --write"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_digested_is_written(kind):
    assert list(kinds()[kind]) == list(written(kind)), "python tests/digests.py --write"


@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_gives_what_it_gave(kind, run_seed):
    names = list(kinds()[kind])
    chance = random.Random(f"{run_seed} {kind}")  # noqa: S311  (no secret)
    some = names if SOAK else chance.sample(names, -(-len(names) // 10))
    found = list(changes(kind, some))
    assert not found, "\n".join((*found, "all: python tests/digests.py"))
