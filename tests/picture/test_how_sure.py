"""How sure a gain is, as one picture: what is not known in rows, and the fact to check first."""

import re
from html import escape
from pathlib import Path
from xml.etree import ElementTree as ET

import peerlab
import peerlab.page
from peerlab.answer.gain import GainBand
from peerlab.picture.how_sure import HEIGHT, WIDTH, how_sure_svg
from peerlab.picture.theme import LIGHT

SVG = "{http://www.w3.org/2000/svg}"


def gain_of(cluster, nodes=4):
    staged = peerlab.simulate(peerlab.Scenario(cluster=cluster, nodes=nodes, path="host-rdma"))
    return peerlab.simulate(staged.scenario.with_(path="peer-direct")).gain_band(staged)


def words(svg):
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314  (our own)


def test_figures_library_and_every_possible_wiring_have_a_row_and_no_row_merges_wirings():
    gain = gain_of("dl1")
    said = words(how_sure_svg(gain))
    below, apart = gain.wired
    assert {"The figures", "The library", "The wiring", "Check this one fact first"} <= set(said)
    assert f"{gain.topology[0]:.2f} to {gain.topology[1]:.2f} times: what is assumed of the machine" in said
    library = f"{gain.low:.2f} to {gain.high:.2f} times with what it adds; without a library {gain.alone:.2f}"
    assert library in said
    assert f"{apart.low:.2f} to {apart.high:.2f} times if each NIC has a root port of its own" in said
    assert f"yes or no, not a range. Assumed: {below.says}" in said
    assert not [text for text in said if f"{gain.least:.2f} to {gain.most:.2f}" in text]
    assert "where the NICs hang: below the" in " ".join(said)
    assert "peerlab doctor on one node tells" in " ".join(said)


def test_nothing_stands_outside_of_the_picture():
    for cluster in ("dl1", "gaudi3", "p4d", "juliet"):
        root = ET.fromstring(how_sure_svg(gain_of(cluster), theme="dark"))  # noqa: S314  (our own)
        for box in root.iter(f"{SVG}rect"):
            if box.get("x"):
                assert 0 <= float(box.get("x")) <= WIDTH
                assert float(box.get("x")) + float(box.get("width")) <= WIDTH + 0.1
        assert all(0 < float(text.get("y")) < HEIGHT for text in root.iter(f"{SVG}text"))


def test_the_part_of_a_range_that_is_slower_is_grey():
    """It was pale orange: orange is a bottleneck or a warning."""
    drawn = how_sure_svg(gain_of("dl1"))
    assert LIGHT["gather"] in drawn
    assert LIGHT["hot-fill"] not in drawn
    sheets = {"page": ".pl-bar-range", "race": ".rc-band", "report": ".pl-slower"}
    for name, rule in sheets.items():
        sheet = (Path(peerlab.page.__file__).parent / f"{name}.css").read_text()
        style = re.search(rf"{re.escape(rule)} {{([^}}]*)}}", sheet)[1]
        assert "--pl-gather" in style
        assert "--pl-hot" not in style


def test_a_gain_that_nothing_moves_says_so():
    said = words(how_sure_svg(GainBand(1.2, 1.2, 1.2, ())))
    assert "Nothing to check first" in said
    assert "The wiring" not in said


def test_a_notebook_shows_the_range_first_and_folds_what_it_rests_on():
    gain = gain_of("dl1")
    page = re.sub(r"<style>.*?</style>", "", gain._repr_html_(), flags=re.DOTALL)
    answer, _, rests = page.partition("<details>")
    assert f"<b>{gain.low:.2f} to {gain.high:.2f}\u00d7 as fast</b> if {escape(gain.wired[0].says)}" in answer
    assert f"If {gain.wired[1].says}" in answer
    assert "which p4d&#x27;s bus numbering suggests" in rests
    assert "Nothing that is assumed" in GainBand(1.2, 1.2, 1.2, ())._repr_html_()
