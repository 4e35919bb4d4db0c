"""The figures' Bokeh document is kept as a file, and is what Bokeh builds."""

import json
import re

import pytest

from peerlab.picture import bokeh_document
from peerlab.picture.bokeh_document import document
from peerlab.picture.kept_figures import KEPT
from peerlab.picture.plots.built_document import built_document, kept_documents


def without_ids(held):
    """Return a document as text, its parts numbered by their first place."""
    numbers = {}
    return re.sub(
        r'"p[0-9-]+"', lambda found: f'"#{numbers.setdefault(found[0], len(numbers))}"', json.dumps(held)
    )


def test_the_file_holds_what_bokeh_builds():
    kept, built = json.loads(KEPT.read_text()), kept_documents()
    told = "python -m peerlab.picture.plots.built_document writes it anew"
    assert {**kept, "plain": 0, "stretched": 0} == {**built, "plain": 0, "stretched": 0}, told
    assert without_ids(kept["plain"]) == without_ids(built["plain"]), told
    assert without_ids(kept["stretched"]) == without_ids(built["stretched"]), told


@pytest.mark.parametrize("stretched", [False, True])
def test_each_explorer_has_a_document_of_its_own(stretched):
    first, second = document(stretched=stretched), document(stretched=stretched)
    assert without_ids(first) == without_ids(second) == without_ids(built_document(stretched=stretched))
    assert len({*first["roots"].values(), *second["roots"].values()}) == 2 * len(first["roots"])
    ids = [set(re.findall(r'"p[0-9-]+"', json.dumps(one))) for one in (first, second)]
    assert len(ids[0]) > 100
    assert not ids[0] & ids[1]


@pytest.fixture
def nothing_kept():
    bokeh_document._kept.cache_clear()
    yield
    bokeh_document._kept.cache_clear()


@pytest.mark.usefixtures("nothing_kept")
@pytest.mark.parametrize("other", ["version", "VIEWS"])
def test_another_bokeh_and_other_views_build_it_anew(monkeypatch, other):
    monkeypatch.setattr(
        bokeh_document, other, (lambda _: "3.9.99") if other == "version" else {"scene": None}
    )
    assert bokeh_document._kept(tuple(bokeh_document.VIEWS)) is None
    assert without_ids(document()) == without_ids(built_document(stretched=False))
