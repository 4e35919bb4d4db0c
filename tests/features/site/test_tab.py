"""Python's side of the live page: it answers as the notebook's explorer does, and says in words what a tab cannot do."""

import json
import re
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
import tool_logs
from tool_logs import NCCL

import peerlab
from peerlab.app.panels.log_findings import look_at
from peerlab.base.places import folder
from peerlab.diagnosis.placed_log import way_to
from peerlab.features.diagnose.diagnosis_report import diagnosis_below
from peerlab.features.expect.expect_report import verdict_html
from peerlab.features.site.tab import MOST_BESIDE_S, MOST_S, Tab
from peerlab.features.site.tab_fields import SHOWN, kinds_of_noise, linkable
from peerlab.model.noise import NOISE_KINDS
from peerlab.picture.payload import payload
from peerlab.records import Records, measured_library

WITHOUT_NUMPY = """
import json, sys
sys.modules.update(dict.fromkeys(["numpy", "pandas", "bokeh", "scipy", "simpy", "tqdm", "yaml"]))
from peerlab.features.site.tab import Tab
tab = Tab(nodes=2)
print(json.dumps([tab.answer(json.dumps({"kind": "show", "number": 2, "changes": changes}))[0] for changes in json.loads(sys.argv[1])]))
"""


def shown(tab, number=2, **changes):
    text, columns = tab.answer(json.dumps({"kind": "show", "number": number, "changes": changes}))
    return json.loads(text), columns


def everything(tab):
    while piece := tab.work():
        yield json.loads(piece[0])


def bytes_of(value):
    if isinstance(value, bytes):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [column for part in parts for column in bytes_of(part)]


def test_a_switch_shows_what_the_notebook_shows():
    tab = Tab(nodes=2, path="host-rdma")
    answer, columns = shown(tab, path="peer-direct")
    direct, before = (
        peerlab.simulate(peerlab.Scenario(nodes=2, path=path)) for path in ("peer-direct", "host-rdma")
    )
    assert columns == bytes_of(payload(direct, before, 2))
    assert answer["fields"]["path"] == "peer-direct"
    assert answer["data"]["meta"]["number"] == 2


def test_what_follows_a_picture_is_the_ratio_the_curves_its_range_and_bands():
    tab = Tab(cluster="infiniband-hdr-a100", nodes=2, message_bytes=2**16)
    shown(tab)
    pieces = [piece for piece in everything(tab) if piece]
    ratios, curves = ([piece[name] for piece in pieces if name in piece] for name in ("ratio", "curves"))
    assert list(pieces[0]) == ["ratio"]
    assert len(ratios) == 2
    assert len(curves) > 2
    assert curves[0]["axis"] == curves[-1]["axis"] == "nodes"
    assert tab.work() is None


def test_another_axis_draws_other_curves_and_an_unknown_one_none():
    tab = Tab(cluster="ideal-100g", nodes=2, message_bytes=2**12)
    tab.answer('{"kind": "axis", "axis": "nothing"}')
    assert tab.work() is None
    tab.answer('{"kind": "axis", "axis": "message_bytes"}')
    assert {piece["curves"]["axis"] for piece in everything(tab) if "curves" in piece} == {"message_bytes"}


def test_the_critical_path_is_that_of_what_is_shown():
    tab = Tab(nodes=2)
    answer = json.loads(tab.answer('{"kind": "critical"}')[0])
    assert answer["critical"]["breakdown"]


def read(tab, text, name="mine.log"):
    return json.loads(tab.answer(json.dumps({"kind": "log", "name": name, "text": text}))[0])


def test_a_log_is_diagnosed_as_in_the_notebook():
    tab = Tab(cluster="alps-gh200", nodes=8)
    answer = read(tab, NCCL)
    assert {*answer} == {"log", "measured"}
    lab = look_at(NCCL, "mine.log", tab.run.scenario.given_cluster)
    assert diagnosis_below(lab.diagnosis, "mine.log") in answer["log"]["html"]
    assert verdict_html([verdict.as_dict() for verdict in lab.verdicts]) in answer["log"]["html"]
    assert answer["log"]["changes"] == way_to(tab.run.scenario, lab)
    assert "2 nodes" in answer["log"]["leads"]
    assert answer["log"]["says"] == "Compared with Alps GH200, which is chosen above."
    assert (
        "Choose the log's own above" in read(Tab(nodes=2), NCCL.replace("GH200 120GB", "GPU"))["log"]["says"]
    )
    led, _ = shown(tab, **answer["log"]["changes"])
    assert led["fields"]["nodes"] == 2


