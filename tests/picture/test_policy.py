"""Every page that peerlab writes to a file says beforehand that nothing may be fetched, and what may run."""

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from fewer_points import fewer_points

import peerlab
from peerlab.cli import main
from peerlab.picture.policy import inline

SCRIPT = re.compile(r"<script(?P<kind>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)


def exported(folder):
    with fewer_points():
        return peerlab.export_html(peerlab.Scenario(), folder / "page.html", controls="host", bands=False)


def plotted(folder):
    assert main(["validate", "--only", "gaudi2", "--plot", str(folder / "plot.html")]) == 0
    return folder / "plot.html"


def deck(folder):
    with fewer_points():
        assert main(["deck", "--nodes", "2", "--message", "64 KiB", "--output", str(folder / "deck")]) == 0
    return folder / "deck" / "index.html"


def read(file):
    """Return the rules of a page's policy, which stands before everything else, and the page."""
    page = file.read_text(encoding="utf-8")
    found = re.search(r"http-equiv=[\"']Content-Security-Policy[\"'] content=\"([^\"]*)\"", page)
    assert found.start() < re.search("<style|<script|<title", page).start()
    return dict(rule.strip().split(" ", 1) for rule in found[1].split(";")), page


@pytest.mark.parametrize("write", [exported, plotted, deck])
def test_a_page_fetches_nothing(write, tmp_path):
    rules, page = read(write(tmp_path))
    assert rules.pop("script-src").startswith("'sha256-" if write is not deck else "'unsafe-inline'")
    assert rules.pop("frame-src", "") == ("'self' file:" if write is deck else "")
    assert rules == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(r"<(?:script|link)[^>]*(?:src|href)=(?!.data:,)", page)


def test_only_its_own_scripts_may_run_in_a_picture_of_expected_figures(tmp_path):
    rules, page = read(plotted(tmp_path))
    running = [one["text"] for one in SCRIPT.finditer(page) if not re.search("json|plain", one["kind"])]
    assert len(running) == 2
    hashes = {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in running}
    assert set(rules["script-src"].split()) == hashes


def test_a_script_does_not_end_the_element_that_it_stands_in():
    assert inline("a = '</script>';\r\nb = '<!-- <script';") == "a = '<\\/script>';\nb = '<\\!-- <script';"
