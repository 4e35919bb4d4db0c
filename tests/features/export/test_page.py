"""The page as a file: nothing from outside, text as text, small, and errors in words."""

import json
import os
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from unpack import Pack

import peerlab
from peerlab.base.errors import ExportError
from peerlab.features.export.page import page_html
from peerlab.picture.views import VIEWS
from peerlab.question.scenario import Scenario

ATTACK = "<img src=x onerror=alert(1)></script><!--<script>"


class Parts(HTMLParser):
    """Every tag with its attributes, and the text of every script."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts = [("", {})], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}", {}))

    def handle_data(self, data):
        if self.tags[-1][0] == "script":
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def page():
    return page_html(peerlab.Scenario(), controls="host")


def test_a_page_asks_for_nothing_and_only_its_own_scripts_may_run(page):
    parts = Parts(page)
    asked = [(tag, attrs[name]) for tag, attrs in parts.tags for name in {"src", "href"} & attrs.keys()]
    assert asked == [("link", "data:,")]  # the empty icon
    policy = next(attrs["content"] for tag, attrs in parts.tags if "http-equiv" in attrs)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    allowed = set(rules["script-src"].split())
    running = [
        text
        for text, (_, attrs) in zip(parts.scripts, (t for t in parts.tags if t[0] == "script"), strict=True)
        if attrs.get("type") != "text/plain"
    ]
    assert len(running) == 2
    assert allowed == {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in running}


@pytest.mark.usefixtures("anew")
def test_the_same_scenario_makes_the_same_bytes_up_to_the_names_of_figures(page):
    again = page_html(peerlab.Scenario(), controls="host")
    assert abs(len(again) - len(page)) < 200


def test_names_of_a_cluster_do_not_end_a_script_or_begin_a_tag(tmp_path, root):
    text = (root / "data" / "hardware" / "dl1.toml").read_text()
    file = tmp_path / "own.toml"
    file.write_text(re.sub(r"^title = .*$", f"title = '{ATTACK}'", text, count=1, flags=re.MULTILINE))
    page = page_html(Scenario(cluster=str(file), path="host-rdma"), controls="host", bands=False)
    parts = Parts(page)
    assert not [tag for tag, _ in parts.tags if tag == "img"]
    assert len(parts.scripts) == 3
    pack = Pack.of(page)
    state = pack.whole(pack.document["states"][0][0])
    assert ATTACK in state["data"]["views"]["footer"]["simulated"][0]


def test_a_pair_is_two_sets_of_states_under_one_control():
    staged = Scenario(path="host-rdma")
    pack = Pack.of(page_html((staged, staged.with_(path="peer-direct")), controls="nodes=2:4"))
    assert pack.document["mode"] == "side-by-side"
    assert pack.document["titles"] == ["RDMA through host", "Peer Direct"]
    assert [len(one) for one in pack.document["states"]] == [2, 2]


def test_what_a_page_is_about_is_not_said_twice():
    """The card of busbw says *AllReduce* in the explorer; beside one picture nothing else does."""
    staged = Scenario(path="host-rdma", nodes=2)
    about = [
        Pack.of(page_html(staged, controls="", bands=False, mode=mode)).document["subject"]
        for mode in ("explorer", "figure")
    ]
    assert about == ["Gaudi DL1", "Gaudi DL1, AllReduce"]


def test_curves_that_nobody_sees_are_not_simulated(monkeypatch):
    monkeypatch.setattr("peerlab.features.export.album._point", lambda _: pytest.fail("a curve was begun"))
    staged = Scenario(path="host-rdma", nodes=2)
    pair = (staged, staged.with_(path="peer-direct"))
    for subject, shown in (
        (staged, {"mode": "figure"}),
        (staged, {"mode": "figure", "figure": "timeline"}),
        (pair, {}),
    ):
        pack = Pack.of(page_html(subject, controls="", **shown))
        assert pack.document["curves"] == {"nodes": {}, "message_bytes": {}}


def test_controls_that_are_asked_for_change_both_of_a_pair():
    staged = Scenario(path="host-rdma", nodes=4)
    pack = Pack.of(page_html((staged, staged.with_(nodes=2)), controls="host", bands=False))
    assert [one["field"] for one in pack.document["choices"]] == ["path"]
    codes = [[pack.whole(one)["data"]["meta"]["code"] for one in side] for side in pack.document["states"]]
    assert codes[0][1] == staged.with_(path="peer-direct").as_code()
    assert codes[1][1] == staged.with_(path="peer-direct", nodes=2).as_code()


def test_a_run_stands_for_its_scenario(tmp_path):
    run = peerlab.simulate(Scenario(path="peer-direct", nodes=4))
    path = peerlab.export_html(run, tmp_path / "page.html", controls="")
    assert path == tmp_path / "page.html"
    pack = Pack.of(path.read_text())
    (state,) = pack.document["states"][0]
    assert pack.whole(state)["data"]["meta"]["code"] == run.scenario.as_code()


WRONG = [
    ({"mode": "figur"}, "mode: unknown 'figur'; did you mean 'figure'"),
    ({"mode": "side-by-side"}, "mode: 'side-by-side' shows two scenarios"),
    ({"figure": "scene"}, "figure: unknown 'scene'; .*datapath"),
    ({"theme": "drak"}, "did you mean 'dark'"),
    ({"ratio": "16x9"}, "did you mean '16:9'"),
    ({"controls": {"nodes": range(1, 2500)}}, r"controls: 2,499 states would be about \d+ MB"),
]


@pytest.mark.parametrize(("options", "says"), WRONG)
def test_what_a_page_cannot_be_is_said_in_one_line(options, says):
    with pytest.raises(ExportError, match=says):
        page_html(Scenario(), **options)


def test_what_is_no_scenario_is_said():
    for subject in ("dl1", None, [Scenario(), "dl1"]):
        with pytest.raises(ExportError, match=r"^a page shows scenarios or runs of them, not "):
            page_html(subject)


def test_a_place_that_cannot_be_written_to_is_said_before_anything_is_simulated(tmp_path):
    for target, why in ((tmp_path / "none" / "a.html", "there is no folder"), (tmp_path, "it is a folder")):
        with pytest.raises(ExportError, match=f"cannot write .*{why}"):
            peerlab.export_html(Scenario(), target)
    if os.getuid():
        tmp_path.chmod(0o500)
        with pytest.raises(ExportError, match="Permission denied"):
            peerlab.export_html(Scenario(), tmp_path / "a.html")


def test_the_command_writes_a_page_and_says_how_large_it_is(own_folder, capsys):
    from peerlab.cli import main

    options = ["--nodes", "4", "--path", "host-rdma", "--controls", "nodes=2:4", "--output", "slide.html"]
    assert main(["export", *options, "--beside", "path=peer-direct", "--theme", "dark"]) == 0
    assert re.fullmatch(r"slide\.html: 1\.\d\d MB\n", capsys.readouterr().out)
    assert Pack.of((own_folder / "slide.html").read_text()).document["theme"] == "dark"
    assert main(["export", "--output", "slide.html", "--beside", "path"]) == 1
    assert capsys.readouterr().err == "peerlab: --beside: 'path' is not FIELD=VALUE\n"
    assert main(["export", "--output", "slide.html", "--beside", "nodes=²"]) == 1
    assert "nodes: '²' is not a whole number" in capsys.readouterr().err
    assert main(["export", "--output", "two\nlines\x1b[1m.txt"]) == 1
    assert capsys.readouterr().err.startswith(r"peerlab: --output: two\nlines\x1b[1m.txt must end in")


@pytest.fixture
def without_curves():
    """The list of views has no curves for a while; afterwards its order is as before."""
    views = dict(VIEWS)
    del VIEWS["curves"]
    yield
    VIEWS.clear()
    VIEWS.update(views)


@pytest.mark.usefixtures("without_curves")
def test_a_view_that_was_taken_from_the_list_is_in_no_later_page(page):
    """A page took the figures of the page before, and never began to play if its views were others."""
    later = page_html(peerlab.Scenario(), controls="host", mode="figure")
    found = [json.loads(Pack.of(one).document["figures"])["roots"].keys() for one in (page, later)]
    assert [*found[1]] == [name for name in found[0] if name != "curves"]
