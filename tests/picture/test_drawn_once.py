"""What a parcel and a still need of a picture is drawn once, and nothing is read again to answer a click."""

import pathlib

import pytest

import peerlab
from peerlab.app.explorer import Explorer
from peerlab.picture import picture
from peerlab.picture.payload import payload
from peerlab.picture.words import caption


@pytest.fixture
def drawn(monkeypatch):
    """Counts how often a static scene is drawn."""
    count, draw = [], picture.draw

    def counted(sketch):
        count.append(sketch)
        return draw(sketch)

    monkeypatch.setattr(picture, "draw", counted)
    return count


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct"])
def test_a_scene_is_drawn_once_for_all_who_show_or_describe_it(drawn, path):
    run = peerlab.simulate(peerlab.Scenario(path=path))
    payload(run)
    assert len(drawn) == 1
    run._repr_html_()  # light, dark, and the caption
    assert len(drawn) == 2


def test_a_caption_draws_nothing_where_its_picture_is_there(drawn):
    run = peerlab.simulate(peerlab.Scenario())
    seen = picture.Picture(run)
    alone = caption(run)
    drawn.clear()
    assert [caption(run, seen), caption(run, seen)] == [alone, alone]
    assert len(drawn) == 1  # the picture's own


def test_a_click_reads_no_file_that_comes_with_peerlab(monkeypatch):
    explorer = Explorer(peerlab.Scenario(nodes=2))
    for _ in range(2):  # both sides are known by then, and so is what their curves need
        explorer.controls.host.value = not explorer.controls.host.value
    read, real = [], pathlib.Path.open

    def counted(self, *values, **given):
        read.append(self)
        return real(self, *values, **given)

    monkeypatch.setattr(pathlib.Path, "open", counted)
    before = explorer.scenario.path
    explorer.controls.host.value = not explorer.controls.host.value
    assert explorer.scenario.path != before
    assert read == []
    explorer.close()
