"""Labs as pages: a page in a frame runs, as the rules of the page around it hold for it, too; what no page can hold is a notebook."""

import re
import shutil
from html import unescape

import pytest

import peerlab
from peerlab.base.places import folder
from peerlab.features.exercises.lessons.lab_article import NOTEBOOK_ONLY, _prose
from peerlab.features.site.lab_pages import _framed_scripts, lab_pages
from peerlab.features.site.site_folder import _lab_line
from peerlab.picture.policy import policy

OWN_HASH = re.compile(r"script-src ('sha256-[^']+')")


@pytest.mark.parametrize(
    "answer",
    [
        lambda: peerlab.neighbours(nodes=4, message_bytes="64 KiB"),
        lambda: peerlab.shared_fabric([{"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}]),
        lambda: peerlab.step(workload="resnet50"),
        lambda: peerlab.race(peerlab.Scenario(nodes=4), path="peer-direct"),
    ],
    ids=["neighbours", "jobs", "step", "race"],
)
def test_the_rules_of_a_lab_name_each_script_of_a_page_in_a_frame(answer):
    """Where they did not, lab 10 had empty white boxes in a browser's tab."""
    article = answer()._repr_html_()
    (own,) = set(OWN_HASH.findall(unescape(article)))
    assert own in policy("the page's own", *_framed_scripts(article))


def test_a_lab_that_no_page_can_hold_lies_there_as_a_notebook_and_the_list_leads_to_it(tmp_path, monkeypatch):
    for number in NOTEBOOK_ONLY:
        shutil.copy(next(folder("labs").glob(f"{number}_*.ipynb")), tmp_path)
    monkeypatch.setattr("peerlab.features.site.lab_pages.folder", lambda _: tmp_path)
    pages, listed = lab_pages({})
    assert set(pages) == {file.name for file in tmp_path.iterdir()} == {page for _, page, _ in listed}
    for lab in listed:
        assert f"<span>{lab[2]} It needs <a href='{lab[1]}' download>the notebook</a>" in _lab_line(lab)
        assert f'href="{lab[1]}"' in _prose(f"See [lab]({lab[1]}).")
    assert 'href="lab-01.html"' in _prose("See [lab 01](01_bounce.ipynb).")
