"""What people paste: other line ends, encodings and notations, logs torn, mixed and put together."""

import gzip
import re

import pytest
from tool_logs import (
    HCCL,
    HCCL_OPENSHIFT,
    HCCL_RANGE,
    NCCL,
    NCCL_JSON,
    NCCOM,
    OSU_ALLTOALL,
    OSU_BANDWIDTH,
    OSU_LATENCY,
)

import peerlab
from peerlab.base.errors import RecordsError

LINES = NCCL.splitlines()
ROW = LINES[15]
OSU = OSU_LATENCY.splitlines()


def joined(lines):
    return "\n".join(lines) + "\n"


def wrapped(text, width):
    return joined(
        line[at : at + width] for line in text.splitlines() for at in range(0, max(len(line), 1), width)
    )


SAME = {
    "tabs": (NCCL, re.sub(" {2,}", "\t", NCCL)),
    "spaces of a web page": (NCCL, NCCL.replace("  ", "\u00a0 ")),
    "line ends of Windows": (NCCL, NCCL.replace("\n", "\r\n")),
    "line ends of an old Mac": (NCCL, NCCL.replace("\n", "\r")),
    "UTF-16": (NCCL, NCCL.encode("utf-16")),
    "UTF-16, the other way round": (NCCL, b"\xfe\xff" + NCCL.encode("utf-16-be")),
    "UTF-8 with a mark": (NCCL, b"\xef\xbb\xbf" + NCCL.encode()),
    "JSON with a mark, pasted": (NCCL_JSON, "\ufeff" + NCCL_JSON),
    "labels of mpirun": (NCCL, joined(f"[1,0]<stdout>:{line}" for line in LINES)),
    "labels of Open MPI 5": (NCCL, joined(f"[prterun-anvil01-1204@1,0]<stdout>: {line}" for line in LINES)),
    "labels of mpiexec": (NCCL, joined(f"[0] {line}" for line in LINES)),
    "labels of pdsh": (NCCL, joined(f"anvil01: {line}" for line in LINES)),
    "labels of docker compose": (NCCL, joined(f"launcher-1  | {line}" for line in LINES)),
    "labels of pods": (NCCL, joined(f"[pod/nccl-launcher-x7/main] {line}" for line in LINES)),
    "times": (
        NCCL,
        joined(f"2026-01-02 03:04:{place % 60:02d},{place} {line}" for place, line in enumerate(LINES)),
    ),
    "a journal": (
        NCCL,
        joined(
            f"Jan  2 03:04:{place % 60:02d} anvil01 nccl[{place}]: {line}" for place, line in enumerate(LINES)
        ),
    ),
    "times of mpirun": (
        NCCL,
        joined(
            f"Fri Jan  2 03:04:{place % 60:02d} 2026[1,0]<stdout>:{line}" for place, line in enumerate(LINES)
        ),
    ),
    "times, of OSU": (OSU_LATENCY, joined(f"[03:04:05] {line}" for line in OSU)),
    "a quotation": (NCCL, joined(f"> {line}" for line in LINES)),
    "thousands": (NCCL, NCCL.replace("33554432  ", "33,554,432").replace(" 524288 ", " 524,288")),
    "thousands in hccl_demo": (HCCL, HCCL.replace("33554432", "33,554,432")),
    "indented, as in a page": (NCCL, joined(f"    [1,0]<stdout>:{line}" for line in LINES)),
    "indented, of OSU": (OSU_LATENCY, joined(f"    {line}" for line in OSU)),
    "a page around it": (OSU_LATENCY, f"# Network\n\n{OSU_LATENCY}\n1. Build it\nversion: 7.5\n2. Run it\n"),
    "no row of units": (NCCL, joined(line for line in LINES if "(B)" not in line)),
    "a trimmed list of ranks": (NCCL, joined(line for line in LINES if "anvil02 device" not in line)),
    "powers of ten": (OSU_LATENCY, OSU_LATENCY.replace("166.81", "1.6681e2")),
    "bandwidths in GiB/s": (NCCOM, NCCOM.replace("GB/s", "GiB/s")),
    "text before every line of a block": (HCCL, joined(f"node7 | {line}" for line in HCCL.splitlines())),
}


@pytest.mark.parametrize("name", SAME)
def test_what_looks_odd_is_read_as_it_is_meant(tmp_path, name):
    plain, odd = SAME[name]
    if isinstance(odd, bytes):
        (tmp_path / "odd.log").write_bytes(odd)
        odd = tmp_path / "odd.log"
    told = ["source", "nodes"]  # of a trimmed list of ranks the command says the nodes
    assert peerlab.load(odd).table.drop(columns=told).equals(peerlab.load(plain).table.drop(columns=told))
    assert not any("left out" in one or "doubtful" in one for one in peerlab.load(odd).warnings)


def test_a_driver_that_names_no_accelerator_leaves_the_ranks_and_hosts():
    found = peerlab.load(NCCL.replace(" NVIDIA GH200 120GB", " "))
    assert (found.manifest["ranks"], found.manifest["nodes"], found.manifest["devices"]) == (4, 2, [])
    assert not any("left out" in one for one in found.warnings)


