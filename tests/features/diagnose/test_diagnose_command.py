"""`peerlab diagnose`."""

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import peerlab_command
from logs import NCCL_TCP_US
from tool_logs import HCCL_RANGE

import peerlab
from peerlab.base.document import Document, Item, Items, Text, document_markdown
from peerlab.diagnosis.knowledge import knowledge
from peerlab.features.diagnose.diagnose_command import _judging

HEAD = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1
# Using devices
#  Rank  0 Group  0 Pid 202829 on  nid005471 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  1 Group  0 Pid 202830 on  nid005471 device  1 [0019:01:00] NVIDIA GH200 120GB
#  Rank  2 Group  0 Pid 154517 on  nid005487 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  3 Group  0 Pid 154518 on  nid005487 device  1 [0019:01:00] NVIDIA GH200 120GB
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
LINE = "{0:12} {1:12}     float     sum      -1  {2:.2f}  {3:.2f}  {4:.2f}      0  {2:.2f}  {3:.2f}  {4:.2f}      0\n"


@pytest.fixture
def log(tmp_path):
    rows = [
        LINE.format(size, size // 4, us, size / us / 1e3, 1.5 * size / us / 1e3)
        for size, us in NCCL_TCP_US.items()
    ]
    path = tmp_path / "nccl.log"
    path.write_text(HEAD + "".join(rows))
    return path


def run(*arguments, columns=80):
    return peerlab_command("diagnose", *arguments, COLUMNS=str(columns))


def test_the_paths_fit_a_narrow_terminal_and_points_say_how_much_they_are(log):
    _, out, _ = run(log, columns=60)
    assert max(map(len, out.splitlines())) <= 60
    assert "10 times likelier (+2.3)" in " ".join(out.split())
    assert "2.3 points are 10 times likelier" in " ".join(out.split())


@pytest.mark.parametrize("columns", [80, 120])
def test_the_answer_says_path_evidence_forecast_and_what_to_do_next(log, columns):
    status, out, _ = run(log, columns=columns)
    flat = " ".join(out.split())
    assert status == 0
    assert (
        "nccl-tests: allreduce out-of-place, 4 ranks, 2 nodes, buffers in device memory, 8 B to 128 MiB"
        in flat
    )
    assert "; recognised: `alps-gh200`, `alps-gh200-tcp`" in flat
    assert flat.startswith(
        "Kernel TCP, clear: Through host memory and the kernel's TCP/IP; it explains the log "
    )
    assert "host-tcp" not in flat  # a path has one name, that of every page
    assert "this path explains it" in flat
    assert "Simulated on alps-gh200" in flat
    assert "peerlab doctor" in flat


def test_a_gain_that_the_log_s_own_machine_cannot_have_says_of_which_hardware_it_is(log):
    """The log fits Alps over TCP, which has no direct path; the gain is that of Alps with its RDMA."""
    _, out, _ = run(log)
    flat = " ".join(out.split())
    gain = flat[flat.index("What would Peer Direct gain?") : flat.index("Each size")]
    assert " as fast with Peer Direct at 128 MiB, on hardware that has it, as Alps GH200; " in gain
    assert "The log fits Alps GH200, NCCL over TCP. That has no direct path: " in gain
    assert gain.rstrip().endswith("with it, see Alps GH200.")
    _, out, _ = run(log, "--cluster", "alps-gh200")
    assert "on hardware that has it" not in " ".join(out.split())


def test_markdown_says_the_same_and_a_log_can_put_no_sign_into_it(log):
    log.write_text(log.read_text().replace("      262144 ", "      262,1*_`|x "))
    status, out, _ = run(log, "--markdown")
    head, verdict, *rest = out.split("\n\n")
    assert (status, head) == (0, "## Which data path is nccl.log from?")
    assert verdict.startswith("**Kernel TCP, ")
    assert any(
        "| path | odds | measured ÷ simulated (1\u00d7 fits) |\n| :-- | --: | :-- |" in block
        for block in rest
    )
    assert r"count '262,1\*\_\`\|x' is not a whole number" in out
    assert "`peerlab doctor`" in out  # a command is copied as it stands
    assert "| Kernel TCP |" in out
    assert "host-tcp" not in out


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("<script>a`b|~.log", r"\<script\>a\`b\|\~.log"),
        ("a\x1b[31m\n# b.log", r"a\\x1b\[31m\\n\# b.log"),
        ("\udcff.log", r"\\udcff.log"),
        ("-x.log", "-x.log"),
    ],
)
def test_the_name_of_a_file_puts_no_sign_into_markdown(log, name, title):
    status, out, problem = run("--markdown", "--", log.rename(log.with_name(name)))
    assert (status, problem) == (0, "")
    assert out.splitlines()[0] == f"## Which data path is {title} from?"


