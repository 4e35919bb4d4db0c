"""Whatever is handed over: records or one line, in bounded memory and time; never another error."""

import sys
import time
import tracemalloc
import unicodedata

import pytest
from drawing import SOAK
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_logs import GOOD, NCCL, NCCL_JSON, OSU_CRASHED, OSU_LATENCY

import peerlab
from peerlab.base.errors import RecordsError
from peerlab.records.load import _READERS, DEFECT
from peerlab.records.text import MOST_BYTES, MOST_LINES, log_of

MANY = 10 if SOAK else 1
EXAMPLES = settings.default.max_examples
"""A reader takes a millisecond: many times as many texts are read as other laws have examples."""
"""1,600 inputs, others in every run, in a long trial 48,000: half of them damaged logs, a quarter each words of logs and random text."""

NASTY = (
    *(
        "<script>alert(1)</script>",
        "&lt;",
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x1b[",
        "1e400",
        "-1",
        "nan",
        "inf",
        "N/A",
    ),
    *(
        "9" * 5000,
        "0" * 300,
        "0x10",
        "1_000",
        "١٢",
        "²",
        "1e99",
        "1e-99",
        "+5",
        "--",
        "''",
        '"',
        "'",
        "\\",
        ",",
        "\t",
    ),
    *(
        "\r",
        "\n",
        "\r\n",
        "\v",
        "\f",
        "\u2028",
        "\ufeff",
        "\u202e",
        "\ud800",
        "🙂",
        "{",
        "[",
        "[[[[",
        "}",
        "null",
        "#",
    ),
    *(
        "# ",
        "0: ",
        "[1,0]<stdout>:",
        "> ",
        "size count type",
        "float",
        "[BENCHMARK]",
        "$ srun -N",
        "-N 0",
        "-np 0",
    ),
    *(
        "via NET/",
        "=",
        "ppr:0:node",
        "HCCL_NRANKS=0",
        "HCCL_NRANKS=999999",
        "Rank 0",
        "GB/s",
        "ms",
        "all_reduce,0,",
    ),
)
TEXTS = (*GOOD.values(), OSU_CRASHED)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "insert", "replace", "double", "swap", "end"]),
        st.floats(0, 1),
        st.floats(0, 1),
        st.sampled_from(NASTY) | st.characters().map(str),
    ),
    min_size=1,
    max_size=6,
)
WORDS = st.lists(
    st.sampled_from([word for text in TEXTS for word in text.split(" ") if word]) | st.sampled_from(NASTY) | st.just("\n"),
    max_size=60,
)  # fmt: skip


def edited(text, edits):
    """Return a log after some accidents; places are fractions of its length."""
    for what, first, second, token in edits:
        start, end = sorted((int(first * len(text)), int(second * len(text))))
        end = min(end, start + 200)
        text = {
            "cut": text[:start] + text[end:],
            "insert": text[:start] + token + text[start:],
            "replace": text[:start] + token + text[start + len(token) :],
            "double": text[:end] + text[start:end] + text[end:],
            "swap": text[end:] + text[start:end] + text[:start],
            "end": text[:start],
        }[what]
    return text + "\n"


def answered(text):
    """Load a text; check that it gives sound rows, or one line of words."""
    try:
        records = peerlab.load(text)
    except RecordsError as problem:
        said = str(problem)
        assert 0 < len(said) < 700
        assert DEFECT not in said
        assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in said)
        return None
    table = records.table
    assert len(table) > 0
    assert (table["size_bytes"].dropna() >= 0).all()
    assert (table["ranks"].dropna() >= 1).all()
    for name in ("time_s", "algbw_GBps", "busbw_GBps"):
        assert table[name].dropna().between(0, float("inf"), inclusive="left").all()
    assert not any(len(str(one)) > 400 for one in records.manifest["transport"])
    return records


def first_reader(text):
    """Return the module that reads a log, as `read_log` chooses it."""
    log = log_of(text, "a.log")
    return next((read.__module__ for _, looks_like, read in _READERS if looks_like(log)), None)


def test_every_reader_has_a_log_that_is_damaged_here():
    readers = {read.__module__ for tool, _, read in _READERS if tool != "peerlab"}
    found = {first_reader(text) for text in GOOD.values()}
    assert readers - found == set(), "give each of them a log in tests/tool_logs.py"


