"""Physics stays: the spans of some 200 scenarios are what they were, whatever is called otherwise."""

import json

import pytest
from spans import FILE, digest, scenarios

WRITTEN = json.loads(FILE.read_text())


def test_every_cluster_and_path_is_among_them():
    assert set(scenarios()) == set(WRITTEN)


@pytest.mark.parametrize("text", WRITTEN)
def test_the_spans_are_what_they_were(text):
    assert digest(text) == WRITTEN[text]