def test_a_command_with_backquotes_stays_code_in_markdown():
    checks = (
        Items("", [Item("is it well?", "", "peerlab expect --log 'a`b'"), Item("ports", "", "`ibstat`")]),
    )
    out = document_markdown(Document("a & b", checks))
    assert out.startswith("## a \\& b\n")
    assert "\n  `` peerlab expect --log 'a`b' ``" in out
    assert "\n  `` `ibstat` ``" in out


def test_a_command_inside_words_stays_code_in_markdown():
    parts = (Items("", [Item("a NIC", "`A=1 b_c`: which *NICs*; `ibstat`, a lone `")]), Text("`x|y` <b>"))
    out = document_markdown(Document("", parts))
    assert "\n  `A=1 b_c`: which \\*NICs\\*; `ibstat`, a lone \\`\n" in out
    assert out.endswith("`x|y` \\<b\\>\n")


def test_the_command_that_judges_takes_any_name():
    options = argparse.Namespace(log=Path("-x y.log"), cluster=None, nodes=2)
    assert _judging(options) == "peerlab expect --log './-x y.log' --nodes 2"


def test_json_says_the_same(log):
    _, out, _ = run(log, "--json")
    found = json.loads(out)
    assert found["path"] == "host-tcp" == found["ranking"][0]["path"]
    assert found["clusters"] == ["alps-gh200", "alps-gh200-tcp"]
    assert len(found["forecast"]["peer_direct_GBps"]) == len(found["forecast"]["message_bytes"]) > 0
    assert all(
        low <= high
        for low, high in zip(found["forecast"]["low_GBps"], found["forecast"]["high_GBps"], strict=True)
    )


def test_a_cluster_of_ones_own_choice_is_taken(log):
    _, out, _ = run(log, "--cluster", "alps-gh200-tcp")
    assert "; compared with `alps-gh200-tcp`" in out
    assert "alps-gh200-tcp has no Peer Direct" in out


@pytest.mark.parametrize("text", ["", "hello\n", "#       size\n", "\x00\x01"])
def test_what_is_no_log_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "odd.log"
    path.write_text(text)
    status, out, err = run(path)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("peerlab: ")


def test_a_log_that_does_not_name_its_nodes_is_told_how_many(tmp_path):
    """One table is all that is left of a run on four nodes: without their number it is read as two."""
    path = tmp_path / "bare.log"
    rows = ((8, 120.0), (2**28, 1400.0), (2**29, 2750.0), (2**30, 5400.0))
    table = [
        f"{size} {size // 4} float sum -1 {us} {size / us / 1e3:.2f} {size / us / 1e3 * 62 / 32:.2f} 0"
        for size, us in rows
    ]
    path.write_text("# size count type redop root time algbw busbw #wrong\n" + "\n".join(table) + "\n")
    _, out, _ = run(path, "--json")
    assert "ranks, buffers" in json.loads(out)["log"]
    _, out, _ = run(path, "--json", "--nodes", "4")
    found = json.loads(out)
    assert "32 ranks, 4 nodes" in found["log"]
    assert any("a node sends 298 GB/s" in one["seen"] for one in found["evidence"])
    for wrong in ("0", "64", "many"):
        status, out, err = run(path, "--nodes", wrong)
        assert (status, out, err.count("\n")) == (1, "", 1)
        assert "nodes" in err


def test_what_reading_the_log_found_is_told(log):
    log.write_text(log.read_text().replace("      262144 ", "      262,144x "))
    flat = " ".join(run(log)[1].split())
    assert "What reading the log found * line 15: left out: count '262,144x' is not a whole number" in flat
    assert json.loads(run(log, "--json")[1])["warnings"][0] in flat
    page = peerlab.diagnose(peerlab.load(log))._repr_html_()
    assert "What reading the log found" in page
    assert "line 15: left out: count &#x27;262,144x&#x27;" in page