def test_the_points_of_a_log_stand_on_the_curves_until_it_is_removed(tmp_path):
    tab = Tab(cluster="alps-gh200", nodes=2)
    records = measured_library()["alps/nccl-2n8r-rdma"]
    table = records.table.assign(path="")  # as a log, which does not say its path
    Records(table, records.manifest).save(tmp_path / "run.csv")
    assert any(read(tab, (tmp_path / "run.csv").read_text())["measured"]["message_bytes"]["own"])
    shown(tab, path="host-rdma")
    measured = next(piece["measured"] for piece in everything(tab) if "measured" in piece)
    assert any(measured["message_bytes"]["own"])
    away = json.loads(tab.answer('{"kind": "no log"}')[0])["measured"]
    assert not any(away["message_bytes"]["own"])


def test_what_is_no_log_is_said_and_a_file_may_hold_bytes():
    tab = Tab(nodes=2)
    assert read(tab, "hello\nworld") == {"error": contains("mine.log: not the output of"), "about": "log"}
    held = b64encode(NCCL.encode()).decode()
    answer = tab.answer(json.dumps({"kind": "log", "name": "run.log", "base64": held}))[0]
    assert "run.log" in json.loads(answer)["log"]["html"]


def test_a_cluster_file_of_ones_own_is_offered_and_shown(own_folder):
    text = (
        (folder("data") / "hardware" / "dl1.toml")
        .read_text()
        .replace('title = "Gaudi DL1"', 'title = "Mine"')
    )
    tab = Tab(nodes=2)
    asked = {"kind": "cluster", "name": "../elsewhere/mine.toml", "text": text}
    offered = json.loads(tab.answer(json.dumps(asked))[0])["cluster"]
    assert (offered["name"], offered["title"], offered["past"]) == ("mine.toml", "Mine", ["peer-direct"])
    assert [file.name for file in own_folder.iterdir()] == ["mine.toml"]
    answer, _ = shown(tab, cluster="mine.toml", path="peer-direct")
    assert answer["fields"]["cluster"] == "mine.toml"
    for name, held, says in (
        ("mine.txt", text, "its name ends with .toml"),
        ("broken.toml", "no = [", "broken.toml"),
        (300 * "a" + ".toml", text, "is no name of a file"),
        ("\0.toml", text, "is no name of a file"),
    ):
        refused = json.loads(tab.answer(json.dumps({"kind": "cluster", "name": name, "text": held}))[0])
        assert says in refused["error"]


def test_a_link_sets_what_has_no_control_and_a_chip_takes_it_back():
    tab = Tab(nodes=2)
    fields = shown(tab, library="none", cache_regions="4")[0]["fields"]
    assert (fields["library"], fields["cache_regions"]) == ("none", 4)
    assert {*fields} - {*SHOWN} == {"library", "cache_regions"}
    assert "library" not in shown(tab, library=linkable()["library"]["usual"])[0]["fields"]


def test_a_hostile_log_is_inert():
    answer = read(
        Tab(nodes=2), NCCL.replace("GH200", "<img src=x onerror=alert(1)>"), "<script>alert(2)</script>"
    )
    assert "<img src=x" not in answer["log"]["html"]
    assert "<script" not in answer["log"]["html"]


