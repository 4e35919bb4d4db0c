"""Every HTML file that peerlab writes says what it may run and that it fetches nothing."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import peerlab
from peerlab.cli import main
from peerlab.features.deck.reading.outline import Outline
from peerlab.features.site.lab_pages import _page
from peerlab.features.site.live_page import live_page

SMALL = {"nodes": 2, "message_bytes": "1 MiB"}
PAIR = tuple(peerlab.Scenario(path=path, **SMALL) for path in ("host-rdma", "peer-direct"))


def step():
    return peerlab.step(workload="resnet50", nodes=2, path="peer-direct")


def command(*words):
    return lambda file: main([*words, str(file)])


WRITERS = {
    "features/export/page.py": lambda file: peerlab.export_html(PAIR[0], file, controls="", mode="figure"),
    "features/race/race_page.py": lambda file: peerlab.export_html(PAIR, file, mode="race", bands=False),
    "features/step/step_page.py": lambda file: peerlab.export_html(step(), file, controls={}),
    "features/wall/wall_chart.py": lambda file: peerlab.wall_chart(PAIR[0], file),
    "features/deck/deck_page.py": lambda file: (
        peerlab.write_deck(Outline(scenario=SMALL).only(["limits"]), file.parent),
        (file.parent / "index.html").rename(file),
    ),
    "features/site/live_page.py": lambda file: file.write_text(
        live_page(PAIR[0], {"pyodide-lock.json": b'{"info": {}}'}, carried=False)
    ),
    "features/fabrics/fabrics_page.py": command(
        "fabrics", "--cluster", "ideal-100g", "--nodes", "2", "--output"
    ),
    "page/frame.py": command("choices", "--cluster", "p5", "--nodes", "2", "--sizes", "8MiB", "--plot"),
    "features/neighbours/port_page.py": command(
        "neighbours", "--nodes", "2", "--message", "64KiB", "--fabric", "infiniband", "--output"
    ),
    "features/site/lab_pages.py": lambda file: file.write_text(
        _page(
            SimpleNamespace(number="01", title="A lab", html="", cards=[]),
            {"pyodide-lock.json": b'{"info": {}}'},
            None,
        )
    ),
    "features/validate/expected_page.py": command("validate", "--only", "gaudi2-one-box", "--plot"),
}
"""By the module that writes the page."""
BEGUN_IN = {
    "features/export/page.py": "page/alone_page.py",
    "features/fabrics/fabrics_page.py": "page/played_page.py",
    "features/neighbours/port_page.py": "page/played_page.py",
    "features/race/race_page.py": "page/played_page.py",
    "features/site/live_page.py": "page/alone_page.py",
    "features/step/step_page.py": "page/played_page.py",
}
"""Where a page is begun that another module begins."""
NOT_FOR_READERS = {"features/export/in_browser.py"}
"""A page that lasts as long as a picture is taken of it."""


@pytest.mark.parametrize("module", WRITERS)
def test_a_file_names_what_it_may_run_before_anything_else(module, tmp_path, capsys):
    WRITERS[module](tmp_path / "page.html")
    capsys.readouterr()
    page = (tmp_path / "page.html").read_text()
    policy = re.search(r"<meta http-equiv=.Content-Security-Policy. content=\"([^\"]*)\"", page)
    assert policy, module
    assert "default-src 'none'" in policy[1]
    assert not re.search("<(script|style|body|img|link)", page[: policy.start()])


def test_every_module_that_begins_a_page_is_among_them():
    package = Path(peerlab.__file__).parent
    begin = {
        str(one.relative_to(package))
        for one in package.rglob("*.py")
        if re.search("<!doctype html", one.read_text(), re.IGNORECASE)
    }
    assert begin == {BEGUN_IN.get(module, module) for module in WRITERS} | NOT_FOR_READERS