TOLD = {
    "a negative size": (
        NCCL,
        NCCL.replace(" 524288 ", " -524288 "),
        "line 16: left out: '-524288' is not a size",
    ),
    "no number": (NCCL, NCCL.replace("150.00", "nan"), "line 16: left out: time 'nan' is not a number"),
    "no end": (NCCL, NCCL.replace("150.00", "inf"), "line 16: left out: time 'inf' is not a number"),
    "too large a number": (
        NCCL,
        NCCL.replace("150.00", "1e400"),
        "line 16: left out: time '1e400' is not a number",
    ),
    "too large a size": (
        NCCL,
        NCCL.replace(" 524288 ", f" {10**19} "),
        f"line 16: left out: '{10**19}' is not a size",
    ),
    "digits of another script": (
        NCCL,
        NCCL.replace("150.00", "１５０.００"),  # noqa: RUF001
        "line 16: left out: time '１５０.００' is not a number",  # noqa: RUF001
    ),
    "a time of 0": (
        NCCL,
        NCCL.replace("150.00", "  0.00"),
        "line 16: doubtful: out-of-place: 524288 B in 0 s are inf",
    ),
    "a wrapped row": (
        NCCL,
        NCCL.replace(ROW, f"{ROW[:70]}\n{ROW[70:]}"),
        "line 16: left out: 7 of 13 columns",
    ),
    "another process in a row": (
        NCCL,
        NCCL.replace(ROW, f"{ROW[:60]}anvil01:1:1 [0] NCCL INFO Launch mode Parallel\n{ROW[60:]}"),
        "line 16: left out: 12 of 13 columns",
    ),
    "another process before a row": (
        NCCL,
        NCCL.replace(ROW, f"anvil01:1:1 [0] NCCL INFO Launch mode Parallel {ROW}"),
        "line 16: left out: 20 words for 13 columns",
    ),
    "the end missing": (NCCL, NCCL[: NCCL.index("150.00") + 3], "line 16: left out: 6 of 13 columns"),
    "a head below a row": (
        OSU_LATENCY,
        joined([*OSU[:2], OSU[5], OSU[3], *OSU[6:]]),
        "line 3: left out: no head of a table",
    ),
    "two ranks' lines": (
        OSU_LATENCY,
        joined(f"{rank}: {line}" for line in OSU[1:] for rank in (0, 1)),
        "line 10: doubtful: its size 1 follows 1 in line 9",
    ),
    "two ranks' blocks": (
        HCCL,
        joined(f"{rank}: {line}" for line in HCCL.splitlines() for rank in (0, 1)),
        "line 9: left out: neither a bandwidth nor a latency",
    ),
    "a size with its unit": (
        NCCOM,
        NCCOM.replace("1073741824 ", "1GiB "),
        "line 5: left out: '1GiB' of type 'fp32'",
    ),
    "a unit missing": (
        HCCL_RANGE,
        HCCL_RANGE.replace("110.000000 GB/s", "110.000000"),
        "line 9: left out: 9 of 10 columns",
    ),
    "a rank twice": (
        NCCL,
        NCCL.replace("Rank  3", "Rank  2"),
        "line 10: left out: rank 2 stands there twice",
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_cannot_be_meant_is_told_and_no_figure_is_another(name):
    plain, text, said = TOLD[name]
    found = peerlab.load(text)
    assert any(one.startswith(said) for one in found.warnings), found.warnings
    figures = ["size_bytes", "variant", "time_s", "algbw_GBps", "busbw_GBps"]
    good = set(peerlab.load(plain).table[figures].astype(str).itertuples(index=False))
    others = set(found.table[figures].astype(str).itertuples(index=False)) - good
    assert len(others) <= ("doubtful" in said)
    peerlab.diagnose(found)


REFUSED = {
    "decimal commas": (re.sub(r"(\d)\.(\d\d)\b", r"\1,\2", NCCL), "line 15: time '21,40' is not a number"),
    "decimal commas in OSU": (
        re.sub(r"(\d)\.(\d\d)\b", r"\1,\2", OSU_BANDWIDTH),
        "line 5: Bandwidth '0,90' is not",
    ),
    "wrapped lines": (wrapped(NCCL, 80), "without a row of figures; line 24: 8 of 9 columns"),
    "wrapped lines of OSU": (wrapped(OSU_ALLTOALL, 60), "without a row of figures; line 6: 4 of 5 columns"),
    "nothing but nan": (re.sub(r"\b\d+\.\d\d\b", "nan", NCCL), "line 15: time 'nan' is not a number"),
    "a table of a page": (joined(f"| {' | '.join(line.split())} |" for line in LINES), "not the output of"),
    "cells between commas": (joined(",".join(line.split()) for line in LINES[12:]), "not the output of"),
    "of Intel's benchmarks": (
        "       #bytes #repetitions  t_avg[usec]\n            4         1000         1.23\n",
        "it looks like IMB (the Intel MPI benchmarks)'s",
    ),
    "compressed": (gzip.compress(NCCL.encode()), "compressed with gzip; unpack it first (gunzip)"),
    "UTF-16 without a mark": (NCCL.encode("utf-16-le"), "a binary file; a log is text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_can_read_is_refused_in_one_line(tmp_path, name):
    odd, said = REFUSED[name]
    (tmp_path / "odd.log").write_bytes(odd if isinstance(odd, bytes) else odd.encode())
    with pytest.raises(RecordsError, match=re.escape(said)) as caught:
        peerlab.load(tmp_path / "odd.log")
    assert "\n" not in str(caught.value)


def test_two_logs_in_one_file_are_two_tests():
    both = peerlab.load(NCCL + joined(LINES[4:])).table
    one = peerlab.load(NCCL).table
    assert len(both) == 2 * len(one)
    assert both.head(len(one)).equals(one)
    assert list(peerlab.load(HCCL + HCCL_OPENSHIFT).table["collective"]) == ["allreduce", "reduce-scatter"]


def test_a_time_of_the_processor_contradicts_no_bandwidth():
    """Bandwidths follow from the time of the device, also where -C 1 has the processor's printed."""
    text = NCCL.replace("   time   algbw", "cputime  algbw").replace("150.00", " 15.00")
    assert not any("doubtful" in one for one in peerlab.load(text).warnings)