class contains(str):  # noqa: N801
    """Equals every text that it is a part of."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return str(self) in other


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"nodes": 0}, "nodes"),
        ({"message_bytes": "nonsense"}, "'nonsense'"),
        ({"cluster": "<script>"}, "<script>"),
        ({"path": "native"}, "path"),
    ],
)
def test_what_is_impossible_is_said_and_the_last_picture_stays(changes, says):
    tab = Tab(nodes=2)
    answer, columns = shown(tab, **changes)
    assert says in answer["error"]
    assert columns == []
    assert tab.run.scenario.nodes == 2
    assert "data" in shown(tab, nodes=3)[0]


def test_what_takes_long_is_refused_with_its_forecast(monkeypatch):
    import peerlab.features.site.tab as module

    monkeypatch.setattr(module, "_forecast_s", lambda scenario: 2 * MOST_S if scenario.nodes == 64 else 0.0)
    answer, _ = shown(Tab(nodes=2), nodes=64)
    assert (
        answer["error"]
        == f"nodes: about {2 * MOST_S:.0f} s in a browser tab; open the notebook, or give fewer"
    )


def test_the_forecast_is_the_tabs_own_whatever_is_installed_here():
    # The arrays of this Python would take a hundredth of what plain Python in a tab takes.
    answer, _ = shown(Tab(nodes=2), cluster="juliet", nodes=256, jitter=0.1)
    assert re.match(r"nodes: about \d{3} s in a browser tab; open the notebook", answer["error"])


def test_without_numpy_noise_is_the_same_and_all_else_is_there(tmp_path):
    noise = {"jitter": 0.1, "spread": "0.05", "detours": "0.001", "ticks": "1000", "seed": "7"}
    asked = [noise, {"path": "peer-direct", "jitter": 0.0}, {"slow_nodes": {"1": 0.5}}]
    command = [sys.executable, "-c", WITHOUT_NUMPY, json.dumps(asked)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    noisy, direct, _ = map(json.loads, json.loads(done.stdout))
    tab = Tab(nodes=2)
    assert noisy == shown(tab, **noise)[0]
    assert noisy["fields"]["spread"] == 0.05
    assert noisy["fields"]["seed"] == 7
    assert direct == shown(tab, **asked[1])[0]


def test_the_list_of_noise_offers_each_kind_alone_as_much_as_is_assumed():
    words, fields = zip(*kinds_of_noise(), strict=True)
    assert words[:2] == ("no noise", "jitter 5 %")
    assert [list(kind) for kind in fields] == [[], *([name] for name in NOISE_KINDS)]


def test_a_curve_leaves_out_the_points_that_a_question_would_wait_for(monkeypatch):
    too_long = 1.01 * MOST_BESIDE_S
    monkeypatch.setattr(
        "peerlab.features.site.tab._forecast_s", lambda scenario: too_long if scenario.nodes > 8 else 0.0
    )
    tab = Tab(nodes=4)
    shown(tab, nodes=2)
    drawn = [piece["curves"] for piece in everything(tab) if "curves" in piece][-1]
    assert [[y is not None for y in line["y"]] for line in drawn["lines"]] == [
        [count <= 8 for count in line["x"]] for line in drawn["lines"]
    ]


READ_WITHOUT = """
import json, sys
sys.modules.update(dict.fromkeys(["numpy", "pandas", "bokeh", "scipy", "simpy", "tqdm", "yaml"]))
from peerlab.features.site.tab import Tab
tab = Tab(nodes=2)
for text in json.load(sys.stdin):
    print(tab.answer(json.dumps({"kind": "log", "name": "mine.log", "text": text}))[0])
"""


@pytest.mark.long("Python without numpy")
def test_without_numpy_and_pandas_a_log_says_the_same():
    logs = [
        text
        for name, text in vars(tool_logs).items()
        if name.isupper() and isinstance(text, str) and "\n" in text
    ]
    assert len(logs) > 15
    done = subprocess.run(
        [sys.executable, "-c", READ_WITHOUT],
        input=json.dumps(logs),
        capture_output=True,
        text=True,
        check=True,
    )
    tab = Tab(nodes=2)
    for text, answer in zip(logs, done.stdout.splitlines(), strict=True):
        assert json.loads(answer) == read(tab, text), text[:200]


def test_the_archive_of_a_tab_holds_all_that_its_modules_import(tmp_path, monkeypatch):
    """Sources alone, as where no node is: a Python that has nothing else answers."""
    from zipfile import ZipFile

    from peerlab.features.site.python_archive import python_archives

    monkeypatch.setenv("PATH", "")
    (tmp_path / "app.zip").write_bytes(python_archives({})["app.zip"])
    with ZipFile(tmp_path / "app.zip") as archive:
        archive.extractall(tmp_path / "app")
    script = WITHOUT_NUMPY.replace("from peerlab", "sys.path.insert(0, 'app'); from peerlab", 1)
    log = json.dumps({"kind": "log", "name": "mine.log", "text": NCCL})
    script += f"\nassert 'html' in tab.answer({log!r})[0]"
    script += "\nimport peerlab; print(peerlab.__file__, file=sys.stderr)"
    command = [sys.executable, "-c", script, "[{}]"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "data" in json.loads(json.loads(done.stdout)[0])
    assert Path(done.stderr.strip()).is_relative_to(tmp_path / "app") or done.stderr.startswith("app")
