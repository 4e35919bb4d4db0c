"""Ratios of a measurement in a notebook: noise first, verdicts as judged, nothing of a machine's own speed to compare."""

import re

import pytest

import peerlab
from peerlab.base.errors import RecordsError
from peerlab.records.library import measured_library


@pytest.fixture(scope="module")
def records():
    return measured_library()["own/xeon-2-processors"]


def test_every_condition_has_a_row_with_its_verdict_and_the_control_comes_first(records):
    shown = peerlab.ratios(records)
    page = shown._repr_html_()
    baselines = sum(one.path == "staged" and not one.variant for one in shown.found)
    assert page.count("<th scope='row'>") == len(shown.found) - baselines
    assert page.count("<tbody><tr><th scope='row'>staged again (A/A)") == baselines
    for verdict in ("faster", "slower", "within the noise"):
        drawn = len(re.findall(rf"</span> (?:<span class='pl-heard'>)?{verdict}</span>", page))
        judged = [
            one for one in shown.found if one.verdict == verdict and (one.path, one.variant) != ("staged", "")
        ]
        assert drawn == len(judged)


def test_the_table_holds_what_is_drawn_and_the_page_no_bandwidth(records):
    shown = peerlab.ratios(records, against="direct")
    assert list(shown.table["ratio"]) == [one.ratio for one in shown.found]
    assert "GB/s" not in shown._repr_html_()
    assert "mlock: an emulation" in shown._repr_html_()


def test_the_axis_has_figures_at_as_fast_and_at_a_power_of_two_on_both_sides(records):
    page = peerlab.ratios(records)._repr_html_()
    (head,) = set(re.findall("<th scope='col'><div[^>]*>times as fast</div>(.*?)</th>", page))
    ticks = re.findall(r"left:([0-9.]+)%[^>]*>([0-9.]+)\u00d7<", head)
    assert [text for _, text in ticks] == ["0.5", "1", "2"]
    left, middle, right = (float(at) for at, _ in ticks)
    assert 0 < left < middle == 50 < right == 100 - left
    rows = page.count("<th scope='row'>")
    for at in (left, right):  # a line in each row
        assert page.count(f"left:{at:g}%;width:0.0%") == rows


def test_the_key_comes_first_notes_are_sentences_and_the_way_of_the_answer_is_bold(records):
    page = peerlab.ratios(records)._repr_html_()
    assert page.index("~: within the noise, no verdict") < page.index("<table")
    for note in re.findall("<p class='pl-quiet'>(.*?)</p>", page):
        assert note[0].isupper()
        assert note.endswith(".")
    answer = re.search("class='pl-answer'><b>(.*?):", page)
    bold = {re.sub(r" again .*", "", name) for name in re.findall("<th scope='row'><b>(.*?)</b>", page)}
    assert bold == ({answer[1]} if answer else set())


def test_what_was_not_measured_is_refused_with_what_was(records):
    with pytest.raises(RecordsError, match="'stagd' was not measured; did you mean 'staged'"):
        peerlab.ratios(records, against="stagd")
    with pytest.raises(RecordsError, match="only: 'cma' was not measured"):
        peerlab.ratios(records, only="cma")


def test_one_arm_alone_leaves_out_the_blocks_in_which_there_is_none_of_it(records):
    page = peerlab.ratios(records, against="direct", only="direct")._repr_html_()
    assert "staged" not in re.sub(r"<[^>]*>", "", page).replace("staged against itself", "")
    shown = peerlab.ratios(records, against="direct", only="direct").table
    registered = shown[shown["registration"] != "none"]
    assert page.count("<table") == len(registered.groupby(["ranks", "size_bytes"]))


def test_a_text_counts_every_verdict_of_an_arm_with_registration_against_itself_without(records):
    """Lab 04 shows `direct` against `direct`; its text once said that nothing else was measured, where its table had verdicts."""
    found = peerlab.ratios(records, against="direct", only="direct")
    told = [one.verdict for one in found.found if one.registration != "none"]
    assert told
    assert sum(int(count) for count in re.findall(r"\d+", repr(found))) == len(told)
