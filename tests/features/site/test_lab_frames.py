"""A page in a frame of a lab runs: the rules of the page around it hold for it, too."""

import re
from html import unescape

import pytest

import peerlab
from peerlab.features.site.lab_pages import _framed_scripts
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