def test_a_reader_that_fails_in_its_own_words_is_a_defect_told_in_one_line(monkeypatch):
    def reads(_log):
        raise ValueError("could not convert string to float: 'x'")

    monkeypatch.setattr(sys.modules["peerlab.records.load"], "_READERS", (("a-tool", lambda _: True, reads),))
    with pytest.raises(
        RecordsError, match=f"^pasted text: {DEFECT} of the output of a-tool, .*ValueError: could"
    ):
        peerlab.load("anything\n")


@pytest.mark.soak
@settings(max_examples=40 * EXAMPLES)
@given(text=st.sampled_from(TEXTS), edits=EDITS)
def test_a_damaged_log_is_read_or_refused(text, edits):
    answered(edited(text, edits))


@pytest.mark.soak
@settings(max_examples=20 * EXAMPLES)
@given(words=WORDS, between=st.sampled_from([" ", "  ", "\n", ""]))
def test_words_of_logs_in_any_order_are_read_or_refused(words, between):
    answered(between.join(words) + "\n")


@settings(max_examples=16 * EXAMPLES)
@given(text=st.text(max_size=300))
def test_any_text_is_read_or_refused(text):
    answered(text + "\n")


@settings(max_examples=3 * EXAMPLES)
@given(text=st.sampled_from(TEXTS), edits=EDITS)
def test_what_was_read_of_a_damaged_log_can_be_shown_shared_and_read_again(tmp_path_factory, text, edits):
    records = answered(edited(text, edits))
    if records is not None:
        page = records._repr_html_()
        assert not any(mark in page for mark in ("<script", "<img"))
        file = tmp_path_factory.mktemp("fuzz") / "shared.csv"
        shared = records.anonymised()
        shared.save(file)
        assert peerlab.load(file).table.equals(shared.table)


@settings(max_examples=2 * EXAMPLES)
@given(held=st.binary(max_size=2000))
def test_any_file_is_read_or_refused(tmp_path_factory, held):
    file = tmp_path_factory.mktemp("fuzz") / "any.log"
    file.write_bytes(held)
    with pytest.raises(RecordsError, match=r"any\.log: ") as caught:
        peerlab.load(file)
    assert "\n" not in str(caught.value)


FULL = MOST_BYTES - 2
LINES = MOST_LINES * MANY // 10 - 50
"""Lines that are dear to read come in full number in a long trial only."""
LARGE = {
    "one line": lambda: "a" * FULL,
    "empty lines": lambda: "\n" * FULL,
    "labels": lambda: "0: " * (FULL // 3),
    "escapes": lambda: "\x1b]" * (FULL // 2),
    "tables": lambda: "\n".join(NCCL.splitlines()[12:15] * min(LINES // 3, FULL // 400)),
    "titles": lambda: "\n".join(OSU_LATENCY.splitlines()[1:] * (LINES // 6)),
    "commands": lambda: (OSU_LATENCY.splitlines()[0] + "\n# OSU MPI Latency Test v7.2\n") * (LINES // 30),
    "rows": lambda: NCCL + "1048576 262144 float sum -1 1 1 1 0 1 1 1 x\n" * LINES,
    "blocks": lambda: "[BENCHMARK] hcclAllReduce(dataSize=1,\n" * LINES,
    "quotes": lambda: ("$ srun " + "'x' " * 2000 + "osu_bw\n") * (FULL // 8100),
    "nested": lambda: '{"version":2,"args":' + "[" * (FULL - 50),
    "results": lambda: NCCL_JSON[: NCCL_JSON.index('[{"size"') + 1] + '{"size":1},' * (FULL // 20),
    "whole results": lambda: (
        NCCL_JSON[: NCCL_JSON.index('[{"size"') + 1] + '{"size":1},' * (FULL // 20) + "null]}"
    ),
    "damaged results": lambda: NCCL_JSON[: NCCL_JSON.index('[{"size"') + 1] + '{"size":[' * (FULL // 20),
    "cells": lambda: '# peerlab records 1\n# {"manifest":{},"warnings":[]}\n"' + "a," * (FULL // 3),
    "paths": lambda: NCCL + ("via NET/" + "a/" * 4000 + "\n") * (FULL // 8100),
}


@pytest.mark.sample(part=4)
@pytest.mark.parametrize("name", LARGE)
def test_a_text_as_large_as_is_read_costs_bounded_memory_and_time(name):
    """Processor time, not that of a clock; the bounds are far from what is usual on a small machine."""
    text = LARGE[name]() + "\n"
    assert len(text) <= MOST_BYTES + 4096
    tracemalloc.start()
    begin_s = time.process_time()
    answered(text[: MOST_BYTES - 1] + "\n")
    spent_s, (_, most) = time.process_time() - begin_s, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert spent_s < 120
    assert most < 250 * 2**20