def test_a_saved_table_tells_the_terminal_nothing(log, tmp_path):
    saved = tmp_path / "saved.csv"
    peerlab.load(log).save(saved)
    saved.write_text(saved.read_text().replace("out-of-place", "\x1b]0;PWNED\x07\x1b[2J\u202eout"))
    status, out, _ = run(saved)
    assert status == 0
    assert "allreduce out, 4 ranks" in " ".join(out.split())
    assert not any(mark in out for mark in ("\x1b", "\x07", "\u202e", "PWNED"))


def test_a_log_that_is_not_there_and_a_cluster_that_nobody_knows(log, tmp_path):
    status, _, err = run(tmp_path / "no.log")
    assert (status, err.count("\n")) == (1, 1)
    status, _, err = run(log, "--cluster", "dl2")
    assert status == 1
    assert "did you mean 'dl1'?" in err


def test_the_gain_is_a_range_and_each_path_has_one_name(log):
    report = peerlab.diagnose(peerlab.load(log))._repr_html_()
    page = re.sub("<style>.*?</style>", "", report, flags=re.DOTALL)
    answer = re.search(r"<p class='pl-answer'><b>([\d.]+) to ([\d.]+)(.) as fast</b>", page)
    assert answer[3] == "\N{MULTIPLICATION SIGN}"
    assert float(answer[1]) < float(answer[2])
    assert "host-tcp" not in page
    assert "peer-direct" not in page
    assert "measured \N{DIVISION SIGN} simulated" in page
    checks = re.findall(r"<li><b>(.*?)</b><div><code class='pl-command'>", page)
    assert "Can these hosts do Peer Direct at all?" in checks


def test_odds_never_add_up_to_more_than_all_and_only_nothing_is_none(log):
    page = peerlab.diagnose(peerlab.load(log))._repr_html_()
    odds = re.findall(r"<td><span class='pl-bar'[^>]*></span> ([^<]*)</td>", page.replace("&lt;", "less"))
    whole = [int(share.split()[0]) for share in odds if share[0].isdigit()]
    assert len(odds) >= 3
    assert {share for share in odds if not share[0].isdigit()} <= {"less 1 %", "&gt; 99 %"}
    assert sum(whole) <= 100


def test_what_to_check_is_typed_as_it_stands_or_has_no_command():
    """A chip holds what is typed, a tool or a setting: prose stands below it."""
    tools = {"peerlab", "ib_write_bw", "osu_bw", "nvbandwidth", "iperf3", "hccl_demo"}
    checks = [advice.check for advice in knowledge().checks]
    assert all(check.tells for check in checks)
    page = peerlab.diagnose(peerlab.load(HCCL_RANGE))._repr_html_()
    assert "<li>A second node: run the same benchmark on two; only then does anything pass a NIC" in page
    first = {check.command.split()[0] for check in checks if check.command}
    assert {word for word in first if "=" not in word} == tools


def test_which_path_it_was_is_no_judgement_and_has_no_sign(log):
    page = peerlab.diagnose(peerlab.load(log))._repr_html_()
    assert "<p class='pl-verdict pl-named'><b>Kernel TCP, clear</b>" in page


def test_how_well_each_path_explains_a_log_is_folded_where_the_path_is_clear(log):
    folded = "<details><summary>How well each path explains it</summary><table"
    seen = peerlab.diagnose(peerlab.load(log))
    assert folded in seen._repr_html_()
    doubted = replace(seen, verdict="probable")._repr_html_()
    assert folded not in doubted
    assert "How well each path explains it</caption>" in doubted


def test_a_gain_has_no_digit_that_its_range_denies_and_its_unit_is_said_once(log):
    page = peerlab.diagnose(peerlab.load(log))._repr_html_()
    low, high = re.search(r"<p class='pl-answer'><b>([\d.]+) to ([\d.]+). as fast</b>", page).groups()
    assert float(high) > 1.5 * float(low)
    assert all(len(end.replace(".", "").lstrip("0")) == 2 for end in (low, high))
    table = re.search(r"<details><summary>Each size: algorithm bandwidth.*?</table>", page, re.DOTALL)[0]
    assert table.count("GB/s") == 1
    assert all(len(gain.replace(".", "")) == 2 for gain in re.findall(r"<b>([\d.]+)\W</b>", table))
