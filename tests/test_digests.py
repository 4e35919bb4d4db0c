"""What peerlab gives stays: spans, figures, parcels, stills, texts and pages are what they were, whatever is called otherwise."""

import pytest
from digests import FOLDER, changes, kinds, written

KINDS = sorted(file.stem for file in FOLDER.glob("*.json"))


def test_every_kind_is_digested():
    assert sorted(kinds()) == KINDS, "python tests/digests.py --write"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_digested_is_written(kind):
    assert list(kinds()[kind]) == list(written(kind)), "python tests/digests.py --write"


@pytest.mark.parametrize("kind", KINDS)
def test_a_tenth_gives_what_it_gave(kind, drawn):
    found = list(changes(kind, drawn(kinds()[kind], part=10)))
    assert not found, "\n".join((*found, "all: python tests/digests.py"))
