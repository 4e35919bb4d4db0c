"""One file for records: what is written is read back as it was, and what is damaged is refused with its line."""

import dataclasses
import json
import math
import re
import string

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_logs import GOOD, NCCL, NCCL_JSON, OSU_BANDWIDTH

import peerlab
from peerlab.base.errors import RecordsError
from peerlab.model.collective import MEASURED
from peerlab.records import COLUMNS, Records, simulated

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
COUNTED = ("ranks", "nodes")
VALUES = {
    "str": TEXTS,
    "Int64": st.integers(0, 2**50),
    "Float64": st.floats(0, 1e30, allow_nan=False),
    "boolean": st.booleans(),
}
ROWS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["measured", "imported", "simulated"]),
        "collective": st.sampled_from(list(MEASURED)),
    },
    optional={
        name: st.integers(1, 4096) if name in COUNTED else VALUES[kind]
        for name, kind in COLUMNS.items()
        if name not in ("kind", "collective")
    },
)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


def same(one, other):
    pd.testing.assert_frame_equal(one.table, other.table, check_exact=True)
    assert dict(one.manifest) == dict(other.manifest)
    assert tuple(one.warnings) == tuple(other.warnings)


def refused(text):
    with pytest.raises(RecordsError) as caught:
        peerlab.load(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(rows=st.lists(ROWS, max_size=5), manifest=st.dictionaries(TEXTS, PLAIN, max_size=4), warnings=st.lists(TEXTS, max_size=3))  # fmt: skip
def test_whatever_is_saved_is_read_back(tmp_path_factory, rows, manifest, warnings):
    file = tmp_path_factory.mktemp("records") / "saved.csv"
    records = Records.of(rows, manifest, warnings)
    records.save(file)
    again = peerlab.load(file)
    kept, doubts = again.warnings[: len(warnings)], again.warnings[len(warnings) :]
    same(dataclasses.replace(again, warnings=kept), records)
    assert all(re.match("rows? [0-9]", doubt) for doubt in doubts)  # figures at random contradict one another
    again.save(file)
    same(peerlab.load(file), again)


@pytest.mark.parametrize("name", GOOD)
def test_every_log_is_the_same_after_saving(tmp_path, name):
    records = peerlab.load(GOOD[name])
    records.save(tmp_path / "saved.csv")
    same(peerlab.load(tmp_path / "saved.csv"), records)


def saved(tmp_path):
    file = tmp_path / "saved.csv"
    peerlab.load(NCCL).save(file)
    return file.read_text()


def test_a_damaged_file_is_refused_with_its_line(tmp_path):
    text = saved(tmp_path)
    row = next(i for i, line in enumerate(text.splitlines(), start=1) if line.startswith("imported"))
    assert (
        refused(text.replace("2.14e-05", "fast")) == f"pasted text: line {row}: time_s 'fast' is not a number"
    )
    assert refused(text.replace("2.14e-05", "1e400")).endswith("time_s '1e400' is not a number")
    assert refused(text.replace("2.14e-05", "2.14e-05,1")).startswith(f"pasted text: line {row}: ")
    assert "'maybe' is not true or false" in refused(text.replace(",true", ",maybe", 1))
    assert "'8.5' is not a whole number" in refused(text.replace(",8,", ",8.5,", 1))
    assert "did you mean 'time_s'" in refused(text.replace("time_s", "time_x", 1))
    assert "column kind is missing" in refused(text.replace("kind,", "rank,", 1))
    assert "stands there twice" in refused(text.replace("dtype,op", "dtype,dtype", 1))
    assert "collective 'gossip' is unknown" in refused(text.replace("allreduce,out", "gossip,out"))
    assert "ranks 0 is out of range" in refused(text.replace(",4,2,", ",0,2,", 1))


def test_a_damaged_head_is_refused(tmp_path):
    text = saved(tmp_path)
    assert "line 3: damaged" in refused(text.replace('"manifest"', "manifest", 1))
    assert "not a format that this version reads" in refused(text.replace("records 1", "records 9"))
    assert "hold no manifest" in refused("# peerlab records 1\n# []\n")
    assert "hold no list of warnings" in refused('# peerlab records 1\n# {"manifest":{},"warnings":[1]}\n')
    assert "NaN is not a number" in refused('# peerlab records 1\n# {"manifest":{"a":NaN},"warnings":[]}\n')
    assert "damaged" in refused("# peerlab records 1\n# " + "[" * 100_000 + "\n")


def test_what_cannot_be_written_is_said(tmp_path):
    with pytest.raises(RecordsError, match=r"cannot write .*: there is no folder"):
        peerlab.load(NCCL).save(tmp_path / "no" / "file.csv")
    with pytest.raises(RecordsError, match="the manifest holds what a file cannot"):
        Records.of([], {"figure": math.nan}).save(tmp_path / "file.csv")
    assert list(tmp_path.iterdir()) == []


def test_several_records_are_put_together_with_every_manifest():
    one, other = peerlab.load(NCCL), peerlab.load(OSU_BANDWIDTH)
    both = Records.together([one, other])
    assert len(both) == len(one) + len(other)
    assert both.sources == ["nccl-tests: pasted text", "osu: pasted text"]
    assert both.parts == [dict(one.manifest), dict(other.manifest)]
    assert both.manifest["nodes"] == 2
    assert "tool" not in both.manifest
    assert Records.together([both, one]).parts == [
        dict(one.manifest),
        dict(other.manifest),
        dict(one.manifest),
    ]
    assert Records.together([one]) is one
    with pytest.raises(RecordsError, match="no records"):
        Records.together([])


def test_a_warning_keeps_its_log_however_often_records_are_put_together(tmp_path):
    (tmp_path / "ring.log").write_text(NCCL)
    (tmp_path / "cut.log").write_text(NCCL.rpartition("# Out")[0].rstrip())
    one, cut = (peerlab.load(tmp_path / name) for name in ("ring.log", "cut.log"))
    (warning,) = cut.warnings
    assert one.warnings == ()
    both = Records.together([one, cut])
    both.save(tmp_path / "both.csv")
    again = Records.together([peerlab.load(tmp_path / "both.csv")] * 2)
    assert again.warnings == both.warnings == (f"nccl-tests: cut.log: {warning}",)
    more = Records.together([both.on_nodes(2), one])
    assert more.warnings[:1] == both.warnings


def test_a_row_says_what_is_wrong_with_it():
    row = {"kind": "measured", "collective": "allreduce"}
    with pytest.raises(RecordsError, match="unknown column 'speed'"):
        Records.of([row | {"speed": 1}])
    with pytest.raises(RecordsError, match="kind 'guessed' is unknown"):
        Records.of([row | {"kind": "guessed"}])
    with pytest.raises(RecordsError, match="does not fit its column"):
        Records.of([row | {"time_s": "soon"}])
    for name, value in (
        ("ranks", 0),
        ("nodes", 0),
        ("size_bytes", -8),
        ("time_s", -1.0),
        ("time_s", math.inf),
    ):
        with pytest.raises(RecordsError, match=f"{name} {value} is out of range"):
            Records.of([row | {"size_bytes": 8, "time_s": 1e-5, "ranks": 2, name: value}])


def test_a_bandwidth_beyond_all_numbers_is_none():
    row = {"kind": "measured", "collective": "allreduce", "size_bytes": 10**9, "time_s": 1e-308, "ranks": 2}
    assert Records.of([row]).table["algbw_GBps"].isna().all()


@pytest.mark.parametrize(
    "manifest",
    [
        '{"parts": 5, "hosts": 7}',
        '{"parts": [5], "hosts": [{"a": 1}], "transport": {"b": [1]}, "command": 5}',
        '{"parts": [{"parts": [[]], "hosts": "anvil"}]}',
    ],
)
def test_a_manifest_from_outside_may_hold_anything(manifest):
    about = f'# peerlab records 1\n# {{"manifest": {manifest}, "warnings": []}}\n'
    records = peerlab.load(f"{about}kind,source,collective,variant,size_bytes\nimported,run,allreduce,,8\n")
    assert all(isinstance(part, dict) for part in records.parts)
    assert "8 B" in records._repr_html_()
    assert records.anonymised().sources == ["run"]


def test_a_manifest_nested_deeply_is_not_anonymised():
    deep: dict = {}
    for _ in range(2000):
        deep = {"in": deep}
    with pytest.raises(RecordsError, match="nested too deeply"):
        Records.of([], deep).anonymised()


def test_a_simulated_run_and_a_sweep_are_records_too():
    run = peerlab.simulate(peerlab.Scenario(nodes=2, path="peer-direct"))
    [row] = simulated([run.as_dict()]).table.to_dict("records")
    assert (row["kind"], row["size_bytes"], row["ranks"]) == ("simulated", 64 * 2**20, 16)
    assert row["time_s"] == run.time_s
    assert row["busbw_GBps"] == pytest.approx(run.busbw_GBps)
    assert row["hits"] == run.registration.hits
    table = peerlab.sweep(nodes=[2, 4], path=["native", "peer-direct"], progress=False)
    found = simulated(table.to_dict("records"))
    assert list(found.table["nodes"]) == [2, 4]  # native is impossible on DL1
    assert found.manifest["cluster"] == "dl1"


HOSTILE = '<script>alert(1)</script><img src=x onerror="x">'


def test_a_page_shows_kinds_units_and_no_markup_from_outside():
    text = NCCL.replace("anvil01", "<script>alert(1)</script>").replace("GH200", '<img src=x onerror="x">')
    page = peerlab.load(text)._repr_html_()
    assert "imported from a log" in page
    assert "30 GB/s" in page
    assert "1.68 ms" in page
    assert "32 MiB" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not any(mark in page for mark in ("<script", "<img"))
    rows = [
        {
            "kind": "measured",
            "collective": "allreduce",
            "source": HOSTILE,
            "path": HOSTILE,
            "variant": HOSTILE,
        }
    ]
    assert not any(
        m in Records.of(rows, {"hosts": [HOSTILE]}, [HOSTILE])._repr_html_() for m in ("<script", "<img")
    )


def test_a_long_table_is_cut_on_a_page_and_says_so():
    sizes = range(1, 251)
    rows = [
        {"kind": "measured", "collective": "allreduce", "size_bytes": size, "time_s": 1.0} for size in sizes
    ]
    page = Records.of(rows)._repr_html_()
    assert page.count("<tr>") == 201
    assert "50 more rows not shown" in page


@pytest.mark.parametrize("text", ["ß漢字🙂" + string.punctuation, " 'quoted', ", "a\tb"])
def test_every_letter_is_kept(tmp_path, text):
    row = {"kind": "measured", "collective": "allreduce", "source": text}
    Records.of([row], {"note": text}).save(tmp_path / "saved.csv")
    again = peerlab.load(tmp_path / "saved.csv")
    assert (again.sources, again.manifest["note"]) == ([text], text)


SPOOFED = "out\x1b]0;PWNED\x07\x1b[2J\u202eof\r\nplace"


def test_text_is_one_line_that_tells_a_terminal_nothing(tmp_path):
    file = tmp_path / "odd.csv"
    about = json.dumps({"manifest": {"hosts": [SPOOFED], SPOOFED: {"a": SPOOFED}}, "warnings": [SPOOFED]})
    file.write_text(
        f'# peerlab records 1\n# {about}\nkind,source,collective,variant,size_bytes\nimported,"{SPOOFED}",allreduce,"{SPOOFED}",8\n',
        newline="",
    )
    found, clean = peerlab.load(file), "outof place"
    assert (found.sources, list(found.table["variant"])) == ([clean], [clean])
    assert found.manifest == {"hosts": [clean], clean: {"a": clean}}
    assert found.warnings == (clean,)
    in_json = NCCL_JSON.replace('"float"', json.dumps(SPOOFED)).replace("anvil01", json.dumps(SPOOFED)[1:-1])
    assert set(peerlab.load(in_json).table["dtype"]) == {clean}
    assert peerlab.load(in_json).manifest["hosts"][0] == clean


def test_a_file_with_the_line_ends_of_windows_is_read(tmp_path):
    text = saved(tmp_path)
    same(peerlab.load(text.replace("\n", "\r\n")), peerlab.load(text))


OVER_SOCKETS = """# peerlab records 1
# {
#  "manifest": {
#   "tool": "peerlab",
#   "version": "0.1.0",
#   "test": "ring AllReduce",
#   "hosts": ["node-0"],
#   "command": "peerlab measure --ranks 2 --sizes 64KiB --arms staged,tcp --registrations none --repetitions 1 --slice 256KiB --pins mlock --sockets",
#   "ranks": 2,
#   "nodes": 1,
#   "transport": ["TCP sockets of the kernel", "tcp: device memory -> TCP -> device memory"],
#   "a_a_ratio": {"2 ranks, 64 KiB": 1.204}
#  },
#  "warnings": []
# }
kind,source,collective,variant,size_bytes,dtype,op,ranks,nodes,path,registration,slice_bytes,repetition,rank,time_s,algbw_GBps,busbw_GBps,user_s,system_s,copied_bytes,correct
measured,peerlab,allreduce,,65536,float32,sum,2,1,staged,none,262144,0,0,0.00027624,0.237243,0.237243,9.3e-05,1.3e-05,262144,true
measured,peerlab,allreduce,,65536,float32,sum,2,1,tcp,none,262144,0,0,0.00014628,0.448018,0.448018,3.2e-05,4.9e-06,131072,true
measured,peerlab,allreduce,A/A,65536,float32,sum,2,1,staged,none,262144,0,0,0.00022948,0.285585,0.285585,7.8e-05,1.1e-05,262144,true
"""
"""What `peerlab measure --sockets --save` of 0.1.0 wrote, shortened; the option is gone."""


def test_records_that_0_1_0_measured_over_sockets_are_read_and_compared(tmp_path):
    (tmp_path / "mine.csv").write_text(OVER_SOCKETS)
    records = peerlab.load(tmp_path / "mine.csv")
    assert records.manifest["command"].endswith(" --sockets")
    assert [one.ratio for one in peerlab.ratios(records, only="tcp").found if one.path == "tcp"] == [
        pytest.approx(276.24 / 146.28)
    ]
    assert "TCP sockets of the kernel" in records._repr_html_()
