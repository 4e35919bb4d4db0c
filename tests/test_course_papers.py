"""The trainer's papers say what the labs and the simulation say today, and fit their pages."""

import re
import sys

import pytest

from peerlab.features.exercises.catalogue import fixed, names


@pytest.fixture(scope="module")
def papers(root):
    sys.path[:0] = [str(root / "docs"), str(root / "docs" / "course")]
    import course

    return {name: made() for name, made in course.PAPERS.items()}


def test_the_page_of_answers_has_every_core_exercise_with_a_wrong_turn(papers):
    rows = re.findall(r"<dt>(\d\d-[\w-]+): (.*?)</dt><dd class='wrong'>(.+?)</dd>", papers["answers.html"])
    core = [one.name for one in fixed() if not one.further]
    assert [name for name, _, _ in rows] == core
    assert all(answer and wrong for _, answer, wrong in rows)


def test_the_tasks_are_a_drawing_and_a_log_of_six_lines_with_ten_points(papers):
    log = papers["tasks.html"].partition("<pre>")[2].partition("</pre>")[0]
    assert len(log.splitlines()) == 6
    assert "GDRDMA" not in log
    assert papers["tasks.html"].count("<tr><td>drawing") == papers["tasks.html"].count("<tr><td>log") == 5


def test_the_slides_do_not_show_the_log_that_is_marked_afterwards(papers):
    log = papers["tasks.html"].partition("<pre>")[2].partition("</pre>")[0]
    assert not any(line in papers["slides.html"] for line in log.splitlines()[1:])


def test_the_slides_have_each_lab_of_the_timetable_with_what_to_discuss(papers, root):
    shown = re.findall(r"<section><div class='sheet", papers["slides.html"])
    table = (root / "docs" / "workshop.md").read_text().partition("## Checkpoints")[2].partition("\n\n**")[0]
    labs = re.findall(r"^\| (\d\d) \|", table, re.MULTILINE)
    assert len(shown) == 3 + 3 * len(labs)
    for name in re.findall(r"\b(\d\d-[a-z-]+)", table):
        assert name in names()
